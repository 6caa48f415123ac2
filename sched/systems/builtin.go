package systems

import (
	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/backfill"
	"github.com/hedgesched/hedge/sched/baseline"
	"github.com/hedgesched/hedge/sched/bigc"
	"github.com/hedgesched/hedge/sched/distsched"
	"github.com/hedgesched/hedge/sched/eagle"
	"github.com/hedgesched/hedge/sched/kairos"
	"github.com/hedgesched/hedge/sched/keep"
	"github.com/hedgesched/hedge/sched/overcommit"
	"github.com/hedgesched/hedge/sched/pigeon"
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
	slearnPaper       = "SLearn (Jajoo et al., NSDI 2022)"
	sparrowPaper      = "Sparrow (Ousterhout et al., SOSP 2013)"
)

// Builtin is a new set of the systems of this module: 3Sigma, its variants and the policies that it is compared with,
// DistSched and its own, then Eagle and its kin.
func Builtin() *Set { return &Set{list: append(policies(), agents()...)} }

// policies are in the order of reports.
func policies() []System {
	list := []System{
		{Name: "3sigma", Summary: "plans ahead with distributions of runtimes; " +
			"a job that seems too late keeps some value, as its runtime may be over-estimated"},
		{Name: "3sigma-nodist", Summary: "3sigma with point estimates instead of distributions"},
		{Name: "3sigma-nooe", Summary: "3sigma whose late jobs keep no value"},
		{Name: "3sigma-noadapt", Summary: "3sigma in which every job keeps some value after its deadline"},
		{Name: "point-perfect", Summary: "plans ahead with the true runtimes, which nobody knows", Predictor: fromTruth},
		{Name: "point-real", Summary: "plans ahead with point estimates"},
	}
	for i := range list {
		list[i].Policy, list[i].Paper = variant(list[i].Name), threeSigmaPaper
	}
	list = append(list,
		System{Name: "keep", Summary: "plans ahead as 3sigma does, and weighs the work that preemptions throw away",
			Paper: "none: hedge's own", Policy: newKeep},
		System{Name: "prio", Summary: "starts jobs with deadlines first, and preempts others for them",
			Paper: threeSigmaPaper, Policy: plain(baseline.NewPrio), Predictor: unread},
		System{Name: "fifo", Summary: "starts jobs by submission", Policy: plain(baseline.NewFIFO), Predictor: unread},
		System{Name: "edf", Summary: "starts jobs by deadline", Policy: plain(baseline.NewEDF), Predictor: unread},
		System{Name: "edf-share", Stages: true, Policy: plain(baseline.NewEDFShare),
			Summary: "starts stages by deadline, of which each has its share"},
		System{Name: "critical-path", Stages: true, Policy: plain(baseline.NewCriticalPath), Predictor: fromTruth,
			Summary: "starts the stages with the longest way to the end, by true runtimes, which nobody knows"},
		System{Name: "sjf", Summary: "starts jobs by estimated runtime", Policy: plain(baseline.NewSJF)},
		System{Name: "easy", Summary: "starts jobs by submission, and later ones that do not delay the first that waits",
			Paper: easyPaper, Policy: backfilling(backfill.NewEasy)},
		System{Name: "conservative", Summary: "starts jobs by submission, and later ones that delay no job that waits",
			Paper: conservativePaper, Policy: backfilling(backfill.NewConservative)},
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
		{Name: "dist", Summary: "starts what is worth most on shared machines, with distributions of what tasks use"},
		{Name: "dist-max", Summary: "dist that goes by the most that tasks use at a time"},
		{Name: "actual", Summary: "dist that knows what tasks use on average, which nobody does", Predictor: fromUsage},
		{Name: "actual-max", Summary: "actual that goes by the most that tasks use at a time", Predictor: fromUsage},
		{Name: "point", Summary: "dist with point estimates and no mitigation of wrong ones"},
		{Name: "point-max", Summary: "point that goes by the most that tasks use at a time"},
		{Name: "request", Summary: "point that believes what users request"},
		{Name: "dist-nodist", Summary: "dist with point estimates"},
		{Name: "dist-nopack", Summary: "dist that takes no risk that a machine is too small"},
		{Name: "dist-noover", Summary: "dist whose late jobs keep no value"},
		{Name: "dist-noobs", Summary: "dist that believes its forecast whatever tasks are seen to use"},
		{Name: "dist-nopreempt", Summary: "dist that stops no task"},
		{Name: "dist-nocond", Summary: "dist that forgets what a lost run has done"},
		{Name: "dist-chance", Summary: "dist that bounds the probability of evictions by the most memory tasks use"},
	}
	for i := range list {
		list[i].Policy, list[i].Paper, list[i].Shares = shared(list[i].Name), distSchedPaper, true
	}
	return append(list, today()...)
}

