#!/bin/sh
# SPDX-License-Identifier: MIT
# ftfdump's output for a trace with every kind of record, and for bad traces; Perfetto's
# opinion of the same traces, if it is installed.
. "$top_srcdir/tests/support/tap.sh"
ftfdump=$top_builddir/ftfdump
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$top_builddir/tests/support/make-trace" "$work/all.ftf"
"$top_builddir/tests/support/make-trace" "$work/all.ftf.gz"
"$top_builddir/tests/support/make-trace" "$work/all.ftf.zst"

# The lines follow from the calls of tests/support/make_trace.c.
shows_records() {
	"$ftfdump" "$work/all.ftf" | cut -d' ' -f2- | grep -Ev '^(magic|provider|initialization|string|thread) ' >"$work/got"
	diff - "$work/got" <<-'END'
	magic
	kernel-object type 1 id 10 "program"
	kernel-object type 2 id 11 "main" process=10
	kernel-object type 2 id 12 "worker" process=10
	begin 10/11 1000 "outer" category "example" nothing=null line=12 unsigned=4000000000 long=-5000000000 wide=5000000000 real=0.25 file=main.c address=0x401000 thread=11 yes=true
	flow-begin 10/11 1100 "to inner" category "example" id 5
	complete 10/11 1200 1800 "inner" category "example"
	end 10/11 2000 "inner" category "example"
	begin 10/11 3000 "later" category "example"
	flow-step 10/11 3000 "later" category "example" id 5
	flow-end 10/11 3000 "later" category "example" id 5
	end 10/11 4000 "later" category "example"
	instant 10/11 5000 "mark" category "example"
	async-begin 10/11 5000 "request" category "example" id 77
	async-instant 10/11 5100 "request" category "example" id 77
	async-end 10/11 5200 "request" category "example" id 77
	counter 10/11 5200 "temperature" category "example" id 1 value=1.5
	context-switch cpu 2 900 from 1 state 1 to 11 incoming_weight=1 outgoing_weight=-2147483648
	context-switch cpu 2 4500 from 11 state 3 to 1 incoming_weight=-2147483648 outgoing_weight=1
	wakeup cpu 2 4600 thread 11 waker=12
	log 10/11 6000 "the end"
	blob type 1 "note" 3 bytes
	userspace-object process 10 0x401000 "code"
	legacy-context-switch cpu 3 4700 from 10/12 state 1 to 10/11 priorities 16 16
	provider-event 1
	END
}
tap_check "a record of each kind is shown with its fields" shows_records

shows_slices() {
	"$ftfdump" --slices "$work/all.ftf" | cut -d' ' -f1-5 >"$work/got"
	printf '10/11 %s\n' '0 1000 2000 outer' '1 1200 1800 inner' '0 3000 4000 later' | diff - "$work/got"
}
tap_check "--slices has begins, ends and complete events, nested" shows_slices

shows_stats() {
	"$ftfdump" --stats "$work/all.ftf" | awk '$1 == "begin" || $1 == "slices" || $1 == "deepest" { print $1, $2 }' >"$work/got"
	printf '%s\n' 'begin 2' 'slices 3' 'deepest 2' | diff - "$work/got"
}
tap_check "--stats counts records, events and slices" shows_stats
shows_times() { # of events: not of switches and messages
	"$ftfdump" --stats "$work/all.ftf" | grep -q '^times of events *1000 \.\. 5200$'
}
tap_check "--stats has the first and the last time of an event" shows_times

the_same_packed() {
	"$ftfdump" "$work/all.ftf" >"$work/plain" || return 1
	for suffix in gz zst; do
		"$ftfdump" "$work/all.ftf.$suffix" | diff "$work/plain" - || return 1
	done
	cat "$work/all.ftf.gz" | "$ftfdump" - | diff "$work/plain" -
}
tap_check "packed traces, and one from standard input, give the same" the_same_packed

several_members() {
	head -c 200 "$work/all.ftf" | gzip >"$work/two.gz"
	tail -c +201 "$work/all.ftf" | gzip >>"$work/two.gz"
	"$ftfdump" "$work/two.gz" | diff "$work/plain" -
}
tap_check "several gzip members are one trace" several_members

