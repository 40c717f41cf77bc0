#!/bin/sh
# SPDX-License-Identifier: MIT
# Names and contents of outputs.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ftfdump=$top_builddir/ftfdump
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$top_builddir/tests/support/make-sample" "$work"
sample=$work/perf.data
converted=${sample%.data}.ftf
options="--symfs=$work"

default_output() {
	"$program" -q $options "$sample" && "$ftfdump" --check "$converted"
}
tap_check "without -o the trace is beside the input" default_output

same_on_stdout() {
	"$program" -q $options "$sample" -o - >"$work/stdout.ftf" && cmp "$converted" "$work/stdout.ftf"
}
tap_check "-o - writes the same bytes to standard output" same_on_stdout

# The suffix chooses the format, also before .gz: the same bytes as by --format.
by_suffix() { # FORMAT NAME
	"$program" -q $options -f "$1" "$sample" -o "$work/by_format" &&
		"$program" -q $options "$sample" -o "$work/$2" &&
		case $2 in
		*.gz) gzip -dc "$work/$2" ;;
		*) cat "$work/$2" ;;
		esac | cmp "$work/by_format" -
}
suffixes() {
	by_suffix html x.html && by_suffix folded x.folded.gz && by_suffix slices x.slices &&
		by_suffix chrome x.json && by_suffix speedscope x.speedscope.json && by_suffix speedscope x.speedscope && by_suffix ftf x.fxt &&
		by_suffix ftf x.1 && by_suffix ftf html && by_suffix ftf .bin && by_suffix ftf x.gz
}
tap_check "without --format the output's suffix chooses it" suffixes
# Any name can be that of a pipe, and with --format of a file.
any_name() {
	mkfifo "$work/x.pipe" && { cat "$work/x.pipe" >"$work/piped" & } && "$program" -q $options "$sample" -o "$work/x.pipe" &&
		wait && cmp "$converted" "$work/piped" && by_suffix functions x.functions &&
		"$program" -q $options -f functions "$sample" -o "$work/x.txt" && cmp "$work/x.functions" "$work/x.txt"
}
tap_check "any name is one of a pipe, or of a format that --format chooses" any_name
json_of_two() {
	"$program" -q $options -f speedscope "$sample" -o "$work/x.json" && grep -q speedscope.app "$work/x.json"
}
tap_check "a suffix of two formats may be named by either" json_of_two

