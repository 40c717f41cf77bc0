#!/bin/sh
# SPDX-License-Identifier: MIT
# Instructions, cycles, calls and time have one sum in every format and under every option of the view,
# also where parts of the trace are lost.  No function runs faster than a processor can.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
programs=$top_builddir/tests/programs/static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

record() { # NAME OPTIONS... -- PROGRAM
	name=$1
	shift
	"$ptsim" record --cyc --seed=3 -o "$work/$name" "$@" >/dev/null 2>"$work/messages"
}
mkdir "$work/truth"
record whole --cpus=2 --truth="$work/truth" -- "$programs/threads" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"
record lost --overflows=3000 --lose=9000 -- "$programs/recursion"

convert() { # FORMAT INPUT OPTIONS...
	format=$1 input=$2
	shift 2
	"$program" -q --no-warn --format="$format" "$@" "$work/$input" -o "$work/out" || return 1
}
# "INSNS CYCLES" of the slices that are in no other one, of what callgrind's functions and pprof's
# stacks cost themselves, and of the periods of --counters.
of_slices() {
	convert slices "$@" --args=full && awk '$2 == 0 { for (i = 6; i <= NF; i++) { if ($i ~ /^insns=/) n += substr($i, 7)
		if ($i ~ /^cycles=/) c += substr($i, 8) } } END { printf "%d %d\n", n, c }' "$work/out"
}
of_callgrind() {
	convert callgrind "$@" && awk '/^calls=/ { edge = 1; next } /^[0-9+*-]/ { if (!edge) { n += $2; c += $3 } edge = 0 }
		END { printf "%d %d\n", n, c }' "$work/out"
}
of_pprof() {
	convert pprof "$@" && python3 "$top_srcdir/tests/cli/pprof.py" "$work/out" | awk '$1 == "types" {
			for (i = 2; i <= NF; i++) { if ($i ~ /^instructions/) insns = i - 2; if ($i ~ /^cycles/) cycles = i - 2; if ($i ~ /\//) types = i - 1 } }
		$1 == "stack" { n += $(NF - types + 1 + insns); c += $(NF - types + 1 + cycles) } END { printf "%d %d\n", n, c }'
}
of_counters() {
	convert ftf "$@" --counters=1s && "$top_builddir/ftfdump" "$work/out" |
		sed -n '/ "CPU/!s/^0x[0-9a-f]* counter .* insns\/s=\([^ ]*\) .* ipc=\([^ ]*\).*/\1 \2/p' |
		awk '{ n += $1; if ($2) c += $1 / $2 } END { printf "%.0f %.0f\n", n, c }'
}
same_costs() { # INPUT OPTIONS...
	slices=$(of_slices "$@") && callgrind=$(of_callgrind "$@") || return 1
	echo "slices $slices, callgrind $callgrind"
	[ "$slices" = "$callgrind" ] && [ "${slices% *}" -gt 1000 ] && [ "${slices#* }" -gt 100 ] || return 1
	command -v python3 >/dev/null || return 0
	pprof=$(of_pprof "$@")
	echo "pprof $pprof"
	[ "$pprof" = "$slices" ]
}
for input in whole lost; do
	tap_check "$input: instructions and cycles of slices, callgrind and pprof" same_costs $input
	all=$(of_slices $input)
	# Not of outermost functions, whose own code is then in no slice.
	for options in --inline --depth=1 --depth=3 --unnamed=files --min-duration=100ns '--hide=_int_*' --min-duration=1us\ --hide=work; do
		# After a loss any function may be the outermost one, whose own code no slice has if it is hidden.
		case $input$options in lost*--hide*) continue ;; esac
		# `make check` takes a few of them.
		case $LONG$input$options in whole--depth=1 | whole--min*ns | lost--depth=1 | lost--inline | lost--unnamed* | lost--min*) continue ;; esac
		still_all() { same_costs $input $options && [ "$slices" = "$all" ]; }
		tap_check "$input, $options: the same as without" still_all
	done
done
tap_check "of chosen functions" same_costs whole '--symbol=w*'
in_counters() { # INPUT OPTIONS...
	for jobs in 1 4; do
		slices=$(of_slices "$@" -j $jobs) && counted=$(of_counters "$@" -j $jobs) || return 1
		echo "slices $slices, counters $counted"
		[ "$slices" = "$counted" ] && [ "${slices#* }" -gt 100 ] || return 1
	done
}
for input in whole lost; do
	for options in '' --time=20%,70% --tid=1002,1003; do
		[ "$input$options" != lost--tid=1002,1003 ] || continue # it has one thread
		tap_check "$input $options: --counters counts as many instructions and cycles" in_counters $input $options
	done
