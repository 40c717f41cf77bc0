#!/bin/sh
# SPDX-License-Identifier: MIT
# The precise stack machine against the true stacks of recorded programs:
# recursion, longjmp, exceptions, signal handlers, threads, fork and exec.
. "$top_srcdir/tests/support/tap.sh"
truth=$top_srcdir/../shared/recordings/truth
[ -d "$truth" ] || tap_skip_all "no shared recordings"

right_depth() { # NAME [gaps]
	"$top_builddir/tests/oracle/precise_truth" "$truth" "$@"
}

for calls in "$truth"/*/truth.calls.gz; do
	name=$(basename "$(dirname "$calls")")
	case $name in
	*-ovf | *-snapshot | jit) gaps=gaps ;;
	*) gaps= ;;
	esac
	# shellcheck disable=SC2086 # none or one
	tap_check "$name: as many frames as there truly are, after each call and return" \
		right_depth "$name" $gaps
done
tap_done
