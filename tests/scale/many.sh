#!/bin/sh
# SPDX-License-Identifier: MIT
# ptrace2ftf why of many small recordings with planted causes, by workers that are killed and started again: each recording has a
# line, and the merged answer is the same for any number of workers, in memory that does not grow. LONG=1: 10,000 recordings,
# 20 causes, in some minutes.
. "$top_srcdir/tests/support/tap.sh"
command -v jq >/dev/null || tap_skip_all "no jq"
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
if [ -n "$LONG" ]; then
	copies=500
	causes="planted:rehash planted:gc planted:jump planted:lazy planted:compact planted:deep planted:rounds planted:filter \
		planted:spill planted:twice causes:callee causes:loop causes:fault causes:sleep causes:lock causes:cache hidden:chain \
		hidden:init hidden:hold hidden:relay"
else
	copies=20 causes="planted:jump planted:lazy causes:callee"
fi
mkdir base
for cause in $causes; do
	"$top_builddir/tests/ptsim/ptsim" record --cyc --interrupts=0 --cpus=2 -o "base/${cause#*:}.data" -- \
		"$top_builddir/tests/programs/static/${cause%:*}" "${cause#*:}" 1 200 >/dev/null 2>messages ||
		tap_skip_all "programs cannot be traced here: $(cat messages)"
done
for copy in $(seq $copies); do
	mkdir "$copy" && ln base/*.data "$copy"
done
find ./[0-9]* -name '*.data' -print0 | sort -z >list.sorted
all=$(tr -dc '\0' <list.sorted | wc -c)

# Each worker has a part of the list, as a task of doc/batch.md's job array; in a group of its own, to be killed with its children.
start() { # WORKERS
	groups=
	for worker in $(seq "$1"); do
		split -t '\0' -n "r/$worker/$1" list >"part.$worker"
		setsid xargs -0 -n 1 -a "part.$worker" "$program" why -q --json-lines="lines.$worker.jsonl" -o /dev/null &
		groups="$groups $!"
	done
}
left() { # the recordings without a line, as doc/batch.md lists them
	cat lines.*.jsonl | jq -j '.input + "\u0000"' | sort -z | comm -z -13 - list.sorted
}
killed() {
	cp list.sorted list
	: >lines.1.jsonl
	for round in 1 2; do
		start 2
		while [ "$(cat lines.*.jsonl | wc -l)" -lt $((all * round / 5)) ]; do
			sleep 0.02
		done
		for group in $groups; do
			env kill -s KILL -- "-$group"
		done
		wait
		left >list
	done 2>/dev/null
	echo "# killed twice: $(cat lines.*.jsonl | wc -l) of $all recordings have a line"
	[ "$(cat lines.*.jsonl | wc -l)" -lt "$all" ] || return 1
	start 2
	wait
	[ "$(left | wc -c)" -eq 0 ] && [ "$(cat lines.*.jsonl | wc -l)" -eq "$all" ] &&
		"$program" why --merge lines.*.jsonl >resumed && grep -q "^$all recordings" resumed
}
tap_check "nothing is lost after SIGKILL of all workers and a resumed run" killed
same() {
	mv lines.1.jsonl all && cat lines.*.jsonl >>all && rm lines.*.jsonl
	for workers in 1 3 7; do
		shuf all | split -n "r/$workers" - some.
		"$program" why --merge some.* | diff resumed - || return 1
		rm some.*
	done
	# As one run of several processes.
	[ -n "$LONG" ] || xargs -0 "$program" why -q --jobs=3 <list.sorted | diff resumed -
}
tap_check "the answer is the same for any number of workers" same
# The cause of most extra time of each recording is in all of its copies.
planted() {
	for function in ${LONG:+rehash collect attempt slow_filter take_nap compute fill_table} recover build_tables rare_work; do
		grep -q "^ *$copies .*: $function;" resumed || { echo "$function"; cat resumed; return 1; }
	done
}
tap_check "the planted causes are found" planted
memory() {
	head -n 3 all >few
	for lines in few all; do
		"$top_builddir/tests/bench/cpu-time" usage "$program" why --merge $lines >/dev/null && read -r cpu _ memory _ <usage || return 1
		echo "# $(wc -l <$lines) lines: $cpu s of CPU, $memory KiB"
		[ "$P2F_SANITIZED" = yes ] || [ "$memory" -le $((${most:-memory} + 1024)) ] || return 1
		most=$memory
	done
}
tap_check "memory does not grow with the recordings" memory
tap_done
