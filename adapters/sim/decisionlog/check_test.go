package decisionlog_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters/sim/decisionlog"
)

// good is a small log with a preemption, a slowed run, a late job and a drop.
var good = []string{
	`{"t":0,"event":"cluster","schema":1,"policy":"hand","seed":7,"cycle":0,"span":60,"tasks_per_node":2,"nodes":[` +
		`{"node":"a","tasks":2,"labels":{"rack":"r0"}},{"node":"b","tasks":2,"labels":{"rack":"r1"}}]}`,
	`{"t":0,"event":"submit","job":"x","class":"be","tasks":3,"deadline":0,"runtime":40}`,
	`{"t":1,"event":"start","job":"x","class":"be","tasks":3,"deadline":0,"nodes":[{"node":"a","tasks":2},{"node":"b","tasks":1}]}`,
	`{"t":5.5,"event":"submit","job":"y","class":"slo","tasks":2,"deadline":20,"runtime":10,"slowdown":1.5,"preferred":[{"key":"rack","values":["r0"]}]}`,
	`{"t":5.5,"event":"submit","job":"z","class":"slo","tasks":1,"deadline":30,"runtime":5,"required":[{"key":"gpu","has":true}]}`,
	`{"t":11,"event":"preempt","job":"x","class":"be","tasks":3,"deadline":0,"why":"for y"}`,
	`{"t":11,"event":"start","job":"y","class":"slo","tasks":2,"deadline":20,"nodes":[{"node":"b","tasks":2}],"slowed":true}`,
	`{"t":26,"event":"finish","job":"y","class":"slo","tasks":2,"deadline":20}`,
	`{"t":26,"event":"start","job":"x","class":"be","tasks":3,"deadline":0,"nodes":[{"node":"a","tasks":1},{"node":"b","tasks":2}]}`,
	`{"t":66,"event":"finish","job":"x","class":"be","tasks":3,"deadline":0}`,
	`{"t":70,"event":"drop","job":"z","class":"slo","tasks":1,"deadline":30,"why":"no gpu"}`,
	`{"t":70,"event":"end","cycles":9,"solver":{"engine":"native","gap_mean":0.5,"gap_p99":1,"stops":{"gap":2}}}`,
}

func text(lines []string) string { return strings.Join(lines, "\n") + "\n" }

func TestFiguresByHand(t *testing.T) {
	report, err := decisionlog.Check(strings.NewReader(text(good)), nil)
	require.NoError(t, err)
	m := report.Metrics
	assert.Equal(t, "hand", m.Policy)
	assert.Equal(t, int64(7), m.Seed)
	assert.Equal(t, 2, m.SLO.Jobs)
	assert.Equal(t, 1, m.SLO.Completed)
	assert.Equal(t, 2, m.SLO.Missed)
	assert.Equal(t, 1.0, m.SLO.MissRate)
	assert.Equal(t, 1, m.BE.Completed)
	assert.Equal(t, 1, m.Preemptions)
	const hour = 3600 * 2 // task-seconds in a machine-hour
	assert.InDelta(t, 2*15.0/hour, m.Goodput.SLO, 1e-15)
	assert.InDelta(t, 3*40.0/hour, m.Goodput.BE, 1e-15)
	assert.InDelta(t, 2*15.0/1.5/hour, m.WorkInWindow.SLO, 1e-15, "slowed by half")
	assert.Zero(t, m.WorkInWindow.BE, "x completes after the window")
	assert.InDelta(t, 3*10.0/hour, m.LostMachineHours, 1e-15)
	assert.Equal(t, 66.0, m.MakespanS)
	assert.InDelta(t, (3*10+2*15+3*40)/(4*66.0), m.Utilisation, 1e-15)
	assert.InDelta(t, (3*10+2*15+3*34)/(4*60.0), m.UtilisationInWindow, 1e-15)
	assert.Equal(t, decisionlog.Spread{Mean: 66, P50: 66, P90: 66, P99: 66}, m.BELatency)
	assert.Equal(t, decisionlog.Spread{Mean: 43.25, P50: 20.5, P90: 66, P99: 66}, m.JCT)
	assert.Equal(t, 9, m.Cycles)
	assert.Equal(t, map[string]int{"gap": 2}, m.Solver.Stops)
	assert.Equal(t, 5500*time.Millisecond, report.Jobs[1].Submit)
	assert.Equal(t, time.Duration(-1), report.Jobs[2].Start)
}

