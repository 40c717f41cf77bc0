#!/bin/sh
# SPDX-License-Identifier: MIT
# The output is the same for any number of threads: recordings made by ptsim and
# those of ../shared, cut at nearly every PSB and as they are.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
[ -x "$ptsim" ] || tap_skip_all "ptsim is not built: libzydis-dev is not installed"
program=$top_builddir/ptrace2ftf
programs=$top_builddir/tests/programs
static=$programs/static
recordings=$top_srcdir/../shared/recordings
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

convert() { # THREADS BYTES NAME OPTIONS... FILE: into $work/NAME.ftf, and what is said
	threads=$1 bytes=$2 name=$3
	shift 3
	if [ "$bytes" = whole ]; then
		"$program" -j "$threads" $args "$@" -o "$work/$name.ftf" 2>"$work/$name.text"
	else
		PTRACE2FTF_SEGMENT=$bytes "$segments" -j "$threads" $args "$@" \
			-o "$work/$name.ftf" 2>"$work/$name.text"
	fi
	status=$?
	sed -i 's/peak memory [^;]*//; s/[^ ]*ftf at/it at/' "$work/$name.text"
	[ $status -eq 0 ] || [ $status -eq 2 ] || { cat "$work/$name.text"; return 1; }
}

keep() { # NAME NAME OPTIONS... FILE: keep the recording and both conversions, which differ
	one=$work/$1 many=$work/$2
	shift $(($# - 1))
	tap_keep "$1" "$one".* "$many".*
}

with_any() { # THREADS OPTIONS... FILE
	all=$1
	shift
	convert 1 "$bytes" one "$@" || return 1
	for threads in $all; do
		convert $threads "$bytes" many "$@" || return 1
		cmp "$work/one.ftf" "$work/many.ftf" && cmp "$work/one.text" "$work/many.text" ||
			{ echo "with $threads threads, cut every $bytes bytes, $args"; keep one many "$@"; return 1; }
	done
}

many="2 3 8"
is_the_same() { # BYTES... -- OPTIONS... FILE
	sizes=
	while [ "$1" != -- ]; do
		sizes="$sizes $1"
		shift
	done
	shift
	rm -f "$work/first.ftf"
	for bytes in $sizes; do
		args=--args=full
		with_any "$many" "$@" || return 1
		args= # without details calls are followed ahead
		with_any 3 "$@" || return 1
		[ -f "$work/first.ftf" ] || mv "$work/one.ftf" "$work/first.ftf"
		cmp "$work/first.ftf" "$work/many.ftf" ||
			{ echo "cut every $bytes bytes"; keep first many "$@"; return 1; }
	done
}

record() { # OPTIONS... -- PROGRAM
	"$ptsim" record -o "$work/perf.data" "$@" >/dev/null 2>"$work/messages"
}

check() { # TITLE BYTES OPTIONS... -- PROGRAM
	title=$1 bytes=$2
	shift 2
	tap_check "$title: is recorded" record "$@"
	tap_check "$title: the same with 1, 2, 3 and 8 threads" is_the_same $bytes -- "$work/perf.data"
	[ "$bytes" != 300 ] ||
		tap_check "$title: libipt finds the same branches (--verify)" \
			libipt_agrees --verify "$work/perf.data"
}

# The threads look up inlined calls, and with them the names of files, in any order.
lines_are_the_same() {
	for threads in 1 2 3 3 8 8; do
		PTRACE2FTF_SEGMENT=1000 "$segments" -q -j $threads --inline --format=callgrind "$work/perf.data" \
			>"$work/lines.$threads"
		cmp "$work/lines.1" "$work/lines.$threads" || return 1
	done
}

# Overflows and full buffers are gaps, so the status may be 2.
libipt_agrees() { # OPTIONS... FILE
	"$program" --format=none "$@" 2>"$work/messages"
	status=$?
	[ $status -eq 0 ] || [ $status -eq 2 ] || { cat "$work/messages"; return 1; }
	grep -qE '[1-9][0-9]* parts of the trace also decoded by libipt: 0 differ' "$work/messages" ||
		{ cat "$work/messages"; return 1; }
}

if record -- "$static/tail"; then
	check "threads on 2 CPUs" 300 --cpus=2 --quantum=2000 --psb-period=512 -- "$static/threads"
	check "threads on 2 CPUs with CYC" 300 --cpus=2 --quantum=2000 --cyc --psb-period=512 -- \
		"$static/threads"
	check "signals" 300 --psb-period=512 -- "$static/signals"
	check "fork and exec" 300 --cpus=2 --psb-period=512 -- "$static/family"
	tap_check "fork and exec: the same costs of inlined calls' lines" lines_are_the_same
	check "overflows" 300 --psb-period=512 --overflows=3000 -- "$static/recursion"
	check "a full buffer" 300 --psb-period=512 --lose=5000 -- "$static/indirect"
	check "snapshot" 300 --psb-period=512 --snapshot=8192 -- "$static/recursion"
	# No thread's begin is in the trace, so slices are passed on in parts, in between those of other threads.
	check "snapshot of threads on 3 CPUs" 1000 --psb-period=1024 --snapshot=4096 --cpus=3 -- "$static/threads" 150
	check "a buffer per thread" 300 --psb-period=512 --per-thread -- "$static/threads"
	check "no time stamps" 300 --psb-period=512 --no-tsc -- "$static/tail"
	check "500 kB, CYC, wherever it is cut" "whole 20000 300" --cyc --per-thread --repeat=500000 -- "$static/indirect"
else
	tap_skip "ptsim's recordings" "programs cannot be traced here"
fi

peak() { # BYTES: sets $peak (MiB) of a conversion by two threads
	record --per-thread --repeat="$1" -- "$static/indirect" || return 1
	"$program" -j 2 "$work/perf.data" -o "$work/one.ftf" 2>"$work/one.text"
	peak=$(sed -n 's/.*peak memory \([0-9]*\).*/\1/p' "$work/one.text")
}

# Of four times the trace, slices that are kept until the end would take 25 MiB more.
keeps_no_slices() {
	peak 2000000 && small=$peak && peak 8000000 && [ "$peak" -lt $((small + 12)) ] ||
		{ echo "$small MiB, $peak MiB"; return 1; }
}
if [ "$P2F_SANITIZED" = yes ] || ! record -- "$static/tail"; then
	tap_skip "memory" "sanitized, or programs cannot be traced here"
else
	tap_check "a program's slices are not kept until its end" keeps_no_slices
fi

real() { # NAME SYMFS BYTES...
	name=$1 symfs=$2
	shift 2
	tap_check "$name: the same with 1, 2 and 3 threads" \
		is_the_same "$@" -- --symfs="$recordings/$symfs" "$recordings/$name/perf.data"
}

many="2 3"
if [ -d "$recordings" ]; then
	real rr-alderlake rr-alderlake/symfs whole 10000
	real lldb-multicore lldb-multicore/symfs 300 whole
	real quipper-4.14 truth/symfs 1000 whole
	real truth/pipeline-2cpu truth/symfs 300 whole
	real truth/big-sqlite truth/symfs whole 4096
	tap_check "truth/except: the same with inlined calls, which several threads look up" \
		is_the_same 300 -- --inline --symfs="$recordings/truth/symfs" "$recordings/truth/except/perf.data"
	for name in rr-alderlake lldb-multicore dynamorio-cyc; do
		tap_check "$name: libipt finds the same branches (--verify=20)" \
			libipt_agrees --verify=20 --symfs="$recordings/$name/symfs" "$recordings/$name/perf.data"
	done
else
	tap_skip "recordings of ../shared" "not there"
fi

says_what_is_wrong() {
	for count in 0 -1 x 1x 99999 ''; do
		"$program" -j "$count" "$work/perf.data" >"$work/out" 2>&1
		[ $? -eq 64 ] && grep -q 'threads' "$work/out" || { echo "'$count'"; cat "$work/out"; return 1; }
	done
}
tap_check "a number of threads that is none is wrong usage" says_what_is_wrong

# The limit on processes counts threads, too, and does not bind root. Other users may have no
# access to the build, so they run a copy.
without_threads() { # COMMAND...: runs it where no thread can be started
	chmod 644 "$work/perf.data"
	setpriv --reuid=61234 --clear-groups prlimit --nproc=0 "$@" --format=none "$work/perf.data" \
		>"$work/out" 2>&1
	grep -q 'cannot start a thread' "$work/out"
}

can_limit_threads() {
	command -v prlimit >/dev/null && [ "$(id -u)" -eq 0 ] && chmod 755 "$work" &&
		cp "$program" "$work/program" && cp "$segments" "$work/segments" &&
		setpriv --reuid=61234 --clear-groups "$work/program" --version >/dev/null 2>&1
}

decodes_with_one() {
	PTRACE2FTF_SEGMENT=1000 without_threads "$work/segments" -j 2 || { cat "$work/out"; return 1; }
}

# On one CPU no thread is started, so the limit is not met.
starts_no_more_than_there_are_cpus() {
	record --per-thread --repeat=2000000 -- "$static/indirect" || return 0
	cpu=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
	without_threads "$work/program" -j 8 &&
		! without_threads taskset -c "$cpu" "$work/program" -j 8 || { cat "$work/out"; return 1; }
}

one_title="where no thread can be started one CPU decodes, with a warning"
cpus_title="no more threads are started than there are CPUs to use"
if ! can_limit_threads; then
	tap_skip "$one_title" "threads cannot be limited here"
	tap_skip "$cpus_title" "threads cannot be limited here"
elif [ -n "${CHECK_THREADS-}" ] || [ "$(nproc)" -eq 1 ]; then
	tap_check "$one_title" decodes_with_one
	tap_skip "$cpus_title" "one CPU, or check-threads lifts that"
else
	tap_check "$one_title" decodes_with_one
	tap_check "$cpus_title" starts_no_more_than_there_are_cpus
fi

ends_when_the_output_is_full() {
	[ -c /dev/full ] || return 0
	timeout 600 "$program" -j 3 "$work/perf.data" -o /dev/full >"$work/out" 2>&1
	[ $? -eq 1 ] && grep -q 'cannot write' "$work/out" || { cat "$work/out"; return 1; }
}
tap_check "a full output ends all threads" ends_when_the_output_is_full
tap_done
