//go:build cgo

package cbc_test

import (
	"context"
	"fmt"
	"math"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/cbc"
)

// Which of three things fit into a bag of 10?
func ExampleNew() {
	m := &milp.Model{Maximize: true}
	for _, worth := range []float64{30, 20, 25} {
		m.AddVar(milp.Var{Upper: 1, Cost: worth, Integer: true})
	}
	m.AddRow(milp.Row{Name: "weight", Lower: math.Inf(-1), Upper: 10, Index: []int32{0, 1, 2}, Value: []float64{6, 4, 5}})
	r, err := milp.Solve(context.Background(), cbc.New(), m, milp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Stop, r.X, r.Objective, r.Bound)
	// Output: optimal [1 1 0] 50 50
}
