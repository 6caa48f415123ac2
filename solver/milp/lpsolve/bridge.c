#include "bridge.h"

#include <lp_lib.h>
#include <stdlib.h>

#include "_cgo_export.h"

static int __WINAPI aborted(lprec *lp, void *handle) {
  watch *w = handle;
  if (w->nodes > 0 && get_total_nodes(lp) >= w->nodes) {
    w->counted = 1;
    return TRUE;
  }
  return w->enough || __atomic_load_n(&w->stop, __ATOMIC_RELAXED) != 0;
}

static void __WINAPI told(lprec *lp, void *handle, int message) {
  watch *w = handle;
  if (message == MSG_LPOPTIMAL) {
    if (!w->relaxed) {
      w->relaxed = 1;
      w->bound = get_working_objective(lp);
    }
    return;
  }
  double *x = NULL;
  if (get_ptr_variables(lp, &x) && x != NULL) {
    hedgeImproved(w->handle, x);
  }
}

static void __WINAPI logged(lprec *lp, void *handle, char *text) { hedgeLogged(((watch *)handle)->handle, text); }

void hedge_lpsolve_prepare(void *lp, watch *w) {
  // With the default of 1 lp_solve takes the objective to move in steps that it has not, and calls points optimal that
  // are not: 34 of 11,690 random models.
  set_solutionlimit(lp, 0);
  // The limit of the tree's depth stays as it is: without one lp_solve branches for ever where integers have no bounds, deaf to all.
  put_abortfunc(lp, aborted, w);
  put_msgfunc(lp, told, w, MSG_LPOPTIMAL | MSG_MILPFEASIBLE | MSG_MILPBETTER);
  set_verbose(lp, w->log ? NORMAL : NEUTRAL);
  if (w->log) {
    set_outputfile(lp, "/dev/null"); // it would write the log to stdout too; delete_lp closes the file
    put_logfunc(lp, logged, w);
  }
}

static void limits(lprec *lp, int row, double lower, double upper) {
  double infinite = get_infinite(lp);
  if (lower == upper) {
    set_constr_type(lp, row, EQ);
    set_rh(lp, row, lower);
  } else if (lower <= -infinite) {
    set_constr_type(lp, row, LE);
    set_rh(lp, row, upper >= infinite ? infinite : upper);
  } else {
    set_constr_type(lp, row, GE);
    set_rh(lp, row, lower);
    if (upper < infinite) {
      set_rh_range(lp, row, upper - lower);
    }
  }
}

int hedge_lpsolve_load(void *lp, int columns, int rows, const int64_t *begin, const int32_t *index, const double *value,
               const double *lower, const double *upper, const double *cost, const uint8_t *integer,
               const double *row_lower, const double *row_upper, double sign) {
  double infinite = get_infinite(lp);
  set_add_rowmode(lp, FALSE);
  set_minim(lp);
  if (!resize_lp(lp, rows, columns)) {
    return 0;
  }
  for (int i = 0; i < rows; i++) {
    limits(lp, i + 1, row_lower[i], row_upper[i]);
  }
  REAL *entries = malloc((rows + 1) * sizeof *entries);
  int *at = malloc((rows + 1) * sizeof *at);
  int ok = entries != NULL && at != NULL;
  for (int j = 0; ok && j < columns; j++) {
    int n = 0;
    if (cost[j] != 0) {
      entries[n] = sign * cost[j];
      at[n++] = 0;
    }
    for (int64_t k = begin[j]; k < begin[j + 1]; k++) {
      entries[n] = value[k];
      at[n++] = index[k] + 1;
    }
    ok = add_columnex(lp, n, entries, at);
    double from = lower[j] < -infinite ? -infinite : lower[j], to = upper[j] > infinite ? infinite : upper[j];
    ok = ok && (from != -infinite || to != infinite ? set_bounds(lp, j + 1, from, to) : set_unbounded(lp, j + 1));
    ok = ok && (!integer[j] || set_int(lp, j + 1, TRUE));
  }
  free(entries);
  free(at);
  return ok;
}

int64_t hedge_lpsolve_nodes(void *lp) { return get_total_nodes(lp); }
int64_t hedge_lpsolve_iterations(void *lp) { return get_total_iter(lp); }
void hedge_lpsolve_free(void *lp) { delete_lp(lp); }
void hedge_lpsolve_version(int *major, int *minor, int *release, int *build) { lp_solve_version(major, minor, release, build); }
