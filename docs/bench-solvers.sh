#!/usr/bin/env bash
# Makes the tables of docs/benchmarks-*.md that set the native engine beside generic solvers, from `make hedge-full highs ortools`:
#
#   docs/bench-solvers.sh [PART...]
#
#   reach       bench-reach.md: time to what four generic MILP solvers have after 60 s           17 min
#   relaxation  bench-relaxation.md: its bound beside Clp's linear programs                      1 min
#   growth      bench-growth.md, .svg: time as jobs, partitions and slots are doubled            2 min
#   worth       bench-worth.md: misses and goodput against the time of a decision                6 min
#   backends    bench-backends.md: one workload under every backend                              4 min
#   table       bench-engines.md: every engine on every problem for 10 s                         20 min
#
# Without PART: the first four. What a part printed is kept in bin/bench and not measured again until that is removed, so that an interrupted run
# goes on where it was. Nothing else should run on the machine; the load before each part is written down. Needs two cores and logs/ (docs/fetch-logs.sh) for worth.
set -euo pipefail
cd "$(dirname "$0")/.."
out=bin/bench
address=127.0.0.1:50951
service="milp+ortools://$address?solver="
generic=(--engine milp+highs --engine milp+cbc --engine "${service}GSCIP" --engine "${service}CP_SAT")
hedge=$PWD/bin/hedge-full
measure=$PWD/bin/measure
export PATH=$PWD/bin:$PATH CGO_CFLAGS="${CGO_CFLAGS:--O2 -g -I/usr/include/lpsolve}"
mkdir -p "$out"

# serve starts the solver service once, and ends it with the script.
serving=
serve() {
  test -z "$serving" || return 0
  "$hedge" solver serve --listen "$address" --max-solves 4 >"$out/service.log" 2>&1 &
  serving=$!
  trap 'kill $serving 2>/dev/null || true' EXIT
  for _ in $(seq 120); do
    grep -q listening "$out/service.log" && return 0
    sleep 1
  done
  echo "the solver service has not started: see $out/service.log" >&2
  exit 1
}

# stamp says what a part was measured on.
stamp() {
  local dirty=""
  git diff --quiet HEAD -- . ':!docs' 2>/dev/null || dirty=" (modified)"
  echo "Commit $(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)$dirty; $(nproc) × $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(go env GOVERSION); load averages before it: $(cut -d' ' -f1-3 /proc/loadavg)."
}

# once PART COMMAND...: the command's output in $out/PART.md, unless it is there.
once() {
  local part=$1
  shift
  test ! -s "$out/$part.md" || return 0
  echo "$(date +%T) $part" >&2
  stamp >"$out/$part.stamp"
  "$@" >"$out/$part.part"
  mv "$out/$part.part" "$out/$part.md"
}

# page NAME TITLE PART...: docs/NAME.md of a title, the text from stdin, and the parts' tables.
page() {
  local name=$1 title=$2
  shift 2
  {
    printf '<!-- made by docs/bench-solvers.sh; text is there too -->\n# %s\n\n' "$title"
    cat
    for part in "$@"; do
      printf '\n'
      cat "$out/$part.stamp"
      printf '\n'
      sed "s|$PWD/||g; s|…|...|g; s|milp+ortools://$address?solver=|milp+ortools:|g" "$out/$part.md"
    done
  } >"docs/$name.md"
  echo "docs/$name.md" >&2
}

# bench PART FLAGS...: hedge bench, as Markdown.
bench() {
  local part=$1
  shift
  test -s "$out/$part.md" || serve
  once "$part" tables "$@"
}
tables() {
  "$hedge" bench "$@" --markdown "$out/tables" >/dev/null
  # the program's own line names no commit where it was built without one
  sed '1,2d; s/^\([a-z]-[0-9]*[^ :]*\|cycle-[0-9]*\): /## \1\n\n/' "$out/tables"
}

