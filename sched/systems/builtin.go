package systems

import (
	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/backfill"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/bigc"
	"github.com/hedgesched/hedge/sched/chronus"
	"github.com/hedgesched/hedge/sched/distsched"
	"github.com/hedgesched/hedge/sched/eagle"
	"github.com/hedgesched/hedge/sched/hydra"
	"github.com/hedgesched/hedge/sched/kairos"
	"github.com/hedgesched/hedge/sched/keep"
	"github.com/hedgesched/hedge/sched/overcommit"
	"github.com/hedgesched/hedge/sched/pigeon"
	"github.com/hedgesched/hedge/sched/siding"
	"github.com/hedgesched/hedge/sched/slearn"
	"github.com/hedgesched/hedge/sched/threesigma"
)

const (
	distSchedPaper  = "DistSched (Park, PhD thesis, CMU 2019, chapter 5)"
	peakPaper       = "Take it to the limit (Bashir et al., EuroSys 2021)"
	threeSigmaPaper = "3Sigma (Park et al., EuroSys 2018)"
	eaglePaper      = "Eagle (Delgado et al., SoCC 2016)"
	hawkPaper       = "Hawk (Delgado et al., USENIX ATC 2015)"
	pigeonPaper     = "Pigeon (Wang et al., SoCC 2019)"
	kairosPaper     = "Kairos (Delgado et al., SoCC 2018)"
	easyPaper       = "EASY (Lifka, JSSPP 1995)"
	// Mu'alem and Feitelson compare it with EASY.
	conservativePaper = "Conservative backfill (Mu'alem and Feitelson, IEEE TPDS 2001)"
	chronusPaper      = "Chronus (Gao et al., SoCC 2021)"
	hydraPaper        = "Hydra (Yang et al., IEEE Transactions on Computers 2023)"
	slearnPaper       = "SLearn (Jajoo et al., NSDI 2022)"
	sparrowPaper      = "Sparrow (Ousterhout et al., SOSP 2013)"
	ours              = "none: hedge's own"
)

// Builtin returns a new set of this module's systems: first the policies of 3Sigma and those that it is compared with,
// then those for shared machines, then the agents. The caller may register more.
func Builtin() *Set { return &Set{list: append(policies(), agents()...)} }

// policies are the systems with a policy, in the order of reports.
func policies() []System {
	list := []System{
		{Name: "3sigma", Summary: "plans ahead with distributions of runtimes; " +
			"a job that seems too late keeps some value, as its runtime may be over-estimated"},
		{Name: "3sigma-nodist", Summary: "3sigma with point estimates instead of distributions"},
		{Name: "3sigma-nooe", Summary: "3sigma without value for jobs that seem too late"},
		{Name: "3sigma-noadapt", Summary: "3sigma in which every job keeps some value after its deadline"},
		{Name: "point-perfect", Summary: "plans ahead with the true runtimes, which only a simulation knows",
			Predictor: fromTruth},
		{Name: "point-real", Summary: "plans ahead with point estimates"},
	}
	for i := range list {
		list[i].Policy, list[i].Paper = variant(list[i].Name), threeSigmaPaper
	}
	list = append(list,
		System{Name: "keep", Summary: "plans ahead as 3sigma does, and weighs the work that preemptions throw away",
			Paper: ours, Policy: newKeep("keep", false)},
		System{Name: "keep-perfect", Summary: "keep with the true runtimes, which only a simulation knows", Paper: ours,
			Policy: newKeep("keep-perfect", false), Predictor: fromTruth, Apart: true},
		System{Name: "keep-doubt", Summary: "keep that takes forecasts as they are, and does not believe deadlines",
			Paper: ours, Policy: newKeep("keep-doubt", true), Apart: true},
		System{Name: "chronus", Summary: "reserves leases for jobs with deadlines; others run in between",
			Paper: chronusPaper, Policy: newChronus, Apart: true},
		System{Name: "hydra", Summary: "fills a queue for every machine, the job that adds the least tardiness first, by " +
			"true runtimes; orders queues by rules", Paper: hydraPaper, Policy: newHydra("hydra", 0), Predictor: fromTruth,
			Apart: true},
		System{Name: "hydra-bab", Summary: "hydra that orders queues by branch and bound", Paper: hydraPaper,
			Policy: newHydra("hydra-bab", hydraNodes), Predictor: fromTruth, Apart: true},
		System{Name: "prio", Summary: "starts jobs with deadlines first, and preempts others for them",
			Paper: threeSigmaPaper, Policy: plain(baseline.NewPrio), Predictor: unread},
		System{Name: "fifo", Summary: "starts jobs in order of submission", Policy: plain(baseline.NewFIFO),
			Predictor: unread},
		System{Name: "edf", Summary: "starts jobs in order of deadline", Policy: plain(baseline.NewEDF), Predictor: unread},
		System{Name: "edf-share", Stages: true, Policy: plain(baseline.NewEDFShare),
			Summary: "starts stages in order of deadline; each stage has its share of the time to the job's deadline"},
		System{Name: "critical-path", Stages: true, Policy: plain(baseline.NewCriticalPath), Predictor: fromTruth,
			Summary: "starts the stages with the longest remaining path first, by true runtimes, which only a simulation knows"},
		System{Name: "3sigma-posterior", Paper: ours, Stages: true, Policy: newStages, Predictor: fromStages,
			Summary: "3sigma that forecasts the later stages of a job also by what its first stages took"},
		System{Name: "sjf", Summary: "starts jobs in order of estimated runtime", Policy: plain(baseline.NewSJF)},
		System{Name: "easy", Paper: easyPaper, Policy: backfilling(backfill.NewEasy),
			Summary: "starts jobs in order of submission, and later jobs early if they do not delay the first waiting job"},
		System{Name: "conservative", Paper: conservativePaper, Policy: backfilling(backfill.NewConservative),
			Summary: "starts jobs in order of submission, and later jobs early if they delay no waiting job"},
	)
	list = append(list, sharing()...)
	for i := range list {
		if list[i].Predictor == nil {
			list[i].Predictor = fromHistory
		}
	}
	return list
}

