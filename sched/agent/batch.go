package agent

// Batch is tasks of one job that wait together: Task, Task + Step, …, Count of them. Ref is the job's number at the
// part that has it.
type Batch struct {
	Job, Ref, Task, Step, Count int32
	Long                        bool
}

// Take takes the first task of the batch.
func (b *Batch) Take() Task {
	t := Task{b.Job, b.Task}
	b.Task += b.Step
	b.Count--
	return t
}
