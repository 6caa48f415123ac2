package experiment

import (
	"bytes"
	"io"
	"math"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/decisionlog"
	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// Heat is what the machines of one run do over time, for the report. CPU is as a share of the machine's.
type Heat struct {
	// StepS is the time of a column, in seconds.
	StepS float64
	// Machines are the machines of the map, the first ones of the cluster; Used, Low and High are by machine, then
	// column. Used is the CPU that tasks use at the column's first cycle. Low and High are the band in which the forecasts
	// made before put it: the mean of the tasks' sum, less and plus 1.64 standard deviations (90 % of a normal variable).
	Machines        []string
	Used, Low, High [][]float64
	// Full is the share of all machines whose CPU is used up, so that tasks are throttled. Evicted is the number of tasks
	// evicted in the column.
	Full    []float64
	Evicted []int
}

// The size of a map.
const (
	heatColumns  = 96
	heatMachines = 24
)

// heater gathers a Heat from a run.
type heater struct {
	heat   Heat
	origin time.Time
	step   time.Duration
	known  map[dist.Distribution]moments
	line   []byte
}

// moments are a distribution's mean and variance.
type moments struct{ mean, variance float64 }

func newHeater(span time.Duration) *heater {
	step := max(time.Second, span/heatColumns)
	return &heater{heat: Heat{StepS: step.Seconds()}, step: step, known: map[dist.Distribution]moments{}}
}

// attach has the heater see a run and its log.
func (h *heater) attach(c *sim.Config) {
	h.origin = sim.Epoch()
	next := c.CycleObserver
	c.CycleObserver = func(cycle *sched.Cycle) {
		h.observe(cycle)
		if next != nil {
			next(cycle)
		}
	}
	if c.Log == nil {
		c.Log = h
	} else {
		c.Log = io.MultiWriter(c.Log, h)
	}
}

// observe sees a cycle: the first of each column is kept.
func (h *heater) observe(c *sched.Cycle) {
	s := c.Snapshot
	column := int(c.Now.Sub(h.origin) / h.step)
	if s == nil || column < len(h.heat.Full) || column >= 3*heatColumns {
		return
	}
	n := s.Nodes.Len()
	used, mean, variance := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range s.Running {
		r := &s.Running[i]
		for t := range r.Use {
			if at, ok := s.Nodes.Index(r.Use[t].Node); ok {
				used[at] += r.Use[t].Now.CPU
			}
		}
		of := h.forecast(r)
		_, on := s.Nodes.Held(r)
		for k, at := range on {
			if tasks := float64(r.Nodes[k].Tasks); at >= 0 { // the tasks of a job share one draw
				mean[at] += float64(tasks * of.mean)
				variance[at] += float64(tasks * tasks * of.variance)
			}
		}
	}
	for len(h.heat.Full) <= column { // columns without a cycle repeat the next
		h.add(s.Nodes, used, mean, variance)
	}
}

func (h *heater) add(nodes *sched.NodeSet, used, mean, variance []float64) {
	full := 0
	for i := range used {
		capacity := nodes.Node(i).Capacity[usage.CPU]
		if used[i] >= capacity*(1-1e-9) {
			full++
		}
		if i >= heatMachines {
			continue
		}
		if i == len(h.heat.Machines) {
			h.heat.Machines = append(h.heat.Machines, nodes.Node(i).Name)
			h.heat.Used, h.heat.Low, h.heat.High = append(h.heat.Used, nil), append(h.heat.Low, nil), append(h.heat.High, nil)
		}
		half := float64(1.64 * math.Sqrt(variance[i]))
		h.heat.Used[i] = append(h.heat.Used[i], used[i]/capacity)
		h.heat.Low[i] = append(h.heat.Low[i], max(0, mean[i]-half)/capacity)
		h.heat.High[i] = append(h.heat.High[i], (mean[i]+half)/capacity)
	}
	h.heat.Full = append(h.heat.Full, float64(full)/float64(max(1, len(used))))
}

// forecast is what a task of a running job is forecast to use, or its request without a forecast.
func (h *heater) forecast(r *sched.Running) moments {
	f, ok := r.Prediction.Usage.Of(predict.CPU)
	if !ok {
		return moments{mean: r.Job.Demand[usage.CPU]}
	}
	if f.Dist == nil {
		return moments{mean: f.Point}
	}
	m, ok := h.known[f.Dist]
	if ok {
		return m
	}
	if a, err := dist.NewAtoms(f.Dist, 16); err == nil {
		m.mean = a.Mean()
		for i := range a.Len() {
			x, p := a.At(i)
			m.variance += float64(p * (x - m.mean) * (x - m.mean))
		}
	}
	h.known[f.Dist] = m
	return m
}

// Write counts the evictions in a decision log.
func (h *heater) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			h.line = append(h.line, rest...)
			break
		}
		h.line = append(h.line, rest[:end]...)
		if bytes.Contains(h.line, []byte(`"event":"evict"`)) {
			h.evicted(h.line)
		}
		h.line, rest = h.line[:0], rest[end+1:]
	}
	return len(p), nil
}

func (h *heater) evicted(line []byte) {
	for e, err := range decisionlog.Read(bytes.NewReader(line)) {
		if err != nil {
			return // the log is checked by hedge replay
		}
		column := int(e.Time / h.step)
		for len(h.heat.Evicted) <= column && column < 3*heatColumns {
			h.heat.Evicted = append(h.heat.Evicted, 0)
		}
		if column < len(h.heat.Evicted) {
			h.heat.Evicted[column] += map[bool]int{true: e.Tasks, false: 1}[e.Part == ""]
		}
	}
}
