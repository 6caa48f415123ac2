#include "bridge.h"

#include <ClpConfig.h>
#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>
#include <ClpSolve.hpp>
#include <CoinError.hpp>
#include <algorithm>
#include <cstring>
#include <exception>
#include <string>

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

// caught runs f and returns the message of what it throws, 0 if that is nothing. No exception may pass through the functions that call this.
template <typename F> char *caught(F f) {
  try {
    f();
    return nullptr;
  } catch (CoinError &e) {
    return strdup((e.className() + "::" + e.methodName() + ": " + e.message()).c_str());
  } catch (std::exception &e) {
    return strdup(e.what());
  } catch (...) {
    return strdup("an exception that is not a standard one");
  }
}

} // namespace

char *hedge_clp_load(void *simplex, int columns, int rows, const int *begin, const int *index, const double *value,
                const double *lower, const double *upper, const double *cost, const double *row_lower,
                const double *row_upper) {
  return caught([&] {
    model(simplex)->loadProblem(columns, rows, begin, index, value, lower, upper, cost, row_lower, row_upper);
    finite(model(simplex)->columnLower(), columns);
    finite(model(simplex)->columnUpper(), columns);
    finite(model(simplex)->rowLower(), rows);
    finite(model(simplex)->rowUpper(), rows);
  });
}

char *hedge_clp_watch(void *simplex, const int *stop) {
  return caught([&] {
    Watch watch(stop);
    model(simplex)->passInEventHandler(&watch);
  });
}

char *hedge_clp_solve(void *simplex, int method, int *status) {
  return caught([&] {
    const ClpSolve::SolveType methods[] = {ClpSolve::automatic, ClpSolve::useDual, ClpSolve::usePrimal};
    ClpSolve how; // with presolve
    how.setSolveType(methods[method]);
    model(simplex)->initialSolve(how);
    *status = model(simplex)->status();
  });
}

int hedge_clp_iterations(void *simplex) { return model(simplex)->numberIterations(); }

void hedge_clp_free(void *simplex) { delete model(simplex); }

const char *hedge_clp_version(void) { return CLP_VERSION; }
