package report

import (
	"fmt"

	"github.com/hedgesched/hedge/cmd/hedge/internal/chart"
	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
)

// gantts adds when the stages of one job ran under each policy, over the same axis of time.
func gantts(p *page, d *experiment.Document) error {
	to := 0.0
	for i := range d.Runs {
		if g := d.Runs[i].Gantt; g != nil {
			to = max(to, lastOf(g))
		}
	}
	if to == 0 {
		return nil
	}
	explained := false
	for i := range d.Runs {
		g := d.Runs[i].Gantt
		if g == nil {
			continue
		}
		title := "Stages of job " + g.Job + " under " + d.Runs[i].Policy
		text := ganttText(g)
		if !explained {
			text += " A line begins when a stage is ready and ends when its first task starts. The area is the share of the " +
				"stage's tasks that run. Hover for names."
			if g.Deadline > 0 {
				text += " The dotted line is the deadline, if it is not further right."
			}
			explained = true
		}
		svg, err := chart.Gantt(title+". "+text, ganttData(g, to))
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, section{Title: title, Text: text, Chart: svg, Legend: []legend{
			{Name: "a stage that decides when the job is done", Color: decidingColor}, {Name: "another stage"}}})
	}
	return nil
}

// decidingColor is that of stages that decide when their job is done.
const decidingColor = 1

// lastOf is the last time of a Gantt, in seconds.
func lastOf(g *experiment.Gantt) float64 {
	last := 0.0
	for i := range g.Stages {
		if n := len(g.Stages[i].Levels); n > 0 {
			last = max(last, g.Stages[i].Levels[n-1].At)
		}
	}
	return last
}

// ganttText says when the job was done and how long the stages that decide it have waited.
func ganttText(g *experiment.Gantt) string {
	waited, preempted := 0.0, 0
	for i := range g.Stages {
		s := &g.Stages[i]
		preempted += s.Preemptions
		if s.Deciding && len(s.Levels) > 0 {
			waited += s.Levels[0].At - s.Ready
		}
	}
	text := fmt.Sprintf("%d stages of %d tasks, never all done.", len(g.Stages), g.Tasks)
	if g.End >= 0 {
		text = fmt.Sprintf("%d stages of %d tasks, done %s after submission. The stages that decide it were ready for %s "+
			"in all before their first tasks started.", len(g.Stages), g.Tasks, figures.Span(g.End), figures.Span(waited))
	}
	if preempted > 0 {
		text += fmt.Sprintf(" Preemptions of its stages: %d. Only the last runs are drawn.", preempted)
	}
	return text
}

// ganttData is a Gantt chart. The axis is given in seconds and drawn in minutes.
func ganttData(g *experiment.Gantt, to float64) chart.GanttData {
	d := chart.GanttData{XLabel: "minutes since submission", To: to / 60, Mark: g.Deadline / 60}
	for i := range g.Stages {
		s := &g.Stages[i]
		row := chart.GanttRow{Label: shortened(s.ID), Ready: s.Ready / 60, Tip: stageTip(s)}
		if s.Deciding {
			row.Color = decidingColor
		}
		for _, l := range s.Levels {
			row.X, row.Y = append(row.X, l.At/60), append(row.Y, float64(l.Tasks)/float64(s.Tasks))
		}
		d.Rows = append(d.Rows, row)
	}
	return d
}

// shortened is the end of a long name.
func shortened(name string) string {
	const most = 16
	if r := []rune(name); len(r) > most {
		return "…" + string(r[len(r)-most+1:])
	}
	return name
}

func stageTip(s *experiment.GanttStage) string {
	text := fmt.Sprintf("%s: %d tasks, ready at %s", s.ID, s.Tasks, figures.Span(s.Ready))
	if len(s.Levels) > 0 {
		text += ", started at " + figures.Span(s.Levels[0].At)
	}
	if s.End >= 0 {
		text += ", ended at " + figures.Span(s.End)
	}
	return text
}
