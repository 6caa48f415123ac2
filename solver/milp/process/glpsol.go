package process

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hedgesched/hedge/solver/milp"
)

// glpsol has a limit in whole seconds and no limit of nodes. It ends at SIGINT without any output.
func glpsol() dialect {
	return dialect{
		name:    "glpsol",
		install: "apt-get install glpk-utils",
		caps:    milp.Caps{Integer: true, Forgets: true, Log: true},
		args:    glpsolArgs,
		line:    glpsolLine,
		finish:  glpsolFinish,
	}
}

func glpsolArgs(j *job, extra []string) ([]string, error) {
	args := []string{"--freemps", "model.mps", "-w", "solution", "--mipgap", real(j.gap())}
	if j.limit >= time.Second {
		args = append(args, "--tmlim", strconv.FormatInt(int64(j.limit/time.Second), 10))
	}
	return append(args, extra...), nil
}

func glpsolLine(r *reading, line string) {
	switch {
	case strings.Contains(line, "NO PRIMAL FEASIBLE SOLUTION"), strings.Contains(line, "NO FEASIBLE SOLUTION"),
		strings.Contains(line, "NO INTEGER FEASIBLE SOLUTION"):
		r.stop, r.raw = milp.StopInfeasible, line
	case strings.Contains(line, "NO DUAL FEASIBLE SOLUTION"), strings.Contains(line, "UNBOUNDED PRIMAL SOLUTION"),
		strings.Contains(line, "UNBOUNDED SOLUTION"):
		r.stop, r.raw = milp.StopInfeasibleOrUnbounded, line
	case strings.HasPrefix(line, "TIME LIMIT EXCEEDED"):
		r.stop, r.raw = milp.StopTime, line
	case strings.HasPrefix(line, "RELATIVE MIP GAP TOLERANCE REACHED"):
		r.stop, r.raw = milp.StopOptimal, line
	case strings.HasPrefix(line, "+"):
		r.iterations = count(strings.TrimSuffix(first(line[1:]), ":"))
		if _, bound, is := strings.Cut(line, ">="); is {
			r.proves(first(bound))
		}
	}
}

func glpsolFinish(j *job, r *reading) {
	text := j.readFile("solution")
	if text == nil {
		r.stop = milp.StopNone
		return
	}
	status := ""
	for line := range bytes.Lines(text) {
		if s, is := after(string(line), "c Status"); is {
			status = s
			break
		}
	}
	if r.raw == "" {
		r.raw = status
	}
	if status == "" || !bytes.HasSuffix(bytes.TrimSpace(text), []byte("e o f")) {
		r.stop, r.broken = milp.StopNone, fmt.Errorf("the solution file: %w", errTruncated)
		return
	}
	switch status {
	case "OPTIMAL", "INTEGER OPTIMAL":
		r.stop, r.exact = milp.StopOptimal, true
	case "INTEGER NON-OPTIMAL", "FEASIBLE", "INTEGER UNDEFINED", "UNDEFINED", "INFEASIBLE (INTERMEDIATE)":
		if r.stop == milp.StopNone {
			r.stop = milp.StopOther
		}
	case "INTEGER EMPTY", "INFEASIBLE (FINAL)":
		r.stop = milp.StopInfeasible
	case "UNBOUNDED":
		r.stop = milp.StopInfeasibleOrUnbounded
	}
	if status == "INTEGER NON-OPTIMAL" || status == "FEASIBLE" || r.stop == milp.StopOptimal {
		r.x, r.broken = glpsolPoint(text, j.m.Vars())
	}
}

// glpsolPoint reads the lines of an integer solution (j, number, value) or of a basic one (j, number, status, value,
// dual).
func glpsolPoint(text []byte, n int) ([]float64, error) {
	x, found := make([]float64, n), 0
	for line := range bytes.Lines(text) {
		f := strings.Fields(string(line))
		if len(f) < 3 || f[0] != "j" {
			continue
		}
		k, err := strconv.Atoi(f[1])
		if err != nil || k < 1 || k > n {
			continue
		}
		at := 2
		if len(f) == 5 {
			at = 3
		}
		v, ok := parseFloat(f[at])
		if !ok {
			return nil, fmt.Errorf("column %d: found %q, expected a number", k, f[at])
		}
		x[k-1] = v
		found++
	}
	if found != n {
		return nil, fmt.Errorf("found %d columns, expected %d: %w", found, n, errTruncated)
	}
	return x, nil
}
