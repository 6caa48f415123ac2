package record

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/internal/form"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/usage"
	"github.com/hedgesched/hedge/utility"
)

// Unmarshal reads what [Marshal] writes. Everything else is refused with a [*dist.FormatError] that names the
// field and has the cause.
func Unmarshal(data []byte) (*sched.Snapshot, error) { return new(decoder).decode(data) }

// decoder reads snapshots. What is written as it was in the last one is the same value again: policies
// know by that what has not changed, and it need not be read twice.
type decoder struct {
	nodes memo[*sched.NodeSet]
	jobs  memo[*sched.Job]
	dists memo[dist.Distribution]
}

// memo is what the texts of the last snapshot and of this one stand for.
type memo[T any] struct{ last, next map[string]T }

// of gives what the text stood for, or else what it is found to stand for now.
func (m *memo[T]) of(text []byte, read func(text []byte) (T, error)) (T, error) {
	v, ok := m.last[string(text)]
	if !ok {
		if v, ok = m.next[string(text)]; ok {
			return v, nil
		}
		var err error
		if v, err = read(text); err != nil {
			return v, err
		}
	}
	if m.next == nil {
		m.next = make(map[string]T, len(m.last))
	}
	m.next[string(text)] = v
	return v, nil
}

// turn makes this snapshot the last one, or forgets it.
func (m *memo[T]) turn(good bool) {
	if good {
		m.last = m.next
	}
	m.next = nil
}

func refusal(field, problem string, cause error) error {
	return &dist.FormatError{Func: "record.Unmarshal", Field: field, Problem: problem, Err: cause}
}

// within is what is wrong with a part of the document, with the way to that part put before the field.
func within(part string, err error) error {
	var f *dist.FormatError
	if !errors.As(err, &f) {
		return refusal(part, err.Error(), err)
	}
	return refusal(form.Join(part, f.Field), f.Problem, err)
}

