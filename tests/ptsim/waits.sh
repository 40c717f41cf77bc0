#!/bin/sh
# SPDX-License-Identifier: MIT
# ptrace2ftf why names the culprit of waits in random programs of locks and queues (random_waits.py):
# of two short ones; of 20 with LONG=1, 18.  By hand: SEED=7 COUNT=20.
. "$top_srcdir/tests/support/tap.sh"
command -v python3 >/dev/null || tap_skip_all "no python3"
"$top_builddir/tests/ptsim/ptsim" record --instructions=1 -o /dev/null -- /bin/true >/dev/null 2>&1 ||
	tap_skip_all "programs cannot be traced here"
count=${COUNT:-${LONG:+20}}
count=${count:-2}
seed=${SEED:-${LONG:+91}}

is_named() {
	python3 "$top_srcdir/tests/ptsim/random_waits.py" "${seed:-1233}" "$count" >"$work" 2>"$work.messages" || { cat "$work.messages"; return 1; }
	cat "$work"
	[ "$(sed -n 's/^named \([0-9]*\) .*/\1/p' "$work")" -ge $((count * 9 / 10 + (count < 10))) ]
}
work=$(mktemp)
trap 'rm -f "$work" "$work.messages"' EXIT
tap_check "the culprit of a wait in a random program is named" is_named
tap_done
