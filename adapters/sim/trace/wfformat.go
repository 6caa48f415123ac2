package trace

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// wfFormat reads executions of scientific workflows in WfCommons' WfFormat, a document a line. The tasks of one type
// that are as far from the beginning are a stage, which waits for the stages of their parents. The log
// has no submissions that belong together: all are 0.
type wfFormat struct {
	lines
	stages
	ids idSet
}

// workflow is a line.
type workflow struct {
	Name     string `json:"name"`
	Source   string `json:"_source_path"`
	Workflow struct {
		Specification struct {
			Tasks []workflowTask `json:"tasks"`
		} `json:"specification"`
		Execution struct {
			Tasks []struct {
				ID      string         `json:"id"`
				Runtime jsontext.Value `json:"runtimeInSeconds"`
			} `json:"tasks"`
		} `json:"execution"`
	} `json:"workflow"`
}

type workflowTask struct {
	Name    string   `json:"name"`
	ID      string   `json:"id"`
	Parents []string `json:"parents"`
}

func newWfFormat(l lines) *wfFormat { return &wfFormat{lines: l} }

func (p *wfFormat) header() *Header { return nil }

func (p *wfFormat) at() int { return p.lines.line }

func (p *wfFormat) next(job *Job) (string, error) {
	if p.take(job) {
		return "", nil
	}
	line, err := p.full()
	if err != nil {
		return "", err
	}
	var w workflow
	if err := unmarshalPart(&p.lines, line, &w); err != nil {
		return "", err
	}
	tasks, err := p.tasks(&w)
	if err != nil {
		return "", err
	}
	if err := p.set(&p.lines, "workflow", p.group(&w, tasks)); err != nil {
		return "", err
	}
	if !p.take(job) {
		return "zero runtime", nil
	}
	return "", nil
}

// tasks are the workflow's tasks, as stages of one task each, with those that each waits for in front of it.
func (p *wfFormat) tasks(w *workflow) ([]Job, error) {
	whole := strings.TrimSuffix(w.Source[strings.LastIndexByte(w.Source, '/')+1:], ".json")
	if whole == "" {
		whole = w.Name
	}
	if err := p.newID("name", whole, quote(whole), &p.ids); err != nil {
		return nil, err
	}
	took := make(map[string]time.Duration, len(w.Workflow.Execution.Tasks))
	for _, t := range w.Workflow.Execution.Tasks {
		d, ok := duration(t.Runtime)
		if !ok {
			return nil, p.bad("workflow.execution.tasks", quote(t.ID)+" of runtime "+found(t.Runtime), wantTime)
		}
		took[t.ID] = d
	}
	specified := w.Workflow.Specification.Tasks
	if len(specified) == 0 {
		return nil, p.bad("workflow.specification.tasks", "none", "some").because("no stages")
	}
	of := make([]Job, 0, len(specified))
	for _, t := range specified {
		d, ok := took[t.ID]
		if !ok || t.ID == "" {
			return nil, p.bad("workflow.specification.tasks", quote(t.ID), "the id of a task with a runtime")
		}
		of = append(of, Job{ID: t.ID, Of: whole, Line: p.line, Tasks: 1, Runtime: d, After: t.Parents,
			Attributes: map[string]string{"type": taskType(&t)}})
	}
	var check stages
	if err := check.set(&p.lines, "workflow.specification.tasks", slices.Clone(of)); err != nil {
		return nil, err
	}
	return of, nil
}

// taskType is a task's name without the number that makes it unique.
func taskType(t *workflowTask) string {
	name := t.Name
	if i := strings.LastIndexByte(name, '_'); i > 0 {
		rest := strings.TrimPrefix(name[i+1:], "ID")
		if _, ok := integer(rest); ok {
			return name[:i]
		}
	}
	return name
}

// group makes stages of tasks.
func (p *wfFormat) group(w *workflow, tasks []Job) []Job {
	at := make(map[string]int, len(tasks))
	for i := range tasks {
		at[tasks[i].ID] = i
	}
	order, _ := sorted(tasks, at)
	depth := make([]int, len(tasks))
	stageOf := make(map[string]string, len(tasks)) // by task
	index := map[string]int{}
	var of []Job
	for _, i := range order {
		t := &tasks[i]
		for _, parent := range t.After {
			depth[i] = max(depth[i], depth[at[parent]]+1)
		}
		kind := t.Attributes["type"]
		id := t.Of + "/" + strconv.Itoa(depth[i]) + "/" + kind
		stageOf[t.ID] = id
		k, known := index[id]
		if !known {
			k = len(of)
			index[id] = k
			of = append(of, Job{ID: id, Of: t.Of, Line: t.Line, Wait: WaitUnknown,
				Attributes: map[string]string{"name": w.Name, "logical_name": w.Name + id[len(t.Of):], "executable": kind}})
		}
		s := &of[k]
		s.Tasks++
		s.TaskRuntimes = append(s.TaskRuntimes, t.Runtime)
		s.Runtime = max(s.Runtime, t.Runtime)
		for _, parent := range t.After {
			if from := stageOf[parent]; !slices.Contains(s.After, from) {
				s.After = append(s.After, from)
			}
		}
	}
	return of
}
