package process

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hedgesched/hedge/solver/milp"
)

func scip() dialect {
	return dialect{
		name:    "scip",
		install: "packages of scipopt.org, or make scip; Debian 12 has none",
		caps:    milp.Caps{Integer: true, Start: true, Forgets: true, Nodes: true, Seed: true, Log: true},
		gentle:  true,
		args:    scipArgs,
		start:   scipStart,
		line:    scipLine,
		finish:  scipFinish,
	}
}

func scipArgs(j *job, extra []string) ([]string, error) {
	commands := []string{"read model.mps", "set limits gap " + real(j.gap())}
	if j.limit > 0 {
		commands = append(commands, "set limits time "+j.seconds())
	}
	if j.opts.Nodes > 0 {
		commands = append(commands, "set limits totalnodes "+strconv.FormatInt(j.opts.Nodes, 10))
	}
	if j.opts.Seed != 0 {
		commands = append(commands, "set randomization randomseedshift "+seed(j.opts.Seed))
	}
	if j.started {
		commands = append(commands, "read start.sol")
	}
	args := append([]string(nil), extra...)
	for _, c := range append(commands, "optimize", "write solution solution", "quit") {
		args = append(args, "-c", c)
	}
	return args, nil
}

// scipStart says which values are unknown.
func scipStart(w *bufio.Writer, j *job) bool {
	for k, v := range j.opts.Start {
		text := "unknown"
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			text = real(v)
		}
		fmt.Fprintln(w, "x"+strconv.Itoa(k), text)
	}
	if j.m.Offset != 0 {
		fmt.Fprintln(w, "~offset 1")
	}
	return true
}

func scipLine(r *reading, line string) {
	if s, is := after(line, "SCIP Status"); is {
		r.raw = s
		if _, in, is := strings.Cut(s, "["); is {
			r.raw = strings.TrimSuffix(in, "]")
		}
	} else if s, is := after(line, "Dual Bound"); is {
		r.proves(s)
	} else if s, is := after(line, "Solving Nodes"); is {
		r.nodes = count(s)
	} else if strings.Contains(line, "solution from solution file") {
		if strings.Contains(line, "candidate") {
			r.start = milp.StartUnknown // it is checked later, without any output
		} else if strings.Contains(line, "accepted") || strings.Contains(line, "added") {
			r.start = milp.StartAccepted
		} else if strings.Contains(line, "rejected") || strings.Contains(line, "not") {
			r.start = milp.StartRejected
		}
	}
}

func scipFinish(j *job, r *reading) {
	text := j.readFile("solution")
	status, rest := firstLine(text)
	status, is := after(status, "solution status")
	if !is {
		return
	}
	if r.raw == "" {
		r.raw = status
	}
	r.stop = scipStop(status)
	if value, rest := firstLine(rest); strings.HasPrefix(value, "objective value:") {
		r.x, r.broken = scipPoint(rest, j.m.Vars())
	}
	if r.broken != nil {
		r.stop = milp.StopNone
	}
	if r.stop == milp.StopUnbounded && r.x == nil {
		r.stop = milp.StopInfeasibleOrUnbounded
	}
}

func scipStop(status string) milp.Stop {
	switch status {
	case "optimal solution found", "gap limit reached":
		return milp.StopOptimal
	case "infeasible":
		return milp.StopInfeasible
	case "unbounded":
		return milp.StopUnbounded
	case "infeasible or unbounded":
		return milp.StopInfeasibleOrUnbounded
	case "time limit reached":
		return milp.StopTime
	case "node limit reached", "total node limit reached":
		return milp.StopNodes
	case "":
		return milp.StopNone
	}
	return milp.StopOther
}

// scipPoint reads lines with a name and a value. Zero values have no line.
func scipPoint(text []byte, n int) ([]float64, error) {
	x := make([]float64, n)
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		return nil, errTruncated
	}
	for line := range bytes.Lines(text) {
		f := strings.Fields(string(line))
		if len(f) < 2 {
			continue
		}
		digits, is := strings.CutPrefix(f[0], "x")
		k, err := strconv.Atoi(digits)
		if !is || err != nil || k < 0 || k >= n {
			continue
		}
		v, ok := parseFloat(f[1])
		if !ok {
			return nil, fmt.Errorf("variable %s: found %q, expected a number", f[0], f[1])
		}
		x[k] = v
	}
	return x, nil
}
