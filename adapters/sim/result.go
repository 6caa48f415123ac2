package sim

import "time"

// finish derives the result once all is over.
func (e *engine) finish(solver Solver) *Result {
	w, tpn := e.world, e.cfg.TasksPerNode
	r := &e.result
	r.Jobs = w.records
	m := &r.Metrics
	var latency, all []float64
	for i := range r.Jobs {
		record := &r.Jobs[i]
		m.count(record)
		if record.Finish < 0 {
			continue
		}
		seconds := (record.Finish - record.Submit).Seconds()
		all = append(all, seconds)
		if record.Class == BestEffort {
			latency = append(latency, seconds)
		}
	}
	if m.SLO.Jobs > 0 {
		m.SLO.MissRate = float64(m.SLO.Missed) / float64(m.SLO.Jobs)
	}
	m.BELatency, m.JCT = spread(latency), spread(all)
	t := &w.tally
	m.Policy, m.Seed = e.cfg.Policy.Name(), e.cfg.Seed
	m.Goodput = perClass(t.goodput, tpn)
	m.WorkInWindow = perClass(t.workInWindow, tpn)
	m.Preemptions = t.preemptions
	m.LostMachineHours = t.lost.machineHours(tpn)
	capacity := float64(w.nodes.Len() * tpn)
	m.MakespanS = t.lastStop.Seconds()
	m.Utilisation = share(w.rec.busy, capacity, t.lastStop)
	m.UtilisationInWindow = share(w.rec.inWindow, capacity, w.rec.window)
	m.Cycles = len(e.stats.wall)
	m.CycleMS, m.PhaseMS, m.Solver = e.stats.cycleMS(), e.stats.phaseMS(), solver
	r.Series = w.rec.series(capacity)
	r.Events = t.events
	r.BusyMachineHours = w.rec.busy.machineHours(tpn)
	return r
}

func (m *Metrics) count(r *JobRecord) {
	completed := 0
	if r.Finish >= 0 {
		completed = 1
	}
	if r.Class == BestEffort {
		m.BE.Jobs++
		m.BE.Completed += completed
		return
	}
	m.SLO.Jobs++
	m.SLO.Completed += completed
	if r.Missed() {
		m.SLO.Missed++
	}
}

func perClass(t [2]taskTime, tasksPerNode int) PerClass {
	return PerClass{SLO: t[0].machineHours(tasksPerNode), BE: t[1].machineHours(tasksPerNode)}
}

// share is busy task-time over capacity tasks during d, 0 of no time.
func share(busy taskTime, capacity float64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return busy.taskSeconds() / (capacity * d.Seconds())
}
