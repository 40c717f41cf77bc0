#!/bin/sh
# SPDX-License-Identifier: MIT
# --timing=perf: each branch has perf script's time, to the nanosecond.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs
recordings=$top_srcdir/../shared/recordings
command -v perf >/dev/null || tap_skip_all "perf is not installed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

stamps() { # FILE: one a line
	grep -oE '[0-9]+\.[0-9]{9}:' "$1"
}

perf_times() { # SYMFS RECORDING: into $work/perf
	perf script -i "$2" --symfs "$1" --itrace=b -F time,ip,addr --ns >"$work/script" 2>/dev/null
	stamps "$work/script" >"$work/perf"
}

our_times() { # OPTIONS... RECORDING: into $work/ours
	"$program" -q --no-warn --format=branches "$@" >"$work/branches" || return 1
	stamps "$work/branches" >"$work/ours"
}

same_times() { # SYMFS OPTIONS... RECORDING
	symfs=$1
	shift
	for recording; do :; done
	perf_times "$symfs" "$recording"
	our_times --timing=perf "$@" || return 1
	[ "$(wc -l <"$work/perf")" -ge 6 ] || { echo "perf finds no branches"; return 1; }
	cmp "$work/ours" "$work/perf" && return 0
	diff "$work/perf" "$work/ours" | head -6
	return 1
}

# Else the option would do nothing.  Behind same_times.
default_differs() { # OPTIONS... RECORDING
	our_times "$@" && ! cmp -s "$work/ours" "$work/perf" || return 1
	our_times --timing=steady "$@" && ! cmp -s "$work/ours" "$work/perf"
}

if "$ptsim" record --cyc --psb-period=2048 -o "$work/perf.data" -- "$programs/recursion" \
	>/dev/null 2>"$work/messages"; then
	tap_check "ptsim, CYC: perf script's times" same_times / "$work/perf.data"
else
	tap_skip "ptsim, CYC: perf script's times" "programs cannot be traced here"
fi

if [ -d "$recordings" ]; then
	truth=$recordings/truth
	tap_check "dynamorio-cyc (a real one): perf script's times" same_times \
		"$recordings/dynamorio-cyc/symfs" --symfs="$recordings/dynamorio-cyc/symfs" \
		"$recordings/dynamorio-cyc/perf.data"
	for name in tiny-cyc signals threads-perthread; do
		tap_check "$name: perf script's times" same_times "$truth/symfs" \
			--symfs="$truth/symfs" --vdso="$truth/$name/vdso.so" "$truth/$name/perf.data"
	done
	tap_check "except, CYC: perf script's times" same_times "$truth/symfs" \
		--symfs="$truth/symfs" --vdso="$truth/except/vdso.so" "$truth/except/perf.data"
	tap_check "except, CYC: not so without the option" default_differs \
		--symfs="$truth/symfs" --vdso="$truth/except/vdso.so" "$truth/except/perf.data"
fi
tap_done
