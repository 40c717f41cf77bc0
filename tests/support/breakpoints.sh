# SPDX-License-Identifier: MIT
# Sourced by tests that need breakpoints of the kernel.
# shellcheck shell=sh disable=SC2154 # variables of make check

# Record the calls of fibonacci() by a breakpoint in $recording, whose text is then in $text. Fail
# where there are no breakpoints. Some virtual machines accept a breakpoint that never hits.
record_hits() { # PERF
	traced=$top_builddir/tests/programs/static/recursion
	address=$(nm "$traced" | sed -n 's/^0*\([0-9a-f]*\) [tT] fibonacci$/\1/p')
	[ -n "$address" ] &&
		"$1" record -q -e "mem:0x$address:x:u" --user-regs=si,di -o "$recording" "$traced" >/dev/null 2>&1 &&
		"$1" script -i "$recording" --ns -F pid,tid,time,event,ip,sym,symoff >"$text" 2>/dev/null &&
		grep -q fibonacci "$text"
}
