module sessionq/interop/dapr

go 1.23