func TestTamperingIsCaught(t *testing.T) {
	replace := func(line int, old, with string) func([]string) []string {
		return func(l []string) []string {
			if !strings.Contains(l[line-1], old) {
				panic("the test replaces nothing")
			}
			l[line-1] = strings.Replace(l[line-1], old, with, 1)
			return l
		}
	}
	remove := func(line int) func([]string) []string {
		return func(l []string) []string { return append(l[:line-1], l[line:]...) }
	}
	insert := func(line int, with string) func([]string) []string {
		return func(l []string) []string {
			return append(append(append([]string{}, l[:line-1]...), with), l[line-1:]...)
		}
	}
	swap := func(a, b int) func([]string) []string {
		return func(l []string) []string { l[a-1], l[b-1] = l[b-1], l[a-1]; return l }
	}
	for name, c := range map[string]struct {
		tamper func([]string) []string
		want   error
		line   int
	}{
		"node over-committed": {replace(3, `"b","tasks":1`, `"a","tasks":1`), decisionlog.ErrOvercommit, 3},
		"preemption gone":     {remove(6), decisionlog.ErrOvercommit, 6},
		"gang too small":      {replace(3, `,{"node":"b","tasks":1}`, ``), decisionlog.ErrGang, 3},
		"gang too large":      {replace(3, `"b","tasks":1`, `"b","tasks":2`), decisionlog.ErrGang, 3},
		"negative tasks":      {replace(3, `"b","tasks":1`, `"b","tasks":-1`), decisionlog.ErrGang, 3},
		"unknown node":        {replace(3, `"node":"b"`, `"node":"c"`), decisionlog.ErrNode, 3},
		"node not required": {
			insert(6, `{"t":6,"event":"start","job":"z","class":"slo","tasks":1,"deadline":30,"nodes":[{"node":"b","tasks":1}]}`), decisionlog.ErrNode, 6},
		"time backwards":          {replace(6, `"t":11`, `"t":5.4`), decisionlog.ErrOrder, 6},
		"lines swapped":           {swap(5, 6), decisionlog.ErrOrder, 6},
		"no cluster":              {remove(1), decisionlog.ErrOrder, 1},
		"two clusters":            {insert(2, good[0]), decisionlog.ErrOrder, 2},
		"after the end":           {insert(13, good[1]), decisionlog.ErrOrder, 13},
		"start before submit":     {remove(2), decisionlog.ErrState, 2},
		"submitted twice":         {insert(3, good[1]), decisionlog.ErrState, 3},
		"started twice":           {insert(4, replace(3, `"t":1,`, `"t":2,`)(clone())[2]), decisionlog.ErrState, 4},
		"finished twice":          {insert(9, good[7]), decisionlog.ErrState, 9},
		"preempted while waiting": {insert(7, good[5]), decisionlog.ErrState, 7},
		"dropped while running": {insert(4, `{"t":2,"event":"drop","job":"x","class":"be","tasks":3,"deadline":0}`),
			decisionlog.ErrState, 4},
		"started after drop": {
			insert(12, `{"t":70,"event":"start","job":"z","class":"slo","tasks":1,"deadline":30}`), decisionlog.ErrState, 12},
		"finish too early":              {replace(8, `"t":26`, `"t":25.999999999`), decisionlog.ErrRuntime, 8},
		"runtime edited":                {replace(2, `"runtime":40`, `"runtime":41`), decisionlog.ErrRuntime, 10},
		"preempted after the end of it": {replace(2, `"runtime":40`, `"runtime":9`), decisionlog.ErrRuntime, 6},
		"slow-down hidden":              {replace(7, `,"slowed":true`, ``), decisionlog.ErrMismatch, 7},
		"slow-down invented":            {replace(3, `]}`, `],"slowed":true}`), decisionlog.ErrMismatch, 3},
		"deadline edited":               {replace(8, `"deadline":20`, `"deadline":26`), decisionlog.ErrMismatch, 8},
		"class edited":                  {replace(8, `"slo"`, `"be"`), decisionlog.ErrMismatch, 8},
		"tasks edited":                  {replace(8, `"tasks":2`, `"tasks":1`), decisionlog.ErrMismatch, 8},
		"slo without deadline":          {replace(4, `"deadline":20`, `"deadline":0`), decisionlog.ErrMismatch, 4},
		"due before submission":         {replace(4, `"deadline":20`, `"deadline":0.5`), decisionlog.ErrMismatch, 4},
		"drop gone":                     {remove(11), decisionlog.ErrIncomplete, 0},
		"end gone":                      {remove(12), decisionlog.ErrIncomplete, 0},
		"empty":                         {func([]string) []string { return nil }, decisionlog.ErrSyntax, 1},
		"not JSON":                      {replace(4, `{`, `[`), decisionlog.ErrSyntax, 4},
		"no time":                       {replace(4, `"t":5.5,`, ``), decisionlog.ErrSyntax, 4},
		"negative time":                 {replace(4, `"t":5.5,`, `"t":-0.5,`), decisionlog.ErrSyntax, 4},
		"endless time":                  {replace(4, `"t":5.5,`, `"t":1e99,`), decisionlog.ErrSyntax, 4},
		"unknown class":                 {replace(2, `"be"`, `"gold"`), decisionlog.ErrSyntax, 2},
		"no tasks":                      {replace(2, `"tasks":3`, `"tasks":0`), decisionlog.ErrSyntax, 2},
		"slow-down below one":           {replace(4, `1.5`, `0.5`), decisionlog.ErrSyntax, 4},
		"other schema":                  {replace(1, `"schema":1`, `"schema":3`), decisionlog.ErrSyntax, 1},
		"range of no node": {replace(3, `"nodes":[{"node":"a","tasks":2},{"node":"b","tasks":1}]`,
			`"node_ranges":[[0,1,2],[2,3]]`), decisionlog.ErrNode, 3},
		"range with too little room": {replace(3, `"nodes":[{"node":"a","tasks":2},{"node":"b","tasks":1}]`,
			`"node_ranges":[[0,1,3]]`), decisionlog.ErrOvercommit, 3},
		"range twice": {replace(3, `"nodes":[{"node":"a","tasks":2},{"node":"b","tasks":1}]`,
			`"node_ranges":[[0,1,2],[0,1]]`), decisionlog.ErrOvercommit, 3},
		"ranges of too few": {replace(3, `"nodes":[{"node":"a","tasks":2},{"node":"b","tasks":1}]`,
			`"node_ranges":[[0,2]]`), decisionlog.ErrGang, 3},
		"ranges of too many": {replace(3, `"nodes":[{"node":"a","tasks":2},{"node":"b","tasks":1}]`,
			`"node_ranges":[[0,2,2]]`), decisionlog.ErrGang, 3},
		"range that is empty": {replace(3, `"nodes":[`, `"node_ranges":[[1,1]],"n":[`), decisionlog.ErrSyntax, 3},
		"range from below 0":  {replace(3, `"nodes":[`, `"node_ranges":[[-1,1]],"n":[`), decisionlog.ErrSyntax, 3},
		"range of one number": {replace(3, `"nodes":[`, `"node_ranges":[[1]],"n":[`), decisionlog.ErrSyntax, 3},
		"range of no tasks":   {replace(3, `"nodes":[`, `"node_ranges":[[0,1,0]],"n":[`), decisionlog.ErrSyntax, 3},
		"ranges and names":    {replace(3, `"nodes":[`, `"node_ranges":[[0,1]],"nodes":[`), decisionlog.ErrSyntax, 3},
		"range off the required": {replace(7, `"nodes":[{"node":"b","tasks":2}]`, `"node_ranges":[[0,1,2]]`),
			decisionlog.ErrMismatch, 7},
		"no nodes":                      {replace(1, `"tasks_per_node":2`, `"tasks_per_node":0`), decisionlog.ErrSyntax, 1},
		"twin nodes":                    {replace(1, `"node":"b"`, `"node":"a"`), decisionlog.ErrSyntax, 1},
		"node offers less than nothing": {replace(1, `"b","tasks":2`, `"b","tasks":-2`), decisionlog.ErrSyntax, 1},
		"node offers nothing":           {replace(1, `"b","tasks":2`, `"b","tasks":0`), decisionlog.ErrSyntax, 1},
		"negative capacity": {replace(1, `"b","tasks":2`, `"b","tasks":2,"capacity":{"node":2,"cpu":-1}`),
			decisionlog.ErrSyntax, 1},
		"tasks of an empty capacity": {replace(1, `"b","tasks":2`, `"b","tasks":2,"capacity":{}`), decisionlog.ErrMismatch,
			1},
		"tasks above the capacity": {replace(1, `"b","tasks":2`, `"b","tasks":2,"capacity":{"node":1}`),
			decisionlog.ErrMismatch, 1},
		"tasks below the capacity": {replace(1, `"b","tasks":2`, `"b","tasks":2,"capacity":{"node":3}`),
			decisionlog.ErrMismatch, 1},
		"tasks without node capacity": {replace(1, `"b","tasks":2`, `"b","tasks":2,"capacity":{"cpu":2}`),
			decisionlog.ErrMismatch, 1},
		"fewer cycles than decisions": {replace(12, `"cycles":9`, `"cycles":3`), decisionlog.ErrMismatch, 12},
		"negative cycles":             {replace(12, `"cycles":9`, `"cycles":-9`), decisionlog.ErrSyntax, 12},
		"more stops than cycles":      {replace(12, `{"gap":2}`, `{"gap":2,"optimal":8}`), decisionlog.ErrMismatch, 12},
		"negative stops":              {replace(12, `{"gap":2}`, `{"gap":-2}`), decisionlog.ErrSyntax, 12},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decisionlog.Check(strings.NewReader(text(c.tamper(clone()))), nil)
			require.ErrorIs(t, err, c.want)
			var at *decisionlog.LineError
			require.ErrorAs(t, err, &at)
			assert.Equal(t, c.line, at.Line, err)
		})
	}
}

