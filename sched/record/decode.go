package record

import (
	"errors"
	"fmt"
	"time"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/internal/strictjson"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
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
func (m *memo[T]) of(text []byte, read func() T) T {
	v, ok := m.last[string(text)]
	if !ok {
		if v, ok = m.next[string(text)]; ok {
			return v
		}
		v = read()
	}
	if m.next == nil {
		m.next = make(map[string]T, len(m.last))
	}
	m.next[string(text)] = v
	return v
}

// turn makes this snapshot the last one, or forgets it.
func (m *memo[T]) turn(good bool) {
	if good {
		m.last = m.next
	}
	m.next = nil
}

func (d *decoder) decode(data []byte) (*sched.Snapshot, error) {
	o, err := strictjson.Parse(data, func(field, problem string, cause error) error {
		return &dist.FormatError{Func: "record.Unmarshal", Field: field, Problem: problem, Err: cause}
	})
	if err != nil {
		return nil, err
	}
	s := d.snapshot(o)
	err = o.Close()
	var f *fault
	if err == nil && errors.As(check(s), &f) {
		o.Refuse(f.field, f.err.Error(), f.err)
		err = o.Err()
	}
	d.nodes.turn(err == nil)
	d.jobs.turn(err == nil)
	d.dists.turn(err == nil)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// snapshot reads the document. What it and the functions below return after a refusal, which o keeps, is
// nothing to go by.
func (d *decoder) snapshot(o *strictjson.Object) *sched.Snapshot {
	if v := o.Int("version"); v != version {
		o.Refuse("version", fmt.Sprintf("found %d, expected %d", v, version), nil)
	}
	s := &sched.Snapshot{Now: instant(o, "now"), Nodes: d.nodeSet(o), Free: o.Numbers("free")}
	dists := d.distributions(o)
	for _, p := range o.Objects("pending") {
		s.Pending = append(s.Pending, sched.Pending{Job: d.job(p), Prediction: decodePrediction(p.Object("prediction"), dists)})
		_ = p.Close()
	}
	for _, r := range o.Objects("running") {
		s.Running = append(s.Running, d.running(r, dists))
		_ = r.Close()
	}
	return s
}

func (d *decoder) nodeSet(o *strictjson.Object) *sched.NodeSet {
	text := o.Peek("nodes")
	set := d.nodes.of(text, func() *sched.NodeSet {
		var nodes []sched.Node
		for _, n := range o.Objects("nodes") {
			nodes = append(nodes, sched.Node{Name: n.Text("name"), Labels: texts(n, "labels"), Capacity: amounts(n, "capacity")})
			_ = n.Close()
		}
		set, err := sched.NewNodeSet(nodes)
		if err != nil {
			o.Refuse("nodes", err.Error(), err)
		}
		return set
	})
	o.Skip("nodes")
	return set
}

// distributions are those that predictions refer to.
func (d *decoder) distributions(o *strictjson.Object) []dist.Distribution {
	raws := o.Raws("dists")
	out := make([]dist.Distribution, len(raws))
	for i, raw := range raws {
		out[i] = d.dists.of(raw, func() dist.Distribution {
			x, err := dist.Unmarshal(raw)
			if err != nil {
				pass(o, fmt.Sprintf("dists[%d]", i), err)
			}
			return x
		})
	}
	return out
}

// job is that of a pending or running job.
func (d *decoder) job(o *strictjson.Object) *sched.Job {
	j := d.jobs.of(o.Peek("job"), func() *sched.Job { return decodeJob(o.Object("job")) })
	o.Skip("job")
	return j
}

// pass refuses a field for the reason that another package has given.
func pass(o *strictjson.Object, field string, err error) {
	var f *dist.FormatError
	if errors.As(err, &f) {
		if f.Field != "" {
			field += "." + f.Field
		}
		o.Refuse(field, f.Problem, err)
		return
	}
	o.Refuse(field, err.Error(), err)
}

func decodePrediction(o *strictjson.Object, dists []dist.Distribution) predict.Prediction {
	p := predict.Prediction{Point: o.Number("point")}
	if o.Has("dist") {
		if at := o.Int("dist"); at >= 0 && at < len(dists) {
			p.Dist = dists[at]
		} else {
			o.Refuse("dist", fmt.Sprintf("found %d, there are %d", at, len(dists)), nil)
		}
	}
	p.Expert = predict.Expert{Feature: optional(o, "feature"), Value: optional(o, "value"), Estimator: optional(o, "estimator")}
	if o.Has("samples") {
		p.Samples = o.Int("samples")
	}
	_ = o.Close()
	return p
}

func (d *decoder) running(o *strictjson.Object, dists []dist.Distribution) sched.Running {
	r := sched.Running{
		Job:        d.job(o),
		Prediction: decodePrediction(o.Object("prediction"), dists),
		Started:    instant(o, "started"),
		Slowed:     o.Has("slowed") && o.Flag("slowed"),
	}
	for _, nt := range o.Objects("nodes") {
		r.Nodes = append(r.Nodes, sched.NodeTasks{Node: nt.Text("node"), Tasks: nt.Int("tasks")})
		_ = nt.Close()
	}
	return r
}

func decodeJob(o *strictjson.Object) *sched.Job {
	j := &sched.Job{
		ID: o.Text("id"), Tasks: o.Int("tasks"),
		Demand: amounts(o, "demand"), Attributes: texts(o, "attributes"),
		Required: set(o, "required"), Preferred: set(o, "preferred"),
		Submitted: instant(o, "submitted"),
	}
	if o.Has("priority") {
		j.Priority = o.Int("priority")
	}
	if o.Has("slowdown") {
		j.Slowdown = o.Number("slowdown")
	}
	if o.Has("deadline") {
		d, err := time.ParseDuration(o.Text("deadline"))
		if err != nil {
			o.Refuse("deadline", err.Error(), err)
		}
		j.Deadline = d
	}
	if o.Has("utility") {
		u, err := utility.Unmarshal(o.Raw("utility"))
		if err != nil {
			pass(o, "utility", err)
		} else {
			j.Utility = u
		}
	}
	_ = o.Close()
	return j
}

// set is the equivalence set of a field, every node where it is not there.
func set(o *strictjson.Object, key string) sched.EquivalenceSet {
	out := sched.AnyNode()
	if !o.Has(key) {
		return out
	}
	for _, t := range o.Objects(key) {
		label, values := t.Text("key"), t.Texts("values")
		has := t.Has("has") && t.Flag("has")
		term := sched.NodesWith(label, values...)
		switch {
		case has && len(values) > 0:
			t.Refuse("has", "expected no values beside it", nil)
		case !has && len(values) == 0: // two sets have met that have no value in common
			term = sched.NodesWith(label, "a").And(sched.NodesWith(label, "b"))
		}
		_ = t.Close()
		out = out.And(term)
	}
	return out
}

// instant is a time in UTC.
func instant(o *strictjson.Object, key string) time.Time {
	text := o.Text(key)
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		o.Refuse(key, fmt.Sprintf("found %q, expected a time as 2006-01-02T15:04:05.999999999Z", text), err)
	}
	return t.UTC()
}

func optional(o *strictjson.Object, key string) string {
	if o.Has(key) {
		return o.Text(key)
	}
	return ""
}

// texts is an object of strings, nil where it is not there.
func texts(o *strictjson.Object, key string) map[string]string {
	if !o.Has(key) {
		return nil
	}
	m := o.Object(key)
	out := make(map[string]string)
	for _, k := range m.Keys() {
		out[k] = m.Text(k)
	}
	return out
}

// amounts is an object of numbers, nil where it is not there.
func amounts(o *strictjson.Object, key string) map[string]float64 {
	if !o.Has(key) {
		return nil
	}
	m := o.Object(key)
	out := make(map[string]float64)
	for _, k := range m.Keys() {
		out[k] = m.Number(k)
	}
	return out
}
