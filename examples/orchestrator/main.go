// Command orchestrator is a toy that really runs processes: hedge decides which start, which
// wait and which are killed to make room, and are started again later.
//
// Two slots of this machine are the nodes. Two batch jobs take them; then a report
// arrives that needs both and has a deadline the batch jobs would make it miss.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/threesigma"
	"github.com/hedgesched/hedge/utility"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, os.Stdout); err != nil {
		log.Print(err)
	}
}

// run submits the jobs, lets hedge schedule them, and returns when all have finished.
func run(ctx context.Context, out io.Writer) error {
	history, err := trained()
	if err != nil {
		return err
	}
	policy, err := threesigma.New(threesigma.Config{Slot: 500 * time.Millisecond, Window: 10 * time.Second, Cycle: 250 * time.Millisecond})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	machine := newMachine(ctx, out, 2)
	defer machine.wait()
	defer cancel()
	loop, err := sched.NewLoop(machine, policy, history, sched.WithCycle(250*time.Millisecond))
	if err != nil {
		return err
	}
	machine.changed = loop.Wake

	for _, id := range []string{"batch-1", "batch-2"} {
		if err := machine.submit(id, 1, 0, "4"); err != nil {
			return err
		}
	}
	report := time.AfterFunc(time.Second, func() {
		if err := machine.submit("report", 2, 3*time.Second, "0.5"); err != nil {
			fmt.Fprintln(out, err)
		}
	})
	defer report.Stop()
	go func() {
		machine.finished(3)
		cancel()
	}()
	if err := loop.Run(ctx); err != nil {
		return err
	}
	if machine.done() < 3 {
		return errors.New("stopped before all jobs had finished")
	}
	return nil
}

// trained is a history of what these jobs took before, in seconds.
func trained() (*predict.History, error) {
	h, err := predict.NewHistory(nil)
	if err != nil {
		return nil, err
	}
	for name, past := range map[string][]float64{"batch": {3.8, 4.0, 4.3}, "report": {0.4, 0.5, 0.7}} {
		for _, t := range past {
			if err := h.Observe(predict.Job{Attributes: attributes(name)}, t); err != nil {
				return nil, err
			}
		}
	}
	return h, nil
}

// attributes are what the predictor knows a job by: "batch-1" is a run of "batch".
func attributes(id string) map[string]string {
	name, _, _ := strings.Cut(id, "-")
	return map[string]string{"name": name}
}

// worth is a step at the deadline, or a slow decay for jobs without one.
func worth(deadline time.Duration) (utility.Utility, error) {
	if deadline > 0 {
		return utility.Deadline(deadline, 100)
	}
	return utility.LinearDecay(5, time.Minute)
}
