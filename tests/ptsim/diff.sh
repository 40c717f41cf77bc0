#!/bin/sh
# SPDX-License-Identifier: MIT
# `ptrace2ftf diff`: two versions of a program that ptsim records, against the true counts.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
programs=$top_builddir/tests/programs/static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for version in a b; do
	mkdir "$work/$version"
	"$ptsim" record --truth="$work/$version" -o "$work/$version.data" -- "$programs/version_$version" \
		>/dev/null 2>"$work/messages" ||
		tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"
done
compare() { # OPTIONS...
	"$program" diff "$@" "$work/a.data" "$work/b.data" >"$work/out" 2>"$work/messages"
	status=$?
}

# Print "FUNCTION CALLS INSTRUCTIONS" of a version; instructions include the callees'.
true_counts() { # VERSION
	awk '$5 !~ /^\[/ { sub("insns=", "", $NF); all[$5] += $NF; calls[$5]++ }
		END { for (f in calls) print f, calls[f], all[f] }' "$work/$1/truth.counts" | sort
}
# The same of the JSON, for functions that are not recursive. The truth has one name for a function
# and its clones (f.part.0), whose rows are added. The own instructions of all functions add up to
# those of the outermost function and its callees.
our_counts() { # SIDE
	python3 - "$1" "$work/json" <<-'END' | sort
		import collections, json, sys
		calls, own, all = collections.Counter(), collections.Counter(), collections.Counter()
		for f in json.load(open(sys.argv[2]))["functions"]:
		    name, side = f["name"].split(".")[0], f[sys.argv[1]] or {}
		    for sums, key in (calls, "calls"), (own, "self_insns"), (all, "total_insns"):
		        sums[name] += side.get(key, 0)
		for name in calls:
		    if calls[name] and not name.startswith("["):
		        print(name, calls[name], all[name])
		assert sum(own.values()) == all["_start"], (sum(own.values()), all["_start"])
		assert own["parse_word"] == all["parse_word"] and own["parse_line"] == all["parse_line"] - all["parse_word"]
	END
}
# By the truth, a function that jumps to another ends.
counts_are_true() {
	compare --stacks=replace --json="$work/json" -o "$work/table"
	[ $status -eq 0 ] || { cat "$work/messages"; return 1; }
	for version in a b; do
		true_counts $version >"$work/true"
		our_counts $version | diff "$work/true" - || return 1
		[ "$(wc -l <"$work/true")" -gt 50 ] || return 1
	done
}
if command -v python3 >/dev/null; then
	tap_check "calls and instructions of both are the true ones" counts_are_true
else
	tap_skip "calls and instructions of both are the true ones" "no python3"
fi

# Each round of the loop has the same instructions, and 200 calls have 5 more.
ranks() {
	compare
	[ $status -eq 0 ] || { cat "$work/messages"; return 1; }
	sed '1,/all functions/d' "$work/out" | awk '$NF ~ /^\(/ || /untraced|syscall/ { print $(NF - 1), $3 }' | grep -v '^.*\[' >"$work/got"
	head -n 1 "$work/got" | grep -q '^parse_word +2[0-9]\.[0-9]%$' &&
		grep -q '^added new$' "$work/got" && grep -q '^removed gone$' "$work/got" &&
		! grep -E '^(check|main|parse_line) ' "$work/got" &&
		grep -q 'have the same calls and instructions$' "$work/out" || { cat "$work/out"; return 1; }
}
tap_check "the function that grew is first; new and gone ones are named; equal ones are left out" ranks

first_rows() {
	compare && sed '1,/all functions/d' "$work/out" >"$work/all" && rows=$(grep -c '(version_[ab])$' "$work/all") &&
		sed 2q "$work/all" >"$work/got"
	compare --top=2 && sed '1,/all functions/d' "$work/out" >"$work/all" && sed 2q "$work/all" | cmp - "$work/got" &&
		[ "$(grep -c '(version_[ab])$' "$work/all")" -eq 2 ] &&
		grep -q "^[1-9][0-9]* more functions differ$" "$work/out" && [ "$rows" -gt 2 ] || { cat "$work/out"; return 1; }
}
tap_check "--top=2 shows two rows, and counts the others" first_rows

