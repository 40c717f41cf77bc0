#!/bin/sh
# SPDX-License-Identifier: MIT
# Failing system calls: each call of a kind fails in turn (shim.c). The program ends with
# status 0, 1 or 2; a failure prints one line with the reason and leaves no output; other
# outputs are valid.
. "$top_srcdir/tests/support/tap.sh"
shim=$top_builddir/tests/faults/shim.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/sample" "$work/out"
"$top_builddir/tests/support/make-sample" "$work/sample"
cp "$work/sample/perf.data" "$work/perf.data"
cp "$work/sample/sample" "$work/sample.kept"
[ "$P2F_SANITIZED" != yes ] || tap_skip_all "sanitizers keep the allocator to themselves"
: >"$work/injected"

convert() { # FAULT OUTPUT OPTIONS...: sets $status
	fault=$1
	output=$2
	shift 2
	cp "$work/sample/perf.data" "$work/perf.data"
	cp "$work/sample.kept" "$work/sample/sample"
	# For runs that read standard input: a pipe, which cannot be mapped.
	cat "$work/perf.data" | timeout -s KILL 100 env LD_PRELOAD="$shim" FAULT="$fault" FAULT_COUNT="$work/count" \
		"$top_builddir/ptrace2ftf" "$@" -o "$output" 2>"$work/messages"
	status=$?
}

