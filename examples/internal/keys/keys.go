// Package keys compares the configuration of an example with the page that documents it, so that no key is missing, has
// another name or another default there. It is for the examples' tests; nothing that runs needs it.
package keys

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// row is of a table of keys: | `key` | default | what |.
var row = regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\| ([^|]*) \\| [^|]+ \\|$")

// Table are the rows of a page, the default of each key. Defaults that are values stand in backticks; others are words
// and say what comes of the zero value.
func Table(page string) map[string]string {
	table := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(page, -1) {
		table[m[1]] = m[2]
	}
	return table
}

// Check compares a page's table with a configuration that is all defaults: a struct with tags as `yaml:"key"`, structs
// in it with keys as key.inner, or as their own if the tag is ",inline". The error names the first key in which they
// differ.
func Check(page string, config any) error {
	table := Table(page)
	if err := compare(table, "", reflect.Indirect(reflect.ValueOf(config))); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		return fmt.Errorf("keys: the page has %s, which the configuration has not", key)
	}
	return nil
}

// compare takes the keys of a struct out of the table.
func compare(table map[string]string, prefix string, config reflect.Value) error {
	for i := range config.NumField() {
		name := config.Type().Field(i)
		if name.Tag.Get("yaml") == ",inline" {
			if err := compare(table, prefix, config.Field(i)); err != nil {
				return err
			}
			continue
		}
		key := prefix + name.Tag.Get("yaml")
		if key == prefix {
			key = prefix + strings.ToLower(name.Name) // as the reader of the file has it
		}
		value := config.Field(i)
		if value.Kind() == reflect.Struct {
			if err := compare(table, key+".", value); err != nil {
				return err
			}
			continue
		}
		cell, ok := table[key]
		if !ok {
			return fmt.Errorf("keys: the page does not have %s", key)
		}
		if delete(table, key); !means(cell, value) {
			return fmt.Errorf("keys: the page has %s for %s, which is %v", cell, key, value)
		}
	}
	return nil
}

// means tells whether a default is written so.
func means(cell string, value reflect.Value) bool {
	text := strings.Trim(cell, "`")
	if text == cell {
		return cell != "" && (value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0)
	}
	if d, ok := value.Interface().(time.Duration); ok {
		written, err := time.ParseDuration(text)
		return err == nil && written == d
	}
	return text == fmt.Sprint(value.Interface())
}
