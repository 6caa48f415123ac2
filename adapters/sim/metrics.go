package sim

// Metrics are the figures of a run as `hedge compare --json` prints them.
// Machine-hours are task-hours divided by the tasks per node. Figures over no values are 0. A percentile is by nearest
// rank: the p-th is the smallest value that at least p percent of the values do not exceed. The stages of a job
// count as one job in numbers of jobs and in latencies: from its submission to the end of its last stage.
type Metrics struct {
	Policy string `json:"policy"`
	Seed   int64  `json:"seed"`
	// SLO counts jobs with a deadline, BE those without.
	SLO SLOCount `json:"slo"`
	BE  BECount  `json:"be"`
	// Goodput is the machine time that completed jobs held, late ones too, less the work that was lost. A job that runs
	// slowed counts for longer.
	Goodput PerClass `json:"goodput_machine_hours"`
	// WorkInWindow is the runtime at full speed times the machines needed, summed over the jobs that completed within
	// the arrival window. It is what was got done, however fast it ran.
	WorkInWindow PerClass `json:"work_in_window_machine_hours"`
	// BELatency is completion less submission of completed best-effort jobs, JCT that of all completed jobs, in
	// seconds.
	BELatency Spread `json:"be_latency_s"`
	JCT       Spread `json:"jct_s"`
	// Classes are figures of the jobs of each class, by its name.
	Classes map[Class]ClassFigures `json:"classes"`
	// Preemptions is their number. LostMachineHours is the work that they threw away.
	Preemptions      int     `json:"preemptions"`
	LostMachineHours float64 `json:"lost_machine_hours"`
	// Utilisation is the machine time held, lost work included, over capacity until the makespan.
	Utilisation         float64 `json:"utilisation"`
	UtilisationInWindow float64 `json:"utilisation_in_window"`
	// MakespanS is when the last task stopped, by completion or preemption, in seconds.
	MakespanS float64 `json:"makespan_s"`
	// Cycles is how many cycles there were. In some a [sched.SteadyPolicy] was not asked, since nothing had happened.
	Cycles int `json:"cycles"`
	// CycleMS is wall-clock milliseconds of whole cycles, PhaseMS their mean parts. Both are of the cycles in which the
	// policy was asked.
	CycleMS CycleMS `json:"cycle_ms"`
	PhaseMS PhaseMS `json:"phase_ms"`
	Solver  Solver  `json:"solver"`
}

// ClassFigures are those of the jobs of one class.
type ClassFigures struct {
	// Jobs is how many were submitted, Completed how many ran to their end.
	Jobs      int `json:"jobs"`
	Completed int `json:"completed"`
	// JCT is completion less submission of completed jobs, in seconds.
	JCT Spread `json:"jct_s"`
	// Normalised is completion less submission over the runtime at full speed: 1 is a job that never waited. Jobs that
	// take no time are left out.
	Normalised Spread `json:"normalised_jct"`
}

// SLOCount counts jobs with a deadline.
type SLOCount struct {
	// Jobs is how many were submitted, Completed how many ran to their end, in time or late.
	Jobs      int `json:"jobs"`
	Completed int `json:"completed"`
	// Missed is how many did not complete by their deadline, those never completed included.
	Missed int `json:"missed"`
	// MissRate is Missed over Jobs.
	MissRate float64 `json:"miss_rate"`
}

// BECount counts best-effort jobs.
type BECount struct {
	Jobs      int `json:"jobs"`
	Completed int `json:"completed"`
}

// PerClass is a figure for jobs with and without a deadline.
type PerClass struct {
	SLO float64 `json:"slo"`
	BE  float64 `json:"be"`
}

// Spread sums up many values.
type Spread struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
}

// CycleMS is how long cycles took, in wall-clock milliseconds.
type CycleMS struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// PhaseMS is the mean wall-clock milliseconds of a cycle's parts.
type PhaseMS struct {
	Snapshot float64 `json:"snapshot"`
	Options  float64 `json:"options"`
	Solve    float64 `json:"solve"`
	Apply    float64 `json:"apply"`
}

// Solver sums up the solves. Gaps are over the cycles in which an engine was used.
type Solver struct {
	// Engine is the engine's name, several joined by commas; empty if none was used.
	Engine string `json:"engine"`
	// GapMean and GapP99 are nil, null in JSON, where engines were used and none proved a bound: the gap is unknown.
	GapMean *float64 `json:"gap_mean"`
	GapP99  *float64 `json:"gap_p99"`
	// Stops counts why solves stopped.
	Stops map[string]int `json:"stops"`
}
