package sim

// Sharing has the metrics of shared nodes. Core-hours are in the nodes' unit of CPU. The window is the time in which
// jobs arrive.
type Sharing struct {
	// Goodput is the CPU time of completed jobs, in core-hours. It includes late jobs.
	Goodput PerClass `json:"goodput_core_hours"`
	// Evictions is the number of tasks evicted because memory ran short.
	Evictions int `json:"evictions"`
	// NeverStarted is the number of jobs with a deadline that had not started by their deadline.
	NeverStarted int `json:"never_started"`
	// ThrottlesPerNodeHour is how often a task began to get less CPU than it wanted, per node and hour of the window.
	ThrottlesPerNodeHour float64 `json:"throttles_per_node_hour"`
	// ViolationShare is the share of the window's machine time in which tasks wanted more CPU than the machine has.
	ViolationShare float64 `json:"violation_share"`
	// EffectiveLoad is the CPU that tasks got in the window, as a share of all CPU.
	EffectiveLoad float64 `json:"effective_load"`
	// Admitted is the CPU time of jobs that started in the window, in core-hours.
	Admitted float64 `json:"admitted_cpu_hours"`
	// Completed is the CPU time of jobs that completed in the window, in core-hours.
	Completed float64 `json:"completed_cpu_hours"`
}

// sharingFigures is nil if nodes are not shared.
func (l *life) sharingFigures(records []JobRecord) *Sharing {
	if l.shared == nil {
		return nil
	}
	totals, s := l.shared.machines.Totals(l.now), &Sharing{}
	s.Evictions = totals.Evictions
	for i := range records {
		r := &records[i]
		hours := r.CPUTime / 3600
		if r.Finish >= 0 && r.Class == SLO {
			s.Goodput.SLO += hours
		} else if r.Finish >= 0 {
			s.Goodput.BE += hours
		}
		if r.FirstStart >= 0 && r.FirstStart <= l.window {
			s.Admitted += hours
		}
		if r.Finish >= 0 && r.Finish <= l.window {
			s.Completed += hours
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
