module polyplane.dev/effective-uid

go 1.24
