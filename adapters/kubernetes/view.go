package kubernetes

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hedgesched/hedge/adapters"
	"github.com/hedgesched/hedge/sched"
)

// waits is the problem of a gang whose pods do not all exist, and how many do. It wraps [adapters.ErrIncomplete].
type waits string

func (w waits) Error() string { return "kubernetes: not all pods of the gang are there: " + string(w) }
func (w waits) Unwrap() error { return adapters.ErrIncomplete }

// view reports the changed objects, or all.
func (m *model) view(full bool, now time.Time) *adapters.View {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := &adapters.View{Version: slices.Max(m.seen[:]), Floor: slices.Min(m.floor[:]), Full: full}
	maps.DeleteFunc(m.removed, func(name string, _ struct{}) bool { return len(m.on[name]) == 0 })
	lost := m.silentLong()
	if full {
		m.forgetClasses()
		m.forgetClaimants()
	}
	m.viewNodes(v, full)
	ids := slices.Sorted(maps.Keys(m.dirtyGangs))
	if full {
		ids = slices.Sorted(maps.Keys(m.gangs))
	}
	for _, id := range ids {
		if g := m.gangs[id]; full && len(g.pods) == 0 && m.batchOf(id) == nil {
			delete(m.gangs, id) // so it is not reported again
			continue
		}
		if j, ok := m.job(m.gangs[id], now, lost); ok {
			v.Jobs = append(v.Jobs, j)
		}
	}
	clear(m.dirtyGangs)
	if full {
		v.Unsaid = m.outdated(v.Jobs)
	}
	return v
}

// silentLong reports whether pods on silent nodes may be given up. It also marks the jobs on silent nodes as changed.
func (m *model) silentLong() bool {
	silent, all := 0, 0
	for _, n := range m.nodes {
		if !n.chosen {
			continue
		}
		all++
		if !n.silent.IsZero() {
			silent++
			for _, p := range n.on {
				if p.gang != "" {
					m.dirtyGangs[p.gang] = true
				}
			}
		}
	}
	return 2*silent <= all
}

// forgetClasses drops classes and ports that no job uses any more.
func (m *model) forgetClasses() {
	clear(m.classes)
	clear(m.ports)
	for _, p := range m.pods {
		if p.shape != nil {
			m.want(p.shape)
		}
	}
	for _, b := range m.batch {
		if !b.single {
			m.want(b.shape)
		}
	}
	m.allNodes = false
}

func (m *model) viewNodes(v *adapters.View, full bool) {
	names := slices.Sorted(maps.Keys(m.dirtyNodes))
	if full || m.allNodes {
		names = slices.Sorted(maps.Keys(m.nodes))
	}
	for _, name := range names {
		n := m.nodes[name]
		switch {
		case n != nil && n.chosen:
			v.Nodes = append(v.Nodes, m.node(n))
			n.shown = true
		case full:
		case n == nil, n.shown: // it no longer exists, or is no longer ours
			v.Nodes = append(v.Nodes, adapters.Node{Node: sched.Node{Name: name}, Gone: true})
		}
	}
	if m.allNodes && !full {
		for name := range m.dirtyNodes {
			if m.nodes[name] == nil {
				v.Nodes = append(v.Nodes, adapters.Node{Node: sched.Node{Name: name}, Gone: true})
			}
		}
	}
	if full || m.allNodes || len(m.dirtyNodes) > 0 {
		m.ground = nil
		for id, g := range m.gangs {
			if g.mixed {
				m.dirtyGangs[id] = true
			}
		}
	}
	m.allNodes = false
	clear(m.dirtyNodes)
}

// node reports a node without its version: the report is always the newest state that is known.
func (m *model) node(n *node) adapters.Node {
	out := adapters.Node{Node: sched.Node{Name: n.name, Labels: maps.Clone(n.labels), Capacity: maps.Clone(n.capacity)},
		Cordoned: n.closed}
	if out.Labels == nil {
		out.Labels = map[string]string{}
	}
	for label, c := range m.classes {
		if c.fits(n) {
			out.Labels[label] = "true"
		}
	}
	for port := range m.ports {
		out.Capacity[port] = 1
	}
	out.Foreign = n.foreign()
	return out
}

// foreign is what other schedulers' pods hold of the node, nil if there are none.
func (n *node) foreign() sched.Resources {
	var out sched.Resources
	for _, p := range n.on {
		if p.gang != "" || p.terminal() {
			continue
		}
		if out == nil {
			out = sched.Resources{}
		}
		for r, d := range p.request {
			out[r] += d
		}
	}
	return out
}

