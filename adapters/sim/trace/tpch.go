package trace

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hedgesched/hedge/internal/form"
)

// sparkTPCH reads measured task durations of Spark's TPC-H queries, as simulators of Decima have them: a query a line.
// The tasks of a stage are those of its first and later waves on the fewest executors that were measured. The log has
// no submissions: all are 0.
type sparkTPCH struct {
	lines
	stages
	ids idSet
}

// query is a line.
type query struct {
	Query  jsontext.Value        `json:"query"`
	Size   jsontext.Value        `json:"size"`
	Edges  [][2]int              `json:"edges"`
	Stages map[string]sparkStage `json:"stages"`
}

// sparkStage has milliseconds, by the number of executors.
type sparkStage struct {
	FirstWave map[string][]float64 `json:"first_wave"`
	RestWave  map[string][]float64 `json:"rest_wave"`
}

func newSparkTPCH(l lines) *sparkTPCH { return &sparkTPCH{lines: l} }

func (p *sparkTPCH) header() *Header { return nil }

func (p *sparkTPCH) at() int { return p.lines.line }

func (p *sparkTPCH) next(job *Job) (string, error) {
	if p.take(job) {
		return "", nil
	}
	line, err := p.full()
	if err != nil {
		return "", err
	}
	var q query
	if err := unmarshalPart(&p.lines, line, &q); err != nil {
		return "", err
	}
	of, err := p.stagesOf(&q)
	if err != nil {
		return "", err
	}
	if err := p.set(&p.lines, "edges", of); err != nil {
		return "", err
	}
	if !p.take(job) {
		return "zero runtime", nil
	}
	return "", nil
}

// unmarshalPart reads the members of a JSON object that are asked for.
func unmarshalPart(l *lines, line []byte, to any) error {
	line = trim(line)
	err := json.Unmarshal(line, to)
	if err == nil {
		return nil
	}
	f := form.Explain(line, err)
	e := l.bad(cmp.Or(f.Path, "line"), f.Found, f.Expected).because("wrong JSON")
	e.Err = f
	return e
}

func (p *sparkTPCH) stagesOf(q *query) ([]Job, error) {
	number, ok := named(q.Query)
	size, okSize := named(q.Size)
	if !ok || !okSize || number == "" || size == "" {
		return nil, p.bad("query", quote(number)+" of size "+quote(size), "texts or numbers")
	}
	whole := "q" + number + "-" + size
	if err := p.newID("query", whole, quote(whole), &p.ids); err != nil {
		return nil, err
	}
	after := map[string][]string{}
	for _, e := range q.Edges {
		to := strconv.Itoa(e[1])
		if parent := whole + "/" + strconv.Itoa(e[0]); !slices.Contains(after[to], parent) {
			after[to] = append(after[to], parent)
		}
		if _, known := q.Stages[to]; !known {
			return nil, p.bad("edges", to, "the name of a stage").because(unknownParent)
		}
	}
	var of []Job
	for _, name := range slices.SortedFunc(maps.Keys(q.Stages), byNumber) {
		s := q.Stages[name]
		j := Job{ID: whole + "/" + name, Of: whole, Line: p.line, Wait: WaitUnknown, After: after[name],
			Attributes: map[string]string{"name": "q" + number, "logical_name": "q" + number + "/" + name, "size": size}}
		for _, wave := range []map[string][]float64{s.FirstWave, s.RestWave} {
			for _, ms := range wave[fewest(s.FirstWave)] {
				if !(ms >= 0 && ms <= 1e3*maxSeconds) {
					return nil, p.bad("stages."+name, fmt.Sprint(ms), "milliseconds from 0 to 3e12")
				}
				j.TaskRuntimes = append(j.TaskRuntimes, time.Duration(ms*1e6))
			}
		}
		if j.Tasks = len(j.TaskRuntimes); j.Tasks == 0 {
			return nil, p.bad("stages."+name, "no durations", "some").because("a stage of no tasks")
		}
		j.Runtime = slices.Max(j.TaskRuntimes)
		of = append(of, j)
	}
	if len(of) == 0 {
		return nil, p.bad("stages", "none", "some").because("no stages")
	}
	return of, nil
}

// fewest is the least of the numbers of executors.
func fewest(wave map[string][]float64) string {
	return slices.MinFunc(append(slices.Collect(maps.Keys(wave)), ""), func(a, b string) int {
		if a == "" || b == "" { // which stands for none
			return -cmp.Compare(len(a), len(b))
		}
		return byNumber(a, b)
	})
}

// byNumber orders names that are mostly whole numbers.
func byNumber(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }
