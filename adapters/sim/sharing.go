package sim

// Sharing are the figures of nodes that tasks share. Core-hours are CPU, in the nodes' unit, times hours.
type Sharing struct {
	// Goodput is the CPU-time, at full speed, of completed jobs, late ones too.
	Goodput PerClass `json:"goodput_core_hours"`
	// Evictions is how many tasks were evicted because memory was short.
	Evictions int `json:"evictions"`
	// NeverStarted is how many jobs with a deadline had not started by then.
	NeverStarted int `json:"never_started"`
	// ThrottlesPerNodeHour is how often, in the arrival window, a task began to get less CPU than it wanted, by node and
	// hour.
	ThrottlesPerNodeHour float64 `json:"throttles_per_node_hour"`
	// ViolationShare is the share of machine time in the window in which tasks wanted more CPU than the machine has.
	ViolationShare float64 `json:"violation_share"`
	// EffectiveLoad is the share of all CPU that tasks got in the window.
	EffectiveLoad float64 `json:"effective_load"`
	// Admitted is the CPU-time, at full speed, of jobs that started in the window.
	Admitted float64 `json:"admitted_cpu_hours"`
}

// sharingFigures are nil where nodes are not shared.
func (l *life) sharingFigures() *Sharing {
	if l.shared == nil {
		return nil
	}
	totals, s := l.shared.machines.Totals(l.now), &Sharing{}
	s.Evictions = totals.Evictions
	for i := range l.records {
		r := &l.records[i]
		hours := r.CPUTime / 3600
		if r.Finish >= 0 && r.Class == SLO {
			s.Goodput.SLO += hours
		} else if r.Finish >= 0 {
			s.Goodput.BE += hours
		}
		if r.FirstStart >= 0 && r.FirstStart <= l.window {
			s.Admitted += hours
		}
		if r.Deadline > 0 && (r.FirstStart < 0 || r.FirstStart >= r.Deadline) {
			s.NeverStarted++
		}
	}
	cores := 0.0
	for i := range l.nodes.Len() {
		cores += l.nodes.Capacity()[2*i+l.shared.cpu]
	}
	if seconds := l.window.Seconds(); seconds > 0 {
		nodes := float64(l.nodes.Len())
		s.ThrottlesPerNodeHour = float64(totals.Throttles) / nodes / (seconds / 3600)
		s.ViolationShare = totals.Over / nodes / seconds
		s.EffectiveLoad = totals.CPUTime / cores / seconds
	}
	return s
}
