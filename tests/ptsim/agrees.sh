#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs recorded by ptsim: perf script, libipt and ptrace2ftf each find
# exactly the branches that were executed.  With LONG=1 (make check-long) every
# program with every set of options, and some programs of the system.
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/support/stack_rules.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
programs=$top_builddir/tests/programs
static=$programs/static
insns=$top_builddir/tests/ptsim/libipt_branches
awk_script=$top_srcdir/tests/oracle/branches.awk
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$ptsim" record -o "$work/perf.data" -- "$static/tail" >/dev/null 2>"$work/messages" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"

same() { # A B
	cmp -s "$1" "$2" && return 0
	diff "$1" "$2" | head -20
	return 1
}

normal() { # FILE [-v VAR=VALUE]...: branches per thread in one form
	normal_file=$1
	shift
	awk "$@" -f "$awk_script" "$normal_file" | sort -s -k1,1n
}

record() { # OPTIONS... -- PROGRAM ARGS: into $work
	"$ptsim" record --truth="$work" -o "$work/perf.data" "$@" >"$work/output" 2>"$work/messages" ||
		{ cat "$work/messages"; return 1; }
	normal "$work/truth.branches" -v truth=1 >"$work/truth"
	wc -l <"$work/truth" >>"$work/compared"
}

perf_agrees() {
	if perf script -i "$work/perf.data" --itrace=b -F pid,tid,time,flags,ip,addr --ns \
		>"$work/text" 2>"$work/messages"; then
		:
	else # without timing packets perf gives no times
		perf script -i "$work/perf.data" --itrace=b -F pid,tid,flags,ip,addr \
			2>"$work/messages" | sed 's/^ *\([0-9]*\/[0-9]*\) */\1 0.0:   /' >"$work/text"
	fi
	normal "$work/text" >"$work/perf"
	same "$work/truth" "$work/perf"
}

read_ours() { # OPTIONS...
	"$program" -q --no-warn --format=branches "$@" "$work/perf.data" >"$work/text" || return 1
	normal "$work/text" >"$work/ours"
}

# Both engines find the same branches, with times at most an MTC period apart.
# Before a gap libipt can take a later packet's time for the last branches; perf script's times are ours.
engines_agree() {
	"$program" --verify --no-warn --format=none "$work/perf.data" 2>"$work/messages" || return 1
	found=$(sed -n 's/.*by libipt: 0 differ; \([0-9]*\) branches.*/\1/p' "$work/messages")
	echo "${found:-0}" >>"$work/verified"
	[ "${found:-0}" -gt "$(($(wc -l <"$work/truth") / 2))" ] &&
		! grep 'libipt finds' "$work/messages" | grep -vE 'finds [1-4] of [0-9]+ branches more than an MTC period' && return 0
	cat "$work/messages"
	return 1
}

# Status 2, and each branch that was executed is the same in libipt, or counted as not compared.
libipt_loses_some() {
	"$program" --verify --format=none "$work/perf.data" 2>"$work/messages"
	[ $? -eq 2 ] && grep -q 'warning: cannot compare .* after a return to an old' "$work/messages" &&
		sed -n 's/.*; \([0-9]*\) branches are the same.*; \([0-9]*\) were not compared/\1 \2/p' "$work/messages" |
		awk -v all="$(wc -l <"$work/truth")" '$2 > 0 && $1 + $2 == all { ok = 1 } END { exit !ok }' &&
		return 0
	cat "$work/messages"
	return 1
}

libipt_finds_all() {
	"$program" --verify --format=none "$work/perf.data" 2>"$work/messages" &&
		grep -q "; $(wc -l <"$work/truth") branches are the same.*; 0 were not compared" "$work/messages" &&
		return 0
	cat "$work/messages"
	return 1
}

we_agree() {
	read_ours && same "$work/truth" "$work/ours"
}

libipt_agrees() {
	"$insns" "$work/perf.data" >"$work/text" || return 1
	awk '{ print $6, $7, $8 }' "$work/truth.branches" |
		sed 's/^icall/call/; s/^ijmp/jmp/; s/^ret /return /' >"$work/truth.one"
	same "$work/truth.one" "$work/text"
}

flow() { # LIST: without marks and resumptions, which each decoder places in its own way
	grep -Ev ' (gap|resume|ovf|ovfend|lost|lostend) ' "$1"
}