// today are what clusters do today on machines that tasks share: jobs by deadline, on more than there is.
func today() []System {
	list := []System{
		{Name: "overcommit-1.5", Summary: "edf on machines that are taken to have 1.5 times what they have"},
		{Name: "overcommit-2", Summary: "edf on machines that are taken to have twice what they have"},
		{Name: "borg-default", Summary: "edf; tasks are taken to use 90 % of what they request", Paper: peakPaper},
		{Name: "rc-like", Summary: "edf; each task is taken to use its 99th percentile", Paper: peakPaper},
		{Name: "n-sigma", Summary: "edf; a machine's tasks are taken to use their mean and five standard deviations",
			Paper: peakPaper},
		{Name: "borg-max", Summary: "edf; tasks are taken to use the larger of rc-like and n-sigma", Paper: peakPaper},
	}
	for i := range list {
		list[i].Policy, list[i].Predictor, list[i].Shares = overcommitted(list[i].Name), unread, true
	}
	return list
}

// overcommitted makes policies that promise machines more than once.
func overcommitted(name string) func(*Planning) (sched.Policy, error) {
	return func(*Planning) (sched.Policy, error) {
		c, err := overcommit.Variant(name)
		if err != nil {
			return nil, err
		}
		policy, err := overcommit.New(baseline.NewEDF(), c)
		if err != nil {
			return nil, err
		}
		return policy, nil
	}
}

// agents are in the order of reports.
func agents() []System {
	list := []System{
		{Name: "eagle",
			Summary: "probes nodes for short tasks and keeps them from waiting behind long ones, which are placed centrally",
			Paper:   eaglePaper},
		{Name: "eagle-nosss", Summary: "eagle without Succinct State Sharing", Paper: eaglePaper},
		{Name: "eagle-nosbp", Summary: "eagle without Sticky Batch Probing", Paper: eaglePaper},
		{Name: "eagle-nosrpt", Summary: "eagle without least remaining work first", Paper: eaglePaper},
		{Name: "eagle-nosbpsrpt", Summary: "eagle without Sticky Batch Probing and least remaining work first",
			Paper: eaglePaper},
		{Name: "eagle-nomin", Summary: "eagle without a least number of probes", Paper: eaglePaper},
		{Name: "ideal-eagle", Summary: "eagle that knows at once where long tasks are, without least remaining work first",
			Paper: eaglePaper},
		{Name: "dlwl", Summary: "places by least work left, as heartbeats told it", Paper: eaglePaper},
		{Name: "clwl", Summary: "places by least work left, with perfect knowledge", Paper: eaglePaper},
		{Name: "hawk",
			Summary: "probes for short tasks, places long ones centrally; idle nodes steal what waits behind long tasks",
			Paper:   hawkPaper},
		{Name: "sparrow", Summary: "probes two nodes for each task, and binds tasks late", Paper: sparrowPaper},
	}
	for i := range list {
		if switches, err := eagle.Named(list[i].Name); err == nil { // a test holds that all are known there
			list[i].Agents = switches
		}
	}
	list = append(list,
		System{Name: "pigeon", Summary: "spreads tasks over masters of groups of nodes; some nodes take short tasks only",
			Paper: pigeonPaper, Agents: pigeon.Config{}},
		System{Name: "kairos", Summary: "without estimates: the task that has run least goes first, by preemption",
			Paper: kairosPaper, Agents: kairos.Variance},
		System{Name: "kairos-random", Summary: "kairos that chooses at random among nodes with the fewest tasks",
			Paper: kairosPaper, Agents: kairos.Random},
		System{Name: "kairos-sum", Summary: "kairos that chooses the node whose tasks have run least together",
			Paper: kairosPaper, Agents: kairos.Sum},
		System{Name: "big-c", Summary: "stops long tasks for short ones beyond the long ones' share",
			Paper: "Big-C (Chen et al., USENIX ATC 2017)", Agents: bigc.Config{}},
		System{Name: "yarn-fifo", Summary: "a queue of tasks in order, without preemption", Agents: kairos.Config{}},
	)
	return append(list, generic()...)
}

