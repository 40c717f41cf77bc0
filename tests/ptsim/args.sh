#!/bin/sh
# SPDX-License-Identifier: MIT
# The arguments of slices (--args) of programs recorded by ptsim.  How many instructions
# each slice has is compared in stacks.sh.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
programs=$top_builddir/tests/programs/static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$ptsim" record --cyc --truth="$work" -o "$work/perf.data" -- "$programs/signals" >/dev/null \
	2>"$work/messages" || tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"
"$program" -q --args=full --format=slices "$work/perf.data" >"$work/full"

# "target file:line" of each call that was executed and has a line.
called_from() {
	awk '$6 ~ /call$/ { print $7, $8 }' "$work/truth.branches" | sort -u >"$work/calls"
	cut -d ' ' -f 1 "$work/calls" | addr2line -e "$programs/signals" | sed 's/ (discriminator.*//' |
		paste -d ' ' "$work/calls" - | cut -d ' ' -f 2- | grep -v '?' | sort -u
}

callers() {
	called_from >"$work/expected"
	# The caller of a tail call is a jump: tails.sh.
	sed -n '/ tail_call=/!s/.* address=0x\([0-9a-f]*\) .*caller=\([^ ]*\).*/\1 \2/p' "$work/full" | sort -u >"$work/ours"
	cut -d ' ' -f 1 "$work/expected" | sort -u | join "$work/ours" - >"$work/direct"
	[ "$(wc -l <"$work/expected")" -gt 20 ] && diff "$work/expected" "$work/direct"
}
if command -v addr2line >/dev/null; then
	tap_check "full: the caller is the line that addr2line gives for the call" callers
else
	tap_skip "full: the caller is the line that addr2line gives for the call" "no addr2line"
fi

# perf prints "IPC: n (instructions/cycles)", counted since the last IPC.
perf_totals() {
	perf script -i "$work/perf.data" --itrace=b -F ip,ipc 2>/dev/null |
		sed -n 's/.*(\([0-9]*\)\/\([0-9]*\)).*/\1 \2/p' | awk '{ i += $1; c += $2 } END { print i, c }'
}

true_instructions() {
	awk '$2 == 0 { sub("insns=", "", $NF); i += $NF } END { print i }' "$work/truth.counts"
}

totals() {
	sed -n 's/^[^ ]* 0 .* insns=\([0-9]*\) cycles=\([0-9]*\) .*/\1 \2/p' "$work/full" |
		awk '{ i += $1; c += $2 } END { print i, c }' >"$work/sums"
	perf_totals >>"$work/sums"
	true_instructions >>"$work/sums"
	cat "$work/sums"
	# Cycles between the last branch and the end of the trace belong to no branch.
	# perf prints no instructions of the branches after the last CYC packet; we count all that
	# were executed.
	awk '{ i[NR] = $1; c[NR] = $2 }
		END { exit !(i[1] > 10000 && i[1] == i[3] && i[1] >= i[2] && i[1] < i[2] * 1.003 && c[1] >= c[2] && c[1] < c[2] * 1.001) }' \
		"$work/sums"
}
if command -v perf >/dev/null; then
	# seeds.md: synthesized instructions and cycles (i, y)
	tap_check "full: instructions and cycles of the outermost slice are what perf counts" totals
else
	tap_skip "full: instructions and cycles of the outermost slice are what perf counts" "no perf"
fi

# Without CYC packets, TNT packets follow each other, and the decoder takes many decisions at once.
executed() { # PROGRAM
	"$ptsim" record --truth="$work" -o "$work/mtc" -- "$programs/$1" >/dev/null 2>&1
	"$program" -q --args=full --format=slices "$work/mtc" |
		sed -n 's/^[^ ]* 0 .* insns=\([0-9]*\).*/\1/p' | awk '{ i += $1 } END { print i }' >"$work/ours"
	true_instructions >"$work/expected"
	"$program" --format=none "$work/mtc" 2>&1 | sed -n 's/.*: \([0-9]*\) branches on .*/\1/p' >>"$work/ours"
	wc -l <"$work/truth.branches" >>"$work/expected"
	[ "$(head -n 1 "$work/expected")" -gt 10000 ] && diff "$work/expected" "$work/ours"
}
for one in indirect signals threads; do
	tap_check "full: instructions and branches are those that were executed: $one" executed "$one"
done

ratio() {
	awk '{ insns = cycles = ipc = 0
		for (i = 6; i <= NF; i++) {
			split($i, part, "=")
			if (part[1] == "insns") insns = part[2]
			if (part[1] == "cycles") cycles = part[2]
			if (part[1] == "ipc") ipc = part[2]
		}
		if (!cycles) next
		n++
		if (ipc - insns / cycles > 0.006 || insns / cycles - ipc > 0.006) { print; wrong++ } }
		END { exit wrong || n < 100 }' "$work/full"
}
tap_check "full: ipc is instructions by cycles" ratio

