package pack

import (
	"cmp"
	"slices"

	"github.com/hedgesched/hedge/solver"
)

// State is a plan: the option of each job and its split, the preempted running jobs, and the residual capacity.
type State struct {
	In *Instance
	// Res is the residual capacity of each row.
	Res []float64
	// Choice is each job's index into In.Opts, or -1.
	Choice []int
	// Split[j·MaxParts+i] is the number of job j's tasks in its i-th partition.
	Split []float64
	// Preempted says which running jobs are preempted.
	Preempted []bool
	// Value is the plan's objective.
	Value float64
	// Order lists positions (in In.Part). Each option fills its partitions in this order.
	Order []int
	// Ops counts elementary row operations, for deterministic work limits.
	Ops int64

	fit []float64
}

// Reset makes s the empty plan of in.
func (s *State) Reset(in *Instance) {
	s.In = in
	s.Res = append(s.Res[:0], in.Cap...)
	s.Choice = Resize(s.Choice, len(in.P.Jobs))
	for j := range s.Choice {
		s.Choice[j] = -1
	}
	s.Split = Resize(s.Split, len(s.Choice)*in.MaxParts)
	clear(s.Split)
	s.Preempted = Resize(s.Preempted, len(in.P.Running))
	clear(s.Preempted)
	s.Value = 0
	s.fit = Resize(s.fit, in.MaxParts)
	if len(s.Order) != len(in.Part) {
		s.Order = Resize(s.Order, len(in.Part))
	}
	for i := range s.Order {
		s.Order[i] = i
	}
}

// Copy makes s equal to t, except for Order and Ops.
func (s *State) Copy(t *State) {
	s.In = t.In
	s.Res = append(s.Res[:0], t.Res...)
	s.Choice = append(s.Choice[:0], t.Choice...)
	s.Split = append(s.Split[:0], t.Split...)
	s.Preempted = append(s.Preempted[:0], t.Preempted...)
	s.Value = t.Value
	s.fit = Resize(s.fit, t.In.MaxParts)
}

// Empty takes all jobs out and lets all running jobs go on. Order stays.
func (s *State) Empty() {
	for j, o := range s.Choice {
		if o >= 0 {
			s.Choice[j] = -1
		}
	}
	clear(s.Preempted)
	s.Rebuild()
}

// Rebuild recomputes Res and Value from the choices, to get rid of rounding errors.
func (s *State) Rebuild() {
	in := s.In
	copy(s.Res, in.Cap)
	s.Value = 0
	for m, on := range s.Preempted {
		if on {
			s.release(m, 1)
			s.Value -= in.P.Running[m].PreemptCost
		}
	}
	for j, o := range s.Choice {
		if o >= 0 {
			s.take(j, &in.Opts[o], 1)
			s.Value += in.Opts[o].Value
		}
	}
}

// Settle recomputes Res and Value from the choices. If rounding has let in more than fits, it drops jobs until all fit,
// the least valuable first. It reports whether the plan was left unchanged. Too much may be let in when amounts of very
// different magnitudes are added and subtracted again.
func (s *State) Settle() bool {
	s.Rebuild()
	stood := true
	for r, v := range s.Res {
		stood = stood && v >= -s.In.slack[r]
	}
	return stood || s.repair()
}

// repair adds up the jobs again without subtracting anything, and drops those that do not fit.
func (s *State) repair() bool {
	in := s.In
	room, use := append([]float64(nil), in.Cap...), make([]float64, in.Rows)
	for m, on := range s.Preempted {
		if on {
			for i := in.RunOff[m]; i < in.RunOff[m+1]; i++ {
				room[in.RunRow[i]] += in.RunAmt[i]
			}
		}
	}
	jobs := make([]int, 0, len(s.Choice))
	for j, o := range s.Choice {
		if o >= 0 {
			jobs = append(jobs, j)
		}
	}
	slices.SortStableFunc(jobs, func(a, b int) int {
		return cmp.Compare(in.Opts[s.Choice[b]].Value, in.Opts[s.Choice[a]].Value)
	})
	stood := true
	for _, j := range jobs {
		fits := true
		s.rows(j, func(row int, amount float64) {
			fits = fits && use[row]+amount <= room[row]+max(in.slack[row], float64(solver.Tolerance/2*room[row]))
		})
		if !fits {
			s.Choice[j], stood = -1, false
			continue
		}
		s.rows(j, func(row int, amount float64) { use[row] += amount })
	}
	s.Rebuild()
	return stood
}

