package describe

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

func job(submitS, runtimeS, tasks int, user string, o trace.Outcome) trace.Job {
	return trace.Job{Submit: time.Duration(submitS) * time.Second, Wait: -1,
		Runtime: time.Duration(runtimeS) * time.Second,
		Tasks:   tasks, Outcome: o, Attributes: map[string]string{"user": user}}
}

func TestDescribeCountsByHand(t *testing.T) {
	jobs := []trace.Job{
		job(3600, 3600, 3, "b", trace.Killed), // out of order on purpose
		job(0, 3600, 1, "a", trace.Finished), job(1800, 1800, 2, "a", trace.Finished), job(1800, 0, 1, "b", trace.Failed),
	}
	d := Describe(&trace.Log{Name: "log", Format: trace.SWF, Jobs: jobs})
	assert.Equal(t, 4, d.Jobs)
	assert.Equal(t, 3600.0, d.SpanS)
	assert.Equal(t, 7, d.Tasks)
	assert.InDelta(t, 1+1+3, d.MachineHours, 1e-12)
	assert.Equal(t, 3.0, d.Demand.PeakTasks)
	assert.InDelta(t, 2.5, d.Demand.MeanTasks, 1e-12)
	assert.Equal(t, 2, d.Users)
	require.Len(t, d.Outcomes, 3)
	assert.InDelta(t, .4, d.Outcomes[0].ShareTime, 1e-12)
	assert.InDelta(t, .6, d.Outcomes[2].ShareTime, 1e-12)
	assert.Equal(t, []WorkBin{{From: 1, To: 10, Jobs: 3, Success: 2.0 / 3}}, d.SuccessByWork)
	assert.InDelta(t, 1.0/3, d.InterArrival.SubSecond, 1e-12)
	assert.Nil(t, d.Months)
	assert.Equal(t, 3, jobs[0].Tasks, "the input stays in its order")
}

func TestDescribeNothing(t *testing.T) {
	assert.Zero(t, Describe(&trace.Log{}).SpanS)
}

func TestMonthsNeedTwoAndFindTheOddOne(t *testing.T) {
	var jobs []trace.Job
	for day := range 29*3 + 1 {
		n := 1
		if day >= 29 && day < 58 {
			n = 4
		}
		for range n {
			jobs = append(jobs, job(day*86400, 60, 1, "u", trace.Finished))
		}
	}
	d := Describe(&trace.Log{Jobs: jobs})
	require.NotNil(t, d.Months)
	assert.Equal(t, []float64{.5, 2, .5}, d.Months.Jobs.Normalised)
	assert.Equal(t, []float64{1, 1, 1}, d.Months.Runtime.Normalised)
	assert.Less(t, d.Hourly.DayCorrelation, 1.01)
	assert.Greater(t, d.Hourly.DayCorrelation, .5, "one job at the same hour of each day")
	var user *Feature
	for i := range d.Features {
		if d.Features[i].Feature == "user" {
			user = &d.Features[i]
		}
	}
	require.NotNil(t, user)
	assert.Zero(t, user.CoV.P50, "all runtimes are alike")
}
