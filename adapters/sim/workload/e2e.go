package workload

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/trace"
)

// maxTrainJobs bounds the generated history.
const maxTrainJobs = 100_000

// e2e fits job classes on the log and draws the workload, and an earlier
// period for the history, from them.
func (b *builder) e2e() (*Workload, error) {
	m, err := b.fit()
	if err != nil {
		return nil, err
	}
	drafts, scale := b.generate(m)
	if len(drafts) == 0 {
		return nil, fmt.Errorf("workload: e2e: %w", ErrEmpty)
	}
	for i, at := range arrivals(len(drafts), b.span, b.rng) {
		drafts[i].arrive = at
	}
	b.chooseSLO(drafts)
	rate := float64(len(drafts)) / float64(b.span)
	w, err := b.finish(drafts, b.span)
	if err != nil {
		return nil, err
	}
	switch {
	case b.spec.NoTrain:
	case len(b.train) > 0:
		w.Train = b.history(0)
	default:
		w.Train = b.limit(b.earlier(m, rate, scale))
	}
	return w, nil
}

// generate draws jobs until their machine-time makes the load or, with
// JobsPerHour, as many as arrive; then what was drawn is scaled to the load. It returns the factor on runtimes.
func (b *builder) generate(m *model) ([]draft, float64) {
	var drafts []draft
	var work float64
	target := b.target()
	n := int(math.Round(b.spec.JobsPerHour * b.spec.Hours))
	for i := 0; n > 0 && i < n || n == 0 && work < target; i++ {
		j := m.draw("e2e-"+fmt.Sprintf("%07d", i+1), b.rng)
		d := draft{job: j, nodes: b.nodesOf(j.Tasks), runtime: j.Runtime}
		drafts = append(drafts, d)
		work += d.work()
	}
	if n == 0 {
		return b.trim(drafts, work-target), 1
	}
	return drafts, b.scale(drafts, target/work)
}

// maxStretch bounds how much the runtimes change before the gangs have to.
const maxStretch = 4

// scale brings the machine-time to factor times what it is. The paper keeps the gangs
// ("the ratio of tasks to job matches"), so runtimes are scaled, up to
// maxStretch either way, then gangs, rounding at random; no job exceeds the cluster or
// the span. It returns the factor on the runtimes.
func (b *builder) scale(drafts []draft, factor float64) float64 {
	stretch := min(max(factor, 1.0/maxStretch), maxStretch)
	total := stretchRuntimes(drafts, stretch, b.span)
	for i := range drafts {
		d := &drafts[i]
		want := float64(d.nodes) * factor / stretch
		whole := math.Floor(want)
		if b.rng.Float64() < want-whole {
			whole++
		}
		d.nodes = int(min(max(whole, 1), float64(b.spec.Nodes)))
	}
	for range 20 { // more than one round where runtimes meet the span
		var work float64
		for i := range drafts {
			work += drafts[i].work()
		}
		missing := b.target() / work
		if math.Abs(missing-1) < 1e-3 {
			break
		}
		total *= stretchRuntimes(drafts, missing, b.span)
	}
	return total
}

func stretchRuntimes(drafts []draft, factor float64, limit time.Duration) float64 {
	for i := range drafts {
		d := &drafts[i]
		d.runtime = time.Duration(min(max(float64(d.runtime)*factor, 1), float64(limit)))
	}
	return factor
}

// earlier draws the history: as many jobs as the log has (times TrainShare), arriving
// at rate (per nanosecond) before the simulation; those that completed by its start are kept.
func (b *builder) earlier(m *model, rate, scale float64) []Sample {
	share := b.spec.TrainShare
	if share == 0 {
		share = 1
	}
	n := min(int(math.Ceil(share*float64(len(m.jobs)))), maxTrainJobs)
	period := time.Duration(float64(n) / rate)
	out := make([]Sample, 0, n)
	for i, at := range arrivals(n, period, b.rng) {
		j := m.draw("train-"+fmt.Sprintf("%07d", i+1), b.rng)
		j.Runtime = time.Duration(min(max(float64(j.Runtime)*scale, 1), float64(b.span)))
		j.Submit = at - period
		if endOf(j) <= 0 {
			out = append(out, sampleOf(j, 0))
		}
	}
	return out
}

// model is what was learnt from a log: its usable jobs and, for each, the
// runtimes of its recurring job inside its class.
type model struct {
	jobs []*trace.Job
	// cell[i] is where job i's runtimes are in logs.
	cell []int
	// logs[c] are the logarithms of cell c's runtimes in seconds, rising.
	logs [][]float64
	// once[i] are job i's attributes with values no other job has.
	once  [][]string
	drawn int
}