// rows calls add for every row that job j uses, with the amount.
func (s *State) rows(j int, add func(row int, amount float64)) {
	in := s.In
	o := &in.Opts[s.Choice[j]]
	for i := o.P0; i < o.P1; i++ {
		q := s.Split[j*in.MaxParts+i-o.P0]
		if q == 0 {
			continue
		}
		for _, d := range o.Demand {
			lo := (in.Part[i]*in.R+d.R)*in.T + o.Start
			for t, u := range o.Usage {
				add(lo+t, float64(q*d.D*u))
			}
		}
	}
}

// TryPlace gives its job option o (an index into In.Opts) if it fits. It fills partitions in Order, and reports whether
// it placed the job. The job must be free.
func (s *State) TryPlace(o int) bool {
	in := s.In
	opt := &in.Opts[o]
	if opt.Dead {
		return false
	}
	split := s.Split[opt.Job*in.MaxParts : opt.Job*in.MaxParts+opt.P1-opt.P0]
	left := opt.Count
	rest := 0.0
	for i := opt.P0; i < opt.P1; i++ {
		rest += in.Limit[i]
	}
	cost := int64(len(opt.Demand)*len(opt.Inv) + 2)
	for i := opt.P0; i < opt.P1; i++ {
		at := s.Order[i]
		if left <= 0 {
			split[at-opt.P0] = 0
			continue
		}
		f := min(in.Fit(opt, in.Part[at], s.Res), left)
		s.Ops += cost
		rest -= in.Limit[at]
		split[at-opt.P0] = f
		left -= f
		if left > rest+float64(eps*opt.Count) {
			return false
		}
	}
	if left > eps*opt.Count {
		return false
	}
	s.Choice[opt.Job] = o
	s.Value += opt.Value
	s.take(opt.Job, opt, 1)
	return true
}

// Place gives o's job option o with the given split, whether it fits or not. The job must be free.
func (s *State) Place(o int, split []float64) {
	opt := &s.In.Opts[o]
	copy(s.Split[opt.Job*s.In.MaxParts:], split[:opt.P1-opt.P0])
	s.Choice[opt.Job] = o
	s.Value += opt.Value
	s.take(opt.Job, opt, 1)
}

// Load makes s the plan, which must be feasible. Options that the instance has left out as useless are left out.
func (s *State) Load(plan *solver.Solution) {
	in := s.In
	s.Reset(in)
	for m := range in.P.Running {
		if slices.Contains(plan.Preempt, in.P.Running[m].ID) {
			s.Preempt(m)
		}
	}
	split := make([]float64, in.MaxParts)
	for j := range in.P.Jobs {
		c, ok := plan.Choice[in.P.Jobs[j].ID]
		for o := in.JobOpts[j]; ok && o < in.JobOpts[j+1]; o++ {
			opt := &in.Opts[o]
			if opt.Index != c.Option || opt.Dead {
				continue
			}
			clear(split)
			for _, part := range c.Split {
				if i := slices.Index(in.Part[opt.P0:opt.P1], part.Partition); i >= 0 {
					split[i] = part.Count
				}
			}
			s.Place(o, split)
		}
	}
	s.Settle()
}

// Remove removes job j, which must be in the plan.
func (s *State) Remove(j int) {
	o := &s.In.Opts[s.Choice[j]]
	s.take(j, o, -1)
	s.Value -= o.Value
	s.Choice[j] = -1
}

// take subtracts sign times job j's use from the residuals.
func (s *State) take(j int, o *Option, sign float64) {
	in := s.In
	for i := o.P0; i < o.P1; i++ {
		q := s.Split[j*in.MaxParts+i-o.P0]
		if q == 0 {
			continue
		}
		s.addRows(o, in.Part[i], -sign*q)
	}
}