// sharing are the policies for machines that tasks share, in the order of reports.
func sharing() []System {
	list := []System{
		{Name: "dist", Summary: "starts the job with the highest expected utility first, by distributions of use"},
		{Name: "dist-max", Summary: "dist by tasks' peak use"},
		{Name: "actual", Summary: "point with tasks' true average use, which only a simulation knows", Predictor: fromUsage},
		{Name: "actual-max", Summary: "actual by tasks' peak use", Predictor: fromUsage},
		{Name: "point", Summary: "dist with point estimates and no mitigation of wrong ones"},
		{Name: "point-max", Summary: "point by tasks' peak use"},
		{Name: "request", Summary: "point by what users request"},
		{Name: "dist-nodist", Summary: "dist with point estimates"},
		{Name: "dist-nopack", Summary: "dist without the risk of overloading a machine"},
		{Name: "dist-noover", Summary: "dist without value for jobs that seem too late"},
		{Name: "dist-noobs", Summary: "dist that keeps its forecast when tasks use more"},
		{Name: "dist-nopreempt", Summary: "dist without preemption"},
		{Name: "dist-nocond", Summary: "dist that ignores how long a lost run had run", Paper: ours},
		{Name: "dist-chance", Summary: "dist that bounds the probability of evictions, by tasks' peak memory", Paper: ours},
		{Name: "dist-trust", Summary: "dist without preemption that trusts what tasks are observed to use", Paper: ours},
		{Name: "dist-density", Summary: "dist that starts the job with the most utility per share of the cluster first",
			Paper: ours},
		{Name: "dist-edf", Summary: "dist that starts the job with the earliest deadline first", Paper: ours},
		{Name: "dist-sjf", Summary: "dist that starts the job with the shortest expected runtime first", Paper: ours},
	}
	for i := range list {
		list[i].Policy, list[i].Shares = shared(list[i].Name), true
		if takesRisks(list[i].Name) {
			list[i].Strictness = Strictness{Risk, []float64{0.001, 0.01, 0.05, 0.2, 0.4, 0.7}}
		}
		if list[i].Paper == "" {
			list[i].Paper = distSchedPaper
		}
	}
	return append(list, today()...)
}

// takesRisks tells whether a variant of DistSched bounds the risk of overload.
func takesRisks(name string) bool {
	c, err := distsched.Variant(name)
	return err == nil && c.Estimate == distsched.Distributions && c.Without&distsched.Overpacking == 0
}

