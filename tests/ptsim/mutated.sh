#!/bin/sh
# SPDX-License-Identifier: MIT
# Recordings whose trace is damaged at random (tests/support/mutate_aux.c):
# 16 of them, 1,000 with LONG=1.  Both engines must find the same branches in every
# part that both call sound, and any number of threads must write the same trace.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
mutate=$top_builddir/tests/support/mutate_aux
program=$top_builddir/ptrace2ftf
programs=$top_builddir/tests/programs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=16
[ -z "${LONG-}" ] || count=1000

"$ptsim" record --psb-period=512 -o "$work/0" -- "$programs/recursion" >/dev/null 2>"$work/messages" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"
"$ptsim" record --psb-period=512 --cyc --overflows=3000 -o "$work/1" -- "$programs/recursion" >/dev/null 2>&1
"$ptsim" record --psb-period=512 --cpus=2 --quantum=2000 -o "$work/2" -- "$programs/threads" >/dev/null 2>&1

# Beside them real recordings and some with ground truth, in ../shared when it is there.
bases=3
: >"$work/options.0" && : >"$work/options.1" && : >"$work/options.2"
add() { # RECORDING OPTIONS...
	[ -f "$1" ] || return 0
	ln -s "$(realpath "$1")" "$work/$bases"
	shift
	echo "$@" >"$work/options.$bases"
	bases=$((bases + 1))
}
recordings=$top_srcdir/../shared/recordings
for name in tiny-default tiny-cyc tiny-ovf threads-2cpu; do
	add "$recordings/truth/$name/perf.data" --symfs="$recordings/truth/symfs" \
		--vdso="$recordings/truth/$name/vdso.so"
done
add "$recordings/hase-2018-04/control_flow/perf.data" --symfs="$recordings/hase-2018-04/symfs"
add "$recordings/lldb-multicore/perf.data" --symfs="$recordings/lldb-multicore/symfs"

# A difference names both sides; where one of them is a gap, or at its end, only
# that one calls the part damaged.
: >"$work/differences"
parts=0
engines() { # SEED OPTIONS...
	seed_is=$1
	shift
	"$program" -j 1 --verify --format=none "$@" "$work/mutated" 2>"$work/messages"
	status=$?
	[ $status -eq 0 ] || [ $status -eq 2 ] || { cat "$work/messages"; return 1; }
	more=$(sed -n 's/^ *\([0-9]*\) parts of the trace also decoded by libipt.*/\1/p' "$work/messages")
	parts=$((parts + more))
	sed -n 's/.*libipt decodes \([0-9]*\) of/\1 of/p' "$work/messages" | sed "s/^/$seed_is: /" >>"$work/differences"
}

threads() { # OPTIONS...
	for n in 1 3; do
		PTRACE2FTF_SEGMENT=300 "$segments" -q -j $n "$@" "$work/mutated" -o "$work/$n.ftf"
		status=$?
		[ $status -eq 0 ] || [ $status -eq 2 ] || return 1
	done
	cmp "$work/1.ftf" "$work/3.ftf" || { tap_keep "$work/mutated" "$work/1.ftf" "$work/3.ftf"; return 1; }
}

failed=
for seed in $(seq "$count"); do
	base=$((seed % bases))
	"$mutate" "$work/$base" "$work/mutated" "$seed" || { failed="$failed mutate:$seed"; continue; }
	# shellcheck disable=SC2046 # words
	engines "$seed" $(cat "$work/options.$base") || failed="$failed engines:$seed"
	# shellcheck disable=SC2046
	[ $((seed % 4)) -ne 0 ] || threads $(cat "$work/options.$base") || failed="$failed threads:$seed"
done

all_ran() {
	[ -z "$failed" ] || { echo "$failed"; return 1; }
	[ "$parts" -gt $((5 * count)) ] || { echo "$parts parts"; return 1; }
}
tap_check "$count damaged recordings: the same with 1 and 3 threads, and decoded by both engines" all_ran

no_branch_differs() {
	! grep -vE ': gap |by libipt: (gap|nothing)|: nothing; by libipt' "$work/differences"
}
tap_check "$count damaged recordings: no branch differs where both engines find no damage" no_branch_differs

# Damage that one engine alone sees: libipt skips packets after a displaced PSB header,
# decodes instructions that do not exist, and knows no CFE, no PSBEND without PSB, and no
# overflow within a header; ours skips packets of the PSB header between branches.
few_are_damaged_for_one() {
	sum=$(sed 's/^[0-9]*: //' "$work/differences" | awk '{ n += $1 } END { print n + 0 }')
	echo "$sum of $parts"
	[ $((4 * sum)) -le "$count" ] || { cat "$work/differences"; return 1; }
}
tap_check "$count damaged recordings: one part for four of them, at most, is damaged for one engine only" \
	few_are_damaged_for_one
tap_done
