package tree

import "github.com/hedgesched/hedge/solver/internal/pack"

// pseudo are the pseudo-costs of divisions (Bénichou and others, 1971): by how much the bound has fallen, per unit
// that the program had to give way by, when a job or running job was decided one way or the other.
type pseudo struct {
	fall   [2][]float64 // of each set and side: the sum of falls per unit, relative to the set's worth
	count  [2][]float64
	sum, n [2]float64 // over all sets
}

func (p *pseudo) reset(sets int) {
	for side := range p.fall {
		p.fall[side], p.count[side] = pack.Resize(p.fall[side], sets), pack.Resize(p.count[side], sets)
		clear(p.fall[side])
		clear(p.count[side])
		p.sum[side], p.n[side] = 0, 0
	}
}

// learn notes that a set's division cost that much, relative to the set's worth, per unit.
func (p *pseudo) learn(set, side int, fall float64) {
	p.fall[side][set] += fall
	p.count[side][set]++
	p.sum[side] += fall
	p.n[side]++
}

// expect is what deciding the set that way is expected to cost per unit, relative to its worth: the mean of what is
// known of it and, as much as one observation, of all sets.
func (p *pseudo) expect(set, side int) float64 {
	all := (p.sum[side] + 0.1) / (p.n[side] + 1)
	return (p.fall[side][set] + all) / (p.count[side][set] + 1)
}

// score is how good a division is that moves the set by up on the one side and down on the other: of the product,
// that both sides' bounds fall counts most.
func (p *pseudo) score(set int, worth, up, down float64) float64 {
	a := max(p.expect(set, 1)*up, 1e-6)
	b := max(p.expect(set, 0)*down, 1e-6)
	return worth * worth * a * b
}
