#!/bin/sh
# SPDX-License-Identifier: MIT
# Selected slices: --symbol, --dso, --between, --within, --depth, --min-duration, --hide.
# The numbers of calls follow from tests/programs/recursion.c
# (fibonacci(12): 465 calls; depth(60), (70) and (1500): 1633) and plugin.c
# (work(7): 41 calls, three times).
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

"$ptsim" record --cyc --interrupts=0 --seed=3 -o recursion -- "$programs/static/recursion" >/dev/null 2>messages ||
	tap_skip_all "programs cannot be traced here: $(cat messages)"
"$ptsim" record --cyc --interrupts=0 --seed=3 -o plugins -- "$programs/plugins" >/dev/null 2>&1
"$program" -q --format=slices --args=none recursion >all

# The slices, and those whose call was seen.
slices() { # FILE OPTIONS...
	file=$1
	shift
	"$program" --format=slices --args=line "$@" "$file" >shown 2>messages || { cat messages; return 1; }
	grep -v inferred_start_time shown | sed 's/ address=.*//' >ours
}

calls() { # NAME N: the function has so many slices
	n=$(awk -v name="$1" '$5 == name' ours | wc -l)
	[ "$n" -eq "$2" ] || { echo "$1: $n"; return 1; }
}

one_function() {
	slices recursion --symbol='fib*' && calls fibonacci 465 && [ "$(wc -l <ours)" -eq 465 ] || return 1
	# Its callers have a slice for each of the calls from main().
	[ "$(grep -c ' main address=.* inferred_start_time=true' shown)" -eq 1 ]
}
tap_check "--symbol shows calls of a function, what they call, and its callers" one_function

# Perfetto shows 512 levels; depth(1500) goes deeper.
levels() {
	for machine in precise magic-trace; do
		"$program" --stacks=$machine recursion -o deep.ftf 2>messages
		grep -q 'slices were left out, as at most 512 can be nested' messages &&
			"$top_builddir/ftfdump" --check deep.ftf >checked && grep -q 'deepest 512$' checked || { cat messages checked; return 1; }
	done
}
tap_check "no machine nests slices of FTF deeper than 512" levels

one_file() {
	slices plugins --dso=plugin_a.so && calls work_of_plugin_a 123 && calls plugin 3 &&
		calls work_of_plugin_b 0 && grep -q ' dlopen.* inferred_start_time\| main .*inferred_start_time' shown
}
tap_check "--dso shows calls into a file" one_file
nothing() {
	"$program" --format=slices --symbol=fibonaci recursion >ours 2>messages
	[ $? -eq 2 ] && [ ! -s ours ] && grep -q "no function matching 'fibonaci' was called; nearest: fibonacci" messages &&
		"$program" --no-warn --format=slices --symbol=depth --symbol=mian recursion 2>messages >ours && [ -s ours ] &&
		grep -q "no function matching 'mian' was called; nearest: main" messages || { cat messages; return 1; }
	"$program" --format=slices --dso=nowhere.so recursion >ours 2>messages
	[ $? -eq 2 ] && [ ! -s ours ] && grep -q "no function of a file matching 'nowhere.so' was called; .ptrace2ftf list. shows" messages
}
# seeds.md: nothing found is an empty trace
tap_check "a pattern that matches no call gives a warning with the nearest names" nothing
one_pattern() {
	for pattern in 'depth,fibonacci' 'depth|fibonacci'; do
		for option in symbol from; do
			"$program" --format=slices "--$option=$pattern" recursion 2>messages >ours
			[ $? -eq 2 ] && grep -qF "no function matching '$pattern' was called; repeat the option for each of several patterns" messages ||
				{ cat messages; return 1; }
		done
	done
	# Names with arguments and operators have these characters, and an option of START,STOP has one of each.
	for wrong in --symbol='f(int,int)' --symbol='g<a,b>' --symbol='operator||' --symbol='C::operator,' --symbol='a,' --between='main,a|b'; do
		"$program" --format=slices "$wrong" recursion 2>messages >ours
		! grep 'repeat the option' messages || return 1
	done
}
tap_check "an option's pattern is one: several in it give a hint to repeat the option" one_pattern

between() {
	slices recursion --between=main,'*printf' && calls fibonacci 465 && calls depth 1633 && calls main 1 &&
		[ "$(wc -l <ours)" -eq $((465 + 1633 + 1)) ]
}
# seeds.md: -filter shows what lies between two functions
tap_check "--between shows what lies between two calls, and nothing else" between
unended() {
	"$program" --format=slices --between=main,nowhere recursion >ours 2>messages
	[ $? -eq 2 ] && grep -q "main was called without a call of nowhere after it" messages && grep -q printf ours
}
tap_check "--between without an end shows the rest, and says so" unended

