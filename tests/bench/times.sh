#!/bin/sh
# SPDX-License-Identifier: MIT
# times.sh SOURCE: tables of CPU time, which mean something on an idle machine only: least times, because
# other work only adds to them; what is compared runs by turns.  Run by bench.sh.
# shellcheck disable=SC2015,SC2046,SC2086,SC2154 # options in words; variables of measure.sh
set -eu
source=$1
. "$source/tests/bench/measure.sh"
turns=5

# A new file each time: for a rename over an existing file, the system writes data out first.
sample() { # NAME COMMAND...: adds CPU time (s), elapsed time (s), and peak memory (kB)
	name=$1
	shift
	rm -f "$work/out"
	must tests/bench/cpu-time "$work/time" "$@"
	cat "$work/time" >>"$work/$name.times"
}

least() { # NAME [COLUMN]: sets $least
	least=$(sort -n -k "${2:-1}" "$work/$1.times" | awk -v column="${2:-1}" 'NR == 1 { print $column }')
}

ms() { # NAME: adds a cell
	least "$1"
	cells="$cells | $(quotient "$least" 0.001 %.1f)"
}

multiple() { # NAME OF: adds a cell: how many times as long NAME took as OF
	least "$2"
	of=$least
	least "$1"
	cells="$cells | $(quotient "$least" "$of" %.1f)"
}

row() { # TITLE
	printf '| %s%s |\n' "$(in_words "$1" "$recording")" "$cells"
	rm -f "$work"/*.times
}

columns() { # TITLE COLUMNS
	printf '\n%s\n\n| recording | %s |\n|---|' "$1" "$2"
	echo "$2" | sed 's/[^|]*/---/g; s/$/|/'
}

of() { # RECORDING [SYMFS]: whether there is the recording
	recording=$1 symfs=${2:-} cells=
	[ -f "$recording" ]
}

# ---- Other programs -------------------------------------------------------------

ours() { # NAME OPTIONS...: three times, beside each time of what it is compared with
	name=$1
	shift
	for _ in 1 2 3; do
		sample "$name" $program -j1 ${symfs:+--symfs="$symfs"} "$@" "$recording"
	done
}

others() { # TITLE
	parts="" perf=""
	! decoders_parts "$1" "$recording" "$symfs" || ! there "$ptxed" "ptxed -q (PTXED)" || parts=yes
	! there perf "perf script" || perf=yes
	for turn in $(seq $turns); do
		ours none --format=none
		ours ftf -o "$work/out"
		sample libipt $program -j1 ${symfs:+--symfs="$symfs"} --format=none --engine=libipt "$recording"
		[ -z "$parts" ] || sample ptxed "$ptxed" -q $(cat "$work/parts.options")
		# It takes many seconds.
		[ -z "$perf" ] || [ "$turn" -gt 2 ] ||
			sample perf perf script -i "$recording" --symfs "${symfs:-/}" --itrace=be \
				-F pid,tid,time,flags,ip,addr,sym,symoff --ns
	done
	ms none
	ms ftf
	least ftf 3
	cells="$cells | $((least / 1024))"
	multiple libipt none
	[ "$parts" ] && multiple ptxed none || cells="$cells | -"
	[ "$perf" ] && multiple perf ftf || cells="$cells | -"
	row "$1"
}

# ---- Small recordings -----------------------------------------------------------

small() { # TITLE
	mkdir "$work/batch"
	for i in $(seq 20); do
		ln -s "$recording" "$work/batch/$i"
	done
	for _ in $(seq $turns); do
		ours no-cache --no-cache -o "$work/out"
		rm -rf "$XDG_CACHE_HOME"
		sample first $program -j1 "$recording" -o "$work/out"
		for _ in 1 2 3; do
			sample second $program -j1 "$recording" -o "$work/out"
			sample args-none $program -j1 --args=none "$recording" -o "$work/out"
		done
		rm -rf "$XDG_CACHE_HOME" "$work/traces"
		sample batch $program -j1 --jobs=1 "$work"/batch/* -o "$work/traces/"
	done
	for name in no-cache first second args-none; do
		ms $name
	done
	least batch
	cells="$cells | $(quotient "$least" 0.020 %.1f)"
	rm -rf "$work/batch" "$work/traces"
	row "$1"
}

# ---- Threads --------------------------------------------------------------------

thread_times() { # THREADS OPTIONS...: sets $wall, $cpu, $most (s): of all threads, of the one that takes most
	threads=$1
	shift
	rm -f "$work/threads"
	for _ in $(seq 3); do
		rm -f "$work/out"
		must tests/bench/thread-times ./ptrace2ftf --no-warn -q -j "$threads" ${symfs:+--symfs="$symfs"} "$@" \
			"$recording" -o "$work/out"
		cat "$log.output" >>"$work/threads"
	done
	read -r wall cpu most _ <<-END
		$(sort -n -k 2 "$work/threads")
	END
}

# However busy the machine is: more than the whole by the longest thread's is not possible.
two_threads() { # OPTIONS...
	thread_times 1 "$@"
	one=$cpu one_wall=$wall
	thread_times 2 "$@"
	bound=$(awk -v two="$cpu" -v most="$most" 'BEGIN { print (two / 2 > most ? two / 2 : most) }')
	cells="$cells | $(quotient "$one" 0.001 %.0f) | $(quotient "$cpu" 0.001 %.0f) | $(quotient "$one" "$bound" %.2f)"
	cells="$cells | $(quotient "$one_wall" "$wall" %.2f)"
}

# Simulated by a log of the jobs; on however few CPUs, the segments are those that the program
# chooses for one stream and 16 threads.
more_threads() { # OPTIONS...
	if ! there "$python" "more threads, simulated"; then
		cells="$cells | - | - | - | - | -"
		return
	fi
	segment=$(stat -L -c %s "$recording" | awk '{ bytes = int($1 / 32 / 16)
		print (bytes < 4096 ? 4096 : bytes < 32768 ? bytes : 32768) }')
	for i in 1 2 3; do
		rm -f "$work/out"
		JOB_LOG=$work/jobs PTRACE2FTF_SEGMENT=$segment must tests/bench/ptrace2ftf-jobs --no-warn -q -j 8 \
			${symfs:+--symfs="$symfs"} "$@" "$recording" -o "$work/out"
		must "$python" "$source/tests/bench/simulate.py" "$work/jobs"
		mv "$log.output" "$work/simulated.$i"
		rm "$work/jobs"
	done
	echo "- $title: $(sed -n 1p "$work/simulated.1")" >>"$work/shares"
	for n in 2 4 8 16 64; do
		cells="$cells | $(sed -n "s/^$n threads: .*, \([0-9.]*\) times.*/\1/p" "$work"/simulated.? | sort -n | sed -n 2p)"
	done
}

