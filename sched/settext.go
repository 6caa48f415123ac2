package sched

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// errSetText begins the errors about texts that are no [EquivalenceSet].
var errSetText = errors.New("no set of nodes")

// MarshalText writes the set as [EquivalenceSet.String] does.
func (s EquivalenceSet) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a set as [EquivalenceSet.String] writes it, such as "rack=r1|r2&gpu=*". The order of labels and
// values does not matter. Errors name the part that is wrong; the set is then as it was.
func (s *EquivalenceSet) UnmarshalText(text []byte) error {
	set, err := parseSet(string(text))
	if err == nil {
		*s = set
	}
	return err
}

func parseSet(text string) (EquivalenceSet, error) {
	var set EquivalenceSet
	if text == anyText {
		return set, nil
	}
	rest := text
	for {
		key, after, err := setWord(rest)
		if err != nil {
			return set, err
		}
		after, found := strings.CutPrefix(after, "=")
		if !found {
			return set, fmt.Errorf("%w: found %q, expected LABEL=VALUE", errSetText, short(rest))
		}
		one := term{key: key}
		if rest, err = one.read(after); err != nil {
			return set, err
		}
		set = set.And(newSet([]term{one}))
		if rest == "" {
			return set, nil
		}
		if rest, found = strings.CutPrefix(rest, "&"); !found {
			return set, fmt.Errorf("%w: found %q, expected & or | before it", errSetText, short(rest))
		}
	}
}

// read takes the term's values off the front of a text.
func (t *term) read(text string) (rest string, err error) {
	if rest, t.has = strings.CutPrefix(text, "*"); t.has {
		return rest, nil
	}
	if rest, none := strings.CutPrefix(text, "!"); none {
		return rest, nil
	}
	for more := true; more; {
		var value string
		if value, text, err = setWord(text); err != nil {
			return "", err
		}
		t.values = append(t.values, value)
		text, more = strings.CutPrefix(text, "|")
	}
	slices.Sort(t.values)
	t.values = slices.Compact(t.values)
	return text, nil
}

// setWord takes a label or a value, quoted where it has special characters, off the front of a text.
func setWord(text string) (word, rest string, err error) {
	if strings.HasPrefix(text, `"`) {
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return "", "", fmt.Errorf("%w: found %q, which has no closing quote", errSetText, short(text))
		}
		word, err = strconv.Unquote(quoted)
		return word, text[len(quoted):], err
	}
	end := strings.IndexAny(text, setSpecial)
	if end < 0 {
		end = len(text)
	}
	if end == 0 {
		return "", "", fmt.Errorf("%w: found %q, expected a label or a value", errSetText, short(text))
	}
	return text[:end], text[end:], nil
}

// Without is the set that no longer looks at a label.
func (s EquivalenceSet) Without(key string) EquivalenceSet {
	i := slices.IndexFunc(s.terms(), func(t term) bool { return t.key == key })
	if i < 0 {
		return s
	}
	return newSet(slices.Delete(slices.Clone(s.terms()), i, i+1))
}

// Values are the values that a label may have in the set, sorted. There are none if the set does not look at the
// label, if any value does, or if no value is left.
func (s EquivalenceSet) Values(key string) []string {
	for i := range s.terms() {
		if s.terms()[i].key == key {
			return slices.Clone(s.terms()[i].values)
		}
	}
	return nil
}
