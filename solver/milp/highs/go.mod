module github.com/hedgesched/hedge/solver/milp/highs

go 1.26

require (
	github.com/ebitengine/purego v0.11.3
	github.com/hedgesched/hedge v0.1.0
	github.com/stretchr/testify v1.11.1
)

require (
	github.com/davecgh/go-spew v1.1.1 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
