package milptest_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/milptest"
	"github.com/hedgesched/hedge/solver/milp/milptest/reference"
)

// config is what the honest are tried with; -short, for the race detector, tries fewer models.
func config() milptest.Config {
	if testing.Short() {
		return milptest.Config{Seeds: 5}
	}
	return milptest.Config{}
}

func TestReferenceConforms(t *testing.T) { milptest.Run(t, reference.New(), config()) }

// humble is the reference backend without some of its capabilities.
type humble struct {
	milp.Backend
	caps milp.Caps
}

func (h *humble) Caps() milp.Caps { return h.caps }

// Solve gives what the capabilities leave of the reference's result.
func (h *humble) Solve(ctx context.Context, m *milp.Model, opts milp.Options) (*milp.Result, error) {
	lower, upper := m.Bounds()
	for j := range lower {
		if h.caps.Bounded && (math.IsInf(lower[j], 0) || math.IsInf(upper[j], 0)) {
			return nil, fmt.Errorf("%w: vars[%d] has no bound", milp.ErrUnsupported, j)
		}
	}
	if !h.caps.Start {
		opts.Start = nil
	}
	if !h.caps.Incumbents {
		opts.Incumbent = nil
	}
	if !h.caps.Log {
		opts.Log = nil
	}
	m, cut := h.cut(m)
	if cut { // nothing is proven then, and points told of have bounds that are not
		opts.Incumbent = nil
	}
	res, err := h.Backend.Solve(ctx, m, opts)
	if err == nil && cut {
		res.Stop, res.Bound = milp.StopOther, milp.NoBound(m)
	}
	if err != nil || res.Stop == milp.StopInfeasible {
		return res, err
	}
	if h.caps.Forgets && res.Stop != milp.StopOptimal {
		res.X = nil
	}
	if h.caps.Heuristic && m.Integers() > 0 {
		res.Bound = milp.NoBound(m)
		if res.Stop == milp.StopOptimal {
			res.Stop = milp.StopOther
		}
	}
	return res, nil
}

// cut is m within the bounds of MaxInteger, and whether that is another model.
func (h *humble) cut(m *milp.Model) (*milp.Model, bool) {
	within, cut, most := m.Clone(), false, h.caps.MaxInteger
	for j := range m.Vars() {
		v := m.Var(j)
		if !v.Integer || most == 0 || v.Lower >= -most && v.Upper <= most {
			continue
		}
		v.Lower, v.Upper, cut = math.Max(v.Lower, -most), math.Min(v.Upper, most), true
		within.SetVar(j, v)
	}
	return within, cut
}

// TestBackendsOfFewerCapabilitiesConform: nothing is asked of a backend that it has not claimed.
func TestBackendsOfFewerCapabilitiesConform(t *testing.T) {
	for name, caps := range map[string]milp.Caps{
		"linear programs only": {},
		"silent":               {Integer: true},
		"heuristic":            {Heuristic: true, Incumbents: true, Nodes: true},
		"forgetful":            {Integer: true, Forgets: true, Start: true, Incumbents: true},
		"bounded":              {Integer: true, Bounded: true, MaxInteger: 1e6, Nodes: true, Log: true},
	} {
		t.Run(name, func(t *testing.T) {
			milptest.Run(t, &humble{Backend: reference.New(), caps: caps}, milptest.Config{Seeds: 5, Skip: map[string]string{
				"lp:20,000 variables": "asks for no capability, and takes the reference long",
			}})
		})
	}
}
