package workload

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters/sim"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/utility"
)

// rackName is the value of [sim.RackLabel] on the nodes of rack i, as [sim.Nodes] has it.
func rackName(i int) string { return fmt.Sprintf("r%02d", i) }

// strata is the number of jobs of like size among which deadlines are drawn.
const strata = 10

// chooseSLO marks SLOShare of the jobs, with about that share of the
// machine-time: at random among jobs of like size, then swapped until the
// shares agree within 1 %, as far as single jobs allow.
func (b *builder) chooseSLO(drafts []draft) {
	order := make([]int, len(drafts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return cmp.Or(cmp.Compare(drafts[y].work(), drafts[x].work()), cmp.Compare(x, y))
	})
	chosen, seen := 0, 0
	for at := 0; at < len(order); at += strata {
		block := order[at:min(at+strata, len(order))]
		seen += len(block)
		want := int(math.Round(b.spec.SLOShare*float64(seen))) - chosen
		want = min(max(want, 0), len(block))
		for _, k := range b.rng.Perm(len(block))[:want] {
			drafts[block[k]].slo = true
		}
		chosen += want
	}
	balance(drafts, order, b.spec.SLOShare)
}

// balance swaps the classes of pairs of jobs, order being by falling work, while that brings the SLO jobs'
// share of the work nearer to share.
func balance(drafts []draft, order []int, share float64) {
	var total, slo float64
	for i := range drafts {
		total += drafts[i].work()
		if drafts[i].slo {
			slo += drafts[i].work()
		}
	}
	for range 32 {
		excess := slo - float64(share*total)
		if math.Abs(excess) <= 0.005*total {
			return
		}
		give, take := bestSwap(drafts, order, excess)
		if give < 0 {
			return
		}
		drafts[give].slo, drafts[take].slo = false, true
		slo += drafts[take].work() - drafts[give].work()
	}
}

// bestSwap finds the SLO job and the best-effort job whose difference in work
// is nearest to excess, or -1 when no swap helps.
func bestSwap(drafts []draft, order []int, excess float64) (give, take int) {
	var slo, be []int
	for _, i := range order {
		if drafts[i].slo {
			slo = append(slo, i)
		} else {
			be = append(be, i)
		}
	}
	give, take = -1, -1
	best := math.Abs(excess)
	for a, c := 0, 0; a < len(slo) && c < len(be); {
		diff := drafts[slo[a]].work() - drafts[be[c]].work()
		if off := math.Abs(diff - excess); off < best*(1-1e-9) {
			give, take, best = slo[a], be[c], off
		}
		if diff > excess {
			a++
		} else {
			c++
		}
	}
	return give, take
}

// simJob dresses a draft: utility, deadline, priority and preference.
func (b *builder) simJob(d *draft) (sim.Job, error) {
	j := sim.Job{
		Job: sched.Job{
			ID: d.job.ID, Tasks: d.nodes, Attributes: attributes(d.job), Submitted: sim.Epoch().Add(d.arrive),
			After: d.job.After, Of: d.job.Of,
			Requested: d.requested(),
		},
		Arrive: d.arrive, Work: sim.Runtime(d.runtime),
	}
	j.Speeds = speedsOf(d.job)
	if !d.slo {
		if b.decay == nil {
			u, err := utility.LinearDecay(b.spec.BEValue, beHorizon(b.span))
			if err != nil {
				return sim.Job{}, fmt.Errorf("workload: job %q: %w", j.ID, err)
			}
			b.decay = u
		}
		j.Utility = b.decay
		return j, nil
	}
	j.Priority = 1
	if b.spec.Kind == Replay {
		j.Deadline = d.job.Deadline
	} else {
		slack := b.spec.Slack[b.rng.IntN(len(b.spec.Slack))]
		j.Deadline = time.Duration(float64(d.runtime) * (1 + slack/100))
		b.prefer(&j)
	}
	u, err := utility.Deadline(j.Deadline, b.spec.SLOValue)
	if b.spec.Kind == Replay && len(d.job.Steps) > 0 {
		u, err = b.stepped(d.job.Steps)
	}
	if err != nil {
		return sim.Job{}, fmt.Errorf("workload: job %q: %w", j.ID, err)
	}
	j.Utility = u
	return j, nil
}

// speedsOf are a job's speeds as its log has them, in order of the texts.
func speedsOf(j *trace.Job) sched.Speeds {
	var of []sched.Speed
	for _, text := range slices.Sorted(maps.Keys(j.Speeds)) {
		on := sched.AnyNode()
		if label, value, ok := strings.Cut(text, "="); ok {
			on = sched.NodesWith(label, value)
		}
		of = append(of, sched.Speed{On: on, Factor: j.Speeds[text]})
	}
	return sched.SpeedsOf(of...)
}

// stepped is the utility of a job whose log says what a completion is worth by when. The most that any job of the log
// is worth becomes SLOValue.
func (b *builder) stepped(steps []trace.Step) (*utility.Curve, error) {
	if b.most == 0 {
		for i := range b.jobs {
			if s := b.jobs[i].Steps; len(s) > 0 {
				b.most = max(b.most, s[0].Value)
			}
		}
	}
	var points []utility.Point
	from := 0.0
	for _, s := range steps {
		value := s.Value / b.most * b.spec.SLOValue
		points = append(points, utility.Point{T: from, V: value}, utility.Point{T: s.By.Seconds(), V: value})
		from = s.By.Seconds()
	}
	return utility.Piecewise(append(points, utility.Point{T: from}))
}

// beHorizon is when a best-effort job's utility reaches zero: long after a
// run ends, so that late jobs are still worth running.
func beHorizon(span time.Duration) time.Duration { return max(24*time.Hour, 20*span) }

// prefer makes the job prefer a random PreferShare of the racks, at least one. A job whose log says how fast it runs on
// which nodes keeps that.
func (b *builder) prefer(j *sim.Job) {
	n := int(math.Round(b.spec.PreferShare * float64(b.spec.Racks)))
	if b.spec.PreferShare > 0 {
		n = max(n, 1)
	}
	if n == 0 || n == b.spec.Racks || len(j.Speeds.Of()) > 0 || b.spec.PreferSlowdown == 1 {
		return
	}
	racks := make([]string, n)
	for i, r := range b.rng.Perm(b.spec.Racks)[:n] {
		racks[i] = rackName(r)
	}
	slices.Sort(racks)
	j.Speeds = sched.SpeedsOf(sched.Speed{On: sched.NodesWith(sim.RackLabel, racks...), Factor: 1},
		sched.Speed{Factor: 1 / b.spec.PreferSlowdown})
}
