#!/bin/sh
# SPDX-License-Identifier: MIT
# A program with uprobes and a uretprobe: the kernel executes the instructions that it has replaced by
# breakpoints, or runs them in the page [uprobes], to which a function with a uretprobe returns.
. "$top_srcdir/tests/support/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$top_builddir/tests/support/make-sample" "$work"

# By the program: main() calls work(), that traced() and leaf(), and traced() leaf().
printf '%s\n' '0 main' '1 work' '2 traced' '3 leaf' '2 leaf' >"$work/calls"

one_stack() { # RECORDING OPTIONS...
	recording=$1
	shift
	# Times are coarse, and a mapping replaces another.
	"$top_builddir/ptrace2ftf" -q --symfs="$work" --format=slices --args=line "$@" "$work/$recording" >"$work/slices" 2>"$work/messages"
	[ $? = 2 ] || { cat "$work/messages"; return 1; }
	sed -n 's/^[^ ]* \([0-9]*\) [^ ]* [^ ]* \([^[ ].*\) address=.*/\1 \2/p' "$work/slices" | diff "$work/calls" - &&
		! grep 'lost:\|uncertain_level' "$work/slices"
}

for recording in uprobes uprobes-6.11; do
	for engine in fast libipt; do
		tap_check "$recording, --engine=$engine: one stack" one_stack $recording --engine=$engine
	done
done
tap_done
