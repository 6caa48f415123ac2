package nomad

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/sched"
)

// predicate is a constraint that is not a plain label. Nodes that meet it get a label with its text and the value
// "true".
type predicate struct {
	left, operand, right string
	holds                func(left string) bool            // nil if the right side depends on the node
	kept                 map[string]func(left string) bool // in that case: by right side; nil for a wrong one
}

// label is the label's key.
func (p *predicate) label() string {
	return strings.TrimSpace(p.left + " " + p.operand + " " + p.right)
}

// required sets the nodes on which the job may run.
func (h *hints) required(job *api.Job) error {
	set := sched.AnyNode()
	all := slices.Concat(job.Constraints, h.template.Constraints)
	for _, t := range h.template.Tasks {
		all = append(all, t.Constraints...)
		if t.Driver != "" {
			set = set.And(sched.NodesWith("driver."+t.Driver, "true"))
		}
	}
	if pool := deref(job.NodePool); pool == "" {
		set = set.And(sched.NodesWith("node.pool", api.NodePoolDefault))
	} else if pool != api.NodePoolAll {
		set = set.And(sched.NodesWith("node.pool", pool))
	}
	if len(job.Datacenters) > 0 && !slices.Contains(job.Datacenters, "*") {
		one, err := h.datacenters(job.Datacenters)
		if err != nil {
			return err
		}
		set = set.And(one)
	}
	for _, c := range all {
		one, err := h.constraint(c)
		if err != nil {
			return fmt.Errorf("constraint %q %s %q: %w", c.LTarget, c.Operand, c.RTarget, err)
		}
		set = set.And(one)
	}
	h.spec.Required = set
	return nil
}

// datacenters is the set of the nodes in one of these datacenters. The names may have wildcards.
func (h *hints) datacenters(names []string) (sched.EquivalenceSet, error) {
	if !strings.Contains(strings.Join(names, ""), "*") {
		return sched.NodesWith("node.datacenter", names...), nil
	}
	var parts []string
	for _, n := range names {
		parts = append(parts, strings.ReplaceAll(regexp.QuoteMeta(n), `\*`, ".*"))
	}
	return h.constraint(
		&api.Constraint{LTarget: "${node.datacenter}", Operand: "regexp", RTarget: "^(" + strings.Join(parts, "|") + ")$"})
}

// constraint is the set of the nodes that meet the constraint.
func (h *hints) constraint(c *api.Constraint) (sched.EquivalenceSet, error) {
	p := predicate{left: c.LTarget, operand: c.Operand, right: c.RTarget}
	if p.operand == "" {
		p.operand = "="
	}
	label, isLabel := labelOf(c.LTarget)
	bound := interpolated(c.RTarget)
	switch {
	case p.operand == api.ConstraintDistinctHosts && disabled(c.RTarget):
		return sched.AnyNode(), nil
	case isLabel && !bound && equality(p.operand):
		return sched.NodesWith(label, c.RTarget), nil
	case isLabel && p.operand == api.ConstraintAttributeIsSet:
		return sched.NodesWith(label), nil
	}
	// This also checks an interpolated right side: Nomad rejects one that is wrong as written.
	holds, err := comparison(p.operand, c.RTarget)
	if err != nil {
		return sched.AnyNode(), err
	}
	if bound {
		p.kept = map[string]func(string) bool{}
	} else {
		p.holds = holds
	}
	h.predicate = append(h.predicate, p)
	return sched.NodesWith(p.label(), "true"), nil
}

// disabled reports whether a switch is off. A switch that is missing, or neither on nor off, is on.
func disabled(right string) bool {
	on, err := strconv.ParseBool(right)
	return err == nil && !on
}

func equality(operand string) bool { return operand == "=" || operand == "==" || operand == "is" }

// interpolated reports whether a side of a constraint refers to something of the node. Like Nomad, it only looks at the
// beginning.
func interpolated(target string) bool { return strings.HasPrefix(target, "${") }

// labelOf is the label that an interpolation refers to, if Nomad has one of that name for constraints.
func labelOf(target string) (string, bool) {
	switch target {
	case "${node.unique.id}", "${node.unique.name}", "${node.datacenter}", "${node.class}", "${node.pool}":
		return strings.TrimSuffix(strings.TrimPrefix(target, "${"), "}"), true
	}
	if strings.HasPrefix(target, "${attr.") || strings.HasPrefix(target, "${meta.") {
		return strings.TrimSuffix(strings.TrimPrefix(target, "${"), "}"), true
	}
	return "", false
}

// meets reports whether a node with these labels meets the constraint. A side that the node does not have counts as an
// empty text for !=, and otherwise fails.
func (p *predicate) meets(labels map[string]string) bool {
	left, has := resolve(p.left, labels)
	right, ok := resolve(p.right, labels)
	switch p.operand {
	case api.ConstraintAttributeIsSet:
		return has
	case api.ConstraintAttributeIsNotSet:
		return !has
	case "!=", "not":
		return left != right
	}
	if !has || !ok {
		return false
	}
	holds := p.holds
	if holds == nil {
		holds = p.comparison(right)
	}
	return holds != nil && holds(left)
}

