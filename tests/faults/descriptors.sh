#!/bin/sh
# SPDX-License-Identifier: MIT
# A lack of descriptors or processes, at each call that needs one (shim.c), and by `ulimit -n`.
# Whatever fails, the inputs and standard input, which is open for writing, keep their content.
# The outputs are those of the undisturbed run, or the status is 1, with one line that says why.
# LONG=1 takes each call of each command, and each number of descriptors.
. "$top_srcdir/tests/support/tap.sh"
[ "$P2F_SANITIZED" != yes ] || tap_skip_all "sanitizers open files of their own"
built=$(cd "$top_builddir" && pwd)
program=$built/ptrace2ftf shim=$built/tests/faults/shim.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir kept in out
"$built/tests/support/make-sample" kept
cp kept/perf.data kept/other.data
echo PRECIOUS >kept/stdin

# Standard input is a file open for reading and writing: the recording itself, or an unrelated one.
run() { # STDIN COMMAND...: sets $status
	stdin=$1
	shift
	rm -rf in out
	cp -R kept in
	mkdir out
	timeout -s KILL 100 "$@" 0<>"in/$stdin" >out/printed 2>messages
	status=$?
	# Times, memory and the state of the sandbox differ between runs.
	[ ! -e out/x.json ] || sed -i -E '/"(seconds|peak_memory_bytes|files|system_calls|reason)": /d' out/x.json
}
injected() { # FAULT STDIN WORDS...
	fault=$1 file=$2
	shift 2
	: >count
	run "$file" env LD_PRELOAD="$shim" FAULT="$fault" FAULT_COUNT=count "$program" "$@"
}
# Check a run: inputs are unchanged; outputs equal those of the good run, or the run failed with a
# reason.
holds() { # WHAT GOOD-STATUS
	diff -r kept in >differences 2>&1 || { echo "$1: an input has changed"; cat differences; return 1; }
	if [ $status -eq "$2" ]; then
		diff -r good out && return 0
		echo "$1: status $status with another output"
	elif [ $status -eq 1 ]; then
		# The reports of a failed run may differ.
		for output in $(ls -A out | grep -vE '^(printed|x\.json|index\..*)$'); do
			cmp "out/$output" "good/$output" || { echo "$1: status 1 leaves another output"; return 1; }
		done
		[ "$(grep -c '^ptrace2ftf: ' messages)" -ge 1 ] && return 0
		echo "$1: no reason given"
	else
		echo "$1: status $status"
	fi
	cat messages
	return 1
}
good_run() { # STDIN WORDS...: sets $good
	injected none:0 "$@"
	good=$status
	[ $good -eq 0 ] || [ $good -eq 2 ] || { cat messages; return 1; }
	rm -rf good
	cp -R out good
}
# Let each call of a kind fail in turn, then all calls after the Nth.
each() { # KIND STDIN WORDS...
	kind=$1
	shift
	injected "$kind:0" "$@"
	total=$(sort -n count | tail -n 1)
	for number in $(seq $first $step "$total") 1+ $((total / 2 + 1))+; do
		injected "$kind:$number" "$@"
		holds "$kind:$number" $good || return 1
		echo "$kind" >>faults
	done
}
any_call() { # STDIN WORDS...
	good_run "$@" || return 1
	for kind in recvmsg open memfd dup fork pipe; do
		each $kind "$@" || return 1
	done
	# Another process makes and sends the files, and its calls are not counted.
	for number in 1 2 3 1+; do
		injected sendmsg:$number "$@"
		holds sendmsg:$number $good || return 1
	done
}
# With too few, the dynamic linker cannot load the libraries: status 127.
any_number() { # STDIN WORDS...
	good_run "$@" || return 1
	file=$1
	shift
	for count in $(seq $((first + 2)) $step 40); do
		run "$file" prlimit --nofile="$count" "$program" "$@"
		[ $status -eq 127 ] || holds "$count descriptors" $good || return 1
		echo $status >>statuses
	done
}

symfs=--symfs=in
# The first command has every sixth fault, each of the others every 24th, by turns.
conversion() { # WHAT FUNCTION STDIN WORDS...
	tap_check "$@"
	[ "$LONG" ] || step=24 first=$((first % 24 + 1))
}
conversions() { # FUNCTION WHAT
	step=6 first=1
	[ -z "$LONG" ] || step=1
	conversion "$2" "$1" stdin -q $symfs in/perf.data -o out/x.ftf
	conversion "$2, compressed" "$1" stdin -q $symfs in/perf.data -o out/x.ftf.gz
	conversion "$2, with --json" "$1" stdin -q $symfs in/perf.data -o out/x.ftf --json=out/x.json
	conversion "$2, with --fit" "$1" stdin -q $symfs --fit=4 in/perf.data -o out/x.ftf
	conversion "$2, in parts" "$1" stdin -q $symfs --split=3 in/perf.data -o out/x.ftf
	conversion "$2, as a page" "$1" stdin -q $symfs in/perf.data -o out/x.html
	conversion "$2, for speedscope" "$1" stdin -q $symfs in/perf.data -o out/x.speedscope.json
	conversion "$2, of standard input" "$1" perf.data -q $symfs - -o out/x.ftf
	conversion "$2, of a batch" "$1" stdin -q $symfs in/perf.data in/other.data -o out/
	conversion "$2, of a comparison" "$1" stdin diff -q $symfs --format=folded in/perf.data in/other.data
	conversion "$2, of the slowest calls" "$1" stdin -q $symfs --slowest=2 --symbol=leaf -o out/ in/perf.data
}
conversions any_call "any call may fail"
command -v prlimit >/dev/null && conversions any_number "there may be any number of descriptors"
# A file that is opened would get the stream's number, and messages would be written to it.
closed_streams() {
	for stream in 0 1 2; do
		run stdin sh -c "exec $stream<&-"' "$@"' sh env LD_PRELOAD="$shim" FAULT=open:1 \
			"$program" $symfs in/perf.data -o out/x.ftf
		[ $status -eq 1 ] && diff -r kept in && [ "$(ls -A out)" = printed ] || return 1
		[ $stream -eq 2 ] || grep -q 'cannot open /dev/null: ' messages || return 1
	done
}
tap_check "a standard stream that is closed, and /dev/null that cannot be opened, are an error" closed_streams
echo "# $(grep -c . faults) faults injected"
tap_done
