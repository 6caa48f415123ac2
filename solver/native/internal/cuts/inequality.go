package cuts

import (
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// group is a job's options in an inequality, or a running job.
type group struct {
	set      int     // a job's number, or behind all jobs a running job's
	lo, hi   int     // its pieces
	left     float64 // how far none of them is chosen
	supposed float64 // what it is taken to use; 0 is nothing
	other    float64 // what it could be taken to use instead
}

// exchange takes the group to use the other amount, and returns by how much more that is.
func (g *group) exchange() float64 {
	g.supposed, g.other = g.other, g.supposed
	return g.supposed - g.other
}

// piece is an option in an inequality.
type piece struct {
	amount       float64 // per task
	fewest, most float64 // tasks in the set if it is chosen
	z, y         float64 // how far it is chosen, and its tasks in the set
	tasks        bool    // whole tasks can be counted
}

// inequality lists the groups of the sum of a set's rows, and returns its room.
func (s *Separator) inequality(set, row int) float64 {
	in := s.in
	s.groups, s.pieces = s.groups[:0], s.pieces[:0]
	for _, id := range s.active {
		o := int(id)
		p := s.pieceOf(o, set, row)
		if p.amount == 0 {
			continue
		}
		j, last := in.Opts[o].Job, len(s.groups)-1
		if last < 0 || s.groups[last].set != j {
			s.groups = append(s.groups, group{set: j, lo: len(s.pieces), left: 1})
			last++
		}
		g := &s.groups[last]
		s.pieces = append(s.pieces, p)
		g.hi = len(s.pieces)
		g.left -= p.z
	}
	for k := range in.P.Running {
		if a := s.released(k, set, row); a > 0 {
			y := s.x.Tasks[len(in.Part)+k]
			s.groups = append(s.groups, group{set: len(in.P.Jobs) + k, lo: len(s.pieces), hi: len(s.pieces) + 1, left: 1 - y})
			s.pieces = append(s.pieces, piece{amount: -a, fewest: 1, most: 1, z: y, y: y, tasks: true})
		}
	}
	for i := range s.groups {
		s.suppose(&s.groups[i])
	}
	s.budget.Spend(int64(8*len(s.active) + 16*len(s.pieces)))
	return s.room(set, row)
}

// pieceOf is what option o has of the sum of a set's rows.
func (s *Separator) pieceOf(o, set, row int) piece {
	in, opt := s.in, &s.in.Opts[o]
	p := piece{amount: taskUsage(in, o, row), tasks: opt.Whole}
	if p.amount == 0 {
		return p
	}
	member := s.sets[set*in.Parts : (set+1)*in.Parts]
	out := 0.0
	s.budget.Spend(int64(opt.P1-opt.P0) / 4)
	for i := opt.P0; i < opt.P1; i++ {
		if member[in.Part[i]] {
			p.most += in.Limit[i]
			p.y += s.x.Tasks[i]
		} else {
			out += in.Limit[i]
		}
	}
	if p.most == 0 {
		p.amount = 0
		return p
	}
	p.most, p.fewest = min(p.most, opt.Count), max(0, opt.Count-out)
	p.fewest = min(p.fewest, p.most)
	p.z = s.x.Weight[o]
	return p
}

// released is what running job k holds of the sum of a set's rows.
func (s *Separator) released(k, set, row int) float64 {
	in := s.in
	member := s.sets[set*in.Parts : (set+1)*in.Parts]
	sum, n := 0.0, in.R*in.T
	for i := in.RunOff[k]; i < in.RunOff[k+1]; i++ {
		if r := in.RunRow[i]; r%n == row && member[r/n] {
			sum += in.RunAmt[i]
		}
	}
	s.budget.Spend(int64(in.RunOff[k+1]-in.RunOff[k]) / 4)
	return sum
}

// room is the capacity of the sum of a set's rows.
func (s *Separator) room(set, row int) float64 {
	b := 0.0
	for x, in := range s.sets[set*s.in.Parts : (set+1)*s.in.Parts] {
		if in {
			b += withRounding(s.in.Cap[x*s.in.R*s.in.T+row])
		}
	}
	return b
}

// withRounding is a capacity as cuts see it: with what rounding may let a plan exceed it by.
func withRounding(v float64) float64 { return v + float64(1e-9*v) + 1e-15 }

// suppose finds what the group could be taken to use: what its most chosen option has there.
func (s *Separator) suppose(g *group) {
	g.left = max(0, g.left)
	pick := g.lo
	for i := g.lo + 1; i < g.hi; i++ {
		if s.pieces[i].z > s.pieces[pick].z {
			pick = i
		}
	}
	p := &s.pieces[pick]
	n := p.most
	if p.z > 0 && p.y < 0.5*p.z*(p.fewest+p.most) {
		n = p.fewest
	}
	g.other = float64(n * p.amount)
}

// groupOf is the group of a set; one without pieces if there is none.
func (s *Separator) groupOf(set int) group {
	if i, ok := slices.BinarySearchFunc(s.groups, set, func(g group, set int) int { return g.set - set }); ok {
		return s.groups[i]
	}
	return group{set: set}
}

// taskUsage is what a task of option o uses of a line, that is a (resource, slot).
func taskUsage(in *pack.Instance, o, line int) float64 {
	opt := &in.Opts[o]
	t := line%in.T - opt.Start
	if t < 0 || t >= len(opt.Usage) {
		return 0
	}
	for i := range opt.Demand {
		if opt.Demand[i].R == line/in.T {
			return float64(opt.Demand[i].D * opt.Usage[t])
		}
	}
	return 0
}
