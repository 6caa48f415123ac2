//go:build cgo

// The C++ side of the backend: CbcMain1, as the C interface's Cbc_solve calls it, with what the C interface of
// 2.10.8 has no call for: handlers of events, by which a solve is stopped and tells of points and bounds.
#include "shim.h"

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "CbcEventHandler.hpp"
#include "CbcModel.hpp"
#include "CbcSolver.hpp"
#include "ClpEventHandler.hpp"
#include "ClpSimplex.hpp"
#include "CglPreProcess.hpp"
#include "CoinError.hpp"
#include "CoinMessageHandler.hpp"
#include "Cbc_C_Interface.h"
#include "OsiClpSolverInterface.hpp"

extern "C" {
// Go's side.
void hedgeCbcLine(uintptr_t owner, char *line);
void hedgeCbcPoint(uintptr_t owner, double *x, double bound);
}

namespace {

const double inf = std::numeric_limits<double>::infinity();

double bounded(double v) {
  if (v == inf) return COIN_DBL_MAX;
  if (v == -inf) return -COIN_DBL_MAX;
  return v;
}

// Words is a message handler that prints nothing: lines go to Go, or nowhere.
class Words : public CoinMessageHandler {
public:
  explicit Words(uintptr_t owner) : owner_(owner) {
    setLogLevel(owner ? 1 : 0);
    setPrefix(false);
  }
  int print() override {
    if (owner_) hedgeCbcLine(owner_, const_cast<char *>(messageBuffer()));
    return 0;
  }
  CoinMessageHandler *clone() const override { return new Words(*this); }

private:
  uintptr_t owner_;
};

} // namespace

// hedge_cbc is one problem and, while it is solved, what its handlers share.
struct hedge_cbc {
  OsiClpSolverInterface solver;
  std::atomic<bool> stop{false};

  const hedge_cbc_options *o = nullptr;
  CbcModel *root = nullptr; // the one whose tree is searched, once it is
  bool halted = false; // a handler has seen stop
  bool close = false; // a handler has seen the gap reached
  double bound = -inf; // the best that was proven before halted
  std::vector<char> integer;

  bool closed(double objective) const {
    double b = bound + o->offset;
    return std::fabs(b - objective - o->offset) <= o->gap * std::fmax(std::fabs(b), 1e-9);
  }
  bool stopping() const { return stop.load(std::memory_order_relaxed); }
  // halt makes m, and the models of heuristics within it, stop as soon as they look.
  void halt(CbcModel *m) {
    halted = true;
    if (!m) return;
    m->setMaximumSeconds(0);
    m->sayEventHappened();
  }
  void tell(CbcModel *m);
  bool complete(CbcModel *m);
  ClpSimplex *whole = nullptr; // completes points of preprocessed problems
};

namespace {

// Pivots stops CLP between its iterations.
class Pivots : public ClpEventHandler {
public:
  explicit Pivots(hedge_cbc *s) : s_(s) {}
  int event(Event which) override {
    if (!s_->stopping()) return -1;
    if (which != endOfIteration && which != endOfFactorization) return -1;
    s_->halt(s_->root);
    return s_->root ? -1 : 0; // within CbcModel a solve that ends early makes resolve use a solver that it has freed
  }
  ClpEventHandler *clone() const override { return new Pivots(*this); }

private:
  hedge_cbc *s_;
};

// Search stops the search of the tree between its steps, and takes down what is found.
class Search : public CbcEventHandler {
public:
  explicit Search(hedge_cbc *s) : s_(s) {}
  CbcAction event(CbcEvent which) override {
    if (model_ && model_ == s_->root && look(which)) return stop;
    if (!s_->stopping()) return noAction;
    if (model_) s_->halt(model_);
    s_->halt(s_->root);
    return stop;
  }
  CbcAction event(CbcEvent which, void *) override {
    return event(which) == stop ? killSolution : noAction;
  }
  CbcEventHandler *clone() const override { return new Search(*this); }

