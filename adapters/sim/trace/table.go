package trace

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maxColumns bounds a table's columns.
const maxColumns = 10_000

// table reads a CSV file whose columns are found by name in its first line.
type table struct {
	lines
	names   []string
	index   map[string]int
	twice   map[string]bool
	fields  [][]byte
	strings interner
}

// head reads the names of the columns and wants those given to be among them. Comments may stand before them.
func (t *table) head(required ...string) error {
	line, err := t.full()
	for err == nil && trim(line)[0] == '#' {
		line, err = t.full()
	}
	if err != nil {
		return err
	}
	fields, bad := split(nil, line, maxColumns)
	if bad != nil || len(fields) > maxColumns {
		return t.bad("columns", quote(line), fmt.Sprintf("at most %d names, quoted as in CSV or not at all", maxColumns))
	}
	t.strings = interner{}
	t.index = make(map[string]int, len(fields))
	t.twice = map[string]bool{}
	for i, f := range fields {
		name := string(f)
		if _, twice := t.index[name]; twice {
			t.twice[name] = true
		}
		t.index[name] = i
		t.names = append(t.names, name)
	}
	for _, name := range required {
		if _, ok := t.index[name]; !ok {
			return t.bad("columns", quote(strings.Join(t.names, ",")), "a column "+name)
		}
	}
	return nil
}

// columns finds the columns that a reader uses; at is -1 for one that is not there. One that stands
// twice is an error, unlike one that nobody uses.
func (t *table) columns(at map[string]*int) error {
	for _, name := range slices.Sorted(maps.Keys(at)) {
		i, ok := t.index[name]
		switch {
		case !ok:
			i = -1
		case t.twice[name]:
			return t.bad("columns", quote(name)+" twice", "each column once")
		}
		*at[name] = i
	}
	return nil
}

// attributeColumns finds the columns that become attributes.
func (t *table) attributeColumns(names [][2]string) ([]metaColumn, error) {
	var found []metaColumn
	for _, a := range names {
		i := -1
		if err := t.columns(map[string]*int{a[0]: &i}); err != nil {
			return nil, err
		}
		if i >= 0 {
			found = append(found, metaColumn{i, a[1]})
		}
	}
	return found, nil
}

// isHead tells that the current record is the header again, as where files were joined.
func (t *table) isHead() bool {
	for i, f := range t.fields {
		if string(f) != t.names[i] {
			return false
		}
	}
	return true
}

// record reads the next line into t.fields.
func (t *table) record() error {
	for {
		line, err := t.full()
		if err != nil {
			return err
		}
		var bad []byte
		if t.fields, bad = split(t.fields[:0], line, len(t.names)); bad != nil {
			return t.bad("line", quote(bad), "quotes closed on the same line and followed by a comma").because("wrong quotes")
		}
		n := len(t.names)
		if len(t.fields) < n {
			return t.narrow(len(t.fields), strconv.Itoa(n)+", as in the header")
		}
		if len(t.fields) > n {
			if err := t.wide(n, strconv.Itoa(n)+", as in the header"); err != nil {
				return err
			}
			t.fields = t.fields[:n]
		}
		if !t.isHead() {
			return nil
		}
	}
}

// field returns a column's value in the current record, nil when it is empty or i is -1.
func (t *table) field(i int) []byte {
	if i < 0 {
		return nil
	}
	return t.fields[i]
}

// wrong is a ParseError about column i.
func (t *table) wrong(i int, expected string) *ParseError {
	found := "nothing"
	if b := t.field(i); b != nil {
		found = quote(b)
	}
	return t.bad(t.names[i], found, expected)
}
