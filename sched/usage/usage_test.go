package usage_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/sched/usage"
)

func TestCheck(t *testing.T) {
	good := usage.Task{Index: 2, Ran: time.Second, Now: usage.Level{CPU: 1}, Max: usage.Level{CPU: 2, Memory: 3}}
	require.NoError(t, good.Check())
	for want, spoil := range map[string]func(*usage.Task){
		"task -1: negative index":  func(t *usage.Task) { t.Index = -1 },
		"task 2: has run for -1s":  func(t *usage.Task) { t.Ran = -time.Second },
		"task 2: cpu of NaN":       func(t *usage.Task) { t.Now.CPU = math.NaN() },
		"task 2: memory of -1":     func(t *usage.Task) { t.Mean.Memory = -1 },
		"task 2: memory of +Inf":   func(t *usage.Task) { t.Max.Memory = math.Inf(1) },
		"task 2: cpu of -0.000125": func(t *usage.Task) { t.Max.CPU = -0.000125 },
	} {
		task := good
		spoil(&task)
		assert.EqualError(t, task.Check(), want)
	}
}

func ExampleTask_Work() {
	task := usage.Task{Ran: 40 * time.Second, Mean: usage.Level{CPU: 0.75}}
	fmt.Println(task.Work(), "core-seconds")
	// Output: 30 core-seconds
}
