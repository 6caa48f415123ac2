package fake

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hedgesched/hedge/adapters"
)

// Gate is called before a call that changes something and, with done, after it. An error means that the scheduler dies
// there: the driver returns it and does nothing more.
type Gate func(call string, done bool) error

// Driver is a scheduler's connection: an [adapters.Driver], [adapters.Explainer] and [adapters.Meter].
type Driver struct {
	c      *Cluster
	gate   Gate
	box    []change
	broken bool
	serial uint64
	dead   error
}

var (
	_ adapters.Driver    = (*Driver)(nil)
	_ adapters.Explainer = (*Driver)(nil)
)

// change is an object as a watch reports it.
type change struct {
	at     time.Duration
	serial uint64
	isNode bool
	node   adapters.Node
	job    adapters.Job
}

// Connect opens a connection. The gate may be nil.
func (c *Cluster) Connect(gate Gate) *Driver {
	d := &Driver{c: c, gate: gate, broken: true}
	c.watches = append(c.watches, d)
	return d
}

// Close closes the connection. Running calls arrive all the same.
func (d *Driver) Close() {
	d.c.watches = slices.DeleteFunc(d.c.watches, func(o *Driver) bool { return o == d })
}

// push sends a change to the watch, as far as faults permit.
func (d *Driver) push(ch change) {
	f := &d.c.opt.Faults
	if d.broken || d.c.chance(f.Lose) {
		return
	}
	if d.c.chance(f.Break) {
		d.broken, d.box = true, nil
		return
	}
	for n := 0; n == 0 || n == 1 && d.c.chance(f.Double); n++ {
		d.serial++
		ch.at, ch.serial = d.c.core.Now(), d.serial
		if d.c.chance(f.Delay) {
			ch.at += d.c.upTo(5 * time.Second)
		}
		d.box = append(d.box, ch)
	}
}

// Observe lists everything, or takes what the watch has brought.
func (d *Driver) Observe(_ context.Context, relist bool) (*adapters.View, error) {
	switch {
	case d.dead != nil:
		return nil, d.dead
	case d.c.down:
		return nil, adapters.ErrUnavailable
	case relist || d.broken:
		return d.list(), nil
	}
	v := &adapters.View{Version: d.c.version}
	if len(d.box) == 0 {
		return v, nil
	}
	slices.SortFunc(d.box, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.serial, b.serial))
	})
	n := 0
	for ; n < len(d.box) && d.box[n].at <= d.c.core.Now(); n++ {
		if ch := &d.box[n]; ch.isNode {
			v.Nodes = append(v.Nodes, ch.node)
		} else {
			v.Jobs = append(v.Jobs, ch.job)
		}
	}
	d.box = slices.Delete(d.box, 0, n)
	return v, nil
}

func (d *Driver) list() *adapters.View {
	d.broken = false // what the box holds still comes, late
	v := &adapters.View{Version: d.c.version, Floor: d.c.version, Full: true}
	for _, name := range d.c.names {
		if n := d.c.nodes[name]; !n.told.Gone {
			v.Nodes = append(v.Nodes, n.told)
		}
	}
	for _, id := range d.c.ids {
		v.Jobs = append(v.Jobs, d.c.jobs[id].told)
	}
	return v
}

// call makes a call that changes something.
func (d *Driver) call(name string, epoch uint64, do func() error) error {
	if d.dead != nil {
		return d.dead
	}
	if err := d.pass(name, false); err != nil {
		return err
	}
	c, f := d.c, &d.c.opt.Faults
	fenced := func() error {
		if epoch < c.epoch {
			return fmt.Errorf("%w: %s of epoch %d, the leader's is %d", adapters.ErrFenced, name, epoch, c.epoch)
		}
		c.epoch = epoch
		return do()
	}
	var err error
	switch {
	case c.down, c.chance(f.Fail):
		err = adapters.ErrUnavailable
	case c.chance(f.Late):
		c.core.After(c.upTo(20*time.Second), 0, func() { _ = fenced() })
		err = adapters.ErrUnavailable
	default:
		if c.chance(f.Slow) {
			c.Advance(c.upTo(3 * time.Second))
		}
		if err = fenced(); c.chance(f.Mute) {
			err = adapters.ErrUnavailable
		}
	}
	if gate := d.pass(name, true); gate != nil {
		return gate
	}
	return err
}

// pass calls the gate.
func (d *Driver) pass(name string, done bool) error {
	if d.gate != nil {
		d.dead = d.gate(name, done)
	}
	return d.dead
}

// at finds the job of an action.
func (c *Cluster) at(told *adapters.Job, version uint64) (*job, error) {
	j := c.jobs[told.Spec.ID]
	switch {
	case j == nil || j.told.UID != told.UID:
		return nil, fmt.Errorf("%w: job %q (%s) is gone", adapters.ErrStale, told.Spec.ID, told.UID)
	case j.told.Version != version:
		return nil,
			fmt.Errorf("%w: job %q is at version %d, not %d", adapters.ErrStale, told.Spec.ID, j.told.Version, version)
	}
	return j, nil
}

// Start places the gang node by node. Each call names the version made by the one before.
func (d *Driver) Start(_ context.Context, s *adapters.Start) error {
	version := s.Job.Version
	for i, nt := range s.Nodes {
		err := d.call("start", s.Epoch, func() error {
			j, err := d.c.at(s.Job, version)
			if err != nil {
				return err
			}
			if i == 0 && (len(j.tasks) > 0 || j.over) {
				return fmt.Errorf("%w: job %q has tasks", adapters.ErrStale, s.Job.Spec.ID)
			}
			if i == 0 {
				j.told.Attempt++
				j.size = s.Size
			}
			d.c.place(j, nt.Node, nt.Tasks)
			version = j.told.Version
			return nil
		})
		switch {
		case d.dead != nil:
			return d.dead
		case err != nil && i == 0:
			return err
		case err != nil:
			return nil // the gang is short, which is observed
		}
	}
	return nil
}

// Stop stops the job's tasks.
func (d *Driver) Stop(_ context.Context, s *adapters.Stop) error {
	return d.call("stop", s.Epoch, func() error {
		j, err := d.c.at(s.Job, s.Job.Version)
		if err != nil {
			return err
		}
		before := j.told.Version
		d.c.stopTasks(j, func(*task) bool { return true })
		if !j.over && len(j.tasks) > 0 && !slices.ContainsFunc(j.tasks, func(t *task) bool { return t.State.Holds() }) {
			j.tasks = nil // all of them had ended
		}
		if j.told.Version == before || len(j.tasks) == 0 {
			d.c.jobChanged(j)
		}
		return nil
	})
}

// Explain keeps the note.
func (d *Driver) Explain(_ context.Context, n *adapters.Note) error {
	return d.call("explain", n.Epoch, func() error {
		id := n.Job.Spec.ID
		d.c.notes[id] = append(d.c.notes[id], n.String())
		return nil
	})
}
