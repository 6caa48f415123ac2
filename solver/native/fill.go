package native

import "math"

// fuzz is how far sums and differences of amounts may be off, as a part of the largest sum: what is left of it in the end may be no more than its error.
const fuzz = 1e-9

// spareSteps bounds the search for what a partition leaves over at least.
const spareSteps = 2000

// spare finds what every partition leaves over at least, of what may be left over in all, and sums up what can be used
// from each position on. It reports false if a partition cannot but leave over too much.
func (s *splits) spare() bool {
	L, P := s.used, len(s.order)
	total := s.later[P*L:]
	clear(total)
	for p := range P {
		for i := range L {
			total[i] += s.room[p*L+i]
		}
	}
	for i, d := range s.demand {
		s.fuzz[i] = fuzz * (total[i] + d)
	}
	s.probe = true
	for p := range P {
		if !s.leftOver(p, total) {
			s.probe = false
			return false
		}
		copy(s.later[p*L:], s.least)
	}
	s.probe = false
	clear(total)
	for p := P - 1; p >= 0; p-- {
		for i := range L {
			s.later[p*L+i] = s.later[(p+1)*L+i] + s.room[p*L+i] - s.later[p*L+i]
		}
	}
	return true
}

// leftOver finds what position p leaves over at least, and takes it from total, what there is room for in all. It reports false if
// that is too much.
func (s *splits) leftOver(p int, total []float64) bool {
	L := s.used
	for i := range L {
		s.allow[p*L+i] = total[i] - s.demand[i] + s.fuzz[i]
		if s.allow[p*L+i] < 0 {
			return false
		}
		s.least[i] = math.Inf(1)
	}
	until := s.until
	s.until = min(until, s.steps+spareSteps)
	s.begin(p)
	v := s.choose(p, 0)
	s.until = until
	for i := range L {
		switch {
		case v != impossible:
			s.least[i] = 0
		case math.IsInf(s.least[i], 1):
			return false
		default:
			s.least[i] = max(0, s.least[i])
			total[i] -= s.least[i]
		}
	}
	return true
}

// begin makes ready to fill position p.
func (s *splits) begin(p int) {
	L, K := s.used, len(s.kinds)
	at := p * (2*K + 2) * L
	copy(s.stack[at:at+L], s.room[p*L:])
	rest := s.stack[at+(K+1)*L : at+(2*K+2)*L]
	clear(rest[K*L:])
	for k := K - 1; k >= 0; k-- {
		n := 0.0
		if s.at[p*K+k] {
			n = s.left[k]
		}
		for i := range L {
			rest[k*L+i] = rest[(k+1)*L+i] + float64(n*s.use[k*L+i])
		}
	}
	s.steps += int64(K)
}

// place fills positions from p on with what is left.
func (s *splits) place(p int) verdict {
	L, P := s.used, len(s.order)
	if p == P {
		for _, n := range s.left {
			if n > 0 {
				return impossible
			}
		}
		return possible
	}
	for i, d := range s.demand {
		can := s.later[p*L+i]
		if d > can+s.fuzz[i] {
			return impossible
		}
		s.allow[p*L+i] = s.room[p*L+i] + s.later[(p+1)*L+i] - d + s.fuzz[i]
	}
	if s.failed.has(p, s.left) {
		return impossible
	}
	s.begin(p)
	v := s.choose(p, 0)
	if v == impossible {
		s.failed.add(p, s.left)
	}
	return v
}

// choose decides how many tasks of kinds from k on position p takes, and fills those behind it.
func (s *splits) choose(p, k int) verdict {
	L, K := s.used, len(s.kinds)
	if s.steps++; s.steps > s.until {
		return unknown
	}
	if k == K {
		return s.filled(p)
	}
	at := p * (2*K + 2) * L
	room, next := s.stack[at+k*L:at+k*L+L], s.stack[at+(k+1)*L:at+(k+2)*L]
	rest := s.stack[at+(K+2+k)*L : at+(K+3+k)*L]
	use, allow := s.use[k*L:k*L+L], s.allow[p*L:p*L+L]
	for n := s.fits(p, k, room, s.left[k]); n >= 0; n-- {
		much := false
		for i, v := range room {
			next[i] = v - float64(n*use[i])
			much = much || next[i]-rest[i] > allow[i]
		}
		if much {
			break // and more is left over with fewer
		}
		s.fill[p*K+k] = n
		if v := s.choose(p, k+1); v != impossible {
			return v
		}
		if k == K-1 {
			break
		}
	}
	return impossible
}

// fits is how many of n tasks of kind k fit into room at position p.
func (s *splits) fits(p, k int, room []float64, n float64) float64 {
	if !s.at[p*len(s.kinds)+k] {
		return 0
	}
	for i, u := range s.use[k*len(room) : (k+1)*len(room)] {
		if u > 0 && room[i] < float64(n*u) {
			n = math.Floor(room[i]/u + fuzz)
		}
	}
	return max(n, 0)
}

// filled goes on behind position p, which has been filled, unless another task would fit.
func (s *splits) filled(p int) verdict {
	L, K := s.used, len(s.kinds)
	at := p * (2*K + 2) * L
	room := s.stack[at+K*L : at+K*L+L]
	fill := s.fill[p*K : p*K+K]
	for k, n := range fill {
		if s.left[k] > n && s.fits(p, k, room, 1) >= 1 {
			return impossible
		}
	}
	if s.probe {
		for i, v := range room {
			s.least[i] = min(s.least[i], v)
		}
		return impossible
	}
	s.commit(fill, -1)
	v := s.place(p + 1)
	s.commit(fill, 1)
	return v
}

// commit takes the tasks from what is left, or puts them back.
func (s *splits) commit(fill []float64, sign float64) {
	L := s.used
	for k, n := range fill {
		if n == 0 {
			continue
		}
		s.left[k] += float64(sign * n)
		for i, u := range s.use[k*L : k*L+L] {
			s.demand[i] += float64(sign * n * u)
		}
	}
}