# 200 calls of parse_word have 5 rounds more each; its callers are named first.
callers() {
	compare && sed '/instructions A/,$d' "$work/out" >"$work/callers" && grep -q ' parse_line (version_b)$' "$work/callers" &&
		! grep -q 'parse_word' "$work/callers" || { cat "$work/out"; return 1; }
	compare --report=markdown && sed '/own instructions/,$d' "$work/out" | grep -q '^| parse.*line | [0-9]* | [0-9]* | +[0-9.]*% | +[0-9.]*% | 20 | 20 |$' &&
		grep -q '^\*\*Instructions: [0-9]* -> [0-9]* (+[0-9.]*%)\*\*$' "$work/out" || { cat "$work/out"; return 1; }
}
tap_check "callers of what changed are first" callers

with_callees() {
	compare --sort=total
	awk '/\(version_b\)$/ { print $(NF - 1) }' "$work/out" | sort >"$work/got"
	for f in main parse_line parse_word; do
		grep -qx $f "$work/got" || { cat "$work/out"; return 1; }
	done
}
tap_check "--sort=total: functions whose callees changed, too" with_callees

exceeds() { # STATUS OPTIONS...
	expected=$1
	shift
	compare -q -o "$work/table" "$@"
	[ $status -eq "$expected" ] || { echo "$*: status $status"; cat "$work/messages"; return 1; }
}
limits() {
	exceeds 0 --fail-if=insns:+50% --fail-if=calls:+0 --fail-if='calls@parse_*:+0' --fail-if='insns@check:+0' --fail-if='self@parse_line:+0' &&
		exceeds 3 --fail-if=insns:+1% && grep -q ': all functions: [0-9]* -> [0-9]* (+[0-9]*, ' "$work/messages" &&
		exceeds 3 --fail-if='insns@parse_*:+0' && grep -q ': parse_line: ' "$work/messages" &&
		exceeds 3 --fail-if='self@parse_*:+0' && grep -q ': parse_word: ' "$work/messages" && ! grep -q ': parse_line: ' "$work/messages" &&
		exceeds 3 --fail-if=calls@added:+0 && exceeds 64 --fail-if=insns && exceeds 64 --fail-if=speed:+1%
}
tap_check "--fail-if: status 3 if a sum, or a function with its callees, grew by more" limits

# A gate must not pass because the guarded function no longer runs.
guards_nothing() {
	for metric in insns self calls time; do
		for glob in removed 'remove*' '*d'; do
			exceeds 3 --fail-if="$metric@$glob:+1000%" --json="$work/json" &&
				grep -q "=$metric@.*: removed: [0-9]* -> 0 (gone: inlined, renamed or not called)$" "$work/messages" &&
				grep -A 1 '"condition"' "$work/json" | grep -q '"function": "removed"' || return 1
		done
		exceeds 3 --fail-if="$metric@nothing:+0" --no-warn &&
			grep -q ': nothing: 0 -> 0 (no function of this name was called)$' "$work/messages" || return 1
	done
}
tap_check "--fail-if: status 3 for a function that is gone, and for one that never was" guards_nothing
# The same program with 50 times as many interrupts.
interrupted() {
	"$ptsim" record --interrupts=100 -o "$work/c.data" -- "$programs/version_a" >/dev/null 2>&1 || return 1
	for condition in 'calls@*:+0' 'insns@*:+0'; do
		"$program" diff -q --fail-if="$condition" "$work/a.data" "$work/c.data" >"$work/out" 2>&1 || return 1
	done
	"$program" diff -q --fail-if='calls@[[]untraced]:+0' "$work/a.data" "$work/c.data" >"$work/out" 2>&1
	[ $? -eq 3 ]
}
tap_check "--fail-if: [untraced] is no function, unless it is named" interrupted

