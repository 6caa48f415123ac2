package experiment

import (
	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/distsched"
)

// EvictionBin compares a forecast with what came true: for the jobs whose probability of losing a task by eviction, in
// all their life, was told to be within a tenth of the range.
type EvictionBin struct {
	// From and To bound the bin: above From, except for the first, and up to To.
	From float64 `json:"from"`
	To   float64 `json:"to"`
	// Jobs are those in the bin at their first start. Told is their mean probability, and AtStart that of the moment of
	// their start alone, by which the policy decides. Came is the share of them that lost a task by eviction. All are 0 in
	// an empty bin.
	Jobs    int     `json:"jobs"`
	Told    float64 `json:"told"`
	AtStart float64 `json:"at_start"`
	Came    float64 `json:"came"`
}

// teller is a policy that tells the probability of evictions, and corrects it by what comes. DistSched's are.
type teller interface {
	Follow(job string) (e distsched.Eviction, ok bool)
}

// evictions keeps what a policy told of jobs at their first start.
type evictions struct {
	of   teller
	told map[string]distsched.Eviction
}

// watchEvictions has the policy's forecasts kept, if it tells any; else it returns nil.
func watchEvictions(c *sim.Config) *evictions {
	of, ok := c.Policy.(teller)
	if !ok {
		return nil
	}
	e, next := &evictions{of: of, told: map[string]distsched.Eviction{}}, c.CycleObserver
	c.CycleObserver = func(cycle *sched.Cycle) {
		e.observe(cycle)
		if next != nil {
			next(cycle)
		}
	}
	return e
}

func (e *evictions) observe(c *sched.Cycle) {
	if c.Plan == nil {
		return
	}
	for i := range c.Plan.Decisions {
		d := &c.Plan.Decisions[i]
		if _, known := e.told[d.Job]; known || d.Kind != sched.Start {
			continue
		}
		if p, ok := e.of.Follow(d.Job); ok {
			e.told[d.Job] = p
		}
	}
}

// evictionBins is the number of bins.
const evictionBins = 10

// bins compares what was told with what became of the jobs. Parts of jobs are not among them.
func (e *evictions) bins(jobs []sim.JobRecord) []EvictionBin {
	if e == nil {
		return nil
	}
	out := make([]EvictionBin, evictionBins)
	for i := range out {
		out[i].From, out[i].To = float64(i)/evictionBins, float64(i+1)/evictionBins
	}
	for i := range jobs {
		p, ok := e.told[jobs[i].ID]
		if !ok {
			continue
		}
		k := 0
		for k < evictionBins-1 && p.Life > out[k].To {
			k++
		}
		b := &out[k]
		b.Jobs++
		b.Told += p.Life
		b.AtStart += p.Start
		if jobs[i].Evictions > 0 {
			b.Came++
		}
	}
	return averaged(out)
}

// averaged turns sums into means.
func averaged(bins []EvictionBin) []EvictionBin {
	for i := range bins {
		if n := float64(bins[i].Jobs); n > 0 {
			bins[i].Told, bins[i].AtStart, bins[i].Came = bins[i].Told/n, bins[i].AtStart/n, bins[i].Came/n
		}
	}
	return bins
}

// sumBins adds up the bins of several runs. It is nil if no run has any.
func sumBins(runs []SharedRun) []EvictionBin {
	var out []EvictionBin
	for i := range runs {
		for k, b := range runs[i].Evicted {
			if out == nil {
				out = make([]EvictionBin, evictionBins)
			}
			n := float64(b.Jobs)
			out[k].From, out[k].To, out[k].Jobs = b.From, b.To, out[k].Jobs+b.Jobs
			out[k].Told += float64(n * b.Told)
			out[k].AtStart += float64(n * b.AtStart)
			out[k].Came += float64(n * b.Came)
		}
	}
	return averaged(out)
}
