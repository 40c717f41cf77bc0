#!/bin/sh
# SPDX-License-Identifier: MIT
# Hits of breakpoints that the kernel recorded here, against perf script's print of them.
# Hits beside a trace, and those of probes, are made by hand in tests/unit/src/hits.c.
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/support/breakpoints.sh"
program=$top_builddir/ptrace2ftf
for tool in perf nm; do
	command -v $tool >/dev/null || tap_skip_all "no $tool"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
recording=$work/perf.data text=$work/text
record_hits perf || tap_skip_all "no breakpoints here"

# "PID/TID TIME_NS EVENT 0xIP FUNCTION+0xOFFSET"
by_perf() {
	sed -E 's/^ *([0-9]+\/[0-9]+) +([0-9]+)\.([0-9]{9}): *([^ ]+): +([0-9a-f]+) +([^ ]+).*/\1 \2\3 \4 0x\5 \6/' \
		"$work/text" >"$work/perf"
}
same_hits() { # OPTIONS... FILE
	"$program" --format=events "$@" >"$work/ours" && cut -d' ' -f1-5 "$work/ours" | diff "$work/perf" -
}
by_perf
tap_check "--format=events lists the hits that perf script prints" same_hits "$work/perf.data"
tap_check "so it does from perf's text" same_hits --input=perf-script "$work/text"

same_registers() {
	"$program" --format=events "$work/perf.data" | sed 's/.* rdi=\(.*\) rsi=\(.*\)/SI:\2 DI:\1/' >"$work/ours"
	perf script -i "$work/perf.data" -F uregs 2>/dev/null | sed -E 's/ *ABI:2 +//; s/ +/ /g; s/ $//' |
		diff - "$work/ours"
}
tap_check "with the registers that perf script prints" same_registers
tap_done
