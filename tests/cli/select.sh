#!/bin/sh
# SPDX-License-Identifier: MIT
# A part of a recording, selected by branches: --time, --pid, --tid, --comm, --cpu. It
# must have exactly the lines of the whole list of branches (which other tests compare
# with the truth) that awk selects by their columns: cpu, pid/tid, time.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs/static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

"$ptsim" record --cpus=2 --seed=3 --psb-period=512 -o cpus -- "$programs/threads" >/dev/null 2>messages ||
	tap_skip_all "programs cannot be traced here: $(cat messages)"
"$ptsim" record --per-thread --cyc --seed=3 --psb-period=512 -o threads -- "$programs/threads" >/dev/null 2>&1
for file in cpus threads; do
	"$program" -q --format=branches $file >$file.all
	# "ns cpu pid tid" in front of each line: perf prints "comm cpu? ..." in fixed columns.
	sed -n 's/^ *\([-0-9]*\)\/\([-0-9]*\) .*[^0-9]\([0-9]*\)\.\([0-9]\{9\}\): .*/\3\4 \1 \2/p' $file.all >$file.keys
	paste -d ' ' $file.keys $file.all >$file.keyed
done

# Times as perf prints them; awk's numbers hold them: ptsim's clock began lately.
first=$(sort -n cpus.keys | head -n 1 | cut -d ' ' -f 1)
last=$(sort -n cpus.keys | tail -n 1 | cut -d ' ' -f 1)

seconds() { # NS
	echo "$1" | sed 's/\(.........\)$/.\1/'
}

branches() { # FILE CONDITION OPTIONS...: the branches are those of the condition, and some are not
	file=$1 condition=$2
	shift 2
	"$program" --format=branches "$@" $file >ours 2>messages || { cat messages; return 1; }
	awk "$condition" $file.keyed | cut -d ' ' -f 4- >expected
	cmp expected ours && [ -s ours ] && [ "$(wc -l <ours)" -lt "$(wc -l <$file.all)" ]
}

# The time of a branch: in the middle of the recording all threads may wait.
middle_of() { # FILE
	sort -n $1.keys | cut -d ' ' -f 1 | awk '{ time[NR] = $1 } END { print time[int(NR / 2)] }'
}
quarter=$(((last - first) / 4))
for file in threads cpus; do
	middle=$(middle_of $file)
	# seeds.md: --time chooses
	tap_check "$file: --time=A,B is what happened then" branches $file \
		"\$1 >= $middle && \$1 <= $middle + 9000" "--time=$(seconds $middle),$(seconds $((middle + 9000)))"
	tap_check "$file: so it is with A in nanoseconds, as JSON has it, and B with s" branches $file \
		"\$1 >= $middle && \$1 <= $middle + 9000" "--time=${middle}ns,$(seconds $((middle + 9000)))s"
	tap_check "$file: --time=A, goes to the end" branches $file "\$1 >= $middle" "--time=$(seconds $middle),"
	tap_check "$file: --time=,+B counts from the start" branches $file "\$1 <= $first + $quarter" \
		"--time=,+${quarter}ns"
done

# Only a few PSBs around a microsecond in the middle are decoded.
seeks() {
	"$program" --format=none "--time=$(seconds $middle),$(seconds $((middle + 1000)))" cpus >output 2>messages
	set -- $(sed -n 's/.*, \([0-9]*\) bytes of trace.*, \([0-9]*\) bytes excluded by the selection/\1 \2/p' messages)
	cat messages
	[ "$1" -lt "$2" ]
}
tap_check "--time reads little outside of that time" seeks

ends() { # the last tenth by percentage, and the same by the time before the end: to one packet
	"$program" -q --format=branches --time=90%, cpus >percent
	"$program" -q --format=branches "--time=-$(((last - first) / 10))ns," cpus >before
	wc -l percent before
	awk -v n="$(wc -l <percent)" -v m="$(wc -l <before)" 'BEGIN { exit !(n > 100 && n - m < 50 && m - n < 50) }' &&
		tail -n 1 before >ours && tail -n 1 cpus.all | cmp - ours
}
tap_check "percentages and times before the end find the end" ends

