// Package decisionlog reads and checks the decision logs that simulations write, and derives a run's metrics from them.
// It shares no code with the simulator, so its checks are independent.
//
// A log has a JSON object per line, in order of time. It may be compressed with gzip. Times are decimal seconds since
// the start of the simulation, exact to the nanosecond:
//
//	{"t":0,"event":"cluster","schema":1,"policy":"fifo","seed":1,"cycle":10,"span":7200,"tasks_per_node":1,
//	   "nodes":[{"node":"n0000","tasks":1,"capacity":{"node":1},"labels":{"rack":"r00"}}]}
//	{"t":3.5,"event":"submit","job":"j1","class":"slo","tasks":2,"deadline":90,"runtime":40,
//	   "slowdown":1.5,"checkpoint":true,"after":["j0"],"of":"j","demand":{"cpu":2},"required":SET,
//	   "preferred":SET}
//	{"t":10,"event":"start","job":"j1","class":"slo","tasks":2,"deadline":90,
//	   "nodes":[{"node":"n0000","tasks":2}],"speed":0.66,"why":"starts now"}
//	{"t":50,"event":"finish","job":"j1","class":"slo","tasks":2,"deadline":90}
//	{"t":50,"event":"end","cycles":5,"solver":{"engine":"native","gap_mean":0,"gap_p99":0,"stops":{"optimal":5}}}
//
// If tasks share nodes, the cluster's line has "shared":true, and a submission has "task_runtimes": how long each task
// takes at full speed. The tasks of a gang are numbered from 0, in the order of the nodes in its start. They end one by
// one, and the finish event is the end of the last. If tasks are evicted or preempted while others of their gang go on,
// they wait as a part. The part is a job of its own from then on, without a submission. Without "part" the whole gang
// waits. Once a cycle there is a line with the use of each node, in the order of the cluster's line:
//
//	{"t":60,"event":"task","job":"j1",…,"node":"m0000","index":2}
//	{"t":61.5,"event":"evict","job":"j1",…,"node":"m0001","index":0,"part":"j1#1"}
//	{"t":75,"event":"preempt","job":"j1",…,"nodes":[{"node":"m0001","tasks":1}],"indices":[1],"part":"j1#2"}
//	{"t":75,"event":"usage","cpu":[0.25,0],"memory":[0.1,0]}
//
// In a log of schema 2 a start has ranges of nodes in place of "nodes": [from,to] are the nodes from index from up to,
// and without, to, in the order of the cluster's line, with a task on each; a third number is how many tasks each has:
//
//	{"t":10,"event":"start","job":"j1",…,"node_ranges":[[0,2],[5,6,4]],"why":"starts now"}
//
// A node that is lost takes its tasks with it. Their events are as evictions, and come before the node's:
//
//	{"t":80,"event":"lost","job":"j1",…,"node":"m0001","index":0,"part":"j1#3"}
//	{"t":80,"event":"down","node":"m0001"}
//	{"t":95,"event":"up","node":"m0001"}
//
// The cluster's line comes first and the end's line last. A job's events are submit, start, finish, preempt, task,
// evict and drop. The deadline is absolute, and 0 for best-effort jobs ("be"). "after" names the jobs that must have
// finished before the job starts. Jobs with the same "of" are stages of one job, which counts once in numbers of jobs
// and in latencies. tasks_per_node converts task-hours to machine-hours. Absent fields mean: slowdown 1, no checkpoint,
// demand {"node":1}, required and preferred every node. A SET is a list of {"key":k,"values":[v,...]}, all of which
// must hold: the label k has one of the values or, with "has":true, any value. Unknown fields and events are ignored. A
// duplicate field is an error.
package decisionlog

import (
	"errors"
	"time"
)

// The kinds of events, as they are written in a log.
const (
	Cluster = "cluster"
	Submit  = "submit"
	Start   = "start"
	Finish  = "finish"
	Preempt = "preempt"
	Drop    = "drop"
	End     = "end"
	// On shared nodes:
	Task  = "task"
	Evict = "evict"
	Usage = "usage"
	Lost  = "lost"
	Down  = "down"
	Up    = "up"
)

// Classes of job.
const (
	SLO        = "slo"
	BestEffort = "be"
)

