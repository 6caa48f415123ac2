package record

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hedgesched/hedge/dist"
	"github.com/hedgesched/hedge/predict"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/utility"
)

// Marshal writes the snapshot as a JSON document on one line, without an end of line; equal snapshots are
// written alike. Snapshots that contradict themselves and jobs that make no sense are refused with an error that
// names the field and wraps [ErrSnapshot] or the sentinel of package sched; distributions
// and utilities of foreign types with one that wraps [dist.ErrForeign].
func Marshal(s *sched.Snapshot) ([]byte, error) {
	data, err := new(encoder).encode(s)
	if err != nil {
		return nil, fmt.Errorf("record.Marshal: %w", err)
	}
	return data, nil
}

// The document, with jobs as they are written or, where they are read, as they stand there. Fields that must be there
// when it is read are those that can be nil and are not tagged omitempty.
type (
	document[J any] struct {
		Version int              `json:"version"`
		Now     *time.Time       `json:"now"`
		Cycle   string           `json:"cycle,omitempty"` // since version 2
		Nodes   jsontext.Value   `json:"nodes"`
		Free    []float64        `json:"free"`
		Dists   []jsontext.Value `json:"dists"`
		Pending []pending[J]     `json:"pending"`
		Held    []pending[J]     `json:"held,omitempty"` // since version 3
		Running []running[J]     `json:"running"`
		Done    []completion     `json:"completed,omitempty"` // since version 2
		Others  []level          `json:"others,omitempty"`    // since version 3
	}
	level     [2]float64 // cpu, memory
	taskUsage struct {
		Index     *int    `json:"index"`
		Node      *string `json:"node"`
		Ran       string  `json:"ran,omitempty"`
		Now       *level  `json:"now"`
		Mean      *level  `json:"mean"`
		Max       *level  `json:"max"`
		Throttled bool    `json:"throttled,omitempty"`
	}
	completion struct {
		Job *string    `json:"job"`
		At  *time.Time `json:"at"`
	}
	node struct {
		Name     *string            `json:"name"`
		Labels   map[string]string  `json:"labels,omitempty"`
		Capacity map[string]float64 `json:"capacity"`
	}
	pending[J any] struct {
		Job        J          `json:"job"`
		Prediction prediction `json:"prediction"`
		Attained   float64    `json:"attained,omitempty"` // since version 3
	}
	running[J any] struct {
		Job        J           `json:"job"`
		Prediction prediction  `json:"prediction"`
		Started    *time.Time  `json:"started"`
		Nodes      []nodeTasks `json:"nodes"`
		Speed      float64     `json:"speed,omitempty"`  // since version 4
		Slowed     bool        `json:"slowed,omitempty"` // until version 3: at the lowest speed
		Use        []taskUsage `json:"use,omitempty"`    // since version 3
	}
	nodeTasks struct {
		Node  *string `json:"node"`
		Tasks *int    `json:"tasks"`
	}
	prediction struct {
		Dist      *int     `json:"dist,omitempty"`
		Point     *float64 `json:"point"`
		Feature   string   `json:"feature,omitempty"`
		Value     string   `json:"value,omitempty"`
		Estimator string   `json:"estimator,omitempty"`
		Samples   int      `json:"samples,omitempty"`

		Usage map[string]prediction `json:"usage,omitempty"` // since version 3
	}
	job struct {
		ID         *string            `json:"id"`
		PartOf     string             `json:"part_of,omitempty"` // since version 3
		Tasks      *int               `json:"tasks"`
		Demand     map[string]float64 `json:"demand,omitempty"`
		Attributes map[string]string  `json:"attributes,omitempty"`
		Utility    jsontext.Value     `json:"utility,omitempty"`
		Deadline   string             `json:"deadline,omitempty"`
		Requested  string             `json:"requested,omitempty"`
		Priority   int                `json:"priority,omitempty"`
		Required   jsontext.Value     `json:"required,omitempty"`
		Speeds     []speed            `json:"speeds,omitempty"`    // since version 4
		Preferred  jsontext.Value     `json:"preferred,omitempty"` // until version 3: the nodes of full speed
		Slowdown   float64            `json:"slowdown,omitempty"`  // until version 3: how much longer it runs elsewhere
		Checkpoint bool               `json:"checkpoint,omitempty"`
		After      []string           `json:"after,omitempty"` // since version 3
		Of         string             `json:"of,omitempty"`    // since version 3
		Submitted  *time.Time         `json:"submitted"`
	}
	speed struct {
		On    jsontext.Value `json:"on,omitempty"` // every node if empty
		Speed *float64       `json:"speed"`
	}
)

