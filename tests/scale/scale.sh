#!/bin/sh
# SPDX-License-Identifier: MIT
# Large inputs of each kind (make_scale.c): the sample's slices are found, in time and
# memory that grow at most in proportion to the input. LONG=1 takes the larger inputs.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/sample"
"$top_builddir/tests/support/make-sample" "$work/sample"
"$program" -q --symfs="$work/sample" --format=slices "$work/sample/perf.data" | cut -d' ' -f1-5 >"$work/wanted"
# Sanitizers are slow and take memory of their own.
[ "$P2F_SANITIZED" = yes ] && slow=10 || slow=1

# The sample's slices without times, as losses may end open slices. They are ambiguous if
# a thread is on many CPUs at once, as no thread is.
has_slices() {
	grep '^1234/1234 ' "$work/slices" | awk '$5 !~ /^\[/ { print $2, $5 }' | head -9 >"$work/mine"
	awk '$5 !~ /^\[/ { print $2, $5 }' "$work/wanted" | cmp -s - "$work/mine"
}

# Seconds of CPU time, as the machine may be busy.
limited() { # SECONDS COMMAND...
	seconds=$(($1 * slow))
	shift
	(ulimit -t $seconds; exec timeout -s KILL $((40 * seconds)) "$@")
}
# The promised limit: 64 MiB and four times the input.
within_memory() { # BYTES-OF-INPUT
	[ $slow -gt 1 ] || [ "$memory" -le $((64 * 1024 + 4 * $1 / 1024)) ] || { echo "too much memory"; return 1; }
}
one= # or -j1
run() { # SECONDS FORMAT OUTPUT: sets $status, $cpu, $memory and $faults
	limited "$1" "$top_builddir/tests/bench/cpu-time" "$work/usage" "$program" \
		--symfs="$work/sample" $one --format="$2" -o "$3" "$work/input" 2>"$work/messages"
	status=$?
	read -r cpu _ memory faults <"$work/usage"
}
holds() { # KIND COUNT SECONDS
	"$top_builddir/tests/scale/make-scale" "$1" "$2" "$work/input" || return 1
	size=$(stat -c %s "$work/input")
	for format in ftf slices; do
		run "$3" $format "$work/$format"
		echo "# $1 $2, $format: $((size / 1024)) KiB, status $status, $cpu s of CPU, $memory KiB of memory" |
			tee -a "$work/figures"
		case $1 in
		nothing) [ $status -eq 1 ] && continue ;;
		*) [ $status -eq 0 ] || [ $status -eq 2 ] || { cat "$work/messages"; return 1; } ;;
		esac
		case $1 in
		# A hole of a file has no pages.
		aux) [ $slow -gt 1 ] || [ "$memory" -le $((32 * 1024)) ] || { echo "too much memory"; return 1; } ;;
		*) within_memory "$size" || return 1 ;;
		esac
	done
	case $1 in
	nothing) return 0 ;;
	cpus | jumps | returns | losses | buffers) [ -s "$work/slices" ]; return ;;
	esac
	has_slices || { head "$work/slices"; return 1; }
}
# Perfetto's times are signed.
ends_in_time() {
	awk 'length($4) > 18 { exit 1 }' "$work/slices" &&
		grep -q "left out: impossible time .*($((2 * count)) times)" "$work/messages"
}
much() { # KIND COUNT-LONG COUNT-SHORT
	count=$3
	[ -z "$LONG" ] || count=$2
	tap_check "$count $1" holds "$1" "$count" 60
}
much threads 100000 20000
much mappings 1000000 100000
much remappings 1000000 50000
much dsos 100000 20000
much families 64000 2000
much circles 300000 20000
much execs 1000000 20000
much names 1000000 20000
much pokes 1000000 20000
much ksymbols 1000000 20000
much cpus 4096 512
much switches 1000000 100000
much losses 1000000 10000
much buffers 100000 2000
much pieces 200000 10000
"$top_builddir/tests/scale/make-scale" code 75 "$work/sample/code"
much jumps 100 10
much returns 3000000 1000000
much late 10000 1000
tap_check "records at times beyond 2^63 ns are left out and counted" ends_in_time
much nothing 0 0
much aux 17179869184 67108864

