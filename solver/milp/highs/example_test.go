package highs_test

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/highs"
)

// The best of three things that fit into a bag of 5. Without the library the example says so and ends.
func ExampleOpen() {
	b, err := highs.Open(highs.Config{})
	if errors.Is(err, milp.ErrUnavailable) {
		fmt.Println("install HiGHS first:", err)
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	m := &milp.Model{Maximize: true}
	for _, worth := range []float64{3, 4, 5} {
		m.AddVar(milp.Var{Upper: 1, Cost: worth, Integer: true})
	}
	m.AddRow(milp.Row{Name: "weight", Lower: math.Inf(-1), Upper: 5, Index: []int32{0, 1, 2}, Value: []float64{2, 3, 4}})
	r, err := milp.Solve(context.Background(), b, m, milp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Stop, r.Objective, r.X)
}
