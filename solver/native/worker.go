package native

import (
	"github.com/hedgesched/hedge/solver"
)

// worker is one search of the problem, by parts that share its progress:
//
//	progress     problem, plan in hand, best plan, prices with their bound, budget of work and time
//	greedy       plans from nothing, by value or by prices
//	local        ruin and recreate round the best plan
//	relaxation   the linear relaxation by column generation, over the master lp
//	node         the same with some jobs decided: a node of the search
//	rounding     plans from a node's solution
//	dive         decisions by the solution until there is a plan
//	separator    cuts
//	branching    what to divide a node by
//	conflicts    choices whose tasks cannot be split over the partitions in whole
//	tree         branch and price, for the proof
//	cores        small sets of jobs by their own relaxations
//	recall       what the last cycle's solve has left
//
// The worker itself says what comes when. Engines pool workers, whose parts keep their scratch memory.
type worker struct {
	progress
	greedy     greedy
	local      local
	lp         master
	relaxation relaxation
	node       node
	rounding   rounding
	dive       dive
	cuts       cuts
	separator  separator
	branching  branching
	conflicts  conflicts
	tree       tree
	cores      cores
	recall     recall

	memory *solver.Memory // what the caller has handed on; nil asks for none
	noted  *root          // what this solve leaves to the next of its relaxation

	team   *team     // nil for a worker that works alone
	crew   []*worker // the helpers of the last team, kept for the next
	number int       // in the team; the leader is 0
}

// newWorker joins the parts together.
func newWorker() *worker {
	w := &worker{}
	p, lp, rel, n, r := &w.progress, &w.lp, &w.relaxation, &w.node, &w.rounding
	w.greedy = greedy{progress: p, recall: &w.recall}
	w.local = local{progress: p, greedy: &w.greedy}
	w.relaxation = relaxation{progress: p, recall: &w.recall, lp: lp}
	w.node = node{progress: p, greedy: &w.greedy, relaxation: rel, lp: lp}
	w.rounding = rounding{progress: p, greedy: &w.greedy, relaxation: rel, node: n, lp: lp}
	w.dive = dive{progress: p, relaxation: rel, node: n, rounding: r, lp: lp}
	w.separator = separator{progress: p, greedy: &w.greedy, relaxation: rel, node: n, rounding: r, lp: lp, cuts: &w.cuts}
	w.branching = branching{progress: p, relaxation: rel, node: n, rounding: r, lp: lp}
	w.conflicts = conflicts{progress: p, relaxation: rel, node: n, rounding: r, lp: lp}
	w.tree = tree{progress: p, node: n, rounding: r, branching: &w.branching, conflicts: &w.conflicts}
	w.cores = cores{progress: p, greedy: &w.greedy, relaxation: rel, node: n, rounding: r, branching: &w.branching, lp: lp, cuts: &w.cuts}
	w.recall = recall{progress: p}
	w.meters = [...]*int64{&w.cur.Ops, &w.dual.ops, &w.lp.ops, &w.cores.coreLP.ops}
	w.dual.late, w.greedy.pre.Late = w.late, w.late
	w.meet = w.meetTeam
	return w
}
