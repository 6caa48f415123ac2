package highs

import (
	"github.com/hedgesched/hedge/solver/engines"
	"github.com/hedgesched/hedge/solver/milp"
)

// Register adds the engine milp+highs to set. Its option library is the shared library's file, as in
// "milp+highs?library=/opt/highs/libhighs.so"; without it, [Open] says where the file is looked for. Opening the engine
// loads the library, so a missing one is [milp.ErrUnavailable] from the start.
func Register(set *engines.Set) {
	set.AddBackend("highs", "HiGHS in the process, from its shared library (make highs)", true,
		func(spec engines.Spec) (milp.Backend, error) {
			return Open(Config{Library: spec.Options.Get("library")})
		}, "library")
}