reach() {
  local flags=(--reach native --parallel 2 --engine native "${generic[@]}")
  bench reach --problems solver/testdata --at 0.1s,1s,10s,60s "${flags[@]}"
  bench reach-captured --problems solver/testdata/captured --at 0.1s,1s,10s "${flags[@]}"
  page bench-reach "Time to what generic solvers reach" reach reach-captured <<'EOF'
Four generic MILP solvers (HiGHS, CBC, SCIP and CP-SAT, the last two through OR-Tools) get 60 s for each problem of `solver/testdata`, and 10 s for the captured cycles. The best
plan that any of them then has is the target, and `native` is timed until it has one as good: worth at most `--gap` (1e-4) less, which counts
for all of them alike, as each may stop there. All use one thread; the generic solvers run two at a time on two cores, which
costs them some speed, and `native` alone. To see it for one's own problems:

```sh
hedge-full solver serve --listen 127.0.0.1:50951 &
hedge-full bench --problems FILES --at 1s,60s --reach native --parallel 2 --engine native --engine milp+highs --engine milp+cbc \
  --engine 'milp+ortools://127.0.0.1:50951?solver=GSCIP' --engine 'milp+ortools://127.0.0.1:50951?solver=CP_SAT'
```

There are two quotients. The strict one takes the time at which the first generic solver *had* the target, which an onlooker would have to know to stop it there. The other takes the
60 s that it was given, unless it had proven its plan and ended before. `native` tells of better plans every 20,000 work units, some 20 ms, so that shorter times are rounded up to that
or to its first plan.

All of them, `native` too, end when their plan is within 1e-4 of their bound (`--gap`). Where `native` has ended so with a plan that is short of the others' by less than that, as on cycle-00040 by a millionth after 5 ms, it is
counted as never as good, and weighs down the mean of the captured cycles.
EOF
}

relaxation() {
  once relaxation "$measure" relaxation --problems "$(echo solver/testdata/[a-f]-*.json.gz | tr ' ' ,)"
  page bench-relaxation "Native's bound beside Clp's linear programs" relaxation <<'EOF'
The linear relaxation of the same problems by Clp 1.17 and by the native engine's column generation: options and splits may be fractional, and there are neither cuts nor branching.

```sh
cd cmd/hedge/full && go run ./measure relaxation --problems FILES
```

Times are processor time of one thread, the best of three. Clp's is for loading and solving the model, not for making it (`hedge bench` has that); three of its methods were tried, and one that takes over
twice as long as one before it is given up (–). Its interior point method is not among them: it ends the process on some models. Native's counts everything from the
problem on: first plans, subgradient steps, and columns, until its bound is no higher than Clp's optimum, to a millionth; and until its own relaxation is solved to a millionth. In an ordinary solve
it stops at 5e-5 and adds cuts instead.

The native relaxation may be tighter than the linear program: a column is a whole option with a split, which knows that half an option gets at most half of a partition's room. The test
`TestNativeBoundsAndLinearPrograms` holds its bound between the linear program with that said in rows, and the one without. Random cycles are `solvertest.CycleOf`'s by seed.
EOF
}

growth() {
  once growth "$measure" growth --svg "$out/growth.svg"
  test ! -s "$out/growth.svg" || cp "$out/growth.svg" docs/bench-growth.svg
  page bench-growth "How the native engine's time grows" growth <<'EOF'
Pending jobs, partitions and slots are doubled three times, each alone, from random cycles (`solvertest.CycleOf`) with 512 nodes however many partitions they are in: more jobs want the same room, more
partitions are smaller ones, and more slots are more starts to choose from. What is measured is what a user waits for: a plan that is *proven* to be within 1 % of the best, and the
linear relaxation, the root bound, alone. Each figure is the geometric mean of three cycles, in processor time and in work units, which are the same on any machine. *Places* are options times the
partitions that each may use, about the variables of a generic model. Where not every cycle reached 1 % within ten million units (about 10 s), the figure is a lower bound.

```sh
cd cmd/hedge/full && go run ./measure growth --svg growth.svg
```

![time over places, both logarithmic](bench-growth.svg)
EOF
}

