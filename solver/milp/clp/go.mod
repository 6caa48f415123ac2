module github.com/hedgesched/hedge/solver/milp/clp

go 1.26

require (
	github.com/hedgesched/hedge v0.1.0
	github.com/lanl/clp v1.2.0
	github.com/stretchr/testify v1.11.1
)

require (
	github.com/davecgh/go-spew v1.1.1 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
