// Package pack is the pure-Go engines' common ground: a problem flattened into
// arrays, and a plan on it with residual capacities, to which jobs are added
// and from which they are taken without allocating.
package pack

import (
	"cmp"
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver"
)

// eps is the relative slack that whole-task counts are rounded down with, well
// inside solver.Tolerance.
const eps = 1e-9

// OpsPerUnit is how many row operations make a unit of work, about a microsecond.
const OpsPerUnit = 512

// tiny is an amount that is taken as none: sums of such stay far below what
// solver.Verify tolerates in any row, and their inverses would overflow.
const tiny = 0x1p-100

// steepest bounds 1/usage where usage next to nothing is followed by more.
const steepest = 0x1p300

// Demand is what one task holds of resource R, in scaled units.
type Demand struct {
	R      int
	D, Inv float64
}

// Option is a placement option on flat arrays.
type Option struct {
	Job, Index int
	Start      int
	Count      float64
	Value      float64
	// Area is what the gang takes of the cluster: its share of each resource's
	// mean capacity, summed over slots and resources.
	Area float64
	// Whole says that the split must be whole tasks.
	Whole bool
	// Dead says that the option cannot fit even with every running job preempted.
	Dead bool
	// Usage and Inv are the probabilities of still running, and 1/usage.
	Usage, Inv []float64
	// Demand lists resources held; P0, P1 bound the option's entries in the
	// instance's Part and Limit.
	Demand []Demand
	P0, P1 int
}

// Instance is a problem on flat arrays. A row is (partition·R + resource)·T + slot. Beyond the problem's own resources are
// copies of them, which say who may take whose room.
type Instance struct {
	P           *solver.Problem
	Parts, R, T int
	Rows        int
	// Cap is each row's capacity; amounts of a resource are scaled by one power
	// of two, so that resources in different units weigh alike.
	Cap []float64
	// Options of job j are Opts[JobOpts[j]:JobOpts[j+1]], by falling value.
	Opts    []Option
	JobOpts []int
	// Part lists options' partitions, Limit how many tasks fit there at most.
	Part  []int
	Limit []float64
	// Running jobs' releases are entries RunOff[m]:RunOff[m+1] of RunRow, RunAmt.
	RunOff []int
	RunRow []int
	RunAmt []float64
	// MaxParts is the largest number of partitions of an option.
	MaxParts int
	// Look, if it is not nil, is asked every now and then whether to go on: Load leaves out the options of the jobs that are
	// left when it says that it is late, and Round leaves capacities as they are.
	Look func() (late bool)

	levels              []level
	least               []int // the running jobs' MinPriority, each once
	top                 int   // the highest priority of a job
	entries, lookAt     int   // how many have been gone through, and when to look next
	scale, mean, maxCap []float64
	slack               []float64 // half of what Verify lets each row be exceeded by
	inv                 []float64
	demands             []Demand
	unit                []unit // scratch: what all that uses a row is a multiple of
}

// Resize makes s of length n, reusing its memory; what is in it is anything.
func Resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

// When to look: after what takes a few milliseconds at first, so that there is something to make a plan of in any case.
const (
	firstLook = 2000 * OpsPerUnit
	nextLook  = 100 * OpsPerUnit
)

// late counts entries, and looks every now and then.
func (in *Instance) late(entries int) bool {
	if in.entries += entries; in.entries < in.lookAt || in.Look == nil {
		return false
	}
	in.lookAt = in.entries + nextLook
	return in.Look()
}

// Load flattens p, reusing the instance's memory, and reports whether it came to the end. p must be valid.
func (in *Instance) Load(p *solver.Problem, splits solver.SplitRule) bool {
	in.entries, in.lookAt = 0, firstLook
	in.P, in.Parts, in.T = p, len(p.Partitions), p.Slots
	in.loadLevels()
	in.R = len(p.Resources) + len(in.levels)
	in.Rows = in.Parts * in.R * in.T
	in.loadCapacity()
	in.loadRunning()
	return in.loadOptions(splits)
}

// Round lowers every capacity to what whole tasks can use of it, where all that uses a row comes in
// multiples of one amount: as in the slot that starts now, where everybody is still running. No plan is
// lost, and the linear relaxation knows that a quarter of a node is of no use to anybody.
func (in *Instance) Round() {
	in.unit = Resize(in.unit, in.Rows)
	clear(in.unit)
	for i := range in.Opts {
		o := &in.Opts[i]
		if in.late(4 * (o.P1 - o.P0) * len(o.Demand) * len(o.Usage)) {
			return
		}
		if !o.Dead {
			in.divide(o)
		}
	}
	for i, row := range in.RunRow {
		in.unit[row].add(in.RunAmt[i])
	}
	for r, u := range in.unit {
		if u.g > 0 && in.maxCap[r] < u.least*maxMultiple {
			in.Cap[r] = min(in.Cap[r], u.round(in.Cap[r], in.maxCap[r]-in.Cap[r]))
		}
	}
}

