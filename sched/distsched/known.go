package distsched

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/utility"
)

// known is what the policy has derived about a job. It is kept while the job waits or runs.
type known struct {
	job      *sched.Job
	usage    *predict.Usage
	point    float64
	attained float64
	err      error // the job cannot be planned

	profile *profile
	worth   *worth
	set     *sched.NodeSet // the nodes for which demand and levels were derived
	demand  []float64
	// levels are the nodes on which it may run, the fastest first. The last are all of them.
	levels []level
	salt   uint64  // breaks its ties between machines
	risk   float64 // the largest memory risk for its tasks

	follow  followed
	version uint64 // changes with the forecast of its usage
	seen    uint64 // the last cycle in which it was in the snapshot
	started uint64 // the last cycle whose plan started it
	watched []watch

	memoryOn, cpuOn []sized
	option          option
	index           int // among the pending jobs
}

// level is some nodes, and how many times longer than at full speed the job takes on the slowest of them.
type level struct {
	nodes   []int32
	stretch float64
}

// sized is one task of a job on the grid of machines with one step.
type sized struct {
	step float64
	of   dist.Summand
}

// versionOn is a number that changes whenever the forecast of the job's tasks on a machine does.
func (k *known) versionOn(at int32) uint64 {
	if w := k.watchOn(at); w != nil {
		return k.version<<32 + w.version
	}
	return k.version << 32
}

// one is a task on a grid. The list caches it by step.
func one(list *[]sized, a *dist.Atoms, step float64) *dist.Summand {
	for i := range *list {
		if (*list)[i].step == step {
			return &(*list)[i].of
		}
	}
	*list = append(*list, sized{step: step})
	s := &(*list)[len(*list)-1].of
	s.Set(a, 1, step)
	return s
}

// know updates what is known of a job.
func (p *Policy) know(job *sched.Job, forecast *predict.Prediction, attained float64, set *sched.NodeSet) *known {
	k := p.jobs[job.ID]
	if k == nil {
		k = &known{salt: saltOf(job.ID, p.cfg.Seed)}
		p.jobs[job.ID] = k
	}
	k.seen = p.cycle
	// The snapshot does not say what a running job had attained before it started. What was derived from it stays.
	if k.job != job || !alike(k.usage, forecast.Usage) || k.point != forecast.Point || k.attained < attained {
		k.attained = max(k.attained, attained)
		k.job, k.usage, k.point = job, forecast.Usage, forecast.Point
		k.profile, k.err = p.cfg.profile(job, forecast, k.attained)
		if k.err == nil {
			k.worth, k.err = p.cfg.worth(job, k.profile)
		}
		k.memoryOn, k.cpuOn, k.watched, k.set = nil, nil, nil, nil
		k.risk = p.cfg.riskAt(job.Priority)
		k.version++
	}
	if k.set != set {
		k.set = set
		var err error
		if k.demand, err = set.Demand(job.Demand); err != nil {
			k.demand = nil
		}
		k.levels = k.levels[:0]
		for _, l := range job.Levels() {
			k.levels = append(k.levels, level{set.NodesOf(l.On), sched.Stretch(l.Factor)})
		}
	}
	return k
}

// alike tells whether two forecasts of usage are equal in what matters. Forecasts that were stored and read back differ
// as pointers.
func alike(a, b *predict.Usage) bool {
	if a == b {
		return true
	}
	if !slices.Equal(a.Quantities(), b.Quantities()) {
		return false
	}
	for _, q := range a.Quantities() {
		x, _ := a.Of(q)
		y, _ := b.Of(q)
		if x.Point != y.Point || x.Samples != y.Samples || (x.Dist == nil) != (y.Dist == nil) {
			return false
		}
		if x.Dist == nil {
			continue
		}
		xlo, xhi := x.Dist.Bounds()
		ylo, yhi := y.Dist.Bounds()
		if xlo != ylo || xhi != yhi || x.Dist.Mean() != y.Dist.Mean() || x.Dist.Quantile(0.5) != y.Dist.Quantile(0.5) {
			return false
		}
	}
	return true
}

func saltOf(id string, seed uint64) uint64 {
	h := fnv.New64a()
	h.Write([]byte(id))
	return mix(h.Sum64() ^ mix(seed))
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// forget drops jobs that were not in this cycle's snapshot.
func (p *Policy) forget() {
	p.ended = p.ended[:0]
	for id, k := range p.jobs {
		if k.seen == p.cycle {
			continue
		}
		if k.follow.open {
			p.ended = append(p.ended, k)
		}
		delete(p.jobs, id)
	}
	slices.SortFunc(p.ended, func(a, b *known) int { return cmp.Compare(a.job.ID, b.job.ID) })
	for _, k := range p.ended {
		p.learn(k, false)
	}
}

// worth is a job's utility by completion time, in seconds since its submission.
type worth struct {
	curve    utility.Utility
	deadline float64 // in seconds since the submission; 0 without one
	tailed   bool
}

// lateWeight multiplies the utility of a job that starts after its deadline. Such a job is late whatever its runtime.
// The value is 3Sigma's.
const lateWeight = 0.01

// worth adds a tail to the utility of a job with a deadline (section 5.3.2, Fig. 4.3(d)). The tail is so long that the
// job keeps some utility even at the 99 % quantile of its runtime.
func (c *Config) worth(j *sched.Job, p *profile) (*worth, error) {
	w := &worth{curve: guarded(j.Worth()), deadline: j.Deadline.Seconds()}
	if j.Deadline <= 0 || c.TailWeight == 0 {
		return w, nil
	}
	longest := p.runtime.Quantile(0.99)
	if p.work > 0 {
		slowest, _ := p.cpu.At(0)
		longest = max(longest, p.work/max(slowest, leastCPU))
	}
	length := min(2*(float64(longest*sched.Stretch(j.Speeds.Least()))+w.deadline), maxTail)
	curve, tailed, err := utility.WithTail(w.curve, w.deadline, length, c.TailWeight)
	if err != nil {
		return nil, err
	}
	w.curve, w.tailed = curve, tailed
	return w, nil
}

// leastCPU is the CPU, in cores, that a task is taken to get at least when its longest runtime is estimated. It bounds
// that runtime. How CPU is shared is another matter: see usage.LeastShare.
const leastCPU = 2.0 / 1024

// maxTail is the longest tail in seconds.
const maxTail = 8e9

// guarded makes a utility of a foreign type 0 where it panics or is not finite. So a faulty utility spoils one job and
// not the cycle.
func guarded(u utility.Utility) utility.Utility {
	if _, ok := u.(*utility.Curve); ok {
		return u
	}
	return guard{u}
}

type guard struct{ of utility.Utility }

func (g guard) At(t float64) float64 {
	v, err := utility.At(g.of, t)
	if err != nil || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// byArrival orders jobs by their position in the snapshot.
func byArrival(a, b *known) int { return cmp.Compare(a.index, b.index) }