// What is wrong is said once, and in the words of the log.
func TestErrorsReadWell(t *testing.T) {
	for line, want := range map[string]string{
		`{"t":"x","event":"submit"}`:                        `t: found "x", expected a number`,
		`{"t":-1,"event":"submit"}`:                         `t: found -1, expected a number in range`,
		`{"t":0,"event":"submit","deadline":{}}`:            `deadline: found {}, expected a number`,
		`{"t":0,"event":"submit","tasks":"2"}`:              `tasks: found a string, expected a whole number`,
		`{"t":0,"event":"submit","tasks":2.5}`:              `tasks: found 2.5, expected a whole number in digits only`,
		`{"t":0,"event":"submit","nodes":{}}`:               `nodes: found an object, expected an array`,
		`{"t":0,"event":"submit","nodes":[{"tasks":true}]}`: `nodes[0].tasks: found a boolean, expected a whole number`,
		`{"t":0,"event":"submit","slowed":1}`:               `slowed: found a number, expected a boolean`,
		`{"t":0,"event":"submit","demand":[]}`:              `demand: found an array, expected an object`,
		`{"t":0,"event":"submit","demand":{"cpu":"many"}}`:  `demand.cpu: found a string, expected a number`,
		`[]`:                             `event: found an array, expected an object`,
		`{"t":0,"event":"submit"`:        `found the end of the data after byte 23, expected the rest of it`,
		`{"t":0,"event":"submit","t":1}`: `: t: found twice, expected once`,
		`{"t":0,"event":"submit","demand":{"a":1,"a":2}}`: `demand.a: found twice, expected once`,
		`{"t":0,"event":"submit","new":[{"a":1,"a":2}]}`:  `new[0].a: found twice, expected once`,
		`{"t":null,"event":"submit"}`:                     `fields "t" and "event" are needed`,
		`{"t":0,"Event":"submit"}`:                        `fields "t" and "event" are needed`,
		`{"t":0,"event":"submit"}}`:                       `found invalid character '}' after top-level value after byte 24, expected JSON`,
		"{\"t\":0,\"event\":\"\xff\"}":                    `event: found invalid UTF-8 after byte 16, expected JSON`,
		`{"t":0,"event":"submit","job":"j","class":"be"}`: `0 tasks, want at least 1`,
		`{"t":0,"event":"finish","job":"j"}`:              `job "j": impossible for the job: finish before submit`,
		`{"t":0,"event":"start","job":"x","class":"be"}`:  `job "x": contradicts an earlier line: class, tasks or deadline`,
		good[1]: `job "x": impossible for the job: submitted twice`,
	} {
		_, err := decisionlog.Check(strings.NewReader(text([]string{good[0], good[1], line})), nil)
		require.Error(t, err, line)
		assert.True(t, strings.HasPrefix(err.Error(), "decision log: line 3: "), err)
		assert.True(t, strings.HasSuffix(err.Error(), want), "%s\nshould end in %s", err, want)
		assert.Equal(t, 1, strings.Count(err.Error(), "line 3"), err)
		assert.NotContains(t, err.Error(), "Go ")
		assert.NotContains(t, err.Error(), "rawEvent")
		var at *decisionlog.LineError
		require.ErrorAs(t, err, &at)
		assert.Equal(t, err.Error(), "decision log: line 3: "+at.Err.Error(), "Err is all but the place")
	}
}

