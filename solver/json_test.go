package solver_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver"
)

func TestReadProblemNamesWhatIsWrongInItsOwnWords(t *testing.T) {
	const problem = `{"slot_seconds":10,"slots":1,"resources":["node"],"partitions":[{"name":"r0","nodes":2}],"capacity":[[[2]]],
"jobs":[{"id":"a","options":[{"set":"any","start":0,"count":2,"demand":[1],"partitions":[0],"usage":[1],"value":3}]}]}`
	_, err := solver.ReadProblem(strings.NewReader(problem))
	assert.NoError(t, err)
	for _, c := range []struct{ old, with, says string }{
		{`"slots":1`, `"slots":1,"slots":2`, `line 1, column 30: slots: found twice, expected once`},
		{`"value":3`, `"value":3,"value":4`, `line 2, column 115: jobs[0].options[0].value: found twice`},
		{`"jobs":`, `"later":{"x":[{"y":1,"y":2}]},"jobs":`, `later.x[0].y: found twice`},
		{`"slots":1`, `"Slots":1`, `slots: 0 is not in`},
		{`"slots":1`, `"slots":"x"`, `line 1, column 28: slots: found a string, expected a whole number`},
		{`"slots":1`, `"slots":1.5`, `slots: found 1.5, expected a whole number in digits only`},
		{`"count":2`, `"count":1e99`, `jobs[0].options[0].count: found 1e99, expected a whole number in digits only`},
		{`"count":2`, `"count":9223372036854775808`, `count: found 9223372036854775808, expected a whole number in range`},
		{`"value":3`, `"value":1e999`, `value: found 1e999, expected a number in range`},
		{`"demand":[1]`, `"demand":{}`, `jobs[0].options[0].demand: found an object, expected an array`},
		{`"demand":[1]`, `"demand":[true]`, `jobs[0].options[0].demand[0]: found a boolean, expected a number`},
		{`"id":"a"`, `"id":["a"]`, `jobs[0].id: found an array, expected a string`},
		{`"id":"a"`, "\"id\":\"\xff\"", `line 2, column 16: jobs[0].id: found invalid UTF-8, expected JSON`},
		{`"count":2,`, `"count":2;`, `line 2, column 62: jobs[0].options[0]: found invalid character ';' after object value`},
		{`,"value":3}]}]}`, `,"value":`,
			`line 2, column 113: jobs[0].options[0].value: found the end of the data, expected the rest of it`},
		{`"a","options":[{"set":"any","start":0,"count":2,"demand":[1],"partitions":[0],"usage":[1],"value":3}]}]}`, `"a`,
			`line 2, column 17: jobs[0].id: found the end`},
		{problem, " \n ", `line 2, column 2: document: found nothing, expected JSON`},
		{`"value":3`, `"value":[]`, `value: found an array, expected a number`},
		{problem, `[]`, `document: found an array, expected an object`},
	} {
		_, err := solver.ReadProblem(strings.NewReader(strings.Replace(problem, c.old, c.with, 1)))
		assert.ErrorIs(t, err, solver.ErrInvalid)
		assert.ErrorContains(t, err, c.says)
		assert.NotContains(t, err.Error(), "json")
	}
}

// TestPrioritiesInJSON: they are read and written, and left out where there are none, as in older files.
func TestPrioritiesInJSON(t *testing.T) {
	p := pair()
	var out bytes.Buffer
	require.NoError(t, solver.WriteProblem(&out, p))
	assert.NotContains(t, out.String(), "priority")
	p.Jobs[0].Priority, p.Running[0].MinPriority = 3, -2
	out.Reset()
	require.NoError(t, solver.WriteProblem(&out, p))
	assert.Contains(t, out.String(), `{"id":"a","priority":3,`)
	assert.Contains(t, out.String(), `"min_priority":-2`)
	q, err := solver.ReadProblem(&out)
	require.NoError(t, err)
	assert.Equal(t, p, q)
}

func BenchmarkReadProblem(b *testing.B) {
	f, err := os.Open("testdata/f-1000-google.json.gz")
	require.NoError(b, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(b, err)
	data, err := io.ReadAll(z)
	require.NoError(b, err)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		_, err = solver.ReadProblem(bytes.NewReader(data))
	}
	require.NoError(b, err)
}

// TestReadTellsItsReadersErrors: a disk that fails says nothing about what it holds.
func TestReadTellsItsReadersErrors(t *testing.T) {
	broken := errors.New("read /nfs/problem: input/output error")
	for _, text := range []string{"", "{", `{"jobs": [`, "\x1f", "\x1f\x8b\x08"} {
		_, err := solver.ReadProblem(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))
		require.ErrorIs(t, err, broken, text)
		require.NotErrorIs(t, err, solver.ErrInvalid, text)
		_, err = solver.ReadSolution(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))
		require.ErrorIs(t, err, broken, text)
		require.NotContains(t, err.Error(), "invalid", text)
	}
}
