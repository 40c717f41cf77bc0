#!/bin/sh
# SPDX-License-Identifier: MIT
# Each allocation of a command fails in turn, also those of libraries (jansson, libelf, libdw,
# libipt): the command fails, or its results are those of the undisturbed run. LONG=1 takes all
# allocations and three recordings; otherwise the test takes each allocation of start-up, for the
# first command, and samples of the others.
. "$top_srcdir/tests/support/tap.sh"
shim=$(realpath "$top_builddir")/tests/faults/shim.so
program=$(realpath "$top_builddir")/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ "$P2F_SANITIZED" != yes ] || tap_skip_all "sanitizers keep the allocator to themselves"
mkdir "$work/sample" "$work/out"
"$top_builddir/tests/support/make-sample" "$work/sample"
symfs=--symfs=$work/sample
plain=$work/sample/perf.data
"$top_builddir/tests/ptsim/ptsim" record -o "$work/dwarf.data" -- "$top_builddir/tests/programs/static/tail" \
	>/dev/null 2>&1 || tap_skip_all "ptsim cannot record here"

# Sets $status; standard output goes to out/stdout.
run() { # FAULT OPTIONS...
	fault=$1
	shift
	rm -rf "$work/out"
	mkdir "$work/out"
	cd "$work/out" || return 1
	LD_PRELOAD="$shim" FAULT="$fault" FAULT_COUNT="$work/count" \
		"$program" "$@" >stdout 2>"$work/messages" </dev/null
	status=$?
	cd "$OLDPWD" || return 1
}

# The output of a run, without its own times and sizes.
results() {
	(cd "$work/out" && find . -type f | sort | while read -r file; do echo "$file"; cat "$file"; done) |
		sed -E 's/"((cpu_)?seconds|peak(_memory)?_bytes)": ?[-+.e0-9]+/"\1": 0/g'
}

holds() { # NUMBER OPTIONS...
	run "malloc:$@"
	if [ $status -eq $good ]; then
		results >"$work/disturbed"
		cmp "$work/undisturbed" "$work/disturbed" && return
		echo "allocation $1: status $status with other results"
	# libdw (0.188 to 0.192) uses one of its tables without a check.
	elif [ $status -ne 1 ] && [ $status -ne 139 ]; then
		echo "allocation $1: status $status"
	elif ! [ -s "$work/messages" ]; then
		echo "allocation $1: no message"
	elif find "$work/out" -name '*.tmp' | grep .; then
		echo "allocation $1: temporary files are left"
	else
		return 0
	fi
	cat "$work/messages"
	return 1
}

each() { # OPTIONS...
	run malloc:0 "$@"
	good=$status
	[ $good -eq 0 ] || [ $good -eq 2 ] || { cat "$work/messages"; return 1; }
	results >"$work/undisturbed"
	# A line of each process.
	total=$(sort -n "$work/count" | tail -n 1)
	[ "$total" -gt 50 ] || { echo "only $total allocations"; return 1; }
	number=1
	while [ $number -le "$total" ]; do
		holds $number "$@" || return 1
		number=$((number + 1))
		[ "$LONG" ] || [ $number -lt $one_by_one ] || number=$((number + number / 5))
	done
}

one_by_one=25
# Each command with a recording.
commands() { # SUFFIX RECORDING FUNCTION
	tap_check "a trace$1" each -qj1 $symfs "$2" -o x.ftf
	one_by_one=10
	tap_check "a summary in JSON$1" each -qj1 $symfs "$2" -o x.ftf --json=x.json
	tap_check "a batch$1" each -qj1 $symfs "$2" -o traces/ --json-lines=x.jsonl
	tap_check "slow calls$1" each -qj1 $symfs "$2" --slowest=2 --symbol="$3" -o slow/
	tap_check "a difference$1" each diff $symfs "$2" "$2" --fail-if=insns:+0 --json=x.json
	tap_check "causes of slow calls$1" each why -qj1 $symfs "$2" --symbol="$3" -o x
	tap_check "a list$1" each list -q $symfs "$2" --json=x.json
	for format in functions pprof; do
		tap_check "$format$1" each -qj1 $symfs "$2" --format=$format -o x
	done
	[ "$LONG" ] || return
	for format in callgrind lcov folded histogram chrome speedscope html; do
		tap_check "$format$1" each -qj1 $symfs "$2" --format=$format --symbol="$3" -o x
	done
	tap_check "a difference of stacks$1" each diff $symfs "$2" "$2" --format=folded -o x
	tap_check "a compressed trace$1" each -qj1 $symfs "$2" -o x.ftf.zst
	tap_check "a trace in parts$1" each -qj1 $symfs "$2" --split=2 -o x.ftf
	tap_check "a folded trace$1" each -qj1 $symfs "$2" --fit=2 -o x.ftf
	tap_check "the reference engine$1" each -qj1 $symfs "$2" --engine=libipt -o x.ftf
}
commands "" "$plain" leaf
tap_check "lines and inlined calls of DWARF" each -qj1 --inline "$work/dwarf.data" -o x.ftf
tap_check "compressed records" each -qj1 $symfs "$work/sample/compressed" -o x.ftf
tap_check "a directory of recordings" each -qj1 $symfs "$work/sample/fred.data" -o x.ftf
if [ "$LONG" ]; then
	commands ", with DWARF" "$work/dwarf.data" main
	commands ", of the kernel" "$work/sample/kernel.data" '*'
fi
tap_done
