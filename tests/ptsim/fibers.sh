#!/bin/sh
# SPDX-License-Identifier: MIT
# --fibers: programs that switch stacks have a track for each, counted against their sources.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
ftfdump=$top_builddir/ftfdump
programs=$top_builddir/tests/programs/static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

record() { # PROGRAM
	"$ptsim" record --cyc -o "$work/perf.data" -- "$programs/$1" >/dev/null 2>"$work/messages"
}
record coroutines || tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"

# By coroutines.c, each of two coroutines has six turns, so it is parked five times between them.
# descend() ends at depth 0, which the sixth turn is after.
coroutines() {
	record coroutines
	"$program" -q --no-warn -f slices --fibers "$work/perf.data" >"$work/slices" || return 1
	awk '{ sub(/.*\//, "", $1) } $1 > 5000000 && $5 ~ /^(run|descend|yield|\[parked\])$/ { n[$1 " " $5]++ }
		END { for (i in n) print i, n[i] }' "$work/slices" | sort >"$work/counted"
	cat >"$work/expected" <<-END
		5000001 [parked] 5
		5000001 descend 4
		5000001 run 1
		5000001 yield 6
		5000002 [parked] 5
		5000002 descend 5
		5000002 run 1
		5000002 yield 6
	END
	diff "$work/expected" "$work/counted"
}
tap_check "coroutines: a track for each, with its slices open while it is parked" coroutines

# A stack's own time is that in which it ran, so threads and stacks have the same sum.
same_sums() { # PROGRAM
	record "$1" || return 1
	for fibers in '' --fibers; do
		"$program" -q --no-warn -f folded $fibers -o - "$work/perf.data" |
			awk '!/;\[parked[^;]*\] [0-9]+$/ { sum += $NF } END { print sum }'
	done >"$work/sums"
	cat "$work/sums"
	[ "$(uniq "$work/sums" | wc -l)" -eq 1 ] && [ "$(head -n 1 "$work/sums")" -gt 1000 ]
}
for name in coroutines fibers switches; do
	tap_check "$name: own times without those of parked stacks add up as those of threads" same_sums $name
done

# The first and the second pass over a long trace find the same stacks.
passes() {
	"$program" -q --fibers -f chrome -o "$work/one.json" "$work/perf.data" &&
		"$program" -q --fibers -f chrome -j4 -o "$work/four.json" "$work/perf.data" &&
		cmp "$work/one.json" "$work/four.json" && grep -q '"[a-z]* > fiber 1 ' "$work/one.json"
}
tap_check "the output is the same with several threads, and names the tracks" passes

# By parked.c, steps 39, 79, 119, 159 and 199 park their stack, which a new thread "worker" resumes each time.
why_parked() {
	record parked || return 1
	"$program" why --fibers --symbol=step --json="$work/json" -o "$work/text" "$work/perf.data" 2>"$work/messages" || return 1
	cat "$work/text"
	mean=$("$program" -q --no-warn -f slices --fibers -o - "$work/perf.data" |
		awk '/ \[parked, resumed by worker\]/ { sum += $4 - $3; n++ } END { printf "%d %d", n, sum / 5 }')
	grep -q '^step: [0-9]* of 200 calls longer' "$work/text" && grep -q '^extra time: .*% parked' "$work/text" &&
		grep -A 1 '^   5 calls' "$work/text" | grep -q '^   parked [0-9.]*us, resumed by worker$' &&
		[ "$(jq -r '.answer.functions[0].clusters[0] | "\(.kind) \(.calls) \(.facts[] | select(.kind == "parked").extra_ns | floor)"' "$work/json")" = "parked $mean" ] || return 1
	# Its commands run: branches are those of threads.
	grep -q '^next: .*--format=branches' "$work/text" && ! grep -q -e '--tid' "$work/text"
}
tap_check "why --fibers: a call that is slow because its stack was parked says so" why_parked

# By parked.c, main starts the task, and it and five threads get it back; in between, the threads resume it.
arrows() {
	"$program" -q --fibers -o "$work/arrows.ftf" "$work/perf.data" && "$ftfdump" --check "$work/arrows.ftf" &&
		"$ftfdump" "$work/arrows.ftf" >"$work/records" || return 1
	awk '/ flow-begin /{ from[$NF] = $3; begin[$NF] = $4 } / flow-end /{ to[$NF] = $3; end[$NF] = $4; ends++ }
		END {
			for (i in from) {
				sub(/.*\//, "", from[i]); sub(/.*\//, "", to[i])
				if (to[i] == "" || end[i] < begin[i])
					print "arrow", i, "from", from[i], begin[i], "to", to[i], end[i]
				into += to[i] == 5000001; out += from[i] == 5000001
				threads[from[i]] threads[to[i]]
			}
			print into, out, ends, length(threads)
		}' "$work/records" >"$work/counted"
	cat "$work/counted"
	[ "$(cat "$work/counted")" = "6 6 12 7" ]
}
tap_check "an FTF has an arrow from each switch to the stack that runs next" arrows

refused() {
	"$program" --fibers -f branches "$work/perf.data" >/dev/null 2>"$work/messages"
	[ $? -eq 64 ] && grep -q '^ptrace2ftf: --fibers needs' "$work/messages"
}
tap_check "formats without slices refuse it" refused

# On its own, a pattern that no function has changes nothing; names of magic-trace's machine have no code.
no_switch() {
	"$program" -q -f slices -o "$work/one" "$work/perf.data" &&
		"$program" -q -f slices --switch-function='no_such_*' -o "$work/two" "$work/perf.data" &&
		cmp "$work/one" "$work/two" || return 1
	"$program" --switch-function=f --stacks=magic-trace "$work/perf.data" 2>"$work/messages"
	[ $? -eq 64 ] && grep -q 'needs --stacks=precise' "$work/messages"
}
tap_check "--switch-function changes only the functions that it names" no_switch

hidden() {
	"$program" -q --hide=@perl "$work/perf.data" 2>"$work/messages"
	[ $? -eq 64 ] && grep -q "expected .*@cpython" "$work/messages"
}
tap_check "an unknown preset of --hide is an error" hidden
tap_done
