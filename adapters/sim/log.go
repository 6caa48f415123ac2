package sim

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/internal/seconds"
	"github.com/hedgesched/hedge/sched"
	"github.com/hedgesched/hedge/sched/ranges"
)

// The events of a decision log, as they stand in it.
const (
	clusterEvent = "cluster"
	submitEvent  = "submit"
	startEvent   = "start"
	finishEvent  = "finish"
	preemptEvent = "preempt"
	dropEvent    = "drop"
	taskEvent    = "task"
	evictEvent   = "evict"
	usageEvent   = "usage"
	lostEvent    = "lost"
	downEvent    = "down"
	upEvent      = "up"
	endEvent     = "end"
)

// The versions of the log's format: with starts that name each node, and with ranges of nodes.
const (
	logNames  = 1
	logRanges = 2
)

// logger writes the decision log. A nil logger writes nothing.
type logger struct {
	out   *bufio.Writer
	line  []byte
	nodes *sched.NodeSet
	// schema is logNames or logRanges.
	schema int64
	err    error
}

func newLogger(w io.Writer, nodes *sched.NodeSet) *logger {
	if w == nil {
		return nil
	}
	return &logger{out: bufio.NewWriterSize(w, 1<<16), nodes: nodes, schema: logNames}
}

// goByRanges has starts name ranges.
func (l *logger) goByRanges(yes bool) {
	if l != nil && yes {
		l.schema = logRanges
	}
}

// close flushes and returns the first error of all writes.
func (l *logger) close() error {
	if l == nil {
		return nil
	}
	if err := l.out.Flush(); l.err == nil {
		l.err = err
	}
	return l.err
}

// cluster writes the first line: what a reader needs to know of the cluster to check the others.
func (l *logger) cluster(cfg *Config, tasksPerNode int, window time.Duration, shared bool) {
	if l == nil {
		return
	}
	b := append(l.line[:0], `{"t":0,"event":"cluster","schema":`...)
	b = strconv.AppendInt(b, l.schema, 10)
	b = appendString(append(b, `,"policy":`...), cfg.Policy.Name())
	b = strconv.AppendInt(append(b, `,"seed":`...), cfg.Seed, 10)
	b = seconds.Append(append(b, `,"cycle":`...), cfg.Cycle)
	b = seconds.Append(append(b, `,"span":`...), window)
	b = strconv.AppendInt(append(b, `,"tasks_per_node":`...), int64(tasksPerNode), 10)
	if shared {
		b = append(b, `,"shared":true`...)
	}
	b = append(b, `,"nodes":[`...)
	for i := range l.nodes.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		n := l.nodes.Node(i)
		b = appendString(append(b, `{"node":`...), n.Name)
		b = strconv.AppendInt(append(b, `,"tasks":`...), int64(min(n.Capacity[sched.WholeNode], math.MaxInt32)), 10)
		b = appendResources(append(b, `,"capacity":`...), n.Capacity)
		if len(n.Labels) > 0 {
			b = append(b, `,"labels":{`...)
			for k, key := range slices.Sorted(maps.Keys(n.Labels)) {
				if k > 0 {
					b = append(b, ',')
				}
				b = appendString(append(appendString(b, key), ':'), n.Labels[key])
			}
			b = append(b, '}')
		}
		b = append(b, '}')
	}
	l.write(append(b, `]}`...))
}

// head begins a line about a job with the fields that all such lines have.
func (l *logger) head(event string, at time.Duration, j *job) []byte {
	b := seconds.Append(append(l.line[:0], `{"t":`...), at)
	b = append(append(append(b, `,"event":"`...), event...), '"')
	b = appendString(append(b, `,"job":`...), j.ID)
	b = append(append(append(b, `,"class":"`...), j.class()...), '"')
	b = strconv.AppendInt(append(b, `,"tasks":`...), int64(j.Tasks), 10)
	return seconds.Append(append(b, `,"deadline":`...), j.due())
}

// submit writes a submission, with all that is needed to check the job's starts and completion.
func (l *logger) submit(j *job) {
	if l == nil {
		return
	}
	b := seconds.Append(append(l.head(submitEvent, j.arrive, j), `,"runtime":`...), j.gang.work.Runtime())
	for k, d := range j.gang.work.sharedTasks() {
		b = append(b, [2]string{`,"task_runtimes":[`, `,`}[min(k, 1)]...)
		if b = seconds.Append(b, d); k == j.Tasks-1 {
			b = append(b, ']')
		}
	}
	if used := j.gang.work.CPUTime(); used > 0 {
		b = appendNumber(append(b, `,"cpu_time":`...), used, false)
	}
	if j.Checkpoint {
		b = append(b, `,"checkpoint":true`...)
	}
	if len(j.After) > 0 {
		b = l.appendJSON(append(b, `,"after":`...), j.After)
	}
	if j.Of != "" {
		b = appendString(append(b, `,"of":`...), j.Of)
	}
	if len(j.Demand) > 0 {
		b = appendResources(append(b, `,"demand":`...), j.Demand)
	}
	if !j.Required.IsAny() {
		b = l.appendJSON(append(b, `,"required":`...), j.Required)
	}
	if !j.Speeds.Even() {
		b = l.appendJSON(append(b, `,"speeds":`...), j.Speeds)
	}
	l.write(append(b, '}'))
}

// because writes a start or preemption with the policy's reason.
func (l *logger) because(event string, at time.Duration, j *job, why *sched.Reason) {
	if l == nil {
		return
	}
	l.plain(event, at, j, why.String())
}

// plain writes an event of a job, with a reason in plain words or "".
func (l *logger) plain(event string, at time.Duration, j *job, why string) {
	if l == nil {
		return
	}
	b := l.head(event, at, j)
	if event == startEvent {
		b = l.appendPlaces(b, j.gang.on)
		if j.record.Speed < 1 {
			b = strconv.AppendFloat(append(b, `,"speed":`...), j.record.Speed, 'g', -1, 64)
		}
	}
	if why != "" {
		b = appendString(append(b, `,"why":`...), why)
	}
	l.write(append(b, '}'))
}

// task writes that one task of a gang has ended, on a shared node: it is complete or, with a name, waits as that part.
func (l *logger) task(event string, at time.Duration, j *job, node string, index int, part string) {
	if l == nil {
		return
	}
	b := appendString(append(l.head(event, at, j), `,"node":`...), node)
	b = strconv.AppendInt(append(b, `,"index":`...), int64(index), 10)
	if part != "" {
		b = appendString(append(b, `,"part":`...), part)
	}
	l.write(append(b, '}'))
}

// preemptPart writes a preemption of some tasks of a gang, which wait as a part.
func (l *logger) preemptPart(
	at time.Duration, j *job, tasks []int, nodes []sched.NodeTasks, part string, why *sched.Reason,
) {
	if l == nil {
		return
	}
	b := appendNodes(append(l.head(preemptEvent, at, j), `,"nodes":`...), nodes)
	b = append(b, `,"indices":[`...)
	for i, k := range tasks {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(k), 10)
	}
	b = appendString(append(b, `],"part":`...), part)
	b = appendString(append(b, `,"why":`...), why.String())
	l.write(append(b, '}'))
}

// node writes that a node is lost or has come back.
func (l *logger) node(event string, at time.Duration, name string) {
	if l == nil {
		return
	}
	b := seconds.Append(append(l.line[:0], `{"t":`...), at)
	b = append(append(append(b, `,"event":"`...), event...), '"')
	l.write(append(appendString(append(b, `,"node":`...), name), '}'))
}

// usage writes what all shared nodes are used for, once a cycle.
func (l *logger) usage(at time.Duration, x *shared, nodes *sched.NodeSet) {
	if l == nil {
		return
	}
	b := seconds.Append(append(l.line[:0], `{"t":`...), at)
	b = append(append(append(b, `,"event":"`...), usageEvent...), `","cpu":[`...)
	memory := make([]float64, nodes.Len())
	for i := range memory {
		var cpu float64
		cpu, memory[i] = x.machines.Load(int32(i))
		b = appendNumber(b, cpu, i > 0)
	}
	b = append(b, `],"memory":[`...)
	for i, m := range memory {
		b = appendNumber(b, m, i > 0)
	}
	l.write(append(b, `]}`...))
}

func appendNumber(b []byte, v float64, comma bool) []byte {
	if comma {
		b = append(b, ',')
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// end writes the last line, about the cycles. Wall-clock times are left out, so that a repeated run gives the same
// bytes.
func (l *logger) end(at time.Duration, cycles int, solver *Solver) {
	if l == nil {
		return
	}
	b := seconds.Append(append(l.line[:0], `{"t":`...), at)
	b = strconv.AppendInt(append(b, `,"event":"end","cycles":`...), int64(cycles), 10)
	b = l.appendJSON(append(b, `,"solver":`...), solver)
	l.write(append(b, '}'))
}

func (l *logger) write(line []byte) {
	l.line = append(line, '\n')
	if l.err == nil {
		_, l.err = l.out.Write(l.line)
	}
}

func (l *logger) appendJSON(b []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil && l.err == nil {
		l.err = fmt.Errorf("sim: decision log: %w", err)
	}
	return append(b, text...)
}

// appendString writes s as JSON.
func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			text, _ := json.Marshal(s) // strings always marshal
			return append(b, text...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// appendPlaces writes where a gang starts.
func (l *logger) appendPlaces(b []byte, on ranges.Set) []byte {
	if l.schema == logRanges {
		return appendRanges(append(b, `,"node_ranges":`...), on)
	}
	b = append(b, `,"nodes":[`...)
	first := true
	for n, tasks := range on.All() {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendNode(b, l.nodes.Node(int(n)).Name, int(tasks))
	}
	return append(b, ']')
}

// appendRanges writes a list of [from,to] or, where a node has several tasks, [from,to,tasks].
func appendRanges(b []byte, on ranges.Set) []byte {
	b = append(b, '[')
	for i, r := range on {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, '['), int64(r.From), 10)
		b = strconv.AppendInt(append(b, ','), int64(r.To), 10)
		if r.Tasks != 1 {
			b = strconv.AppendInt(append(b, ','), int64(r.Tasks), 10)
		}
		b = append(b, ']')
	}
	return append(b, ']')
}

func appendNode(b []byte, name string, tasks int) []byte {
	b = appendString(append(b, `{"node":`...), name)
	b = strconv.AppendInt(append(b, `,"tasks":`...), int64(tasks), 10)
	return append(b, '}')
}

func appendNodes(b []byte, nodes []sched.NodeTasks) []byte {
	b = append(b, '[')
	for i, nt := range nodes {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNode(b, nt.Node, nt.Tasks)
	}
	return append(b, ']')
}

func appendResources(b []byte, r sched.Resources) []byte {
	b = append(b, '{')
	for i, name := range slices.Sorted(maps.Keys(r)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, name), ':')
		b = strconv.AppendFloat(b, r[name], 'g', -1, 64)
	}
	return append(b, '}')
}
