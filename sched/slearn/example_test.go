package slearn_test

import (
	"fmt"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/slearn"
)

// Two jobs of 100 tasks on ten workers: tasks of 100 s, and, a minute later, tasks of 1 s. By arrival the second one
// waits for the first. SLearn runs three tasks of each first, and then knows which is small.
func ExampleNew() {
	w := new(agents.Workload)
	for i, seconds := range []time.Duration{100, 1} {
		w.Jobs = append(w.Jobs, agents.Job{Submit: time.Duration(i) * time.Minute, Mean: seconds * time.Second,
			First: int32(100 * i), Tasks: 100})
		for range 100 {
			w.Runtimes = append(w.Runtimes, seconds*time.Second)
		}
	}
	for _, scheme := range []slearn.Scheme{slearn.FIFO, slearn.SLearn} {
		c := slearn.Config{Workers: 10, Seed: 1}
		if err := scheme.Configure(&c, &slearn.Knowledge{ThinLimit: 3}); err != nil {
			fmt.Println(err)
			return
		}
		system, err := slearn.New(c)
		if err != nil {
			fmt.Println(err)
			return
		}
		r, err := agents.Run(w, system, agents.Config{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.Jobs[0].End-r.Jobs[0].Submit, r.Jobs[1].End-r.Jobs[1].Submit)
	}
	// Output:
	// 16m40s 15m50s
	// 18m18s 2m18s
}

// A history by user, and a system that asks it.
func ExampleScheme_Configure() {
	knowledge := slearn.Knowledge{
		ThinLimit: 3,
		History: func() (predict.Predictor, error) {
			return predict.NewHistory(&predict.HistoryOptions{Features: []predict.Feature{predict.Attr("user")}})
		},
		Describe: func(j *agent.Job) predict.Job {
			users := []string{"ada", "bob"} // by the job's number
			return predict.Job{Attributes: map[string]string{"user": users[j.ID]}}
		},
	}
	c := slearn.Config{Workers: 100, Slots: 4}
	if err := slearn.JointScheme.Configure(&c, &knowledge); err != nil {
		fmt.Println(err)
		return
	}
	system, err := slearn.New(c)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(system.Workers(), system.Parts())
	// Output: 100 101
}