# File systems allow 255 bytes, which leaves no room for the suffix of a temporary name.
long_name() { # SUFFIX BYTES: letters up to that length
	printf "%$(($2 - ${#1}))s%s" '' "$1" | tr ' ' n
}
long_names() {
	mkdir "$work/long"
	for bytes in 230 240 241 254 255; do
		name=$(long_name .ftf $bytes)
		"$program" -q $options "$sample" -o "$work/long/$name" && cmp "$converted" "$work/long/$name" || return 1
	done
	name=$(printf '%124s.ftf' '' | sed 's/ /é/g')
	"$program" -q $options "$sample" -o "$work/long/$name" && cmp "$converted" "$work/long/$name" || return 1
	# Both have the same begin; a part has four bytes more.
	rm -r "$work/long"/*
	"$program" -q $options --split=3 "$sample" -o "$work/long/$(long_name .ftf 251)" --json="$work/long/$(long_name .json 255)" &&
		[ "$(ls "$work/long" | wc -l)" -ge 3 ] && ! ls "$work/long" | grep tmp
}
tap_check "a name may have all 255 bytes that file systems allow" long_names
too_long() { # OPTIONS...
	"$program" -q $options "$sample" "$@" 2>"$work/messages"
	[ $? -eq 1 ] && grep -q 'File name too long' "$work/messages" && [ "$(wc -l <"$work/messages")" -eq 1 ] &&
		! ls "$work/long" | grep tmp && return
	cat "$work/messages"
	return 1
}
tap_check "a longer one is an error" too_long -o "$work/long/$(long_name .ftf 256)"
tap_check "so is one of --json" too_long -o "$work/long/x" --json="$work/long/$(long_name .json 256)"
tap_check "so is that of a part" too_long --split=3 -o "$work/long/$(long_name .ftf 252)"

# As perf does, take the perf.data of the current folder.
default_input() {
	absolute=$(realpath "$program")
	mkdir -p "$work/here" && cp "$sample" "$work/here" &&
		(cd "$work/here" && "$absolute" -q --symfs="$work" -o other.ftf) && cmp "$converted" "$work/here/other.ftf"
}
tap_check "without INPUT it is perf.data in the current directory" default_input

packed() { # SUFFIX UNPACKER...
	suffix=$1
	shift
	"$program" -q $options "$sample" -o "$work/packed.ftf.$suffix" && "$@" <"$work/packed.ftf.$suffix" |
		cmp "$converted" - && "$ftfdump" --check "$work/packed.ftf.$suffix"
}
# seeds.md: output is packed by the suffixes .gz and .zst
tap_check "-o FILE.gz writes the same bytes, packed" packed gz gzip -d
if command -v zstd >/dev/null; then
	# seeds.md: output is packed by the suffixes .gz and .zst
	tap_check "-o FILE.zst writes the same bytes, packed" packed zst zstd -d
fi

quiet() {
	[ -z "$("$program" -q $options "$sample" -o "$work/x.ftf" 2>&1)" ]
}
tap_check "-q says nothing" quiet

summary() {
	"$program" $options "$sample" -o "$work/x.ftf" >"$work/stdout" 2>"$work/stderr"
	[ ! -s "$work/stdout" ] && grep -q "22 branches, 10 slices on 1 thread" "$work/stderr"
}
tap_check "the summary goes to standard error" summary
names_the_trace() {
	"$program" $options "$sample" -o "$work/x.ftf" 2>&1 | grep -q "; open $work/x.ftf at https" &&
		! "$program" $options "$sample" -o - 2>&1 >/dev/null | grep -q "; open"
}
tap_check "the summary names the trace to open, if it has a name" names_the_trace

# By hand from the sample's program: each work() calls leaf() three times.
stacks() {
	"$program" -q $options --format=slices "$sample" | awk '{ print $2, $5 }' >"$work/slices"
	printf '%s\n' '0 main' '1 work' '2 leaf' '2 leaf' '2 leaf' '1 work' '2 leaf' '2 leaf' '2 leaf' \
		'1 [syscall]' | diff - "$work/slices"
}
tap_check "slices have the program's call tree" stacks

names() {
	"$ftfdump" --names "$converted" | grep ' 1234 ' >"$work/names"
	printf 'process 1234 sample\nthread 1234 sample process=1234\n' | diff - "$work/names"
}
# seeds.md: its name is the command line
tap_check "process and thread have their names and ids" names

mkdir "$work/empty"
warnings() {
	"$program" --symfs="$work/empty" "$sample" -o "$work/x.ftf" 2>"$work/stderr"
	[ $? -eq 2 ] && [ "$(grep -c '1 binary not found.*: /sample$' "$work/stderr")" -eq 1 ]
}
tap_check "missing code gives status 2 and names the file" warnings

no_warn() {
	"$program" --no-warn -q --symfs="$work/empty" "$sample" -o "$work/x.ftf"
}
tap_check "--no-warn makes that 0" no_warn

text_both_ways() {
	"$program" -q $options --format=branches "$sample" >"$work/branches"
	# Text has no instructions, by which the precise machine divides a time among calls.
	for stacks in magic-trace precise; do
		"$program" -q --stacks=$stacks --input=perf-script --format=calls "$work/branches" >"$work/from-text"
		"$program" -q --stacks=$stacks $options --format=calls "$sample" >"$work/from-data"
		[ $stacks = magic-trace ] ||
			sed -i 's/^-> *[0-9.]*[mu]*s*n*s* //' "$work/from-text" "$work/from-data"
		diff "$work/from-text" "$work/from-data" || return 1
	done
}
tap_check "its own branch text, read as perf script text, gives the same calls" text_both_ways

read_stdin() {
	"$program" -q --input=perf-script --format=slices - <"$work/branches" | grep -q ' leaf$'
}
tap_check "- reads perf script text from standard input" read_stdin

# A gap between two halves of a trace, and a thread that perf does not know.
like_magic_trace() {
	cat >"$work/text" <<-'END'
		7/7 1.000000000:   tr strt          0 [unknown] => 4000 main+0x0
		 instruction trace error type 1 time 1.000000100 cpu 0 pid 7 tid 7 ip 0 code 7: Overflow packet
		7/7 1.000000200:   jmp          4000 main+0x0 => 4020 work+0x0
		7/7 1.000000500:   return          4020 work+0x0 => 4000 main+0x0
		7/7 1.000000900:   call          4000 main+0x0 => 4040 fin+0x0
		7/7 1.000001000:   return          4040 fin+0x0 => 4000 main+0x0
		-1/-1 1.000001000:   call          4000 main+0x0 => 4020 work+0x0
		-1/-1 1.000002000:   return          4020 work+0x0 => 4000 main+0x0
	END
	"$program" -q --no-warn --input=perf-script --stacks=magic-trace --mode=user "$@" "$work/text"
}
inferred_slices() {
	like_magic_trace --format=slices --args=line | cut -d' ' -f3- | grep '^1000000100 .*inferred' >"$work/got"
	diff - "$work/got" <<-'END'
		1000000100 1000001000 main address=0x4000 inferred_start_time=true
		1000000100 1000000500 work address=0x4020 inferred_start_time=true
	END
	like_magic_trace --format=calls | grep -q 'BEGIN main \[inferred start time\]$'
}
# seeds.md: and with MAGIC_TRACE_DEBUG " [inferred start time]" in their name
tap_check "slices that magic-trace infers say so, in calls by their names" inferred_slices
instants() {
	like_magic_trace --format=ftf -o "$work/x.ftf" && "$ftfdump" -c "$work/x.ftf" &&
		"$ftfdump" "$work/x.ftf" | grep -q ' instant 7/7 1000000100 "\[decode error: Overflow packet\]"$'
}
tap_check "by default magic-trace's decode errors are instants" instants
contradictions() {
	for option in args=line stacks=precise inline demangle=full unnamed=files memtrace=x runtime-events=x; do
		"$program" --format=magic-trace --$option "$work/text" >"$work/got" 2>&1
		[ $? -eq 64 ] && grep -q -- "cannot combine --${option%%=*} and --format=magic-trace; leave out --${option%%=*}" "$work/got" || return 1
	done
	for option in --counters=1us --fit=100 --split=1 --symbol=main "--slowest=1 --symbol=main" --top=3; do
		# shellcheck disable=SC2086 # words
		"$program" --format=magic-trace $option "$work/perf.data" >"$work/got" 2>&1
		[ $? -eq 64 ] || { echo "$option"; return 1; }
	done
	"$program" diff --format=magic-trace "$sample" "$sample" >"$work/got" 2>&1
	[ $? -eq 64 ] || return 1
	"$program" list --format=magic-trace "$sample" >"$work/got" 2>&1
	[ $? -eq 64 ] || return 1
	# An option overrides a setting that contradicts it.
	like_magic_trace --format=magic-trace -o "$work/like.ftf" 2>"$work/got"
	[ $? -eq 64 ] || return 1
	for settings in "" "demangle=full args=none"; do
		PTRACE2FTF_OPTIONS=$settings "$program" -q --no-warn --input=perf-script --format=magic-trace "$work/text" -o - >"$work/like$settings" || return 1
	done
	cmp "$work/like" "$work/likedemangle=full args=none"
}
tap_check "--format=magic-trace refuses what contradicts it" contradictions
unknown_thread() {
	"$ftfdump" --names "$work/x.ftf" >"$work/got"
	printf 'process 4194304 ?/?\nthread 4194304 ?/? process=4194304\n' | diff - "$work/got"
}
# seeds.md: pid 0 or tid 0 is unknown, "?"
tap_check "a thread without ids is named ?/?" unknown_thread

if command -v perf >/dev/null; then
	equals_perf() {
		perf script -i "$sample" --symfs "$work" --itrace=be \
			-F pid,tid,time,flags,ip,addr,sym,symoff --ns 2>"$work/stderr" >"$work/perf"
		sed 's/^[^:]*: //' "$work/perf" >"$work/perf.branches"
		sed 's/^[^:]*: //' "$work/branches" | diff "$work/perf.branches" -
	}
	# seeds.md: -z-print-events prints what was decoded
	# seeds.md: branches within a function are printed, too
	tap_check "the branches are perf script's" equals_perf
else
	tap_skip "the branches are perf script's" "no perf"
fi

help_and_version() {
	"$program" --help | grep -q -- --symfs && "$program" --version | grep -q '^ptrace2ftf [0-9]'
}
tap_check "--help and --version go to standard output" help_and_version
tap_done
