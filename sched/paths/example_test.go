package paths_test

import (
	"fmt"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/paths"
)

// Two stages wait for "load", and "report" waits for both.
func ExampleRests() {
	held := func(id string, seconds float64, after ...string) sched.Pending {
		d, err := dist.NewUniform(seconds, 2*seconds)
		if err != nil {
			panic(err)
		}
		return sched.Pending{Job: &sched.Job{ID: id, Tasks: 1, After: after}, Prediction: predict.Prediction{Dist: d}}
	}
	s := &sched.Snapshot{Held: []sched.Pending{
		held("join", 60, "load"), held("count", 10, "load"), held("report", 30, "join", "count"),
	}}
	var rests paths.Rests
	rests.Update(s)
	rest, err := rests.After("load")
	if err != nil {
		fmt.Println(err)
		return
	}
	lo, hi := rest.Bounds()
	fmt.Printf("%.0f to %.0f s, on average %.0f s\n", lo, hi, rest.Mean())
	// Output: 90 to 180 s, on average 135 s
}
