package process

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/hedgesched/hedge/solver/milp"
)

// highs ignores signals, but writes each better point to a file at once. That file remains if it is killed.
func highs() dialect {
	return dialect{
		name:    "highs",
		install: "pip install highsbox, whose folder highs_dist has bin/highs and lib; Debian 12 has no package",
		caps:    milp.Caps{Integer: true, Start: true, Nodes: true, Threads: true, Seed: true, Log: true},
		args:    highsArgs,
		start:   highsStart,
		line:    highsLine,
		finish:  highsFinish,
	}
}

func highsArgs(j *job, extra []string) ([]string, error) {
	var o strings.Builder
	fmt.Fprintf(&o, "mip_rel_gap = %s\nmip_abs_gap = 1e-9\n", real(j.gap()))
	o.WriteString("mip_improving_solution_save = true\nmip_improving_solution_file = points\n")
	if j.limit > 0 {
		fmt.Fprintf(&o, "time_limit = %s\n", j.seconds())
	}
	if j.opts.Nodes > 0 {
		fmt.Fprintf(&o, "mip_max_nodes = %d\n", min(j.opts.Nodes, math.MaxInt32))
	}
	if j.opts.Threads > 1 {
		fmt.Fprintf(&o, "threads = %d\nparallel = on\n", j.opts.Threads)
	} else {
		o.WriteString("threads = 1\nparallel = off\n")
	}
	if j.opts.Seed != 0 {
		fmt.Fprintf(&o, "random_seed = %s\n", seed(j.opts.Seed))
	}
	args := []string{"model.mps", "--options_file", "options", "--solution_file", "solution"}
	if j.started {
		args = append(args, "--read_solution_file", "start.sol")
	}
	return append(args, extra...), os.WriteFile(j.file("options"), []byte(o.String()), 0o600)
}

// highsStart writes every variable, since the reader requires that. Unknown values are set within their bounds.
func highsStart(w *bufio.Writer, j *job) bool {
	lower, upper := j.m.Bounds()
	fmt.Fprintf(w, "Model status\nUnknown\n\n# Primal solution values\nFeasible\nObjective 0\n")
	fmt.Fprintf(w, "# Columns %d\n", written(j.m))
	for k, v := range j.opts.Start {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			v = math.Min(math.Max(0, lower[k]), upper[k])
		}
		fmt.Fprintln(w, "x"+strconv.Itoa(k), real(v))
	}
	if j.m.Offset != 0 {
		fmt.Fprintln(w, "~offset 1")
	}
	fmt.Fprintln(w, "# Rows 0")
	return true
}

// written is the number of columns of m's file, including one for the offset if there is one.
func written(m *milp.Model) int {
	if m.Offset != 0 {
		return m.Vars() + 1
	}
	return m.Vars()
}

func highsLine(r *reading, line string) {
	if s, is := after(line, "Nodes  "); is {
		r.nodes = count(s)
	} else if s, is := after(line, "LP iterations"); is {
		r.iterations = count(s)
	} else if s, is := after(line, "Simplex   iterations"); is {
		r.iterations = count(s)
	} else if strings.HasPrefix(line, "MIP start solution is feasible") {
		r.start = milp.StartAccepted
	} else if strings.HasPrefix(line, "MIP start solution is infeasible") {
		r.start = milp.StartRejected
	} else if s, is := after(line, "Dual bound"); is {
		r.provesSix(s)
	} else if f := strings.Fields(line); len(f) > 9 && strings.HasSuffix(f[len(f)-1], "s") {
		for k := 3; k <= 4; k++ { // a row of the table: the explored share, then the bound
			if strings.HasSuffix(f[k], "%") {
				r.proves(f[k+1])
				break
			}
		}
	}
}

func highsFinish(j *job, r *reading) {
	text := j.readFile("solution")
	if status, is := headed(text, "Model status"); is {
		r.raw, _ = firstLine(status)
		r.stop = highsStop(r.raw)
	}
	if primal, is := headed(text, "# Primal solution values"); is {
		state, rest := firstLine(primal)
		if r.raw == "" || state == "Feasible" {
			_, rest = firstLine(rest) // skips the objective
			r.x, r.broken = highsPoint(rest, j.m.Vars())
		}
	}
	if r.broken != nil {
		r.stop, r.x = milp.StopNone, nil
	}
	if r.x == nil {
		r.x = lastPoint(j.readFile("points"), j.m.Vars())
	}
	if r.stop == milp.StopOptimal {
		r.exact = !r.bounded && j.m.Integers() == 0
	}
}

func highsStop(status string) milp.Stop {
	switch status {
	case "Optimal", "Empty":
		return milp.StopOptimal
	case "Infeasible":
		return milp.StopInfeasible
	case "Unbounded":
		return milp.StopUnbounded
	case "Primal infeasible or unbounded":
		return milp.StopInfeasibleOrUnbounded
	case "Time limit reached":
		return milp.StopTime
	case "Solution limit reached": // its word for a limit of nodes
		return milp.StopNodes
	case "":
		return milp.StopNone
	}
	return milp.StopOther
}

// highsPoint reads a heading with the number of columns, and a line per column.
func highsPoint(text []byte, n int) ([]float64, error) {
	title, rest := firstLine(text)
	columns, err := strconv.Atoi(strings.TrimPrefix(title, "# Columns "))
	if err != nil || columns < n {
		return nil, fmt.Errorf("found %q, expected # Columns and %d or more: %w", title, n, errTruncated)
	}
	x, found := make([]float64, n), 0
	for range columns {
		line, more, complete := bytes.Cut(rest, []byte("\n"))
		f := strings.Fields(string(line))
		if !complete || len(f) != 2 {
			return nil, fmt.Errorf("found %d columns, expected %d: %w", found, n, errTruncated)
		}
		if v, ok := parseFloat(f[1]); !ok {
			return nil, fmt.Errorf("column %s: found %q, expected a number", f[0], f[1])
		} else if found < n {
			x[found] = v
			found++
		}
		rest = more
	}
	return x, nil
}

// lastPoint is the last complete point of a file, nil if there is none.
func lastPoint(text []byte, n int) []float64 {
	const title = "# Columns "
	for end := len(text); end > 0; {
		at := bytes.LastIndex(text[:end], []byte(title))
		if at < 0 {
			return nil
		}
		if x, err := highsPoint(text[at:], n); err == nil {
			return x
		}
		end = at
	}
	return nil
}
