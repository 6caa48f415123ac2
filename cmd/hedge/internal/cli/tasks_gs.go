package cli

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/hedgesched/hedge/adapters/sim/agents"
	"github.com/hedgesched/hedge/adapters/sim/published"
	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/cmd/hedge/internal/report"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched/agent"
	"github.com/hedgesched/hedge/sched/slearn"
)

// gsFlags are the flags of GS alone.
type gsFlags struct {
	features, ratio string
	thin            int32
	window, timeout time.Duration
	factor          float64
	sampling        slearn.Ratio
	list            []predict.Feature
	// given tells that features are not the default.
	given bool
}

// gsFeatures are the features of SLearn's paper: application, job name, user, time of submission, processors, memory.
const gsFeatures = "logical_name,name,user,weekday+hour,cpu,memory"

func (g *gsFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&g.features, "features", gsFeatures, "features by which gs-* keep history (--workload tasks)")
	fs.Int32Var(&g.thin, "thin-limit", 3, "tasks below which a job is thin: gs-* (--workload tasks)")
	fs.StringVar(&g.ratio, "sampling-ratio", "adaptive",
		"adaptive, corrected, or a percentage of a job's tasks that gs-slearn runs first (--workload tasks)")
	fs.DurationVar(&g.window, "history-window", 0, "how far back gs-* remember; 0s: all (--workload tasks)")
	fs.Float64Var(&g.factor, "history-factor", 1,
		"what history says of the second half of the jobs is multiplied, as if jobs had changed: gs-* (--workload tasks)")
	fs.DurationVar(&g.timeout, "pilot-timeout", 24*time.Hour,
		"how long pilots may take before a job's other tasks wait no longer: gs-* (--workload tasks)")
}

func gsFlagNames() []string {
	return []string{"features", "thin-limit", "sampling-ratio", "history-window", "history-factor", "pilot-timeout"}
}

func (g *gsFlags) check() error {
	switch {
	case g.thin < 0:
		return fmt.Errorf("--thin-limit: found %d, expected 0 or more", g.thin)
	case g.window < 0:
		return fmt.Errorf("--history-window: found %v, expected 0s or more", g.window)
	case !(g.factor > 0 && g.factor <= 1000):
		return fmt.Errorf("--history-factor: found %v, expected above 0, at most 1000", g.factor)
	case g.timeout <= 0:
		return fmt.Errorf("--pilot-timeout: found %v, expected more than 0s", g.timeout)
	}
	g.sampling = slearn.Ratio{}
	switch percent, err := strconv.Atoi(strings.TrimSuffix(g.ratio, "%")); {
	case g.ratio == "adaptive":
	case g.ratio == "corrected":
		g.sampling.Corrected = true
	case err != nil || percent < 1 || percent > 100:
		return fmt.Errorf("--sampling-ratio: found %q, expected adaptive, corrected, or 1 to 100", g.ratio)
	default:
		g.sampling.Fixed = percent
	}
	var err error
	g.list, err = parseFeatures(g.features)
	return err
}

// parseFeatures reads --features.
func parseFeatures(text string) (list []predict.Feature, err error) {
	for _, name := range strings.Split(text, ",") {
		f, err := predict.ParseFeature(strings.TrimSpace(name))
		if err != nil {
			return nil, fmt.Errorf("--features: found %q, expected names such as user,name or user+name", text)
		}
		list = append(list, f)
	}
	return list, nil
}

// checkFeatures refuses a feature that was asked for and that no job has.
func (g *gsFlags) checkFeatures(l *taskLog) error {
	if !g.given {
		return nil
	}
	for _, f := range g.list {
		has := func(j trace.Job) bool { return f.Of(described(&j)) }
		if !slices.ContainsFunc(l.jobs, has) && !slices.ContainsFunc(l.train, has) {
			return fmt.Errorf("--features: found %s, expected one that some job of %s has", f.Name(), l.log.Name)
		}
	}
	return nil
}

// GSFigures are what GS's runs have beside completion times.
type GSFigures struct {
	// Wide are the jobs of at least --thin-limit tasks.
	Wide jct `json:"wide"`
	// The errors are of the sizes that wide jobs entered their queues by, relative to the true ones; right_queue is the
	// share of wide jobs that entered the queue of their true size. Null for schemes without sizes.
	MedianError *float64 `json:"median_error"`
	P90Error    *float64 `json:"p90_error"`
	RightQueue  *float64 `json:"right_queue"`
	// Sampled is the share of wide jobs that ran pilots.
	Sampled *float64 `json:"sampled"`
	// A job's wait is the mean of its tasks', over their mean runtime.
	NormalisedWait struct {
		P50 float64 `json:"p50"`
		P90 float64 `json:"p90"`
	} `json:"normalised_wait"`
	// Alarms are of history that has turned wrong: only gs-joint's runs have them.
	Alarms *gsAlarms `json:"alarms,omitempty"`

	thin int32 // --thin-limit
	// trails are for the report, nil without: of each wide job the estimate over the truth, by pilots that have ended.
	trails [][]float64
}