worth() {
  local rows=(--program "$hedge" --row 10ms=greedy --row 10ms=native --row 100ms=native --row 1s=native --row 10s=milp+highs --at-most 8m)
  local log=logs/swf/KTH-SP2-1996.swf.gz
  once worth-google "$measure" worth "${rows[@]}" --cycle 30s --trace google-sample --flags "--hours 0.1 --nodes 256 --racks 8"
  test -s "$log" || test -s "$out/worth-kth.md" || ./docs/fetch-logs.sh logs
  once worth-kth "$measure" worth "${rows[@]}" --cycle 600s --trace "kth-sp2=$log" --flags "--hours 2 --nodes 128 --racks 4"
  page bench-worth "What better plans are worth" worth-google worth-kth <<'EOF'
3Sigma on two logs with different engines and times for a decision: the built-in Google sample and KTH-SP2 ([fetch-logs.sh](fetch-logs.sh)). The share of missed deadlines and the work got done while jobs arrived
are what a user gets; the gap is what the engine says of its plans, where it says anything. `native` gets its time in work units, a microsecond each, so that its rows are the same on any machine (but for the measured times, and an
idle core may take half as much again); the MILP backend is ended by the clock, and on a busy machine gets less done than it would on an idle one. The simulated clock
stands still while an engine decides, so that a slow one pays nothing for its time here, and the next cycle waits for one that is late. The workloads are small, some thirty to forty cycles, so that ten seconds a
cycle are minutes in all: differences of a few deadlines are noise.
EOF
}

backends() {
  local rows=()
  serve
  for e in native greedy milp+highs milp+cbc milp+clp milp+lpsolve milp+process:cbc milp+process:glpsol "${service}GSCIP" "${service}CP_SAT"; do rows+=(--row "1s=$e"); done
  once backends "$measure" worth --program "$hedge" --cycle 10s --trace google-sample --flags "--hours 0.05 --nodes 64 --racks 4" --at-most 3m "${rows[@]}"
  page bench-backends "One workload under every backend" backends <<'EOF'
3Sigma on three minutes of the built-in log with every engine, a second for each decision (`native`: a million work units) and one thread; see [what better plans are worth](bench-worth.md) for what simulations of this kind
say and do not. Backends are ended by the clock: on a busy machine they get less done, and where they have no plan in time nothing starts. `native` and `greedy` need
nothing, `milp+process:` a solver's program, the others a library or a service ([engines.md](engines.md)).
EOF
}

table() {
  local all=(--engine native --engine greedy "${generic[@]}" --engine 'milp+highs?splits=now' --engine 'milp+highs?splits=continuous'
    --engine milp+clp --engine milp+lpsolve --engine milp+process:cbc --engine milp+process:glpsol)
  bench engines --problems solver/testdata,solver/testdata/captured --at 0.1s,1s,10s --parallel 2 --reach native "${all[@]}"
  page bench-engines "Every engine on every problem" engines <<'EOF'
Ten seconds, one thread, two engines at a time but for `native`, integer splits in the plan; what `splits=` relaxes in the model is repaired. [benchmarks-solvers.md](benchmarks-solvers.md) says how to read it. The first table is
that of `--reach`, here against all others, `greedy` included.
EOF
}

(cd cmd/hedge/full && go build -o "$hedge" . && go build -o "$measure" ./measure)
test $# -gt 0 || set -- reach relaxation growth worth
for part in "$@"; do
  case $part in
  reach | relaxation | growth | worth | backends | table) "$part" ;;
  *)
    echo "docs/bench-solvers.sh: found $part, expected reach, relaxation, growth, worth, backends or table" >&2
    exit 2
    ;;
  esac
done
