package native

import (
	"math"
	"slices"

	"github.com/hedgesched/hedge/solver/internal/pack"
)

// arrange lists the lines, none of which is looked at yet, and what the jobs use and need.
func (s *splits) arrange() {
	in, n := &s.in, len(s.jobs)
	s.lines, s.need, s.use, s.seen = s.lines[:0], s.need[:0], s.use[:0], 0
	for _, o := range s.jobs {
		s.need = append(s.need, in.Opts[o].Count)
	}
	for l := range in.R * in.T {
		if slices.ContainsFunc(s.jobs, func(o int) bool { return taskUsage(in, o, l) > 0 }) {
			s.lines = append(s.lines, l)
		}
	}
	for _, o := range s.jobs {
		for _, l := range s.lines {
			s.use = append(s.use, taskUsage(in, o, l))
		}
	}
	L := len(s.lines)
	s.most, s.tasks, s.kindOf = pack.Resize(s.most, in.Parts*n), pack.Resize(s.tasks, in.Parts*n), pack.Resize(s.kindOf, n)
	s.room, s.spare = pack.Resize(s.room, in.Parts*L), pack.Resize(s.spare, in.Parts*L)
	s.spend(int64(2 * n * in.R * in.T))
}

// measure finds the room of each partition, and how many tasks of each job alone it has room for.
func (s *splits) measure() {
	in, L := &s.in, len(s.lines)
	for x := range in.Parts {
		for i, l := range s.lines {
			s.room[x*L+i] = withRounding(s.rows[x*in.R*in.T+l])
		}
	}
	clear(s.most)
	for j := range s.jobs {
		s.limitJob(j)
	}
}

// limitJob finds how many tasks of job j each partition has room for.
func (s *splits) limitJob(j int) {
	n, L := len(s.jobs), len(s.lines)
	opt := &s.in.Opts[s.jobs[j]]
	for _, x := range s.in.Part[opt.P0:opt.P1] {
		s.most[x*n+j] = fitIn(opt.Count, s.use[j*L:(j+1)*L], s.room[x*L:(x+1)*L])
	}
	s.spend(int64((opt.P1 - opt.P0) * L))
}

// group makes kinds of jobs that are alike in the lines looked at.
func (s *splits) group() {
	q := &s.kinds
	q.first, q.need = q.first[:0], q.need[:0]
	for j := range s.jobs {
		k := slices.IndexFunc(q.first, func(i int) bool { return s.alike(i, j) })
		if k < 0 {
			k = len(q.first)
			q.first, q.need = append(q.first, j), append(q.need, 0)
		}
		s.kindOf[j] = k
		q.need[k] += s.need[j]
	}
	s.spend(int64(len(s.jobs) * len(q.first)))
	s.worth = pack.Resize(s.worth, len(q.first))
	s.settle()
}

// settle works out the rest of the kinds, of which the first jobs and the needs are known.
func (s *splits) settle() {
	q, n, L := &s.kinds, len(s.kinds.need), len(s.lines)
	q.use = q.use[:0]
	for _, j := range q.first {
		q.use = append(q.use, s.use[j*L:j*L+s.seen]...)
	}
	q.given, q.most, s.share = pack.Resize(q.given, s.in.Parts*n), pack.Resize(q.most, s.in.Parts*n), pack.Resize(s.share, s.in.Parts*n)
	clear(q.given)
	s.limitKinds()
}

// limitKinds adds up how many tasks of the jobs of each kind each partition has room for.
func (s *splits) limitKinds() {
	n, J := len(s.kinds.need), len(s.jobs)
	clear(s.kinds.most)
	for x := range s.in.Parts {
		for j, k := range s.kindOf {
			s.kinds.most[x*n+k] += s.most[x*J+j]
		}
	}
	s.spend(int64(s.in.Parts * (n + J)))
}

