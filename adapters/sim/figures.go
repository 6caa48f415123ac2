package sim

import (
	"math"
	"slices"
	"time"
)

// account is what figures are computed from: the records of a run, the arrival window and the size of the cluster.
type account struct {
	jobs                []JobRecord
	paths               []time.Duration // by job, the longest way to its end
	window              time.Duration
	nodes, tasksPerNode int
}

// totals are sums over an account.
type totals struct {
	classes              map[Class]*classSum
	events, preemptions  int
	busy, inWindow, lost TaskTime
	lastStop             time.Duration
}

// classSum gathers the jobs of one class.
type classSum struct {
	jobs, completed, missed int
	// good is the time that completed jobs held their nodes, less what they lost. work is what those that completed in
	// the window take at full speed.
	good, work TaskTime
	// jct is completion less submission, in seconds, of completed jobs. normalised is that over their runtime.
	jct, normalised []float64
}

// sum adds up the records.
func (a *account) sum() totals {
	t := totals{classes: map[Class]*classSum{SLO: {}, BestEffort: {}}}
	for i := range a.jobs {
		r := &a.jobs[i]
		t.of(r.Class).hold(r, a.window)
		t.events += r.events()
		t.preemptions += r.Preemptions
		t.busy, t.inWindow = t.busy.plus(r.Held), t.inWindow.plus(r.HeldInWindow)
		t.lost = t.lost.plus(r.lost())
		t.lastStop = max(t.lastStop, r.Stop)
	}
	whole := wholes(a.jobs, a.paths)
	for i := range whole {
		t.of(whole[i].Class).count(&whole[i])
	}
	return t
}

// of are the sums of a class.
func (t *totals) of(class Class) *classSum {
	s := t.classes[class]
	if s == nil {
		s = &classSum{}
		t.classes[class] = s
	}
	return s
}

// hold adds what a job or stage has got done.
func (s *classSum) hold(r *JobRecord, window time.Duration) {
	if r.Finish < 0 {
		return
	}
	s.good = s.good.plus(r.Held.minus(r.lost()))
	if r.Finish <= window {
		s.work = s.work.plus(taskTime(r.Tasks, r.Runtime))
	}
}

// count adds what became of a whole job.
func (s *classSum) count(r *JobRecord) {
	s.jobs++
	if r.Missed() {
		s.missed++
	}
	if r.Finish < 0 {
		return
	}
	s.completed++
	took := (r.Finish - r.Submit).Seconds()
	s.jct = append(s.jct, took)
	if r.Runtime > 0 {
		s.normalised = append(s.normalised, took/r.Runtime.Seconds())
	}
}

// metrics are the figures that depend neither on the wall clock nor on the solver.
func (a *account) metrics(t *totals) Metrics {
	slo, be, tpn := t.classes[SLO], t.classes[BestEffort], a.tasksPerNode
	capacity := float64(a.nodes * tpn)
	m := Metrics{
		SLO:                 SLOCount{Jobs: slo.jobs, Completed: slo.completed, Missed: slo.missed},
		BE:                  BECount{Jobs: be.jobs, Completed: be.completed},
		Goodput:             PerClass{SLO: slo.good.machineHours(tpn), BE: be.good.machineHours(tpn)},
		WorkInWindow:        PerClass{SLO: slo.work.machineHours(tpn), BE: be.work.machineHours(tpn)},
		Preemptions:         t.preemptions,
		LostMachineHours:    t.lost.machineHours(tpn),
		Utilisation:         share(t.busy, capacity, t.lastStop),
		UtilisationInWindow: share(t.inWindow, capacity, a.window),
		MakespanS:           t.lastStop.Seconds(),
		Classes:             make(map[Class]ClassFigures, len(t.classes)),
	}
	if slo.jobs > 0 {
		m.SLO.MissRate = float64(slo.missed) / float64(slo.jobs)
	}
	var all []float64
	for class, s := range t.classes { // in any order: spread sorts
		all = append(all, s.jct...)
		m.Classes[class] = ClassFigures{
			Jobs: s.jobs, Completed: s.completed, JCT: spread(s.jct), Normalised: spread(s.normalised),
		}
	}
	m.JCT, m.BELatency = spread(all), m.Classes[BestEffort].JCT
	return m
}

// events is how many happened to the job: its submission, starts, preemptions, and its end by completion or drop. All
// starts but that of a completed run end in a preemption or an eviction.
func (r *JobRecord) events() int {
	stops := 2 * (r.Preemptions + r.Evictions)
	if r.Finish < 0 {
		return 2 + stops
	}
	return 3 + stops
}

// share is busy task-time over capacity tasks during d, 0 of no time.
func share(busy TaskTime, capacity float64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return busy.Seconds() / (capacity * d.Seconds())
}

// spread sorts values and sums them up.
func spread(values []float64) Spread {
	slices.Sort(values)
	return Spread{
		Mean: mean(values),
		P50:  nearestRank(values, 50),
		P90:  nearestRank(values, 90),
		P99:  nearestRank(values, 99),
	}
}

// nearestRank is the p-th percentile of ascending values, 0 of none.
func nearestRank(ascending []float64, p float64) float64 {
	if len(ascending) == 0 {
		return 0
	}
	rank := int(math.Ceil(p / 100 * float64(len(ascending))))
	return ascending[min(max(rank, 1), len(ascending))-1]
}

// mean is the mean of values, 0 of none.
func mean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