# A trace.json near the limit of its size.
bundle() { # ITEMS: more members of a process
	head -c 80 /dev/zero >"$work/zeros"
	printf '{"type": "intel-pt", "processes": [{"pid": 1, "threads": [{"tid": 1, "iptTrace": "zeros"}], %s]}]}\n' \
		"$1" >"$work/input"
	run 60 none "$work/none"
	size=$(stat -c %s "$work/input")
	echo "# trace.json of $size bytes: $memory KiB of memory"
	[ $status -eq 0 ] || [ $status -eq 2 ] || { cat "$work/messages"; return 1; }
	within_memory "$size"
}
tap_check "trace.json with modules without files" bundle \
	"\"modules\": [$(seq -s, -f '{"systemPath": "/%g", "loadAddress": 1}' 18000)"
tap_check "trace.json with empty values" bundle "\"more\": [0$(yes ',{}' | head -n 250000 | tr -d '\n')"

# In each process, 184 bytes of trace open 280,000 calls; all processes are open at once.
no_calls_without_end() {
	count=9
	[ -z "$LONG" ] || count=100
	"$top_builddir/tests/scale/make-scale" dive 75 "$work/sample/code"
	"$top_builddir/tests/scale/make-scale" dives $count "$work/input" || return 1
	run 60 ftf "$work/ftf"
	echo "# dives $count: $cpu s of CPU, $memory KiB of memory" | tee -a "$work/figures"
	[ $status -eq 2 ] && grep -q 'calls are open at once' "$work/messages" || return 1
	[ $slow -gt 1 ] || [ "$memory" -le $((384 * 1024)) ]
}
tap_check "calls that are open at once are held to what memory has room for" no_calls_without_end

# Pages are dropped by the bytes of the file, not by the piece: seven system calls for each were most of the time.
few_calls_for_pieces() {
	count=10000
	[ -z "$LONG" ] || count=80000
	"$top_builddir/tests/scale/make-scale" pieces $count "$work/input" || return 1
	limited 60 strace -o "$work/calls" "$program" -j1 -q --symfs="$work/sample" --format=none "$work/input" 2>/dev/null
	calls=$(wc -l <"$work/calls")
	echo "# pieces $count, -j1: $calls system calls" | tee -a "$work/figures"
	[ $calls -gt 50 ] && [ $calls -lt $((500 + count / 50)) ]
}
# Events that wait for the other thread are in memory that is used again: in arrays, 21,000,000
# events took 8,000 page faults, and one thread 640. Load does not change the number.
few_faults() {
	"$top_builddir/tests/scale/make-scale" loop 1 "$work/sample/code"
	"$top_builddir/tests/scale/make-scale" loops 600 "$work/input" || return 1
	one=-j1
	run 60 none "$work/none"
	alone=$faults
	one=-j2
	run 60 none "$work/none"
	one=
	echo "# loops 600: $alone page faults with one thread, $faults with two"
	# The mapping is larger than the program: a warning.
	[ $status -eq 2 ] && [ "$alone" -gt 100 ] && [ "$faults" -le $((alone * 13 / 10)) ]
}
name="a second thread takes few page faults"
if [ $slow -gt 1 ]; then
	tap_skip "$name" "sanitizers have memory of their own"
elif ! grep -qs '\[\(always\|madvise\)\]' /sys/kernel/mm/transparent_hugepage/enabled; then
	tap_skip "$name" "no huge pages"
else
	tap_check "$name" few_faults
fi

# Each process has its report in a file in memory, which was written and read in bytes.
few_calls_for_reports() {
	limited 60 strace -f -e trace=read,write -o "$work/calls" "$program" diff --symfs="$work/sample" \
		"$work/sample/perf.data" "$work/sample/perf.data" >"$work/diff" || return 1
	calls=$(grep -c '(' "$work/calls")
	echo "# diff: $calls calls of read() and write()" | tee -a "$work/figures"
	[ -s "$work/diff" ] && [ $calls -gt 5 ] && [ $calls -lt 300 ]
}
few_calls() { # NAME FUNCTION
	if [ $slow -gt 1 ]; then
		tap_skip "$1" "sanitizers make calls of their own"
	elif ! strace -o /dev/null true 2>/dev/null; then
		tap_skip "$1" "strace cannot trace here"
	else
		tap_check "$1" "$2"
	fi
}
few_calls "many small pieces take few system calls" few_calls_for_pieces
few_calls "reports of processes take few system calls" few_calls_for_reports

