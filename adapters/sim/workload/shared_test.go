package workload_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/adapters/sim/workload"
)

func TestSharedReal(t *testing.T) {
	if _, err := os.Stat("/work/shared/traces"); err != nil {
		t.Skip()
	}
	log, err := trace.ReadAll("/work/shared/traces/google2011/google2011_finished_jobs_h00-19.tr.gz", nil)
	require.NoError(t, err)
	fill := &workload.Fill{}
	for _, f := range []string{"google2019_borg_sample", "google2011_job_usage_5min"} {
		u, err := trace.ReadUsage("/work/shared/traces/usage/"+f+".csv.gz", nil)
		require.NoError(t, err)
		fill.AddUsage(u)
	}
	fmt.Println(fill.Groups())
	for seg := range 5 {
		spec := workload.DefaultShared()
		spec.Segment = seg
		w, err := workload.BuildShared(log.Jobs, fill, &spec)
		require.NoError(t, err)
		var cpu, mem, req, reqm float64
		for i := range w.Jobs {
			j := &w.Jobs[i]
			for _, s := range j.Work.Use() {
				c, m := s.Mean()
				sec := s.Runtime().Seconds()
				cpu += c * sec
				mem += m * sec
				req += j.Demand["cpu"] * sec
				reqm += j.Demand["memory"] * sec
			}
		}
		cap := 700. * 7200
		fmt.Println(seg, len(w.Jobs), w.Tasks, w.SLOJobs, w.Load, w.Filled, w.Capped, w.Start, w.Copies, len(w.Train), w.Skipped, "cpu", cpu/cap/.125, "mem", mem/cap/.125, "req", req/cap/.125, reqm/cap/.125)
	}
}