// today are the policies of today's clusters with shared machines: jobs by deadline, on overcommitted machines.
func today() []System {
	list := []System{
		{Name: "overcommit-1.5", Summary: "edf with 1.5 times each machine's CPU and memory"},
		{Name: "overcommit-2", Summary: "edf with twice each machine's CPU and memory"},
		{Name: "borg-default", Summary: "edf; a machine's peak is 90 % of what its tasks request", Paper: peakPaper},
		{Name: "rc-like", Summary: "edf; a machine's peak is the sum of the 99th percentiles of its tasks' use",
			Paper: peakPaper},
		{Name: "n-sigma", Summary: "edf; a machine's peak is the mean of its tasks' summed use plus five standard deviations",
			Paper: peakPaper},
		{Name: "borg-max", Summary: "edf; a machine's peak is the larger of those of rc-like and n-sigma", Paper: peakPaper},
	}
	for i := range list {
		x := &list[i]
		x.Policy, x.Predictor, x.Shares, x.Strictness = overcommitted(x.Name), unread, true, strictness(x.Name)
	}
	return list
}

// strictness is the parameter of an overcommitted system.
func strictness(name string) Strictness {
	switch c, _ := overcommit.Variant(name); { // a test holds that all are known there
	case c.Sigmas > 0:
		return Strictness{"sigmas", []float64{5, 2, 1}}
	case c.Percentile > 0:
		return Strictness{"percentile", []float64{99, 90, 50}}
	case c.Share > 0:
		return Strictness{"share", []float64{0.9, 0.6}}
	}
	return Strictness{"factor", []float64{1, 1.5, 2}}
}

// strict sets the parameter.
func strict(c *overcommit.Config, value float64) {
	switch {
	case value == 0:
	case c.Sigmas > 0:
		c.Sigmas = value
	case c.Percentile > 0:
		c.Percentile = value
	case c.Share > 0:
		c.Share = value
	default:
		c.Capacity = value
	}
}

// overcommitted makes EDF on overcommitted machines.
func overcommitted(name string) func(*Planning) (sched.Policy, error) {
	return func(p *Planning) (sched.Policy, error) {
		c, err := overcommit.Variant(name)
		if err != nil {
			return nil, err
		}
		strict(&c, p.Strictness)
		policy, err := overcommit.New(baseline.NewEDF(), c)
		if err != nil {
			return nil, err
		}
		return policy, nil
	}
}

// agents are the systems made of agents, in the order of reports.
func agents() []System {
	list := []System{
		{Name: "eagle",
			Summary: "probes nodes for short tasks, away from long ones; places long tasks centrally",
			Paper:   eaglePaper},
		{Name: "eagle-nosss", Summary: "eagle without Succinct State Sharing", Paper: eaglePaper},
		{Name: "eagle-nosbp", Summary: "eagle without Sticky Batch Probing", Paper: eaglePaper},
		{Name: "eagle-nosrpt", Summary: "eagle without shortest remaining processing time first", Paper: eaglePaper},
		{Name: "eagle-nosbpsrpt", Paper: eaglePaper,
			Summary: "eagle without Sticky Batch Probing and without shortest remaining processing time first"},
		{Name: "eagle-nomin", Summary: "eagle without a minimum number of probes", Paper: eaglePaper},
		{Name: "ideal-eagle", Paper: eaglePaper,
			Summary: "eagle that always knows where long tasks are, without shortest remaining processing time first"},
		{Name: "dlwl", Summary: "places tasks where least work is left, according to heartbeats", Paper: eaglePaper},
		{Name: "clwl", Summary: "places tasks where least work is left, with perfect knowledge", Paper: eaglePaper},
		{Name: "hawk", Paper: hawkPaper,
			Summary: "probes nodes for short tasks, places long tasks centrally; idle nodes steal short tasks behind long ones"},
		{Name: "sparrow", Summary: "probes two nodes for each task, with late binding", Paper: sparrowPaper},
	}
	for i := range list {
		if switches, err := eagle.Named(list[i].Name); err == nil { // a test holds that all are known there
			list[i].Agents = switches
		}
	}
	list = append(list, System{Name: "pigeon", Paper: pigeonPaper, Agents: pigeon.Config{},
		Summary: "spreads tasks over the masters of groups of nodes; some nodes take only short tasks"})
	list = append(list, sidings()...)
	list = append(list,
		System{Name: "kairos", Summary: "runs the task with the least attained service first, by preemption; no estimates",
			Paper: kairosPaper, Agents: kairos.Variance},
		System{Name: "kairos-random", Summary: "kairos that chooses at random among the nodes with the fewest tasks",
			Paper: kairosPaper, Agents: kairos.Random},
		System{Name: "kairos-sum", Summary: "kairos that chooses the node with the least attained service in total",
			Paper: kairosPaper, Agents: kairos.Sum},
		System{Name: "big-c", Summary: "preempts long tasks that are beyond their share for short ones",
			Paper: "Big-C (Chen et al., USENIX ATC 2017)", Agents: bigc.Config{}},
		System{Name: "yarn-fifo", Summary: "runs tasks in order of arrival, without preemption", Agents: kairos.Config{}},
	)
	return append(list, generic()...)
}

