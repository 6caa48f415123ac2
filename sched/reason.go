package sched

import (
	"fmt"
	"strings"
)

// ReasonCode classifies a reason.
type ReasonCode string

// The reasons of a decision.
const (
	// ReasonPlaced: the job starts now on the nodes given.
	ReasonPlaced ReasonCode = "placed"
	// ReasonDeferred: the job is planned to start later, or not yet; Partition, Slot and Ahead say what binds.
	ReasonDeferred ReasonCode = "deferred"
	// ReasonLater: there is room for the job now, but it is worth more if it starts later, in Slot.
	ReasonLater ReasonCode = "later"
	// ReasonNoFeasibleSet: none of the sets the job may run on can hold its gang, even empty; Obstacle says why.
	ReasonNoFeasibleSet ReasonCode = "no-feasible-set"
	// ReasonNoUtility: the job is predicted not to be worth anything when it completes.
	ReasonNoUtility ReasonCode = "no-utility"
	// ReasonSpent: what the job is worth has run out while it waited.
	ReasonSpent ReasonCode = "spent"
	// ReasonSolverStopped: the solver stopped before it came to the job.
	ReasonSolverStopped ReasonCode = "solver-stopped"
	// ReasonPreempted: the running job makes room for the job named For.
	ReasonPreempted ReasonCode = "preempted"
	// ReasonWaiting: the job waits for the jobs ahead of it in the queue.
	ReasonWaiting ReasonCode = "waiting"
	// ReasonTooLarge: the gang is larger than the nodes it may run on, even empty; Obstacle says by how much.
	ReasonTooLarge ReasonCode = "too-large"
)

// UnknownProbability is the probability of a reason whose policy computes none.
const UnknownProbability = -1

// Reason says why a decision was taken, as data from the numbers the policy
// already had. Fields that do not apply are zero; Probability is then
// [UnknownProbability].
type Reason struct {
	Code ReasonCode `json:"code"`
	// Set is the equivalence set the job was placed on or waits for.
	Set string `json:"set,omitempty"`
	// Partition is the partition that binds: of those that the planned start uses, the one with the least room now.
	Partition string `json:"partition,omitempty"`
	// Slot is the plan-ahead slot of the start, 0 being now.
	Slot int `json:"slot,omitempty"`
	// Ahead are jobs that hold the room this one needs, or are planned to: first those that run, then those that start
	// now, then those that are planned to start, each the nearest first. There are at most 5; More is how many others hold
	// it now. The slice may be shared.
	Ahead []string `json:"ahead,omitempty"`
	More  int      `json:"more,omitempty"`
	// Obstacle is what keeps the job from the nodes there are, even empty; nil if nothing does. It is shared and must not
	// be modified.
	Obstacle *Obstacle `json:"obstacle,omitempty"`
	// Fault is the error for which the job cannot be planned; empty if it can.
	Fault string `json:"fault,omitempty"`
	// For is the job that a preemption makes room for.
	For string `json:"for,omitempty"`
	// Value is the expected utility of the decision.
	Value float64 `json:"value,omitempty"`
	// Probability is that of meeting the deadline with the start that is decided or planned; [UnknownProbability] if none
	// is, or if it is not known. Never NaN. 3Sigma tells whole percents.
	Probability float64 `json:"probability"`
}

// maxSpelt is the number of jobs ahead that a reason spells out.
const maxSpelt = 3

// String is the reason in one line, as "deferred to slot 2 on rack=r1, behind j7, j9; expected utility 12.5; 83% in
// time".
func (r Reason) String() string {
	var b strings.Builder
	b.WriteString(r.headline())
	if r.Fault != "" {
		b.WriteString(": " + r.Fault)
	}
	if len(r.Ahead) > 0 {
		fmt.Fprintf(&b, ", behind %s", strings.Join(r.Ahead[:min(len(r.Ahead), maxSpelt)], ", "))
		if more := max(0, len(r.Ahead)-maxSpelt) + r.More; more > 0 {
			fmt.Fprintf(&b, " and %d more", more)
		}
	}
	if r.Partition != "" {
		fmt.Fprintf(&b, ", bound by %s", r.Partition)
	}
	if r.Value != 0 {
		fmt.Fprintf(&b, "; expected utility %.4g", r.Value)
	}
	if r.Probability > 0 {
		fmt.Fprintf(&b, "; %.0f%% in time", 100*r.Probability)
	}
	return b.String()
}

func (r Reason) headline() string {
	on := ""
	if r.Set != "" {
		on = " on " + r.Set
	}
	switch r.Code {
	case ReasonPlaced:
		return "starts now" + on
	case ReasonDeferred:
		if r.Slot > 0 {
			return fmt.Sprintf("deferred to slot %d%s", r.Slot, on)
		}
		return "deferred" + on
	case ReasonLater:
		return fmt.Sprintf("deferred to slot %d%s, when it is worth more", r.Slot, on)
	case ReasonNoFeasibleSet, ReasonTooLarge:
		if r.Obstacle != nil {
			return "cannot start: " + r.Obstacle.String()
		}
	}
	switch r.Code {
	case ReasonNoFeasibleSet:
		return "no set of nodes can hold the gang" + on
	case ReasonNoUtility:
		return "expected to be worth nothing by the time it is done"
	case ReasonSpent:
		return "worth nothing any more"
	case ReasonSolverStopped:
		return "the solver stopped before a place was found"
	case ReasonPreempted:
		if r.For == "" {
			return "preempted"
		}
		return "preempted for " + r.For
	case ReasonWaiting:
		return "waits" + on
	case ReasonTooLarge:
		if r.Set != "" {
			return "larger than the nodes it may run on, which are " + r.Set
		}
		return "larger than the nodes it may run on"
	case "":
		return "no reason given"
	default:
		return string(r.Code)
	}
}