# A stack without a whole nanosecond in one of them is not in its flame graph.
stacks() {
	compare -q -f folded
	[ $status -eq 0 ] || { cat "$work/messages"; return 1; }
	for version in a b; do
		"$program" -q -f folded "$work/$version.data" | sed "s/^[^;]*//; s/ [0-9]*\$/ $version&/"
	done | awk '{ time = $NF; version = $(NF - 1); sub(/ [ab] [0-9]*$/, ""); times[$0, version] = time; stacks[$0] }
		END { for (s in stacks) print s, times[s, "a"] + 0, times[s, "b"] + 0 }' | sort >"$work/all"
	sed 's/^[^;]*//' "$work/out" | sort | diff "$work/all" - && grep -q ';parse_line;parse_word [1-9][0-9]* [1-9][0-9]*$' "$work/out"
}
tap_check "-f folded: each stack once, with both times" stacks

# B's files are elsewhere, so the option is for B only.
sides() {
	mkdir -p "$work/root"
	compare -q --symfs-b="$work/root"
	[ $status -eq 2 ] && grep -q ' gone ' "$work/out" || { cat "$work/out"; return 1; }
	compare --symfs-b="$work/root"
	grep -q "warning: $work/b.data: " "$work/messages" && ! grep -q "warning: $work/a.data: " "$work/messages"
}
tap_check "--symfs-b is of B only, and warnings name the recording" sides

refuses() { # STATUS TEXT ARGUMENTS...
	expected=$1
	text=$2
	shift 2
	"$program" diff "$@" >"$work/out" 2>"$work/messages"
	[ $? -eq "$expected" ] && grep -q "$text" "$work/messages" || { cat "$work/messages"; return 1; }
}
wrong() {
	cp "$work/a.data" "$work/kept"
	refuses 64 "two recordings" "$work/a.data" && refuses 64 "two recordings" "$work/a.data" "$work/b.data" "$work/b.data" &&
		refuses 64 "standard input" - "$work/b.data" && refuses 64 "a table" -f html "$work/a.data" "$work/b.data" &&
		refuses 1 "none: cannot open" "$work/none" "$work/b.data" &&
		refuses 1 "kept" "$work/kept" "$work/b.data" -o "$work/kept" &&
		refuses 64 "recording" "$work/a.data" "$work/b.data" -o "$work/a.data" &&
		refuses 1 "a.data" "$work/b.data" "$work/a.data" --json="$work/a.data" && cmp "$work/a.data" "$work/kept" &&
		mkdir -p "$work/root$programs" && cp "$programs/version_b" "$work/root$programs" &&
		refuses 1 "is the input" --symfs="$work/root" "$work/b.data" "$work/b.data" -o "$work/root$programs/version_b" &&
		cmp "$programs/version_b" "$work/root$programs/version_b"
}
tap_check "what cannot be compared is refused, and an input is no output" wrong

renamed() {
	for version in a b; do
		"$ptsim" record -o "$work/r$version" -- "$programs/renamed_$version" >/dev/null 2>&1 || return 1
	done
	"$program" diff "$work/ra" "$work/rb" >"$work/out" && grep -q '^2 likely renamed: 1 by their code, 1 by their callers and callees$' "$work/out" &&
		grep -q ' tally_words (renamed_b), likely was count_words, by its code$' "$work/out" &&
		grep -q ' strip_line (renamed_b), likely was trim_line, by its callers and callees$' "$work/out" &&
		[ "$(grep -cE ' gone .* (old_sum|pass_first) | new .* (new_mix|pass_second) ' "$work/out")" = 4 ] || { cat "$work/out"; return 1; }
	"$program" diff --report=markdown "$work/ra" "$work/rb" >"$work/out" &&
		grep -q '^| tally.*words, likely was count.*words, by its code |' "$work/out" && grep -q '^2 likely renamed: ' "$work/out" || return 1
	"$program" diff --json "$work/ra" "$work/rb" >"$work/out" && grep -A 1 '"was": "count_words"' "$work/out" | grep -q '"was_by": "code"' &&
		grep -A 1 '"was": "trim_line"' "$work/out" | grep -q '"was_by": "callers and callees"' || { cat "$work/out"; return 1; }
}
tap_check "renamed functions are found by their code, or their callers and callees" renamed

