package decisionlog

import (
	"math"
	"math/big"
	"sort"
	"time"
)

// Metrics are the figures of a run as `hedge compare --json` names them, but
// for wall-clock times, which no log holds.
type Metrics struct {
	Policy string `json:"policy"`
	Seed   int64  `json:"seed"`
	SLO    struct {
		Jobs      int     `json:"jobs"`
		Completed int     `json:"completed"`
		Missed    int     `json:"missed"`
		MissRate  float64 `json:"miss_rate"`
	} `json:"slo"`
	BE struct {
		Jobs      int `json:"jobs"`
		Completed int `json:"completed"`
	} `json:"be"`
	Goodput      PerClass `json:"goodput_machine_hours"`
	WorkInWindow PerClass `json:"work_in_window_machine_hours"`
	BELatency    Spread   `json:"be_latency_s"`
	JCT          Spread   `json:"jct_s"`
	Preemptions  int      `json:"preemptions"`
	// Evictions is how many tasks were evicted from shared nodes.
	Evictions           int     `json:"evictions,omitempty"`
	LostMachineHours    float64 `json:"lost_machine_hours"`
	Utilisation         float64 `json:"utilisation"`
	UtilisationInWindow float64 `json:"utilisation_in_window"`
	MakespanS           float64 `json:"makespan_s"`
	Cycles              int     `json:"cycles"`
	Solver              Solver  `json:"solver"`
}

// PerClass is a figure for jobs with and without a deadline.
type PerClass struct {
	SLO float64 `json:"slo"`
	BE  float64 `json:"be"`
}

// Spread is the mean and nearest-rank percentiles of many values, 0 of none.
type Spread struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
}

// sums are integrals over time, in task-nanoseconds of any size.
type sums struct {
	running        int
	last, lastStop time.Duration
	window         time.Duration
	busy, inWindow big.Int
}

// until notes how many tasks have run since the last call.
func (s *sums) until(now time.Duration) {
	addProduct(&s.busy, s.running, now-s.last)
	if s.last < s.window {
		addProduct(&s.inWindow, s.running, min(now, s.window)-s.last)
	}
	s.last = now
}

func addProduct(sum *big.Int, tasks int, d time.Duration) {
	var product, factor big.Int
	product.SetInt64(int64(tasks))
	factor.SetInt64(int64(d))
	sum.Add(sum, product.Mul(&product, &factor))
}

// per is the amount over a number of nanoseconds, correctly rounded; 0 over none.
func per(sum *big.Int, nanoseconds float64) float64 {
	if nanoseconds <= 0 {
		return 0
	}
	x, _ := new(big.Float).Quo(
		new(big.Float).SetPrec(200).SetInt(sum), new(big.Float).SetPrec(200).SetFloat64(nanoseconds)).Float64()
	return x
}

func (c *checker) report() *Report {
	r := &Report{Header: *c.header, Lines: c.lines, Nodes: len(c.cluster.names)}
	m := &r.Metrics
	m.Policy, m.Seed = c.header.Policy, c.header.Seed
	if c.trailer != nil {
		m.Cycles, m.Solver = c.trailer.Cycles, c.trailer.Solver
	}
	var good, work [2]big.Int
	var lost big.Int
	var latency, all []time.Duration
	for _, j := range c.order {
		r.Jobs = append(r.Jobs, j.Job)
		class := j.rank()
		m.Preemptions += j.Preemptions
		m.Evictions += j.Evictions
		addProduct(&lost, j.Tasks, j.Lost)
		addProduct(&lost, 1, j.lostTasks)
		if j.Finish < 0 {
			continue
		}
		if c.shared != nil {
			addProduct(&good[class], 1, j.held-j.lostTasks)
		} else {
			addProduct(&good[class], j.Tasks, j.Finish-j.Start+j.kept)
		}
		if j.Finish <= c.header.Span {
			addProduct(&work[class], j.Tasks, j.work())
		}
	}
	for _, j := range c.wholes() {
		if class := m.count(j); j.Finish >= 0 {
			all = append(all, j.Finish-j.Submit)
			if class == 1 {
				latency = append(latency, j.Finish-j.Submit)
			}
		}
	}
	if m.SLO.Jobs > 0 {
		m.SLO.MissRate = float64(m.SLO.Missed) / float64(m.SLO.Jobs)
	}
	hour := float64(time.Hour) * float64(c.header.TasksPerNode)
	m.Goodput = PerClass{per(&good[0], hour), per(&good[1], hour)}
	m.WorkInWindow = PerClass{per(&work[0], hour), per(&work[1], hour)}
	m.LostMachineHours = per(&lost, hour)
	m.BELatency, m.JCT = summary(latency), summary(all)
	tasks := float64(len(c.cluster.names)) * float64(c.header.TasksPerNode)
	m.MakespanS = c.sums.lastStop.Seconds()
	m.Utilisation = per(&c.sums.busy, tasks*float64(c.sums.lastStop))
	m.UtilisationInWindow = per(&c.sums.inWindow, tasks*float64(c.header.Span))
	return r
}

// work is how long a completed job takes at full speed. Where the log does not say, it is
// how long it ran, less the slow-down.
func (j *life) work() time.Duration {
	ran := j.Finish - j.Start
	switch {
	case j.runtime > 0:
		return j.runtime
	case j.Speed > 0 && j.Speed < 1:
		return j.behind + time.Duration(math.Round(float64(ran)/(1/j.Speed)))
	}
	return j.behind + ran
}

// wholes are the jobs, the stages of each joined to one: submitted with the first, finished with the last.
func (c *checker) wholes() []*Job {
	byID := map[string]*Job{}
	var out []*Job
	for _, l := range c.order {
		stage := l.Job
		if stage.Of != "" {
			stage.ID = stage.Of
		}
		j := byID[stage.ID]
		if j == nil {
			byID[stage.ID] = &stage
			out = append(out, &stage)
			continue
		}
		if j.Finish >= 0 {
			j.Finish = max(j.Finish, stage.Finish)
		}
		if stage.Finish < 0 {
			j.Finish = -1
		}
		if stage.Class == SLO {
			j.Class = SLO
		}
		j.Submit, j.Deadline = min(j.Submit, stage.Submit), max(j.Deadline, stage.Deadline)
	}
	return out
}

// rank is 0 for a job with a deadline, 1 for one without.
func (j *Job) rank() int {
	if j.Class == SLO {
		return 0
	}
	return 1
}

// count adds a job to the counts and returns its class, 0 for one with a deadline.
func (m *Metrics) count(j *Job) int {
	if j.Class != SLO {
		m.BE.Jobs++
		if j.Finish >= 0 {
			m.BE.Completed++
		}
		return 1
	}
	m.SLO.Jobs++
	if j.Finish >= 0 {
		m.SLO.Completed++
	}
	if j.Finish < 0 || j.Finish > j.Deadline {
		m.SLO.Missed++
	}
	return 0
}

// summary sums up durations, in seconds.
func summary(values []time.Duration) Spread {
	n := len(values)
	if n == 0 {
		return Spread{}
	}
	sort.Slice(values, func(a, b int) bool { return values[a] < values[b] })
	var sum big.Int
	for _, v := range values {
		addProduct(&sum, 1, v)
	}
	// The p-th percentile is the smallest value that ceil(n*p/100) values do not exceed.
	at := func(p int) float64 { return values[max((n*p+99)/100, 1)-1].Seconds() }
	return Spread{Mean: per(&sum, float64(n)*1e9), P50: at(50), P90: at(90), P99: at(99)}
}
