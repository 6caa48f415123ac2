package agent

// Batch is tasks of one job that wait together: Task, Task + Step, …, Count of them. Ref is the job's number at the
// part that has it, Of what [Job] says.
type Batch struct {
	Job, Ref, Task, Step, Count int32
	Of                          int32
	Long                        bool
}

// Enqueue puts a batch behind those of no later jobs, by Of. It is a push but for tasks that come late: those of a
// later phase, and those that a crash has lost.
func Enqueue(q *Queue[Batch], b Batch) {
	q.Push(b)
	for i := q.Len() - 1; i > 0; i-- {
		one, next := q.at(i-1), q.at(i)
		if one.Of <= next.Of {
			return
		}
		*one, *next = *next, *one
	}
}

// Take takes the first task of the batch.
func (b *Batch) Take() Task {
	t := Task{b.Job, b.Task}
	b.Task += b.Step
	b.Count--
	return t
}
