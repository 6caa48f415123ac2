package engines

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/hedgesched/hedge/solver/milp"
)

// Spec is what one engine's part of a string says: NAME[:VARIANT][://ADDRESS][?KEY=VALUE&...].
type Spec struct {
	// Text is the whole of it.
	Text string
	// Name is the engine's name in lower case, with the variant if it has one: "milp+process:cbc".
	Name string
	// Address follows "://".
	Address string
	// Options follow "?", by their names in lower case, each with one value. The set itself knows share (of a
	// ladder's time). A value may be a file's name and is as it was written; see [Spec.Word].
	Options url.Values
}

// ErrSpec is a string that does not say what engine is meant, or an option that the engine does not have.
var ErrSpec = errors.New("engines: bad engine string")

// Word is the value of an option that is one of a few words, in lower case; empty if it is not given.
func (s Spec) Word(option string) string { return strings.ToLower(s.Options.Get(option)) }

// Parse takes one engine's string apart. The case of names does not matter, of engines or of options.
func Parse(text string) (Spec, error) {
	s := Spec{Text: text, Name: text}
	if head, query, ok := strings.Cut(text, "?"); ok {
		values, err := url.ParseQuery(query)
		if err != nil {
			return s, fmt.Errorf("%w %q: %w", ErrSpec, text, err)
		}
		s.Name, s.Options = head, url.Values{}
		for _, key := range sorted(values) {
			name := strings.ToLower(key)
			s.Options[name] = append(s.Options[name], values[key]...)
		}
		for _, key := range sorted(s.Options) {
			if n := len(s.Options[key]); n > 1 {
				return s, fmt.Errorf("%w %q: option %s: found %d values, expected one", ErrSpec, text, key, n)
			}
		}
	}
	s.Name, s.Address, _ = strings.Cut(s.Name, "://")
	s.Name = strings.ToLower(s.Name)
	return s, nil
}

// Only says whether s has no options but those listed, and no address unless the list has "://".
func (s Spec) Only(options ...string) error {
	if s.Address != "" && !slices.Contains(options, "://") {
		return fmt.Errorf("%w %q: found the address %q, expected none", ErrSpec, s.Text, s.Address)
	}
	for _, key := range sorted(s.Options) {
		if key != "share" && !slices.Contains(options, key) {
			known := slices.DeleteFunc(slices.Clone(options), func(o string) bool { return o == "://" })
			return fmt.Errorf("%w %q: found the option %s, expected %s", ErrSpec, s.Text, key,
				strings.Join(append(known, "share"), ", "))
		}
	}
	return nil
}

// share is the part of a ladder's time that s asks for, 1 if it does not say.
func (s Spec) share() (float64, error) {
	text := s.Options.Get("share")
	if text == "" {
		return 1, nil
	}
	share, err := strconv.ParseFloat(text, 64)
	if err != nil || !(share > 0 && share <= 1) {
		return 0, fmt.Errorf("%w %q: share: found %q, expected a number above 0 and up to 1", ErrSpec, s.Text, text)
	}
	return share, nil
}

// relaxations are the values of the two options that name a milp.Relax.
var relaxations = map[string]map[string]milp.Relax{
	"relax":  {"": milp.RelaxNone, "none": milp.RelaxNone, "later": milp.RelaxLater, "all": milp.RelaxAll},
	"splits": {"": milp.RelaxNone, "integer": milp.RelaxNone, "now": milp.RelaxLater, "continuous": milp.RelaxAll},
}

// relax is which splits the model need not keep whole.
func (s Spec) relax() (milp.Relax, error) {
	option, expected := "relax", "none, later or all"
	if s.Options.Has("splits") {
		option, expected = "splits", "integer, now or continuous"
		if s.Options.Has("relax") {
			return 0, fmt.Errorf("%w %q: found relax and splits, which are the same: expected one of them", ErrSpec, s.Text)
		}
	}
	relax, ok := relaxations[option][s.Word(option)]
	if !ok {
		return 0, fmt.Errorf("%w %q: %s: found %q, expected %s", ErrSpec, s.Text, option, s.Options.Get(option), expected)
	}
	return relax, nil
}

func sorted(values url.Values) []string {
	keys := make([]string, 0, len(values))
	for key := range values {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
