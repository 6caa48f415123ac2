package workload

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/internal/timeshare"
	"github.com/hedgesched/hedge/adapters/sim/taskuse"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
	"github.com/hedgesched/hedge/utility"
)

// Shared is a workload of shared machines.
type Shared struct {
	Workload
	// Filled is the number of jobs with a request that is not from the log.
	Filled int
	// Capped is the number of jobs whose use was capped at what a machine has.
	Capped int
	// Start is the time in the log at which the segment begins.
	Start time.Duration
	// Requested is the tasks' requests, weighted by their runtimes, over the capacity: the larger of CPU and memory.
	Requested float64
	// Copies is the number of copies of the segment, including the first. The last may be incomplete.
	Copies int
}

// user is a job and its use.
type user struct {
	job     *trace.Job
	request trace.Amount
	row     int // of the fill's rows
	shape   taskuse.Series
	filled  bool
	capped  bool
	id      string
	use     []taskuse.Series
	cpuTime float64
	slo     bool
	arrive  time.Duration
}

type sharedBuilder struct {
	spec    *SharedSpec
	fill    *Fill
	skipped map[string]int
	target  float64
	least   float64 // the CPU time of the lightest job of the first copy that is not left out
}

// BuildShared makes the workload that spec describes, from the jobs of a log in any order and the use in fill. Each
// pair of user and name gets a group of fill, and each job a row of that group.
//
// The arrivals of a stretch of the log are scaled to spec.Hours. If the jobs have less work than the load asks for,
// copies of them are added. Each copy is shifted by a random time, cyclically, and draws its own rows. Light jobs are
// left out, and the history is of the same kind. The result depends on nothing but the jobs, fill and spec. Errors are
// those of [Build], and that of ctx if it ends before the workload is built.
func BuildShared(ctx context.Context, jobs []trace.Job, fill *Fill, spec *SharedSpec) (*Shared, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if err := fill.check(); err != nil {
		return nil, err
	}
	sorted, err := inOrder(jobs)
	if err != nil {
		return nil, err
	}
	train, err := inOrder(spec.Train)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	b := &sharedBuilder{spec: spec, fill: fill, skipped: map[string]int{},
		target: spec.Load * float64(spec.Nodes) * spec.Machine.CPU * spec.Hours * 3600}
	w := &Shared{}
	chosen, err := b.segment(ctx, sorted, w)
	if err != nil {
		return nil, err
	}
	b.assign(chosen)
	if err := b.finish(w, chosen); err != nil {
		return nil, err
	}
	if !spec.NoTrain {
		end := w.Start
		if len(train) > 0 {
			sorted, end = train, daysAfter(train, w.Start)
		}
		if err := b.history(ctx, w, sorted, end); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// source is a random source for one job or group, independent of all others.
func (b *sharedBuilder) source(kind, name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(kind + "\x00" + name)) // it never fails
	return rand.New(rand.NewPCG(uint64(b.spec.Seed), h.Sum64()))
}

// draw gives each completed job its requests and its row of use. Copies have the same requests and draw other rows.
func (b *sharedBuilder) draw(ctx context.Context, jobs []*trace.Job, copied int, history bool) ([]user, error) {
	requests := b.requests(jobs)
	starts := make([]int, len(b.fill.groups)) // of each group, its first row
	for g := 1; g < len(starts); g++ {
		starts[g] = starts[g-1] + len(b.fill.groups[g-1])
	}
	users := make([]user, 0, len(jobs))
	for _, j := range jobs {
		if j.Outcome == trace.Failed || j.Outcome == trace.Killed || j.Runtime <= 0 {
			continue
		}
		id := j.ID
		if copied > 0 {
			id += "." + strconv.Itoa(copied)
		}
		fill, rng := b.source("request", j.ID), b.source("job", id)
		group := b.source("group", groupKey(attributes(j))).IntN(len(b.fill.groups))
		u := user{job: j, id: id, request: requestOf(j), row: starts[group] + rng.IntN(len(b.fill.groups[group]))}
		if len(b.fill.shapes) > 0 {
			u.shape = b.fill.shapes[rng.IntN(len(b.fill.shapes))]
		}
		u.filled = !(u.request.CPU > 0) || !(u.request.Memory > 0)
		if pair := requests[fill.IntN(len(requests))]; u.filled {
			if !(u.request.CPU > 0) {
				u.request.CPU = pair.CPU
			}
			if !(u.request.Memory > 0) {
				u.request.Memory = pair.Memory
			}
		}
		users = append(users, u)
	}
	if b.spec.NoGroups || history && b.spec.Blind {
		b.source("control", strconv.Itoa(copied)).Shuffle(len(users), func(x, y int) {
			users[x].row, users[y].row = users[y].row, users[x].row
		})
	}
	for i := range users {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b.use(&users[i])
	}
	return users, nil
}

// requests are the requests in the log or, if it has none, in the fill.
func (b *sharedBuilder) requests(jobs []*trace.Job) []trace.Amount {
	var own Fill
	for _, j := range jobs {
		own.addRequest(j)
	}
	if len(own.requests) > 0 {
		return own.requests
	}
	return b.fill.requests
}

// use makes the series of a job's tasks: the same series for all, stretched to each task's runtime.
func (b *sharedBuilder) use(u *user) {
	row := &b.fill.rows[u.row]
	mean := trace.Amount{CPU: float64(row.mean.CPU * u.request.CPU),
		Memory: float64(row.mean.Memory * u.request.Memory)}
	most := trace.Amount{CPU: float64(row.most.CPU * u.request.CPU),
		Memory: float64(row.most.Memory * u.request.Memory)}
	room := trace.Amount{CPU: b.spec.Machine.CPU, Memory: timeshare.EvictAt * b.spec.Machine.Memory}
	u.capped = most.CPU > room.CPU || most.Memory > room.Memory
	shape := u.shape
	if shape == nil {
		shape = taskuse.Series{{Duration: time.Hour, CPU: 1, Memory: 1}}
	}
	peakCPU, peakMemory := shape.Max()
	series := make(taskuse.Series, len(shape))
	for k, g := range shape {
		series[k] = taskuse.Segment{Duration: g.Duration,
			CPU:    min(room.CPU, follow(g.CPU, mean.CPU, most.CPU, peakCPU)),
			Memory: min(room.Memory, follow(g.Memory, mean.Memory, most.Memory, peakMemory))}
	}
	if own, ok := b.fill.own[u.job.ID]; ok {
		series = b.keep(u, own, series)
	}
	series = series.Joined()
	u.use = make([]taskuse.Series, u.job.Tasks)
	made := map[time.Duration]taskuse.Series{}
	for k := range u.use {
		d := u.job.Runtime
		if k < len(u.job.TaskRuntimes) {
			d = u.job.TaskRuntimes[k]
		}
		s, ok := made[d]
		if !ok {
			s = series.Stretch(max(d, time.Millisecond))
			made[d] = s
		}
		u.use[k] = s
		u.cpuTime += s.CPUTime()
	}
}

// keep is the use in a job's own record, capped at a machine. Without memory in the record, it is the drawn mean.
func (b *sharedBuilder) keep(u *user, own, drawn taskuse.Series) taskuse.Series {
	_, memory := drawn.Mean()
	out := slices.Clone(own)
	_, most := own.Max()
	u.capped = false
	for k := range out {
		if most == 0 {
			out[k].Memory = memory
		}
		cpu, mem := min(out[k].CPU, b.spec.Machine.CPU), min(out[k].Memory, timeshare.EvictAt*b.spec.Machine.Memory)
		u.capped = u.capped || cpu < out[k].CPU || mem < out[k].Memory
		out[k].CPU, out[k].Memory = cpu, mem
	}
	return out
}

// The reasons of [Shared].Skipped that [Build] does not have.
const (
	// SkippedLight counts jobs left out by [SharedSpec].Light.
	SkippedLight = "light"
	// SkippedNoUse counts jobs that use no CPU.
	SkippedNoUse = "no usage"
	// SkippedMachine counts jobs whose tasks request more than a machine has.
	SkippedMachine = "requests more than a machine"
)

// refuse says why a job cannot be in the workload; empty if it can.
func (b *sharedBuilder) refuse(u *user) string {
	m := b.spec.Machine
	fit := 0.0
	if u.request.CPU <= m.CPU && u.request.Memory <= m.Memory {
		fit = math.Floor(min(m.CPU/u.request.CPU, m.Memory/u.request.Memory))
	}
	switch {
	case fit < 1:
		return SkippedMachine
	case float64(u.job.Tasks) > fit*float64(cmp.Or(b.spec.Fit, b.spec.Nodes)):
		return SkippedTooWide
	case u.cpuTime == 0:
		return SkippedNoUse
	case u.cpuTime > b.spec.MaxShare*b.target:
		return SkippedTooBig
	case sim.Usage(u.use).Runtime().Hours() > b.spec.Hours:
		return SkippedTooLong
	}
	return ""
}

// maxCopies and maxDraws bound the time and the memory that it takes to build a workload from a log with hardly any
// work for the machines: the copies of a stretch, and the jobs of all of them.
const (
	maxCopies = 10_000
	maxDraws  = 10_000_000
)

// segment chooses jobs of a stretch of the log, and of copies of it, up to the load.
func (b *sharedBuilder) segment(ctx context.Context, jobs []*trace.Job, w *Shared) (chosen []user, err error) {
	if len(jobs) == 0 {
		return nil, fmt.Errorf("workload: the trace: %w", ErrEmpty)
	}
	span, begin, end := hours(b.spec.Hours), jobs[0].Submit, jobs[len(jobs)-1].Submit
	w.TraceSpan = max(1, time.Duration(float64(end-begin)*b.spec.Stretch))
	first := begin + (end-begin)/5
	w.Start = first
	if b.spec.Segments > 1 {
		last := end - w.TraceSpan
		w.Start += (last - first) / time.Duration(b.spec.Segments-1) * time.Duration(b.spec.Segment)
	}
	stretch := slices.DeleteFunc(slices.Clone(jobs), func(j *trace.Job) bool {
		return j.Submit < w.Start || j.Submit > w.Start+w.TraceSpan
	})
	pace, sum := float64(span)/float64(w.TraceSpan), 0.0
	most := max(1, min(maxCopies, maxDraws/max(1, len(stretch))))
	for sum < b.target && w.Copies < most {
		rng := b.source("copy", strconv.Itoa(w.Copies))
		move := time.Duration(0)
		if w.Copies > 0 {
			move = time.Duration(rng.Int64N(int64(span)))
		}
		users, err := b.draw(ctx, stretch, w.Copies, false)
		if err != nil {
			return nil, err
		}
		users = b.heavy(users)
		for _, i := range rng.Perm(len(users)) {
			u := &users[i]
			if sum >= b.target {
				break
			}
			u.arrive = (time.Duration(float64(u.job.Submit-w.Start)*pace) + move) % span
			if begin == end { // the log has no arrival times
				u.arrive = time.Duration(rng.Int64N(int64(span)))
			}
			sum += u.cpuTime
			chosen = append(chosen, *u)
		}
		if w.Copies++; sum == 0 {
			return nil, fmt.Errorf("workload: none of the %d jobs from hour %.4g on: %w",
				len(stretch), w.Start.Hours(), ErrEmpty)
		}
		if each := sum / float64(w.Copies); each*float64(10*most) < b.target {
			break // all copies will not do, though later ones may hold more
		}
	}
	if sum < 0.99*b.target {
		return nil, fmt.Errorf("workload: %d copies of %d jobs hold %.4g core-hours, load %g needs %.4g: %w",
			w.Copies, len(stretch), sum/3600, b.spec.Load, b.target/3600, ErrTooLittleWork)
	}
	return chosen, nil
}

// heavy removes jobs that cannot be in the workload, and then light jobs.
func (b *sharedBuilder) heavy(users []user) []user {
	total := 0.0
	users = slices.DeleteFunc(users, func(u user) bool {
		why := b.refuse(&u)
		if why != "" {
			b.skipped[why]++
			return true
		}
		total += u.cpuTime
		return false
	})
	slices.SortStableFunc(users, func(x, y user) int { return cmp.Compare(x.cpuTime, y.cpuTime) })
	light, left := 0, float64(b.spec.Light*total)
	for light < len(users) && users[light].cpuTime <= left {
		left -= users[light].cpuTime
		light++
	}
	b.skipped[SkippedLight] += light
	if b.least == 0 && light < len(users) {
		b.least = users[light].cpuTime
	}
	return users[light:]
}

// assign draws the jobs that get deadlines.
func (b *sharedBuilder) assign(chosen []user) {
	rng := b.source("assignment", strconv.FormatInt(b.spec.Assignment, 10))
	n := int(math.Round(b.spec.SLOShare * float64(len(chosen))))
	for _, i := range rng.Perm(len(chosen))[:n] {
		chosen[i].slo = true
	}
}

func (b *sharedBuilder) finish(w *Shared, chosen []user) error {
	slices.SortStableFunc(chosen, func(x, y user) int {
		return cmp.Or(cmp.Compare(x.arrive, y.arrive), cmp.Compare(x.id, y.id))
	})
	rng := b.source("slack", strconv.FormatInt(b.spec.Assignment, 10))
	w.Span, w.Skipped = hours(b.spec.Hours), b.skipped
	work, asked := 0.0, trace.Amount{}
	for i := range chosen {
		u := &chosen[i]
		j := sim.Job{Job: sched.Job{ID: u.id, Tasks: u.job.Tasks, Attributes: requested(u),
			Demand: sched.Resources{usage.CPU: u.request.CPU, usage.Memory: u.request.Memory}},
			Arrive: u.arrive, Work: sim.Usage(u.use)}
		runtime := j.Work.Runtime()
		slack := b.spec.Slack[rng.IntN(len(b.spec.Slack))]
		if u.slo {
			j.Priority, j.Deadline = 1, time.Duration(float64(runtime)*(1+slack/100))
			w.SLOJobs++
		}
		var err error
		if u.slo {
			j.Utility, err = utility.Deadline(j.Deadline, b.spec.SLOValue)
		} else {
			j.Utility, err = utility.LinearDecay(b.spec.BEValue, beHorizon(w.Span))
		}
		if err != nil {
			return fmt.Errorf("workload: job %q: %w", j.ID, err)
		}
		w.Jobs = append(w.Jobs, j)
		w.Tasks += u.job.Tasks
		work += u.cpuTime
		for _, use := range u.use {
			asked.CPU += float64(u.request.CPU * use.Runtime().Seconds())
			asked.Memory += float64(u.request.Memory * use.Runtime().Seconds())
		}
		if u.filled {
			w.Filled++
		}
		if u.capped {
			w.Capped++
		}
	}
	w.MachineHours = work / 3600 / b.spec.Machine.CPU
	w.Load = work / (float64(b.spec.Nodes) * b.spec.Machine.CPU * w.Span.Seconds())
	time := float64(b.spec.Nodes) * w.Span.Seconds()
	w.Requested = max(asked.CPU/b.spec.Machine.CPU, asked.Memory/b.spec.Machine.Memory) / time
	return nil
}

// requested are a job's attributes, with the requests that it has in the workload.
func requested(u *user) map[string]string {
	out := map[string]string{}
	for k, v := range attributes(u.job) {
		out[k] = v
	}
	out["cpu"] = strconv.FormatFloat(u.request.CPU, 'g', -1, 64)
	out["memory"] = strconv.FormatFloat(u.request.Memory, 'g', -1, 64)
	return out
}

// history adds the jobs that completed before end, on the log's clock, as training samples. They are of the same kind
// as those of the workload: there are as many copies, and jobs that could not be in it, or are lighter, are left out.
func (b *sharedBuilder) history(ctx context.Context, w *Shared, jobs []*trace.Job, end time.Duration) error {
	past := slices.DeleteFunc(slices.Clone(jobs), func(j *trace.Job) bool { return !finished(j) || endOf(j) > end })
	for copied := range min(w.Copies, max(1, maxDraws/max(1, len(past)))) {
		users, err := b.draw(ctx, past, copied, true)
		if err != nil {
			return err
		}
		for i := range users {
			u := &users[i]
			if u.cpuTime < b.least || b.refuse(u) != "" {
				continue
			}
			work := sim.Usage(u.use)
			w.Train = append(w.Train, Sample{
				Job: predict.Job{ID: u.id, Attributes: requested(u),
					Submitted: sim.Epoch().Add(u.job.Submit - end)},
				Runtime: work.Runtime().Seconds(), Used: work.Used(), Done: endOf(u.job) - end,
			})
		}
	}
	slices.SortStableFunc(w.Train, func(x, y Sample) int {
		return cmp.Or(cmp.Compare(x.Done, y.Done), cmp.Compare(x.Job.ID, y.Job.ID))
	})
	return nil
}
