package yarn

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// nothing are the forms of an empty value: Jersey 1 writes {}, Jersey 2 writes "" with Jettison, and nothing at all
// with MOXy (YARN-11874).
func nothing() []string { return []string{`null`, `{}`, `[]`, `""`, ` { } `, "[\n]", `"  "`} }

func TestList(t *testing.T) {
	for text, want := range map[string]list[string]{`"x"`: {"x"}, `["x"]`: {"x"}, `["x","y"]`: {"x", "y"}} {
		var got list[string]
		require.NoError(t, json.Unmarshal([]byte(text), &got), text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range nothing() {
		got := list[string]{"before"}
		require.NoError(t, json.Unmarshal([]byte(text), &got), text)
		assert.Empty(t, got, text)
	}
	for _, text := range []string{`5`, `{"x":1}`, `[5]`} {
		var bad list[string]
		require.Error(t, json.Unmarshal([]byte(text), &bad), text)
	}
}

func TestObject(t *testing.T) {
	for _, text := range []string{`{"memory":1}`, `[{"memory":"1"}]`} {
		var got object[amount]
		require.NoError(t, json.Unmarshal([]byte(text), &got), text)
		assert.Equal(t, object[amount]{true, amount{Memory: 1}}, got, text)
	}
	for _, text := range nothing() {
		got := object[amount]{true, amount{Memory: 1}}
		require.NoError(t, json.Unmarshal([]byte(text), &got), text)
		assert.Zero(t, got, text)
	}
	for _, text := range []string{`5`, `"x"`, `true`, `[{},{}]`, `[5]`} {
		var bad object[amount]
		require.Error(t, json.Unmarshal([]byte(text), &bad), text)
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]text{`"x"`: "x", `5`: "5", `2.0`: "2.0", `true`: "true", `null`: "", `{}`: "",
		`""`: "", `"a\"b"`: `a"b`} {
		var got text
		require.NoError(t, json.Unmarshal([]byte(in), &got), in)
		assert.Equal(t, want, got, in)
	}
	for _, in := range []string{`["x"]`, `{"x":1}`} {
		var bad text
		require.Error(t, json.Unmarshal([]byte(in), &bad), in)
	}
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]number{`5`: 5, `"43"`: 43, `-1`: -1, `1.5`: 1.5, `"NaN"`: 0, `"Infinity"`: 0,
		`1e300`: 0} {
		var got number
		require.NoError(t, json.Unmarshal([]byte(text), &got), text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range nothing() {
		got := number(5)
		require.NoError(t, json.Unmarshal([]byte(text), &got), text)
		assert.Zero(t, got, text)
	}
	for _, text := range []string{`"many"`, `true`, `[1]`} {
		var bad number
		require.Error(t, json.Unmarshal([]byte(text), &bad), text)
	}
}

// TestEmptyAnswers: an empty value is empty in any form, at every depth, and so is a missing one.
func TestEmptyAnswers(t *testing.T) {
	ctx := context.Background()
	missing := []string{`{}`, `null`}
	for _, what := range nothing() {
		for _, text := range append(missing, `{"apps":`+what+`}`, `{"apps":{"app":`+what+`}}`, `{"apps":{"app":[`+what+`]}}`,
			`{"apps":[{"app":`+what+`}]}`) {
			got, err := answering(t, 200, []byte(text)).live(ctx, "x")
			require.NoError(t, err, text)
			assert.Empty(t, got, text)
		}
		for _, text := range append(missing, `{"nodes":`+what+`}`, `{"nodes":{"node":`+what+`}}`,
			`{"nodes":{"node":[`+what+`]}}`) {
			got, odd, err := answering(t, 200, []byte(text)).nodes(ctx)
			require.NoError(t, err, text)
			assert.Empty(t, got, text)
			assert.Empty(t, odd, text)
		}
		for _, text := range append(missing, `{"app":`+what+`}`) { // the one application is not the others' trouble
			_, err := answering(t, 200, []byte(text)).app(ctx, "application_1_1")
			require.ErrorIs(t, err, errOdd, text)
		}
		for _, text := range append(missing, `{"clusterInfo":`+what+`}`) {
			_, err := answering(t, 200, []byte(text)).activeSince(ctx)
			require.ErrorContains(t, err, "expected ACTIVE", text)
		}
	}
}

// TestEmptyParts: a node or application with empty parts is understood.
func TestEmptyParts(t *testing.T) {
	ctx := context.Background()
	for _, what := range nothing() {
		for _, part := range []string{"nodeLabels", "nodeAttributesInfo", "totalResource", "rack", "usedVirtualCores",
			"allocationTags", "resourceUtilization"} {
			body := `{"id":"a:1","nodeHostName":"a","state":"RUNNING","usedMemoryMB":1024,"availMemoryMB":1024,` +
				`"availableVirtualCores":4,"` + part + `":` + what + `}`
			for _, text := range []string{`{"nodes":{"node":` + body + `}}`, `{"nodes":{"node":[` + body + `]}}`,
				`{"nodes":[{"node":[` + body + `]}]}`} {
				got, odd, err := answering(t, 200, []byte(text)).nodes(ctx)
				require.NoError(t, err, text)
				require.Empty(t, odd, text)
				require.Len(t, got, 1, text)
				assert.Empty(t, got[0].partition())
				assert.Empty(t, got[0].AttrInfo.value.All)
				assert.InDelta(t, 2048, got[0].capacity()[Memory], 0, text)
				assert.InDelta(t, 4, got[0].capacity()[VCores], 0, text)
			}
		}
		for _, part := range []string{"progress", "startedTime", "resourceInfo", "timeouts", "preemptedResourceSecondsMap"} {
			text := `{"app":{"id":"application_1_1","state":"RUNNING","` + part + `":` + what + `}}`
			got, err := answering(t, 200, []byte(text)).app(ctx, "application_1_1")
			require.NoError(t, err, text)
			assert.Equal(t, "RUNNING", got.State)
		}
	}
}

// TestSingleParts: a list of one element may be written as that element, and a text that looks like a number as a
// number.
func TestSingleParts(t *testing.T) {
	for _, text := range []string{
		`{"nodes":{"node":{"id":"a:1","nodeHostName":7,"rack":"/r","nodeLabels":5,"totalResource":{"memory":"8","vCores":2},
			"nodeAttributesInfo":{"nodeAttributeInfo":{"prefix":"x","name":"os","value":12.0}}}}}`,
		`{"nodes":{"node":[{"id":"a:1","nodeHostName":"7","rack":"/r","nodeLabels":["5"],` +
			`"totalResource":[{"memory":8,"vCores":"2"}],
			"nodeAttributesInfo":[{"nodeAttributeInfo":[{"prefix":"x","name":"os","value":"12.0"}]}]}]}}`,
	} {
		got, odd, err := answering(t, 200, []byte(text)).nodes(context.Background())
		require.NoError(t, err, text)
		require.Empty(t, odd)
		require.Len(t, got, 1)
		d := &Driver{}
		assert.Equal(t, map[string]string{LabelNode: "a:1", LabelHost: "7", LabelRack: "/r", LabelPartition: "5",
			LabelKind: KindNode, "x/os": "12.0"}, d.labels(&got[0]))
		assert.InDelta(t, 8, got[0].capacity()[Memory], 0)
	}
}

// TestEmptyTags: the tags of an application in a job file may be empty, as in one that the ResourceManager has written.
func TestEmptyTags(t *testing.T) {
	file := func(tags string) []byte {
		return []byte(`{"resources":{"memory-mb":1},"application":{"am-container-spec":{},"application-tags":` + tags + `}}`)
	}
	for _, what := range nothing() {
		for _, tags := range []string{what, `{"tag":` + what + `}`} {
			require.NoError(t, parse("j", file(tags)).problem, tags)
		}
	}
	require.NoError(t, parse("j", file(`{"tag":"x"}`)).problem)
	require.ErrorContains(t, parse("j", file(`{"tag":["1","2","3","4","5","6"]}`)).problem, "6 tags")
	require.Error(t, parse("j", file(`"x"`)).problem)
}
