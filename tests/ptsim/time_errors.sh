# SPDX-License-Identifier: MIT
# Sourced by shell tests: errors of times, by the truth of a recorder.  Needs $top_srcdir and a
# folder $work.
time_errors() { # TRUTH BRANCHES: prints median, 99th percentile (ns), and how many are missing
	awk -f "$top_srcdir/tests/ptsim/time_errors.awk" "$1" "$2" | sort -n |
		awk '{ error[NR] = $1 }
			END { n = NR - 1; print error[1 + int((n + 1) / 2)], error[1 + int((n * 99 + 99) / 100)], 0 - error[1] }'
}

# The same of perf script.
perf_time_errors() { # TRUTH RECORDING OPTIONS...
	perf_truth=$1
	perf_recording=$2
	shift 2
	perf script -i "$perf_recording" "$@" --itrace=b -F pid,tid,time,flags,ip,addr --ns \
		>"$work/perf.branches" 2>/dev/null
	time_errors "$perf_truth" "$work/perf.branches"
}

# And of the program.
our_time_errors() { # TRUTH RECORDING OPTIONS...
	our_truth=$1
	our_recording=$2
	shift 2
	"$top_builddir/ptrace2ftf" -q --no-warn --format=branches "$@" "$our_recording" \
		>"$work/our.branches" || return 1
	time_errors "$our_truth" "$work/our.branches"
}
