#!/bin/sh
# The log "joined" of slearn.md: jobs of Hawk's and Eagle's excerpt of Google's trace of 2011, with users and names.
#
#   docs/join-google.sh GOOG_subtrace.tr.gz google2011_jobs.csv.gz OUT
#
# writes OUT.tr and OUT.meta.csv, which hedge reads as one log. A job of the excerpt is that one of the job table that was
# submitted in the same second and ran, from its first start to its last end, as long as its longest task, to 0.2 s. Where
# several are, it has the attributes in which they agree. Where these have several users, and where there is none, it is
# left out.
set -eu
[ $# -eq 3 ] || { sed -n 's/^# \{0,1\}//p' "$0" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gzip -dcf "$2" > "$work/jobs"
gzip -dcf "$1" | sort -s -n -k 1,1 > "$work/tasks"
awk -v tr="$3.tr" -v meta="$3.meta.csv" '
# agree is the value in which all candidates agree, or nothing.
function agree(column,    i, found) {
	found = table[candidate[1], column]
	for (i = 2; i <= candidates; i++)
		if (table[candidate[i], column] != found) return ""
	return found
}
FILENAME == ARGV[1] && FNR == 1 {
	FS = ","
	$0 = $0
	for (i = 1; i <= NF; i++) at[$i] = i
	next
}
FILENAME == ARGV[1] {
	if ($at["start_s"] == "" || $at["end_s"] == "") next
	n++
	second = int($at["submit_s"])
	jobs[second] = jobs[second] " " n
	runs[n] = $at["end_s"] - $at["start_s"]
	table[n, "user"] = $at["user"]; table[n, "class"] = $at["sched_class"]
	table[n, "name"] = $at["job_name"]; table[n, "logical"] = $at["logical_name"]
	next
}
FNR == 1 {
	FS = " "
	$0 = $0
	print "line,job_id,job_end_event,user,sched_class,job_name,logical_name" > meta
}
{
	longest = 0
	for (i = 4; i <= NF; i++) if ($i + 0 > longest) longest = $i + 0
	candidates = 0
	count = split(jobs[int($1)], list, " ")
	for (i = 1; i <= count; i++) {
		off = runs[list[i]] - longest
		if (off <= 0.2 && off >= -0.2) candidate[++candidates] = list[i]
	}
	if (candidates == 0 || agree("user") == "") next
	print > tr
	line++
	print line "," line ",FINISH," agree("user") "," agree("class") "," agree("name") "," agree("logical") > meta
}' "$work/jobs" "$work/tasks"
