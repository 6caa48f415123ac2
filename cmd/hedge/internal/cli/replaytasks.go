package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/hedgesched/hedge/adapters/sim/decisionlog"
	"github.com/hedgesched/hedge/adapters/sim/tasklog"

	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
)

// replayedTasks is the document of hedge replay of a log of --workload tasks.
type replayedTasks struct {
	Schema  int         `json:"schema"`
	Command string      `json:"command"`
	Log     string      `json:"log"`
	Records int         `json:"records"`
	Nodes   int         `json:"nodes"`
	Cores   int         `json:"cores"`
	Jobs    int         `json:"jobs"`
	Tasks   int         `json:"tasks"`
	Passed  bool        `json:"passed"`
	Run     replayedRun `json:"run"`
}

// replayedRun is the figures that the records give.
type replayedRun struct {
	Policy    string  `json:"policy"`
	Seed      int64   `json:"seed"`
	Short     jct     `json:"short"`
	Long      jct     `json:"long"`
	All       jct     `json:"all"`
	BusyMean  float64 `json:"busy_mean"`
	MakespanS float64 `json:"makespan_s"`
	Starts    int     `json:"starts"`
	Pauses    int     `json:"pauses"`
	Stops     int     `json:"stops"`
	Losses    int     `json:"losses"`
}

// replayTasks checks the log of a run of --workload tasks.
func replayTasks(s *Host, in io.Reader, path string, o *decisionlog.Options, asJSON bool) error {
	r, err := tasklog.Check(in, o)
	var at *tasklog.RecordError
	if errors.As(err, &at) {
		err = at.Err
		if at.Record > 0 {
			err = fmt.Errorf("record %d: %w", at.Record, at.Err)
		}
	}
	switch {
	case err != nil && unreadable(err):
		return fmt.Errorf("%s: %w", path, err)
	case err != nil:
		return failed(fmt.Errorf("%s: %w", path, err))
	}
	f := &r.Figures
	d := replayedTasks{Schema: schema, Command: "replay", Log: path, Records: r.Records, Nodes: r.Header.Workers,
		Cores: r.Header.Slots, Jobs: r.Jobs, Tasks: r.Tasks, Passed: true,
		Run: replayedRun{Policy: r.Header.Policy, Seed: r.Header.Seed, Short: jctOfClass(&f.Short),
			Long: jctOfClass(&f.Long), All: jctOfClass(&f.All), BusyMean: r.Busy, MakespanS: f.Makespan, Starts: r.Starts,
			Pauses: r.Pauses, Stops: r.Stops, Losses: r.Losses}}
	if asJSON {
		return writeJSON(s.Out, d)
	}
	return failed(replayTasksTable(s.Out, &d))
}

func replayTasksTable(w io.Writer, d *replayedTasks) error {
	var p page
	r := &d.Run
	p.line("%s: %d records, %d jobs, %d tasks on %d nodes: passed. %s, seed %d:", d.Log, d.Records, d.Jobs, d.Tasks,
		d.Nodes, r.Policy, r.Seed)
	p.line("")
	p.table(jctHead(), jctRows(&r.Short, &r.Long, &r.All)...)
	p.line("")
	p.table(table.Row{"figure, derived from the log", "value"},
		table.Row{"starts, pauses, stops", fmt.Sprintf("%d, %d, %d", r.Starts, r.Pauses, r.Stops)},
		table.Row{"crashed nodes", r.Losses}, table.Row{"utilisation", figures.Percent(r.BusyMean)},
		table.Row{"makespan", figures.Span(r.MakespanS)})
	return p.to(w)
}
