package nomad

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/nomad/api"

	"github.com/hedgesched/hedge/sched"
)

// predicate is a constraint that is no plain label: nodes that meet it get a label of its text, with the value "true".
type predicate struct {
	left, operand, right string
	holds                func(left, right string) bool
}

// label is the key of the label.
func (p *predicate) label() string {
	return strings.TrimSpace(p.left + " " + p.operand + " " + p.right)
}

// required works out on which nodes the job may run.
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

// datacenters is the set of the nodes in one of them; the names may have wildcards.
func (h *hints) datacenters(names []string) (sched.EquivalenceSet, error) {
	if !strings.Contains(strings.Join(names, ""), "*") {
		return sched.NodesWith("node.datacenter", names...), nil
	}
	var parts []string
	for _, n := range names {
		parts = append(parts, strings.ReplaceAll(regexp.QuoteMeta(n), `\*`, ".*"))
	}
	return h.constraint(&api.Constraint{LTarget: "${node.datacenter}", Operand: "regexp", RTarget: "^(" + strings.Join(parts, "|") + ")$"})
}

// constraint is the set of the nodes that meet it.
func (h *hints) constraint(c *api.Constraint) (sched.EquivalenceSet, error) {
	label, isLabel := labelOf(c.LTarget)
	_, bound := labelOf(c.RTarget)
	switch c.Operand {
	case "", "=", "==", "is":
		if isLabel && !bound {
			return sched.NodesWith(label, c.RTarget), nil
		}
	case "is_set":
		if isLabel {
			return sched.NodesWith(label), nil
		}
	}
	p := predicate{left: c.LTarget, operand: c.Operand, right: c.RTarget}
	if p.operand == "" {
		p.operand = "="
	}
	if p.holds = comparison(p.operand, c.RTarget); p.holds == nil {
		return sched.AnyNode(), fmt.Errorf("comparison %q is not supported", c.Operand)
	}
	h.predicate = append(h.predicate, p)
	return sched.NodesWith(p.label(), "true"), nil
}

// labelOf is the label that an interpolation asks for.
func labelOf(target string) (string, bool) {
	inner, ok := strings.CutPrefix(target, "${")
	inner, end := strings.CutSuffix(inner, "}")
	if !ok || !end {
		return "", false
	}
	return strings.TrimPrefix(inner, "node.meta."), true
}

// meets tells whether a node with these labels does.
func (p *predicate) meets(labels map[string]string) bool {
	left, has := resolve(p.left, labels)
	right, ok := resolve(p.right, labels)
	switch p.operand {
	case "is_set":
		return has
	case "is_not_set":
		return !has
	case "!=", "not":
		return has != ok || left != right
	}
	return has && ok && p.holds(left, right)
}

// resolve is what a side of a constraint is on a node.
func resolve(target string, labels map[string]string) (string, bool) {
	label, ok := labelOf(target)
	if !ok {
		return target, true
	}
	v, ok := labels[label]
	return v, ok
}

// comparison is an operand of Nomad's, nil if there is none of that name that looks at one node alone.
func comparison(operand, right string) func(left, right string) bool {
	switch operand {
	case "=", "==", "is":
		return func(l, r string) bool { return l == r }
	case "!=", "not", "is_set", "is_not_set":
		return func(l, r string) bool { return l != r } // missing sides are seen to before
	case "<", "<=", ">", ">=":
		return func(l, r string) bool { return ordered(operand, l, r) }
	case api.ConstraintRegex:
		expression, err := regexp.Compile(right)
		if err != nil {
			return nil
		}
		return func(l, _ string) bool { return expression.MatchString(l) }
	case api.ConstraintVersion, api.ConstraintSemver:
		return versions
	case api.ConstraintSetContains, "set_contains_all":
		return func(l, r string) bool { return contains(l, r, false) }
	case api.ConstraintSetContainsAny:
		return func(l, r string) bool { return contains(l, r, true) }
	}
	return nil
}

// ordered compares as numbers where both are, and as text otherwise.
func ordered(operand, l, r string) bool {
	c := strings.Compare(l, r)
	a, err := strconv.ParseFloat(l, 64)
	b, bad := strconv.ParseFloat(r, 64)
	if err == nil && bad == nil {
		switch c = 0; {
		case a < b:
			c = -1
		case a > b:
			c = 1
		}
	}
	switch operand {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

// versions tells whether a version meets conditions as ">= 1.2, < 2".
func versions(l, r string) bool {
	v, err := version.NewVersion(l)
	if err != nil {
		return false
	}
	conditions, err := version.NewConstraint(r)
	return err == nil && conditions.Check(v)
}

// contains compares lists with commas.
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