# No branch is invented, and each missing branch was lost, except direct branches beside
# a lost stretch, which no packet proves.
we_agree_outside_losses() {
	read_ours || return 1
	flow "$work/truth" >"$work/all"
	flow "$work/ours" >"$work/mine"
	awk '$6 == "ovfend" || $6 == "lostend" { off = 0; next } $6 == "ovf" || $6 == "lost" { off = 1 } !off' \
		"$work/truth.branches" >"$work/kept.branches"
	normal "$work/kept.branches" -v truth=1 | flow - >"$work/kept"
	losses=$(grep -cE ' (ovf|lost) ' "$work/truth.branches")
	[ "$losses" -gt 0 ] || { echo "nothing was lost"; return 1; }
	diff -d "$work/all" "$work/mine" | grep '^>' && return 1
	diff -d "$work/kept" "$work/mine" | grep '^<' >"$work/missing"
	! grep -vE ' (call|jmp) ' "$work/missing" && [ "$(wc -l <"$work/missing")" -le $((8 * losses)) ] &&
		[ "$(grep -c ' gap ' "$work/ours")" -ge "$losses" ]
}

# decoded + skipped + lost = total, in the summary
we_count_all_bytes() {
	"$program" --no-warn --format=none "$work/perf.data" 2>"$work/summary" || return 1
	grep -q 'bytes of trace' "$work/summary" || return 1
	sed -n 's/.* \([0-9]*\) bytes of trace (\([0-9]*\) decoded, \([0-9]*\) [^,]*, \([0-9]*\) lost).*/\1 \2 \3 \4/p' \
		"$work/summary" | awk '$1 != $2 + $3 + $4 { print; bad = 1 } END { exit bad }'
}

we_give_the_end() {
	read_ours || return 1
	tail -n "$(wc -l <"$work/ours")" "$work/truth" >"$work/end"
	[ "$(wc -l <"$work/ours")" -gt 1000 ] && same "$work/end" "$work/ours"
}

# The trace fills several windows of 1 MiB; pieces and packets straddle their borders.
we_find_every_copy() { # BYTES
	copies=$(($1 / $(sed -n 's/.*branches, \([0-9]*\) bytes.*/\1/p' "$work/messages") + 1))
	found=$("$program" --format=none "$work/perf.data" 2>&1 | sed -n 's/.*: \([0-9]*\) branches.*/\1/p')
	[ "$found" -eq $((copies * $(wc -l <"$work/truth"))) ] ||
		{ echo "$found branches in $copies copies of $(wc -l <"$work/truth")"; return 1; }
}

we_lose_only_code_without_bytes() {
	read_ours || return 1
	flow "$work/truth" >"$work/all"
	flow "$work/ours" >"$work/mine"
	! diff -d "$work/all" "$work/mine" | grep '^>' || return 1
	[ "$(($(wc -l <"$work/all") - $(wc -l <"$work/mine")))" -lt 1000 ]
}

check() { # TITLE OPTIONS... -- PROGRAM ARGS
	title=$1
	shift
	tap_check "$title: is recorded" record "$@"
	if [ -n "$perf" ] && command -v perf >/dev/null; then
		tap_check "$title: perf script finds the truth" perf_agrees
	fi
	tap_check "$title: ptrace2ftf finds the truth" we_agree
	tap_check "$title: both engines agree" engines_agree
	tap_check "$title: slices keep the rules of stacks" keeps_rules "$programs" "$work/perf.data"
}

check_libipt() { # TITLE OPTIONS... -- PROGRAM ARGS: one thread only
	check "$@"
	tap_check "$1: libipt's instruction decoder finds the truth" libipt_agrees
}

check_losses() { # TITLE OPTIONS... -- PROGRAM ARGS
	title=$1
	shift
	tap_check "$title: is recorded" record "$@"
	tap_check "$title: ptrace2ftf finds the truth outside of losses" we_agree_outside_losses
	tap_check "$title: every byte of trace is accounted for" we_count_all_bytes
	tap_check "$title: both engines agree" engines_agree
}

