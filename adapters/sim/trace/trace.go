// Package trace reads cluster logs: the Standard Workload Format, the format of the Sparrow, Hawk and Eagle
// simulators, Google's 2011 job table, other public job lists, and hedge's own CSV and JSONL. Readers stream, read
// gzip as it is, and name file, line and field of what they refuse.
//
// It never schedules and never invents values: what a log does not say is zero.
//
// # Dirty logs
//
// One policy holds for every format. A record that is legitimate and no job is skipped and counted. A bad record, one
// that is malformed or says what cannot be, is left out and counted by reason, with the first of each. A log is
// refused where no job is left, where more than Options.MaxBad of its records and more than 100 are bad, and under
// Options.Strict at the first bad record. Fields that are not used are not looked at; columns that are not known are
// ignored, with a note. Byte order marks, CRLF, CR, stray blanks, "4.0" for 4, and repeated headers are taken. The page
// docs/logs.md has the whole table, with the reasons.
//
// # Formats
//
//   - swf, the Standard Workload Format. Tasks are the processors requested, or else allocated. Records without a
//     positive runtime, processors or a submission are skipped, as are those that are only part of a job (status 2 to
//     4). Attributes: user, group, executable, queue, partition, requested, tasks. Submissions in Unix time are
//     counted from the header's UnixStartTime.
//   - eagle, "arrival tasks mean t1 t2 … tn". Runtime is the mean, TaskRuntimes the rest. Lines are ids, unless a
//     table X.meta.csv with columns line and job_id lies beside X.tr. That adds the outcome, demands (cpu, memory)
//     and the attributes user, class, priority, name, logical_name, cpu, memory. tasks is one in any case.
//   - google-jobs, Google's 2011 job table (job_id, submit_s, start_s, end_s, end_event, …). Runtime is from the
//     first start to the last end; the table has no task counts, so Tasks is 1. Jobs submitted at 0 (before the
//     recording), never started, without an end or of no length are skipped. An EVICT is Killed, a LOST is Unknown.
//   - simple, arrival_time,length,cpus with both times in hours. Tasks are the cpus; ids count the rows.
//   - joblist, the lists of Philly and Blue Waters (u_id, user, gpu_num, cpu_num, node_num, interval, run_time,
//     wall_time, new_status). The intervals add up to the submission. Tasks is the larger of GPUs and nodes: one task
//     a GPU, or one a node; Demand is what one of them holds. Jobs of no GPU, node and CPU are skipped.
//   - alibaba-2018, the batch tasks of Alibaba's trace, those of a job together. A task is a stage of as many tasks as
//     it has instances; R4_2_3 is stage 4, which waits for 2 and 3. All stages are submitted when the first started.
//     Jobs of which a stage has not ended are skipped. Attribute: kind (R).
//   - alibaba-2017, the same of an earlier trace, whose stages wait for none.
//   - spark-tpch, a query a line with the durations of its tasks by stage, as Decima's simulator has them. Submissions
//     are not known, and 0. Attributes: name (q1), logical_name (q1/0), size.
//   - wfformat, WfCommons' documents, a workflow a line. A stage is the tasks of one type and depth. Submissions are 0.
//     Attributes: name, logical_name, executable (the type).
//   - chronus, Chronus's traces (job_id, user, num_gpu, submit_time, model_name, duration, expect_time_list,
//     expect_value_list, best_effort). A job has a task for each GPU. The lists say what a completion is worth by when;
//     best-effort jobs have none. Jobs without GPUs are skipped. Attributes: user, name (the model), gpus, tasks.
//   - helios, job_id,arrival_s,runtime_s,gpus. A job has a task for each GPU. Attributes: gpus, tasks.
//   - hydra, Hydra's cases (job_name, norm_job_submit_time, ddl, and a column of runtimes for each type of GPU). The
//     runtime is that on the fastest type; the speeds are those on all types, as in "gpu=V100". A ddl of inf is none.
//     Attribute: name.
//   - hedge-csv and hedge-jsonl, hedge's own. JSONL carries everything that is in a Job, CSV all but stages, steps and
//     speeds.
//
// Of a job with stages that are named twice, wait for one that is not there or for each other in a circle, all stages
// are left out, as one bad record. A stage that takes no time is taken out: what waits for it waits for what it waits
// for.
//
// Hedge's CSV has a header. Columns id, submit_s, runtime_s and tasks must be there; wait_s, requested_s, deadline_s,
// outcome (finished, failed, killed), task_runtimes_s (blank-separated), demand.NAME and attr.NAME may be. An empty
// field is unknown, a quoted empty one is an empty text; a quoted field ends on its own line. Hedge's JSONL has an
// object a line with the members id, submit_s, runtime_s, tasks, wait_s, requested_s, deadline_s, outcome,
// task_runtimes_s (array), demand (object of numbers), attributes (object of strings), after (array of ids of jobs
// that stand before this one), of, and steps (array of pairs: seconds since the submission, and what a completion by
// then is worth; see [Step]), and speeds (object of numbers; see [Job]). An id or attribute may be a number, which
// stands for its text; null is as if the member were not there.
//
// Deadline_s is relative: seconds since the job's own submission, not since the log's origin, and at least the
// runtime, since nothing could meet less. (A decision log of a simulation has absolute deadlines.) A member twice in
// a JSON object is bad.
//
// All times are seconds, exact to the nanosecond, from 0 to 3e9 (95 years), unless said otherwise. A limit of the
// runtime above that is none.
//
// # Order, ids and size
//
// Hedge's formats are in order of submission. Others may be slightly out of it, as public logs are: a Reader keeps
// the file's order, ReadAll sorts and counts. Ids occur once, in every format. A line has 16 MiB at most, and a
// Reader's memory grows by the ids alone, by a bit each where they are consecutive numbers.
package trace