  hedge_cbc *s_;

private:
  // look takes down what the tree's model has found, and reports whether that is good enough.
  bool look(CbcEvent which) {
    if (s_->halted || s_->stopping()) return false; // a solve that is being stopped leaves what is not so
    double b = model_->getBestPossibleObjValue();
    if (b > s_->bound && std::fabs(b) < 1e50) s_->bound = b;
    if (which == solution || which == heuristicSolution) s_->tell(model_);
    double best = model_->bestSolution() ? std::fmin(model_->getMinimizationObjValue(), s_->o->known) : s_->o->known;
    if (which == endSearch || !(best < inf) || !s_->closed(best)) return false;
    s_->close = true;
    return true;
  }
};

// phase is called by CbcMain1 between its phases.
int phase(CbcModel *m, int where) {
  Search *h = dynamic_cast<Search *>(m->getEventHandler());
  if (!h) return 0;
  if (where == 2 || where == 3) h->s_->root = m;
  if (where >= 4) h->s_->root = nullptr;
  if (h->s_->stopping() && where < 4) h->s_->halt(m);
  return 0;
}

} // namespace

hedge_cbc *hedge_cbc_new(int cols, int rows, const int *begin, const int *index, const double *value, const double *lower,
  const double *upper, const double *cost, const double *row_lower, const double *row_upper, const char *integer) {
  try {
    std::unique_ptr<hedge_cbc> s(new hedge_cbc);
    std::vector<double> bounds[4] = {{lower, lower + cols}, {upper, upper + cols}, {row_lower, row_lower + rows},
      {row_upper, row_upper + rows}};
    for (auto &b : bounds)
      for (double &v : b) v = bounded(v);
    s->solver.loadProblem(cols, rows, begin, index, value, bounds[0].data(), bounds[1].data(), cost, bounds[2].data(), bounds[3].data());
    s->integer.assign(integer, integer + cols);
    for (int j = 0; j < cols; j++)
      if (integer[j]) s->solver.setInteger(j);
    return s.release();
  } catch (...) {
    return nullptr;
  }
}

void hedge_cbc_free(hedge_cbc *s) {
  if (!s) return;
  delete s->whole;
  delete s;
}

const char *hedge_cbc_version(void) { return Cbc_getVersion(); }

void hedge_cbc_stop(hedge_cbc *s) { s->stop.store(true); }

// complete solves the whole problem with m's integers fixed, m being what preprocessing has left of it.
bool hedge_cbc::complete(CbcModel *m) {
  CglPreProcess *process = m->preProcess();
  const int *to = process ? process->originalColumns() : nullptr;
  const double *x = m->bestSolution();
  int cols = solver.getNumCols();
  if (process && !to) return false;
  if (!whole) {
    whole = new ClpSimplex(*solver.getModelPtr());
    Pivots pivots(this);
    whole->passInEventHandler(&pivots);
  }
  memcpy(whole->columnLower(), solver.getColLower(), cols * sizeof(double));
  memcpy(whole->columnUpper(), solver.getColUpper(), cols * sizeof(double));
  for (int k = 0; k < m->getNumCols(); k++) {
    int j = to ? to[k] : k;
    if (j < 0 || j >= cols || !integer[j]) continue;
    whole->setColumnBounds(j, std::floor(x[k] + 0.5), std::floor(x[k] + 0.5));
  }
  whole->dual();
  return whole->status() == 0;
}

// tell hands m's point to Go.
void hedge_cbc::tell(CbcModel *m) {
  if (!o->points || !m->bestSolution() || stop.load()) return;
  if (complete(m)) hedgeCbcPoint(o->owner, whole->primalColumnSolution(), bound);
}

