package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hedgesched/hedge/adapters/sim"

	"github.com/hedgesched/hedge/cmd/hedge/internal/experiment"
	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

var titles = map[string]string{
	"prediction":   "Prediction",
	"variants":     "All policies",
	"slack":        "Deadline slack",
	"load":         "Load",
	"samples":      "Samples of history",
	"perturbation": "Perturbed estimates",
	"reliability":  "Probabilities told",
	"starts":       "Starts, estimated and true",
	"tasks":        "Tasks placed one by one",
}

// page is Markdown being written.
type page struct {
	strings.Builder
	notes map[string]string
	// tally counts verdicts, score keeps them by section.
	tally map[string]int
	score []sectionScore
}

// sectionScore is how a section's claims fared.
type sectionScore struct {
	section string
	tally   map[string]int
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) row(cells ...string) { p.line("| %s |", strings.Join(cells, " | ")) }

func (p *page) head(cells ...string) {
	p.row(cells...)
	rule := make([]string, len(cells))
	for i := range rule {
		rule[i] = "---:"
	}
	rule[0] = "---"
	p.line("|%s|", strings.Join(rule, "|"))
}

// markdown writes the page from the cells of each section.
func (p *Plan) markdown(found map[string][]kept) (string, error) {
	notes, err := parseNotes(p.Notes)
	if err != nil {
		return "", err
	}
	body := &page{notes: notes}
	for _, section := range Sections() {
		if cells := found[section]; len(cells) > 0 {
			body.section(section, cells)
		}
	}
	if notes[clusters] != "" {
		body.line("")
		body.line("## On real clusters")
		body.note(clusters)
	}
	body.provenance(p, found)
	w := &page{notes: notes}
	p.preamble(w, found)
	w.note("introduction")
	w.inShort(body.score)
	w.WriteString(body.String())
	return w.String(), nil
}

// clusters is the section of what was measured on real clusters, by their demonstrations: it is all notes.
const clusters = "clusters"

// section writes a section and keeps its score.
func (p *page) section(section string, cells []kept) {
	p.tally = map[string]int{}
	p.line("")
	p.line("## %s", titles[section])
	p.line("")
	switch section {
	case "prediction":
		p.prediction(cells)
	case "variants":
		p.variants(cells)
	case "perturbation":
		p.perturbation(cells)
	case "reliability":
		p.reliability(cells)
	case "starts":
		p.starts(cells)
	case "tasks":
		p.tasks(cells)
	default:
		p.sweep(section, cells)
	}
	p.note(section)
	if len(p.tally) > 0 {
		p.score = append(p.score, sectionScore{section, p.tally})
	}
}

// inShort says how many of the paper's claims hold.
func (p *page) inShort(score []sectionScore) {
	if len(score) == 0 {
		return
	}
	p.line("")
	p.line("## In short")
	p.line("")
	p.head("the paper's claims on", holds, holdsWeakly, holdsNot)
	total := map[string]int{}
	for _, s := range score {
		p.row(strings.ToLower(titles[s.section]), fmt.Sprint(s.tally[holds]), fmt.Sprint(s.tally[holdsWeakly]),
			fmt.Sprint(s.tally[holdsNot]))
		for verdict, n := range s.tally {
			total[verdict] += n
		}
	}
	p.row("**all**", fmt.Sprint(total[holds]), fmt.Sprint(total[holdsWeakly]), fmt.Sprint(total[holdsNot]))
}

// preamble says how the numbers were made and how to read them.
func (p *Plan) preamble(w *page, found map[string][]kept) {
	w.line("# Results")
	w.line("")
	w.line("Made by")
	w.line("")
	w.line("```sh")
	w.line("%s", p.Command)
	w.line("```")
	w.line("")
	w.line("The explanations are from the notes file, everything else is computed.")
	w.line("")
	if len(found) == 1 && found["tasks"] != nil {
		w.line("± is half of the 95 %% confidence interval over the seeds (Student's t).")
		w.line("")
		w.line("Machine: %s. Commit: %s.", p.Machine, strings.Join(commits(found, p.Commit), ", "))
		return
	}
	w.line("%d nodes in %d racks, load %.1f unless swept, %g h of submissions unless the log's table below says "+
		"otherwise, seeds %s, a cycle every %v; plans are", p.Base.Nodes, p.Base.Racks, p.Base.Load,
		p.Base.Hours, strings.Trim(strings.ReplaceAll(fmt.Sprint(p.Base.Seeds), " ", ", "), "[]"), p.Base.Cycle)
	w.line("bounded by %d work units, so that the same command gives the same numbers on any machine, but for times. ± "+
		"is half of the 95 %% confidence interval over the seeds (Student's t).", p.Base.Work)
	w.line("")
	w.line("A claim of the paper *holds* when the paired difference over the seeds has the claimed sign and its 95 %% " +
		"interval excludes 0, *holds weakly* when only the mean does; claims of closeness are judged by the means.")
	w.line("")
	w.line("Machine: %s. Commit: %s.", p.Machine, strings.Join(commits(found, p.Commit), ", "))
}

