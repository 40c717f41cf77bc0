#!/bin/sh
# SPDX-License-Identifier: MIT
# ptsim computes branches from registers. If it steps each instruction, the processor itself
# executes them, and the truth must be the same. Two runs with one seed are equal.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
[ -x "$ptsim" ] || tap_skip_all "ptsim is not built: libzydis-dev is not installed"
programs=$top_builddir/tests/programs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

arguments=
record() { # DIRECTORY PROGRAM OPTIONS...
	directory=$work/$1 one=$2
	shift 2
	mkdir -p "$directory" && "$ptsim" record --truth="$directory" "$@" -o "$work/perf.data" -- \
		"$programs/static/$one" $arguments >/dev/null 2>"$work/messages" || { cat "$work/messages"; return 1; }
}

same_truth() { # PROGRAM OPTIONS...
	rm -rf "$work/steps" "$work/blocks"
	record steps "$@" --single-step && record blocks "$@" &&
		[ "$(wc -l <"$work/steps/truth.branches")" -gt 1000 ] && diff "$work/steps/truth.branches" "$work/blocks/truth.branches" >"$work/difference" && return 0
	head -n 5 "$work/difference"
	return 1
}

# The hypervisor may be one that loses traps by itself.
refuses() {
	arguments=syscall
	! record steps emulated --single-step --lose-traps &&
		grep -q '^ptsim: cannot record .* by single steps: a step executed several instructions' "$work/messages" ||
		{ cat "$work/messages"; return 1; }
}

same_bytes() { # PROGRAM OPTIONS...
	one=$1
	shift
	for run in 1 2; do
		env "LONG=$(printf "%${run}00d")" "$ptsim" record "$@" -o "$work/$run" -- "$programs/$one" >/dev/null 2>&1 || return 1
	done
	"$ptsim" record "$@" --seed=2 -o "$work/3" -- "$programs/$one" >/dev/null 2>&1
	cmp "$work/1" "$work/2" && ! cmp -s "$work/1" "$work/3"
}

if setarch -R true 2>/dev/null; then
	for one in recursion except; do
		tap_check "$one: computed branches are those that the processor takes" same_truth $one --instructions=20000
	done
	# AMD's virtual machines do so by themselves.
	lose=--lose-traps
	! grep -q '^vendor_id.*AMD' /proc/cpuinfo || ! grep -q '^flags.* hypervisor' /proc/cpuinfo || lose=
	tap_check "also where the step over an emulated instruction executes the next one" same_truth emulated $lose
	tap_check "ptsim refuses where that is a system call" refuses
	arguments=
	tap_check "also with lost trace and interrupts" same_truth indirect --instructions=20000 --lose=4000 --overflows=3000 --interrupts=700
	tap_check "one seed gives the same bytes in each run: threads on two CPUs" same_bytes static/threads --cpus=2
	tap_check "branches by addresses, random bytes and the environment" same_bytes seeded
	tap_check "processes" same_bytes static/forks --per-thread --interrupts=300
else
	tap_skip "computed branches are those that the processor takes" "setarch -R is not allowed"
fi
tap_done