# Each call of a stack is kept with the costs of all calls in it: apart, these took 12 times as many
# page faults for a stack four times as deep, and 15 GiB with 60 such stacks.
kept_in_proportion() {
	for depth in 1000 4000; do
		awk -v n=$depth 'BEGIN {
			for (round = 0; round < 2; round++) {
				for (i = 0; i < n; i++)
					printf "a 7/7 1.%09d: call %x f%d+0x1 (/a) => %x f%d+0x0 (/a)\n", t++, 4097 + i * 16, i, 4112 + i * 16, i + 1
				for (i = n; i > 0; i--)
					printf "a 7/7 1.%09d: return %x f%d+0x8 (/a) => %x f%d+0x6 (/a)\n", t++, 4104 + i * 16, i, 4086 + i * 16, i - 1
			}
		}' >"$work/stacks"
		before=$faults
		limited 60 "$top_builddir/tests/bench/cpu-time" "$work/usage" "$program" why -q --json \
			--input=perf-script "$work/stacks" >"$work/why" || return 1
		read -r cpu _ memory faults <"$work/usage"
		echo "# why of stacks $depth deep: $cpu s of CPU, $memory KiB of memory, $faults page faults" | tee -a "$work/figures"
	done
	[ -s "$work/why" ] && [ "$before" -gt 500 ] && [ "$faults" -le $((5 * before)) ]
}
if [ $slow -gt 1 ]; then
	tap_skip "why takes memory in proportion to the depth of stacks" "sanitizers have memory of their own"
else
	tap_check "why takes memory in proportion to the depth of stacks" kept_in_proportion
fi

# Slices are not kept in memory, whatever is made of them, but for those of one timestamp, of which
# some hundred thousand wait for the next one: here all have the same.  Kept, each of the 550,000
# would take 64 bytes or more, 34 MiB, beside 15 MiB that an .ftf takes.  One thread: the queues of
# several take more on a busy machine.
no_slices_in_memory() {
	one=-j1
	"$top_builddir/tests/scale/make-scale" pieces 50000 "$work/input" || return 1
	run 60 none "$work/none"
	least=$memory
	for format in $formats; do
		run 60 "$format" "$(output_of "$format")"
		echo "# 50000 pieces, $format: $memory KiB of memory"
		[ -f "$(output_of "$format")" ] && [ $status -eq 2 ] || { cat "$work/messages"; return 1; }
		most=38
		case $format in
		lines | insns) most=50 ;; # a log of branches has 8 MiB, and rows are names
		esac
		[ $slow -gt 1 ] || [ "$memory" -le $((least + most * 1024)) ] || return 1
	done
}
output_of() { # FORMAT: tables have folders beside the output
	mkdir -p "$work/tables" && [ "$1" = parquet ] && echo "$work/tables/output" || echo "$work/output"
}
# All but those that this build cannot write, or that show no slices.
formats=
for format in $("$program" --format=? x 2>&1 | sed 's/.*choose from //; s/,//g'); do
	case $format in
	none | events | memtrace) ;;
	*) "$program" -q --format="$format" "$work/sample/perf.data" -o "$(output_of "$format")" 2>&1 |
		grep -q 'this build is without' || formats="$formats $format" ;;
	esac
done
tap_check "no format keeps its slices in memory" no_slices_in_memory

# A row for each of 1,100,000 branches, and what joins calls to them.
no_branches_in_memory() {
	one="-j1 --args=full"
	run 60 sqlite "$work/output"
	echo "# 50000 pieces, sqlite --args=full: $memory KiB of memory"
	[ -s "$work/output" ] && within_memory "$(stat -c %s "$work/input")"
}
name="a database of branches is not built in memory"
case $formats in
*sqlite*) tap_check "$name" no_branches_in_memory ;;
*) tap_skip "$name" "this build is without libsqlite3" ;;
esac

