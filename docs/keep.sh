#!/usr/bin/env bash
# Prints rows of the table "More logs" of docs/keep.md: docs/keep.sh HEDGE LOGS [LOG LOAD]. HEDGE is the program.
# LOGS is the directory that docs/fetch-logs.sh fills; Helios-Venus_Apr-Aug.csv.gz in gpu and
# Alibaba-PAI-sample_first60pct.csv.gz in simple are to be put there, too. With a log and a load it prints that row,
# otherwise all.
# Needs python3. One core is enough.
set -euo pipefail
if (($# != 2 && $# != 4)); then
  echo "usage: docs/keep.sh HEDGE LOGS [LOG LOAD]" >&2
  exit 2
fi
hedge=$1 logs=$2
wide="--nodes 48 --tasks-per-node 8"

# settings LOG: what the runs on that log are told.
settings() {
  case $1 in
  blue) echo "--trace $logs/swf/SDSC-BLUE-recovered.swf.gz $wide --hours 6 --cycle 60s" ;;
  google) echo "--nodes 48 --racks 4 --hours 0.5 --cycle 30s" ;;
  helios) echo "--trace $logs/gpu/Helios-Venus_Apr-Aug.csv.gz $wide --hours 6 --cycle 60s" ;;
  kth) echo "--trace $logs/swf/KTH-SP2-1996.swf.gz --nodes 48 --hours 12 --cycle 120s" ;;
  pai) echo "--trace $logs/simple/Alibaba-PAI-sample_first60pct.csv.gz $wide --hours 12 --cycle 120s" ;;
  philly) echo "--trace $logs/simple/MS-Philly_15000jobs.csv.gz --nodes 48 --hours 8 --cycle 60s" ;;
  ricc) echo "--trace $logs/swf/RICC-2010-2.swf.gz $wide --hours 4 --cycle 60s" ;;
  *)
    echo "docs/keep.sh: found log $1, expected blue, google, helios, kth, pai, philly or ricc" >&2
    return 2
    ;;
  esac
}

# row LOG LOAD: one row of the table.
row() {
  local told
  told=$(settings "$1")
  # shellcheck disable=SC2086
  "$hedge" compare $told --seeds 1,2 --policies 3sigma,keep,prio,edf,fifo --load "$2" --json |
    python3 -c '
import json, sys
runs = json.load(sys.stdin)["runs"]
def of(policy, figure):
    values = [figure(r) for r in runs if r["policy"] == policy]
    return sum(values) / len(values)
def cell(figure, policies, form):
    return ", ".join(form.format(of(p, figure)) for p in policies.split())
be = cell(lambda r: r["work_in_window_machine_hours"]["be"], "edf keep", "{:,.1f}")
room = cell(lambda r: r["best_effort"]["room_machine_hours"], "keep", "{:,.1f}")
def longest(policy):
    return max(r["best_effort"]["longest_wait_s"] for r in runs if r["policy"] == policy) / 60
print("|", " | ".join([*sys.argv[1:],
    cell(lambda r: 100 * r["slo"]["miss_rate"], "3sigma keep edf", "{:.1f}"),
    cell(lambda r: r["lost_machine_hours"], "3sigma prio keep", "{:,.1f}"),
    be + ", " + room,
    "{:.0f}, {:.0f}".format(longest("fifo"), longest("keep")),
    cell(lambda r: r["realised_utility"], "3sigma keep", "{:,.0f}")]), "|", flush=True)
' "$1" "$2"
}

if (($# == 4)); then
  row "$3" "$4"
  exit
fi
for log in blue google helios kth pai philly ricc; do
  for load in 0.9 1.1 1.4; do row "$log" "$load"; done
done
