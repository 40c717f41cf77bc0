#!/bin/sh
# SPDX-License-Identifier: MIT
# costs.sh SOURCE: tables of what commands, formats and options cost besides a plain .ftf, of one thread.
# Run by bench.sh.
# shellcheck disable=SC2046,SC2086,SC2154 # options in words; variables of measure.sh
set -eu
source=$1
. "$source/tests/bench/measure.sh"
. "$source/tests/support/costs.sh"
there valgrind "costs" && there strace "costs" || exit 0
cpu_time=$PWD/tests/bench/cpu-time bench=$PWD symfs=
program=$PWD/ptrace2ftf

# Print instructions, page faults, kB, seconds, system calls, temporary bytes; nothing if the output is empty.
row() { # OPTIONS...
	command=$(costs_command "$recording" "$@")
	must $command
	used=$(costs_usage $command) || return 0
	calls=$(costs_calls $command)
	echo "$(costs_instructions $command) $used $calls"
}

table() { # TITLE RECORDING FUNCTION [SYMFS]
	recording=$2 function=$3 symfs=${4-}
	cd "$work"
	plain=$(row)
	printf '\n%s, an .ftf and others: millions of instructions, to the .ftf; page faults; system calls; temporary files in KiB; peak memory in MiB:\n\n' \
		"$(in_words "$1" "$recording")"
	echo "| output | instructions | ratio | page faults | system calls | temporary | memory |"
	echo "|---|---|---|---|---|---|---|"
	set -f
	{ echo; costs_rows; } | while read -r options; do
		costs=$plain
		[ -z "$options" ] || costs=$(row $options)
		[ -n "$costs" ] || {
			leave_out "$1: $options: the output is empty"
			continue
		}
		echo "$costs $plain" | awk -v name="${options:-.ftf}" '{ printf "| %s | %.1f | %.2f | %d | %d | %d | %.1f |\n",
			name, $1 / 1e6, $1 / $7, $2, $5, $6 / 1024, $3 / 1024 }'
	done
	set +f
	cd "$bench"
}

record runs --per-thread --cyc --interrupts=0 --repeat=1000000 -- tests/programs/static/recursion
record inside --per-thread --cyc --interrupts=0 --repeat=1000000 --snapshot=524288 -- tests/programs/static/recursion
table "runs of a program, CYC" "$work/runs" depth
table "the same from within a run on" "$work/inside" depth
if [ -d "$recordings" ]; then
	table "rr-alderlake, which begins within a thread" "$recordings/rr-alderlake/perf.data" 'std::uniform_int*' "$recordings/rr-alderlake/symfs"
	table "big-sqlite" "$recordings/truth/big-sqlite/perf.data" sqlite3VdbeExec "$recordings/truth/symfs"
fi
