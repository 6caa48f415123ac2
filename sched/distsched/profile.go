package distsched

import (
	"fmt"
	"math"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// profile is what the policy believes of a task of a job.
type profile struct {
	cpu, memory *dist.Atoms
	// draw is cpu told apart more finely: the job's runtime follows from it.
	draw *dist.Atoms
	// work is the CPU time that a task needs, in core-seconds. It is 0 where nothing is forecast of it: then the job runs
	// for as long as runtime says, and longer where it gets less CPU than it wants.
	work    float64
	runtime dist.Distribution
	// weight is the task's share of a machine's CPU relative to others: its request.
	weight float64
}

// least is the weight of a task that requests no CPU, in cores: the smallest share of Linux's control groups, 2 of 1024
// for a core.
const least = 2.0 / 1024

// finer is how many times as many atoms the draw has that a job's tasks share.
const finer = 2

// profile works out what to believe of a job.
func (c *Config) profile(j *sched.Job, p *predict.Prediction, attained float64) (*profile, error) {
	cores, memory := predict.CPU, predict.Memory
	if c.Maximum {
		cores = predict.CPUMax
	}
	if c.Maximum || c.WholeLife {
		memory = predict.MemoryMax
	}
	out := &profile{weight: max(least, j.Demand[usage.CPU])}
	var err error
	if out.cpu, err = c.quantity(p.Usage, cores, j.Demand[usage.CPU], c.Atoms); err != nil {
		return nil, fmt.Errorf("job %s: %s: %w", j.ID, cores, err)
	}
	if out.draw, err = c.quantity(p.Usage, cores, j.Demand[usage.CPU], finer*c.Atoms); err != nil {
		return nil, fmt.Errorf("job %s: %s: %w", j.ID, cores, err)
	}
	if out.memory, err = c.quantity(p.Usage, memory, j.Demand[usage.Memory], c.Atoms); err != nil {
		return nil, fmt.Errorf("job %s: %s: %w", j.ID, memory, err)
	}
	if out.work, err = c.work(p.Usage, attained); err != nil {
		return nil, fmt.Errorf("job %s: %s: %w", j.ID, predict.CPUTime, err)
	}
	out.runtime = p.Dist
	if out.runtime == nil || c.Estimate != Distributions {
		if out.runtime, err = dist.NewPoint(p.Point); err != nil {
			return nil, fmt.Errorf("job %s: %w", j.ID, err)
		}
	}
	if out.cpu.Mean() <= 0 {
		out.work = 0
	}
	return out, nil
}

// quantity is what a task uses of a resource. Without a forecast that is what the job requests.
func (c *Config) quantity(u *predict.Usage, q predict.Quantity, request float64, atoms int) (*dist.Atoms, error) {
	p, known := u.Of(q)
	point := p.Point
	switch {
	case c.Estimate == Requests || !known:
		point = request
	case c.Estimate == Distributions && p.Dist != nil:
		return dist.NewAtoms(p.Dist, atoms)
	}
	d, err := dist.NewPoint(point)
	if err != nil {
		return nil, err
	}
	return dist.NewAtoms(d, atoms)
}

// work is the point prediction of a task's CPU time (section 5.2.1), given what it has had in a run that was lost. Once
// that is more than any job in the history has had, the task is expected to need twice as much (section 5.3.2).
func (c *Config) work(u *predict.Usage, attained float64) (float64, error) {
	p, known := u.Of(predict.CPUTime)
	if !known {
		return 0, nil
	}
	if attained <= 0 || !c.has(Conditioning) {
		return finite(p.Point)
	}
	if c.Estimate != Distributions || p.Dist == nil {
		if p.Point > attained {
			return finite(p.Point)
		}
		return finite(2 * attained)
	}
	if _, hi := p.Dist.Bounds(); attained >= hi {
		return finite(2 * attained)
	}
	d, err := dist.Condition(p.Dist, attained)
	if err != nil {
		return 0, err
	}
	return finite(max(p.Point, d.Mean()))
}

func finite(x float64) (float64, error) {
	if !(x >= 0) || math.IsInf(x, 1) {
		return 0, fmt.Errorf("a forecast of %v", x)
	}
	return x, nil
}
