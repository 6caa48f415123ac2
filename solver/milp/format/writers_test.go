package format_test

import (
	"compress/gzip"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/format"
	"github.com/hedgesched/hedge/solver/milp/milptest/reference"
)

// writer is how a solver's executable writes a model that it has read.
type writer struct {
	name      string
	kinds     []string                          // of files
	args      func(from, to string) []string    // it writes to, or to.gz
	adds      bool                              // a right-hand side of the objective is added to it
	lacks     func(model odd, kind string) bool // what it does not write as it has read it
	minimises map[string]bool                   // the kinds in which it negates an objective that is to be maximised
}

func writers() []writer {
	return []writer{
		{name: "cbc", kinds: []string{"mps"}, minimises: map[string]bool{"mps": true}, args: func(from, to string) []string {
			return []string{from, "-presolve", "off", "-preprocess", "off", "-export", to, "-quit"}
		}},
		// Its MPS files do not say that they maximise.
		{name: "glpsol", kinds: []string{"lp", "mps", "fixed.mps"}, adds: true, lacks: func(model odd, kind string) bool {
			return model.lp != "" && kind != "lp"
		},
			args: func(from, to string) []string {
				in, out := "--freemps", "--wfreemps"
				if filepath.Ext(from) == ".lp" {
					in = "--lp"
				}
				switch {
				case filepath.Ext(to) == ".lp":
					out = "--wlp"
				case strings.HasSuffix(to, "fixed.mps"):
					out = "--wmps"
				}
				return []string{in, from, out, to, "--check"}
			}},
		{name: "highs", kinds: []string{"lp", "mps"}, args: func(from, to string) []string {
			return []string{from, "--write_model_file", to}
		}},
		{name: "scip", kinds: []string{"lp", "mps"}, args: func(from, to string) []string {
			return []string{"-c", "read " + from, "-c", "write problem " + to, "-c", "quit"}
		}},
		{name: "lp_solve", kinds: []string{"mps", "fixed.mps"}, adds: true, minimises: map[string]bool{"fixed.mps": true},
			args: func(from, to string) []string {
				flag := "-wfmps"
				if strings.HasSuffix(to, "fixed.mps") {
					flag = "-wmps"
				}
				return []string{"-fmps", from, flag, to, "-S3"}
			}},
	}
}

// TestWhatSolversWriteIsRead has each solver read the odd models, solve them, and write them again, and reads what it
// has written to the same optimum.
func TestWhatSolversWriteIsRead(t *testing.T) {
	for _, w := range writers() {
		t.Run(w.name, func(t *testing.T) {
			path := find(t, w.name)
			for _, model := range oddModels() {
				t.Run(model.name, func(t *testing.T) {
					dir := t.TempDir()
					from := source(t, dir, model, w)
					require.InDelta(t, model.want, own(t, path, w.name, from), 1e-6*math.Max(1, math.Abs(model.want)), "%s says",
						w.name)
					for _, kind := range w.kinds {
						if w.lacks != nil && w.lacks(model, kind) {
							continue
						}
						to := filepath.Join(dir, "written."+kind)
						cmd := exec.Command(path, w.args(from, to)...)
						cmd.Dir = dir
						said, err := cmd.CombinedOutput()
						text := written(t, to)
						require.NotEmpty(t, text, "%v: %s", err, said)
						want := model.want
						if w.minimises[kind] && model.lp != "" {
							want = -want
						}
						require.InDelta(t, want, optimum(t, kind, text), 1e-6*math.Max(1, math.Abs(want)), "%s", text)
					}
				})
			}
		})
	}
}

// source is a file that the solver reads as it is meant.
func source(t *testing.T, dir string, model odd, w writer) string {
	t.Helper()
	name, text := "source.mps", "NAME odd FREE\n"+model.mps+"ENDATA\n"
	constant := "-7.25"
	if w.adds {
		constant = "7.25"
	}
	text = strings.ReplaceAll(text, "CONSTANT", constant)
	if model.lp != "" && (w.name == "cbc" || w.name == "glpsol") {
		name, text = "source.lp", model.lp
	}
	file := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// own is the optimum that the solver itself tells of a file.
func own(t *testing.T, path, name, file string) float64 {
	t.Helper()
	for _, r := range readers {
		if r.name != name {
			continue
		}
		cmd := exec.Command(path, r.args(file, filepath.Ext(file) == ".lp")...)
		cmd.Dir = filepath.Dir(file)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		if more, err := os.ReadFile(file + ".out"); err == nil {
			out = append(out, more...)
		}
		found := r.value.FindSubmatch(out)
		require.NotNil(t, found, "%s", out)
		v, err := strconv.ParseFloat(string(found[1]), 64)
		require.NoError(t, err)
		return v
	}
	t.Fatalf("no reader %s", name)
	return 0
}

// written is the text of a file, or of one with .gz behind its name, which is how CBC names what it compresses.
func written(t *testing.T, file string) string {
	t.Helper()
	if text, err := os.ReadFile(file); err == nil {
		return string(text)
	}
	f, err := os.Open(file + ".gz")
	if err != nil {
		return ""
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	return string(text)
}

// optimum is that of a model which is read here.
func optimum(t *testing.T, kind, text string) float64 {
	t.Helper()
	read := format.ReadMPS
	if kind == "lp" {
		read = format.ReadLP
	}
	m, err := read(strings.NewReader(text))
	require.NoError(t, err, "%s", text)
	got, err := milp.Solve(t.Context(), reference.New(), m, milp.Options{Gap: -1})
	require.NoError(t, err, "%s", text)
	require.Equal(t, milp.StopOptimal, got.Stop, "%s", text)
	return got.Objective
}