done
# What runs between a branch and a gap has no branch.
perf_counts() {
	of_slices lost >"$work/expected" && read -r insns cycles <"$work/expected"
	perfs=$(perf script -i "$work/lost" --itrace=i1i -F ip 2>/dev/null | grep -c .)
	echo "slices $insns, perf $perfs"
	[ "$perfs" -eq "$insns" ]
}
if command -v perf >/dev/null; then
	tap_check "perf script counts as many beside gaps" perf_counts
else
	tap_skip "perf script counts as many beside gaps" "no perf"
fi

# perf prints "IPC: n (instructions/cycles)" where a CYC packet counted both since the last one.  Our
# functions have their shares of each such stretch by instructions, which perf lists one by one.
# perf counts a CYC before a TIP with the next one: so some differ.
perf_cycles() { # INPUT
	perf script -i "$work/$1" --itrace=i1i -F ip,sym,ipc 2>/dev/null | awk '{ n[$2]++; all++ }
		/IPC:/ { match($0, /\/[0-9]+/); cycles = substr($0, RSTART + 1, RLENGTH - 1)
			for (f in n) c[f] += cycles * n[f] / all
			delete n
			all = 0 }
		END { for (f in c) print f, c[f] }' | sort >"$work/perfs"
	convert callgrind "$1" --demangle=none && awk '/^c?fn=/ { match($0, /\([0-9]+\)/); f = substr($0, RSTART, RLENGTH)
			if ($0 ~ /\) /) name[f] = substr($0, RSTART + RLENGTH + 1); if (/^fn/) own = name[f] }
		/^calls=/ { edge = 1; next } /^[0-9+*-]/ { if (!edge) c[own] += $3; edge = 0 }
		END { for (f in c) print f, c[f] }' "$work/out" | sort >"$work/ours"
	join "$work/perfs" "$work/ours" | awk '{ d = $2 - $3; off += d < 0 ? -d : d; all += $3; n++ }
		END { print off " of " all " cycles in other functions"; exit !(n > 50 && off < 0.04 * all) }'
}
if command -v perf >/dev/null; then
	tap_check "perf's ipc gives functions the same cycles" perf_cycles whole
else
	tap_skip "perf's ipc gives functions the same cycles" "no perf"
fi
is_true() {
	[ "$(of_slices whole | cut -d ' ' -f 1)" -eq "$(awk '$2 == 0 { sub("insns=", "", $6); n += $6 } END { print n }' "$work/truth/truth.counts")" ]
}
tap_check "which is the truth" is_true

# --max-stack is of stacks alone.
for most in 1 ${LONG:+4} none; do
	cut_stacks() { all=$(of_slices whole) && cut=$(of_pprof whole --max-stack=$most) && echo "$all $cut" && [ "$all" = "$cut" ]; }
	if command -v python3 >/dev/null; then
		tap_check "--max-stack=$most: the same in pprof" cut_stacks
	fi
done

# Of slices, the table and the report; and their own time, of the same and of folded stacks.
same_calls() { # INPUT OPTIONS...
	convert slices "$@" && lines=$(grep -vc ' \[decode error: ' "$work/out") &&
		convert functions "$@" --json="$work/json" || return 1
	rows=$(sed -n 's/^ *\([0-9]*\) .*/\1/p' "$work/out" | awk '{ n += $1 } END { print n }')
	self=$(sed -n 's/^ *"self_ns": \([0-9]*\),*$/\1/p' "$work/json" | sort -n | tail -n 1)
	reported=$(sed -n 's/^ *"slices": \([0-9]*\),*$/\1/p' "$work/json" | head -n 1)
	for most in none 2; do
		convert folded "$@" --max-stack=$most && folded=$(awk '{ n += $NF } END { printf "%d", n }' "$work/out")
		[ "$self" -eq "$folded" ] || break
	done
	convert callgrind "$@" && time=$(awk '/^calls=/ { edge = 1; next } /^[0-9+*-]/ { if (!edge) n += $NF; edge = 0 } END { printf "%d", n }' "$work/out")
	echo "slices $lines functions $rows reported $reported; self $self folded $folded callgrind $time"
	[ "$lines" -eq "$rows" ] && [ "$lines" -eq "$reported" ] && [ "$self" -eq "$folded" ] && [ "$self" -eq "$time" ]
}
for input in whole lost; do
	for options in '' --depth=1 --depth=3 --min-duration=100ns '--hide=*a*' --inline --stacks=magic-trace; do
		case $LONG$input$options in whole--depth=1 | lost--*=[13a]* | lost--inline) continue ;; esac
		tap_check "$input $options: calls and time" same_calls $input $options
	done