// gsAlarms counts alarms, and the jobs with a history that ended while there was one. AfterChange is how many such jobs
// ended, after the first one of the second half had come, until an alarm was on; -1 if none was.
type gsAlarms struct {
	Raised      int `json:"raised"`
	Jobs        int `json:"jobs"`
	During      int `json:"during"`
	AfterChange int `json:"after_change"`
}

// runGS simulates the generic scheduler.
func (t *taskFlags) runGS(ctx context.Context, work *taskWork, scheme slearn.Scheme) (
	*published.Result, *GSFigures, error) {
	c := slearn.Config{Workers: t.config.Nodes, Slots: t.paper.cores, PilotTimeout: t.gs.timeout,
		Seed: uint64(t.config.Seed)}
	truth := make([]float64, len(work.jobs))
	for i, j := range work.jobs {
		truth[i] = size(j)
	}
	ratio := t.gs.sampling
	k := slearn.Knowledge{ThinLimit: t.gs.thin, Ratio: &ratio,
		History:  func() (predict.Predictor, error) { return t.gs.history(work, scheme) },
		Describe: func(j *agent.Job) predict.Job { return described(work.jobs[j.ID]) },
		Truth:    func(j *agent.Job) float64 { return truth[j.ID] }}
	if err := scheme.Configure(&c, &k); err != nil {
		return nil, nil, err
	}
	var r *recorder
	if c.Predictor != nil {
		r = newRecorder(c.Predictor, len(truth))
		if t.reported {
			r.trails = make([][]float64, len(truth))
		}
		c.Predictor = r
	}
	found, err := runAgents(ctx, t, &work.Workload, c, slearn.New)
	if err != nil {
		return nil, nil, err
	}
	f := t.gs.figures(&work.Workload, found, r, truth)
	if r != nil {
		f.Alarms = r.alarms
	}
	return publish(found), f, nil
}

// described is what a predictor may know of a job of the log.
func described(j *trace.Job) predict.Job {
	return predict.Job{ID: j.ID, Attributes: j.Attributes, Submitted: time.Unix(0, 0).UTC().Add(j.Submit)}
}

// history is a history that has learnt from the jobs of --train. In the paper's schemes it forecasts, as there, from
// the one feature value that has predicted best.
func (g *gsFlags) history(work *taskWork, scheme slearn.Scheme) (predict.Predictor, error) {
	fresh := func() (predict.Predictor, error) { return newPast(g.list, scheme) }
	h, err := fresh()
	if err != nil {
		return nil, err
	}
	if g.window > 0 {
		if h, err = slearn.NewWindow(g.window, fresh); err != nil {
			return nil, err
		}
	}
	for i := range work.train {
		if err := h.Observe(observed(&work.train[i])); err != nil {
			return nil, err
		}
	}
	if g.factor == 1 {
		return h, nil
	}
	return &changed{h, work.jobs[len(work.jobs)/2].Submit, g.factor}, nil
}

// newPast is a history without jobs, as the scheme uses it.
func newPast(features []predict.Feature, scheme slearn.Scheme) (predict.Predictor, error) {
	options := predict.HistoryOptions{Features: features, Blend: 1}
	if scheme == slearn.JointScheme {
		options.Blend = 0 // the default
	}
	h, err := predict.NewHistory(&options)
	if err != nil {
		return nil, fmt.Errorf("--features: %w", err)
	}
	return h, nil
}

// observed is what a history of GS learns from a job of a log: its mean task time.
func observed(j *trace.Job) predict.Observation {
	return predict.Observation{Job: described(j), Runtime: size(j) / float64(j.Tasks)}
}

// changed multiplies forecasts of jobs that are submitted from a time of the log on.
type changed struct {
	predict.Predictor
	from   time.Duration
	factor float64
}

// Predict is that of predict.Predictor.
func (c *changed) Predict(j predict.Job) predict.Prediction {
	p := c.Predictor.Predict(j)
	if j.Submitted.Before(time.Unix(0, 0).Add(c.from)) {
		return p
	}
	if d, err := dist.Scale(p.Dist, c.factor); err == nil {
		p.Dist, p.Point = d, p.Point*c.factor
	}
	return p
}

// recorder keeps the sizes by which jobs enter their queues.
type recorder struct {
	of     slearn.Predictor
	sizes  []float64 // NaN for a job that has entered none
	pilots []int     // of each job
	// joint is of, if it is that.
	joint  *slearn.Joint
	alarms *gsAlarms
	// trails, unless nil, are the sizes of each job by the number of its pilots that have ended, NaN where none was told.
	trails  [][]float64
	changed int // jobs with a history that had ended when the second half of the jobs began; -1 before
}