pid=$(cut -d ' ' -f 2 cpus.keys | sort -n | head -n 1)
tids=$(cut -d ' ' -f 3 cpus.keys | sort -n -u | sed -n '2p;3p' | paste -sd,)
low=${tids%,*} high=${tids#*,}
tap_check "--tid chooses threads" branches cpus "\$3 == $low || \$3 == $high" "--tid=$tids"
tap_check "--tid takes ranges and is repeated" branches cpus "\$3 == $low || \$3 == $high" --tid=0-1 "--tid=$low-$high"
undecoded() {
	tids_of=$(cut -d ' ' -f 3 threads.keys | sort -n -u | sed -n 2p)
	branches threads "\$3 == $tids_of" "--tid=$tids_of" && grep -q "excluded by the selection" messages
}
tap_check "buffers of other threads are not decoded" undecoded
all_of_process() {
	"$program" -q --format=branches "--pid=$pid" cpus | cmp - cpus.all
}
# seeds.md: -pid takes several processes
tap_check "--pid chooses a process" all_of_process
by_name() {
	"$program" -q --format=branches --comm='thr*' cpus | cmp - cpus.all || return 1
	"$program" --format=branches --comm='nobody' cpus >ours 2>messages
	[ $? -eq 2 ] && [ ! -s ours ] && grep -q "no recorded data matches --comm=nobody; recorded threads: " messages
}
tap_check "--comm chooses by name, and an empty choice is reported" by_name
lists_threads() { # those of the list of branches, all of one process
	"$program" --format=branches --tid=1 cpus >ours 2>messages
	[ $? -eq 2 ] && grep -q "no recorded data matches --tid=1; recorded threads: " messages || return 1
	for tid in $(cut -d ' ' -f 3 cpus.keys | sort -u); do
		grep -q "[ ,]$pid/$tid (" messages || { cat messages; return 1; }
	done
	"$program" --format=branches --cpu=77 cpus >ours 2>messages
	[ $? -eq 2 ] && grep -q "no recorded data matches --cpu=77; .ptrace2ftf list. shows the recorded CPUs" messages
}
tap_check "a thread that is not there is an occasion to list those that are" lists_threads

by_cpu() {
	"$program" --format=branches --cpu=0 cpus >zero 2>messages || return 1
	"$program" --format=branches --cpu=1 cpus >one 2>messages || return 1
	[ -s zero ] && [ -s one ] && sort zero one >ours && sort cpus.all | cmp - ours
}
tap_check "--cpu chooses CPUs, and all of them together are the whole" by_cpu
unknown_cpu() {
	"$program" --format=none --cpu=1 threads 2>messages
	[ $? -eq 2 ] && grep -q "buffer per thread" messages
}
tap_check "--cpu is refused a meaning where no CPU is known" unknown_cpu

outside() {
	"$program" -o out.ftf --time=1.5,2 cpus 2>messages
	[ $? -eq 1 ] && grep -q "trace is from $(seconds "$first") to " messages && [ ! -e out.ftf ]
}
tap_check "a time in which nothing was recorded is an error that names the trace's" outside
wrong() { # OPTION
	"$program" --format=none "$1" cpus 2>messages
	[ $? -eq 64 ]
}
for option in --time=5 --time=a, --time=101%, --pid=x --tid=-1 --cpu=3-1; do
	tap_check "$option is wrong usage" wrong "$option"
done
# A forked child begins with its parent's stack, whichever thread is shown. The first slice of a
# file has more arguments, so these are left out.
"$ptsim" record --cyc --cpus=2 --seed=3 -o forks -- "$programs/forks" >/dev/null 2>&1
"$ptsim" record --cyc --per-thread --seed=5 -o family -- "$programs/family" >/dev/null 2>&1
"$ptsim" record --cyc --cpus=2 --seed=5 -o execs -- "$programs/execs" >/dev/null 2>&1
as_whole() { # OPTION FIELDS...: each thread of the whole, and alone by the fields of its pid/tid
	option=$1
	shift
	for file in forks family execs; do
		"$program" -q --no-warn --args=none --format=slices $file >whole
		for thread in $(cut -d ' ' -f 1 whole | sort -u); do
			"$program" -q --no-warn --args=none --format=slices "$option=$(echo "$thread" | cut -d / -f "$1")" $file |
				awk -v thread="$thread" '$1 == thread' >alone
			awk -v thread="$thread" '$1 == thread' whole | cmp - alone || return 1
		done
	done
}
tap_check "--tid shows what the whole shows of the thread" as_whole --tid 2
tap_check "--pid shows what the whole shows of the process" as_whole --pid 1
generations() { # slices of a child that its parent and the parent's parent called
	"$program" -q --no-warn --args=none --format=slices forks >whole
	tid=$(awk '{ n[$1]++ } END { for (t in n) print n[t], t }' whole | sort -n | sed -n '1s/.*\///p')
	"$program" -q --no-warn --args=none --format=folded --tid="$tid" forks >alone
	grep -q '_start;.*main;' alone
}
tap_check "a child alone has its parent's callers" generations
gaps_elsewhere() { # of threads and times that are not chosen are not reported
	"$ptsim" record --cpus=2 --seed=3 --psb-period=512 --overflows=3000 -o damaged -- "$programs/threads" >/dev/null 2>&1
	"$program" -q --format=branches damaged | sed -n 's/^ instruction trace error.* time \([0-9]*\)\.\([0-9]*\) .* tid \([0-9]*\) .*/\1\2 \3/p' >errors
	tid=$(awk '{ n[$2]++ } END { for (t in n) print t }' errors | head -n 1)
	"$program" --format=none --tid="$tid" damaged 2>messages
	cat messages
	reported=$(sed -n 's/.*Overflow packet: \([0-9]*\).*/\1/p' messages)
	[ "$reported" -eq "$(grep -c " $tid\$" errors)" ] && [ "$reported" -lt "$(wc -l <errors)" ]
}
tap_check "gaps of what is not chosen are not reported" gaps_elsewhere
# The clock is the user's: perf's time 0 is 2026-11-29T12:00:00 less the middle of the trace.
wall_clock() {
	middle=$(middle_of threads)
	begin=$(date -u -d 2026-11-29T12:00:00 +%s)000000000
	branches threads "\$1 >= $middle && \$1 <= $middle + 9000" --clock-sync=real=$((middle - begin)) \
		--time=2026-11-29T12:00:00,2026-11-29T12:00:00.000009 || return 1
	"$program" -q --format=branches --time=2026-11-29T12:00:00, threads >out 2>messages
	[ $? -eq 1 ] && [ ! -s out ] && grep -q -- '--time: the wall clock is not known; give --clock-sync' messages
}
if date -u -d 2026-11-29T12:00:00 +%s >/dev/null 2>&1; then
	tap_check "--time takes times of the wall clock, if it is known" wall_clock
else
	tap_skip "--time takes times of the wall clock, if it is known" "date has no -d"
fi
untimed() {
	"$ptsim" record --no-tsc --no-mtc -o untimed -- "$programs/threads" >/dev/null 2>&1
	"$program" --format=none --time=+1us, untimed 2>messages
	[ $? -eq 1 ] && grep -q "no TSC packets" messages
}
tap_check "without times in the trace --time is an error" untimed
tap_done