# Static programs execute a third of the instructions, as nothing is linked at run time.
selection() {
	check_libipt "recursion" -- "$static/recursion"
	check_libipt "recursion, CYC" --cyc --seed=7 -- "$static/recursion"
	check "recursion, no timing" --no-tsc --no-mtc --per-thread -- "$static/recursion"
	check_libipt "tail calls, no RET compression" --no-retcomp -- "$static/tail"
	check_libipt "indirect calls, long TNT" --long-tnt --psb-period=2048 -- "$static/indirect"
	check_libipt "longjmp, no MTC" --no-mtc -- "$static/longjmp"
	check_libipt "tail calls, a mapping for each page" --map-pages -- "$programs/tail"
	check "plug-ins at one address" --inodes -- "$programs/plugins"
	# Not for libipt's decoder, which does not pop its stack at uncompressed returns.
	check "coroutines, CYC" --cyc --cpus=2 -- "$static/coroutines"
	tap_check "coroutines: --verify counts the branches that libipt loses" libipt_loses_some
	check "coroutines, no RET compression" --no-retcomp -- "$static/coroutines"
	tap_check "coroutines, no RET compression: --verify compares all" libipt_finds_all
	check "signals" --cpus=2 --seed=5 -- "$static/signals"
	check "threads, CYC, 2 CPUs" --cpus=2 --cyc --seed=7 --quantum=3000 -- "$static/threads"
	check "processes, 2 CPUs" --cpus=2 -- "$static/family"
	check "ls -l, with vdso" --cpus=2 -- ls -ld /
	perf= # it goes by time only
	check "exec at the same addresses, no timing" --no-tsc --no-mtc --per-thread -- "$static/execs" 2 "$static/tail"
	perf=yes
	check_losses "signals, overflows" --overflows=1500 -- "$static/signals"
	check_losses "indirect calls, full buffers, CYC" --lose=10000 --cyc -- "$static/indirect"
	tap_check "snapshot: is recorded" record --snapshot=4096 --psb-period=1024 -- "$static/recursion"
	tap_check "snapshot: ptrace2ftf finds the truth's end" we_give_the_end
	tap_check "3 MB of trace: is recorded" record --per-thread --repeat=3000000 -- "$static/tail"
	tap_check "3 MB of trace: ptrace2ftf finds every copy" we_find_every_copy 3000000
	tap_check "code made at run time: is recorded" record -- "$programs/jit"
	tap_check "code made at run time: only that is missing" we_lose_only_code_without_bytes
}

perf=yes

everything() {
	for options in "" "--cyc" "--no-mtc" "--no-retcomp" "--long-tnt --psb-period=2048" \
		"--per-thread --cyc" "--cpus=4 --quantum=2000 --cyc" "--mtc-period=9"; do
		for name in recursion tail indirect longjmp plugins coroutines signals threads family except; do
			# With a time only at each PSB, or every 20 us, perf cannot know
			# which code was mapped when.
			case $name$options in
			plugins--no-mtc | family--no-mtc | family--mtc-period=9) perf= ;;
			*) perf=yes ;;
			esac
			# shellcheck disable=SC2086 # words
			check "$name $options" $options --seed=11 -- "$programs/$name"
		done
	done
	for name in recursion indirect longjmp signals except; do
		check_losses "$name, overflows" --overflows=2000 --cyc -- "$programs/$name"
		check_losses "$name, full buffers" --lose=20000 -- "$programs/$name"
	done
	perf= # it goes by time only
	check "exec at the same addresses, MTC seldom" --mtc-period=9 -- "$static/execs" 2 "$static/tail"
	check "exec at the same addresses, TSC only" --no-mtc --per-thread -- "$static/execs" 2 "$static/tail"
	seq 5000 | sort -R >"$work/numbers"
	head -c 1000000 /dev/urandom >"$work/noise"
	perf=yes
	check "ls -l" --cpus=2 -- ls -l /etc
	check "sort" --cyc -- sort "$work/numbers"
	check "gzip of 1 MB" --instructions=5000000 -- gzip -c "$work/noise"
	check "sh" --cpus=2 -- sh -c 'ls / | sort -r | head -3'
	command -v python3 >/dev/null && check "python3, its start" --instructions=5000000 -- python3 -S -c 1
}

if [ -n "$LONG" ]; then
	everything
else
	selection
fi
echo "# $(awk '{ n += $1 } END { print n }' "$work/compared") branches compared," \
	"$(awk '{ n += $1 } END { print n }' "$work/verified") of them with libipt's"
tap_done
