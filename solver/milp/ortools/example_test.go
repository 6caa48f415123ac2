package ortools_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/ortools"
)

// A service that is not there is milp.ErrUnavailable: another backend may do.
func ExampleNew() {
	backend, err := ortools.New(ortools.Config{Address: "unix:/no/such/socket", Solver: ortools.HiGHS})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = backend.Close() }()

	m := &milp.Model{Maximize: true}
	x := m.AddVar(milp.Var{Upper: 9, Cost: 2, Integer: true})
	m.AddRow(milp.Row{Upper: 7, Index: []int32{int32(x)}, Value: []float64{2}})
	res, err := milp.Solve(context.Background(), backend, m, milp.Options{})
	switch {
	case errors.Is(err, milp.ErrUnavailable):
		fmt.Println("start one with: hedge solver serve")
	case err != nil:
		fmt.Println(err)
	default:
		fmt.Println(res.Stop, res.X)
	}
	// Output: start one with: hedge solver serve
}
