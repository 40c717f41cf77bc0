#!/bin/sh
# SPDX-License-Identifier: MIT
# Inlined functions as slices (--inline), of programs that ptsim records.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
programs=$top_builddir/tests/programs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$ptsim" record -o "$work/perf.data" -- "$programs/tail" >/dev/null 2>"$work/messages" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"

# After an interrupt, many calls share one nanosecond; slices of one time are ordered by depth.
# By the source: work() has twice() with two add(), then early(), which calls or does not.
nests_as_in_the_source() {
	"$ptsim" record --cyc --interrupts=0 -o "$work/perf.data" -- "$programs/inlined" \
		>/dev/null 2>&1 || return 1
	"$program" -q --inline --format=slices "$work/perf.data" >"$work/slices" || return 1
	awk '
	$5 == "work" { base = $2 }
	$5 ~ /^(work|twice|add|early|count)$/ {
		text = text substr($5, 1, 1) ($2 - base)
		bad += /inlined=true/ != ($5 ~ /^(twice|add|early)$/)
	}
	END {
		for (n = 0; n < 10; n++)
			expected = expected "w0t1a2c3a2c3e1" (n % 2 ? "" : "c2")
		print text
		exit bad || text != expected
	}' "$work/slices"
}

# No branch shows where ask() ends: the next one is after it, in code that is not inlined.
ends_alike() {
	"$program" -q --inline --args=full --format=slices "$work/perf.data" >"$work/slices" || return 1
	sed -n 's/.* ask .*\(insns=[0-9]*\).*/\1/p' "$work/slices" | sort | uniq -c >"$work/counts"
	cat "$work/counts"
	[ "$(sed 's/insns=.*//' "$work/counts" | tr -d ' ')" = 10 ]
}

# Functions that are not inlined have as many slices as without --inline, at the same depths.
functions() {
	awk '{
		parent[$1, $2] = $0 ~ /inlined=true/ ? parent[$1, $2 - 1] : $5
		if ($0 !~ /inlined=true/)
			print parent[$1, $2 - 1], $5
	}' "$1" | sort | uniq -c
}

keeps_functions() { # PROGRAM
	"$ptsim" record --cyc -o "$work/perf.data" -- "$programs/$1" >/dev/null 2>&1 || return 1
	"$program" -q --no-warn --format=slices "$work/perf.data" >"$work/plain" || return 1
	"$program" -q --no-warn --inline --format=slices "$work/perf.data" >"$work/slices" || return 1
	functions "$work/plain" >"$work/expected"
	functions "$work/slices" | diff "$work/expected" -
}

# Other functions have the same times and instructions; inlined calls divide the caller's own. The sum
# of cycles is the same; shares are finer with --inline, which has more events between CYC packets.
keeps_costs() { # PROGRAM
	"$ptsim" record --cyc -o "$work/perf.data" -- "$programs/$1" >/dev/null 2>&1 || return 1
	for option in --args=full --inline; do
		"$program" -q --no-warn --args=full $option --format=slices "$work/perf.data" |
			grep -v ' inlined=true' |
			sed 's/ estimated=true//; s/ caller=[^ ]*//; s/ cycles=.*//; s/ [0-9]* / /' |
			sort >"$work/slices$option"
		"$program" -q --no-warn $option --format=callgrind "$work/perf.data" |
			grep '^totals' >"$work/totals$option"
	done
	test -s "$work/slices--inline" && test -s "$work/totals--inline" &&
		diff "$work/slices--args=full" "$work/slices--inline" |
			head -5 >"$work/difference"
	diff "$work/totals--args=full" "$work/totals--inline" >>"$work/difference"
	cat "$work/difference"
	test ! -s "$work/difference"
}

# Print "NAME ADDRESS" of each instruction: the innermost function, by addr2line.
name_instructions() {
	objdump -d "$programs/inlined" | sed -n 's/^ *\([0-9a-f]*\):.*/\1/p' >"$work/addresses"
	addr2line -a -i -f -e "$programs/inlined" <"$work/addresses" |
		awk '/^0x/ { address = substr($1, 3); getline name; print name, address }'
}

# The instructions between the branches that ptsim saw, by the innermost function of each.
count_instructions() {
	entry=$("$program" -q --no-warn --format=slices --args=line "$work/perf.data" |
		sed -n 's/.* work address=0x\([0-9a-f]*\).*/\1/p' | head -1)
	symbol=$(nm "$programs/inlined" | sed -n 's/^\([0-9a-f]*\) t work$/\1/p')
	base=$((0x$entry - 0x$symbol))
	name_instructions | while read -r name address; do
		echo "$((0x$address + base)) $name"
	done >"$work/names"
	cut -d' ' -f7-8 "$work/truth/truth.branches" | while read -r from to; do
		echo "$((0x$from)) $((0x$to))"
	done | awk 'NR == FNR { names[NR] = $2; number[$1] = NR; next }
	begin in number && $1 in number {
		for (i = number[begin]; i <= number[$1]; i++)
			insns[names[i]]++
	}
	{ begin = $2 }
	END { for (name in insns) print name, insns[name] }' "$work/names" -
}

counts_as_addr2line() {
	mkdir -p "$work/truth"
	"$ptsim" record --cyc --interrupts=0 --truth="$work/truth" -o "$work/perf.data" -- \
		"$programs/inlined" >/dev/null 2>&1 || return 1
	count_instructions | grep -E '^(work|twice|add|early|count|asks?) ' | sort >"$work/expected"
	"$program" -q --inline --format=callgrind "$work/perf.data" | awk '
	/^c?fn=/ {
		id = substr($1, index($1, "="))
		if ($2)
			names[id] = $2
		if (/^fn=/)
			name = names[id]
	}
	/^calls=/ { getline; next }
	/^[0-9]/ { insns[name] += $2 }
	END { for (name in insns) print name, insns[name] }' |
		grep -E '^(work|twice|add|early|count|asks?) ' | sort >"$work/counted"
	test "$(wc -l <"$work/expected")" = 7 && diff "$work/expected" "$work/counted"
}

tap_check "inlined calls nest as in the source" nests_as_in_the_source
tap_check "an inlined call that no branch ends is as long at each pass" ends_alike
for name in static/tail static/longjmp static/signals; do
	tap_check "$name: the functions and their callers stay the same" keeps_functions "$name"
done
for name in inlined static/tail static/longjmp static/signals; do
	tap_check "$name: functions cost the same" keeps_costs "$name"
done
tap_check "inlined calls have the instructions of their code" counts_as_addr2line
tap_done