func (d *decoder) decode(data []byte) (*sched.Snapshot, error) {
	s, err := d.snapshot(data)
	var f *fault
	if err == nil && errors.As(check(s), &f) {
		err = refusal(f.field, f.err.Error(), f.err)
	}
	d.nodes.turn(err == nil)
	d.jobs.turn(err == nil)
	d.dists.turn(err == nil)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (d *decoder) snapshot(data []byte) (*sched.Snapshot, error) {
	var doc document[jsontext.Value]
	err := form.Unmarshal(data, &doc, refusal)
	if v := doc.Version; (v < 1 || v > version) && (v != 0 || err == nil) { // of another version anything may be another
		return nil, refusal("version", fmt.Sprintf("found %d, expected 1 to %d", v, version), nil)
	}
	if err != nil {
		return nil, err
	}
	s := &sched.Snapshot{Now: doc.Now.UTC(), Free: doc.Free}
	if s.Cycle, err = decodeCycle(doc.Version, doc.Cycle); err != nil {
		return nil, err
	}
	if doc.Version == 1 && doc.Done != nil {
		return nil, refusal("completed", unknownField, nil)
	}
	if doc.Version < 3 && doc.Held != nil {
		return nil, refusal("held", fmt.Sprintf("unknown field of version %d", doc.Version), nil)
	}
	for _, l := range doc.Others {
		s.Others = append(s.Others, usage.Level{CPU: l[0], Memory: l[1]})
	}
	if s.Nodes, err = d.nodes.of(doc.Nodes, decodeNodes); err != nil {
		return nil, within("nodes", err)
	}
	dists := make([]dist.Distribution, len(doc.Dists))
	for i, text := range doc.Dists {
		if dists[i], err = d.dists.of(text, dist.Unmarshal); err != nil {
			return nil, within(fmt.Sprintf("dists[%d]", i), err)
		}
	}
	for i := range doc.Pending {
		p, err := d.pending(&doc.Pending[i], dists)
		if err != nil {
			return nil, within(fmt.Sprintf("pending[%d]", i), err)
		}
		s.Pending = append(s.Pending, p)
	}
	for i := range doc.Held {
		p, err := d.pending(&doc.Held[i], dists)
		if err != nil {
			return nil, within(fmt.Sprintf("held[%d]", i), err)
		}
		s.Held = append(s.Held, p)
	}
	for i := range doc.Running {
		r, err := d.running(&doc.Running[i], dists)
		if err != nil {
			return nil, within(fmt.Sprintf("running[%d]", i), err)
		}
		s.Running = append(s.Running, r)
	}
	if doc.Version < 3 {
		if field := usageField(s); field != "" {
			return nil, refusal(field, fmt.Sprintf("unknown field of version %d", doc.Version), nil)
		}
	}
	for _, c := range doc.Done {
		s.Completed = append(s.Completed, sched.Completion{Job: *c.Job, At: c.At.UTC()})
	}
	return s, nil
}

// usageField is the first field of a snapshot that versions before 3 do not have; empty if there is none.
func usageField(s *sched.Snapshot) string {
	if s.Others != nil {
		return "others"
	}
	for i := range s.Pending {
		switch p := &s.Pending[i]; {
		case p.Job.PartOf != "":
			return fmt.Sprintf("pending[%d].job.of", i)
		case p.Prediction.Usage != nil:
			return fmt.Sprintf("pending[%d].prediction.usage", i)
		case p.Attained != 0:
			return fmt.Sprintf("pending[%d].attained", i)
		}
	}
	for i := range s.Running {
		switch r := &s.Running[i]; {
		case r.Job.PartOf != "":
			return fmt.Sprintf("running[%d].job.of", i)
		case r.Prediction.Usage != nil:
			return fmt.Sprintf("running[%d].prediction.usage", i)
		case r.Use != nil:
			return fmt.Sprintf("running[%d].use", i)
		}
	}
	return ""
}

const unknownField = "unknown field of version 1"

// firstCycle is the cycle of snapshots of version 1, which do not tell it. Policies took it for granted then.
const firstCycle = 10 * time.Second

func decodeCycle(version int, text string) (time.Duration, error) {
	switch {
	case version == 1 && text != "":
		return 0, refusal("cycle", unknownField, nil)
	case version == 1:
		return firstCycle, nil
	case text == "":
		return 0, nil
	}
	cycle, err := time.ParseDuration(text)
	if err != nil {
		return 0, refusal("cycle", err.Error(), err)
	}
	return cycle, nil
}

func decodeNodes(text []byte) (*sched.NodeSet, error) {
	var in []node
	if err := form.Unmarshal(text, &in, refusal); err != nil {
		return nil, err
	}
	nodes := make([]sched.Node, len(in))
	for i, n := range in {
		nodes[i] = sched.Node{Name: *n.Name, Labels: n.Labels, Capacity: n.Capacity}
	}
	return sched.NewNodeSet(nodes)
}

func (d *decoder) pending(in *pending[jsontext.Value], dists []dist.Distribution) (out sched.Pending, err error) {
	if out.Job, err = d.jobs.of(in.Job, decodeJob); err != nil {
		return out, within("job", err)
	}
	out.Attained = in.Attained
	out.Prediction, err = decodePrediction(&in.Prediction, dists)
	return out, err
}

func (d *decoder) running(in *running[jsontext.Value], dists []dist.Distribution) (out sched.Running, err error) {
	if out.Job, err = d.jobs.of(in.Job, decodeJob); err != nil {
		return out, within("job", err)
	}
	out.Started, out.Speed = in.Started.UTC(), in.Speed
	if in.Slowed {
		out.Speed = out.Job.Speeds.Least()
	}
	for _, nt := range in.Nodes {
		out.Nodes = append(out.Nodes, sched.NodeTasks{Node: *nt.Node, Tasks: *nt.Tasks})
	}
	for i := range in.Use {
		u := &in.Use[i]
		of := func(l *level) usage.Level { return usage.Level{CPU: l[0], Memory: l[1]} }
		t := usage.Task{Index: *u.Index, Node: *u.Node, Now: of(u.Now), Mean: of(u.Mean), Max: of(u.Max),
			Throttled: u.Throttled}
		if u.Ran != "" {
			if t.Ran, err = time.ParseDuration(u.Ran); err != nil {
				return out, refusal(fmt.Sprintf("use[%d].ran", i), err.Error(), err)
			}
		}
		out.Use = append(out.Use, t)
	}
	out.Prediction, err = decodePrediction(&in.Prediction, dists)
	return out, err
}

// decodePrediction reads a forecast and those of the usage with it.
func decodePrediction(in *prediction, dists []dist.Distribution) (predict.Prediction, error) {
	out, err := decodeForecast(in, "prediction", dists)
	if err != nil || in.Usage == nil {
		return out, err
	}
	of := make(map[predict.Quantity]predict.Prediction)
	for _, name := range slices.Sorted(maps.Keys(in.Usage)) {
		q, field := in.Usage[name], "prediction.usage."+name
		if q.Usage != nil {
			return out, refusal(field+".usage", "expected none of a usage", nil)
		}
		if of[predict.Quantity(name)], err = decodeForecast(&q, field, dists); err != nil {
			return out, err
		}
	}
	out.Usage = predict.NewUsage(of)
	return out, nil
}

func decodeForecast(in *prediction, field string, dists []dist.Distribution) (predict.Prediction, error) {
	out := predict.Prediction{
		Point: *in.Point, Samples: in.Samples,
		Expert: predict.Expert{Feature: in.Feature, Value: in.Value, Estimator: in.Estimator},
	}
	if in.Dist == nil {
		return out, nil
	}
	if at := *in.Dist; at < 0 || at >= len(dists) {
		return out, refusal(field+".dist", fmt.Sprintf("found %d, there are %d", at, len(dists)), nil)
	}
	out.Dist = dists[*in.Dist]
	return out, nil
}

func decodeJob(text []byte) (*sched.Job, error) {
	var in job
	err := form.Unmarshal(text, &in, refusal)
	if err != nil {
		return nil, err
	}
	out := &sched.Job{
		ID: *in.ID, PartOf: in.PartOf, Tasks: *in.Tasks, Demand: in.Demand, Attributes: in.Attributes,
		Priority: in.Priority, Checkpoint: in.Checkpoint, Submitted: in.Submitted.UTC(),
		After: in.After, Of: in.Of,
	}
	if out.Required, err = decodeSet("required", in.Required); err != nil {
		return nil, err
	}
	if out.Speeds, err = decodeSpeeds(&in); err != nil {
		return nil, err
	}
	if in.Deadline != "" {
		if out.Deadline, err = time.ParseDuration(in.Deadline); err != nil {
			return nil, refusal("deadline", err.Error(), err)
		}
	}
	if in.Requested != "" {
		if out.Requested, err = time.ParseDuration(in.Requested); err != nil {
			return nil, refusal("requested", err.Error(), err)
		}
	}
	if in.Utility != nil {
		if out.Utility, err = utility.Unmarshal(in.Utility); err != nil {
			return nil, within("utility", err)
		}
	}
	return out, nil
}

// decodeSpeeds are a job's speeds. Before version 4 they stand in two fields.
func decodeSpeeds(in *job) (sched.Speeds, error) {
	if in.Preferred != nil || in.Slowdown != 0 {
		preferred, err := decodeSet("preferred", in.Preferred)
		switch {
		case err != nil:
			return sched.Speeds{}, err
		case in.Speeds != nil:
			return sched.Speeds{}, refusal("speeds", "expected none with preferred and slowdown", nil)
		case in.Slowdown != 0 && !(in.Slowdown >= 1):
			return sched.Speeds{}, refusal("slowdown", fmt.Sprintf("found %v, expected at least 1", in.Slowdown), nil)
		case preferred.IsAny() || in.Slowdown <= 1:
			return sched.Speeds{}, nil
		}
		return sched.SpeedsOf(sched.Speed{On: preferred, Factor: 1}, sched.Speed{Factor: 1 / in.Slowdown}), nil
	}
	var of []sched.Speed
	for i, s := range in.Speeds {
		on, err := decodeSet(fmt.Sprintf("speeds[%d].on", i), s.On)
		if err != nil {
			return sched.Speeds{}, err
		}
		of = append(of, sched.Speed{On: on, Factor: *s.Speed})
	}
	return sched.SpeedsOf(of...), nil
}

// decodeSet is the set that stands in a field, every node where nothing does.
func decodeSet(field string, text jsontext.Value) (sched.EquivalenceSet, error) {
	out := sched.AnyNode()
	if text == nil {
		return out, nil
	}
	var terms []struct {
		Key    *string  `json:"key"`
		Values []string `json:"values"`
		Has    bool     `json:"has,omitempty"`
	}
	if err := form.Unmarshal(text, &terms, refusal); err != nil {
		return out, within(field, err)
	}
	for i, t := range terms {
		term := sched.NodesWith(*t.Key, t.Values...)
		switch {
		case t.Has && len(t.Values) > 0:
			return out, refusal(fmt.Sprintf("%s[%d].has", field, i), "expected no values beside it", nil)
		case !t.Has && len(t.Values) == 0: // two sets have met that have no value in common
			term = sched.NodesWith(*t.Key, "a").And(sched.NodesWith(*t.Key, "b"))
		}
		out = out.And(term)
	}
	return out, nil
}
