package slearn_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/sched/slearn"
)

// begin lets a ratio begin that number of jobs.
func begin(r *slearn.Ratio, jobs int) (percents []int) {
	for range jobs {
		percents = append(percents, r.Next())
	}
	return percents
}

// Figure 3, line 2 to 7: 3 % for the first T jobs, then 2 %, then 4 %, whatever their scores.
func TestFirstRatios(t *testing.T) {
	r := &slearn.Ratio{Recent: 2}
	r.Done(4, 0.1)
	assert.Equal(t, []int{3, 3, 2, 2, 4, 4, 4}, begin(r, 7))
	var whole slearn.Ratio
	got := begin(&whole, 301)
	assert.Equal(t, []int{3, 3, 2, 2, 4, 4, 3}, []int{got[0], got[99], got[100], got[199], got[200], got[299], got[300]},
		"T is 100; without any score it stays with 3 %")
}

// Figure 3, line 8 to 15.
func TestRatioByScores(t *testing.T) {
	for name, c := range map[string]struct {
		scores          map[int]float64
		paper, corrects int
	}{
		"the lowest score":                {map[int]float64{2: 3, 3: 2, 4: 3}, 3, 3},
		"2 % and 3 % is 10 % worse":       {map[int]float64{2: 1, 3: 1.1, 4: 3}, 2, 2},
		"2 % and 3 % is more than that":   {map[int]float64{2: 1, 3: 1.11, 4: 3}, 1, 1},
		"4 % and 3 % is 10 % worse":       {map[int]float64{2: 3, 3: 1.1, 4: 1}, 4, 4},
		"4 % and 3 % is more than that":   {map[int]float64{2: 3, 3: 1.11, 4: 1}, 5, 5},
		"1 % however bad it was":          {map[int]float64{1: 9, 2: 1, 3: 2, 4: 3}, 1, 2},
		"5 % however bad it was":          {map[int]float64{2: 3, 3: 2, 4: 1, 5: 9}, 5, 4},
		"1 % once it is best":             {map[int]float64{1: 1, 2: 2, 3: 2, 4: 3}, 1, 1},
		"5 % once it is best":             {map[int]float64{2: 2, 3: 2, 4: 3, 5: 1}, 5, 5},
		"the smaller of equal ones":       {map[int]float64{3: 2, 4: 2}, 3, 3},
		"a missing score is skipped":      {map[int]float64{4: 2}, 4, 4},
		"and not compared with, either":   {map[int]float64{2: 1, 4: 2}, 2, 2},
		"no score at all":                 {nil, 3, 3},
		"other percentages have no score": {map[int]float64{0: 1, 6: 1, 2: 5}, 2, 2},
	} {
		for _, corrected := range []bool{false, true} {
			r := &slearn.Ratio{Recent: 1, Corrected: corrected}
			begin(r, 3)
			for percent, score := range c.scores {
				r.Done(percent, score)
			}
			want := c.paper
			if corrected {
				want = c.corrects
			}
			assert.Equal(t, want, r.Next(), "%s, corrected %v", name, corrected)
		}
	}
}

// Figure 3, line 21 and 22: a score goes only when there are more than T, so T + 1 are kept.
func TestRatioKeepsOneScoreMore(t *testing.T) {
	for corrected, want := range map[bool][]int{false: {3, 2}, true: {2, 2}} {
		r := &slearn.Ratio{Recent: 2, Corrected: corrected}
		begin(r, 6)
		r.Done(3, 1.05)
		for _, score := range []float64{9, 1, 1} {
			r.Done(2, score)
		}
		got := []int{r.Next()} // the mean of all three is 11/3, that of the last two 1
		r.Done(2, 1)
		assert.Equal(t, want, append(got, r.Next()), "corrected %v", corrected)
	}
}

func TestFixedRatio(t *testing.T) {
	r := &slearn.Ratio{Fixed: 10}
	r.Done(10, 1)
	assert.Equal(t, []int{10, 10}, begin(r, 2))
}

// Pilots are max(1, ⌈r·S⌉), the size is their mean times S; late pilots count as if they ended now.
func TestSampling(t *testing.T) {
	for _, c := range []struct {
		percent, tasks, pilots int
	}{{3, 1, 1}, {3, 33, 1}, {3, 34, 2}, {3, 100, 3}, {3, 101, 4}, {1, 150, 2}, {100, 7, 7}} {
		p := slearn.NewSampling(&slearn.Ratio{Fixed: c.percent})
		s := &slearn.Sample{}
		s.Job.Tasks = int32(c.tasks)
		a := p.Estimate(s)
		assert.Equal(t, c.pilots, a.Pilots, "%d %% of %d", c.percent, c.tasks)
		assert.Equal(t, int32(c.percent), a.Note)
	}
	p := slearn.NewSampling(nil)
	s := &slearn.Sample{Note: 3, Pilots: slearn.Times{Count: 2, Sum: 30}}
	s.Job.Tasks = 50
	assert.Equal(t, slearn.Answer{Size: 750, Pilots: 2, Note: 3}, p.Estimate(s))
	s.Out, s.Late = 1, 90*time.Second
	assert.InDelta(t, 50.0*40, p.Estimate(s).Size, 1e-9)
}

// A job that was sampled scores its ratio by its completion time over the time of its tasks.
func TestSamplingScoresItsRatio(t *testing.T) {
	p := slearn.NewSampling(&slearn.Ratio{Recent: 1})
	s := &slearn.Sample{}
	s.Job.Tasks = 10
	var notes []int32
	for range 3 {
		notes = append(notes, p.Estimate(s).Note)
	}
	assert.Equal(t, []int32{3, 2, 4}, notes)
	for i, completion := range []float64{1, 3, 0.8} {
		o := &slearn.Outcome{Sample: slearn.Sample{Note: notes[i], Ended: slearn.Times{Count: 10, Sum: 10}}}
		o.Completion = time.Second
		o.Ended.Sum = 10 / completion
		p.Learn(o)
	}
	assert.Equal(t, int32(5), p.Estimate(s).Note, "4 % is best and 3 % more than 10 % worse")
}
