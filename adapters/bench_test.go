package adapters_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// BenchmarkEvents measures a cycle on 5,000 nodes with 5,000 jobs of 20,000 tasks, 2,000 of which wait: without news,
// with one job's news, and with a full view.
func BenchmarkEvents(b *testing.B) {
	const nodes, jobs, pending = 5000, 5000, 2000
	full := &adapters.View{Version: 1, Full: true}
	for i := range nodes {
		full.Nodes = append(full.Nodes, adapters.Node{Version: 1, Node: sched.Node{
			Name: fmt.Sprint("n", i), Labels: map[string]string{"rack": fmt.Sprint("r", i%100)},
			Capacity: sched.Resources{"cpu": 8, "mem": 64e9}}})
	}
	for i := range jobs {
		j := adapters.Job{Spec: &sched.Job{ID: fmt.Sprint("j", i), Tasks: 4, Demand: sched.Resources{"cpu": 1}},
			UID: fmt.Sprint(i), Version: 1, Revision: 1}
		for k := 0; i >= pending && k < 4; k++ {
			j.Tasks = append(j.Tasks, on(full.Nodes[(4*i+k)%nodes].Name, adapters.Running))
		}
		full.Jobs = append(full.Jobs, j)
	}
	for _, bm := range []struct {
		name string
		view *adapters.View
	}{{"no news", &adapters.View{Version: 1}}, {"one job", &adapters.View{Version: 1, Jobs: full.Jobs[jobs-1:]}},
		{"all", full}} {
		b.Run(bm.name, func(b *testing.B) {
			s := &script{views: []*adapters.View{full}}
			c, err := adapters.New(s, adapters.Options{})
			require.NoError(b, err)
			_, err = c.Events(background)
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				s.views = append(s.views[:0], bm.view)
				if _, err := c.Events(background); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
