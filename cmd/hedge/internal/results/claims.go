package results

import (
	"fmt"

	"github.com/hedgesched/hedge/adapters/sim"

	"github.com/hedgesched/hedge/cmd/hedge/internal/figures"
	"github.com/hedgesched/hedge/cmd/hedge/internal/stats"
)

// The verdicts.
const (
	holds       = "holds"
	holdsWeakly = "holds weakly"
	holdsNot    = "does not hold"
)

// claim is what the paper says, what was found, and whether it holds.
type claim struct{ text, paper, here, verdict string }

func (p *page) claims(list []claim) {
	if len(list) == 0 {
		return
	}
	for _, c := range list {
		p.tally[c.verdict]++
	}
	p.line("| claim | paper | here | verdict |")
	p.line("|---|---|---|---|")
	for _, c := range list {
		p.row(c.text, c.paper, c.here, c.verdict)
	}
}

func missRate(m *sim.Metrics) float64   { return m.SLO.MissRate }
func inWindow(m *sim.Metrics) float64   { return m.WorkInWindow.SLO + m.WorkInWindow.BE }
func beInWindow(m *sim.Metrics) float64 { return m.WorkInWindow.BE }

// less judges the claim that a is below b, seed by seed: a verdict on the paired differences.
func less(a, b []float64) string {
	diff := make([]float64, len(a))
	for i := range a {
		diff[i] = b[i] - a[i]
	}
	switch iv := stats.Of(diff); {
	case iv.CI95 != nil && iv.CI95[0] > 0:
		return holds
	case iv.Mean > 0:
		return holdsWeakly
	}
	return holdsNot
}

// verdict is for a claim that is a yes or no of the means.
func verdict(yes bool) string {
	if yes {
		return holds
	}
	return holdsNot
}

func predictionClaims(cells []kept) []claim {
	var out []claim
	for _, k := range cells {
		r := &k.Profile.Predictors[0]
		out = append(out, claim{k.Trace + ": estimates within a factor of two", "77–92 %", figures.Number(100*r.Within2x) +
			" %", verdict(r.Within2x >= .77)})
	}
	return out
}

func scaled(x []float64, by float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v * by
	}
	return out
}

func ratio(a, b []float64) string {
	if stats.Mean(b) == 0 {
		return "–"
	}
	return figures.Number(stats.Mean(a)/stats.Mean(b)) + "×"
}

func variantClaims(k kept) []claim {
	of := func(policy string, figure func(*sim.Metrics) float64) []float64 { return values(&k, policy, figure) }
	ours, real, perfect, prio := of("3sigma", missRate), of("point-real", missRate), of("point-perfect", missRate),
		of("prio", missRate)
	good, realGood := of("3sigma", inWindow), of("point-real", inWindow)
	be, noadapt := of("3sigma", beInWindow), of("3sigma-noadapt", beInWindow)
	nodist := of("3sigma-nodist", missRate)
	gap := 100 * (stats.Mean(ours) - stats.Mean(perfect))
	return []claim{
		{"point-real misses more than 3sigma", "4.0×", ratio(real, ours), less(ours, real)},
		{"… at least three times as much", "4.0×", ratio(real, ours), less(scaled(ours, 3), real)},
		{"prio misses more than 3sigma", "2.3×", ratio(prio, ours), less(ours, prio)},
		{"3sigma is within 3 points of point-perfect", "close", fmt.Sprintf("%+.1f points", gap), verdict(gap <= 3)},
		{"point-real has less goodput than 3sigma (in the window)", "−5.4 %", change(realGood, good), less(realGood, good)},
		{"a distribution misses less than its point (3sigma-nodist)", "fewer", ratio(nodist, ours), less(ours, nodist)},
		{"3sigma-noadapt loses BE goodput (in the window)", "less", change(noadapt, be), less(noadapt, be)},
	}
}

func change(a, b []float64) string {
	if stats.Mean(b) == 0 {
		return "–"
	}
	return fmt.Sprintf("%+.1f %%", 100*(stats.Mean(a)/stats.Mean(b)-1))
}

func sweepClaims(section string, group []kept) []claim {
	miss := func(k *kept, policy string) []float64 { return values(k, policy, missRate) }
	var out []claim
	switch section {
	case "slack":
		below, near := 0, 0
		for i := range group {
			k := &group[i]
			if stats.Mean(miss(k, "3sigma")) < stats.Mean(miss(k, "point-real")) {
				below++
			}
			if stats.Mean(miss(k, "3sigma-nooe")) <= stats.Mean(miss(k, "point-perfect"))+.03 {
				near++
			}
		}
		out = append(out,
			claim{"3sigma misses less than point-real at every slack", "every", fmt.Sprintf("%d of %d", below, len(group)),
				verdict(below == len(group))},
			claim{"3sigma-nooe is within 3 points of point-perfect at most slacks", "most",
				fmt.Sprintf("%d of %d", near, len(group)), verdict(2*near > len(group))})
	case "load":
		below := 0
		for i := range group {
			k := &group[i]
			if stats.Mean(miss(k, "3sigma")) < min(stats.Mean(miss(k, "point-real")), stats.Mean(miss(k, "prio"))) {
				below++
			}
		}
		out = append(out, claim{"3sigma misses less than point-real and prio at every load", "every",
			fmt.Sprintf("%d of %d", below, len(group)), verdict(below == len(group))})
	case "samples":
		few, enough, most := find(group, "5"), find(group, "25"), find(group, "100")
		if few == nil || enough == nil || most == nil {
			return nil
		}
		a, b, c := miss(few, "3sigma"), miss(enough, "3sigma"), miss(most, "3sigma")
		out = append(out,
			claim{"25 samples suffice: within 1 point of 100", "yes",
				fmt.Sprintf("%+.1f points", 100*(stats.Mean(b)-stats.Mean(c))), verdict(stats.Mean(b) <= stats.Mean(c)+.01)},
			claim{"5 samples are worse than 25", "yes", fmt.Sprintf("%+.1f points", 100*(stats.Mean(a)-stats.Mean(b))),
				less(b, a)})
	}
	return out
}

func perturbationClaims(group []kept) []claim {
	at := func(shift, cov float64) []float64 {
		k := find(group, perturbName(shift, cov))
		if k == nil {
			return nil
		}
		return values(k, "3sigma", missRate)
	}
	point, narrow := at(0, 0), at(0, .1)
	if point == nil || narrow == nil {
		return nil
	}
	out := []claim{{"at no shift a distribution (CoV 10 %) halves the misses of a point", "2×", ratio(point, narrow),
		less(scaled(narrow, 2), point)}}
	for _, shift := range shifts {
		thin, wide := at(shift, .1), at(shift, .5)
		if thin == nil || wide == nil {
			continue
		}
		if shift >= -.2 && shift <= .2 {
			out = append(out, claim{fmt.Sprintf("shift %+.0f %%: narrow (10 %%) misses less than wide (50 %%)", 100*shift),
				"yes", ratio(wide, thin), less(thin, wide)})
		} else {
			out = append(out, claim{fmt.Sprintf("shift %+.0f %%: wide (50 %%) misses less than narrow (10 %%)", 100*shift),
				"yes", ratio(thin, wide), less(wide, thin)})
		}
	}
	return out
}