// divide takes option o into its rows' units.
func (in *Instance) divide(o *Option) {
	for _, x := range in.Part[o.P0:o.P1] {
		for i := range o.Demand {
			d := &o.Demand[i]
			lo := (x*in.R+d.R)*in.T + o.Start
			units := in.unit[lo : lo+len(o.Usage)]
			for t := range units {
				switch u, a := &units[t], d.D*o.Usage[t]; {
				case u.g < 0 || a == 0:
				case !o.Whole:
					u.g = -1
				case u.g != a:
					u.add(a)
				}
			}
		}
	}
}

// unit is what all amounts that use a row are about whole multiples of: of one amount g, which is 0 if there are none and
// -1 if they have nothing in common, and each of them exactly of some amount between least and most, g being another.
type unit struct {
	g, least, most float64
}

// add takes amount a into the unit.
func (u *unit) add(a float64) {
	if u.g < 0 || a == 0 {
		return
	}
	g := common(u.g, a)
	n, times := math.Round(a/g), math.Round(u.g/g)
	switch {
	case g < 0 || n < 1 || u.g > 0 && times < 1: // next to nothing beside the other
		u.g = -1
		return
	case u.g == 0:
		u.least, u.most = g, g
	case times > 1: // all multiples so far are more of something smaller
		u.least, u.most = u.least/times, u.most/times
	}
	u.g = g
	u.least, u.most = min(u.least, g, a/n), max(u.most, g, a/n)
}

// round is a capacity that any whole multiples fit into that fit into the given one, where up to so much more may be
// released by preemption. Amounts need not be quite multiples of the same: n of the smallest units are the most that fit, and may
// take n of the largest.
func (u *unit) round(capacity, released float64) float64 {
	spread := float64((u.most - u.least) / u.least * released)
	n := math.Floor(float64((capacity+spread)/u.least*(1+eps)) + eps)
	return float64(u.most*n) + spread
}

// maxMultiple bounds how many times a unit goes into what uses it: beyond that rounding says little,
// and its own errors count.
const maxMultiple = 1e5

// common is the largest amount that g and a are both multiples of, and some not too small part of them,
// or -1 if there is none; 0 is a multiple of everything.
func common(g, a float64) float64 {
	if g < 0 {
		return g
	}
	if g == a {
		return g
	}
	least := min(g, a) / 64
	for a > eps*g {
		if g, a = a, math.Mod(g, a); g-a < eps*g {
			a = 0 // all but a multiple
		}
		if a > eps*g && a < least {
			return -1
		}
	}
	return g
}

// Release lets go of the problem, so that a pooled instance keeps none of it alive.
func (in *Instance) Release() {
	in.P, in.Look = nil, nil
	clear(in.Opts)
}

// Scale is what amounts of resource r are multiplied by: a power of two.
func (in *Instance) Scale(r int) float64 { return in.scale[r] }

func (in *Instance) loadCapacity() {
	p := in.P
	in.scale, in.mean = Resize(in.scale, in.R), Resize(in.mean, in.R)
	for r := range in.scale {
		largest, of := 0.0, in.resource(r)
		for x := range p.Capacity {
			for _, v := range p.Capacity[x][of] {
				largest = max(largest, v)
			}
		}
		largest = max(largest, releasable(p, of))
		in.scale[r], in.mean[r] = 1, 0
		if largest >= tiny {
			_, e := math.Frexp(largest)
			in.scale[r] = math.Ldexp(1, -e)
		}
	}
	in.Cap, in.slack = Resize(in.Cap, in.Rows), Resize(in.slack, in.Rows)
	i := 0
	for x := range p.Capacity {
		for r := range in.R {
			for _, v := range p.Capacity[x][in.resource(r)] {
				if v < tiny {
					v = 0
				}
				in.Cap[i] = v * in.scale[r]
				in.slack[i] = solver.Tolerance / 2 * max(in.scale[r], in.Cap[i])
				if r < len(p.Resources) {
					in.mean[r] += in.Cap[i] / float64(in.T)
				}
				i++
			}
		}
	}
}

// releasable is the most of resource r that a running job holds of one partition: on a full cluster amounts are of that size, whatever is free.
func releasable(p *solver.Problem, r int) float64 {
	most := 0.0
	for m := range p.Running {
		for _, a := range p.Running[m].Alloc {
			most = max(most, float64(a.Count)*p.Running[m].Demand[r])
		}
	}
	return most
}

