package sched

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/hedgesched/hedge/internal/form"
)

// EquivalenceSet is a label predicate over nodes: the nodes that are the same
// to a job (systems: TetriSched, 3Sigma section 4.3.3). It is immutable and safe
// for concurrent use; the zero value is every node.
type EquivalenceSet struct {
	of *conditions // nil for every node: few jobs ask for less, and every job has a set
}

// conditions are what the labels of a set's nodes are.
type conditions struct {
	terms []term // sorted by key, one term a key; at least one
	text  string // canonical form
}

func (s EquivalenceSet) terms() []term {
	if s.of == nil {
		return nil
	}
	return s.of.terms
}

// text is the canonical form, "" for every node.
func (s EquivalenceSet) text() string {
	if s.of == nil {
		return ""
	}
	return s.of.text
}

// term asks for one of the values of a label; with has set, any value does.
type term struct {
	key    string
	values []string // sorted, without duplicates
	has    bool
}

// noValue ends the text of a term that leaves a label no value, and so no node. A value that ends so is quoted.
const noValue = "=!"

// anyText is the canonical text of the set of every node.
const anyText = "any"

// AnyNode is the set of every node, the zero EquivalenceSet.
func AnyNode() EquivalenceSet { return EquivalenceSet{} }

// NodesWith is the set of the nodes whose label key has one of the values.
// Without values it is the set of the nodes that have the label at all.
func NodesWith(key string, values ...string) EquivalenceSet {
	t := term{key: key, has: len(values) == 0}
	if !t.has {
		t.values = slices.Clone(values)
		slices.Sort(t.values)
		t.values = slices.Compact(t.values)
	}
	return newSet([]term{t})
}

// And is the intersection of both sets. It may hold no node; it is then still
// a valid set, and a job that requires it is never placed.
func (s EquivalenceSet) And(o EquivalenceSet) EquivalenceSet {
	if s.IsAny() {
		return o
	}
	if o.IsAny() {
		return s
	}
	terms := make([]term, 0, len(s.terms())+len(o.terms()))
	i, j := 0, 0
	for i < len(s.terms()) && j < len(o.terms()) {
		switch c := strings.Compare(s.terms()[i].key, o.terms()[j].key); {
		case c < 0:
			terms = append(terms, s.terms()[i])
			i++
		case c > 0:
			terms = append(terms, o.terms()[j])
			j++
		default:
			terms = append(terms, s.terms()[i].and(o.terms()[j]))
			i, j = i+1, j+1
		}
	}
	terms = append(terms, s.terms()[i:]...)
	terms = append(terms, o.terms()[j:]...)
	return newSet(terms)
}

// IsAny tells whether the set is every node whatever its labels.
func (s EquivalenceSet) IsAny() bool { return s.of == nil }

// Matches tells whether a node with these labels is in the set.
func (s EquivalenceSet) Matches(labels map[string]string) bool {
	for i := range s.terms() {
		v, ok := labels[s.terms()[i].key]
		if !ok || !s.terms()[i].allows(v) {
			return false
		}
	}
	return true
}

// String is the set's canonical text, as "rack=r1|r2&gpu=*": equal for sets
// that were built of the same labels and values in any order, and so usable
// as a map key. Texts with special characters are quoted.
func (s EquivalenceSet) String() string {
	if s.of == nil {
		return anyText
	}
	return s.of.text
}

// Keys are the labels the set looks at, sorted.
func (s EquivalenceSet) Keys() []string {
	keys := make([]string, len(s.terms()))
	for i := range s.terms() {
		keys[i] = s.terms()[i].key
	}
	return keys
}

func newSet(terms []term) EquivalenceSet {
	if len(terms) == 0 {
		return EquivalenceSet{}
	}
	var b strings.Builder
	for i := range terms {
		if i > 0 {
			b.WriteByte('&')
		}
		terms[i].write(&b)
	}
	return EquivalenceSet{&conditions{terms: terms, text: b.String()}}
}

func (t *term) allows(value string) bool {
	if t.has {
		return true
	}
	_, ok := slices.BinarySearch(t.values, value)
	return ok
}

func (t term) and(o term) term {
	if t.has {
		return o
	}
	if o.has {
		return t
	}
	out := term{key: t.key}
	for _, v := range t.values {
		if o.allows(v) {
			out.values = append(out.values, v)
		}
	}
	return out
}

func (t *term) write(b *strings.Builder) {
	b.WriteString(quoteSpecial(t.key))
	if !t.has && len(t.values) == 0 {
		b.WriteString(noValue)
		return
	}
	b.WriteByte('=')
	if t.has {
		b.WriteByte('*')
	}
	for i, v := range t.values {
		if i > 0 {
			b.WriteByte('|')
		}
		b.WriteString(quoteSpecial(v))
	}
}

// setSpecial are the characters that a label or a value has only in quotes.
const setSpecial = "=&|*!\"\\ \t\r\n"

// quoteSpecial quotes text that could be mistaken for the syntax around it.
func quoteSpecial(s string) string {
	if s == "" || s == anyText || strings.ContainsAny(s, setSpecial) || !strconv.CanBackquote(s) {
		return strconv.Quote(s)
	}
	return s
}

// jsonTerm is the form of one label's condition in JSON.
type jsonTerm struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
	Has    bool     `json:"has,omitempty"`
}

// MarshalJSON writes the set as a list of {"key": k, "values": [v, ...]}, all
// of which a node must meet; {"key": k, "has": true} asks for any value.
func (s EquivalenceSet) MarshalJSON() ([]byte, error) {
	out := make([]jsonTerm, len(s.terms()))
	for i, t := range s.terms() {
		out[i] = jsonTerm{Key: t.key, Values: t.values, Has: t.has}
		if out[i].Values == nil {
			out[i].Values = []string{}
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *EquivalenceSet) UnmarshalJSON(data []byte) error {
	var in []jsonTerm
	if err := jsonv2.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("equivalence set: %w", form.Explain(data, err))
	}
	var out EquivalenceSet
	for _, t := range in {
		next := NodesWith(t.Key, t.Values...)
		if len(t.Values) == 0 && !t.Has {
			next = newSet([]term{{key: t.Key}})
		} else if t.Has && len(t.Values) > 0 {
			return fmt.Errorf("equivalence set: label %q has both values and has", t.Key)
		}
		out = out.And(next)
	}
	*s = out
	return nil
}