gaps() {
	"$top_builddir/tests/support/mutate_aux" "$work/b.data" "$work/cut" 3 >/dev/null 2>&1 || return 1
	"$program" diff "$work/a.data" "$work/cut" >"$work/out" 2>"$work/messages"
	[ $? -eq 2 ] && grep -q "warning: $work/cut: " "$work/messages" || { cat "$work/messages"; return 1; }
}
tap_check "a recording with gaps is named, with status 2" gaps
# The first branch of the true ones that differs: "NUMBER FROM-TO FROM-TO". Static programs are where their file says.
true_parting() {
	for side in a b; do
		awk '$6 ~ /^(i?call|ret|i?jmp|jcc|syscall)$/ { print $6 == "syscall" ? $7 : $7 "-" $8 }' "$work/$side/truth.branches" >"$work/way.$side"
	done
	paste "$work/way.a" "$work/way.b" | awk '$1 != $2 { print NR - 1, $1, $2; exit }'
}
our_parting() {
	python3 - "$work/json" <<-'END'
		import json, sys
		thread, = json.load(open(sys.argv[1]))["threads"]
		assert thread["end"] == "parts" and thread["stack"][-1]["function"] == "request", thread
		print(thread["equal"], *("%x-%x" % tuple(thread[side][end]["offset"] for end in ("from", "to")) for side in "ab"))
	END
}
first_is_true() {
	for side in a b; do
		seed=$([ $side = a ] && echo 1 || echo 2)
		"$ptsim" record --seed=$seed --truth="$work/$side" -o "$work/$side.run" -- "$programs/causes" callee $seed >/dev/null 2>&1 || return 1
	done
	for symbol in "" --symbol=request; do
		"$program" diff -q --first $symbol --json="$work/json" "$work/a.run" "$work/b.run" >"$work/out" || return 1
		our_parting >"$work/ours" || return 1
		[ -n "$symbol" ] || true_parting | diff - "$work/ours" || { cat "$work/out"; return 1; }
	done
	# What differs is the number of rounds in the first call of request().
	grep -q ', up to call 1 of A and 1 of B$' "$work/out" && sed -n 2p "$work/out" | grep -q '^  they part at work (causes.c:[0-9]*, causes+0x' &&
		grep -q '^  [AB] branches to work (' "$work/out" && grep -q '^  [AB] does not branch, up to work (' "$work/out" || { cat "$work/out"; return 1; }
}
if command -v python3 >/dev/null; then
	tap_check "--first: the first branch at which the true ways part" first_is_true
else
	tap_skip "--first: the first branch at which the true ways part" "no python3"
fi

# Interrupts at other times, and other places in memory, are no difference.
runs_are_equal() {
	for seed in 1 2; do
		"$ptsim" record --seed=$seed -o "$work/equal.$seed" -- "$programs/recursion" >/dev/null 2>&1 || return 1
	done
	"$program" diff -q --first "$work/equal.1" "$work/equal.2" >"$work/out" && grep -qx '[^ ]* (1001 and 1001): all [0-9]* branches are equal' "$work/out" ||
		{ cat "$work/out"; return 1; }
}
tap_check "--first: two runs are equal" runs_are_equal

stops_at_lost_trace() {
	"$ptsim" record --seed=1 --overflows=20000 -o "$work/lost" -- "$programs/recursion" >/dev/null 2>&1 || return 1
	"$program" diff -q --first "$work/equal.1" "$work/lost" >"$work/out"
	[ $? -eq 2 ] && sed -n 2p "$work/out" | grep -qx '  the comparison stops: trace of B is lost' || { cat "$work/out"; return 1; }
}
tap_check "--first: lost trace ends the comparison, and says so" stops_at_lost_trace
tap_done