func (in *Instance) loadRunning() {
	p := in.P
	in.RunOff = append(in.RunOff[:0], 0)
	in.RunRow, in.RunAmt = in.RunRow[:0], in.RunAmt[:0]
	in.maxCap = append(in.maxCap[:0], in.Cap...)
	for m := range p.Running {
		run := &p.Running[m]
		for _, a := range run.Alloc {
			for r := range in.R {
				d := run.Demand[in.resource(r)]
				if d == 0 || !in.releases(run, r) {
					continue
				}
				row := (a.Partition*in.R + r) * in.T
				for t, u := range run.Usage {
					amount := float64(float64(a.Count) * d * in.scale[r] * u)
					if amount > 0 {
						in.RunRow = append(in.RunRow, row+t)
						in.RunAmt = append(in.RunAmt, amount)
						in.maxCap[row+t] += amount
					}
				}
			}
		}
		in.RunOff = append(in.RunOff, len(in.RunRow))
	}
	in.relax()
}

func (in *Instance) loadOptions(splits solver.SplitRule) bool {
	p := in.P
	n, nparts, nusage, ndem := 0, 0, 0, 0
	in.MaxParts = 1
	for j := range p.Jobs {
		n += len(p.Jobs[j].Options)
		for i := range p.Jobs[j].Options {
			o := &p.Jobs[j].Options[i]
			nparts += len(o.Partitions)
			nusage += len(o.Usage)
			ndem += in.R
			in.MaxParts = max(in.MaxParts, len(o.Partitions))
		}
	}
	in.Opts, in.JobOpts = Resize(in.Opts, n)[:0], Resize(in.JobOpts, len(p.Jobs)+1)
	in.Part, in.Limit = Resize(in.Part, nparts)[:0], Resize(in.Limit, nparts)[:0]
	in.inv, in.demands = Resize(in.inv, nusage)[:0], Resize(in.demands, ndem)[:0]
	whole := true
	for j := range p.Jobs {
		in.JobOpts[j] = len(in.Opts)
		for i := range p.Jobs[j].Options {
			o := &p.Jobs[j].Options[i]
			if whole = whole && !in.late(len(o.Partitions)*(len(o.Demand)*len(o.Usage)+8)+64); whole {
				in.addOption(j, i, splits)
			}
		}
		slices.SortStableFunc(in.Opts[in.JobOpts[j]:], func(a, b Option) int { return cmp.Compare(b.Value, a.Value) })
	}
	in.JobOpts[len(p.Jobs)] = len(in.Opts)
	return whole
}

func (in *Instance) addOption(j, i int, splits solver.SplitRule) {
	src := &in.P.Jobs[j].Options[i]
	o := Option{Job: j, Index: i, Start: src.Start, Count: float64(src.Count), Value: src.Value,
		Whole: splits.Integral(src), Usage: noticed(src)}
	v0, d0 := len(in.inv), len(in.demands)
	span := 0.0
	for _, u := range o.Usage {
		in.inv = append(in.inv, min(1/u, steepest))
		span += u
	}
	for r := range in.R {
		if d := src.Demand[in.resource(r)]; d >= tiny && in.uses(&in.P.Jobs[j], r) {
			in.demands = append(in.demands, Demand{R: r, D: d * in.scale[r], Inv: 1 / (d * in.scale[r])})
			if in.mean[r] > 0 {
				o.Area += o.Count * span * d * in.scale[r] / in.mean[r]
			}
		}
	}
	o.Inv, o.Demand = in.inv[v0:], in.demands[d0:]
	o.P0 = len(in.Part)
	in.Part = append(in.Part, src.Partitions...)
	o.P1 = len(in.Part)
	total := 0.0
	for _, x := range src.Partitions {
		fit := in.Fit(&o, x, in.maxCap)
		in.Limit = append(in.Limit, fit)
		total += fit
	}
	o.Dead = total < o.Count*(1-eps)
	in.Opts = append(in.Opts, o)
}

// noticed is o's usage up to where the rest of it uses next to nothing.
func noticed(o *solver.Option) []float64 {
	most := 0.0
	for _, d := range o.Demand {
		most = max(most, d*float64(o.Count))
	}
	n := len(o.Usage)
	for n > 0 && o.Usage[n-1]*most < tiny {
		n--
	}
	return o.Usage[:n]
}

// Fit is how many of o's tasks, at most its count, fit into partition x of res.
func (in *Instance) Fit(o *Option, x int, res []float64) float64 {
	fit := o.Count
	for i := range o.Demand {
		d := &o.Demand[i]
		lo := (x*in.R+d.R)*in.T + o.Start
		rows := res[lo : lo+len(o.Inv)]
		if o.Whole && len(rows) > 0 && rows[0]*o.Inv[0] < d.D*(1-2*eps) {
			return 0 // as most do: the start slot is the fullest
		}
		least := fit / d.Inv
		for t, v := range rows {
			if w := v * o.Inv[t]; w < least {
				least = w
			}
		}
		if w := least * d.Inv; w < fit {
			fit = w
		}
	}
	switch {
	case fit >= o.Count*(1-eps):
		return o.Count
	case o.Whole:
		fit = math.Floor(fit + float64(eps*max(1, fit)))
	}
	return max(fit, 0)
}
