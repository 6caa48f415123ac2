module github.com/hedgesched/hedge/solver/milp/lpsolve

go 1.26

require (
	github.com/draffensperger/golp v0.0.0-20250721104811-2d405f0b4e68
	github.com/hedgesched/hedge v0.1.0
)

require github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