// fit makes the model: k-means on the logarithm of the runtime gives classes; each recurring
// job keeps its own runtimes inside a class.
func (b *builder) fit() (*model, error) {
	m := &model{}
	var points []float64
	for i := range b.jobs {
		j := b.jobs[i]
		if why := b.refuse(j); why != "" {
			b.skipped[why]++
			continue
		}
		m.jobs = append(m.jobs, j)
		points = append(points, math.Log(j.Runtime.Seconds()))
	}
	if len(m.jobs) == 0 {
		return nil, fmt.Errorf("workload: e2e: none of %d jobs: %w", len(b.jobs), ErrEmpty)
	}
	m.makeCells(points, kmeans(points, b.spec.Classes, b.rng))
	m.findOnce()
	return m, nil
}

// minCell is how many runtimes make a distribution of their own.
const minCell = 5

// makeCells groups jobs by class and recurring job, with the same gang and
// request where there are enough of those to draw from.
func (m *model) makeCells(points, centres []float64) {
	coarse, fine := make([]string, len(m.jobs)), make([]string, len(m.jobs))
	count := map[string]int{}
	for i, j := range m.jobs {
		coarse[i] = strconv.Itoa(nearest(centres, points[i])) + "\x00" + groupKey(j.Attributes)
		fine[i] = coarse[i] + "\x00" + strconv.Itoa(j.Tasks) + "\x00" + strconv.FormatInt(int64(j.Requested), 10)
		count[fine[i]]++
	}
	index := map[string]int{}
	m.cell = make([]int, len(m.jobs))
	for i := range m.jobs {
		key := fine[i]
		if count[key] < minCell {
			key = coarse[i]
		}
		c, ok := index[key]
		if !ok {
			c = len(m.logs)
			index[key] = c
			m.logs = append(m.logs, nil)
		}
		m.cell[i] = c
		m.logs[c] = append(m.logs[c], points[i])
	}
	for _, l := range m.logs {
		slices.Sort(l)
	}
}

// findOnce notes which identities occur once: drawn again they must not look
// like a recurring job, or the copy would be more predictable than the log.
func (m *model) findOnce() {
	type value struct{ key, value string }
	count := map[value]int{}
	for _, j := range m.jobs {
		for k, v := range j.Attributes {
			count[value{k, v}]++
		}
	}
	m.once = make([][]string, len(m.jobs))
	for i, j := range m.jobs {
		for _, k := range slices.Sorted(maps.Keys(j.Attributes)) {
			if v := j.Attributes[k]; count[value{k, v}] == 1 && identity(k, v) {
				m.once[i] = append(m.once[i], k)
			}
		}
	}
}

// identity tells names from quantities.
func identity(key, value string) bool {
	if key == "user" || slices.Contains(nameKeys[:], key) {
		return true
	}
	_, err := strconv.ParseFloat(value, 64)
	return err != nil
}

// grain is what drawn times are rounded to. Machines differ in the last digit of math.Exp and math.Log, and
// nanoseconds would show it; and a runtime of the log drawn again is the same to the microsecond.
const grain = time.Microsecond

// draw makes a job: the attributes and gang of a job of the log drawn
// uniformly, which draws its class and its attributes jointly by frequency, and a runtime from
// its cell's own distribution, linear between order statistics of the logarithm. Draws are
// independent: what a log's predictability owes to runs of like jobs in a row is lost.
func (m *model) draw(id string, rng *rand.Rand) *trace.Job {
	i := rng.IntN(len(m.jobs))
	donor := m.jobs[i]
	logs := m.logs[m.cell[i]]
	at := float64(rng.Float64() * float64(len(logs)-1))
	lo := min(int(at), len(logs)-1)
	hi := min(lo+1, len(logs)-1)
	seconds := math.Exp(logs[lo] + float64((at-float64(lo))*(logs[hi]-logs[lo])))
	j := &trace.Job{
		ID: id, Tasks: donor.Tasks, Requested: donor.Requested,
		Runtime:    max(time.Duration(seconds*float64(time.Second)).Round(grain), 1),
		Attributes: donor.Attributes,
	}
	m.drawn++
	if len(m.once[i]) > 0 {
		j.Attributes = maps.Clone(donor.Attributes)
		for _, k := range m.once[i] {
			j.Attributes[k] += "#" + strconv.Itoa(m.drawn)
		}
	}
	return j
}

// burstiness is the squared coefficient of variation of inter-arrival times
// (3Sigma, section 5).
const burstiness = 4

// arrivals is n arrivals of a hyper-exponential renewal process with two
// balanced branches, scaled so that n+1 gaps fill the span.
func arrivals(n int, span time.Duration, rng *rand.Rand) []time.Duration {
	p := (1 + math.Sqrt((burstiness-1.0)/(burstiness+1.0))) / 2
	at := make([]float64, n+1)
	var sum float64
	for i := range at {
		branch := p
		if rng.Float64() >= p {
			branch = 1 - p
		}
		sum += rng.ExpFloat64() / (2 * branch) // both branches carry half the mean
		at[i] = sum
	}
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = time.Duration(at[i] / sum * float64(span)).Truncate(grain)
	}
	return out
}