// maxKept is the maximum number of right sides whose tests a predicate keeps.
const maxKept = 1000

// comparison is the test for a node's right side, or nil if the text is wrong. Each text is parsed once.
func (p *predicate) comparison(right string) func(left string) bool {
	holds, ok := p.kept[right]
	if !ok {
		var err error
		if holds, err = comparison(p.operand, right); err != nil {
			holds = nil
		}
		if len(p.kept) >= maxKept { // values of nodes may change for ever
			clear(p.kept)
		}
		if p.kept != nil {
			p.kept[right] = holds
		}
	}
	return holds
}

// resolve is the value of a side of a constraint on a node.
func resolve(target string, labels map[string]string) (string, bool) {
	if !interpolated(target) {
		return target, true
	}
	label, ok := labelOf(target)
	if !ok {
		return "", false
	}
	v, ok := labels[label]
	return v, ok
}

// comparison turns one of Nomad's operands and its right side into a test of the left side. Operands that look at more
// than one node are not supported.
func comparison(operand, right string) (func(left string) bool, error) {
	switch operand {
	case "=", "==", "is":
		return func(l string) bool { return l == right }, nil
	case "!=", "not", api.ConstraintAttributeIsSet, api.ConstraintAttributeIsNotSet:
		return func(l string) bool { return l != right }, nil // the caller has handled missing sides
	case "<", "<=", ">", ">=":
		return func(l string) bool { return ordered(operand, l, right) }, nil
	case api.ConstraintRegex:
		expression, err := regexp.Compile(right)
		if err != nil {
			return nil, err
		}
		return expression.MatchString, nil
	case api.ConstraintVersion:
		conditions, err := version.NewConstraint(right)
		if err != nil {
			return nil, fmt.Errorf("%q is no version constraint: %w", right, err)
		}
		return versions(conditions.Check), nil
	case api.ConstraintSemver:
		check, err := semver(right)
		if err != nil {
			return nil, err
		}
		return versions(check), nil
	case api.ConstraintSetContains, "set_contains_all":
		return func(l string) bool { return contains(l, right, false) }, nil
	case api.ConstraintSetContainsAny:
		return func(l string) bool { return contains(l, right, true) }, nil
	}
	return nil, fmt.Errorf("comparison %q is not supported", operand)
}

// ordered compares as integers if both are, otherwise as numbers if both are, and otherwise as text.
func ordered(operand, l, r string) bool {
	a, err := strconv.ParseInt(l, 10, 64)
	b, bad := strconv.ParseInt(r, 10, 64)
	if err == nil && bad == nil {
		return inOrder(operand, a, b)
	}
	x, err := strconv.ParseFloat(l, 64)
	y, bad := strconv.ParseFloat(r, 64)
	if err == nil && bad == nil {
		return inOrder(operand, x, y)
	}
	return inOrder(operand, l, r)
}

func inOrder[T cmp.Ordered](operand string, l, r T) bool {
	switch operand {
	case "<":
		return l < r
	case "<=":
		return l <= r
	case ">":
		return l > r
	}
	return l >= r
}

// versions applies the check to a text if it is a version.
func versions(check func(*version.Version) bool) func(string) bool {
	return func(l string) bool {
		v, err := version.NewVersion(l)
		return err == nil && check(v)
	}
}

var errSemver = errors.New(
	"it is no semver constraint, expected conditions as \">= 1.6.0, < 2.0.0\"; Nomad's \"version\" has ~> beside")

// semver parses conditions by the order of Semantic Versioning 2.0, in which a pre-release is a version like any other.
// Package version orders versions that way, but its conditions leave out pre-releases.
func semver(text string) (func(*version.Version) bool, error) {
	var conditions []func(*version.Version) bool
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		operator := part[:len(part)-len(strings.TrimLeft(part, "<>=!"))]
		than, err := version.NewSemver(strings.TrimSpace(part[len(operator):]))
		if err != nil {
			return nil, fmt.Errorf("%q: %w: %w", text, errSemver, err)
		}
		var condition func(*version.Version) bool
		switch operator {
		case "", "=":
			condition = than.Equal
		case "!=":
			condition = func(v *version.Version) bool { return !v.Equal(than) }
		case "<", "<=", ">", ">=":
			condition = func(v *version.Version) bool { return inOrder(operator, v.Compare(than), 0) }
		default:
			return nil, fmt.Errorf("%q: %w", text, errSemver)
		}
		conditions = append(conditions, condition)
	}
	return func(v *version.Version) bool {
		return !slices.ContainsFunc(conditions, func(holds func(*version.Version) bool) bool { return !holds(v) })
	}, nil
}

// contains compares comma-separated lists.
func contains(have, want string, any bool) bool {
	list := map[string]bool{}
	for v := range strings.SplitSeq(have, ",") {
		list[strings.TrimSpace(v)] = true
	}
	for v := range strings.SplitSeq(want, ",") {
		if list[strings.TrimSpace(v)] == any {
			return any
		}
	}
	return !any
}