// sidings are the variants of Siding.
func sidings() []System {
	list := []System{
		{Name: "siding", Summary: "pauses long tasks for short ones that find no idle node; long tasks wait in one place"},
		{Name: "siding-nopause", Summary: "siding without pauses; some nodes take only short tasks"},
		{Name: "siding-nobound", Summary: "siding without a bound on how long tasks are kept waiting by pauses"},
		{Name: "siding-nopatience", Summary: "siding whose short tasks never wait for an idle node"},
		{Name: "siding-fifo", Summary: "siding whose tasks wait in order of arrival, whatever their estimates"},
		{Name: "siding-noyard", Summary: "siding whose short tasks stay in their group, wherever nodes are idle"},
	}
	for i := range list {
		list[i].Paper = ours
		if c, err := siding.Named(list[i].Name); err == nil { // a test holds that all are known there
			list[i].Agents = c
		}
	}
	return list
}

// generic are the schemes of the generic scheduler GS.
func generic() []System {
	list := []System{
		{Name: "gs-slearn", Summary: "serves small jobs first, by queues; estimates a job's size from its first tasks",
			Agents: slearn.SLearn},
		{Name: "gs-joint", Summary: "gs with sizes from history, corrected by each task that ends", Paper: ours,
			Agents: slearn.JointScheme},
		{Name: "gs-3sigma", Summary: "gs with sizes from the distributions of earlier jobs, by expected utility",
			Agents: slearn.ThreeSigma},
		{Name: "gs-3sigmatl", Summary: "gs-3sigma with jobs of one or two tasks in the first queue",
			Agents: slearn.ThreeSigmaTL},
		{Name: "gs-point", Summary: "gs with sizes from the medians of earlier jobs", Agents: slearn.PointEst},
		{Name: "gs-las", Summary: "gs without estimates: jobs move down the queues as their tasks run", Agents: slearn.LAS},
		{Name: "gs-fifo", Summary: "gs with a single queue: jobs in order of arrival", Agents: slearn.FIFO},
		{Name: "gs-oracle", Summary: "gs with the true sizes, which only a simulation knows", Agents: slearn.Oracle},
		{Name: "gs-slearn-dag", Summary: "gs for jobs of stages: samples one, and corrects history's sizes of the others",
			Stages: true, Agents: slearn.Staged{Scheme: slearn.SLearn}},
		{Name: "gs-3sigma-dag", Summary: "gs for jobs of stages, with sizes from the distributions of earlier stages",
			Stages: true, Agents: slearn.Staged{Scheme: slearn.ThreeSigma}},
		{Name: "gs-point-dag", Summary: "gs for jobs of stages, with sizes from the medians of earlier stages",
			Stages: true, Agents: slearn.Staged{Scheme: slearn.PointEst}},
		{Name: "gs-las-dag", Summary: "gs for jobs of stages, without estimates: jobs move down as their tasks end",
			Stages: true, Agents: slearn.Staged{Scheme: slearn.LAS}},
		{Name: "gs-oracle-dag", Summary: "gs for jobs of stages, with the true sizes, which only a simulation knows",
			Stages: true, Agents: slearn.Staged{Scheme: slearn.Oracle}},
	}
	for i := range list {
		if list[i].Paper == "" {
			list[i].Paper = slearnPaper
		}
	}
	return list
}

// variant makes policies of a variant of 3Sigma.
func variant(name string) func(*Planning) (sched.Policy, error) {
	return func(p *Planning) (sched.Policy, error) {
		c, err := p.threeSigma(name)
		if err != nil {
			return nil, err
		}
		policy, err := threesigma.New(c)
		if err != nil {
			return nil, err
		}
		return policy, nil
	}
}

