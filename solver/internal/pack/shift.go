package pack

// PlacePart gives free option o's job the part of its gang that fits. It fills partitions in Order, and returns the
// number of tasks left over.
func (s *State) PlacePart(o int) (left float64) {
	in := s.In
	opt := &in.Opts[o]
	split := s.Split[opt.Job*in.MaxParts : opt.Job*in.MaxParts+opt.P1-opt.P0]
	left = opt.Count
	for i := opt.P0; i < opt.P1; i++ {
		at := s.Order[i]
		f := 0.0
		if left > 0 {
			f = min(in.Fit(opt, in.Part[at], s.Res), left)
			s.Ops += int64(len(opt.Demand)*len(opt.Inv) + 2)
		}
		split[at-opt.P0] = f
		left -= f
	}
	s.Choice[opt.Job] = o
	s.Value += opt.Value
	s.take(opt.Job, opt, 1)
	if left <= eps*opt.Count {
		left = 0
	}
	return left
}

// Shift adds that number of tasks of placed job j to its option's i-th partition. A negative number removes tasks.
func (s *State) Shift(j, i int, tasks float64) {
	o := &s.In.Opts[s.Choice[j]]
	s.Split[j*s.In.MaxParts+i] += tasks
	s.addRows(o, s.In.Part[o.P0+i], -tasks)
}
