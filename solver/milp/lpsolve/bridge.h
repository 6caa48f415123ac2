// What the Go binding of lp_solve lacks: see bridge.go.

#ifndef HEDGE_LPSOLVE_BRIDGE_H
#define HEDGE_LPSOLVE_BRIDGE_H

#include <stdint.h>

// watch is what the library's call-backs look at and leave behind while it solves.
typedef struct {
  int32_t stop;     // not zero: end; written from another goroutine
  int32_t enough;   // the point in hand is good enough: end
  int32_t counted;  // the limit of nodes was the reason to end
  int32_t relaxed;  // bound is the relaxation's value
  double bound;     // as lp_solve minimises
  int64_t nodes;    // the limit of nodes, 0 for none
  int32_t log;      // tell of lines
  uintptr_t handle; // the Go side
} watch;

// hedge_lpsolve_load copies a model by columns into lp, which must have been made with the rows and no columns. Costs are multiplied by
// sign. It returns 0 if there is no memory.
int hedge_lpsolve_load(void *lp, int columns, int rows, const int64_t *begin, const int32_t *index, const double *value,
               const double *lower, const double *upper, const double *cost, const uint8_t *integer,
               const double *row_lower, const double *row_upper, double sign);

// hedge_lpsolve_prepare sets the parameters and makes lp look at w, which must outlive the solve.
void hedge_lpsolve_prepare(void *lp, watch *w);

int64_t hedge_lpsolve_nodes(void *lp);
int64_t hedge_lpsolve_iterations(void *lp);
void hedge_lpsolve_free(void *lp);
void hedge_lpsolve_version(int *major, int *minor, int *release, int *build);

#endif
