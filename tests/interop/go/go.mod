module sessionq/interop

go 1.23
