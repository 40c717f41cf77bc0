#!/bin/sh
# SPDX-License-Identifier: MIT
# --max-output: slices that do not fit are left out, and the output is valid.
. "$top_srcdir/tests/support/tap.sh"
program=$(realpath "$top_builddir/ptrace2ftf")
ftfdump=$(realpath "$top_builddir/ftfdump")
ptsim=$(realpath "$top_builddir/tests/ptsim/ptsim")
recursion=$(realpath "$top_builddir/tests/programs/static/recursion")
make_ring=$(realpath "$top_builddir/tests/support/make-ring")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$ptsim" record --seed=3 -o "$work/threads" -- "$top_builddir/tests/programs/static/threads" >/dev/null 2>"$work/messages" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"
cd "$work" || exit 1

# The size is SIZE, but for the rest of a line, or a buffer of the format and what ends the slices.
cut_to() { # SIZE SLACK FILE
	bytes=$(stat -c %s "$3")
	[ "$bytes" -ge "$1" ] && [ "$bytes" -le $(($1 + $2)) ] || { echo "$3: $bytes bytes"; return 1; }
}
limited() { # SIZE OPTIONS...: status 2, and a warning
	"$program" --max-output="$@" 2>messages
	[ $? -eq 2 ] && grep -q 'warning: the output has reached its limit: the rest is left out' messages
}

lines() { # FORMAT
	"$program" -q -f "$1" threads -o whole || return 1
	for size in 1 2; do
		limited ${size}kB -f "$1" threads -o part && cut_to ${size}000 300 part &&
			[ -z "$(tail -c 1 part)" ] && cmp -n "$(stat -c %s part)" part whole || return 1
	done
}
for format in branches calls slices functions folded; do
	tap_check "$format: whole lines up to the limit" lines $format
done

# A line for each of 1,500 calls in each other: 7 MB.
ends_early() {
	"$ptsim" record -o deep -- "$recursion" >/dev/null 2>&1 && "$program" -q -f folded --max-stack=none deep -o whole &&
		[ "$(stat -c %s whole)" -gt 5000000 ] && limited 1MB -f folded --max-stack=none deep -o part &&
		[ "$(stat -c %s part)" -lt 1100000 ] && cmp -n "$(stat -c %s part)" part whole
}
tap_check "no stack is printed after the limit" ends_early

slices_of() { # FILE: without their ends
	"$ftfdump" --slices "$1" | awk '{ print $1, $2, $3, $5 }' | sort
}
ftf() {
	"$program" -q threads -o whole.ftf && slices_of whole.ftf >whole || return 1
	for size in 100 150; do
		limited ${size}kB --args=full threads -o part.ftf -j 1 && cut_to ${size}000 80000 part.ftf &&
			"$ftfdump" --check part.ftf >/dev/null && slices_of part.ftf >part &&
			[ -s part ] && [ -z "$(comm -23 part whole)" ] || return 1
		limited ${size}kB --args=full threads -o threaded.ftf -j 3 && cmp part.ftf threaded.ftf || return 1
	done
}
tap_check "FTF: slices of the whole trace, each with its end" ftf
# In magic-trace's order, which ftfdump --check refuses: the records are the first of the whole trace.
like() {
	"$program" -q --format=magic-trace threads -o whole.ftf &&
		limited 100kB --format=magic-trace threads -o part.ftf && cut_to 100000 100000 part.ftf || return 1
	for trace in whole part; do
		"$ftfdump" $trace.ftf 2>/dev/null | sed 's/^[^ ]* //; s/ [!?]! .*//' >$trace
	done
	[ "$(wc -l <part)" -gt 1000 ] && head -n 1000 whole | cmp - part -n "$(head -n 1000 part | wc -c)"
}
tap_check "--format=magic-trace: the first records up to the limit" like
machine() {
	limited 100kB --stacks=magic-trace threads -o part.ftf && "$ftfdump" --check part.ftf
}
tap_check "also of magic-trace's machine" machine
json() {
	for format in chrome speedscope; do
		limited 100kB -f $format threads -o part.json && cut_to 100000 80000 part.json &&
			jq -e . part.json >/dev/null || return 1
	done
}
if command -v jq >/dev/null; then
	tap_check "JSON is whole" json
