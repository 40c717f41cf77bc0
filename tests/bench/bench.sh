#!/bin/sh
# SPDX-License-Identifier: MIT
# Ratios of CPU time, and peak memory, on this machine in one run: medians of five
# (three where it takes long). What is compared runs by turns, the shorter three times
# for each time of the longer, as the machine's speed may change within a second.
# One thread, but where two are compared with one: there the time on the clock counts.
# Run by `make bench`.
# shellcheck disable=SC2046,SC2086 # options in words
set -eu
program="./ptrace2ftf --threads=1"
shared=$1/../shared/recordings
tests=$1/tests/bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
runs=5

# A new file each time: for a rename over an existing file, the system writes data out first.
sample() { # SAMPLES COMMAND...: adds CPU time (s, user and system) and peak memory (kB)
	samples=$1
	shift
	rm -f "$work/out.ftf"
	tests/bench/cpu-time "$work/time" "$@" >/dev/null 2>"$work/messages" || true
	awk '{ printf "%.4f %d\n", $1, $3 }' "$work/time" >>"$work/$samples"
}

median() { # SAMPLES
	sort -n "$work/$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

measure() { # COMMAND...: sets $cpu
	rm -f "$work/one"
	for _ in $(seq $runs); do
		sample one "$@"
	done
	cpu=$(median one)
}

elapsed() { # COMMAND...: sets $wall (s, on the clock)
	for _ in $(seq $runs); do
		rm -f "$work/out.ftf"
		tests/bench/cpu-time "$work/time" "$@" >/dev/null 2>"$work/messages" || true
		awk '{ printf "%.3f\n", $2 }' "$work/time"
	done | sort -n >"$work/times"
	wall=$(awk -v n=$runs 'NR == int((n + 1) / 2)' "$work/times")
}

thread_times() { # COMMAND...: sets $wall, $cpu, $most (s): of all threads, of the one that takes most
	for _ in $(seq $runs); do
		rm -f "$work/out.ftf"
		tests/bench/thread-times "$@" 2>"$work/messages" || true
	done | sort -n >"$work/times"
	read -r wall cpu most rest <<-END
		$(awk -v n=$runs 'NR == int((n + 1) / 2)' "$work/times")
	END
}

# However busy the machine is: more than the whole by the longest thread's is not possible.
two_cores() { # TITLE OPTIONS... FILE
	title=$1
	shift
	elapsed $program -q --no-warn "$@" -o "$work/out.ftf"
	one=$wall
	elapsed ./ptrace2ftf --threads=2 -q --no-warn "$@" -o "$work/out.ftf"
	echo "$title: to an .ftf in $one s by one thread, in $wall s by two: $(ratio "$one" "$wall") times"
	thread_times $program -q --no-warn "$@" -o "$work/out.ftf"
	one=$cpu
	thread_times ./ptrace2ftf --threads=2 -q --no-warn "$@" -o "$work/out.ftf"
	echo "$title: CPU time $one s by one thread, $cpu s by two, of which one takes $most s: two cores can be at most $(bound "$one" "$cpu" "$most") times as fast as one"
	echo "  threads, in the order of their ends: $rest"
}

# What is done in order, and what more CPUs would make of it, by a log of the jobs; on however few
# CPUs, the segments are those that the program chooses for one stream and 16 threads.
many_cores() { # TITLE OPTIONS... FILE
	title=$1
	shift
	for file; do :; done
	segment=$(stat -c %s "$file" | awk '{ bytes = int($1 / 32 / 16)
		print (bytes < 4096 ? 4096 : bytes < 32768 ? bytes : 32768) }')
	command -v python3 >/dev/null || { echo "$title: no python3 to simulate more CPUs"; return; }
	JOB_LOG=$work/jobs PTRACE2FTF_SEGMENT=$segment tests/bench/ptrace2ftf-jobs -j 8 -q --no-warn "$@" \
		-o "$work/out.ftf" || true
	echo "$title, jobs by their CPU time:"
	python3 "$tests/simulate.py" "$work/jobs" | sed 's/^/  /'
}

bound() { # ONE TWO MOST (s)
	awk -v one="$1" -v two="$2" -v most="$3" 'BEGIN { least = two / 2 > most ? two / 2 : most
		printf "%.2f", one / (least > 0.001 ? least : 0.001) }'
}

ratio() { # A B
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.1f", a / (b > 0.001 ? b : 0.001) }'
}

ours() { # OPTIONS... FILE: three times, beside each time of what it is compared with
	for _ in 1 2 3; do
		sample ours $program -q --no-warn "$@"
	done
}

against_libipt() { # TITLE OPTIONS... FILE
	title=$1
	shift
	rm -f "$work/ours" "$work/theirs"
	for _ in $(seq $runs); do
		sample theirs $program -q --no-warn --format=none --engine=libipt "$@"
		ours --format=none "$@"
	done
	cpu=$(median ours)
	echo "$title: decoding takes $cpu s, $(ratio "$(median theirs)" "$cpu") times less than libipt's block decoder"
}

against_perf() { # TITLE SYMFS FILE
	title=$1 symfs=$2 file=$3
	command -v perf >/dev/null || { echo "$title: no perf here"; return; }
	rm -f "$work/ours" "$work/theirs"
	for _ in $(seq $runs); do
		sample theirs perf script -i "$file" --symfs "$symfs" --itrace=be -F pid,tid,time,flags,ip,addr,sym,symoff --ns
		ours --symfs="$symfs" "$file" -o "$work/out.ftf"
	done
	perf=$(median theirs) cpu=$(median ours)
	echo "$title: to an .ftf in $cpu s, $(ratio "$perf" "$cpu") times less than perf script ($perf s)"
}