// provenance lists the logs, and which commit made what where there were several.
func (p *page) provenance(plan *Plan, found map[string][]kept) {
	p.line("")
	p.line("## The logs")
	p.line("")
	p.row("log", "file", "settings of its own", "from")
	p.line("|---|---|---|---|")
	for i := range plan.Traces {
		t := &plan.Traces[i]
		p.row(t.Name, "`"+cmp.Or(t.Path, Builtin)+"`", cmp.Or(t.settings(), "–"), cmp.Or(t.Source, "–"))
	}
	if len(commits(found, plan.Commit)) == 1 {
		return
	}
	p.line("")
	p.line("The numbers are of several commits:")
	p.line("")
	p.row("commit", "made")
	p.line("|---|---|")
	for _, c := range commits(found, plan.Commit) {
		var made []string
		for _, section := range Sections() {
			for _, k := range found[section] {
				what := strings.TrimSpace(section + " on " + k.Trace + " " + k.Setting)
				if k.Commit == c {
					made = append(made, what)
				}
			}
		}
		p.row(c, strings.Join(made, "; "))
	}
}

// settings are what differs from the base for a log.
func (t *Trace) settings() string {
	var out []string
	if t.Hours > 0 {
		out = append(out, fmt.Sprintf("%g h", t.Hours))
	}
	if t.Cycle > 0 {
		out = append(out, "a cycle every "+t.Cycle.String())
	}
	if t.TasksPerNode > 1 {
		out = append(out, fmt.Sprintf("%d tasks a node", t.TasksPerNode))
	}
	if t.Workload != "" {
		out = append(out, t.Workload)
	}
	if t.Only != nil {
		out = append(out, "only "+strings.Join(t.Only, ", "))
	}
	return strings.Join(out, "; ")
}

func commits(found map[string][]kept, now string) []string {
	var out []string
	for _, section := range Sections() {
		for _, k := range found[section] {
			if !slices.Contains(out, k.Commit) {
				out = append(out, k.Commit)
			}
		}
	}
	if len(out) == 0 {
		return []string{now}
	}
	return out
}

// note adds a section's explanation.
func (p *page) note(section string) {
	if text := p.notes[section]; text != "" {
		p.line("")
		p.line("%s", text)
	}
}

// parseNotes splits a notes file at its "## section" headings.
func parseNotes(text string) (map[string]string, error) {
	notes, current := map[string]string{}, ""
	for i, line := range strings.Split(text, "\n") {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			current = strings.TrimSpace(name)
			if known := append([]string{"introduction", clusters}, Sections()...); !slices.Contains(known, current) {
				return nil, input(fmt.Errorf("notes: line %d: found section %q, expected one of %s", i+1, current,
					strings.Join(known, ", ")))
			}
			continue
		}
		if current != "" {
			notes[current] += line + "\n"
		}
	}
	for name, body := range notes {
		notes[name] = strings.TrimSpace(body)
	}
	return notes, nil
}

func (p *page) prediction(cells []kept) {
	p.head("log", "jobs tested", "predictor", "within 2x %", "median error %", "NMAE", "pinball", "CRPS", "in 50 %",
		"in 80 %", "in 95 %", "p99 µs")
	for _, k := range cells {
		for _, r := range k.Profile.Predictors {
			p.row(k.Trace, fmt.Sprint(k.Profile.Tested), r.Name, figures.Number(100*r.Within2x), figures.Number(100*r.MedianAPE),
				figures.Number(r.NMAE),
				figures.Number(r.Pinball.MeanOverDeciles), figures.Number(r.CRPS), figures.Number(100*r.Coverage["50"]),
				figures.Number(100*r.Coverage["80"]), figures.Number(100*r.Coverage["95"]), figures.Number(r.PredictUS.P99))
		}
	}
	p.line("")
	p.claims(predictionClaims(cells))
}