// newStages makes 3Sigma under the name of the system whose forecasts go by earlier stages.
func newStages(p *Planning) (sched.Policy, error) {
	c, err := p.threeSigma("3sigma")
	if err != nil {
		return nil, err
	}
	c.Name = "3sigma-posterior"
	policy, err := threesigma.New(c)
	if err != nil {
		return nil, err
	}
	return policy, nil
}

// newKeep makes the policy of package keep.
func newKeep(name string, doubt bool) func(*Planning) (sched.Policy, error) {
	return func(p *Planning) (sched.Policy, error) {
		c, err := p.threeSigma("3sigma")
		if err != nil {
			return nil, err
		}
		c.Name = name
		policy, err := keep.New(keep.Config{MachineHours: p.MachineHours, Doubt: doubt, Plan: c})
		if err != nil {
			return nil, err
		}
		return policy, nil
	}
}

// newChronus makes the policy of package chronus. A lease is as long as a slot.
func newChronus(p *Planning) (sched.Policy, error) {
	policy, err := chronus.New(chronus.Config{Lease: p.Slot})
	if err != nil {
		return nil, err
	}
	return policy, nil
}

// hydraNodes bounds the branch and bound of one of Hydra's queues.
const hydraNodes = 10_000

// newHydra makes the policy of package hydra.
func newHydra(name string, nodes int) func(*Planning) (sched.Policy, error) {
	return func(*Planning) (sched.Policy, error) {
		policy, err := hydra.New(hydra.Config{Name: name, Nodes: nodes})
		if err != nil {
			return nil, err
		}
		return policy, nil
	}
}

// threeSigma is the configuration of a variant of 3Sigma that plans with p.
func (p *Planning) threeSigma(name string) (threesigma.Config, error) {
	c, err := threesigma.Variant(name)
	if err != nil {
		return c, err
	}
	if p.Solver != nil {
		if c.Solver, err = p.Solver(); err != nil {
			return c, err
		}
	}
	c.Options, c.Window, c.Slot, c.Stopwatch = p.Options, p.Window, p.Slot, p.Stopwatch
	c.Reserve = p.Reserve
	return c, nil
}

// shared makes policies of a variant of DistSched.
func shared(name string) func(*Planning) (sched.Policy, error) {
	return func(p *Planning) (sched.Policy, error) {
		c, err := distsched.Variant(name)
		if err != nil {
			return nil, err
		}
		c.Stopwatch = p.Stopwatch
		if c.Estimate == distsched.Distributions && c.Without&distsched.Overpacking == 0 {
			c.CPURisk = p.Strictness
			if p.Risk > 0 {
				c.MemoryRisk = p.Risk
			} else if p.Strictness > 0 && !c.WholeLife {
				c.MemoryRisk = p.Strictness
			}
		}
		policy, err := distsched.New(c)
		if err != nil {
			return nil, err
		}
		return policy, nil
	}
}

// plain makes policies that need no Planning.
func plain(policy func() sched.Policy) func(*Planning) (sched.Policy, error) {
	return func(*Planning) (sched.Policy, error) { return policy(), nil }
}

// backfilling makes policies that plan by an estimate of runtimes.
func backfilling(policy func(backfill.Estimate) sched.Policy) func(*Planning) (sched.Policy, error) {
	return func(p *Planning) (sched.Policy, error) { return policy(p.Estimate), nil }
}

func fromHistory(k *Knowledge) (predict.Predictor, error) { return k.History() }

// fromStages is history, corrected by the stages of a job that have ended.
func fromStages(k *Knowledge) (predict.Predictor, error) {
	h, err := k.History()
	if err != nil {
		return nil, err
	}
	return predict.NewPosterior(h)
}

func fromTruth(k *Knowledge) (predict.Predictor, error) { return predict.NewPerfect(k.Truth) }

func fromUsage(k *Knowledge) (predict.Predictor, error) {
	return predict.NewPerfectUsage(k.Truth, k.Used)
}

// unread is for policies that use no forecasts.
func unread(k *Knowledge) (predict.Predictor, error) {
	if k.Shared {
		return k.History()
	}
	zero, err := dist.NewPoint(0)
	if err != nil {
		return nil, err
	}
	return predict.NewFixed(zero)
}
