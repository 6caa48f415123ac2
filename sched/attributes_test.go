package sched_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/schedtest"
)

// TestAttributesAndFeaturesThatDoNotMeet are told once each.
func TestAttributesAndFeaturesThatDoNotMeet(t *testing.T) {
	length := predict.Derived("length", func(j predict.Job) (string, bool) { return fmt.Sprint(len(j.ID)), true })
	typo := map[string]string{"usr": "u1", "name": "n"}
	for name, c := range map[string]struct {
		features   []predict.Feature // nil: those of a history that is given none
		attributes []map[string]string
		unused     []string
		unfilled   []string
	}{
		"a misspelt one": {[]predict.Feature{predict.Attr("user"), predict.Attr("user", "name"), predict.Attr("name"),
			predict.HourOfDay()},
			[]map[string]string{typo}, []string{"usr"}, []string{"user", "user+name"}},
		"an empty one": {[]predict.Feature{predict.Attr("user")}, []map[string]string{{"user": ""}}, nil,
			[]string{"user"}},
		"some jobs have it": {[]predict.Feature{predict.Attr("user")},
			[]map[string]string{{}, {"user": "u", "zone": "z", "arch": "a"}}, []string{"arch", "zone"}, nil},
		"one that is derived, of what nobody knows": {[]predict.Feature{predict.Attr("user"), length},
			[]map[string]string{typo}, nil, []string{"user"}},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := predict.NewHistory(&predict.HistoryOptions{Features: c.features})
			require.NoError(t, err)
			cl := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(30, 1))
			loop := newLoop(t, cl, baseline.NewFIFO(), h)
			var unused, unfilled []string
			for i := range 30 {
				j := schedtest.Job(fmt.Sprint("j", i), 1).Job()
				j.Attributes = c.attributes[i%len(c.attributes)]
				cl.Submit(j, 10)
				cycle := step(t, loop, cl, float64(i))
				unused = append(unused, cycle.UnusedAttributes...)
				unfilled = append(unfilled, cycle.UnfilledFeatures...)
				if len(cycle.UnfilledFeatures) > 0 {
					assert.Equal(t, 9, i)
				}
			}
			assert.Equal(t, c.unused, unused)
			assert.Equal(t, c.unfilled, unfilled)
		})
	}
}

// TestUnusedAttributesAreBounded: a host that makes up a name for every job is told a hundred times.
func TestUnusedAttributesAreBounded(t *testing.T) {
	h, err := predict.NewHistory(nil)
	require.NoError(t, err)
	cl := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(1, 1))
	loop := newLoop(t, cl, baseline.NewFIFO(), h)
	told := 0
	for i := range 40 {
		for k := range 10 {
			j := schedtest.Job(fmt.Sprint("j", i, "-", k), 1).Job()
			j.Attributes = map[string]string{"user": "u", fmt.Sprint("a", i, "-", k): "x", fmt.Sprint("b", k): "x"}
			cl.Submit(j, 10)
		}
		told += len(step(t, loop, cl, float64(i)).UnusedAttributes)
	}
	assert.Equal(t, 100, told)
}

// TestPredictorsWithoutFeatures have nothing to be compared with.
func TestPredictorsWithoutFeatures(t *testing.T) {
	cl := schedtest.NewCluster(schedtest.At(0), schedtest.Nodes(1, 1))
	loop := newLoop(t, cl, baseline.NewFIFO(), schedtest.Forecasts())
	for i := range 20 {
		cl.Submit(&sched.Job{ID: fmt.Sprint(i), Tasks: 1, Attributes: map[string]string{"usr": "u"},
			Submitted: schedtest.At(0)}, 10)
	}
	cycle := step(t, loop, cl, 0)
	assert.Empty(t, cycle.UnusedAttributes)
	assert.Empty(t, cycle.UnfilledFeatures)
}
