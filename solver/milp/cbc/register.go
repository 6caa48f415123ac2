package cbc

import (
	"github.com/hedgesched/hedge/solver/engines"
	"github.com/hedgesched/hedge/solver/milp"
)

// Register adds the engine milp+cbc to set. In a program that was built without cgo the engine is there, and each of
// its solves is [milp.ErrUnavailable].
func Register(set *engines.Set) {
	set.AddBackend("cbc", "COIN-OR CBC in the process", true, func(engines.Spec) (milp.Backend, error) {
		return New(), nil
	})
}
