package sched

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/hedgesched/hedge/internal/form"
)

// Speed is how fast a job runs on the nodes of a set.
type Speed struct {
	// On is the set; the zero value is every node.
	On EquivalenceSet `json:"on"`
	// Factor is above 0 and at most 1. The job takes there its runtime at full speed, divided by Factor.
	Factor float64 `json:"speed"`
}

// Speeds are how fast a job runs on which nodes. A node that is in several of the sets has the highest of their speeds;
// one that is in none has the lowest of all. A gang has the speed of its slowest node.
//
// The zero value is full speed on every node. Speeds are immutable and safe for concurrent use.
type Speeds struct {
	rated *rated // nil for the zero value, which most jobs have
}

// rated are speeds as they were given, and what follows from them.
type rated struct {
	of     []Speed // as given
	levels []Speed // by falling speed; each set holds those before, as far as one set can say so, the last is every node
}

func (s Speeds) levels() []Speed {
	if s.rated == nil {
		return nil
	}
	return s.rated.levels
}

// MaxSpeeds is how many sets the Speeds of a job may have.
const MaxSpeeds = 16

// leastSpeed bounds the factors.
const leastSpeed = 1e-6

// SpeedsOf collects speeds. [Job.Validate] refuses factors outside 1e-6 to 1, and more than 16 sets.
func SpeedsOf(of ...Speed) Speeds {
	if len(of) == 0 {
		return Speeds{}
	}
	s := &rated{of: slices.Clone(of)}
	sorted := slices.Clone(of[:min(len(of), MaxSpeeds)])
	slices.SortStableFunc(sorted, func(a, b Speed) int { return cmp.Compare(b.Factor, a.Factor) })
	for _, next := range sorted {
		last := len(s.levels) - 1
		if last < 0 {
			s.levels = append(s.levels, next)
			continue
		}
		both, ok := s.levels[last].On.or(next.On)
		if ok {
			next.On = both
		}
		if ok && next.Factor == s.levels[last].Factor {
			s.levels[last] = next
		} else {
			s.levels = append(s.levels, next)
		}
	}
	s.levels[len(s.levels)-1].On = AnyNode()
	return Speeds{s}
}

// Even tells whether the job runs at full speed everywhere.
func (s Speeds) Even() bool {
	return len(s.levels()) == 0 || len(s.levels()) == 1 && s.levels()[0].Factor == 1
}

// Uneven tells whether the job runs faster on some nodes than on others.
func (s Speeds) Uneven() bool { return len(s.levels()) > 1 }

// On is the speed on a node with these labels.
func (s Speeds) On(labels map[string]string) float64 {
	for i := range s.levels() {
		if s.levels()[i].On.Matches(labels) {
			return s.levels()[i].Factor
		}
	}
	return 1
}

// Least is the lowest speed that the job may have.
func (s Speeds) Least() float64 {
	if len(s.levels()) == 0 {
		return 1
	}
	return s.levels()[len(s.levels())-1].Factor
}

// Of are the speeds as they were given. They must not be changed.
func (s Speeds) Of() []Speed {
	if s.rated == nil {
		return nil
	}
	return s.rated.of
}

// String is the text of the speeds, like "gpu=a100 1; gpu=v100 0.66; other 0.39". That of the zero value is empty.
func (s Speeds) String() string {
	var b strings.Builder
	for i, o := range s.Of() {
		if i > 0 {
			b.WriteString("; ")
		}
		if o.On.IsAny() {
			b.WriteString("other")
		} else {
			b.WriteString(o.On.String())
		}
		b.WriteByte(' ')
		b.WriteString(strconv.FormatFloat(o.Factor, 'g', -1, 64))
	}
	return b.String()
}

// MarshalJSON writes a list of {"on": set, "speed": factor}.
func (s Speeds) MarshalJSON() ([]byte, error) {
	if s.rated == nil {
		return []byte("[]"), nil
	}
	return json.Marshal(s.Of())
}

// UnmarshalJSON reads what MarshalJSON writes. It refuses unknown members, and leaves ranges to [Job.Validate].
func (s *Speeds) UnmarshalJSON(data []byte) error {
	var of []Speed
	if err := jsonv2.Unmarshal(data, &of, jsonv2.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("speeds: %w", form.Explain(data, err))
	}
	*s = SpeedsOf(of...)
	return nil
}

// wrong returns what [Job.Validate] refuses, or nil.
func (s Speeds) wrong() any {
	if len(s.Of()) > MaxSpeeds {
		return fmt.Sprintf("%d sets, at most %d", len(s.Of()), MaxSpeeds)
	}
	for _, o := range s.Of() {
		if !(o.Factor >= leastSpeed && o.Factor <= 1) {
			return o.Factor
		}
	}
	return nil
}

// Levels are the sets of nodes on which the job may run at different speeds, the fastest first. On the nodes of a set
// it has at least that speed. The last set is every node that the job may use. A set holds those before it where one
// set of labels can say so. They must not be changed.
func (j *Job) Levels() []Speed {
	if len(j.Speeds.levels()) == 0 {
		return []Speed{{On: j.Required, Factor: 1}}
	}
	if j.Required.IsAny() {
		return j.Speeds.levels()
	}
	out := slices.Clone(j.Speeds.levels())
	for i := range out {
		out[i].On = j.Required.And(out[i].On)
	}
	return out
}

// Stretch is how many times longer a job runs at a speed than at full speed: 1 / speed, and 1 if the speed is 0, which
// stands for full speed.
func Stretch(speed float64) float64 {
	if speed > 0 && speed < 1 {
		return 1 / speed
	}
	return 1
}

// or is the union of both sets, if one set can say it: if they differ in the values of one label alone.
func (s EquivalenceSet) or(o EquivalenceSet) (EquivalenceSet, bool) {
	switch {
	case s.IsAny() || o.IsAny():
		return AnyNode(), true
	case s.text() == o.text():
		return s, true
	case len(s.terms()) != len(o.terms()):
		return EquivalenceSet{}, false
	}
	terms, differ := slices.Clone(s.terms()), 0
	for i := range terms {
		a, b := s.terms()[i], o.terms()[i]
		if a.key != b.key {
			return EquivalenceSet{}, false
		}
		if a.has == b.has && slices.Equal(a.values, b.values) {
			continue
		}
		differ++
		terms[i] = a.or(b)
	}
	return newSet(terms), differ == 1
}

func (t term) or(o term) term {
	if t.has || o.has {
		return term{key: t.key, has: true}
	}
	out := term{key: t.key, values: slices.Concat(t.values, o.values)}
	slices.Sort(out.values)
	out.values = slices.Compact(out.values)
	return out
}
