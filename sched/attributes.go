package sched

import (
	"slices"

	"github.com/hedgesched/hedge/predict"
)

const (
	// firstJobs is how many jobs are seen before a feature that none of them has is told.
	firstJobs = 10
	// maxTold bounds the attributes that are told and remembered.
	maxTold = 100
)

// attributes compares what jobs say of themselves with what the predictor looks at.
type attributes struct {
	used     map[string]bool   // attributes that features use or that were told; nil if features do not say what they use
	told     int               // how many of used were told
	unfilled []predict.Feature // those that no job so far has had; nil once they are told
	jobs     int               // how many were seen
}

// init takes the predictor's features, if it tells them.
func (a *attributes) init(p predict.Predictor) {
	d, ok := p.(interface{ Features() []predict.Feature })
	if !ok {
		return
	}
	a.unfilled, a.used = slices.Clone(d.Features()), make(map[string]bool)
	known := true
	for _, f := range a.unfilled {
		names, complete := f.Attributes()
		known = known && complete
		for _, n := range names {
			a.used[n] = true
		}
	}
	if !known {
		a.used = nil
	}
}

// see looks at a submitted job and tells the cycle what is odd.
func (a *attributes) see(j *Job, c *Cycle) {
	if a.used != nil && a.told < maxTold {
		for name := range j.Attributes {
			if !a.used[name] {
				c.UnusedAttributes = append(c.UnusedAttributes, name)
			}
		}
		slices.Sort(c.UnusedAttributes)
		a.tell(c)
	}
	if a.unfilled == nil {
		return
	}
	of := j.Features()
	a.unfilled = slices.DeleteFunc(a.unfilled, func(f predict.Feature) bool { return f.Of(of) })
	if a.jobs++; a.jobs < firstJobs {
		return
	}
	for _, f := range a.unfilled {
		c.UnfilledFeatures = append(c.UnfilledFeatures, f.Name())
	}
	a.unfilled = nil
}

// tell remembers the cycle's unused attributes, up to the bound.
func (a *attributes) tell(c *Cycle) {
	told := c.UnusedAttributes[:0]
	for _, name := range c.UnusedAttributes {
		if a.used[name] {
			told = append(told, name) // by an earlier job of this cycle
		} else if a.told < maxTold {
			a.used[name] = true
			a.told++
			told = append(told, name)
		}
	}
	c.UnusedAttributes = told
}
