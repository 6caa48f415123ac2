package format

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hedgesched/hedge/solver/milp"
	"github.com/hedgesched/hedge/solver/milp/milptest/reference"
)

// outcome is what a file is: an optimum, a reason to stop without one, or an error; and what the reader warns of.
type outcome struct {
	optimum float64
	stop    milp.Stop
	err     string
	warns   []string
}

// outcomes has every file of testdata/cases.
func outcomes() map[string]outcome {
	at := func(optimum float64, warns ...string) outcome {
		return outcome{optimum: optimum, stop: milp.StopOptimal, warns: warns}
	}
	refused := func(err string) outcome { return outcome{err: err} }
	return map[string]outcome{
		"l01_binary_bounds.lp":           at(1),
		"l02_negative_upper.lp":          {stop: milp.StopInfeasible},
		"l03_keyword_names.lp":           at(8),
		"l04_row_named_end.lp":           at(2),
		"l05_rhs_vars.lp":                refused(`line 4:11: found "y", expected a number`),
		"l06_no_end.lp":                  refused(`line 5:1: found the end of the file, expected a section`),
		"l07_oneline.lp":                 at(5),
		"l08_exp.lp":                     at(0.5),
		"l09_dup_terms.lp":               at(4),
		"l11_range.lp":                   at(2),
		"l12_numrow.lp":                  at(2),
		"l13_emptyobj_freerow.lp":        at(0),
		"l14_late_var.lp":                at(3, `variable "z" is in no row and has no cost`),
		"l15_sections_twice.lp":          at(3.5),
		"l16_int_default.lp":             at(7),
		"l17_semi.lp":                    refused(`line 7:1: found "Semi", expected a linear model without semi-continuous variables`),
		"l18_bom_crlf.lp":                at(2),
		"l19_binary_conflict.lp":         refused(`line 8:2: found bounds 2 and 5 of the binary variable "x", expected bounds within 0 and 1`),
		"l20_comments.lp":                refused(`line 5:3: found "*"`),
		"l22_general_after_bound01.lp":   at(6),
		"l23_mult.lp":                    refused(`line 2:9: found "*"`),
		"l24_chain_le.lp":                at(-6),
		"l25_bound_eq_neg.lp":            at(-8),
		"l26_signs.lp":                   at(0),
		"l27_written_by_highs_unused.lp": at(-7, `variable "z" is in no row and has no cost`),
		"m01_neg_up.mps":                 at(-20),
		"m02_range_n_row.mps":            at(-4, `row "spare" is free: its right-hand side 3 is passed over`, `row "spare" is free: its range 2 is passed over`),
		"m03_rhs_obj.mps":                at(-8),
		"m04_objsense_firstcol.mps":      at(2),
		"m05_objsense_maximize_long.mps": refused(`line 3:1: found "OBJNAME", expected a section`),
		"m06_late_col.mps":               at(0, `variable "x1" is in no row and has no cost`),
		"m07_bv_noval_set.mps":           at(-1),
		"m08_bound_noset.mps":            at(-6),
		"m09_fixed_names_spaces.mps":     refused(`line 4:7: found "1"`),
		"m10_int_noub.mps": at(-100, "integer variables without bounds are 0 or 1, though lp_solve has no upper bound "+
			`for them: 1, the first is "x"`),
		"m11_dup_entry.mps":         refused(`line 6:10: found "obj", expected one coefficient of variable "x" in row "obj"`),
		"m12_section_as_names.mps":  at(-4),
		"m13_e_range.mps":           {stop: milp.StopInfeasible},
		"m14_numbers.mps":           refused(`line 9:8: found "-1.0D+00", expected a number`),
		"m16_mi_up.mps":             {stop: milp.StopUnbounded},
		"m17_two_rhs_sets.mps":      refused(`line 9:2: found "B", expected the set "A" that the section began with`),
		"m18_comments_blank.mps":    at(-4),
		"m19_no_name_rows_late.mps": at(-4),
		"m20_bv_then_up.mps": at(-2, `bounds 0 and 0 of variable "x" replace 0 and 1`,
			`bounds 0 and 1 of variable "y" replace 0 and 0`),
		"m21_sc.mps":                     refused(`line 10:2: found "SC", expected LO, UP`),
		"m22_neg_up_int.mps":             at(-7, `variable "x" has a negative upper bound, so that its lower bound is none`),
		"m23_rhs_neg_first_field.mps":    at(3),
		"m24_objsense_after.mps":         at(0, "OBJSENSE MIN replaces the other one"),
		"m25_small_cost.mps":             at(-0.95),
		"m26_written_by_glpk_dollar.mps": at(-7),
		"w1.mps":                         at(-7),
	}
}

// readFile reads a file by its ending, and what is warned of.
func readFile(t *testing.T, path string) (*milp.Model, []string, error) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var warns []string
	r := Reader{Warn: func(line int, text string) {
		assert.Positive(t, line)
		warns = append(warns, text)
	}}
	read := r.LP
	if filepath.Ext(path) == ".mps" {
		read = r.MPS
	}
	m, err := read(f)
	return m, warns, err
}

func TestCases(t *testing.T) {
	want := outcomes()
	files, err := filepath.Glob(filepath.Join("testdata", "cases", "*.*ps"))
	require.NoError(t, err)
	lps, err := filepath.Glob(filepath.Join("testdata", "cases", "*.lp"))
	require.NoError(t, err)
	files = append(files, lps...)
	require.Len(t, files, len(want)+len(farBounds()))
	for name, want := range want {
		t.Run(name, func(t *testing.T) {
			m, warns, err := readFile(t, filepath.Join("testdata", "cases", name))
			if want.err != "" {
				require.ErrorIs(t, err, milp.ErrInvalid)
				require.ErrorContains(t, err, want.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, want.warns, warns)
			got, err := milp.Solve(t.Context(), reference.New(), m, milp.Options{Gap: -1})
			require.NoError(t, err)
			require.Equal(t, want.stop, got.Stop)
			assert.InDelta(t, want.optimum, got.Objective, 1e-6)
		})
	}
}

// farBounds are the bounds of a variable in files whose bounds are too far out for the reference solver to compute
// with.
func farBounds() map[string]milp.Var {
	return map[string]milp.Var{
		"l10_inf.lp":         {Name: "x1", Lower: -1e20, Upper: inf, Cost: 1},
		"l21_1e20.lp":        {Name: "x", Upper: 1e20, Cost: 1},
		"m15_inf_bounds.mps": {Name: "y", Upper: 1e20, Cost: -1},
	}
}

func TestFarBoundsAreNumbersAndWarnedOf(t *testing.T) {
	for name, want := range farBounds() {
		m, warns, err := readFile(t, filepath.Join("testdata", "cases", name))
		require.NoError(t, err, name)
		found := false
		for j := range m.Vars() {
			if v := m.Var(j); v.Name == want.Name {
				found = true
				assert.Equal(t, want, v, name)
			}
		}
		assert.True(t, found, name)
		assert.Contains(t, warns, `a bound of variable "`+want.Name+`" is 1e+20, which is no bound for HiGHS, SCIP and CPLEX`, name)
	}
}