// encoder writes snapshots; it keeps what the next one is likely to share.
type encoder struct {
	nodes *sched.NodeSet
	text  jsontext.Value // of nodes

	doc document[job]
	at  map[string]int          // index in doc.Dists, by text
	of  map[*dist.Histogram]int // the same by what the text is of
}

func (e *encoder) encode(s *sched.Snapshot) ([]byte, error) {
	if s == nil || s.Nodes == nil {
		return nil, fmt.Errorf("%w: no nodes", ErrSnapshot)
	}
	if err := check(s); err != nil {
		return nil, err
	}
	if err := e.encodeNodes(s.Nodes); err != nil {
		return nil, err
	}
	e.at, e.of = make(map[string]int), make(map[*dist.Histogram]int)
	now := s.Now.UTC()
	e.doc = document[job]{
		Version: version, Now: &now, Nodes: e.text, Free: s.Free, Dists: []jsontext.Value{},
		Pending: make([]pending[job], len(s.Pending)), Running: make([]running[job], len(s.Running)),
	}
	if s.Cycle != 0 {
		e.doc.Cycle = s.Cycle.String()
	}
	if s.Free == nil {
		e.doc.Free = []float64{}
	}
	for i := range s.Pending {
		if err := e.pending(&e.doc.Pending[i], &s.Pending[i]); err != nil {
			return nil, fmt.Errorf("pending[%d]: %w", i, err)
		}
	}
	if len(s.Held) > 0 {
		e.doc.Held = make([]pending[job], len(s.Held))
	}
	for i := range s.Held {
		if err := e.pending(&e.doc.Held[i], &s.Held[i]); err != nil {
			return nil, fmt.Errorf("held[%d]: %w", i, err)
		}
	}
	for i := range s.Running {
		if err := e.running(&e.doc.Running[i], &s.Running[i], s.Nodes); err != nil {
			return nil, fmt.Errorf("running[%d]: %w", i, err)
		}
	}
	for i, c := range s.Completed {
		if !utf8.ValidString(c.Job) {
			return nil, fmt.Errorf("completed[%d]: %w", i, errNotUTF8)
		}
		at := c.At.UTC()
		e.doc.Done = append(e.doc.Done, completion{Job: &c.Job, At: &at})
	}
	for _, l := range s.Others {
		e.doc.Others = append(e.doc.Others, level{l.CPU, l.Memory})
	}
	return json.Marshal(&e.doc)
}

// encodeNodes does nothing while the nodes are the same.
func (e *encoder) encodeNodes(set *sched.NodeSet) error {
	if e.nodes == set {
		return nil
	}
	nodes := make([]node, set.Len())
	for i := range nodes {
		n := set.Node(i)
		nodes[i] = node{Name: &n.Name, Labels: n.Labels, Capacity: n.Capacity}
		if !areTexts(n.Labels, n.Name) || !areKeys(n.Capacity) {
			return fmt.Errorf("nodes[%d]: %w", i, errNotUTF8)
		}
	}
	text, err := json.Marshal(nodes)
	e.nodes, e.text = set, text
	return err
}

func (e *encoder) pending(to *pending[job], p *sched.Pending) (err error) {
	if to.Job, err = encodeJob(p.Job); err != nil {
		return err
	}
	to.Attained = p.Attained
	to.Prediction, err = e.prediction(p.Prediction)
	return err
}

// running writes nodes by name, also those that the snapshot has as ranges: a record outlives their numbers.
func (e *encoder) running(to *running[job], r *sched.Running, set *sched.NodeSet) (err error) {
	if to.Job, err = encodeJob(r.Job); err != nil {
		return err
	}
	started := r.Started.UTC()
	nodes := r.Nodes
	if len(r.Ranges) > 0 {
		nodes = set.Named(r.Ranges)
	}
	to.Started, to.Speed, to.Nodes = &started, r.Speed, make([]nodeTasks, len(nodes))
	for i := range nodes {
		nt := &nodes[i]
		if to.Nodes[i] = (nodeTasks{Node: &nt.Node, Tasks: &nt.Tasks}); !utf8.ValidString(nt.Node) {
			return fmt.Errorf("nodes[%d]: %w", i, errNotUTF8)
		}
	}
	for i := range r.Use {
		u := &r.Use[i]
		if !utf8.ValidString(u.Node) {
			return fmt.Errorf("use[%d]: %w", i, errNotUTF8)
		}
		out := taskUsage{Index: &u.Index, Node: &u.Node, Now: &level{u.Now.CPU, u.Now.Memory},
			Mean: &level{u.Mean.CPU, u.Mean.Memory}, Max: &level{u.Max.CPU, u.Max.Memory}, Throttled: u.Throttled}
		if u.Ran != 0 {
			out.Ran = u.Ran.String()
		}
		to.Use = append(to.Use, out)
	}
	to.Prediction, err = e.prediction(r.Prediction)
	return err
}

