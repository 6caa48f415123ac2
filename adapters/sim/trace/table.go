package trace

import (
	"bytes"
	"fmt"
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
	fields  [][]byte
	strings interner
}

// head reads the names of the columns and wants those given to be among them.
func (t *table) head(required ...string) error {
	line, err := t.full()
	if err != nil {
		return err
	}
	line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	fields, bad := split(nil, line, maxColumns)
	if bad != nil || len(fields) > maxColumns {
		return t.bad("columns", quote(line), fmt.Sprintf("at most %d names, quoted as in CSV or not at all", maxColumns))
	}
	t.strings = interner{}
	t.index = make(map[string]int, len(fields))
	for i, f := range fields {
		name := string(f)
		if _, twice := t.index[name]; twice {
			return t.bad("columns", quote(name)+" twice", "each column once")
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

// column returns where a column stands, or -1.
func (t *table) column(name string) int {
	if i, ok := t.index[name]; ok {
		return i
	}
	return -1
}

// record reads the next line into t.fields.
func (t *table) record() error {
	line, err := t.full()
	if err != nil {
		return err
	}
	var bad []byte
	if t.fields, bad = split(t.fields[:0], line, len(t.names)); bad != nil {
		return t.bad("line", quote(bad), "quotes closed on the same line and followed by a comma")
	}
	if n := len(t.fields); n != len(t.names) {
		found := strconv.Itoa(n)
		if n > len(t.names) {
			found = "more"
		}
		return t.bad("columns", found, fmt.Sprintf("%d, as in the header", len(t.names)))
	}
	return nil
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
	return t.bad(t.names[i], quote(t.fields[i]), expected)
}