# One run; $status is 0, 1 or 2.
holds() { # FAULT OUTPUT OPTIONS...
	convert "$@"
	if [ $status -gt 2 ]; then
		echo "$1: status $status"
	elif [ $status -eq 1 ] && { [ -n "$(ls -A "$work/out")" ] || ! grep -q '^ptrace2ftf: .' "$work/messages"; }; then
		echo "$1: output left, or no reason given"
		cat "$work/messages"
	elif [ $status -ne 1 ] && [ -e "$2" ] && ! "$top_builddir/ftfdump" --check "$2" >/dev/null 2>&1; then
		echo "$1: unsound output"
	else
		rm -f "$work/out"/*
		echo "$1" >>"$work/injected"
		return 0
	fi
	rm -f "$work/out"/*
	return 1
}

# Let each call of a kind fail in turn, then all calls after the Nth.
each() { # KIND LIMIT OUTPUT OPTIONS...
	kind=$1
	limit=$2
	shift 2
	convert "$kind:0" "$@"
	total=$(cat "$work/count")
	rm -f "$work/out"/*
	[ "$total" -gt 0 ] || { echo "no calls of $kind"; return 1; }
	# All of the first calls, then samples.
	number=1
	while [ $number -le "$total" ]; do
		holds "$kind:$number" "$@" || return 1
		number=$((number + 1 + number / limit))
	done
	for number in 1 2 $((total / 3 + 1)) $((total / 2 + 1)) "$total"; do
		holds "$kind:$number+" "$@" || return 1
	done
	echo "# $kind: $total calls" >>"$work/figures"
}

symfs=--symfs=$work/sample
# Until the trace is complete they are those of the first.
few=5 many=20
[ -z "$LONG" ] || few=40 many=100
tap_check "any allocation may fail" each malloc $many "$work/out/x.ftf" $symfs "$work/perf.data"
tap_check "any allocation may fail while the output is compressed" \
	each malloc $few "$work/out/x.ftf.zst" $symfs "$work/perf.data"
# Both are made when the trace is complete; a failure then also leaves no trace.
tap_check "any allocation may fail with a summary in JSON" \
	each malloc $few "$work/out/x.ftf" --json="$work/x.json" $symfs "$work/perf.data"
tap_check "any allocation may fail with parts" \
	each malloc $few "$work/out/x.ftf" --split=3 -vv $symfs "$work/perf.data"
keeps_what_was_there() {
	echo old >"$work/old"
	convert malloc:0 "$work/out/x.ftf" $symfs "$work/perf.data"
	total=$(cat "$work/count")
	step=-3
	[ -z "$LONG" ] || step=-1
	# Backwards from the last allocation, as the last ones are the summary's.
	for number in $(seq "$total" $step $((total - 40))); do
		cp "$work/old" "$work/out/x.ftf"
		convert "malloc:$number+" "$work/out/x.ftf" $symfs "$work/perf.data"
		case $status in
		0) "$top_builddir/ftfdump" --check "$work/out/x.ftf" ;;
		1) cmp "$work/old" "$work/out/x.ftf" && failed=$number ;;
		*) false ;;
		esac || { echo "malloc $number: status $status"; return 1; }
	done
	rm -f "$work/out"/*
	[ "$failed" ]
}
tap_check "when memory ends with the summary, an older output stays" keeps_what_was_there
needs_its_summary() {
	convert malloc:0 "$work/out/x.ftf" --json="$work/none/x.json" $symfs "$work/perf.data"
	[ $status -eq 1 ] && [ -z "$(ls -A "$work/out")" ] && grep -q "cannot write to .*none/x.json" "$work/messages"
}
tap_check "without the JSON that was asked for there is no output" needs_its_summary
tap_check "any read may fail" each read $many "$work/out/x.ftf" $symfs -
tap_check "any write may fail" each write $many "$work/out/x.ftf" -q $symfs "$work/perf.data"
tap_check "any write of compressed output may fail" \
	each write $many "$work/out/x.ftf.gz" -q $symfs "$work/perf.data"
tap_check "any mapping may fail" each mmap $many "$work/out/x.ftf" $symfs "$work/perf.data"
# The sandbox would not let the shim shorten files.
tap_check "any file may become empty while it is mapped" \
	each shrink $many "$work/out/x.ftf" --sandbox=off $symfs "$work/perf.data"
tap_check "no file may be open but the first" each open $many "$work/out/x.ftf" $symfs "$work/perf.data"

names_the_file() {
	convert shrink:1 "$work/out/x.ftf" --sandbox=off $symfs "$work/perf.data"
	[ $status -eq 1 ] && grep -q "perf.data: became shorter" "$work/messages" && [ -z "$(ls -A "$work/out")" ]
}
tap_check "a recording that becomes shorter is named" names_the_file
# Decoding threads also reach the missing bytes.
shrinks_under_threads() {
	"$top_builddir/tests/scale/make-scale" pieces 40000 "$work/large" || return 1
	for jobs in 1 4; do
		cp "$work/large" "$work/cut"
		LD_PRELOAD="$shim" FAULT=halve:1 "$top_builddir/ptrace2ftf" -q --sandbox=off $symfs --jobs=$jobs \
			"$work/cut" -o "$work/out/x.ftf" 2>"$work/messages"
		status=$?
		[ $status -eq 1 ] && grep -q "cut: became shorter" "$work/messages" &&
			[ -z "$(ls -A "$work/out")" ] || { echo "status $status"; return 1; }
	done
}
tap_check "a recording that becomes shorter under threads is named" shrinks_under_threads
names_the_quota() { # SUFFIX
	# --fit keeps what is to be compressed in a temporary file.
	convert quota:1+ "$work/out/x.$1" -q --fit=none $symfs "$work/perf.data"
	[ $status -eq 1 ] && grep -q "x.$1: .*Disk quota exceeded" "$work/messages" && [ -z "$(ls -A "$work/out")" ]
}
tap_check "a quota that is used up is an error" names_the_quota ftf
tap_check "a quota that is used up is one for compressed output" names_the_quota ftf.zst
goes_on_with_one_thread() {
	convert thread:1+ "$work/out/x.ftf.gz" $symfs "$work/perf.data"
	[ $status -eq 0 ] && "$top_builddir/ftfdump" --check "$work/out/x.ftf.gz"
}
tap_check "without threads the output is compressed all the same" goes_on_with_one_thread
rm -f "$work/out"/*

# ---- Limits of the shell, without the shim ----
beyond_the_size_limit() {
	cp "$work/sample/perf.data" "$work/perf.data"
	# The message goes through a pipe, as a file may not be written.
	{ (ulimit -f 0; exec "$top_builddir/ptrace2ftf" -q $symfs "$work/perf.data" -o "$work/out/x.ftf")
		echo "status $?"; } 2>&1 | cat >"$work/messages"
	grep -q "File too large" "$work/messages" && grep -qx "status 1" "$work/messages" &&
		[ -z "$(ls -A "$work/out")" ]
}
tap_check "a file beyond the size limit is an error" beyond_the_size_limit
# With a lower limit, the dynamic linker cannot load the libraries: status 127.
little_address_space() {
	for room in $(seq 5000 500 30000); do
		(ulimit -v "$room"
		 exec "$top_builddir/ptrace2ftf" -q $symfs "$work/perf.data" -o "$work/out/x.ftf") \
			2>"$work/messages"
		status=$?
		echo $status >>"$work/statuses"
		case $status in
		0) rm "$work/out/x.ftf" ;;
		1 | 127) [ -s "$work/messages" ] && [ -z "$(ls -A "$work/out")" ] || return 1 ;;
		*) echo "$room KiB: status $status"; return 1 ;;
		esac
	done
	# Some limits were too low, and the last one was high enough.
	grep -qx 1 "$work/statuses" && grep -qx 0 "$work/statuses"
}
tap_check "little address space is an error with a reason" little_address_space
cat "$work/figures"
echo "# $(grep -c . "$work/injected") faults injected"
tap_done
