package cli

import (
	"encoding/json"
	"io"
)

// schema is the version of every document.
const schema = 1

// writeJSON writes one indented document.
func writeJSON(w io.Writer, doc any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return failed(enc.Encode(doc))
}
