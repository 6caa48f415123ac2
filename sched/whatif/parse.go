package whatif

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hedgesched/hedge/sched"
)

// Parse reads one change. Its errors wrap [ErrChange] and say what was found and what was expected.
func Parse(text string) (Change, error) {
	p := parser{text: text}
	if err := p.split(); err != nil {
		return Change{}, err
	}
	c, err := p.change()
	if err != nil {
		return Change{}, err
	}
	if len(p.words) > 0 {
		return Change{}, p.wrong(p.words[0], "nothing more")
	}
	return c, nil
}

// parser holds the words that are still to be read.
type parser struct {
	text  string
	words []string
}

// wrong returns the error about a word. An empty word stands for the end of the text.
func (p *parser) wrong(found, expected string) error {
	if found == "" {
		found = "the end"
	} else {
		found = strconv.Quote(clip(found))
	}
	return fmt.Errorf("%w: %q: found %s, expected %s", ErrChange, clip(p.text), found, expected)
}

// clip shortens a user's text for an error.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// split cuts the text into words at blanks outside of quotes.
func (p *parser) split() error {
	var word strings.Builder
	for rest := p.text; rest != ""; {
		if rest[0] == '"' {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return p.wrong(rest, "a closing quote")
			}
			word.WriteString(quoted)
			rest = rest[len(quoted):]
			continue
		}
		r, size := utf8.DecodeRuneInString(rest)
		if !unicode.IsSpace(r) {
			word.WriteString(rest[:size])
		} else if word.Len() > 0 {
			p.words = append(p.words, word.String())
			word.Reset()
		}
		rest = rest[size:]
	}
	if word.Len() > 0 {
		p.words = append(p.words, word.String())
	}
	return nil
}

// next returns the next word, or "" at the end.
func (p *parser) next() string {
	if len(p.words) == 0 {
		return ""
	}
	w := p.words[0]
	p.words = p.words[1:]
	return w
}

func (p *parser) change() (c Change, err error) {
	verb := p.next()
	c.Verb = Verb(verb)
	switch c.Verb {
	case "add":
		return p.add()
	case Drain, Cordon:
		c.Name, err = p.name("a node")
	case Drop, Tasks, Priority, Require, Demand, Deadline:
		c.Name, err = p.name("a job")
	case Policy:
		c.Name, err = p.name("a policy")
	default:
		return c, p.wrong(verb, "drain, cordon, add, drop, tasks, priority, require, demand, deadline or policy")
	}
	if err != nil {
		return c, err
	}
	switch c.Verb {
	case Tasks:
		c.Count, err = p.count(1, math.MaxInt32)
	case Priority:
		c.Count, err = p.count(math.MinInt, math.MaxInt)
	case Require:
		word := p.next()
		if err = c.Set.UnmarshalText([]byte(word)); err != nil {
			return c, fmt.Errorf("%w: %q: %w", ErrChange, clip(p.text), err)
		}
	case Demand:
		c.Resources, err = p.amounts()
	case Deadline:
		word := p.next()
		if c.Span, err = time.ParseDuration(word); err != nil || c.Span < 0 {
			return c, p.wrong(word, "a time such as 90m, or 0s")
		}
	}
	return c, err
}

// add reads what follows the word add.
func (p *parser) add() (c Change, err error) {
	if c.Count, err = p.count(1, maxAdded); err != nil {
		return c, err
	}
	kind := p.next()
	switch strings.TrimSuffix(kind, "s") {
	case "node":
		c.Verb = AddNodes
	case "job":
		c.Verb = AddJobs
	default:
		return c, p.wrong(kind, "nodes or jobs")
	}
	if word := p.next(); word != "like" {
		return c, p.wrong(word, "like")
	}
	if c.Verb == AddJobs {
		c.Name, err = p.name("a job")
		return c, err
	}
	if c.Name, err = p.name("a node"); err != nil {
		return c, err
	}
	if len(p.words) > 0 && p.words[0] == "label" {
		p.next()
		if c.Labels, err = p.labels(); err != nil {
			return c, err
		}
	}
	if len(p.words) > 0 && p.words[0] == "offer" {
		p.next()
		c.Resources, err = p.amounts()
	}
	return c, err
}

// maxAdded limits the nodes or jobs that one change adds.
const maxAdded = 100_000

func (p *parser) name(of string) (string, error) {
	word := p.next()
	name, ok := plain(word)
	if !ok || name == "" {
		return "", p.wrong(word, of)
	}
	return name, nil
}

// plain returns a word without its quotes, and whether the word is a single name.
func plain(word string) (string, bool) {
	if strings.HasPrefix(word, `"`) {
		name, err := strconv.Unquote(word)
		return name, err == nil
	}
	return word, !strings.ContainsAny(word, "\"")
}

func (p *parser) count(least, most int) (int, error) {
	word := p.next()
	n, err := strconv.Atoi(word)
	if err != nil || n < least || n > most {
		return 0, p.wrong(word, fmt.Sprintf("a whole number from %d to %d", least, most))
	}
	return n, nil
}

// labels reads KEY=VALUE until the text ends or offers begin.
func (p *parser) labels() (map[string]string, error) {
	out := map[string]string{}
	for len(p.words) > 0 && p.words[0] != "offer" {
		word := p.next()
		key, value, ok := pair(word)
		if _, twice := out[key]; !ok || twice {
			return nil, p.wrong(word, "another LABEL=VALUE")
		}
		out[key] = value
	}
	if len(out) == 0 {
		return nil, p.wrong(p.next(), "LABEL=VALUE")
	}
	return out, nil
}

// amounts reads RESOURCE=AMOUNT until the text ends.
func (p *parser) amounts() (sched.Resources, error) {
	out := sched.Resources{}
	for len(p.words) > 0 {
		word := p.next()
		name, text, ok := pair(word)
		amount, err := strconv.ParseFloat(text, 64)
		if _, twice := out[name]; !ok || twice || err != nil || !(amount >= 0 && amount <= math.MaxFloat64) {
			return nil, p.wrong(word, "another RESOURCE=AMOUNT, not negative")
		}
		out[name] = amount
	}
	if len(out) == 0 {
		return nil, p.wrong("", "RESOURCE=AMOUNT")
	}
	return out, nil
}

// pair splits a word at the first = outside quotes.
func pair(word string) (key, value string, ok bool) {
	at := strings.IndexByte(word, '=')
	if strings.HasPrefix(word, `"`) {
		quoted, err := strconv.QuotedPrefix(word)
		if err != nil {
			return "", "", false
		}
		at = len(quoted)
	}
	if at < 1 || at >= len(word) || word[at] != '=' {
		return "", "", false
	}
	key, first := plain(word[:at])
	value, second := plain(word[at+1:])
	return key, value, first && second && key != ""
}
