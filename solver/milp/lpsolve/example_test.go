package lpsolve_test

import (
	"context"
	"fmt"
	"math"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/lpsolve"
)

// A knapsack.
func Example() {
	m := &milp.Model{Maximize: true}
	for _, value := range []float64{3, 4, 5} {
		m.AddVar(milp.Var{Upper: 1, Cost: value, Integer: true})
	}
	m.AddRow(milp.Row{Name: "weight", Lower: math.Inf(-1), Upper: 5, Index: []int32{0, 1, 2}, Value: []float64{2, 3, 4}})

	res, err := milp.Solve(context.Background(), lpsolve.New(), m, milp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.X, res.Objective, res.Stop)
	// Output:
	// [1 1 0] 7 optimal
}
