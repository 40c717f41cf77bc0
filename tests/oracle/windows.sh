#!/bin/sh
# SPDX-License-Identifier: MIT
# Any window of time of a real recording has exactly the branches and gaps that
# the whole recording has in that time.
. "$top_srcdir/tests/support/tap.sh"
shared=$top_srcdir/../shared/recordings
[ -d "$shared" ] || tap_skip_all "no recordings here"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

branches() { # FOLDER OPTIONS...
	folder=$1
	shift
	"$top_builddir/ptrace2ftf" -q --no-warn --format=branches --symfs="$shared/$symfs" "$@" "$folder/perf.data"
}

# "NS LINE": the time is "SECONDS.NS:", or "time SECONDS.NS" of a gap.
keyed() {
	sed -n 's/^\( instruction trace error.* time \([0-9]*\)\.\([0-9]\{9\}\) .*\)/\2\3 \1/p; t
		s/^\([^.]*[^0-9]\([0-9]*\)\.\([0-9]\{9\}\): .*\)/\2\3 \1/p'
}

seconds() { # NS
	echo "$1" | sed 's/\(.........\)$/.\1/'
}

same() { # NAME SYMFS: windows of 5% that begin anywhere
	folder=$shared/$1 symfs=$2
	branches "$folder" | keyed >"$work/all"
	[ -s "$work/all" ] || return 1
	awk '{ if (!n++ || $1 < low) low = $1; if ($1 > high) high = $1 }
		END { for (i = 0; i < 4; i++) { from = low + int((high - low) * (0.07 + 0.29 * i))
			printf "%.0f %.0f\n", from, from + int((high - low) / 20) } }' "$work/all" >"$work/windows"
	while read -r from to; do
		branches "$folder" "--time=$(seconds "$from"),$(seconds "$to")" >"$work/ours"
		awk -v from="$from" -v to="$to" '$1 >= from && $1 <= to' "$work/all" | sed 's/^[0-9]* //' |
			cmp - "$work/ours" || return 1
	done <"$work/windows"
}
for name in tiny-default tiny-cyc tiny-ovf tiny-snapshot threads-2cpu threads-perthread signals dlopen pipeline-2cpu; do
	tap_check "$name" same "truth/$name" truth/symfs
done
tap_check lldb-multicore same lldb-multicore lldb-multicore/symfs
tap_done
