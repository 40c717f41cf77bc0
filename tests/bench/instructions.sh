#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2046,SC2086 # options in words
# Prints the first table of tests/bench/README.md: instructions by callgrind, of all threads, also on
# a busy machine.  Run by `make bench`.
#
# What decodes libipt's and libxdc's trace is built outside: PTXED names libipt's ptxed, XDC_TESTER
# libxdc's test/tester (make tester_static); both may be in PATH.
set -eu
tests=$1/tests/bench
shared=$1/../shared/recordings
work=$(mktemp -d)
: >"$work/left-out"
trap 'rm -rf "$work"' EXIT
command -v valgrind >/dev/null || { echo "left out, instructions: no valgrind here"; exit 0; }

count() { # COMMAND...: sets $millions
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" >/dev/null 2>"$work/log" || true
	millions=$(sed -n 's/^==.*Collected : \([0-9]*\).*/\1/p' "$work/log" | awk '{ printf "%.1f", $1 / 1e6 }')
}
ours() { # OPTIONS...
	count ./ptrace2ftf --threads=1 -q --no-warn --symfs="$symfs" $part "$@" "$recording"
	cell="$cell | $millions"
}
to_ftf() { # OPTIONS...: adds the ratio to the .ftf without them
	rm -f "$work/x.ftf"
	count ./ptrace2ftf --threads=1 -q --no-warn --symfs="$symfs" $part "$@" "$recording" -o "$work/x.ftf"
	cell="$cell | $(awk -v a="$millions" -v b="$ftf" 'BEGIN { printf "%.2f", a / b }')"
}
decoder() { # NAME WORD COMMAND...: "-" without WORD in the output, as it fails early
	name=$1 word=$2
	shift 2
	if ! command -v "$1" >/dev/null; then
		echo "left out: $name: no $1 in PATH; see PTXED and XDC_TESTER in tests/bench/instructions.sh" >>"$work/left-out"
		cell="$cell | -"
		return
	fi
	"$@" 2>&1 | grep -q "$word" || { cell="$cell | -"; return; }
	count "$@"
	cell="$cell | $millions"
}
row() { # TITLE RECORDING [SYMFS PART]: other decoders have no part
	title=$1 recording=$2 symfs=${3:-/} part=${4:+--time=$4} cell=
	ours --format=none
	rm -f "$work/x.ftf"
	count ./ptrace2ftf --threads=1 -q --no-warn --symfs="$symfs" $part "$recording" -o "$work/x.ftf"
	ftf=$millions cell="$cell | $millions"
	to_ftf --args=none
	to_ftf --args=full
	to_ftf --counters=1us
	to_ftf --tid="$(./ptrace2ftf list --json "$recording" | sed -n 's/.*"tid": \([0-9]*\),*$/\1/p' | sort -u | paste -sd,)"
	to_ftf --stacks=magic-trace
	to_ftf --symbol='*'
	to_ftf --fit=1000
	rm -f "$work"/parts*
	: >"$work/options"
	[ "$part" ] || python3 "$tests/perf_parts.py" "$recording" "$symfs" "$work/parts" >"$work/options" || true
	decoder "libipt's ptxed" insn: "${PTXED:-ptxed}" -q $(cat "$work/options") --stat:insn
	decoder "libxdc's tester" decoder_success "${XDC_TESTER:-tester_static}" 1000 7fffffffffff "$work/parts" "$work/parts.pt" 0 simple
	echo "| $title, $(($(stat -c %s "$recording") / 1024)) KiB$cell |"
}
record() { # FILE OPTIONS... -- PROGRAM...
	file=$1
	shift
	tests/ptsim/ptsim record -o "$work/$file" "$@" >/dev/null 2>&1
}

echo "| recording | none | .ftf | args=none | args=full | counters=1us | tid | magic-trace | symbol=* | fit=1000 | ptxed -q | libxdc |"
echo "|---|---|---|---|---|---|---|---|---|---|---|---|"
record tail --per-thread -- tests/programs/static/tail
row "a small program" "$work/tail"
record own --per-thread -- ./ptrace2ftf --version
row "\`ptrace2ftf --version\`, with its debug information" "$work/own"
record loop --per-thread --apart --repeat=1048576 -- tests/programs/static/indirect
row "a loop, MTC" "$work/loop"
record four --cpus=4 --cyc -- tests/bench/four-threads
row "four threads on four CPUs, CYC" "$work/four"
python=$(command -v python3)
record python --per-thread --cyc --repeat=2097152 --instructions=2000000 -- "$python" -I -S -c pass
row "start of python3, CYC" "$work/python"
if [ -d "$shared" ]; then
	row "the first tenth of rr-alderlake" "$shared/rr-alderlake/perf.data" "$shared/rr-alderlake/symfs" 0%,10%
	row "a tenth of big-sqlite" "$shared/truth/big-sqlite/perf.data" "$shared/truth/symfs" 50%,60%
	row "xdc-mruby, no times" "$shared/../more/xdc-mruby/recording" "$shared/../more/xdc-mruby/symfs"
else
	echo "left out: rr-alderlake, big-sqlite, xdc-mruby: no $shared" >>"$work/left-out"
fi
sort -u "$work/left-out"
