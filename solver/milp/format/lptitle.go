package format

import (
	"bytes"
	"strings"
)

// sectionOf is the section that begins with the lower-case word: "none" for sections that are not read, and "" if there
// is none.
func sectionOf(word string) string {
	switch word {
	case "max", "maximize", "maximise", "maximum":
		return "max"
	case "min", "minimize", "minimise", "minimum":
		return "min"
	case "subject", "such", "st", "s.t.", "st.":
		return "rows"
	case "bounds", "bound":
		return "bounds"
	case "general", "generals", "gen", "integer", "integers", "int":
		return "general"
	case "binary", "binaries", "bin":
		return "binary"
	case "end":
		return "end"
	case "semi", "semis", "sec", "sin", "sos", "sos1", "sos2", "lazy", "user", "pwlobj":
		return "none"
	}
	return ""
}

// starts is the section that begins at the current token, "" if none does. Variables and rows may have the names of
// sections. So what follows the token must be possible after a title.
func (p *lpReader) starts() string {
	if p.tok.kind != word || len(p.tok.text) > 16 || p.tok.next == ':' || isRelation(p.tok.next) {
		return ""
	}
	text := string(bytes.ToLower(p.tok.text))
	s := sectionOf(text)
	if s == "" || !p.whole(text) {
		return ""
	}
	signed := p.tok.next == '+' || p.tok.next == '-' && text != "semi"
	switch {
	case s == "end" && p.tok.next != 0:
		return ""
	case p.isKnown() && (s == "none" || signed || p.second() == "free"):
		return ""
	}
	return s
}

// whole reports whether the second word of a title follows, if the title that begins with the word has one.
func (p *lpReader) whole(text string) bool {
	switch text {
	case "subject", "such":
		second := p.second()
		return second == "to" || second == "that" || p.tok.next == 0
	case "lazy":
		return p.second() == "constraints"
	case "user":
		return p.second() == "cuts"
	}
	return true
}

// startsAmongNames is starts in a list of names. There, the name of a variable is no title, unless it begins a line
// without a blank before it, as titles do.
func (p *lpReader) startsAmongNames() string {
	if p.tok.col > 1 && p.isKnown() {
		return ""
	}
	return p.starts()
}

func isRelation(c byte) bool { return c == '<' || c == '>' || c == '=' }

// isKnown reports whether the current token is the name of a variable.
func (p *lpReader) isKnown() bool {
	_, is := p.of[string(p.tok.text)]
	return is
}

// second is the next word on the current line, in lower case.
func (p *lpReader) second() string {
	rest := bytes.TrimLeft(p.in.text[p.at:], blanks)
	return strings.ToLower(string(rest[:min(nameLength(rest), 16)]))
}

// section reads the title of a section, and returns "" if there is none.
func (p *lpReader) section() string {
	s := p.starts()
	if s == "" || s == "min" || s == "max" {
		return ""
	}
	at := p.tok
	title := quoted(p.tok.text)
	two := s == "rows" && (p.is("subject") || p.is("such"))
	more := s == "none" && (p.is("semi") && p.tok.next == '-' || p.is("lazy") || p.is("user"))
	p.advance()
	switch {
	case two && !p.is("to") && !p.is("that"):
		p.fail(`"to" or "that"`)
	case two:
		p.advance()
	case more && p.tok.kind == minus:
		p.advance()
		fallthrough
	case more:
		p.advance()
	}
	if s == "rows" && p.tok.kind == colon {
		p.advance()
	}
	if s == "none" && p.err == nil && p.starts() == "" { // HiGHS writes the titles of empty sections
		p.failAt(at, title, "a linear model without semi-continuous variables, ordered sets and lazy rows")
	}
	return s
}