// job reports a job, if there is anything to report.
func (m *model) job(g *gang, now time.Time, giveUp bool) (adapters.Job, bool) {
	if g == nil {
		return adapters.Job{}, false
	}
	b := m.batchOf(g.id)
	if len(g.pods) == 0 && b == nil {
		if g.shown != nil { // its controller may create new pods; a full view forgets the gang
			out := adapters.Job{Spec: g.shown, UID: g.shownUID, Version: g.version,
				Problem: waits(fmt.Sprintf("0 of %d", g.shown.Tasks))}
			return out, true
		}
		delete(m.gangs, g.id)
		out := adapters.Job{Spec: &sched.Job{ID: g.id}, UID: g.shownUID, Version: g.version, Gone: true}
		return out, g.shownUID != ""
	}
	all := slices.SortedFunc(maps.Values(g.pods), func(x, y *pod) int {
		return cmp.Or(cmp.Compare(x.index, y.index), x.created.Compare(y.created), strings.Compare(x.name, y.name))
	})
	out := adapters.Job{Version: g.version}
	owner := identity(&out, all, b)
	g.shownUID = out.UID
	size := 0
	for _, p := range all {
		out.Attempt = max(out.Attempt, p.attempt)
	}
	ready, ended, off := 0, 0, away{suspended: b != nil && b.suspended}
	for _, p := range all {
		mine := p.owner == owner
		switch {
		case p.ready() && mine:
			if ready++; out.Problem == nil {
				out.Problem = p.problem
			}
		case p.at() == "" || p.cleared || p.stopped() || p.terminal() && (!mine || p.attempt != out.Attempt):
			if mine && p.cleared && p.phase == corev1.PodSucceeded {
				ended++
			}
			if mine || b == nil {
				off.add(p, mine)
			}
		default:
			out.Tasks = append(out.Tasks, m.task(p, mine, now, giveUp))
			size = max(size, p.of)
		}
	}
	if size == 0 {
		size = m.gangSize(&out, all, b, ended)
	}
	m.describe(&out, g, all, b, owner, size)
	if g.shown = nil; b == nil && owner != "" && all[0].group != "" {
		g.shown = out.Spec
	}
	out.Over, out.Err = over(all, b, owner, ready, out.Tasks)
	if out.Short = len(out.Tasks) > 0 && len(out.Tasks) < size; out.Short && out.Err == nil {
		out.Err = resized(all, b, out.Attempt, size)
	}
	if len(out.Tasks) == 0 && !out.Over && out.Problem == nil {
		out.Problem = miscounted(ready, size, &off)
	}
	return out, true
}

// resized is an error if the sizes on the pods of an attempt differ, which happens only if somebody has changed them.
// It is unknown which of them is right, except for a single pod.
func resized(all []*pod, b *batch, attempt, size int) error {
	alone := b == nil && all[0].group == ""
	sizes := map[int]bool{}
	for _, p := range all {
		if p.at() != "" && p.attempt == attempt && p.of > 0 {
			sizes[p.of] = true
		}
	}
	var said []string
	for _, of := range slices.Sorted(maps.Keys(sizes)) {
		said = append(said, strconv.Itoa(of))
	}
	switch {
	case alone && size != 1:
		return &HintError{Annotation: sizeAnnotation, Value: strconv.Itoa(size),
			Want: "1, as it was bound: the scheduler writes it"}
	case len(said) > 1:
		return fmt.Errorf(
			"kubernetes: annotation %s differs among the pods of one start: %s; the scheduler writes it, the same on all",
			sizeAnnotation, strings.Join(said, ", "))
	}
	return nil
}

// away counts the pods of a gang that exist but do not count. Pods of other controllers may be from an earlier job of
// the same name.
type away struct {
	others, gated, going int
	suspended            bool // the Job is suspended and makes no pods
}

func (a *away) add(p *pod, mine bool) {
	switch {
	case p.at() != "" || p.terminal():
	case p.ready():
		a.others++
	case !mine:
	case p.gated && !p.deleting && !p.evicted:
		a.gated++
	default:
		a.going++
	}
}

// miscounted is the problem of a gang with too few or too many pods.
func miscounted(ready, size int, off *away) error {
	if ready > size {
		return fmt.Errorf("kubernetes: the gang has %d pods, expected %d", ready, size)
	}
	if ready == size && off.others > 0 {
		return waits(
			fmt.Sprintf("pods of more than one controller wait in it, where all must be of one: of the newest %d, of others %d",
				ready, off.others))
	}
	if ready == size {
		return nil
	}
	text := fmt.Sprintf("%d of %d", ready, size)
	if off.others > 0 {
		text += fmt.Sprintf("; of another controller, where all must be of one: %d", off.others)
	}
	if off.gated > 0 {
		text += fmt.Sprintf("; with a scheduling gate: %d", off.gated)
	}
	if off.going > 0 {
		text += fmt.Sprintf("; being deleted: %d", off.going)
	}
	if off.suspended {
		text += "; the Job is suspended"
	}
	return waits(text)
}

