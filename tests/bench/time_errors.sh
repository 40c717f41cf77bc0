#!/bin/sh
# SPDX-License-Identifier: MIT
# How far the times of branches are from the truth of the software recorders, by the timing packets:
# the table of doc/timing.md, in ns.  Run by `make time-errors`.
# shellcheck disable=SC2086 # the options of a row are words
set -eu
. "$top_srcdir/tests/ptsim/time_errors.sh"
. "$top_srcdir/tests/ptsys/guest_log.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
ptsys=$top_builddir/tests/ptsys/ptsys
guest=$(cd "$top_builddir" && pwd)/tests/ptsys/guest
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cell() { # MEDIAN P99 MISSING
	[ "$3" -eq 0 ] && echo "$1 / $2" || echo "$1 / $2, $3 missing"
}

row() { # SETTING RECORDING
	printf '| %s | %s | %s | %s |\n' "$1" \
		"$(cell $(our_time_errors "$work/truth.branches" "$2"))" \
		"$(cell $(our_time_errors "$work/truth.branches" "$2" --engine=libipt))" \
		"$(cell $(perf_time_errors "$work/truth.branches" "$2"))"
}

user() { # OPTIONS...
	"$ptsim" record --truth="$work" -o "$work/perf.data" $1 -- \
		"$top_builddir/tests/programs/except" >/dev/null 2>"$work/messages"
	row "$1" "$work/perf.data"
}

# Up to where the kernel changes its code, which perf 6.1 does not follow; without RET compression,
# because libipt does not know the calls of return thunks.
system() { # OPTIONS...
	rm -rf "$work/recording"
	"$ptsys" --kernel="$guest/vmlinux" --user="$guest/user" --truth="$work" -o "$work/recording" \
		--until-poke --no-retcomp $1 <"$work/log" >"$work/messages" 2>&1
	row "$1" "$work/recording"
}

head() { # TITLE
	printf '\n%s\n\n| options | ptrace2ftf | --engine=libipt | perf script |\n|---|---|---|---|\n' "$1"
}

rows() { # COMMAND
	for options in "--no-mtc" "" "--mtc-period=6" "--mtc-period=9" \
		"--cyc --clock-changes=0" "--cyc" "--cyc --cyc-threshold=6" "--cyc --mtc-period=6" \
		"--cyc --mtc-period=9" "--cyc --mtc-period=9 --clock-changes=20000" \
		"--cyc --no-mtc --clock-changes=0" "--cyc --no-mtc" "--cyc --no-mtc --cyc-threshold=6" \
		"--cyc --no-mtc --psb-period=16384" \
		"--cyc --no-mtc --psb-period=65536" "--cyc --no-mtc --clock-changes=20000"; do
		"$1" "$options"
	done
}

head "One thread, user code (ptsim), median / 99th percentile in ns:"
rows user
if reason=$(guest_log "$work/log"); then
	head "A whole machine, user code and kernel (ptsys):"
	rows system
else
	printf '\nptsys: %s\n' "$reason"
fi
