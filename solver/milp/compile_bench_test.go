package milp_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
	"github.com/hedgesched/hedge/solver/milp"
)

// BenchmarkCompile makes the models of the reference problems and, as a rival, only reads what there is to be compiled.
func BenchmarkCompile(b *testing.B) {
	for _, name := range []string{"a-020", "c-150", "f-1000-google"} {
		p, err := solver.ReadProblemFile("../testdata/" + name + ".json.gz")
		require.NoError(b, err)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := milp.Compile(p, solver.SplitsInteger, milp.RelaxNone); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
