// The few calls of C that Go makes; shim.cpp is their other side, on CBC's and CLP's own classes.
#ifndef HEDGE_CBC_SHIM_H
#define HEDGE_CBC_SHIM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  double gap; // relative, of offset and objective together
  double offset;
  double known; // the objective of a point that the caller has, without offset; +infinity: none
  int nodes; // negative: no limit
  int seed; // 0: the solver's own

  uintptr_t owner; // handed back to the callbacks below; 0: call none
  int log; // nonzero: call hedgeCbcLine
  int points; // nonzero: call hedgeCbcPoint
} hedge_cbc_options;

typedef struct {
  int kind; // HEDGE_CBC_*
  int status, secondary; // the solver's own
  int has_point; // x is filled in
  double bound; // -infinity where nothing is proven
  int64_t nodes, iterations;
  char error[256]; // an exception's message, or ""
} hedge_cbc_result;

enum {
  HEDGE_CBC_OTHER,
  HEDGE_CBC_OPTIMAL,
  HEDGE_CBC_INFEASIBLE,
  HEDGE_CBC_UNBOUNDED, // or infeasible
  HEDGE_CBC_NODES,
  HEDGE_CBC_STOPPED, // by hedge_cbc_stop
};

typedef struct hedge_cbc hedge_cbc;

// hedge_cbc_new makes a solver of a problem that is to be minimised: its entries by column, begin having cols + 1 numbers, and
// integer 1 where a column is. Infinities are IEEE's. All of it is copied; NULL if memory ran out. hedge_cbc_free ends it.
hedge_cbc *hedge_cbc_new(int cols, int rows, const int *begin, const int *index, const double *value, const double *lower,
  const double *upper, const double *cost, const double *row_lower, const double *row_upper, const char *integer);
void hedge_cbc_free(hedge_cbc *s);

// hedge_cbc_solve solves once. x has room for a number per column, and y for a number per row: the prices of a problem without
// integers, where there is a point.
void hedge_cbc_solve(hedge_cbc *s, const hedge_cbc_options *o, hedge_cbc_result *r, double *x, double *y);

// hedge_cbc_version is the library's own.
const char *hedge_cbc_version(void);

// hedge_cbc_stop may be called by any thread while s lives.
void hedge_cbc_stop(hedge_cbc *s);

#ifdef __cplusplus
}
#endif
#endif