fi
compressed() {
	"$ptsim" record --per-thread --apart --cyc --interrupts=0 --repeat=1000000 -o long -- "$recursion" >/dev/null 2>&1
	limited 300kB long -o part.ftf.gz && cut_to 300000 80000 part.ftf.gz && "$ftfdump" --check part.ftf.gz || return 1
	limited 100kB threads -o - >part.ftf && cut_to 100000 80000 part.ftf && "$ftfdump" --check part.ftf
}
tap_check "compressed output and standard output have the limit, too" compressed
parts() {
	limited 200kB --args=line --split=90kB threads -o part.ftf && [ ! -e part.003.ftf ] || return 1
	for part in part.00?.ftf; do
		"$ftfdump" --check "$part" || return 1
	done
	# Each part has its own names and pieces of output.
	cat part.00?.ftf >all && cut_to 200000 120000 all
}
tap_check "the parts of --split have one limit" parts
described() {
	limited 100kB --json=part.json threads -o part.ftf && grep -q '"output_cut": true' part.json &&
		"$program" -q --json=whole.json threads -o whole.ftf && grep -q '"output_cut": false' whole.json
}
tap_check "--json says so" described

# 160 kB of phases.
overlays() {
	i=0
	while [ $i -lt 5000 ]; do
		i=$((i + 1))
		printf '0 %d000 begin 1 0\n0 %d500 end 1 0\n' $i $i
	done | "$make_ring" 1 65536 4711.events || return 1
	limited 50kB --runtime-events=4711.events --json=part.json -o part.ftf && cut_to 50000 80000 part.ftf &&
		"$ftfdump" --check part.ftf && grep -q '"output_cut": true' part.json || return 1
	"$program" -q threads -o whole.ftf || return 1
	size=$(($(stat -c %s whole.ftf) / 1000 + 20))
	limited ${size}kB threads --runtime-events=4711.events -o part.ftf && cut_to ${size}000 80000 part.ftf &&
		"$ftfdump" --check part.ftf
}
tap_check "overlays have the limit, alone and beside a recording" overlays

# 4 MiB are free, a quarter of which is 1 MiB.
default_limit() {
	mkdir -p small
	unshare -m $own_user sh -c 'mount -t tmpfs -o size=1m none small || exit 77
		"$1" --args=line threads -o small/part.ftf 2>messages
		status=$?
		grep -q "has reached its limit" messages || cat messages
		"$2" --check small/part.ftf && [ $status -eq 2 ] && [ "$(stat -c %s small/part.ftf)" -lt 345000 ] || exit 1
		rm small/part.ftf
		"$1" --args=line threads --output=small/{base}.ftf 2>messages
		[ $? -eq 1 ] && grep -q "exceeds a quarter of the free space" messages && [ -z "$(ls small)" ]' \
		sh "$program" "$ftfdump"
}
# Root needs no user namespace, in which it could not enter what others closed.
own_user=
[ "$(id -u)" -eq 0 ] || own_user=-r
if unshare -m $own_user true 2>/dev/null; then
	tap_check "by default a quarter of the free space; a batch keeps no part of an output" default_limit
else
	tap_skip "by default a quarter of the free space" "no namespaces"
fi
wrong() { # OPTION SIZE
	"$program" "$1=$2" threads 2>messages
	[ $? -eq 64 ] && grep -q "invalid $1 '$2'; expected a size like" messages
}
tap_check "a size needs a unit" wrong --max-output 5
tap_check "a size of temporary files, too" wrong --max-temp 5

# ---- Temporary files -------------------------------------------------------------
# 140,000 calls in the 500 kB of one recording: 21 to 50 MB of temporary files.
"$ptsim" record --per-thread --repeat=500000 -o large -- "$recursion" >/dev/null 2>&1
temp_full() { # SIZE OUTPUT OPTIONS...: status 2, one warning, no other file
	size=$1
	output=$2
	shift 2
	rm -rf out && mkdir out || return 1
	"$program" --max-temp="$size" -o "out/$output" "$@" 2>messages
	[ $? -eq 2 ] && [ "$(grep -c 'warning: cannot keep more in temporary files: the rest is left out, after [0-9.]*% of the trace; .* --max-temp=SIZE' messages)" -eq 1 ] &&
		! grep -q 'output has reached' messages && [ "$(ls -A out)" = "$output" ] || { cat messages; ls -A out; return 1; }
}
# The slices of the part are the first ones of the whole, except for ends at the cut, and begins there,
# whose time depends on what follows.
keeps() { # FORMAT OPTIONS...
	format=$1
	shift
	"$program" -q -f "$format" "$@" large -o whole && temp_full 8MB part -f "$format" "$@" large &&
		[ "$(stat -c %s out/part)" -gt 100000 ] && [ $((10 * $(stat -c %s out/part))) -lt $((9 * $(stat -c %s whole))) ]
}
text_keeps() { # OPTIONS...
	keeps slices --args=none "$@" && awk '{ print $1, $2, $3, $5 }' whole | sort >wanted || return 1
	last=$(awk '{ print $3 }' out/part | sort -n | tail -n 1)
	awk -v last="$last" '$3 != last { print $1, $2, $3, $5 }' out/part | sort | comm -23 - wanted >odd && [ ! -s odd ] ||
		{ head -n 3 odd; return 1; }
}
tap_check "temporary files have a limit: slices up to it are written" text_keeps
tap_check "with --clock, too" text_keeps --clock=insns
tap_check "with --within, too" text_keeps '--within=main>1ns'
json_keeps() {
	keeps "$@" && jq -e . out/part >/dev/null
}
if command -v jq >/dev/null; then
	tap_check "JSON for Chrome is whole" json_keeps chrome
	tap_check "JSON for speedscope, too" json_keeps speedscope