levels() {
	"$program" -q --format=slices --args=none --depth=4 recursion >ours
	awk '$2 < 4' all | cmp - ours && [ "$(wc -l <ours)" -lt "$(wc -l <all)" ]
}
tap_check "--depth leaves out what is deeper" levels

chosen_levels() { # the callers do not count: fibonacci, and what it calls
	slices recursion --symbol=fibonacci --depth=2 && calls fibonacci 3 &&
		[ "$(grep -c ' main address=.* inferred_start_time=true' shown)" -eq 1 ]
}
tap_check "--depth counts from the function of --symbol" chosen_levels
context() { # work_of_plugin_a's callers run once each, and are called for none of its calls
	"$program" -q --format=functions --symbol=work_of_plugin_a --json=one.json plugins >ours &&
		awk '$NF == "work_of_plugin_a" && $1 == 123 { found = 1 } $NF == "main" || $NF == "plugin" { bad = 1 }
			END { exit bad || !found }' ours && ! grep -q '"name": "main"' one.json
}
tap_check "callers of a chosen function are not counted as calls" context
roots() { # what main calls, and nothing of the loader's; main is level 0
	awk '$5 == "main" { level = $2; from = $3; to = $4 } END { print level, from, to }' all >main
	read -r level from to <main
	"$program" --format=slices --args=none --from=main --json=one.json recursion >ours 2>messages || { cat messages; return 1; }
	awk -v level="$level" -v from="$from" -v to="$to" '$3 >= from && $4 <= to && $2 >= level {
		$2 -= level; print }' all | sort >expected
	sort ours | cmp expected - || return 1
	left_out=$(($(wc -l <all) - $(wc -l <ours)))
	[ "$left_out" -gt 5 ] && grep -q ", $left_out slices outside of --from left out" messages &&
		grep -q "\"slices_left_out\": $left_out," one.json
}
tap_check "--from begins at a function, and the rest is counted" roots

hidden() {
	"$program" -q --format=slices --args=none --hide='fib*' --hide=depth recursion |
		cut -d ' ' -f 1,3- | sort >ours
	grep -v -e ' fibonacci$' -e ' depth$' all | cut -d ' ' -f 1,3- | sort | cmp - ours
}
tap_check "--hide leaves out a function, and nothing that it calls" hidden

hidden_library() { # libc and its loader; what the program itself runs stays
	"$ptsim" record --interrupts=0 --seed=3 -o dynamic -- "$top_builddir/tests/programs/recursion" >/dev/null 2>&1
	"$program" -q --format=functions --by=dso --hide='libc.so*:*' --hide='ld-*:*' --json dynamic >hiding
	"$program" -q --format=functions --by=dso --json dynamic >showing
	grep -q '"dso": .*/libc\.so' showing && ! grep '"dso": .*/\(libc\.so\|ld-\)' hiding && grep -q '"dso": .*recursion"' hiding
}
tap_check "--hide='LIBRARY:*' leaves out the functions of a library" hidden_library

