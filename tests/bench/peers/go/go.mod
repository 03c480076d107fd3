module sessionq/bench

go 1.23