threads() { # TITLE OPTIONS...
	title=$1
	shift
	two_threads "$@"
	more_threads "$@"
	row "$title"
}

# ---- Growth ---------------------------------------------------------------------

# Sixteen times the small one take as long as the large one, if time is in proportion.
linear() { # SMALL LARGE
	for _ in 1 2 3; do
		for _ in $(seq 4); do
			sample small $program -q -j1 --format=none "$1"
		done
		sample large $program -q -j1 --format=none "$2"
		sample part $program -q -j1 --format=none --time=50%,51% "$2"
	done
	least small
	small=$least
	least part
	part=$least
	least large 3
	memory=$((least / 1024))
	least large
	printf '\nGrowth: a loop, MTC, 64 MiB, to none in %.2f s, %.1f times 4 MiB; one percent of its time in %.1f %%; peak memory %d MiB.\n' \
		"$least" "$(quotient "$least" "$small" %f)" "$(quotient "$part" "$least" %f | awk '{ print 100 * $1 }')" "$memory"
}

# ---- The tables -----------------------------------------------------------------

rr=$recordings/rr-alderlake/perf.data rr_files=$recordings/rr-alderlake/symfs
sqlite=$recordings/truth/big-sqlite/perf.data truth_files=$recordings/truth/symfs
loop=$work/loop start=$work/start longer=$work/longer four=$work/four
record_loop loop 1048576
record four --cpus=4 --cyc -- tests/bench/four-threads
[ -d "$recordings" ] || leave_out "rr-alderlake, big-sqlite, xdc-mruby: no ../shared beside the source"
if there "$python" "recordings of python3"; then
	record_python start --instructions=1700000
	record_python longer --instructions=2000000 --repeat=2097152
	cache_lines "$longer"
fi

columns "CPU time, one thread: ms, and peak memory in MiB; libipt's engine and ptxed as multiples of none, perf script of the .ftf:" \
	"none | .ftf | memory | --engine=libipt | ptxed -q | perf script"
of "$loop" && others "a loop, MTC"
of "$longer" && others "start of python3, CYC"
of "$rr" "$rr_files" && others "rr-alderlake"
of "$sqlite" "$truth_files" && others "big-sqlite"

columns "Small recordings, CPU time of each in ms; the batch begins without a cache:" \
	"--no-cache | first conversion | second | --args=none | batch of 20"
record tail --per-thread -- tests/programs/static/tail
of "$work/tail" && small "a small program"
record own --per-thread -- ./ptrace2ftf --version
of "$work/own" && small "\`ptrace2ftf --version\`"
of "$start" && small "start of python3, CYC"

record_loop larger 16777216 --cyc
larger=$work/larger
if [ -f "$start" ]; then
	record_python start --instructions=2000000 --repeat=16777216
	cache_lines "$start"
fi
columns "Threads, to an .ftf: CPU time in ms, and times as fast as one: two threads at most (by the longest thread), and by the clock; simulated:" \
	"one, ms | two, ms | two at most | by the clock | 2 simulated | 4 | 8 | 16 | 64"
of "$larger" && threads "a loop, CYC" --fit=none
of "$four" && threads "four threads on four CPUs, CYC"
of "$start" && threads "start of python3, CYC"
of "$rr" "$rr_files" && threads "rr-alderlake"
of "$sqlite" "$truth_files" && threads "big-sqlite"
rm -f "$larger" "$start"
[ ! -f "$work/shares" ] || { echo; cat "$work/shares"; }

record_loop small 4194304
record_loop large 67108864
linear "$work/small" "$work/large"
must tests/bench/ftf-speed
echo
sed 's/^/- /' "$log.output"
