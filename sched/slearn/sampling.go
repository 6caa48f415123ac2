package slearn

// Sampling is SLearn's predictor (section 5.1.2). It runs max(1, ⌈r·S⌉) pilots of a job of S tasks, drawn at random.
// The job's size is the mean of what they took times S. It never looks at history. Make one with [NewSampling].
type Sampling struct{ ratio *Ratio }

// NewSampling is SLearn's predictor with a sampling ratio; a nil one is the adaptive ratio of the paper.
func NewSampling(ratio *Ratio) *Sampling {
	if ratio == nil {
		ratio = new(Ratio)
	}
	return &Sampling{ratio}
}

// Estimate is that of [Predictor].
func (p *Sampling) Estimate(s *Sample) Answer {
	percent := s.Note
	if percent == 0 {
		percent = int32(p.ratio.Next())
	}
	return Answer{Size: sampled(s) * float64(s.Job.Tasks), Pilots: pilots(int(percent), s.Job.Tasks), Note: percent}
}

// sampled is the mean of the pilots. Those that are late count as if they ended now: a bound from below.
func sampled(s *Sample) float64 {
	if s.Late == 0 {
		return s.Pilots.Mean()
	}
	return (s.Pilots.Sum + float64(float64(s.Out)*s.Late.Seconds())) / float64(max(1, s.Pilots.Count+s.Out))
}

// pilots is how many a percentage of a job's tasks is, rounded up, at least 1.
func pilots(percent int, tasks int32) int {
	return max(1, (percent*int(tasks)+99)/100)
}

// Learn is that of [Learner]: it scores the ratio that the job was sampled with.
func (p *Sampling) Learn(o *Outcome) {
	if o.Note > 0 && o.Ended.Sum > 0 {
		p.ratio.Done(int(o.Note), o.Completion.Seconds()/o.Ended.Sum)
	}
}

// Ratio is the percentage of a job's tasks that are its pilots: a fixed one, or the one that has made jobs finish
// soonest lately (Figure 3). The zero value is the paper's adaptive ratio. It is not safe for concurrent use.
type Ratio struct {
	// Fixed is the percentage, up to 100; 0 means adaptive.
	Fixed int
	// Recent is how many jobs' scores count, the paper's T; 0 means 100.
	Recent int
	// Corrected mends what is odd in Figure 3. There, T + 1 scores are kept in place of T. And where 2 % is best and
	// 3 % more than 10 % worse, 1 % is taken for ever, however bad it turns out to be; likewise 5 % beside 4 %.
	// Corrected, 1 % and 5 % are tried until they have T scores, and then taken where they are best, as others are.
	Corrected bool

	begun  int
	scores [most + 1]scores
}

// most is the largest adaptive percentage.
const most = 5

// scores are the latest of a ratio: jobs' completion times over the summed times of their tasks.
type scores struct {
	ring []float64
	next int
}

func (s *scores) add(x float64, keep int) {
	if len(s.ring) < keep {
		s.ring = append(s.ring, x)
		return
	}
	s.ring[s.next] = x
	s.next = (s.next + 1) % keep
}

// mean is added up from the oldest, so that it does not depend on where the ring begins.
func (s *scores) mean() float64 {
	sum := 0.0
	for i := range s.ring {
		sum += s.ring[(s.next+i)%len(s.ring)]
	}
	return sum / float64(len(s.ring))
}

// Next is the percentage for a new job.
func (r *Ratio) Next() int {
	if r.Fixed > 0 {
		return r.Fixed
	}
	recent := r.recent()
	r.begun++
	switch {
	case r.begun <= recent:
		return 3
	case r.begun <= 2*recent:
		return 2
	case r.begun <= 3*recent:
		return 4
	}
	switch best := r.best(); {
	case best == 2 && r.worth(best, 1):
		return 1
	case best == 4 && r.worth(best, 5):
		return 5
	default:
		return best
	}
}

func (r *Ratio) recent() int {
	if r.Recent > 0 {
		return r.Recent
	}
	return 100
}

// best is the percentage with the lowest score, the smaller one of equals; 3 where nothing has a score.
func (r *Ratio) best() int {
	best, least := 3, 0.0
	for percent := range r.scores {
		s := &r.scores[percent]
		if len(s.ring) == 0 {
			continue
		}
		if m := s.mean(); least == 0 || m < least {
			best, least = percent, m
		}
	}
	return best
}

// worth tells whether to go on from the best percentage to the one beyond it: 3 % is more than 10 % worse.
func (r *Ratio) worth(best, edge int) bool {
	three := &r.scores[3]
	if len(three.ring) == 0 || r.Corrected && len(r.scores[edge].ring) >= r.recent() {
		return false
	}
	return three.mean() > 1.1*r.scores[best].mean()
}

// Done scores a percentage by a job that was sampled with it and is done: its completion time over the summed time of
// its tasks, above 0.
func (r *Ratio) Done(percent int, score float64) {
	if r.Fixed > 0 || percent < 1 || percent > most {
		return
	}
	keep := r.recent() + 1
	if r.Corrected {
		keep--
	}
	r.scores[percent].add(score, keep)
}