// identity sets the id that distinguishes jobs of the same name: that of the Job, of the pods' controller, or of the
// oldest pod. It returns the owner whose pods count.
func identity(out *adapters.Job, all []*pod, b *batch) (owner types.UID) {
	if b != nil {
		out.UID = string(b.uid)
		return b.uid
	}
	newest, oldest := all[0], all[0]
	for _, p := range all {
		if p.created.After(newest.created) {
			newest = p
		}
		if p.created.Before(oldest.created) {
			oldest = p
		}
	}
	if newest.owner != "" && newest.group != "" {
		out.UID = string(newest.owner)
	} else {
		out.UID = string(oldest.uid)
	}
	return newest.owner
}

// gangSize is the number of pods that the next start must have. If it is wrong, it sets the job's problem.
func (m *model) gangSize(out *adapters.Job, all []*pod, b *batch, ended int) int {
	switch {
	case b != nil:
		if b.size > adapters.MaxTasks {
			out.Problem = fmt.Errorf("kubernetes: the Job asks for %d pods at once, expected at most %d", b.size,
				adapters.MaxTasks)
			return 1
		}
		return max(1, b.size-max(b.succeeded, ended))
	case all[0].group == "":
		switch id := all[0].job; {
		case id == "" || m.batch[id] != nil: // the Job says whether they are a gang, and has hints
		case m.others[id] == nil:
			out.Problem = waits("its Job is not known")
		case all[0].gang == id:
			out.Problem = waits("the template of its Job names another scheduler; with the annotation " + GangAnnotation +
				` of "false" its pods are jobs of their own`)
		}
		return 1
	}
	text := all[0].size
	for _, p := range all {
		if p.size != text {
			out.Problem = fmt.Errorf("kubernetes: pods of the gang say %s of %q and %q", sizeLabels()[0], text, p.size)
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > adapters.MaxTasks {
		out.Problem = fmt.Errorf("kubernetes: %s is %q, expected a number from 1 to %d", sizeLabels()[0], text,
			adapters.MaxTasks)
		return 1
	}
	return n
}

// task reports a bound pod.
func (m *model) task(p *pod, mine bool, now time.Time, giveUp bool) adapters.Task {
	t := adapters.Task{Node: p.at(), Started: p.started}
	switch {
	case p.phase == corev1.PodSucceeded:
		t.State = adapters.Finished
	case p.phase == corev1.PodFailed:
		t.State, t.Err = adapters.Failed, errors.New(p.failure)
	case m.lost(p, now, giveUp):
		t.State = adapters.Lost
	case p.deleting || p.evicted || !mine:
		t.State = adapters.Stopping
	case p.phase == corev1.PodRunning:
		t.State = adapters.Running
	}
	if p.terminal() {
		if t.Ended = p.ended; t.Ended.IsZero() {
			t.Ended = p.started
		}
	}
	return t
}

// lost reports whether the pod's node no longer exists, or has been silent for longer than the pod tolerates.
func (m *model) lost(p *pod, now time.Time, giveUp bool) bool {
	n := m.nodes[p.at()]
	if n == nil {
		_, removed := m.removed[p.at()]
		return removed || m.seen[nodes] >= p.version
	}
	if n.silent.IsZero() || !giveUp || p.shape.patience < 0 {
		return false
	}
	patience := m.opt.Patience
	if p.shape.patience > 0 {
		patience = time.Duration(p.shape.patience) * time.Second
	}
	return now.Sub(n.silent) >= patience
}

// over reports whether nothing creates pods of the job any more.
func over(all []*pod, b *batch, owner types.UID, ready int, tasks []adapters.Task) (bool, error) {
	if b != nil {
		if b.failure != "" {
			return true, errors.New("kubernetes: the Job has failed: " + b.failure)
		}
		return b.over, nil
	}
	if owner != "" && all[0].group != "" || ready > 0 {
		return false, nil // there may be new pods
	}
	for _, p := range all {
		if !p.terminal() {
			return false, nil
		}
	}
	for i := range tasks {
		if tasks[i].Err != nil {
			return true, fmt.Errorf("kubernetes: a pod has failed: %w", tasks[i].Err)
		}
	}
	return true, nil
}