namespace {

int kindOf(hedge_cbc *s, CbcModel &m) {
  if (s->close) return HEDGE_CBC_OPTIMAL;
  if (s->halted) return HEDGE_CBC_STOPPED;
  if (m.isContinuousUnbounded() || m.secondaryStatus() == 7) return HEDGE_CBC_UNBOUNDED;
  if (m.isProvenInfeasible()) return HEDGE_CBC_INFEASIBLE;
  if (m.isProvenOptimal() && m.bestSolution()) return HEDGE_CBC_OPTIMAL;
  if (m.isNodeLimitReached()) return HEDGE_CBC_NODES;
  return HEDGE_CBC_OTHER;
}

void solveTree(hedge_cbc *s, const hedge_cbc_options *o, hedge_cbc_result *r, double *x) {
  Words words(o->log ? o->owner : 0);
  s->solver.passInMessageHandler(&words);
  Pivots pivots(s);
  s->solver.getModelPtr()->passInEventHandler(&pivots);
  CbcModel model(s->solver);
  model.passInMessageHandler(&words);
  Search search(s);
  model.passInEventHandler(&search);
  CbcSolverUsefulData data;
  CbcMain0(model, data);
  std::vector<std::string> args;
  args.push_back("hedge");
  auto set = [&](const char *name, const std::string &value) {
    args.push_back(std::string("-") + name);
    args.push_back(value);
  };
  char number[64];
  set("log", o->log ? "1" : "0");
  if (o->nodes >= 0) set("maxNodes", std::to_string(o->nodes));
  if (o->seed) {
    set("randomSeed", std::to_string(o->seed));
    set("randomCbcSeed", std::to_string(o->seed));
  }
  // CBC divides by the larger of bound and objective, and knows nothing of the offset: with one, Search alone stops.
  snprintf(number, sizeof number, "%.17g", o->offset == 0 ? o->gap / (1 + o->gap) : 0.0);
  set("ratioGap", number);
  args.push_back("-solve");
  args.push_back("-quit");
  std::vector<const char *> argv;
  for (auto &w : args) argv.push_back(w.c_str());
  CbcMain1((int)argv.size(), argv.data(), model, phase, data);
  r->status = model.status();
  r->secondary = model.secondaryStatus();
  r->nodes = model.getNodeCount();
  r->iterations = model.getIterationCount();
  r->kind = kindOf(s, model);
  r->bound = s->bound;
  double b = model.getBestPossibleObjValue();
  if (!s->halted && !s->close && std::fabs(b) < 1e50 && b > r->bound) r->bound = b;
  if (model.bestSolution()) {
    r->has_point = 1;
    memcpy(x, model.bestSolution(), s->solver.getNumCols() * sizeof(double));
  }
}

void solveLP(hedge_cbc *s, const hedge_cbc_options *o, hedge_cbc_result *r, double *x, double *y) {
  Words words(o->log ? o->owner : 0);
  Pivots pivots(s);
  ClpSimplex lp(*s->solver.getModelPtr());
  lp.passInMessageHandler(&words);
  lp.passInEventHandler(&pivots);
  lp.initialSolve();
  r->status = lp.status();
  r->secondary = lp.secondaryStatus();
  r->iterations = lp.numberIterations();
  if (s->halted)
    r->kind = HEDGE_CBC_STOPPED;
  else if (r->status == 0) {
    r->kind = HEDGE_CBC_OPTIMAL;
    r->bound = lp.rawObjectiveValue() * lp.optimizationDirection();
  } else if (r->status == 1)
    r->kind = HEDGE_CBC_INFEASIBLE;
  else if (r->status == 2)
    r->kind = HEDGE_CBC_UNBOUNDED;
  if (r->status == 0 || lp.primalFeasible()) {
    r->has_point = 1;
    memcpy(x, lp.primalColumnSolution(), s->solver.getNumCols() * sizeof(double));
    memcpy(y, lp.dualRowSolution(), s->solver.getNumRows() * sizeof(double));
  }
}

} // namespace

void hedge_cbc_solve(hedge_cbc *s, const hedge_cbc_options *o, hedge_cbc_result *r, double *x, double *y) {
  memset(r, 0, sizeof *r);
  r->bound = -inf;
  s->o = o;
  try {
    if (s->solver.getNumIntegers())
      solveTree(s, o, r, x);
    else
      solveLP(s, o, r, x, y);
  } catch (CoinError &e) {
    snprintf(r->error, sizeof r->error, "%s::%s: %s", e.className().c_str(), e.methodName().c_str(), e.message().c_str());
  } catch (std::exception &e) {
    snprintf(r->error, sizeof r->error, "%s", e.what());
  } catch (...) {
    snprintf(r->error, sizeof r->error, "an exception that is not a standard one");
  }
}
