package place_test

import (
	"fmt"

	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
	"github.com/hedgesched/hedge/sched/schedtest"
)

func ExampleNewPlacer() {
	s, err := schedtest.Snapshot(schedtest.Nodes(4, 2)).Running(schedtest.Job("r", 1), 0, "n1").Build()
	if err != nil {
		panic(err)
	}
	p := place.NewPlacer(s)
	demand, err := s.Nodes.Demand(nil) // one whole node for each task
	if err != nil {
		panic(err)
	}
	fmt.Println(p.Fits(demand, s.Nodes.All()), "nodes are free")
	fmt.Println(p.Place(demand, s.Nodes.All(), 2))
	fmt.Println(p.Place(demand, s.Nodes.NodesOf(sched.NodesWith("rack", "r0")), 1))
	// Output:
	// 3 nodes are free
	// [{n0 1} {n2 1}] true
	// [] false
}