// prediction writes a forecast and those of the usage with it.
func (e *encoder) prediction(p predict.Prediction) (prediction, error) {
	out, err := e.forecast(p)
	if err != nil || p.Usage == nil {
		return out, err
	}
	out.Usage = make(map[string]prediction)
	for _, q := range p.Usage.Quantities() {
		of, _ := p.Usage.Of(q)
		if out.Usage[string(q)], err = e.forecast(of); err != nil {
			return out, fmt.Errorf("usage of %q: %w", q, err)
		}
		if !utf8.ValidString(string(q)) {
			return out, fmt.Errorf("usage: %w", errNotUTF8)
		}
	}
	return out, nil
}

func (e *encoder) forecast(p predict.Prediction) (prediction, error) {
	x := p.Expert
	out := prediction{Point: &p.Point, Feature: x.Feature, Value: x.Value, Estimator: x.Estimator, Samples: p.Samples}
	if !areTexts(nil, x.Feature, x.Value, x.Estimator) {
		return out, fmt.Errorf("prediction: %w", errNotUTF8)
	}
	if p.Dist == nil {
		return out, nil
	}
	at, err := e.dist(p.Dist)
	if err != nil {
		return out, fmt.Errorf("prediction: %w", err)
	}
	out.Dist = &at
	return out, nil
}

// dist is the place of d in the document, in which everything is written once. Many jobs share a history, which
// is long, so that one that was met before is known by its address.
func (e *encoder) dist(d dist.Distribution) (int, error) {
	h, ok := d.(*dist.Histogram)
	if at, known := e.of[h]; ok && known {
		return at, nil
	}
	text, err := dist.Marshal(d)
	if err != nil {
		return 0, err
	}
	at, known := e.at[string(text)]
	if !known {
		at = len(e.doc.Dists)
		e.doc.Dists = append(e.doc.Dists, text)
		e.at[string(text)] = at
	}
	if ok {
		e.of[h] = at
	}
	return at, nil
}

func encodeJob(j *sched.Job) (job, error) {
	submitted := j.Submitted.UTC()
	out := job{
		ID: &j.ID, PartOf: j.PartOf, Tasks: &j.Tasks, Demand: j.Demand, Attributes: j.Attributes,
		Priority: j.Priority, Checkpoint: j.Checkpoint, Submitted: &submitted,
		After: j.After, Of: j.Of,
	}
	if !areTexts(j.Attributes, j.ID, j.Of, j.PartOf) || !areTexts(nil, j.After...) || !areKeys(j.Demand) {
		return out, fmt.Errorf("job: %w", errNotUTF8)
	}
	if j.Deadline != 0 {
		out.Deadline = j.Deadline.String()
	}
	if j.Requested != 0 {
		out.Requested = j.Requested.String()
	}
	var err error
	if out.Required, err = encodeSet(j.Required); err != nil {
		return out, fmt.Errorf("job %q: required: %w", j.ID, err)
	}
	for _, s := range j.Speeds.Of() {
		on, err := encodeSet(s.On)
		if err != nil {
			return out, fmt.Errorf("job %q: speeds: %w", j.ID, err)
		}
		out.Speeds = append(out.Speeds, speed{On: on, Speed: &s.Factor})
	}
	if j.Utility == nil {
		return out, nil
	}
	if out.Utility, err = utility.Marshal(j.Utility); err != nil {
		return out, fmt.Errorf("job %q: %w", j.ID, err)
	}
	return out, nil
}

// encodeSet writes nothing for the set of every node.
func encodeSet(set sched.EquivalenceSet) (jsontext.Value, error) {
	if set.IsAny() {
		return nil, nil
	}
	text, err := json.Marshal(set)
	if err != nil {
		return nil, err
	}
	if back, err := decodeSet("", text); err != nil || back.String() != set.String() {
		return nil, errNotUTF8
	}
	return text, nil
}

// errNotUTF8 is of text that JSON cannot hold; encoding/json would put another in its place.
var errNotUTF8 = fmt.Errorf("%w: text that is not UTF-8", ErrSnapshot)

func areTexts(labels map[string]string, texts ...string) bool {
	for _, t := range texts {
		if !utf8.ValidString(t) {
			return false
		}
	}
	for k, v := range labels {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return false
		}
	}
	return true
}

func areKeys(amounts map[string]float64) bool {
	for k := range amounts {
		if !utf8.ValidString(k) {
			return false
		}
	}
	return true
}
