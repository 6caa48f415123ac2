package distsched

import (
	"fmt"
	"math"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// profile is what the policy expects of one task of a job.
type profile struct {
	cpu, memory *dist.Atoms
	// draw is cpu with more atoms. The job's runtime is computed from it.
	draw *dist.Atoms
	// work is the CPU time that a task needs, in core-seconds. It is 0 if it is not forecast. Then runtime is the runtime
	// of a job that gets all the CPU that it wants.
	work    float64
	runtime dist.Distribution
	// request is the CPU that the task requests, in cores. See weight.
	request float64
}

// weight is the task's weight in the sharing of a machine's CPU.
func (p *profile) weight(cpu *dist.Total) float64 {
	return max(p.request, usage.LeastShare*cpu.Limit())
}

// finer is the number of atoms of draw over that of cpu.
const finer = 2

// profile derives a job's profile from its forecast. Attained is the CPU time per task of an earlier run that was lost,
// in core-seconds.
func (c *Config) profile(j *sched.Job, p *predict.Prediction, attained float64) (*profile, error) {
	cores, memory := predict.CPU, predict.Memory
	if c.Maximum {
		cores = predict.CPUMax
	}
	if c.Maximum || c.WholeLife {
		memory = predict.MemoryMax
	}
	out := &profile{request: j.Demand[usage.CPU]}
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

// quantity is what a task uses of a resource. Without a forecast it is the request.
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

// work is the point forecast of a task's CPU time (section 5.2.1), given that it is more than the task attained in a
// run that was lost. If no job in the history has used that much, the task is expected to need twice what it attained
// (section 5.3.2).
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