// alike says whether the two jobs are of one kind.
func (s *splits) alike(i, j int) bool {
	n, L := len(s.jobs), len(s.lines)
	for x := range s.in.Parts {
		if s.most[x*n+i] != s.most[x*n+j] {
			return false // other lines, or other sets
		}
	}
	return slices.Equal(s.use[i*L:i*L+s.seen], s.use[j*L:j*L+s.seen])
}

// fullest is the line of which the jobs use the largest part; -1 if they use none.
func (s *splits) fullest() int {
	n, L, at, most := len(s.jobs), len(s.lines), -1, 0.0
	for l := range L {
		sum, room := 0.0, 0.0
		for x := range s.in.Parts {
			room += s.room[x*L+l]
		}
		for j := range n {
			sum += float64(s.need[j] * s.use[j*L+l])
		}
		if at < 0 || sum > most*room {
			at, most = l, sum/max(room, fuzz)
		}
	}
	s.spend(int64(L * (n + s.in.Parts)))
	return at
}

// broken is the line, of those not looked at, that the tasks exceed the most; -1 if they exceed none.
func (s *splits) broken() int {
	n, L, at, most := len(s.jobs), len(s.lines), -1, splitFuzz
	for l := s.seen; l < L; l++ {
		over, room := 0.0, 0.0
		for x := range s.in.Parts {
			sum := 0.0
			for j := range n {
				sum += float64(s.tasks[x*n+j] * s.use[j*L+l])
			}
			over += max(0, sum-s.room[x*L+l])
			room += s.room[x*L+l]
		}
		if over > most*room {
			at, most = l, over/room
		}
	}
	s.spend(int64((L - s.seen) * n * s.in.Parts))
	return at
}

// look has the search look at a line, too.
func (s *splits) look(line int) {
	L, u := len(s.lines), s.seen
	s.lines[u], s.lines[line] = s.lines[line], s.lines[u]
	for j := range s.jobs {
		s.use[j*L+u], s.use[j*L+line] = s.use[j*L+line], s.use[j*L+u]
	}
	for x := range s.in.Parts {
		s.room[x*L+u], s.room[x*L+line] = s.room[x*L+line], s.room[x*L+u]
	}
	s.seen++
}

// dealOut deals out the kinds' tasks, those given and those in the program, to their jobs, one after the other.
func (s *splits) dealOut() {
	n, K := len(s.jobs), len(s.kinds.need)
	for i, v := range s.kinds.given {
		s.share[i] += v
	}
	for j, k := range s.kindOf {
		left := s.need[j]
		for x := range s.in.Parts {
			v := min(left, s.share[x*K+k], s.most[x*n+j])
			s.tasks[x*n+j] = v
			s.share[x*K+k] -= v
			left -= v
		}
	}
	s.spend(int64(n * s.in.Parts))
}

// complete rounds the tasks down, takes out those that do not fit, and adds those that are missing where there is room. It reports whether there is for all.
func (s *splits) complete() bool {
	n, L := len(s.jobs), len(s.lines)
	copy(s.spare, s.room)
	for x := range s.in.Parts {
		for j := range n {
			s.tasks[x*n+j] = s.putIn(x, j, math.Floor(s.tasks[x*n+j]+splitFuzz))
		}
	}
	done := true
	for j, left := range s.need {
		for x := range s.in.Parts {
			left -= s.tasks[x*n+j]
		}
		for x := 0; x < s.in.Parts && left > 0; x++ {
			more := s.putIn(x, j, min(left, s.most[x*n+j]-s.tasks[x*n+j]))
			s.tasks[x*n+j] += more
			left -= more
		}
		done = done && left <= 0
	}
	s.spend(int64(3 * s.in.Parts * n * L))
	return done
}

// putIn takes as many of v tasks of job j as fit into what is to spare of partition x, and returns how many.
func (s *splits) putIn(x, j int, v float64) float64 {
	L := len(s.lines)
	use, spare := s.use[j*L:(j+1)*L], s.spare[x*L:(x+1)*L]
	v = fitIn(v, use, spare)
	for i, u := range use {
		spare[i] -= float64(v * u)
	}
	return v
}