import "time"

// Outcome says how a job ended.
type Outcome string

// The outcomes. Unknown is the zero value: the log does not say.
const (
	Unknown  Outcome = ""
	Finished Outcome = "finished"
	Failed   Outcome = "failed"
	Killed   Outcome = "killed"
)

// Job is one job of a log. Times are since the log's origin.
type Job struct {
	// ID is unique in the log.
	ID string
	// Line is where the job stands in its file, from 1.
	Line int
	// Submit is when it arrived.
	Submit time.Duration
	// Wait is from submission to start; negative when unknown.
	Wait time.Duration
	// Runtime is how long it ran, from its start.
	Runtime time.Duration
	// Tasks is the gang's size, at least 1, in the log's own unit (tasks, processors or nodes).
	Tasks int
	// TaskRuntimes are the tasks' own durations, where known.
	TaskRuntimes []time.Duration
	// Requested is the user's runtime estimate or limit; 0 when unknown.
	Requested time.Duration
	// Deadline is the time since the job's own submission, 0 for none; hedge's formats refuse one below Runtime.
	Deadline time.Duration
	// Steps are what a completion is worth by when, where the log says; see [Step]. The last one's By is the Deadline.
	Steps []Step
	// Speeds are how fast the job runs on which nodes, where the log says: by "LABEL=VALUE" or "other", which is every
	// node, a factor from 1e-6 to 1. On a node with several of the labels the highest counts. Runtime is that at 1.
	Speeds map[string]float64
	// Demand is what one task holds, where the log says (cpu, memory, gpu).
	Demand map[string]float64
	// Attributes are the log's features: user, name, queue, group, ...
	Attributes map[string]string
	// Outcome says how it ended.
	Outcome Outcome
	// After are the ids of the jobs that must have ended before this one starts; they stand before it in the log. Of is
	// the id that the stages of one job have in common. A stage has the submission, and the Deadline, of the whole job.
	After []string
	Of    string
}

// Step is what a completion is worth up to a time since the job's own submission. Of several steps the first whose By
// is not over counts. After the last a completion is worth nothing. Times rise from step to step. Values are above 0
// and at most 1e12, and do not rise.
type Step struct {
	By    time.Duration
	Value float64
}

// Reader streams a log in file order.
type Reader interface {
	// Read returns the next job, or io.EOF after the last.
	Read() (Job, error)
	// Skipped counts, by reason, the records that are legitimate and no jobs
	// (SWF's -1 runtimes).
	Skipped() map[string]int
}