# --fit stores the slices that stay, at most three times as many as may, of 64 bytes: the store does not grow with the trace.
stored_up_to_a_limit() {
	. "$top_srcdir/tests/support/costs.sh"
	one="-j1 --symfs=/ --fit=100000"
	for bytes in 2000000 8000000 ${LONG:+32000000}; do
		ptsim --apart --cyc --interrupts=0 --repeat=$bytes -- "$top_builddir/tests/programs/static/recursion" &&
			run 60 ftf "$work/ftf" && [ -s "$work/ftf" ] || return 1
		calls=$(costs_calls "$program" -q $one "$work/input" -o "$work/ftf")
		temporary=${calls#* }
		echo "# --fit of $bytes bytes: $memory KiB of memory, $temporary bytes of temporary files"
		[ $bytes -gt 2000000 ] || least=$memory
		[ "$temporary" -gt 0 ] && [ "$temporary" -le 20000000 ] || return 1
		[ $slow -gt 1 ] || [ "$memory" -le $((least + 2 * 1024)) ] || return 1
	done
}

# The trace begins inside of calls, which are found when they return, and begin before all others.
# Kept, their slices take 11 MB.  The peak differs by 1 MiB between runs.
begun_before() {
	one="-j1 --symfs=/ --time=20%, --args=none --no-samples"
	ptsim -- "$top_builddir/tests/programs/static/except" && run 60 none "$work/none" || return 1
	least=$memory
	run 60 slices "$work/slices"
	sed -n '/self  share/,$p' "$work/messages" >"$work/functions"
	run 60 ftf "$work/ftf"
	echo "# begun before the trace: $memory KiB of memory, $least without slices"
	[ $slow -gt 1 ] || [ "$memory" -le $((least + 7 * 1024)) ] || return 1
	"$top_builddir/ftfdump" --slices "$work/ftf" | cmp - "$work/slices" && [ -s "$work/slices" ] &&
		sed -n '/self  share/,$p' "$work/messages" | diff "$work/functions" - && [ -s "$work/functions" ] &&
		twice_instead_of_kept
}
# Other outputs need the callers first: the trace is decoded twice.
twice_instead_of_kept() {
	plain=$faults
	run 60 functions "$work/table"
	echo "# table of functions: $memory KiB of memory"
	[ $slow -gt 1 ] || [ "$memory" -le $((least + 8 * 1024)) ] || return 1
	one="$one --depth=5"
	run 60 ftf "$work/ftf"
	echo "# five levels: $memory KiB of memory, $faults page faults instead of $plain"
	# The file was made anew after more callers were found than announced. A pipe gets two passes at once.
	[ -s "$work/ftf" ] && "$program" -q $one "$work/input" -f ftf -o - | cmp - "$work/ftf" || return 1
	[ $slow -gt 1 ] || { [ "$memory" -le $((least + 7 * 1024)) ] && [ "$faults" -le $((plain * 16 / 10)) ]; }
}
ptsim() { # [OPTIONS] -- PROGRAM
	"$top_builddir/tests/ptsim/ptsim" record -o "$work/input" --per-thread "$@" >"$work/messages" 2>&1
}
name="--fit stores slices up to its limit"
if ! ptsim -- true; then
	tap_skip "$name" "programs cannot be traced here: $(cat "$work/messages")"
elif ! strace -o /dev/null true 2>/dev/null; then
	tap_skip "$name" "strace does not run here"
else
	tap_check "$name" stored_up_to_a_limit
fi
name="slices of calls that began before the trace are not kept in memory"
if ptsim -- true; then
	tap_check "$name" begun_before
else
	tap_skip "$name" "programs cannot be traced here: $(cat "$work/messages")"
fi
one=

# Each part is a new file, which is renamed.
many_parts() {
	"$top_builddir/tests/sweep/make-hostile" parts "$work/parts" && mkdir "$work/split" || return 1
	limited 12 "$program" -q --symfs="$work/parts" --split=10ns "$work/parts/perf.data" -o "$work/split/x.ftf" || return 1
	[ "$(ls -U "$work/split" | wc -l)" -eq 20000 ]
}
tap_check "20000 parts take time by their number" many_parts

# More buffers than are decoded at once: their events wait in a file, or in memory if there is none.
same_in_groups() { # KIND COUNT FORMAT
	"$top_builddir/tests/scale/make-scale" "$1" "$2" "$work/input" || return 1
	for format in $3 ${LONG:+slices branches ftf}; do
		run 60 $format "$work/groups"
		(TMPDIR=$work/none; export TMPDIR; run 60 $format "$work/memory")
		cmp "$work/groups" "$work/memory" || return 1
	done
	[ -s "$work/memory" ]
}
tap_check "buffers of one CPU in groups give the same without a file" same_in_groups buffers 7000 slices
tap_check "buffers of many CPUs in groups give the same without a file" same_in_groups cpus 7000 branches

symbols() {
	count=200000
	[ -z "$LONG" ] || count=2000000
	"$top_builddir/tests/scale/make-scale" symbols $count "$work/sample/sample"
	cp "$work/sample/perf.data" "$work/input"
	size=$(stat -c %s "$work/sample/sample")
	run 60 slices "$work/slices"
	echo "# symbols $count: $((size / 1024)) KiB, $cpu s of CPU, $memory KiB of memory" | tee -a "$work/figures"
	[ $status -eq 0 ] && within_memory $((size + $(stat -c %s "$work/input"))) && has_slices
}
tap_check "many symbols in one file" symbols
cat "$work/figures"
tap_done