// generic are the schemes of the generic scheduler GS.
func generic() []System {
	list := []System{
		{Name: "gs-slearn", Summary: "small jobs first, by queues; a job's size is that of its first tasks, which run early",
			Agents: slearn.SLearn},
		{Name: "gs-joint", Summary: "gs whose sizes come from history, corrected by every task that ends",
			Agents: slearn.JointScheme},
		{Name: "gs-3sigma", Summary: "gs whose sizes come from the distribution of earlier jobs", Agents: slearn.ThreeSigma},
		{Name: "gs-3sigmatl", Summary: "gs-3sigma with jobs of one or two tasks in front", Agents: slearn.ThreeSigmaTL},
		{Name: "gs-point", Summary: "gs whose sizes are the medians of earlier jobs", Agents: slearn.PointEst},
		{Name: "gs-las", Summary: "gs without estimates: jobs go down as their tasks run", Agents: slearn.LAS},
		{Name: "gs-fifo", Summary: "gs with one queue: jobs in order of arrival", Agents: slearn.FIFO},
		{Name: "gs-oracle", Summary: "gs that knows the true sizes, as nobody does", Agents: slearn.Oracle},
		{Name: "gs-slearn-dag", Summary: "gs for jobs of stages; the first is sampled, and says by how much history is off",
			Stages: true, Agents: slearn.Staged{Scheme: slearn.SLearn}},
		{Name: "gs-3sigma-dag", Summary: "gs for jobs of stages, whose sizes come from the distributions of earlier ones",
			Stages: true, Agents: slearn.Staged{Scheme: slearn.ThreeSigma}},
		{Name: "gs-point-dag", Summary: "gs for jobs of stages, whose sizes are sums of medians of earlier ones",
			Stages: true, Agents: slearn.Staged{Scheme: slearn.PointEst}},
		{Name: "gs-las-dag", Summary: "gs for jobs of stages without estimates: they go down as their tasks end",
			Stages: true, Agents: slearn.Staged{Scheme: slearn.LAS}},
		{Name: "gs-oracle-dag", Summary: "gs for jobs of stages that knows the true sizes, as nobody does",
			Stages: true, Agents: slearn.Staged{Scheme: slearn.Oracle}},
	}
	for i := range list {
		list[i].Paper = slearnPaper
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

// newKeep makes the policy of package keep.
func newKeep(p *Planning) (sched.Policy, error) {
	c, err := p.threeSigma("3sigma")
	if err != nil {
		return nil, err
	}
	c.Name = "keep"
	policy, err := keep.New(keep.Config{Plan: c})
	if err != nil {
		return nil, err
	}
	return policy, nil
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
		if c.Estimate == distsched.Distributions && p.Risk > 0 {
			c.MemoryRisk = p.Risk
		}
		policy, err := distsched.New(c)
		if err != nil {
			return nil, err
		}
		return policy, nil
	}
}

// plain makes policies that plan with nothing.
func plain(policy func() sched.Policy) func(*Planning) (sched.Policy, error) {
	return func(*Planning) (sched.Policy, error) { return policy(), nil }
}

// backfilling makes policies that plan by an estimate.
func backfilling(policy func(backfill.Estimate) sched.Policy) func(*Planning) (sched.Policy, error) {
	return func(p *Planning) (sched.Policy, error) { return policy(p.Estimate), nil }
}

func fromHistory(k *Knowledge) (predict.Predictor, error) { return k.History() }

func fromTruth(k *Knowledge) (predict.Predictor, error) { return predict.NewPerfect(k.Truth) }

func fromUsage(k *Knowledge) (predict.Predictor, error) {
	return predict.NewPerfectUsage(k.Truth, k.Used)
}

// unread is for policies that look at no forecast.
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
