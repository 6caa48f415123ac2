package nomad

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/adapters"
)

// nodeID is the node attribute to which the constraint of a placed group applies.
const nodeID = "${node.unique.id}"

// Start registers the job with its gang on the plan's nodes. For a gang of several tasks it first asks Nomad's planner,
// which refuses what Nomad itself has no room for.
func (d *Driver) Start(ctx context.Context, s *adapters.Start) error {
	j, err := reference(s.Job)
	if err != nil {
		return err
	}
	next, err := d.released(j, s)
	if err != nil {
		return err
	}
	if err := d.fence(ctx, s.Epoch); err != nil {
		return err
	}
	if s.Job.Spec.Tasks > 1 {
		if err := d.try(ctx, next); err != nil {
			return err
		}
	}
	if err := d.register(ctx, j, next); err != nil {
		return err
	}
	d.started(ctx, j)
	return nil
}

// reference is the job as it was observed.
func reference(told *adapters.Job) (*job, error) {
	j, ok := told.Ref.(*job)
	if !ok || j == nil || j.template == nil {
		return nil, fmt.Errorf("%w: job %q was not reported by this driver", adapters.ErrRefused, told.Spec.ID)
	}
	return j, nil
}

// released is the job with the gang's groups.
func (d *Driver) released(j *job, s *adapters.Start) (*api.Job, error) {
	at := deref(j.JobModifyIndex)
	next := j.changed(s.Epoch, s.Reason.String())
	next.Meta[keyAttempt] = strconv.Itoa(j.attempt + 1)
	next.Meta[keyStart] = strconv.FormatUint(at, 10)
	next.Meta[keyDone] = strconv.FormatInt(int64(s.Job.Done), 10)
	rank := 0
	for i, nt := range s.Nodes {
		n := d.state.byName(nt.Node)
		if n == nil {
			return nil, fmt.Errorf("%w: node %q is gone", adapters.ErrStale, nt.Node)
		}
		g, err := group(j.template, at, i, n.ID, nt.Tasks, rank)
		if err != nil {
			return nil, fmt.Errorf("%w: job %q: %w", adapters.ErrRefused, s.Job.Spec.ID, err)
		}
		next.TaskGroups = append(next.TaskGroups, g)
		resize(g, s.Size)
		rank += nt.Tasks
	}
	return next, nil
}

// changed is a copy of the job with only the template group, and with meta that makes it a new version.
func (j *job) changed(epoch uint64, reason string) *api.Job {
	next := *j.Job
	next.TaskGroups = []*api.TaskGroup{j.template}
	next.Meta = maps.Clone(j.Meta)
	next.Meta[keyOrigin] = strconv.FormatUint(j.origin, 10)
	next.Meta[keySubmitted] = strconv.FormatInt(j.spec.Submitted.UnixNano(), 10)
	next.Meta[keyActed] = strconv.FormatUint(deref(j.JobModifyIndex), 10)
	next.Meta[keyAttempt] = strconv.Itoa(j.attempt)
	next.Meta[keyStart] = strconv.FormatUint(j.start, 10)
	next.Meta[keyDone] = strconv.FormatInt(int64(j.done), 10)
	next.Meta[keyFailures] = strconv.Itoa(j.failures)
	next.Meta[keyEpoch] = strconv.FormatUint(epoch, 10)
	next.Meta[keyReason] = reason
	if p := deref(j.ParentID); p != "" {
		next.Meta[keyParent] = p // Nomad does not keep it
	}
	delete(next.Meta, keyOver)
	return &next
}

// group is the part of a gang on one node.
func group(template *api.TaskGroup, start uint64, i int, node string, tasks, rank int) (*api.TaskGroup, error) {
	g, err := jsonCopy(template)
	if err != nil {
		return nil, err
	}
	name := groupName(deref(template.Name), start, i)
	g.Name, g.Count, g.Scaling = &name, &tasks, nil
	g.Constraints = append(g.Constraints, api.NewConstraint(nodeID, "=", node))
	none, never, mode := 0, false, "fail"
	g.RestartPolicy = &api.RestartPolicy{Attempts: &none, Mode: &mode}
	g.ReschedulePolicy = &api.ReschedulePolicy{Attempts: &none, Unlimited: &never}
	for _, t := range g.Tasks {
		t.RestartPolicy = &api.RestartPolicy{Attempts: &none, Mode: &mode}
		t.ScalingPolicies = nil
	}
	if g.Meta == nil {
		g.Meta = map[string]string{}
	}
	g.Meta[keyRank] = strconv.Itoa(rank)
	return g, nil
}

// try asks Nomad's planner whether the whole gang has a place.
func (d *Driver) try(ctx context.Context, next *api.Job) error {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	p, _, err := d.client.Jobs().PlanOpts(next, &api.PlanOptions{}, write(ctx, deref(next.Namespace)))
	if err != nil {
		return fail("plan job "+deref(next.ID), err)
	}
	if len(p.FailedTGAllocs) == 0 {
		return nil
	}
	var why []string
	for _, g := range slices.Sorted(maps.Keys(p.FailedTGAllocs)) {
		why = append(why, g+": "+metric(p.FailedTGAllocs[g]))
	}
	return fmt.Errorf("%w: nomad: job %q: no place for %s", adapters.ErrRefused, deref(next.ID), strings.Join(why, "; "))
}

// metric says why a group has no place.
func metric(m *api.AllocationMetric) string {
	if m == nil {
		return "unknown"
	}
	var why []string
	for _, of := range []map[string]int{m.DimensionExhausted, m.ConstraintFiltered, m.ClassExhausted} {
		why = append(why, slices.Sorted(maps.Keys(of))...)
	}
	why = append(why, m.QuotaExhausted...)
	if len(why) == 0 {
		return "no node takes it"
	}
	return strings.Join(why, ", ")
}

// write are the options of a call that changes something.
func write(ctx context.Context, namespace string) *api.WriteOptions {
	return (&api.WriteOptions{Namespace: namespace}).WithContext(ctx)
}

// register replaces the observed version of the job by the next one.
func (d *Driver) register(ctx context.Context, j *job, next *api.Job) error {
	ctx, cancel := d.bound(ctx)
	defer cancel()
	_, _, err := d.client.Jobs().EnforceRegister(next, deref(j.JobModifyIndex), write(ctx, deref(next.Namespace)))
	return fail("register job "+deref(next.ID), err)
}

// Stop registers the job without its gang. A job that is over is stopped for good.
func (d *Driver) Stop(ctx context.Context, s *adapters.Stop) error {
	j, err := reference(s.Job)
	if err != nil {
		return err
	}
	why := string(s.Cause)
	if text := s.Reason.String(); s.Cause == adapters.CausePreempted && text != "" {
		why += ": " + text
	}
	next := j.changed(s.Epoch, why)
	if s.Job.Over {
		stop := true
		next.Stop = &stop
		if s.Job.Err != nil && !errors.Is(s.Job.Err, ErrStopped) {
			next.Meta[keyOver] = s.Job.Err.Error()
		}
	} else if slices.ContainsFunc(s.Job.Tasks,
		func(t adapters.Task) bool { return t.State == adapters.Failed && !errors.Is(t.Err, ErrStopped) }) {
		next.Meta[keyFailures] = strconv.Itoa(j.failures + 1)
	}
	if err := d.fence(ctx, s.Epoch); err != nil {
		return err
	}
	return d.register(ctx, j, next)
}
