package slearn

// Sampling is SLearn's predictor (section 5.1.2). Of a job of S tasks it runs max(1, ⌈r·S⌉) random tasks first, the
// pilots. The job's size is S times their mean. It never uses history. Make one with [NewSampling].
type Sampling struct{ ratio *Ratio }

// NewSampling returns SLearn's predictor with a sampling ratio. A nil ratio means the paper's adaptive one.
func NewSampling(ratio *Ratio) *Sampling {
	if ratio == nil {
		ratio = new(Ratio)
	}
	return &Sampling{ratio}
}

// Estimate implements [Predictor].
func (p *Sampling) Estimate(s *Sample) Answer {
	percent := s.Note
	if percent == 0 {
		percent = int32(p.ratio.Next())
	}
	return Answer{Size: sampled(s) * float64(s.Job.Tasks), Pilots: pilots(int(percent), s.Job.Tasks), Note: percent}
}

// sampled is the mean of the pilots, in seconds. Pilots that are late count with the time-out, so it is then a lower
// bound.
func sampled(s *Sample) float64 {
	if s.Late == 0 {
		return s.Pilots.Mean()
	}
	return (s.Pilots.Sum + float64(float64(s.Out)*s.Late.Seconds())) / float64(max(1, s.Pilots.Count+s.Out))
}

// pilots is a percentage of a job's tasks, rounded up, at least 1.
func pilots(percent int, tasks int32) int {
	return max(1, (percent*int(tasks)+99)/100)
}

// Learn implements [Learner]. It scores the ratio that the job was sampled with.
func (p *Sampling) Learn(o *Outcome) {
	if o.Note > 0 && o.Ended.Sum > 0 {
		p.ratio.Done(int(o.Note), o.Completion.Seconds()/o.Ended.Sum)
	}
}

// Ratio is the percentage of a job's tasks that are pilots. It is fixed, or adapts to the percentage from 1 to 5 whose
// recent jobs finished soonest (Figure 3). The zero value is the paper's adaptive ratio. It is not safe for concurrent
// use.
type Ratio struct {
	// Fixed is the percentage, up to 100; 0 means adaptive.
	Fixed int
	// Recent is how many scores of a percentage count, the paper's T; 0 means 100.
	Recent int
	// Corrected departs from Figure 3 in two points. Figure 3 keeps T + 1 scores, not T. And while 2 % is best and 3 %
	// is more than 10 % worse, Figure 3 takes 1 %, whatever the scores of 1 % are; likewise 5 % next to 4 %. Corrected
	// keeps T scores, and tries 1 % and 5 % only until they have T scores. After that they compete like the others.
	Corrected bool

	begun  int
	scores [most + 1]scores
}

// most is the largest adaptive percentage.
const most = 5

// scores are the latest scores of a percentage. A score is a job's completion time over the summed time of its tasks.
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

// mean adds up from the oldest score, so that the position in the ring does not change its bits.
func (s *scores) mean() float64 {
	sum := 0.0
	for i := range s.ring {
		sum += s.ring[(s.next+i)%len(s.ring)]
	}
	return sum / float64(len(s.ring))
}

// Next returns the percentage for a new job, and counts the job.
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

// best is the percentage with the lowest mean score, and the smallest of equal ones. It is 3 if there are no scores.
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

// worth tells whether to try the percentage beyond the best one: 3 % must be more than 10 % worse than the best.
func (r *Ratio) worth(best, edge int) bool {
	three := &r.scores[3]
	if len(three.ring) == 0 || r.Corrected && len(r.scores[edge].ring) >= r.recent() {
		return false
	}
	return three.mean() > 1.1*r.scores[best].mean()
}

// Done records the score of a job that was sampled with a percentage: its completion time over the summed time of its
// tasks, above 0. A fixed ratio ignores it.
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
