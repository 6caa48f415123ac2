package distsched

// What becomes of the jobs that are followed corrects what is told of later ones. Tasks that start later, and
// forecasts that are too low, evict more tasks than the last plan can know of. How many more differs by priority, which
// decides who is evicted first.

// followed is a job that Policy.Follow named, until it is known what became of it.
type followed struct {
	asked, open bool
	ran         bool    // it was seen running since
	told        float64 // without the correction
}

// outcome sums up what was told of jobs of one priority, and what became of them.
type outcome struct{ jobs, told, came float64 }

// doubt is the number of jobs without any other evictions that a correction is taken to start from. It was chosen on
// seed 11 of the shared workload.
const doubt = 10

// otherwise is the probability that a job of which that was told is evicted for other reasons than those known.
func (o *outcome) otherwise() float64 {
	return max(0, o.came-o.told) / max(1, o.jobs-o.told+doubt)
}

// follow notes what was told of a job that the last plan started, if nothing was told of it before. Parts of jobs are
// not followed: they are what became of their jobs.
func (p *Policy) follow(k *known, told float64) {
	if !k.follow.asked && k.job.PartOf == "" {
		k.follow = followed{asked: true, open: true, told: told}
	}
}

// learn closes a followed job: it lost a task, or ended without.
func (p *Policy) learn(k *known, lost bool) {
	if !k.follow.open {
		return
	}
	k.follow.open = false
	o := p.outcomes[k.job.Priority]
	if o == nil {
		o = &outcome{}
		p.outcomes[k.job.Priority] = o
	}
	o.jobs++
	o.told += k.follow.told
	if lost {
		o.came++
	}
}

// unfollow closes all followed jobs without learning from them. It is called when nodes have come or gone: tasks that
// were lost with a node were not evicted.
func (p *Policy) unfollow() {
	for _, k := range p.jobs {
		k.follow.open = false
	}
}

// awaits closes what a pending job says the end of. A job that ran and waits again has lost its tasks, and the job of
// which a part waits has lost some. The snapshot does not say why. But the policy does not follow what it has stopped
// itself, so it takes all others to be evicted.
func (p *Policy) awaits(k *known) {
	if k.job.PartOf != "" {
		if whole := p.jobs[k.job.PartOf]; whole != nil {
			p.learn(whole, true)
			return
		}
	}
	if k.follow.ran {
		p.learn(k, true)
		return
	}
	k.follow.open = false // it could not be started
}