# PTXED, or in PATH: libipt's own program, of the newest release, built outside (with XED).
against_ptxed() { # TITLE SYMFS FILE
	title=$1 symfs=$2 file=$3
	command -v "${PTXED:-ptxed}" >/dev/null || { echo "left out: $title: no ptxed in PATH, or in PTXED"; return; }
	python3 "$tests/perf_parts.py" "$file" "$symfs" "$work/parts" >"$work/options"
	rm -f "$work/ours" "$work/theirs"
	for _ in $(seq $runs); do
		sample theirs "${PTXED:-ptxed}" -q $(cat "$work/options")
		ours --format=none --symfs="$symfs" "$file"
	done
	cpu=$(median ours)
	echo "$title: decoding takes $cpu s, $(ratio "$(median theirs)" "$cpu") times less than ptxed -q"
}

# Sixteen times the small one take as long as the large one, if time is in proportion.
linear() { # SMALL LARGE: sets $cpu (of the large one)
	rm -f "$work/large-times" "$work/ratios"
	for _ in $(seq $runs); do
		rm -f "$work/small-times"
		for _ in $(seq 16); do
			sample small-times $program -q --no-warn --format=none "$1"
		done
		sample large-times $program -q --no-warn --format=none "$2"
		tail -n 1 "$work/large-times" | cat - "$work/small-times" |
			awk 'NR == 1 { large = $1 } NR > 1 { small += $1 / 16 } END { print large / small }' >>"$work/ratios"
	done
	cpu=$(median large-times)
	rss=$(awk '$2 > m { m = $2 } END { print m }' "$work/large-times")
	echo "256 MiB: $cpu s, $(median ratios | awk '{ printf "%.1f", $1 }') times the time of 16 MiB, peak memory $((rss / 1024)) MiB"
}

record() { # FILE BYTES OPTIONS...
	file=$1 bytes=$2
	shift 2
	tests/ptsim/ptsim record --per-thread --apart --repeat="$bytes" "$@" -o "$file" -- \
		tests/programs/indirect >/dev/null 2>&1
}

# The first instructions of python3: it is loaded, and its libraries are linked.
with_python() { # TITLE OPTIONS...
	title=$1
	shift
	tests/ptsim/ptsim record --per-thread --instructions=2000000 --repeat=16777216 "$@" \
		-o "$work/python" -- /usr/bin/python3 -I -S -c pass >/dev/null 2>&1
	against_libipt "$title" "$work/python"
	rm "$work/python"
}

tests/bench/ftf-speed
record "$work/mtc" 16777216
record "$work/cyc" 16777216 --cyc
against_libipt "ptsim, MTC, 16 MiB" "$work/mtc"
against_libipt "ptsim, CYC, 16 MiB" "$work/cyc"
many_cores "ptsim, CYC, 16 MiB" --fit=none "$work/cyc"
rm "$work/cyc"
tests/ptsim/ptsim record --cpus=4 --cyc -o "$work/four" -- tests/bench/four-threads >/dev/null 2>&1
many_cores "four threads on four CPUs, CYC" "$work/four"
rm "$work/four"
if [ -x /usr/bin/python3 ]; then
	with_python "ptsim, python3, MTC, 16 MiB"
	with_python "ptsim, python3, CYC, 16 MiB" --cyc
fi
begin=$(date +%s)
record "$work/large" 268435456
echo "256 MiB of trace made in $(($(date +%s) - begin)) s"
linear "$work/mtc" "$work/large"
whole=$cpu
rm "$work/mtc"
runs=3
measure $program -q --no-warn --format=none --time=50%,51% "$work/large"
echo "256 MiB, one percent of its time: $cpu s, $(awk -v a="$cpu" -v b="$whole" 'BEGIN { printf "%.1f", 100 * a / b }')% of the whole"
two_cores "256 MiB" --fit=none "$work/large" # 2.8 GB of slices
rm "$work/large"
runs=5
record "$work/small" 1048576
against_ptxed "ptsim, MTC, 1 MiB" / "$work/small"
against_perf "ptsim, MTC, 1 MiB" / "$work/small"
[ -d "$shared" ] || { echo "left out: rr-alderlake, big-sqlite: no $shared"; exit 0; }
against_libipt "rr-alderlake" --symfs="$shared/rr-alderlake/symfs" "$shared/rr-alderlake/perf.data"
against_libipt "big-sqlite" --symfs="$shared/truth/symfs" "$shared/truth/big-sqlite/perf.data"
many_cores "rr-alderlake" --symfs="$shared/rr-alderlake/symfs" "$shared/rr-alderlake/perf.data"
many_cores "big-sqlite" --symfs="$shared/truth/symfs" "$shared/truth/big-sqlite/perf.data"
two_cores "big-sqlite" --symfs="$shared/truth/symfs" "$shared/truth/big-sqlite/perf.data"
against_ptxed "big-sqlite" "$shared/truth/symfs" "$shared/truth/big-sqlite/perf.data"
against_ptxed "rr-alderlake" "$shared/rr-alderlake/symfs" "$shared/rr-alderlake/perf.data"
against_perf "big-sqlite" "$shared/truth/symfs" "$shared/truth/big-sqlite/perf.data"
against_perf "rr-alderlake" "$shared/rr-alderlake/symfs" "$shared/rr-alderlake/perf.data"