# Times have 11 digits here, so awk can subtract them.
short() {
	slices recursion --min-duration=0.1us || return 1
	awk '$2 == 0 || $4 - $3 >= 100 { print $1, $3, $4, $5 }' all | sort >expected
	cut -d ' ' -f 1,3-5 shown | sort | cmp expected - || return 1
	folded=$(sed -n 's/.* folded=\([0-9]*\) .*/\1/p' shown | awk '{ n += $1 } END { print n }')
	echo "$folded folded, $(wc -l <shown) left"
	[ "$folded" -gt 100 ] && [ $((folded + $(wc -l <shown))) -eq "$(wc -l <all)" ]
}
tap_check "--min-duration counts what is shorter in what is around it" short
folded_time() { # of the outermost of those that are too short
	awk 'inside != "" && $2 > inside { next }
		{ inside = "" }
		$2 > 0 && $4 - $3 < 100 { inside = $2; total += $4 - $3 }
		END { print total }' all >expected
	sed -n 's/.* folded_time=\([0-9]*\).*/\1/p' shown | awk '{ n += $1 } END { print n }' | cmp expected -
}
tap_check "--min-duration sums up how long those were" folded_time
# Overflows end all slices: the outermost slices and [lost] stay as they are, and no others.
outermost() {
	"$ptsim" record --cyc --overflows=3000 --seed=3 -o lost -- "$programs/static/recursion" >/dev/null 2>&1
	"$program" -q --no-warn --format=slices --args=none lost | awk '$2 == 0' | sort >expected
	"$program" -q --no-warn --format=slices --args=none --min-duration=1s lost | sort | cmp expected - &&
		grep -q '\[lost' expected && [ "$(grep -cv '\[lost' expected)" -gt 10 ]
}
tap_check "--min-duration leaves outermost slices and [lost]" outermost
in_ftf() {
	"$program" -q --no-warn --args=full --min-duration=100ns --depth=400 -o out.ftf recursion &&
		"$program" -q --args=full --min-duration=100ns --depth=400 --format=slices recursion >ours &&
		"$top_builddir/ftfdump" --slices out.ftf | cmp - ours && grep -q folded= ours
}
tap_check "the trace file says the same" in_ftf
in_json() { # what is tallied for it is what is shown, and nothing is lost on the way
	"$program" -q --args=full --min-duration=100ns --depth=400 --format=slices --json=chosen.json -o again recursion &&
		cmp ours again && grep -q '"slices": *'"$(wc -l <ours)" chosen.json
}
tap_check "with --json it is the same" in_json
text() {
	"$program" -q --format=branches plugins >branches
	"$program" -q --input=perf-script --format=slices --symbol=work_of_plugin_a branches |
		grep -v inferred_start_time | cut -d ' ' -f 5 | sort | uniq -c | grep -q '^ *123 work_of_plugin_a$'
}
tap_check "slices of perf script's text are chosen alike" text

# Slices of calls of depth() that take longer: columns 3 and 4 are their times, column 2 the level.
within() { # NS OPTION
	awk -v longer="$1" '{ if (inside != "" && $2 <= level) inside = ""
		if (inside == "" && $5 == "depth" && $4 - $3 > longer) { inside = 1; level = $2 }
		if (inside != "") print $1, $3, $4, $5 }' all | sort >expected
	slices recursion "--within=$2" && awk '{ print $1, $3, $4, $5 }' ours | sort | diff - expected >differences || { head differences; return 1; }
	[ "$(wc -l <expected)" -gt 10 ] && [ "$(wc -l <expected)" -lt "$(wc -l <all)" ]
}
bound=$(awk '$5 == "depth" { print $4 - $3 }' all | sort -n | tail -n 200 | head -n 1)
tap_check "--within shows what runs inside of the slow calls" within "$bound" "depth>${bound}ns"
# Of 1633 durations the 1470th is the percentile 90, to 1/128.
percentile() {
	n=$(awk '$5 == "depth" { print $4 - $3 }' all | sort -n | sed -n 1470p)
	for bound in $(seq $((n - n / 128)) "$n"); do
		within "$bound" 'depth>p90' >/dev/null && return
	done
	return 1
}
tap_check "of a percentile of all calls, too" percentile
of_costs() {
	"$program" -q --within="depth>${bound}ns" recursion -o x.callgrind && slices recursion --within="depth>${bound}ns" || return 1
	calls=$(awk '/^fn=/ { f = $0 } /^calls=/ { sub("calls=", "", $1); n += $1 } END { print n }' x.callgrind)
	echo "$calls"
	[ "$calls" -eq "$(wc -l <ours)" ]
}
tap_check "and of costs: each slice inside is a call" of_costs
within_none() { # OPTION WORDS
	"$program" -q "--within=$1" recursion -o x.ftf 2>messages
	[ $? -eq 2 ] && "$program" "--within=$1" recursion -o x.ftf 2>&1 | grep -q "$2"
}
tap_check "no slow call is a warning" within_none 'depth>1s' "no call of 'depth' took longer than --within says"
tap_check "no such function, too" within_none 'deepth>p50' "no function matching 'deepth' was called"

wrong() { # OPTIONS
	"$program" "$@" recursion >/dev/null 2>messages
	[ $? -eq 64 ]
}
tap_check "--between with one function is wrong usage" wrong --between=main -o x.ftf
tap_check "--within without a time is wrong usage" wrong --within=main -o x.ftf
tap_check "--depth=0 is wrong usage" wrong --depth=0 -o x.ftf
tap_check "--min-duration=1h is wrong usage" wrong --min-duration=1h -o x.ftf
tap_check "choosing slices for --format=branches is wrong usage" wrong --symbol=main --format=branches
tap_done