// Errors of reading and checking. Each error is a [*LineError] that wraps one of these or the reader's error.
var (
	// ErrSyntax is a line that is not an event.
	ErrSyntax = errors.New("not a decision-log event")
	// ErrOrder is time that runs backwards, or a line out of its place.
	ErrOrder = errors.New("out of order")
	// ErrState is an event that the job's life does not allow, such as a finish before the start.
	ErrState = errors.New("impossible for the job")
	// ErrGang is a start of other than the whole gang.
	ErrGang = errors.New("gang not whole")
	// ErrOvercommit is a node that holds more than it offers.
	ErrOvercommit = errors.New("node over-committed")
	// ErrNode is a node that is unknown or that the job may not use.
	ErrNode = errors.New("node not allowed")
	// ErrRuntime is a run longer or shorter than the job's runtime.
	ErrRuntime = errors.New("wrong runtime")
	// ErrMismatch is a field that contradicts an earlier line.
	ErrMismatch = errors.New("contradicts an earlier line")
	// ErrIncomplete is a log that ends too early.
	ErrIncomplete = errors.New("log incomplete")
)

// Event is one line.
type Event struct {
	// Line counts from 1.
	Line int
	// Time is since the start of the simulation.
	Time time.Duration
	// Kind is one of the constants. A newer log may have others.
	Kind string
	// Job, Class, Tasks and Deadline are those of the event's job; Deadline is absolute, 0 for none.
	Job      string
	Class    string
	Tasks    int
	Deadline time.Duration
	// Nodes is where a start puts the tasks. In the cluster's line it is the cluster.
	Nodes []Node
	// Ranges are where a start puts the tasks, in place of Nodes, in a log of schema 2.
	Ranges []Range
	// Speed is that of the start: of the slowest of its nodes. 0 stands for 1.
	Speed float64
	// Why is the reason, as free text.
	Why string
	// Runtime, Speeds, Checkpoint, Demand and Required are set for submissions. The runtime is that at full speed.
	Runtime time.Duration
	Speeds  []Speed
	// Checkpoint tells that a preempted run keeps its work.
	Checkpoint bool
	// After are the jobs that must have finished before the job may start. Of is the whole job that it is a stage of.
	// They are set for submissions.
	After    []string
	Of       string
	Demand   map[string]float64
	Required []Term
	// TaskRuntimes is how long each task takes at full speed. It is set for submissions to shared nodes.
	TaskRuntimes []time.Duration
	// Node, Index and Part are set for the end of a task on a shared node. A preemption has Indices instead of Index.
	Node    string
	Index   int
	Indices []int
	Part    string
	// CPU and Memory are the use of each shared node.
	CPU, Memory []float64
	// slowed is what older logs say of a start instead of its speed: that it is below 1.
	slowed bool
	// Header is set for the cluster's line, Trailer for the end's line; else they are nil.
	Header  *Header
	Trailer *Trailer
}

// Node is a node of the cluster, or tasks on a node.
type Node struct {
	Node     string             `json:"node"`
	Tasks    int                `json:"tasks"`
	Capacity map[string]float64 `json:"capacity"`
	Labels   map[string]string  `json:"labels"`
}

// Range is Tasks tasks on each of the nodes from index From up to, and without, To, in the order of the cluster's line.
type Range struct {
	From, To, Tasks int
}

// Speed is how fast a job runs on the nodes of a set. A node in several sets has the highest of their speeds, one in
// none the lowest of all.
type Speed struct {
	On    []Term  `json:"on"`
	Speed float64 `json:"speed"`
}

// Term is one condition of a set of nodes.
type Term struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
	Has    bool     `json:"has"`
}

// Header describes the run. It is in the first line.
type Header struct {
	// Schema is the version of the log's format, 1 or 2.
	Schema       int
	Policy       string
	Seed         int64
	Cycle, Span  time.Duration
	TasksPerNode int
	// Shared tells that tasks share the nodes.
	Shared bool
}

// Trailer describes the cycles. It is in the last line.
type Trailer struct {
	Cycles int
	Solver Solver
}

// Solver sums up the solves of a run.
type Solver struct {
	Engine string `json:"engine"`
	// GapMean and GapP99 are nil if no bound was proven.
	GapMean *float64       `json:"gap_mean"`
	GapP99  *float64       `json:"gap_p99"`
	Stops   map[string]int `json:"stops"`
}