// addRows adds q times one task's use of option o to the residuals of partition x.
func (s *State) addRows(o *Option, x int, q float64) {
	for k := range o.Demand {
		d := &o.Demand[k]
		lo := (x*s.In.R+d.R)*s.In.T + o.Start
		rows := s.Res[lo : lo+len(o.Usage)]
		w := q * d.D
		for t, u := range o.Usage {
			rows[t] += float64(w * u)
		}
		s.Ops += int64(len(rows))
	}
}

func (s *State) release(m int, sign float64) {
	in := s.In
	for i := in.RunOff[m]; i < in.RunOff[m+1]; i++ {
		s.Res[in.RunRow[i]] += float64(sign * in.RunAmt[i])
	}
	s.Ops += int64(in.RunOff[m+1] - in.RunOff[m])
}

// Preempt preempts running job m, which must not be preempted yet.
func (s *State) Preempt(m int) {
	s.Preempted[m] = true
	s.Value -= s.In.P.Running[m].PreemptCost
	s.release(m, 1)
}

// Unpreempt lets running job m go on, whether there is room or not.
func (s *State) Unpreempt(m int) {
	s.Preempted[m] = false
	s.Value += s.In.P.Running[m].PreemptCost
	s.release(m, -1)
}

// Needed reports whether others use the room of preempted job m.
func (s *State) Needed(m int) bool {
	in := s.In
	s.Ops += 4
	for i := in.RunOff[m]; i < in.RunOff[m+1]; i++ {
		a, row := in.RunAmt[i], in.RunRow[i]
		short := a - s.Res[row]
		if short > eps*a || (short > in.slack[row]/2 && s.short(row, m)) {
			return true
		}
	}
	return false
}

// short reports whether the row is too small without what preempted job m holds. It computes that from scratch: the
// rounding error of a large amount looks like the use of a small one.
func (s *State) short(row, m int) bool {
	in := s.In
	room, use := in.Cap[row], 0.0
	for k, on := range s.Preempted {
		if on && k != m {
			for i := in.RunOff[k]; i < in.RunOff[k+1]; i++ {
				if in.RunRow[i] == row {
					room += in.RunAmt[i]
				}
			}
		}
	}
	for j, o := range s.Choice {
		if o >= 0 {
			s.rows(j, func(r int, amount float64) {
				if r == row {
					use += amount
				}
			})
		}
	}
	s.Ops += int64(len(s.Choice))
	return use > room+float64(in.slack[row]/2)
}

// Spare lets every preempted job go on whose room nobody needs. byCost is the order in which to try them.
func (s *State) Spare(byCost []int) {
	for _, m := range byCost {
		if s.Preempted[m] && !s.Needed(m) {
			s.Unpreempt(m)
		}
	}
}

// Solution writes the plan out.
func (s *State) Solution(engine string, stop solver.Stop) *solver.Solution {
	in := s.In
	n := 0
	for _, o := range s.Choice {
		if o >= 0 {
			n++
		}
	}
	sol := &solver.Solution{Engine: engine, Stop: stop, Objective: s.Value,
		Choice: make(map[string]solver.Choice, n), Preempt: []string{}}
	for j, oi := range s.Choice {
		if oi < 0 {
			continue
		}
		o := &in.Opts[oi]
		var split []solver.Split
		for i := o.P0; i < o.P1; i++ {
			if q := s.Split[j*in.MaxParts+i-o.P0]; q > 0 {
				split = append(split, solver.Split{Partition: in.Part[i], Count: q})
			}
		}
		slices.SortFunc(split, func(a, b solver.Split) int { return a.Partition - b.Partition })
		sol.Choice[in.P.Jobs[j].ID] = solver.Choice{Option: o.Index, Split: split}
	}
	for m, on := range s.Preempted {
		if on {
			sol.Preempt = append(sol.Preempt, in.P.Running[m].ID)
		}
	}
	return sol
}
