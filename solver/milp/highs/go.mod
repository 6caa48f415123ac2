module github.com/hedgesched/hedge/solver/milp/highs

go 1.26

require (
	github.com/ebitengine/purego v0.11.3
	github.com/hedgesched/hedge v0.0.0
)

replace github.com/hedgesched/hedge => ../../..
