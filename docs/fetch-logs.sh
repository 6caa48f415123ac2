#!/usr/bin/env bash
# Downloads the public logs of docs/logs.txt and docs/starts.txt into a directory (default: logs), each once, from the commits
# of the public repositories that docs/results.md was made with. Needs curl, gzip and awk.
# Not among them is google-table: 500 job_events files of gs://clusterdata-2011-2, joined by job; it is optional.
set -euo pipefail
dir=${1:-logs}
raw=https://raw.githubusercontent.com
mkdir -p "$dir/swf" "$dir/simple"

# fetch FILE URL [FILTER]: the URL's text, unpacked, through FILTER, packed into FILE.
fetch() {
  local file=$dir/$1 url=$2 filter=${3:-cat}
  test -s "$file" && return
  echo "$file"
  curl -fsSL --retry 3 -o "$file.part" "$url"
  if [[ $url == *.gz ]]; then gzip -dc <"$file.part"; else cat "$file.part"; fi | tr -d '\r' | $filter | gzip -9n >"$file.done"
  mv "$file.done" "$file"
  rm "$file.part"
}

# theta keeps the header and the 18 fields of the standard, in order, of the jobs submitted before September 2023.
theta() { awk '/^;/ { print; fflush(); next } $2 < 1694458288 { NF = 18; print | "sort -s -n -k2,2" }'; }

fetch swf/KTH-SP2-1996.swf.gz "$raw/jad-darrous/predictsim/174c453f60a1604f9471ebbaaaafdc766d59f382/experiments/data/KTH-SP2/swf_unfiltered/log.swf"
fetch swf/LLNL-Atlas-2006-2.1-cln.swf.gz "$raw/jad-darrous/predictsim/174c453f60a1604f9471ebbaaaafdc766d59f382/simulation/pyss/src/jad/logs/new/LLNL-Atlas-2006-2.1-cln.swf"
fetch swf/SDSC-BLUE-recovered.swf.gz "$raw/dinesh121991/predictsim/2e5e2d1b8789e9a8feda88504cbdc7ae78e5f89b/experiments/data/SDSC-BLUE/simulations/res_easy_backfill_scheduler_None_None.swf.gz"
fetch swf/RICC-2010-2.swf.gz "$raw/DIR-LAB/deep-batch-scheduler/15c201a2cbf177bbc13ed80b9542fbe0a79b3952/gym-code/data/RICC-2010-2.swf.gz"
fetch swf/ALCF-Theta-2023-a.swf.gz "$raw/dadyownes15/rl-hpc-scheduler/ee919fac47699aae67b45c817d6f60247aefaf9b/data/jobsets/test_2023_feb_dec.swf" theta
fetch simple/MS-Philly_15000jobs.csv.gz "$raw/DIR-LAB/Gen-Parallel-Workloads/c1b61aa993df914b57e7be002e649c3718386e65/Philly/training_data/philly_data_training.csv"
fetch simple/NCSA-BlueWaters_15000jobs.csv.gz "$raw/DIR-LAB/Gen-Parallel-Workloads/c1b61aa993df914b57e7be002e649c3718386e65/BW/training_data/blue_waters_data_training.csv"