fi
tap_check "a database keeps calls" keeps sqlite
split_keeps() {
	"$program" -q --split=10M large -o whole.ftf
	temp_full 4MB part.ftf --split=10M large >/dev/null
	[ "$(ls -A out)" = part.000.ftf ] && grep -q 'cannot keep more in temporary files' messages && "$ftfdump" --check out/part.000.ftf &&
		[ "$(slices_of out/part.000.ftf | wc -l)" -gt 10000 ] &&
		[ $((10 * $(stat -c %s out/part.000.ftf))) -lt $((9 * $(stat -c %s whole.000.ftf))) ]
}
tap_check "a part of --split, too" split_keeps
# Text of perf script, whose slices wait for the end of the thread.
text_of_perf() {
	awk 'BEGIN {
		for (i = 0; i < 300000; i++)
			printf "a 7/7 %d.%09d: %s %x %s+0x1 (/a) => %x %s+0x%x (/a)\n", 1 + i / 1e6, i % 1e6 * 1000,
				i % 2 ? "return" : "call", i % 2 ? 0x2001 : 0x1001, i % 2 ? "g" : "f", i % 2 ? 0x1002 : 0x2000, i % 2 ? "f" : "g", i % 2 ? 2 : 0
	}' >text
	temp_full 8MB part -f slices --input=perf-script ./text >/dev/null
	[ "$(ls -A out)" = part ] && grep -q 'cannot keep more in temporary files: the rest is left out;' messages &&
		[ "$(wc -l <out/part)" -gt 10000 ] && [ "$(wc -l <out/part)" -lt 150000 ]
}
tap_check "the text of perf script, too" text_of_perf
temp_described() {
	temp_full 8MB part -f slices --json=part.json large && grep -q '"output_cut": true' part.json &&
		grep -q '"temp-full"' part.json
}
tap_check "--json says so" temp_described
# By what the kernel is asked for: the largest size of each file.
few_bytes() { # OPTIONS...
	strace -f -e trace=fallocate -o calls "$program" -q --max-temp=8MB "$@" large -o part 2>/dev/null
	bytes=$(sed -n 's/.*fallocate(\([0-9]*\), 0, 0, \([0-9]*\).*/\1 \2/p' calls |
		awk '$2 > size[$1] { size[$1] = $2 } END { for (file in size) sum += size[file]; print sum + 0 }')
	[ "$bytes" -gt 4000000 ] && [ "$bytes" -le 8500000 ] || { echo "$*: $bytes bytes"; return 1; }
}
few_bytes_of_all() {
	for format in slices sqlite chrome speedscope; do
		few_bytes -f $format && few_bytes -f $format --clock=insns || return 1
	done
	few_bytes -f bolt '--within=main>0ns'
}
if command -v strace >/dev/null && [ "$P2F_SANITIZED" != yes ]; then
	tap_check "they have no more bytes than that, and the rest of a step" few_bytes_of_all
else
	tap_skip "they have no more bytes than that" "no strace, or sanitizers"
fi
# 16 MiB are free, a quarter of which is 4 MiB.
default_temp() {
	mkdir -p tmp
	unshare -m $own_user sh -c 'mount -t tmpfs -o size=16m none tmp || exit 77
		export TMPDIR="$PWD/tmp"
		"$1" -f slices large -o part 2>messages
		[ $? -eq 2 ] && grep -q "cannot keep more in temporary files" messages || exit 1
		rm -rf out && mkdir out && "$1" -f slices large --output=out/{base} 2>messages
		[ $? -eq 1 ] && grep -q "its temporary files exceed a quarter of the free space .* give --max-temp=SIZE" messages && [ -z "$(ls -A out)" ]' \
		sh "$program"
}
if unshare -m $own_user true 2>/dev/null; then
	tap_check "by default a quarter of the free space; a batch keeps no part of an output, again" default_temp
else
	tap_skip "by default a quarter of the free space, again" "no namespaces"
fi
# A copy of a pipe's bytes cannot be cut.
copied() {
	cat large | "$program" --max-temp=100kB -o copied.ftf - 2>messages
	[ $? -eq 1 ] && grep -q 'cannot keep a copy in .*: its temporary files may have 100000 bytes; give --max-temp=SIZE' messages &&
		[ ! -e copied.ftf ] && cat large | "$program" -q --no-warn --max-temp=600kB -o copied.ftf -
}
tap_check "a recording from a pipe that does not fit is refused" copied
tap_done