same_in_ftf() {
	"$program" -q --args=full -o "$work/out.ftf" "$work/perf.data" &&
		"$top_builddir/ftfdump" --slices "$work/out.ftf" | diff - "$work/full"
}
tap_check "full: the trace file says the same" same_in_ftf

nothing() {
	"$program" -q --args=none --format=slices "$work/perf.data" >"$work/none" || return 1
	! grep '=' "$work/none" || return 1
	"$program" -q --args=none -o "$work/out.ftf" "$work/perf.data" &&
		"$top_builddir/ftfdump" --slices "$work/out.ftf" | diff - "$work/none"
}
tap_check "none: slices have names only" nothing

loc_only() {
	"$program" -q --format=slices "$work/perf.data" >"$work/loc"
	"$program" -q --args=loc --format=slices "$work/perf.data" | cmp - "$work/loc" && grep -q ' loc=' "$work/loc" &&
		sed 's/ address=[^ ]*//; s/ symbol=[^ ]*//; s/ line=\([0-9]*\)\( col=[0-9]*\)* file=\([^ ]*\)/ loc=\3:\1/
			s/ caller=.*//; s/ insns=.*//; s/ estimated=true//' "$work/full" >"$work/expected" &&
		diff "$work/expected" "$work/loc"
}
tap_check "loc is the default: of what full has, FILE:LINE and the marks" loc_only

line_only() {
	"$program" -q --args=line --format=slices "$work/perf.data" >"$work/line"
	grep -q ' estimated=true' "$work/full" && ! grep ' estimated=true' "$work/line" &&
		sed 's/ symbol=[^ ]*//' "$work/line" >"$work/without" &&
		sed 's/ caller=.*//; s/ insns=.*//; s/ estimated=true//; s/ symbol=[^ ]*//' "$work/full" |
		diff - "$work/without"
}
tap_check "line: full has the same and more" line_only

# The program's functions call each other by jumps only; start-up code has more jumps.
true_tail_calls() {
	"$ptsim" record --cpus=2 --truth="$work" -o "$work/tail" -- "$programs/tail" >/dev/null || return 1
	nm -S "$programs/tail" | awk '$4 ~ /^(even|odd|finish)$/' >"$work/functions"
	awk '
		function number(hex,    i, n) {
			for (i = 1; i <= length(hex); i++)
				n = n * 16 + index("123456789abcdef", substr(hex, i, 1))
			return n
		}
		FNR == NR { begin[$4] = number($1); end[$4] = number($1) + number($2); next }
		$6 ~ /^j/ {
			for (a in begin)
				for (b in begin)
					if (a != b && number($8) == begin[b] && number($7) >= begin[a] && number($7) < end[a])
						print a, b
		}' "$work/functions" "$work/truth.branches"
}

arrows() { # OPTIONS...
	"$program" -q --stacks=flows "$@" -o "$work/out.ftf" "$work/tail" && "$top_builddir/ftfdump" --check "$work/out.ftf" &&
		"$top_builddir/ftfdump" "$work/out.ftf" | awk -f "$top_srcdir/tests/ptsim/flows.awk" >"$work/arrows" &&
		! grep WRONG "$work/arrows"
}

flows() {
	true_tail_calls | sort >"$work/expected"
	[ "$(wc -l <"$work/expected")" -eq 440 ] || { wc -l "$work/expected"; return 1; }
	for level in none loc line full; do
		arrows --args=$level && grep -E '^(even|odd|finish) ' "$work/arrows" | sort | diff "$work/expected" - ||
			return 1
		"$program" -q --stacks=replace --args=$level --format=slices "$work/tail" >"$work/slices"
		"$top_builddir/ftfdump" --slices "$work/out.ftf" | diff - "$work/slices" || return 1
	done
}
tap_check "flows: an arrow for each tail call, in the slices of both functions, which stay the same" flows

# A slice that is left out has no arrow; in each part and each cut file, arrows are whole.
flows_of_parts() {
	arrows --hide=finish && grep -q '^even odd$' "$work/arrows" && ! grep finish "$work/arrows" &&
		arrows --hide=odd && grep -q '^even even$' "$work/arrows" && ! grep odd "$work/arrows" &&
		arrows --symbol=odd && ! grep . "$work/arrows" && arrows --inline && grep -q '^odd even$' "$work/arrows" &&
		arrows && cut=$(($(wc -c <"$work/out.ftf") * 3 / 4000))K &&
		arrows --no-warn --max-output="$cut" && [ "$(wc -l <"$work/arrows")" -gt 20 ] || return 1
	"$program" -q --stacks=flows --split=50 -o "$work/part.ftf" "$work/tail" || return 1
	for part in "$work"/part.*.ftf; do
		"$top_builddir/ftfdump" --check "$part" &&
			"$top_builddir/ftfdump" "$part" | awk -f "$top_srcdir/tests/ptsim/flows.awk" || return 1
	done >"$work/arrows"
	! grep WRONG "$work/arrows" && [ "$(grep -c '^\(even\|odd\) ' "$work/arrows")" -gt 400 ]
}
tap_check "flows: with a selection, in parts and cut, each arrow has both its slices" flows_of_parts
tap_done