func (p *page) variants(cells []kept) {
	for _, note := range experiment.ColumnNotes() {
		p.line("- *%s*: %s", note[0], note[1])
	}
	p.line("")
	for _, k := range cells {
		d := k.Document
		p.line("**%s**: %d jobs, %d with deadlines, %.0f machine-hours, load %.2f (first seed); window %g s, slots of %g s",
			k.Trace,
			d.Workload.Jobs, d.Workload.SLOJobs, d.Workload.MachineHours, d.Workload.Load, d.Planning.WindowS, d.Planning.SlotS)
		p.line("")
		columns := experiment.Columns()
		head := []string{"policy"}
		for _, c := range columns {
			head = append(head, c.Head)
		}
		p.head(head...)
		for i := range d.Summary {
			row := []string{d.Summary[i].Policy}
			for _, c := range columns {
				row = append(row, figures.Interval(c.Of(&d.Summary[i]), c.Scale))
			}
			p.row(row...)
		}
		p.line("")
		p.claims(variantClaims(k))
		p.line("")
	}
}

// sweep writes, for each trace, miss rate, goodput and latency by setting and policy.
func (p *page) sweep(section string, cells []kept) {
	for _, group := range byTrace(cells) {
		for _, figure := range []struct {
			title string
			scale float64
			of    func(*experiment.Summary) stats.Interval
		}{
			{"SLO miss rate, %", 100, func(s *experiment.Summary) stats.Interval { return s.MissRate }},
			{"goodput within the window, machine-hours", 1, func(s *experiment.Summary) stats.Interval { return s.WorkInSpan }},
			{"BE latency, minutes", 1.0 / 60, func(s *experiment.Summary) stats.Interval { return s.BELatency }},
		} {
			p.line("**%s**, %s", group[0].Trace, figure.title)
			p.line("")
			names := []string{section}
			for _, s := range group[0].Document.Summary {
				names = append(names, s.Policy)
			}
			p.head(names...)
			for _, k := range group {
				row := []string{k.Setting}
				for i := range k.Document.Summary {
					row = append(row, figures.Interval(figure.of(&k.Document.Summary[i]), figure.scale))
				}
				p.row(row...)
			}
			p.line("")
		}
		p.claims(sweepClaims(section, group))
		p.line("")
	}
}

// perturbation writes the grid of miss rates, a row a shift and a column a width.
func (p *page) perturbation(cells []kept) {
	for _, group := range byTrace(cells) {
		p.line("**%s**, SLO miss rate of 3sigma in %%, told N(runtime·(1 + shift), runtime·CoV)", group[0].Trace)
		p.line("")
		head := []string{"shift"}
		for _, cov := range covs {
			head = append(head, strings.SplitN(perturbName(0, cov), ", ", 2)[1])
		}
		p.head(head...)
		for _, shift := range shifts {
			row := []string{fmt.Sprintf("%+.0f %%", 100*shift)}
			for _, cov := range covs {
				text := "–"
				if k := find(group, perturbName(shift, cov)); k != nil {
					text = figures.Interval(k.Document.Summary[0].MissRate, 100)
				}
				row = append(row, text)
			}
			p.row(row...)
		}
		p.line("")
		p.claims(perturbationClaims(group))
		p.line("")
	}
}

func byTrace(cells []kept) [][]kept {
	var out [][]kept
	for _, k := range cells {
		at := slices.IndexFunc(out, func(g []kept) bool { return g[0].Trace == k.Trace })
		if at < 0 {
			out = append(out, nil)
			at = len(out) - 1
		}
		out[at] = append(out[at], k)
	}
	return out
}

func find(group []kept, setting string) *kept {
	for i := range group {
		if group[i].Setting == setting {
			return &group[i]
		}
	}
	return nil
}

// values are a policy's figures, seed by seed; nil if it did not run.
func values(k *kept, policy string, of func(*sim.Metrics) float64) []float64 {
	var out []float64
	for i := range k.Document.Runs {
		if r := &k.Document.Runs[i]; r.Policy == policy {
			out = append(out, of(&r.Metrics))
		}
	}
	return out
}
