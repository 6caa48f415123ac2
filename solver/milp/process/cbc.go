package process

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hedgesched/hedge/solver/milp"
)

// cbc prints a solution with only eight digits, so the point is read from its binary file.
func cbc() dialect {
	return dialect{
		name:    "cbc",
		install: "apt-get install coinor-cbc",
		caps:    milp.Caps{Integer: true, Start: true, Forgets: true, Nodes: true, Threads: true, Seed: true, Log: true},
		gentle:  true,
		mixes:   true,
		args:    cbcArgs,
		start:   cbcStart,
		line:    cbcLine,
		finish:  cbcFinish,
	}
}

func cbcArgs(j *job, extra []string) ([]string, error) {
	args := []string{"model.mps", "-timeMode", "elapsed", "-ratio", real(j.gap())}
	if j.limit > 0 {
		args = append(args, "-sec", j.seconds())
	}
	if j.opts.Nodes > 0 {
		args = append(args, "-maxNodes", strconv.FormatInt(min(j.opts.Nodes, math.MaxInt32), 10))
	}
	if j.opts.Threads > 1 {
		args = append(args, "-threads", strconv.Itoa(j.opts.Threads))
	}
	if j.opts.Seed != 0 {
		args = append(args, "-randomSeed", seed(j.opts.Seed), "-randomCbcSeed", seed(j.opts.Seed))
	}
	if j.started {
		args = append(args, "-mipstart", "start.sol")
	}
	return append(append(args, extra...), "-solve", "-solution", "solution", "-saveSolution", "point", "-quit"), nil
}

// cbcStart writes only the values that are known.
func cbcStart(w *bufio.Writer, j *job) bool {
	fmt.Fprintln(w, "Stopped on iterations - objective value 0")
	for k, v := range j.opts.Start {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			fmt.Fprintln(w, k, "x"+strconv.Itoa(k), real(v), 0)
		}
	}
	return true
}

func cbcLine(r *reading, line string) {
	if s, is := after(line, "Result - "); is {
		r.raw = s
	} else if s, is := after(line, "Lower bound:"); is {
		r.proves(s)
	} else if s, is := after(line, "Enumerated nodes:"); is {
		r.nodes = count(s)
	} else if s, is := after(line, "Total iterations:"); is {
		r.iterations = count(s)
	} else if strings.Contains(line, "MIPStart provided solution with cost") {
		r.start = milp.StartAccepted
	}
}

func cbcFinish(j *job, r *reading) {
	text := j.readFile("solution")
	if len(text) == 0 {
		return
	}
	status, _ := firstLine(text)
	status, _, _ = strings.Cut(status, " - objective value")
	if r.raw == "" {
		r.raw = status
	}
	r.stop = cbcStop(status, r.raw)
	switch r.stop {
	case milp.StopOptimal:
		r.exact = status == "Optimal" && !r.bounded
	case milp.StopTime, milp.StopNodes, milp.StopOther:
		if strings.Contains(status, "no integer solution") {
			return
		}
	default:
		return
	}
	if r.x, r.broken = cbcPoint(j.readFile("point"), j.m.Vars()); r.broken != nil {
		r.x = nil
	}
}

func cbcStop(status, raw string) milp.Stop {
	switch {
	case strings.HasPrefix(status, "Optimal"):
		return milp.StopOptimal
	case strings.HasPrefix(status, "Infeasible"), strings.HasPrefix(status, "Integer infeasible"):
		return milp.StopInfeasible
	case strings.HasPrefix(status, "Unbounded"): // said of the relaxation; presolve also says so of infeasible models
		return milp.StopInfeasibleOrUnbounded
	case strings.HasPrefix(status, "Stopped on time"):
		return milp.StopTime
	case strings.Contains(raw, "node limit"):
		return milp.StopNodes
	case strings.HasPrefix(status, "Stopped"):
		return milp.StopOther
	}
	return milp.StopNone
}

// cbcPoint reads the format of saveSolution: the numbers of rows and columns, the objective, the rows' activities and
// duals, and the columns' values.
func cbcPoint(b []byte, n int) ([]float64, error) {
	if len(b) < 16 {
		return nil, errTruncated
	}
	rows, columns := int(binary.NativeEndian.Uint32(b)), int(binary.NativeEndian.Uint32(b[4:]))
	from := 16 + 16*rows
	if columns < n || len(b) < from+8*columns {
		return nil, fmt.Errorf("found %d bytes for %d rows and %d columns, expected %d columns: %w", len(b), rows, columns, n,
			errTruncated)
	}
	x := make([]float64, n)
	for k := range x {
		x[k] = math.Float64frombits(binary.NativeEndian.Uint64(b[from+8*k:]))
	}
	return x, nil
}