func clone() []string { return append([]string(nil), good...) }

func TestOptionsAndUnknownEvents(t *testing.T) {
	lines := append(clone()[:8], `{"t":26,"event":"comment","job":7e0}`)
	_, err := decisionlog.Check(strings.NewReader(text(lines)), &decisionlog.Options{Partial: true})
	require.ErrorIs(t, err, decisionlog.ErrSyntax, "a job that is no string")
	lines[8] = `{"t":26,"event":"comment","new":[]}`
	_, err = decisionlog.Check(strings.NewReader(text(lines)), &decisionlog.Options{Partial: true})
	require.NoError(t, err)
	late := clone()
	late[7] = strings.Replace(late[7], `"t":26`, `"t":25`, 1)
	_, err = decisionlog.Check(strings.NewReader(text(late)), &decisionlog.Options{AnyRuntime: true})
	require.NoError(t, err)
	_, err = decisionlog.Check(strings.NewReader(""), nil)
	require.ErrorIs(t, err, decisionlog.ErrIncomplete)
}

func TestGzip(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(text(good)))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	report, err := decisionlog.Check(bytes.NewReader(packed.Bytes()), nil)
	require.NoError(t, err)
	assert.Equal(t, len(good), report.Lines)
	_, err = decisionlog.Check(bytes.NewReader(packed.Bytes()[:packed.Len()/2]), nil)
	var at *decisionlog.LineError
	require.ErrorAs(t, err, &at)
	assert.ErrorContains(t, err, "unexpected EOF")
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte(text(good)))
	for i := range good {
		f.Add([]byte(text(good[:i])))
	}
	f.Add([]byte{0x1f, 0x8b, 0})
	f.Add([]byte(strings.Repeat(`{"t":`, 10_000)))
	f.Add([]byte(`{"t":9223372035.999999999,"event":"cluster","schema":1,"tasks_per_node":1,"nodes":[{"node":"a"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		report, err := decisionlog.Check(bytes.NewReader(data), nil)
		if err != nil {
			var at *decisionlog.LineError
			require.ErrorAs(t, err, &at)
			return
		}
		m := report.Metrics
		require.Equal(t, len(report.Jobs), m.SLO.Jobs+m.BE.Jobs)
		require.LessOrEqual(t, m.SLO.Completed+m.BE.Completed, len(report.Jobs))
	})
}

func BenchmarkRead(b *testing.B) {
	var log strings.Builder
	log.WriteString(good[0] + "\n")
	for i := range 1000 {
		id := fmt.Sprintf("job-%d", i)
		for _, line := range []string{good[3], good[6], good[7]} {
			log.WriteString(strings.Replace(line, `"job":"y"`, `"job":"`+id+`"`, 1) + "\n")
		}
	}
	data := log.String()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range decisionlog.Read(strings.NewReader(data)) {
			require.NoError(b, err)
			n++
		}
		require.Equal(b, 3001, n)
	}
}

func ExampleCheck() {
	log := `{"t":0,"event":"cluster","schema":1,"policy":"fifo","tasks_per_node":1,"nodes":[{"node":"a","tasks":1}]}
{"t":0,"event":"submit","job":"j1","class":"be","tasks":2,"deadline":0,"runtime":5}
{"t":1,"event":"start","job":"j1","class":"be","tasks":2,"deadline":0,"nodes":[{"node":"a","tasks":2}]}
`
	_, err := decisionlog.Check(strings.NewReader(log), nil)
	fmt.Println(err)
	// Output: decision log: line 3: job "j1": node over-committed: "a" holds 2 of 1 node
}

// TestSpeeds: a run takes its runtime divided by the speed of its slowest node, and the log says that speed.
func TestSpeeds(t *testing.T) {
	lines := []string{
		`{"t":0,"event":"cluster","schema":1,"policy":"p","seed":1,"cycle":0,"span":10,"tasks_per_node":1,"nodes":[` +
			`{"node":"a","tasks":1,"labels":{"gpu":"x"}},{"node":"b","tasks":1,"labels":{"gpu":"y"}},{"node":"c","tasks":1}]}`,
		`{"t":0,"event":"submit","job":"j","class":"be","tasks":2,"deadline":0,"runtime":10,"speeds":[` +
			`{"on":[],"speed":0.25},{"on":[{"key":"gpu","values":["x"]}],"speed":1},` +
			`{"on":[{"key":"gpu","values":["y"]}],"speed":0.5}]}`,
		`{"t":0,"event":"start","job":"j","class":"be","tasks":2,"deadline":0,"nodes":[{"node":"a","tasks":1},` +
			`{"node":"NODE","tasks":1}],"speed":SPEED}`,
		`{"t":END,"event":"finish","job":"j","class":"be","tasks":2,"deadline":0}`,
		`{"t":END,"event":"end","cycles":2}`,
	}
	for _, c := range []struct {
		node, speed, end string
		err              error
	}{
		{"b", "0.5", "20", nil}, {"c", "0.25", "40", nil}, {"b", "1", "20", decisionlog.ErrMismatch},
		{"b", "0.5", "10", decisionlog.ErrRuntime}, {"b", "2", "20", decisionlog.ErrSyntax},
	} {
		text := strings.NewReplacer("NODE", c.node, "SPEED", c.speed, "END", c.end).Replace(strings.Join(lines, "\n"))
		_, err := decisionlog.Check(strings.NewReader(text), nil)
		require.ErrorIs(t, err, c.err, "%+v", c)
	}
}