refuses() { # PATTERN FILE
	"$ftfdump" --check "$2" >"$work/stdout" 2>"$work/stderr"
	[ $? -eq 1 ] && [ ! -s "$work/stdout" ] && grep -q "$1" "$work/stderr" && return 0
	cat "$work/stderr"
	return 1
}
head -c 1004 "$work/all.ftf" >"$work/cut"
head -c 300 "$work/all.ftf.gz" >"$work/cut.gz"
printf 'no trace at all!' >"$work/text"
: >"$work/empty"
# seeds.md: a record that is cut off is an error
tap_check "a cut trace is refused with the offset" refuses "at offset 0x3[0-9a-f]*" "$work/cut"
tap_check "a cut packed trace is refused" refuses "cut off" "$work/cut.gz"
tap_check "text is refused" refuses "text: is not a Fuchsia trace, but text; if perf script" "$work/text"
printf 'PERFILE2........' >"$work/perf.data"
tap_check "a recording is refused, and the program for it named" \
	refuses "is not a Fuchsia trace, but a recording of perf; convert it with ptrace2ftf" "$work/perf.data"
tap_check "an empty file is refused" refuses "is empty" "$work/empty"
tap_check "a missing file is refused" refuses "^ftfdump: [^:]*/nothing: cannot open: No such file" "$work/nothing"
tap_check "a directory is refused" refuses "^ftfdump: [^:]*: cannot read: Is a directory" "$work"
short_help() {
	"$ftfdump" -h >"$work/got" && "$ftfdump" --help | diff - "$work/got"
}
tap_check "-h is --help" short_help

words() { # WORD...: as 64-bit little-endian words of a trace after the magic number
	for word in 0016547846040010 "$@"; do
		for byte in 7 6 5 4 3 2 1 0; do
			printf "\\$(printf %03o "0x$(echo "$word" | cut -c$((2 * byte + 1))-$((2 * byte + 2)))")"
		done
	done
}
# An instant with arguments of type 15, 10 and int32, and a record of type 14.
words 0000000000300084 0000000000000009 000000000000000b 000000000000000b \
	000000000000002f 0000000000000061 000000000000001a 0000000500000011 \
	000000000000002e 0000000000000001 >"$work/newer"
newer_is_named() {
	"$ftfdump" "$work/newer" >"$work/got" 2>"$work/stderr" || { cat "$work/stderr"; return 1; }
	"$ftfdump" --check "$work/newer" >/dev/null 2>&1 || return 1
	sed 's/^0x[0-9a-f]* //' "$work/got" | diff - "$work/expected" &&
		grep -q 'skipped unknown parts: record type 14, argument type 10, argument type 15$' "$work/stderr"
}
cat >"$work/expected" <<-'END'
	magic
	instant 11/11 9 "" =? =? =5 ?? argument type 15
	unknown ?? record type 14
END
tap_check "what is newer than the reader is passed over, named and counted" newer_is_named

# A counter with a null argument.
words 0000000000110064 0000000000000009 000000000000000b 000000000000000b \
	0000000000000010 0000000000000000 >"$work/null"
only_checked() {
	"$ftfdump" "$work/null" | grep -q '?! a counter' && refuses "a counter's value is not a number" "$work/null"
}
tap_check "what Perfetto drops is refused by --check only" only_checked

verdicts() {
	FTFDUMP=$(realpath "$ftfdump") bash "$oracle" >"$work/verdicts"
	grep -q '^[1-9][0-9]* traces, 0 differ$' "$work/verdicts" && return 0
	cat "$work/verdicts"
	return 1
}
oracle=$top_srcdir/../shared/oracles/ftf/check.sh
if [ -f "$oracle" ]; then
	# seeds.md: traces of tracing itself are read
	tap_check "traces of others have the verdict that others give" verdicts
else
	tap_skip "traces of others have the verdict that others give" "no $oracle"
fi

full() {
	"$ftfdump" "$work/all.ftf" >/dev/full 2>"$work/stderr"
	[ $? -eq 1 ] && grep -q "cannot write" "$work/stderr"
}
if [ -c /dev/full ]; then
	tap_check "output that cannot be written is a failure" full
fi

wrong_usage() {
	"$ftfdump" >/dev/null 2>&1
	[ $? -eq 64 ]
}
tap_check "no file is wrong usage" wrong_usage

perfetto_takes() { # FILE
	echo "select name, value from stats where value != 0 and severity != 'info';" >"$work/query"
	trace_processor_shell -q "$work/query" "$1" >"$work/rows" 2>"$work/stderr" || { cat "$work/stderr"; return 1; }
	[ "$(grep -c . "$work/rows")" -le 1 ] && return 0
	cat "$work/rows"
	return 1
}
if command -v trace_processor_shell >/dev/null; then
	"$top_builddir/tests/support/make-sample" "$work"
	"$top_builddir/ptrace2ftf" -q --symfs="$work" "$work/perf.data" -o "$work/sample.ftf"
	for file in all.ftf all.ftf.gz sample.ftf; do
		tap_check "Perfetto has nothing to complain of in $file" perfetto_takes "$work/$file"
	done
else
	tap_skip "Perfetto has nothing to complain of" "no trace_processor_shell"
fi
tap_done
