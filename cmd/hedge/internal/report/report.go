// Package report writes the pages of --report: one self-contained HTML file each, with inline
// SVG, no scripts and nothing fetched, for light and dark and for wide and narrow screens.
package report

import (
	"bytes"
	_ "embed"
	"html/template"
	"os"
	"path/filepath"

	"github.com/hedgesched/hedge/cmd/hedge/internal/describe"
	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/cmd/hedge/internal/profile"
)

//go:embed page.html
var pageHTML string

// page is what the template shows.
type page struct {
	Title, Lead string
	Tiles       []tile
	Facts       []string
	Sections    []section
}

// tile is a number that the page begins with.
type tile struct {
	Value, Text string
	Color       int
}

// section is a heading, a remark, a legend, a chart, a table and notes on it; each but the heading may be missing.
type section struct {
	Title, Text string
	Legend      []legend
	// Plan adds the legend of space-time plans, Full gives the section the page's whole width.
	Plan, Full bool
	Chart      template.HTML
	Table      *grid
	Notes      [][2]string
}

// legend is the name of a line's colour and pattern.
type legend struct {
	Name        string
	Color, Dash int
}

// grid is a table; the first column is text.
type grid struct {
	Head []string
	Rows [][]string
}

// write renders p to path, making its directory.
func write(path string, p *page) error {
	t, err := template.New("page").Parse(pageHTML)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// WriteCompare writes the page of hedge compare and hedge simulate.
func WriteCompare(path string, d *experiment.Document) error {
	p, err := comparePage(d)
	if err != nil {
		return err
	}
	return write(path, p)
}

// WriteShared writes the page of hedge compare --workload shared.
func WriteShared(path string, d *experiment.SharedDocument) error {
	p, err := sharedPage(d)
	if err != nil {
		return err
	}
	return write(path, p)
}

// WritePredict writes the page of hedge predict.
func WritePredict(path string, d *profile.Document) error {
	p, err := predictPage(d)
	if err != nil {
		return err
	}
	return write(path, p)
}

// WriteTrace writes the page of hedge trace.
func WriteTrace(path string, d *describe.Document) error {
	p, err := tracePage(d)
	if err != nil {
		return err
	}
	return write(path, p)
}

// logName is what a title calls a log.
func logName(name string) string {
	if name == experiment.SampleName {
		return "the " + name
	}
	return filepath.Base(name)
}
