#include "bridge.h"

#include <ClpConfig.h>
#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>
#include <ClpSolve.hpp>
#include <algorithm>

namespace {

ClpSimplex *model(void *simplex) { return static_cast<ClpSimplex *>(simplex); }

// Watch ends a solve from another thread. Clp asks it at every step of the simplex method and between the stages of presolve.
class Watch : public ClpEventHandler {
public:
  explicit Watch(const int *stop) : stop_(stop) {}
  int event(Event) override { return __atomic_load_n(stop_, __ATOMIC_RELAXED) != 0 ? 0 : -1; }
  ClpEventHandler *clone() const override { return new Watch(*this); }

private:
  const int *stop_;
};

// finite puts Clp's infinity in the place of the numbers' own, with which its primal simplex method computes.
void finite(double *bounds, int n) {
  for (int i = 0; i < n; i++) {
    bounds[i] = std::max(-COIN_DBL_MAX, std::min(bounds[i], COIN_DBL_MAX));
  }
}

} // namespace

void hedge_clp_load(void *simplex, int columns, int rows, const int *begin, const int *index, const double *value,
                const double *lower, const double *upper, const double *cost, const double *row_lower,
                const double *row_upper) {
  model(simplex)->loadProblem(columns, rows, begin, index, value, lower, upper, cost, row_lower, row_upper);
  finite(model(simplex)->columnLower(), columns);
  finite(model(simplex)->columnUpper(), columns);
  finite(model(simplex)->rowLower(), rows);
  finite(model(simplex)->rowUpper(), rows);
}

void hedge_clp_watch(void *simplex, const int *stop) {
  Watch watch(stop);
  model(simplex)->passInEventHandler(&watch);
}

int hedge_clp_solve(void *simplex, int method) {
  const ClpSolve::SolveType methods[] = {ClpSolve::automatic, ClpSolve::useDual, ClpSolve::usePrimal};
  ClpSolve how; // with presolve
  how.setSolveType(methods[method]);
  model(simplex)->initialSolve(how);
  return model(simplex)->status();
}

int hedge_clp_iterations(void *simplex) { return model(simplex)->numberIterations(); }

void hedge_clp_free(void *simplex) { delete model(simplex); }

const char *hedge_clp_version(void) { return CLP_VERSION; }
