module github.com/turnloop/turnloop/examples

go 1.26.0

require github.com/turnloop/turnloop v0.1.0

require golang.org/x/sys v0.49.0 // indirect
