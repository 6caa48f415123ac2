package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hedgesched/hedge/adapters/sim/trace"
	"github.com/hedgesched/hedge/predict"

	"github.com/hedgesched/hedge/cmd/hedge/internal/profile"
	"github.com/hedgesched/hedge/cmd/hedge/internal/records"
)

// Predictors are the names hedge predict knows: 3σPredict, its point result, the histogram of
// recent values only, and 3σPredict restricted to one broad feature.
func Predictors() []string {
	return []string{"3sigma", "jvupredict", "3sigma-recent", "user-only", "no-features"}
}

// ParsePredictors reads a list of predictors, or "all".
func ParsePredictors(list string) ([]string, error) { return ParseNames(list, Predictors()) }

// ParseNames reads a comma-separated list of distinct known names; "all" is every one.
func ParseNames(list string, known []string) ([]string, error) {
	if strings.TrimSpace(list) == "all" {
		return slices.Clone(known), nil
	}
	var out []string
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		switch {
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("found %q, expected all or some of %s", name, strings.Join(known, ", "))
		case slices.Contains(out, name):
			return nil, fmt.Errorf("found %q twice", name)
		}
		out = append(out, name)
	}
	return out, nil
}

func newPredictor(name string) (*predict.History, error) {
	o := &predict.HistoryOptions{}
	switch name {
	case "jvupredict":
		o.Result = predict.ResultPoint
	case "3sigma-recent":
		o.RecentOnly = true
	case "user-only":
		o.Features = []predict.Feature{predict.Attr("user")}
	case "no-features":
		o.Features = []predict.Feature{predict.All()}
	}
	return predict.NewHistory(o)
}

// Profile walks the log with each predictor. Step is told how many of
// len(log.Jobs)·len(names) predictions are done.
func Profile(log *trace.Log, names []string, train float64, now func() time.Time, step func(int)) (*profile.Document,
	error) {
	doc := &profile.Document{Schema: 1, Command: "predict", Trace: log.Name, Train: train, Jobs: len(log.Jobs),
		Records: records.Of(log)}
	jobs := withTasks(log.Jobs)
	for i, name := range names {
		h, err := newPredictor(name)
		if err != nil {
			return nil, err
		}
		o := profile.Options{Train: train, Origin: time.Unix(0, 0).UTC(), Now: now,
			Step: func(done int) { step(i*len(jobs) + done) }}
		if name == "3sigma" {
			o.Experts = func(j predict.Job) []profile.Estimate { return estimates(h.Explain(j)) }
		}
		r, counts, err := profile.Walk(name, h, jobs, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if i == 0 {
			doc.Tested, doc.NoHistory = counts.Tested, counts.NoHistory
		}
		doc.Predictors = append(doc.Predictors, r)
	}
	return doc, nil
}

func estimates(candidates []predict.Candidate) []profile.Estimate {
	out := make([]profile.Estimate, len(candidates))
	for i, c := range candidates {
		out[i] = profile.Estimate{Feature: c.Expert.Feature, Estimator: c.Expert.Estimator, Point: c.Point}
	}
	return out
}

// withTasks gives every job its number of tasks as an attribute, as workloads do, where
// the log does not. The log is not changed.
func withTasks(jobs []trace.Job) []trace.Job {
	out := slices.Clone(jobs)
	for i := range out {
		if _, ok := out[i].Attributes["tasks"]; ok {
			continue
		}
		attributes := make(map[string]string, len(out[i].Attributes)+1)
		maps.Copy(attributes, out[i].Attributes)
		attributes["tasks"] = strconv.Itoa(out[i].Tasks)
		out[i].Attributes = attributes
	}
	return out
}
