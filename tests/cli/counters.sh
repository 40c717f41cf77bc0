#!/bin/sh
# SPDX-License-Identifier: MIT
# --counters: every instruction, call and branch is in one stretch of time.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ftfdump=$top_builddir/ftfdump
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs/static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

"$ptsim" record --cyc --cpus=2 --seed=3 --truth=. -o threads -- "$programs/threads" >/dev/null 2>messages ||
	tap_skip_all "programs cannot be traced here: $(cat messages)"

# "pid/tid insns calls branches" of each track: rates times 100 us.
sums() { # TRACE...
	for trace in "$@"; do
		"$ftfdump" "$trace"
	done | sed -n 's/^0x[0-9a-f]* counter \([0-9/]*\) \([0-9]*\) "\([^"]*\)".* insns\/s=\([^ ]*\) calls\/s=\([^ ]*\) branches\/insn=\([^ ]*\).*/\1 \4 \5 \6 \3/p' |
		awk '{ insns[$1] += $2 / 10000; calls[$1] += $3 / 10000; branches[$1] += $2 / 10000 * $4; cpu[$1] = $5 == "CPU" }
			END { for (k in insns) printf "%s %s %.0f %.0f %.0f\n", cpu[k] ? "cpu" : "thread", k, insns[k], calls[k], branches[k] }' | sort
}
"$program" -q --counters=100us threads -o all.ftf && sums all.ftf >counted
instructions() {
	"$ftfdump" --check all.ftf >/dev/null || return 1
	"$program" -q --args=full --format=slices threads |
		awk '$2 == 0 { for (i = 6; i <= NF; i++) if ($i ~ /^insns=/) n[$1] += substr($i, 7) }
			END { for (k in n) print k, n[k] }' | sort >of_slices
	awk '$2 == 0 { sub("insns=", "", $6); n[$1] += $6 } END { for (k in n) print k, n[k] }' truth.counts | sort >true_counts
	awk '$1 == "thread" { print $2, $3 }' counted >ours
	[ "$(wc -l <ours)" -eq 5 ] && diff of_slices ours && diff true_counts ours
}
tap_check "a thread's sum is that of its slices, and true" instructions
branches() {
	"$program" -q --format=branches threads | awk '$3 == "call" { calls[$1]++ } $3 != "tr" || $5 == "syscall" { n[$1]++ }
		END { for (k in n) print k, calls[k] + 0, n[k] }' | sort >expected
	awk '$1 == "thread" { print $2, $4, $5 }' counted | diff expected -
}
tap_check "so are its calls and taken branches" branches
cpus() {
	[ "$(grep -c ^cpu counted)" -eq 2 ] &&
		awk '{ for (i = 3; i <= 5; i++) sum[$1, i] += $i }
			END { for (i = 3; i <= 5; i++) bad += sum["cpu", i] != sum["thread", i]; exit bad }' counted
}
tap_check "all CPUs together did what all threads did" cpus
# A counter keeps its value, so each stretch is followed by a value, also where nothing runs.
idle() {
	"$ftfdump" all.ftf | sed -n 's/^0x[0-9a-f]* counter \([0-9/]*\) \([0-9]*\) .* insns\/s=\([^ ]*\) .*/\1 \2 \3/p' | sort -k1,1 -k2,2n |
		awk 'key == $1 && last > 0 { if (substr($2, length($2) - 8) - time != 100000) { print; bad++ } }
			key != $1 && last > 0 { print "does not end: " key; bad++ }
			{ key = $1; time = substr($2, length($2) - 8); last = $3 } END { exit bad || last != 0 }'
}
tap_check "a counter is 0 where nothing ran" idle
true_cycles() {
	"$ftfdump" all.ftf | grep -q 'calls/s=.* ipc=0\.[1-9]' && "$ptsim" record -o mtc -- "$programs/tail" >/dev/null 2>&1 &&
		"$program" -q --counters=1ms mtc -o mtc.ftf && "$ftfdump" mtc.ftf >records &&
		grep -q 'insns/s=' records && ! grep -q ' ipc=' records
}
tap_check "instructions per cycle are shown where cycles are known" true_cycles
in_parts() {
	"$program" -q --counters=100us --split=500 threads -o part.ftf && "$program" -q --counters=100us -j 1 threads -o one.ftf || return 1
	for part in part.*.ftf; do
		"$ftfdump" --check "$part" >/dev/null || return 1
	done
	cmp all.ftf one.ftf && "$ftfdump" part.000.ftf | grep -q insns/s=
}
tap_check "with --split and any number of threads, too" in_parts
# Streams are merged in bursts, which depend on where they are cut.
any_cut() {
	"$ptsim" record --cyc --cpus=2 --seed=3 --quantum=2000 --psb-period=512 -o cut -- "$programs/threads" >/dev/null 2>&1 &&
		"$program" -q --counters=100ns -j 1 cut -o one.ftf || return 1
	for threads in 1 2 3 8; do
		PTRACE2FTF_SEGMENT=300 "$segments" -q --counters=100ns -j $threads cut -o many.ftf && cmp one.ftf many.ftf || return 1
	done
	"$ftfdump" one.ftf | awk '$2 == "counter" && !seen[$3]++ { if (/"CPU/) cpus++; else threads++ }
		END { exit cpus != 2 || threads < 5 }'
}
tap_check "wherever the trace of two CPUs is cut" any_cut
wrong() {
	"$program" -q --counters=1ms "$@" threads -o x 2>messages
	[ $? -eq 64 ]
}
wrong_usage() {
	wrong --format=slices && wrong --input=perf-script && wrong --counters=0
}
tap_check "--counters is of FTF and of perf.data" wrong_usage
tap_done
