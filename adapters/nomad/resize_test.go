package nomad

import (
	"testing"

	"github.com/hashicorp/nomad/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
)

// TestBounds: a job says whether its task may be resized, and how small it may become.
func TestBounds(t *testing.T) {
	with := func(most int, meta map[string]string) *hints {
		j := heldJob(meta)
		if most > 0 {
			j.TaskGroups[0].Tasks[0].Resources.MemoryMaxMB = &most
		}
		return read(j)
	}
	assert.Nil(t, with(0, nil).bounds)
	assert.Nil(t, with(0, map[string]string{KeyResize: "false"}).bounds)
	h := with(0, map[string]string{KeyResize: "true"})
	require.NoError(t, h.problem)
	assert.Equal(t, &adapters.Bounds{Least: usage.Level{CPU: 1, Memory: 10}, Most: usage.Level{CPU: 500, Memory: 64},
		Limit: 64}, h.bounds)
	h = with(128, map[string]string{KeyResize: "true", KeyResizeLeast: "20"})
	require.NoError(t, h.problem)
	assert.Equal(t, &adapters.Bounds{Least: usage.Level{CPU: 1, Memory: 20}, Most: usage.Level{CPU: 500, Memory: 64},
		Limit: 128}, h.bounds)
	assert.Equal(t, sched.Resources{CPU: 500, Memory: 64}, h.spec.Demand)
}

// TestBadBounds: a permission that makes no sense is a problem of the job.
func TestBadBounds(t *testing.T) {
	for says, meta := range map[string]map[string]string{
		"true or false":              {KeyResize: "yes"},
		"without hedge_resize":       {KeyResizeLeast: "20"},
		"at most the 64 MiB":         {KeyResize: "true", KeyResizeLeast: "65"},
		"a number of MiB from 10":    {KeyResize: "true", KeyResizeLeast: "9"},
		"from 10 to 1000000000":      {KeyResize: "true", KeyResizeLeast: "a lot"},
		`key "hedge_resized" is unk`: {"hedge_resized": "true"},
	} {
		_, err := Describe(heldJob(meta))
		require.ErrorIs(t, err, ErrJob)
		require.ErrorContains(t, err, says)
	}
	j := heldJob(map[string]string{KeyResize: "true"})
	j.TaskGroups[0].AddTask(api.NewTask("second", "raw_exec").Require(&api.Resources{CPU: ptr(1), MemoryMB: ptr(10)}))
	_, err := Describe(j)
	require.ErrorContains(t, err, "has 2 tasks, expected one")
}

// TestResizeTask: Nomad takes whole numbers, and a memory_max only above the memory.
func TestResizeTask(t *testing.T) {
	resized := func(s *adapters.Size) api.Resources {
		j := heldJob(nil)
		g, err := group(j.TaskGroups[0], 7, 0, "node", 1, 0)
		require.NoError(t, err)
		resize(g, s)
		assert.Equal(t, 64, *j.TaskGroups[0].Tasks[0].Resources.MemoryMB, "the template is the user's")
		return *g.Tasks[0].Resources
	}
	asked := resized(nil)
	assert.Equal(t, []int{500, 64}, []int{*asked.CPU, *asked.MemoryMB})
	got := resized(&adapters.Size{Reserve: usage.Level{CPU: 10.2, Memory: 30.5}, Limit: 40})
	assert.Equal(t, []int{11, 31, 40}, []int{*got.CPU, *got.MemoryMB, *got.MemoryMaxMB})
	got = resized(&adapters.Size{Reserve: usage.Level{Memory: 30.5}, Limit: 30.5})
	assert.Equal(t, []int{500, 31}, []int{*got.CPU, *got.MemoryMB})
	assert.Nil(t, got.MemoryMaxMB)
}

// TestReserved: what a resized task reserves is read from Nomad, and the job's demand stays as its user wrote it.
func TestReserved(t *testing.T) {
	j := heldJob(map[string]string{KeyResize: "true", keyOrigin: "15", keyStart: "18"})
	g, err := group(j.TaskGroups[0], 18, 0, "node", 1, 0)
	require.NoError(t, err)
	h := read(j)
	assert.Nil(t, h.reserved)
	resize(g, &adapters.Size{Reserve: usage.Level{CPU: 10, Memory: 30}, Limit: 40})
	j.TaskGroups = append(j.TaskGroups, g)
	h = read(j)
	require.NoError(t, h.problem)
	assert.Equal(t, sched.Resources{CPU: 10, Memory: 30}, h.reserved)
	assert.Equal(t, sched.Resources{CPU: 500, Memory: 64}, h.spec.Demand)
}

// TestResident: the resident set counts, or what control groups count where it is not measured.
func TestResident(t *testing.T) {
	m := &api.MemoryStats{RSS: 3 << 20, Usage: 5 << 20, Measured: []string{"RSS", "Usage"}}
	assert.InDelta(t, 3, resident(m), 0)
	m.Measured = []string{"Usage"}
	assert.InDelta(t, 5, resident(m), 0)
}
