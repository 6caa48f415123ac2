package live

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/hedgesched/hedge/sched/agent"
)

// Place is the address of a dispatch, and the parts that it runs: First up to but not including End.
type Place struct {
	Address    string // HOST:PORT
	First, End agent.Addr
}

// Fleet lists the dispatches of a system. The list is the same in every process. The first is the registrar.
type Fleet []Place

// Divide divides the parts that are not workers among dispatches at these addresses, HOST:PORT, in order. If they do
// not divide evenly, the first dispatches have one part more. Errors wrap [ErrConfig].
func Divide(s *System, addresses ...string) (Fleet, error) {
	var f Fleet
	n, first := s.Parts()-s.Workers(), agent.Addr(s.Workers())
	for i, a := range addresses {
		share := n / len(addresses)
		if i < n%len(addresses) {
			share++
		}
		f = append(f, Place{a, first, first + agent.Addr(share)})
		first += agent.Addr(share)
	}
	return f, f.check(s)
}

func (f Fleet) check(s *System) error {
	next := agent.Addr(s.Workers())
	for i, p := range f {
		if _, _, err := net.SplitHostPort(p.Address); err != nil {
			return fmt.Errorf("%w: dispatch %d is at %q, expected HOST:PORT", ErrConfig, i, p.Address)
		}
		if p.First != next || p.End < p.First {
			return fmt.Errorf("%w: dispatch %d has parts %d to %d, expected %d and on", ErrConfig, i, p.First, p.End-1, next)
		}
		next = p.End
	}
	if int(next) != s.Parts() || len(f) == 0 {
		return fmt.Errorf("%w: %d dispatches have parts to %d, expected to %d", ErrConfig, len(f), next-1, s.Parts()-1)
	}
	return nil
}

// of is the index of the dispatch that runs a part which is not a worker.
func (f Fleet) of(at agent.Addr) int {
	return max(0, slices.IndexFunc(f, func(p Place) bool { return at >= p.First && at < p.End }))
}

// title is what the processes of a fleet must agree on.
func (f Fleet) title(s *System) string {
	var b strings.Builder
	b.WriteString(s.name)
	for _, p := range f {
		fmt.Fprintf(&b, ", %d-%d", p.First, p.End-1)
	}
	return b.String()
}
