package program_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hedgesched/hedge/cmd/hedge/program"
	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/place"
	"github.com/hedgesched/hedge/sched/systems"
)

// narrow starts the jobs of the fewest tasks first, and of those the one that is expected to end first.
type narrow struct{ placer place.Placer }

func (*narrow) Name() string { return "narrow" }

func (p *narrow) Plan(_ context.Context, s *sched.Snapshot) (*sched.Plan, error) {
	p.placer.Reset(s)
	plan := &sched.Plan{Rest: sched.Reason{Code: sched.ReasonWaiting, Probability: sched.UnknownProbability}}
	queue := slices.Clone(s.Pending)
	slices.SortStableFunc(queue, func(a, b sched.Pending) int {
		return cmp.Or(cmp.Compare(a.Job.Tasks, b.Job.Tasks), cmp.Compare(a.Prediction.Point, b.Prediction.Point))
	})
	for _, q := range queue {
		demand, err := s.Nodes.Demand(q.Job.Demand)
		if err != nil {
			continue // no node offers what it asks for
		}
		if nodes, ok := p.placer.Place(demand, s.Nodes.NodesOf(q.Job.Required), q.Job.Tasks); ok {
			plan.Decisions = append(plan.Decisions, sched.Decision{Job: q.Job.ID, Kind: sched.Start, Nodes: nodes,
				Reason: sched.Reason{Code: sched.ReasonPlaced, Probability: sched.UnknownProbability}})
		}
	}
	return plan, nil
}

// last predicts that a user's next job runs as long as the last one that has finished.
type last struct{ of map[string]float64 }

func (p *last) Predict(j predict.Job) predict.Prediction {
	seconds, known := p.of[j.Attributes["user"]]
	if !known {
		seconds = 300
	}
	d, err := dist.NewPoint(seconds)
	if err != nil { // not reached: runtimes are not negative
		d, _ = dist.NewPoint(300)
	}
	return predict.Prediction{Dist: d, Point: seconds}
}

func (p *last) Observe(o predict.Observation) error {
	p.of[o.Job.Attributes["user"]] = o.Runtime
	return nil
}

// A policy and a predictor of one's own, compared with hedge's by hedge's own command. The program's main is
// program.Program{Systems: set}.Main(); this runs one command line.
func Example() {
	set := systems.Builtin()
	err := set.Register(systems.System{
		Name: "narrow", Summary: "starts the jobs of the fewest tasks first",
		Policy:    func(*systems.Planning) (sched.Policy, error) { return &narrow{}, nil },
		Predictor: func(*systems.Knowledge) (predict.Predictor, error) { return &last{map[string]float64{}}, nil },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	args := "compare --policies narrow,fifo --nodes 24 --racks 3 --hours 0.1 --start-hour 10 --json"
	var out bytes.Buffer
	status := program.Program{Systems: set}.Run(context.Background(), strings.Fields(args), os.Stdin, &out, os.Stderr)
	var doc struct{ Runs []struct{ Policy string } }
	fmt.Println(status, json.Unmarshal(out.Bytes(), &doc))
	for _, run := range doc.Runs {
		fmt.Println(run.Policy)
	}
	// Output:
	// 0 <nil>
	// narrow
	// fifo
}
