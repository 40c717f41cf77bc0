#!/bin/sh
# SPDX-License-Identifier: MIT
# Limits on the costs of commands, formats and options, as ratios to a plain .ftf of the same recording with one thread.
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/support/costs.sh"
[ "$P2F_SANITIZED" != yes ] || tap_skip_all "sanitizers have costs of their own"
program=$(realpath "$top_builddir/ptrace2ftf")
ptsim=$(realpath "$top_builddir/tests/ptsim/ptsim")
cpu_time=$(realpath "$top_builddir/tests/bench/cpu-time")
recursion=$(realpath "$top_builddir/tests/programs/static/recursion")
export WITHOUT_HUGE_PAGES=yes
function=depth
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# In hundredths of the .ftf: instructions (callgrind's), page faults without I/O and without huge pages, system
# calls, and peak memory; the bytes of temporary files in hundredths of the recording's. In parentheses: the goal where
# a limit is above it. "whole" is a recording of whole runs, "within" one that begins within a thread, as perf record -p.
limits() {
	cat <<-'END'
		# recording instructions faults calls temporary memory  options
		whole    370(200)    350   140         0    240  why
		whole         305    145   105         0    120  why --symbol=depth
		whole         435    290   225         0    110  diff
		whole         130    110   100         0    105  -f functions
		whole    170(150)    120   155         0    110  -f folded
		whole         280    175   155         0    145  -f html
		whole   2360(400)    740  3450      3700    215  -f sqlite
		whole          60    100   105         0    100  -f lcov
		whole         180    110   105         0    110  --slowest=100
		whole         125    110   110         0    120  --depth=3
		whole    135(130)    115   120         0    125  --min-duration=1us
		whole    160(130)    415   135      1680    175  --within=depth>p99
		whole         110    145   105       100    130  --fit=1000
		whole         115    150   165       230    135  --fit=10000
		within   425(200)    295   140         0    205  why
		within        310    150   105         0    130  why --symbol=depth
		within        645    395   225         0    110  diff
		within        130    110   100         0    105  -f functions
		within   295(150)    155   155         0    120  -f folded
		within        250    200   155         0    155  -f html
		within  2135(400)    790  3450      3700    225  -f sqlite
		within         55     95   105         0    100  -f lcov
		within        170    125   105         0    110  --slowest=100
		within        120    115   110         0    120  --depth=3
		within        130    115   120         0    125  --min-duration=1us
		within   145(130)    440   135      1680    180  --within=depth>p99
		within        110    150   105       100    125  --fit=1000
		within        115    150   165       230    130  --fit=10000
	END
}

# --snapshot keeps the last 512 KiB, so the first branches are inside of calls that began before.
record() { # FILE BYTES OPTIONS...
	file=$1 bytes=$2
	shift 2
	"$ptsim" record --cyc --interrupts=0 --per-thread --repeat="$bytes" "$@" -o "$file" -- "$recursion" >/dev/null 2>messages
}
record whole 1000000 || tap_skip_all "programs cannot be traced here: $(cat messages)"
record within 1000000 --snapshot=524288
begins_within() {
	"$program" --no-warn within -o out.ftf 2>&1 | grep 'before a PSB skipped' && ! "$program" --no-warn whole -o out.ftf 2>&1 | grep 'before a PSB'
}
tap_check "one recording begins within a thread, and one does not" begins_within

counts_calls=$(strace -o /dev/null true 2>/dev/null && echo yes)
counts_insns=$(valgrind --tool=none true >/dev/null 2>&1 && echo yes)
[ -n "$counts_calls" ] || tap_skip "limits of system calls and temporary files" "strace does not run here"
[ -n "$counts_insns" ] || tap_skip "limits of instructions" "valgrind does not run here"

# Print "INSTRUCTIONS FAULTS CALLS TEMPORARY MEMORY", with - for those that no tool here counts.
costs() { # RECORDING OPTIONS...
	insns=- calls="- -"
	used=$(costs_usage $(costs_command "$@")) || return 1
	# `make check` runs one of the recordings under strace, and none under valgrind: that takes a minute.
	if [ -n "$LONG" ] || [ "$1" = within ]; then
		[ -z "$counts_calls" ] || calls=$(costs_calls $(costs_command "$@"))
	fi
	if [ -n "$LONG" ] && [ -n "$counts_insns" ]; then
		insns=$(costs_instructions $(costs_command "$@"))
	fi
	set -- $used
	echo "$insns $1 $calls $2"
}

# Print each cost of a row in hundredths, with its limit; returns whether all are held.
hold() { # RECORDING INSTRUCTIONS FAULTS CALLS TEMPORARY MEMORY OPTIONS...
	most="$2 $3 $4 $5 $6" of=$1
	shift 6
	with=$(costs "$of" "$@") || { echo " no output"; cat usage.messages; return 1; }
	echo "$plain $with $(stat -c %s "$of") $most" | awk '{
		for (i = 1; i <= 5; i++) {
			base = i == 4 ? $11 : $i
			has = $(i + 5) == "-" ? "-" : int($(i + 5) * 100 / base + 0.5)
			most = $(i + 11)
			sub(/\(.*/, "", most)
			text = text " " has "/" $(i + 11)
			bad += has != "-" && has > most + 0
		}
		print text
		exit bad > 0 }'
}
for recording in whole within; do
	plain=$(costs $recording) || { cat usage.messages; exit 1; }
	echo "# $recording, .ftf: $plain: instructions, faults, calls, temporary bytes, kB"
	limits | grep "^$recording " >rows
	while read -r row; do
		set -- $row
		held=$(hold "$@") && status=0 || status=$?
		shift 6
		echo "# $recording $*:$held"
		tap_ok $status "$recording: $* costs at most what the table says"
	done <rows
done
costs_rows | sort >named
has_all_rows() {
	limits | awk -v recording="$1" '$1 == recording { for (i = 0; i < 6; i++) sub(/^[^ ]+ +/, ""); print }' | sort | diff named -
}
tap_check "the table has each command and option" has_all_rows whole
tap_check "for both recordings" has_all_rows within

# Memory that each thread touches first would take more time than the second one saves.
two_threads() { # RECORDING
	plain=$(costs_command "$1") && one=$(costs_usage $plain) && two=$(costs_usage $plain -j2) || return 1
	echo "# $1: ${one%% *} page faults with -j1, ${two%% *} with -j2" >&3
	[ $((${two%% *} * 100)) -le $((${one%% *} * 130)) ]
}
exec 3>&1
for recording in whole within; do
	tap_check "$recording: with two threads at most 1.3 times the page faults of one" two_threads $recording
done
tap_done
