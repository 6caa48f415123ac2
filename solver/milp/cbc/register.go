package cbc

import (
	"github.com/hedgesched/hedge/solver/engines"
	"github.com/hedgesched/hedge/solver/milp"
)

// Register adds the engine milp+cbc to set. In a program built without cgo, each of its solves fails with
// [milp.ErrUnavailable].
func Register(set *engines.Set) {
	set.AddBackend("cbc", "COIN-OR CBC in the process", true, func(engines.Spec) (milp.Backend, error) {
		return New(), nil
	})
}