done

# Of a whole trace lcov counts each function as often as it has slices, and --fit folds all but those it keeps.
in_lcov() {
	convert lcov whole && sed -n 's/^FNDA:\([0-9]*\),/\1 /p' "$work/out" | sort >"$work/found"
	convert functions whole && awk 'NR > 1 { print $1, $NF }' "$work/out" | sort >"$work/rows"
	[ "$(wc -l <"$work/found")" -ge 3 ] && ! comm -23 "$work/found" "$work/rows" | grep .
}
tap_check "calls of lcov" in_lcov
folded_slices() { # INPUT OPTIONS...
	# Trace files have no deeper slices.
	convert slices "$@" && lines=$(awk '$2 < 512 && !/ \[decode error: / { n++ } END { print n }' "$work/out")
	for most in 3 ${LONG:+50} 700; do
		convert ftf "$@" --fit=$most --json="$work/json" &&
			kept=$("$top_builddir/ftfdump" --slices "$work/out" | wc -l) || return 1
		folded=$(sed -n 's/^ *"slices_folded": \([0-9]*\),*$/\1/p' "$work/json")
		echo "$lines slices: $kept kept, $folded folded"
		[ "$folded" -gt 0 ] && [ $((kept + folded)) -eq "$lines" ] || return 1
	done
}
for input in whole lost; do
	for options in '' --inline --stacks=magic-trace; do
		[ "$LONG" ] || [ "$input$options" != lost--inline ] || continue
		tap_check "$input $options: --fit keeps or counts each slice" folded_slices $input $options
	done
done

# Six instructions a cycle is more than ptsim's clock allows in a hundred instructions.
possible() { # INPUT
	convert callgrind "$1" && awk '/^fn=/ { match($0, /\([0-9]+\)/); f = substr($0, RSTART, RLENGTH); if ($0 ~ /\) /) name[f] = $0 }
		/^calls=/ { edge = 1; next } /^[0-9+*-]/ { if (!edge) { n[f] += $2; c[f] += $3 } edge = 0 }
		END { for (f in n) { count++; if (n[f] >= 100 && n[f] > 6 * c[f]) { print name[f], n[f], c[f]; bad++ } } exit bad || count < 20 }' "$work/out"
}
for input in whole lost; do
	tap_check "$input: no function has more than six instructions a cycle" possible $input
done
# All cycles and instructions of these are perf's, which leaves out those after the last CYC.  The cycles
# of each call are rounded, up or down: so a function with few cycles can lack the root of its calls.
shared=$top_srcdir/../shared/recordings/truth
as_perf() { # NAME
	cp "$shared/$1/perf.data" "$work/shared"
	perf script -i "$work/shared" --symfs "$shared/symfs" --itrace=be -F ip,ipc 2>"$work/messages" |
		sed -n 's/.*IPC: [0-9.]* (\([0-9]*\)\/\([0-9]*\)).*/\1 \2/p' | awk '{ n += $1; c += $2 } END { print n, c }' >"$work/sums"
	"$program" -q --no-warn --format=callgrind --symfs="$(realpath "$shared/symfs")" --vdso="$shared/$1/vdso.so" "$work/shared" -o "$work/out" &&
		awk 'NR == FNR { n = $1; c = $2; next }
		/^c?fn=/ { match($0, /\([0-9]+\)/); f = substr($0, RSTART, RLENGTH); if (/^fn/) own = f }
		/^calls=/ { split($1, count, "="); calls[own] += count[2]; calls[f] += count[2]; edge = 1; next }
		/^[0-9+*-]/ { if (!edge) { insns += $2; cycles += $3; of[own] += $2; took[own] += $3 } edge = 0 }
		END { print insns, cycles, "perf:", n, c
			for (f in of) if (of[f] >= 100 && of[f] > 6 * (took[f] + sqrt(calls[f]))) { print f, of[f], took[f], calls[f]; bad++ }
			exit bad || !n || insns < n || insns > n * 1.001 || cycles < c || cycles > c * 1.001 }' "$work/sums" "$work/out"
}
for name in ls-l except; do
	if [ -f "$shared/$name/perf.data" ] && command -v perf >/dev/null; then
		tap_check "$name: instructions and cycles as perf, at most six instructions a cycle" as_perf $name
	else
		tap_skip "$name: instructions and cycles as perf, at most six instructions a cycle" "no ../shared, or no perf"
	fi
done
tap_done
