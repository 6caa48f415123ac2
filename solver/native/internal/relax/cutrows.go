package relax

import "github.com/hedgesched/hedge/solver/internal/pack"

// Cuts are inequalities that every plan of whole tasks keeps and the linear relaxation does not,
//
//	Σ_entries coef·tasks there + Σ_running coef·preempted ≤ rhs,
//
// an entry being an option's place in in.Part. They are mixed-integer rounding cuts (Nemhauser and Wolsey, 1990;
// Marchand and Wolsey, 2001) of capacity in a slot, in one partition or several; package cuts finds them. Each is a
// row of the program with a price, which makes tasks dearer at its entries: pricing stays as it was.
type Cuts struct {
	RHS []float64
	// Entries Off[c]:Off[c+1] of At and Coef are cut c's: At is an index into in.Part, or len(in.Part)+k for
	// running job k.
	Off  []int32
	At   []int32
	Coef []float64
	// The same by place: head[place] is the first of its entries, next the one after it; of is whose they are.
	head, next []int32
	of         []int32
	// extra is what the cuts' prices add to a task's cost at each place.
	extra []float64
}

// MaxCuts bounds the rows that cuts add to the program.
const MaxCuts = 300

// Reset drops all cuts.
func (k *Cuts) Reset() {
	k.RHS, k.At, k.Coef, k.of, k.next = k.RHS[:0], k.At[:0], k.Coef[:0], k.of[:0], k.next[:0]
	k.Off = append(k.Off[:0], 0)
	k.head = k.head[:0]
}

// Add appends the cut whose coefficients are given by place.
func (k *Cuts) Add(places []int32, dense []float64, rhs float64) {
	for len(k.head) < len(dense) {
		k.head = append(k.head, -1)
	}
	for _, p := range places {
		if v := dense[p]; v != 0 {
			k.next = append(k.next, k.head[p])
			k.head[p] = int32(len(k.At))
			k.At, k.Coef, k.of = append(k.At, p), append(k.Coef, v), append(k.of, int32(len(k.RHS)))
		}
	}
	k.Off = append(k.Off, int32(len(k.At)))
	k.RHS = append(k.RHS, rhs)
}

// Keep drops the cuts that are not listed.
func (k *Cuts) Keep(list []bool) {
	n, e := 0, int32(0)
	for i := range k.head {
		k.head[i] = -1
	}
	for c, keep := range list {
		if !keep {
			continue
		}
		lo, hi := k.Off[c], k.Off[c+1]
		for i := lo; i < hi; i++ {
			p := k.At[i]
			k.At[e], k.Coef[e], k.of[e], k.next[e] = p, k.Coef[i], int32(n), k.head[p]
			k.head[p] = e
			e++
		}
		k.RHS[n] = k.RHS[c]
		n++
		k.Off[n] = e
	}
	k.RHS, k.Off = k.RHS[:n], k.Off[:n+1]
	k.At, k.Coef, k.of, k.next = k.At[:e], k.Coef[:e], k.of[:e], k.next[:e]
}

// spread computes extra from the cuts' prices.
func (k *Cuts) spread(lam []float64, places int) {
	k.extra = pack.Resize(k.extra, places)
	clear(k.extra)
	for c, l := range lam {
		if l == 0 {
			continue
		}
		for i := k.Off[c]; i < k.Off[c+1]; i++ {
			k.extra[k.At[i]] += float64(l * k.Coef[i])
		}
	}
}
