package solver_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hedgesched/hedge/solver"
)

func TestReadProblemNamesWhatIsWrongInItsOwnWords(t *testing.T) {
	const problem = `{"slot_seconds":10,"slots":1,"resources":["node"],"partitions":[{"name":"r0","nodes":2}],"capacity":[[[2]]],
"jobs":[{"id":"a","options":[{"set":"any","start":0,"count":2,"demand":[1],"partitions":[0],"usage":[1],"value":3}]}]}`
	_, err := solver.ReadProblem(strings.NewReader(problem))
	assert.NoError(t, err)
	for _, c := range []struct{ old, with, says string }{
		{`"slots":1`, `"slots":1,"slots":2`, `line 1, column 30: found "slots" twice`},
		{`"slots":1`, `"slots":1,"Slots":2`, `found "Slots" twice`},
		{`"value":3`, `"value":3,"VALUE":4`, `line 2, column`},
		{`"slots":1`, `"slots":"x"`, `slots: found a JSON string, expected a whole number`},
		{`"value":3`, `"value":[]`, `value: found a JSON array, expected a number`},
		{problem, `[]`, `document: found a JSON array, expected an object`},
	} {
		_, err := solver.ReadProblem(strings.NewReader(strings.Replace(problem, c.old, c.with, 1)))
		assert.ErrorIs(t, err, solver.ErrInvalid)
		assert.ErrorContains(t, err, c.says)
	}
}