func newRecorder(of slearn.Predictor, jobs int) *recorder {
	r := &recorder{of: of, sizes: make([]float64, jobs), pilots: make([]int, jobs), changed: -1}
	if joint, ok := of.(*slearn.Joint); ok {
		r.joint, r.alarms = joint, &gsAlarms{AfterChange: -1}
	}
	for i := range r.sizes {
		r.sizes[i] = math.NaN()
	}
	return r
}

// Estimate is that of slearn.Predictor.
func (r *recorder) Estimate(s *slearn.Sample) slearn.Answer {
	if r.joint != nil && r.changed < 0 && int(s.Job.ID) >= len(r.sizes)/2 {
		r.changed = r.joint.Alarms().Jobs
	}
	a := r.of.Estimate(s)
	r.follow(s, &a)
	if at := &r.sizes[s.Job.ID]; math.IsNaN(*at) && (s.Late > 0 || a.Pilots <= s.Pilots.Count) {
		*at = a.Size
	}
	return a
}

// follow keeps the size of a job that has not entered its queue. Before the first pilot there is one only if no pilots
// are asked for.
func (r *recorder) follow(s *slearn.Sample, a *slearn.Answer) {
	seen := s.Pilots.Count
	if r.trails == nil || s.Placed || seen == 0 && a.Pilots > 0 || seen > report.MostPilots {
		return
	}
	trail := &r.trails[s.Job.ID]
	for len(*trail) <= seen {
		last := math.NaN()
		if n := len(*trail); n > 0 {
			last = (*trail)[n-1]
		}
		*trail = append(*trail, last)
	}
	(*trail)[seen] = a.Size
}

// Learn is that of slearn.Learner. A job whose pilots were the last of its tasks has entered no queue; its size is the
// one that it would have entered by.
func (r *recorder) Learn(o *slearn.Outcome) {
	if at := &r.sizes[o.Job.ID]; math.IsNaN(*at) {
		a := r.of.Estimate(&o.Sample)
		r.follow(&o.Sample, &a)
		*at = a.Size
	}
	r.pilots[o.Job.ID] = o.Pilots.Count
	if l, ok := r.of.(slearn.Learner); ok {
		l.Learn(o)
	}
	if r.joint != nil {
		r.alarm()
	}
}

// alarm follows the joint predictor's alarms.
func (r *recorder) alarm() {
	now, a := r.joint.Alarms(), r.alarms
	if r.changed >= 0 && a.AfterChange < 0 && now.During > a.During {
		a.AfterChange = now.Jobs - r.changed
	}
	a.Raised, a.Jobs, a.During = now.Raised, now.Jobs, now.During
}

func (g *gsFlags) figures(work *agents.Workload, found *agents.Result, r *recorder, truth []float64) *GSFigures {
	f := &GSFigures{thin: g.thin}
	var completions, errs, waits []float64
	right, sampled := 0, 0
	for i := range found.Jobs {
		j, tasks := &found.Jobs[i], work.Jobs[i].Tasks
		if truth[i] > 0 {
			waits = append(waits, j.Wait/truth[i])
		}
		if tasks < g.thin {
			continue
		}
		completions = append(completions, (j.End - j.Submit).Seconds())
		if r == nil || truth[i] <= 0 {
			continue
		}
		errs = append(errs, math.Abs(r.sizes[i]-truth[i])/truth[i])
		if (slearn.Queues{}).Of(r.sizes[i]) == (slearn.Queues{}).Of(truth[i]) {
			right++
		}
		if r.pilots[i] > 0 {
			sampled++
		}
	}
	if r != nil && r.trails != nil {
		f.trails = relative(r.trails, work, g.thin, truth)
	}
	f.Wide = jctOfSeconds(completions)
	slices.Sort(waits)
	if len(waits) > 0 {
		f.NormalisedWait.P50, f.NormalisedWait.P90 = stats.Between(waits, 0.5), stats.Between(waits, 0.9)
	}
	if len(errs) > 0 {
		slices.Sort(errs)
		median, p90, share := stats.Between(errs, 0.5), stats.Between(errs, 0.9), float64(right)/float64(len(errs))
		pilots := float64(sampled) / float64(len(errs))
		f.MedianError, f.P90Error, f.RightQueue, f.Sampled = &median, &p90, &share, &pilots
	}
	return f
}

// relative divides the sizes of wide jobs by the true ones, and leaves out the other jobs.
func relative(trails [][]float64, work *agents.Workload, thin int32, truth []float64) [][]float64 {
	for i, trail := range trails {
		if work.Jobs[i].Tasks < thin || truth[i] <= 0 {
			trails[i] = nil
			continue
		}
		for k := range trail {
			trail[k] /= truth[i]
		}
	}
	return trails
}
