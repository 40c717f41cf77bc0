#!/bin/sh
# SPDX-License-Identifier: MIT
# --max-stack cuts deep call stacks in folded and pprof, and keeps the sum of their costs.
. "$top_srcdir/tests/support/tap.sh"
program=$(realpath "$top_builddir/ptrace2ftf")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# Text of perf script: a() calls itself, and b() 10 ns later, at each of DEPTH levels.
recurse() { # DEPTH
	awk -v depth="$1" '
	function line(kind, from, to) {
		printf "7/7 5.%09d: %s %s => %s\n", now += 10, kind, from, to
	}
	BEGIN {
		line("tr strt", "0 [unknown]", "401000 a+0x0")
		for (i = 1; i < depth; i++) {
			line("call", "401004 a+0x4", "402000 b+0x0")
			line("return", "402001 b+0x1", "401009 a+0x9")
			line("call", "401010 a+0x10", "401000 a+0x0")
		}
		for (i = 1; i < depth; i++)
			line("return", "401030 a+0x30", "401015 a+0x15")
		line("call", "401020 a+0x20", "402000 b+0x0")
	}'
}
folded() { # OPTION... : without the name of the thread
	"$program" -q --input=perf-script -f folded "$@" | sed 's/^[^;]*;//'
}

# At each level but the deepest a() runs for 10 ns before and after b(), which does, and for 10 ns
# after its callee; at the deepest one for 10 ns.
recurse 4 >four
cuts() {
	printf '%s\n' 'a 30' 'a;b 10' 'a;a 30' 'a;a;[truncated];b 20' 'a;a;[truncated];a 40' \
		>expected
	folded --max-stack=2 four | diff expected -
}
tap_check "after N functions come [truncated] and the innermost function" cuts
keeps_all() {
	folded four >default && folded --max-stack=none four | cmp - default &&
		folded --max-stack=4 four | cmp - default && grep -qx 'a;a;a;a 10' default &&
		folded --max-stack=3 four | grep -qxF 'a;a;a;[truncated];a 10'
}
tap_check "stacks that are not deeper stay, and with none all do" keeps_all

own() {
	awk '{ n = split($1, names, ";"); own[names[n]] += $2 } END { for (f in own) print f, own[f] }' |
		sort
}
recurse 1000 >thousand
same_costs() {
	folded --max-stack=none thousand | own >all && folded thousand | own | diff all - &&
		grep -qx 'b 9990' all
}
tap_check "each function's own time is the same" same_costs

recurse 30000 >deep
grows_with_depth() { # FORMAT
	(ulimit -t 20 && "$program" -q --input=perf-script -f "$1" deep -o out) || return 1
	[ "$(stat -c %s out)" -lt 100000 ]
}
tap_check "a recursion 30000 deep is a small file: folded" grows_with_depth folded
if "$program" -q --input=perf-script -f pprof four -o four.pb.gz 2>messages ||
	! grep -q 'without protobuf-c' messages; then
	tap_check "the same of pprof" grows_with_depth pprof
fi

says_so() {
	"$program" --input=perf-script -f folded thousand --json=report -o out 2>messages || return 1
	calls=$((999 + 1000 - 2 * 127 + 1))
	grep "^  $calls calls are deeper than --max-stack" messages &&
		grep -q "\"slices_truncated\": *$calls," report && return 0
	cat messages
	return 1
}
tap_check "the summary counts the calls" says_so
refuses() {
	! "$program" --input=perf-script -f slices --max-stack=3 four 2>messages &&
		grep -- '--max-stack needs --format=folded or pprof' messages &&
		! "$program" --input=perf-script -f folded --max-stack=0 four 2>messages
}
tap_check "formats that repeat no stacks refuse it" refuses
tap_done
