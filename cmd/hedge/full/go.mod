module github.com/hedgesched/hedge/cmd/hedge/full

go 1.26

require (
	github.com/hedgesched/hedge v0.0.0
	github.com/hedgesched/hedge/cmd/hedge v0.0.0
	github.com/hedgesched/hedge/solver/milp/cbc v0.0.0
	github.com/hedgesched/hedge/solver/milp/clp v0.0.0
	github.com/hedgesched/hedge/solver/milp/lpsolve v0.0.0
	github.com/stretchr/testify v1.11.1
)

replace (
	github.com/hedgesched/hedge => ../../..
	github.com/hedgesched/hedge/cmd/hedge => ..
	github.com/hedgesched/hedge/solver/milp/cbc => ../../../solver/milp/cbc
	github.com/hedgesched/hedge/solver/milp/clp => ../../../solver/milp/clp
	github.com/hedgesched/hedge/solver/milp/highs => ../../../solver/milp/highs
	github.com/hedgesched/hedge/solver/milp/lpsolve => ../../../solver/milp/lpsolve
	github.com/hedgesched/hedge/solver/milp/ortools => ../../../solver/milp/ortools
)
