#!/bin/sh
# SPDX-License-Identifier: MIT
# Code that no file contains: the slices around it stay, and each has its true parent.
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/support/stack_rules.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
opaque=$top_builddir/tests/programs/static/opaque
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$ptsim" record -o "$work/perf.data" -- "$opaque" >/dev/null 2>"$work/messages" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"

# Prints how many slices are missing, and how many others there are.
compare() { # FORM OPTIONS...
	form=$1
	shift
	"$ptsim" record --truth="$work" -o "$work/perf.data" "$@" -- "$opaque" "$form" >/dev/null || return 1
	"$program" -q --no-warn --stacks=replace --unnamed=files --format=slices --args=line "$work/perf.data" >"$work/slices"
	awk -f "$top_srcdir/tests/ptsim/parents.awk" "$work/truth.slices" >"$work/all"
	awk -f "$top_srcdir/tests/ptsim/parents.awk" "$work/slices" >"$work/mine"
	diff -d "$work/all" "$work/mine" >"$work/differences"
	missing=$(grep -c '^<' "$work/differences")
	others=$(grep -c '^>' "$work/differences")
	echo "$form $*: $(wc -l <"$work/all") slices, $missing missing, $others others"
	keeps_rules "$(dirname "$opaque")" "$work/perf.data"
}

# What packets reveal of such code is forgotten at a PSB, and where PSBs are depends on compiler and
# environment: so there is one only.
same_parents() { # FORM [DIFFERENCES]
	for options in '' --cyc --no-retcomp; do
		# shellcheck disable=SC2086 # several options
		compare "$1" --interrupts=0 --psb-period=1048576 $options || return 1
		[ "$missing" -le "${2:-2}" ] && [ "$others" -le "${2:-2}" ] || { head "$work/differences"; return 1; }
	done
}

keeps_the_stack() { # FORM
	compare "$1" --interrupts=0 || return 1
	! grep -q '\[lost' "$work/slices" && [ "$(grep -c ' main ' "$work/slices")" -eq 1 ]
}

any_threads() { # FORM
	compare "$1" || return 1
	for threads in 1 2 5; do
		"$program" -q --no-warn --threads=$threads --format=slices "$work/perf.data" | md5sum
	done | uniq | wc -l | grep -qx 1
}

# With CYC packets, the decoder follows the later bits of a TNT after its first bit; the code
# of these bits may be unknown.
costs_change_no_slice() { # FORM
	compare "$1" --interrupts=0 --cyc || return 1
	for args in line full; do
		"$program" -q --no-warn --args=$args --format=slices "$work/perf.data" | cut -d ' ' -f 1-6 | md5sum
	done | uniq | wc -l | grep -qx 1
}

is_counted() {
	compare leaf
	"$program" --json="$work/json" -o "$work/trace" "$work/perf.data" 2>"$work/messages"
	grep -q '^  [0-9]* calls of code without bytes, first at 0x7' "$work/messages" &&
		grep -q 'node --perf-prof.*python3 -X perf' "$work/messages" && ! grep -q '//anon' "$work/messages" &&
		grep -Eq '"opaque_frames": ?[1-9]' "$work/json" || { cat "$work/messages"; return 1; }
	# The first places are those of slices.
	address=$(sed -n 's/.*without bytes, first at \(0x[0-9a-f]*\):.*/\1/p' "$work/messages")
	"$program" -q --no-warn --format=slices --args=line "$work/perf.data" >"$work/slices"
	grep -q "address=$address " "$work/slices" &&
		grep -q "\"first_opaque_address\": *$((address))," "$work/json" || return 1
	begin=$(grep uncertain_level=true "$work/slices" | cut -d ' ' -f 3 | sort -n | head -n 1)
	first=$(sed -n 's/.*"first_uncertain_ns": *\([0-9]*\),.*/\1/p' "$work/json")
	# Times agree to one period of timing packets; either may be the later one.
	[ $((begin - first)) -gt -700 ] && [ $((begin - first)) -lt 700 ] || { echo "$begin $first"; return 1; }
}

tap_check "a leaf function: each call has its true parent" same_parents leaf
tap_check "code that calls known code: each call has its true parent" same_parents closure
# The targets of its jumps are known after these functions have returned once.
tap_check "tail: each function that such code jumps to, but for the first call, takes its place" same_parents tail
tap_check "nested: code on the stack jumps" same_parents nested 0
tap_check "evaluate: a function that such code calls at once is called again" same_parents evaluate 0
for form in leaf closure tail nested evaluate; do
	tap_check "$form: one stack, without a gap" keeps_the_stack $form
	tap_check "$form: the same for any number of threads" any_threads $form
	tap_check "$form: the same with costs" costs_change_no_slice $form
done
tap_check "the summary counts such calls, and says what helps" is_counted
tap_done
