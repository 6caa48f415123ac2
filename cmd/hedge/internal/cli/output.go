package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"
)

// schema is the version of every document.
const schema = 1

// outputs are the flags that say where a command's findings go.
type outputs struct {
	json   bool
	report string
}

func (o *outputs) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.json, "json", false, "print one JSON document")
	cmd.Flags().StringVar(&o.report, "report", "", "directory for a self-contained HTML page with charts")
}

// check refuses a report that could not be written.
func (o *outputs) check() error { return outputDirectory("--report", o.report) }

// emit writes the report, if there is to be one, and then the document or the tables.
func (o *outputs) emit(s *Host, doc any, report func(path string) error, tables func(io.Writer) error) error {
	if o.report != "" {
		path := filepath.Join(o.report, "index.html")
		if err := report(path); err != nil {
			return failed(err)
		}
		note(s, "report: %s", path)
	}
	if o.json {
		return writeJSON(s.Out, doc)
	}
	return failed(tables(s.Out))
}

// writeJSON writes one indented document.
func writeJSON(w io.Writer, doc any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return failed(enc.Encode(doc))
}

// note writes one line of information to stderr.
func note(s *Host, format string, args ...any) {
	fmt.Fprintf(s.Err, "hedge: "+format+"\n", args...)
}
