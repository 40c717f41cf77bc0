#!/bin/sh
# SPDX-License-Identifier: MIT
# A program with the runtime's functions, recorded by ptsim: its calls, as the
# trace shows them, give the clock of its runtime events to a microsecond, and
# the threads of its rings.  The truth is ptsim's own: when it saw the time read.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/tests/programs/static/ocaml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ahead=123456789

"$ptsim" record -o "$work/perf.data" -- "$top_builddir/tests/programs/static/tail" \
	>/dev/null 2>"$work/messages" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"
command -v nm >/dev/null || tap_skip_all "no nm"
reader=$(nm "$program" | awk '$3 == "caml_time_counter" { sub(/^0*/, "", $1); print $1 }')

# The k-th message of a ring has the time of its thread's k-th call, and the 40
# ns that reading a clock takes.
record() { # OPTIONS...
	"$ptsim" record --truth="$work" -o "$work/perf.data" "$@" -- "$program" >"$work/printed" \
		2>"$work/messages" || { cat "$work/messages"; return 1; }
	awk -v reader="$reader" -v ahead=$ahead '
		FNR == 1 { file++ }
		file == 1 && $6 == "call" && $8 == reader {
			if (!($5 in ring)) ring[$5] = ($4 == $5) ? 0 : 1
			r = ring[$5]
			time[r, ++calls[r]] = $1
		}
		file == 2 {
			k = ++messages[$1]
			printf "%d %.0f %s %d %d\n", $1, time[$1, k] + ahead + 40, $2, $3, $4
		}' "$work/truth.branches" "$work/printed" >"$work/lines"
	awk 'NR == 1 { print $4 }' "$work/truth.branches" >"$work/pid"
	make_ring 4096
}

make_ring() { # WORDS
	pid=$(cat "$work/pid")
	"$top_builddir/tests/support/make-ring" 4 "$1" "$work/$pid.events" <"$work/lines"
}

within() { # NS: of the offset that was found
	pid=$(cat "$work/pid")
	"$top_builddir/ptrace2ftf" --no-warn "$work/perf.data" \
		--runtime-events="$work/$pid.events,pid=$pid" -o "$work/x.ftf" 2>"$work/err"
	cat "$work/err"
	sed -n 's/.*calls seen by Intel PT, offset -\([0-9]*\) ns +- \([0-9]*\) ns/\1 \2/p' "$work/err" |
		awk -v ahead=$ahead -v most="$1" '
			{ off = $1 - ahead; if (off < 0) off = -off; print off " ns off"
			  good = off <= most && off <= $2 && $2 <= most }
			END { exit !good }'
}

threads_are_known() {
	pid=$(cat "$work/pid")
	other=$(awk -v pid="$pid" '$5 != pid { print $5; exit }' "$work/truth.branches")
	"$top_builddir/ftfdump" --names "$work/x.ftf" >"$work/names"
	grep -q "domain 0 GC (thread $pid)" "$work/names" &&
		grep -q "domain 1 GC (thread $other)" "$work/names"
}

# Where one does not, the diagnostics have the distance, and how well the clock was known.
inside_their_calls() { # the phase "minor" lies in the function that reported it
	grep clock: "$work/err"
	"$top_builddir/ftfdump" --slices "$work/x.ftf" | awk '
		$5 == "minor_collection" { begin[++calls] = $3; end[calls] = $4 }
		$5 == "minor" { n++; from[n] = $3; to[n] = $4 }
		END {
			for (i = 1; i <= n; i++) {
				least = 1e18
				for (j = 1; j <= calls; j++) {
					out = begin[j] - from[i] > to[i] - end[j] ? begin[j] - from[i] : to[i] - end[j]
					if (out < least) { least = out; nearest = j }
				}
				if (least <= 1000) inside++
				else printf "phase %.0f to %.0f, call %.0f to %.0f: %d ns out\n", from[i], to[i],
					begin[nearest], end[nearest], least
			}
			print n, "phases,", inside, "inside"
			exit !(n > 20 && inside == n)
		}'
}

for options in "--seed=2" "--seed=3 --cyc --cpus=2"; do
	# shellcheck disable=SC2086 # a list of options
	tap_check "the program is recorded, $options" record $options
	tap_check "the calls show the clock to a microsecond, $options" within 1000
	tap_check "the calls show the rings' threads, $options" threads_are_known
	# seeds.md: phases begin and end
	tap_check "collections lie in their functions, $options" inside_their_calls
done

# truth.branches has perf's time and the TSC of each moment; the ring's clock is
# `ahead` of the first.
sync_lines() { # DRIFT: ns that the clock gains from the first line to the last
	awk -v ahead=$ahead -v drift="$1" '
		NR == 1 { printf "tsc=%s mono=%.0f real=0\n", $2, $1 + ahead }
		{ tsc = $2; time = $1 }
		END { printf "tsc=%s mono=%.0f real=0\n", tsc, time + ahead + drift }' \
		"$work/truth.branches" >"$work/sync"
}

synchronised() { # OFFSET UNCERTAINTY
	pid=$(cat "$work/pid")
	"$top_builddir/ptrace2ftf" --no-warn --clock-sync="$work/sync" "$work/perf.data" \
		--runtime-events="$work/$pid.events,pid=$pid" -o "$work/x.ftf" 2>"$work/err"
	cat "$work/err"
	sed -n 's/.*--clock-sync, offset -\([0-9]*\) ns +- \([0-9]*\) ns/\1 \2/p' "$work/err" |
		awk -v offset="$1" -v least="$2" '
			{ good = $1 >= offset - 1 && $1 <= offset + 1 && $2 >= least && $2 < least + 10000 }
			END { exit !good }'
}

same_clock() {
	sync_lines 0 && synchronised $ahead 0
}
tap_check "lines of clock-sync give the clock" same_clock

drifting_clock() {
	sync_lines 4000 && synchronised $((ahead + 2000)) 2000
}
tap_check "lines that differ give the middle, and how far it may be off" drifting_clock

no_line() {
	echo nothing >"$work/sync"
	pid=$(cat "$work/pid")
	"$top_builddir/ptrace2ftf" --clock-sync="$work/sync" "$work/perf.data" \
		--runtime-events="$work/$pid.events" -o "$work/none.ftf" 2>"$work/err"
	[ $? -eq 1 ] && [ ! -e "$work/none.ftf" ] && grep -q "sync: has no line of" "$work/err"
}
tap_check "a file without such a line is refused" no_line

two_lines() {
	"$top_builddir/ptrace2ftf" clock-sync >"$work/sync"
	before=$(awk '{ printf "%d", $1 }' /proc/uptime)
	sleep 0.1
	"$top_builddir/ptrace2ftf" clock-sync >>"$work/sync"
	now=$(date +%s)
	sed 's/[a-z]*=//g' "$work/sync" | awk -v now="$now" -v up="$before" '
		NR == 1 { tsc = $1; mono = $2; real = $3 }
		{ last = $0; t = $1; m = $2; r = $3 }
		END { passed = (m - mono) / 1e9; wall = (r - real) / 1e9
		      exit !(NR == 2 && t > tsc && passed > 0.09 && passed - wall < 5 &&
			     wall - passed < 5 && r / 1e9 > now - 600 && r / 1e9 < now + 600) }'
}
tap_check "clock-sync prints the clocks of now" two_lines

make_ring 256
tap_check "the calls show the clock of a ring that lost its beginning" within 1000
tap_done
