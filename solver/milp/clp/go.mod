module github.com/hedgesched/hedge/solver/milp/clp

go 1.26

require (
	github.com/hedgesched/hedge v0.1.0
	github.com/lanl/clp v1.2.0
)

require github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
