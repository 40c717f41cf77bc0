#!/bin/sh
# SPDX-License-Identifier: MIT
# Slices in the formats of other tools. functions.awk computes the expected contents from
# the recorder's true slices, and, to the nanosecond, from
# --format=slices, which other tests compare with the truth. By linkage names, as tables distinguish
# clones (f.part.0), and slices do not.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ftfdump=$top_builddir/ftfdump
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs/static
model=$top_srcdir/tests/cli/functions.awk
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

"$ptsim" record --cyc --interrupts=0 --seed=3 --truth=. -o recursion -- "$programs/recursion" >/dev/null 2>messages ||
	tap_skip_all "programs cannot be traced here: $(cat messages)"
mv truth.slices recursion.truth
mv truth.branches recursion.branches
"$ptsim" record --cyc --cpus=2 --seed=3 --truth=. -o threads -- "$programs/threads" >/dev/null 2>&1
mv truth.slices threads.truth
for name in recursion threads; do
	"$program" -q --demangle=none --format=slices --args=none $name >$name.slices
done

# Names as one word.
one_word() {
	sed 's/\[syscall: \([a-z0-9_]*\)\]/[syscall-\1]/g; s/\[untraced: off CPU\]/[untraced-off-CPU]/g'
}

# "name calls total self min median p99 max" of the answer for programs, in ns.
answer() { # FILE OPTIONS...
	"$program" -q --demangle=none --format=functions --json=answer.json "$@" | one_word >shown &&
		awk '/"answer": \{/ { on = 1 } /^  \}/ { on = 0 } !on { next } { value = $2; sub(",$", "", value) }
			$1 == "\"function\":" { sub("^ *\"function\": \"", ""); sub("\",$", ""); line = $0; next }
			/_ns"|"calls"/ && line != "" { line = line " " value }
			$1 == "\"max_ns\":" { print line; line = "" }' answer.json | one_word
}
# "name calls total self min max"
table() { # FILE OPTIONS...
	answer "$@" | sed 's/ [0-9]* [0-9]* \([0-9]*\)$/ \1/'
}

exact_table() { # NAME
	one_word <$1.slices | awk -v what=functions -f "$model" | sort >expected
	table $1 | sort >ours
	diff expected ours && [ "$(wc -l <ours)" -gt 20 ]
}
tap_check "functions: a recursive program" exact_table recursion
tap_check "functions: a program of threads" exact_table threads

# Each begin and end may be a timing packet early: 200 ns here. The truth has one name for a function and
# its clones (f.part.0).
true_table() {
	awk -v what=functions -f "$model" recursion.truth | grep -v '^\[' | sort >expected
	table recursion | grep -v '^\[' |
		awk '{ sub(/\..*/, "", $1); $2 = calls[$1] += $2; row[$1] = $0 } END { for (f in row) print row[f] }' | sort >ours
	cut -d ' ' -f 1,2 expected >calls
	cut -d ' ' -f 1,2 ours | diff calls - || return 1
	paste -d ' ' expected ours | awk 'function far(a, b) { d = a - b; return d > 400 + b / 50 || -d > 400 + b / 50 }
		$1 ~ /^(depth|fibonacci|main)$/ { n++; if (far($9, $3) || far($10, $4) && $1 != "fibonacci") { print; wrong++ } }
		END { exit n != 3 || wrong }'
}
tap_check "functions: the true calls and times" true_table

by_truth() { # by program's text: fibonacci(12) is called 465 times
	"$program" -q --format=functions --symbol=fibonacci recursion | grep -q '^ *465 .* fibonacci$'
}
tap_check "functions: of the slices that are chosen" by_truth

# Of the true calls, with objdump's symbols.
callers() {
	nm "$programs/recursion" | awk '$3 == "fibonacci" || $3 == "main" { print $3, $1 }' >symbols
	awk 'NR == FNR { sub("^0*", "", $2); start[$1] = $2; next }
		$6 == "call" && $8 == start["fibonacci"] { calls[$7]++ }
		END { for (at in calls) print calls[at], at }' symbols recursion.branches | sort >expected
	"$program" -q --demangle=none --format=functions --by=caller --symbol=fibonacci -o callers.csv recursion
	sed 's/,/ /g' callers.csv |
		awk 'function hex(text, i, n) {
				for (i = 1; i <= length(text); i++)
					n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
				return n
			}
			NR == FNR { start[$1] = hex($2); next }
			FNR > 1 { printf "%d %x\n", $4, start[$1] + $2 }' symbols - | sort >ours
	diff expected ours && [ "$(wc -l <ours)" -eq 3 ]
}
callers_times() { # of main, which calls it once; lines are those of the source
	"$program" -q --format=functions --by=function,caller --symbol=fibonacci --json recursion >callers.json
	awk '$5 == "main" { depth = $2 } $5 == "fibonacci" && depth && $2 == depth + 1 { print $4 - $3 }' recursion.slices >expected
	awk '/"caller"/ { main = /"main"/ } main && /"call_line"/ { line = $2 } main && /"(total|max)_ns"/ { sub(",", "", $2); print $2 }' callers.json >ours
	cat expected expected | diff - ours && "$program" -q --format=functions --by=caller --symbol=fibonacci recursion >table &&
		[ "$(grep -c ' main+0x[0-9a-f]* (.*recursion.c:23)' table)" -eq 1 ] && [ "$(wc -l <table)" -le 5 ] || return 1
	"$program" -q --format=functions --by=function,caller --symbol=main recursion >table
	grep -q ' main$' table && ! sed '1d; /^times/d' table | grep -v ' main$'
}
tap_check "functions: by caller, the true calls from each place" callers
tap_check "functions: by caller, the times of these calls" callers_times

percentiles() {
	awk '$5 == "fibonacci" { print $4 - $3 }' recursion.slices | sort -n >times
	answer recursion | awk '$1 == "fibonacci" { print $6, $7 }' >ours
	echo "$(sed -n 233p times) $(sed -n 461p times)" >expected # ceil(465 / 2), ceil(465 * 0.99)
	cat ours expected
	paste -d ' ' ours expected | awk '{ exit $1 > $3 || $1 < $3 - $3 / 128 || $2 > $4 || $2 < $4 - $4 / 128 }'
}
tap_check "functions: median and 99th percentile to one part in 128" percentiles

sorted() { # KEY COLUMN FLAGS
	answer --sort=$1 threads | awk 'NF == 8' >ours
	[ "$(wc -l <ours)" -gt 20 ] && awk -v c="$2" '{ print $c }' ours | sort -c $3
}
tap_check "--sort=self" sorted self 4 -nr
tap_check "--sort=total" sorted total 3 -nr
tap_check "--sort=calls" sorted calls 2 -nr
LC_ALL=C
export LC_ALL
tap_check "--sort=name" sorted name 1

# The table for people: the same rows, with units, to the thousandth part of one.
readable() {
	answer threads | awk 'NF == 8' >exact
	awk 'function ns(t) { u = t; sub("[0-9._]*", "", u); sub("_", "", t)
			return t * (u == "s" ? 1e9 : u == "ms" ? 1e6 : u == "us" ? 1000 : u == "ns") }
		function same(a, b) { return a - b <= b / 1000 && b - a <= b / 1000 }
		NR == FNR { exact[$1] = $0; all += $4; next }
		FNR > 1 && NF == 9 { split(exact[$9], e); n++; percent += $4
			if ($1 != e[2] || !same(ns($2), e[3]) || !same(ns($3), e[4]) || !same(ns($5), e[5]) ||
			    !same(ns($8), e[8]) || ($4 - 100 * e[4] / all) ^ 2 > .003) { print; print exact[$9]; wrong++ } }
		END { exit wrong || n < 20 || (percent - 100) ^ 2 > (.05 * n) ^ 2 }' exact shown
}
tap_check "functions: times have units, and shares add up to 100 percent" readable
top() {
	"$program" -q --format=functions threads | sed -n '1,4p;$p' >expected
	"$program" -q --format=functions --top=3 --json=top.json threads | cmp - expected &&
		grep -q '^times are those of timing packets, to ' expected && [ "$(grep -c '"median_ns"' top.json)" -eq 3 ]
	[ $? -eq 0 ] && ! "$program" --top=3 threads 2>messages && grep -q -- '--top needs' messages &&
		! "$program" --sort=name threads 2>messages && grep -q -- '--sort needs' messages
}
tap_check "--top=N shows the first N rows, and it and --sort need a table" top

# The summary's five functions, against the slices: self time, and a slowest call that there is.
summed_up() { # NAME
	"$program" --demangle=none --format=slices $1 >/dev/null 2>said || { cat said; return 1; }
	sed -n '/^ *self /,$p' said | head -n 6 >rows # a hint may follow
	awk 'function ns(t) { u = t; sub("[0-9._]*", "", u); sub("_", "", t)
			return t * (u == "s" ? 1e9 : u == "ms" ? 1e6 : u == "us" ? 1000 : u == "ns") }
		function same(a, b) { return a - b <= b / 1000 && b - a <= b / 1000 }
		NR == FNR { took = $4 - $3; self[$5] += took; all += took; split($1, id, "/")
			if (took > length_of[$5, id[2], $3]) length_of[$5, id[2], $3] = took; if (took > most[$5]) most[$5] = took
			name[$2] = $5; if ($2) { self[name[$2 - 1]] -= took; all -= took } next }
		FNR > 1 { sub("[.]", "", $4); begin = $4; sub("^0*", "", begin); shown[$6] = 1; last = self[$6]
			if (!same(ns($1), self[$6]) || ($2 - 100 * self[$6] / all) ^ 2 > .003 || !same(ns($3), most[$6]) ||
			    length_of[$6, $5, begin] != most[$6]) { print; wrong++ } }
		END { for (f in self) if (f !~ /^\[/ && !shown[f] && self[f] > last) { print f " is missing"; wrong++ }
			exit wrong || FNR != 6 }' $1.slices rows && ! { "$program" -q --format=slices -o summed $1 2>&1 | grep .; }
}
# Each slice's time without its callees, added up by thread.
of_threads() {
	awk '{ time = $4 - $3; self[$1] += time; calls[$1]++; at[$1, $2] = $1; if ($2) self[$1] -= time
		} END { for (thread in self) print thread, calls[thread], self[thread] }' threads.slices | sort >wanted
	"$program" -q --demangle=none -f functions --by=thread --columns=self,calls -o threads.csv threads
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ print $at["pid"] "/" $at["tid"], $at["calls"], $at["self_ns"] }' threads.csv | sort | diff wanted - && [ "$(wc -l <wanted)" -eq 5 ]
}
tap_check "--by=thread: calls and time of each thread, as CSV" of_threads
# The outermost calls, less what the switches of the database leave out of them.
times_on_cpu() {
	"$program" -q --demangle=none -f functions --columns=cpu -o cpu.jsonl threads && "$program" -q -o cpu.db threads && python3 - <<'END'
import collections, json, sqlite3
changes = collections.defaultdict(list)
for time, out, into in sqlite3.connect("cpu.db").execute("select time, tid_out, tid_in from context_switches_view"):
    changes[out].append((time, True))
    changes[into].append((time, False))
def off(tid, begin, end):
    total, left = 0, None
    for time, leaves in sorted(changes[tid], key=lambda change: (change[0], not change[1])) + [(end, False)]:
        if leaves and left is None:
            left = time
        elif not leaves and left is not None:
            total += max(0, min(time, end) - max(left, begin))
            left = None
    return total
wanted, reduced = collections.Counter(), 0
open_calls = collections.defaultdict(list)
for line in open("threads.slices"):
    thread, depth, begin, end, name = line.rstrip("\n").split(" ", 4)
    stack = open_calls[thread]
    del stack[int(depth):]
    if name not in stack:
        away = off(int(thread.split("/")[1]), int(begin), int(end))
        wanted[name] += int(end) - int(begin) - away
        reduced += away > 0
    stack.append(name)
rows = [json.loads(line) for line in open("cpu.jsonl")]
assert reduced > 10 and len(rows) > 50, (reduced, len(rows))
for row in rows:
    assert row["cpu_ns"] == wanted[row["function"]], (row, wanted[row["function"]])
END
}
if "$program" -q -o cpu.db recursion 2>messages && command -v python3 >/dev/null; then
	tap_check "functions: time on CPU, by the context switches" times_on_cpu
else
	tap_skip "functions: time on CPU, by the context switches" "no libsqlite3, or no python3"
fi
without_switches() {
	"$program" -q --format=branches recursion >text && "$program" -q --input=perf-script -f functions --columns=cpu text >shown &&
		grep -q '^ *?  main$' shown && grep -q '^cpu is unknown: it needs context switches' shown
}
tap_check "functions: time on CPU is unknown without context switches" without_switches
rows_of_calls() {
	"$program" -q --demangle=none --args=none -o calls.csv threads
	python3 -c 'import csv
for row in csv.DictReader(open("calls.csv")):
    begin = int(row["begin_ns"])
    print(row["pid"] + "/" + row["tid"], row["depth"], begin, begin + int(row["duration_ns"]), row["name"])' | diff threads.slices -
}
if command -v python3 >/dev/null; then
	tap_check "csv: a row for each slice" rows_of_calls
else
	tap_skip "csv: a row for each slice" "no python3"
fi
tap_check "the summary has the five functions with most self time, and their slowest calls" summed_up recursion
tap_check "so it has of several threads" summed_up threads

exact_stacks() { # NAME
	one_word <$1.slices | awk -v what=folded -v comm=$1 -f "$model" | sort >expected
	"$program" -q --demangle=none --format=folded --max-stack=none $1 | one_word >folded
	# The workers set their names: a stack begins with the thread's name.
	sed "s/^worker-[0-9];/$1;/" folded | awk '{ n[$1] += $2 } END { for (s in n) print s, n[s] }' | sort >ours
	diff expected ours && [ "$(wc -l <ours)" -gt 20 ]
}
tap_check "folded: a recursive program" exact_stacks recursion
tap_check "folded: a program of threads" exact_stacks threads
named_threads() {
	[ "$(cut -d ';' -f 1 folded | sort -u | paste -sd ' ')" = "threads worker-0 worker-1 worker-2 worker-3" ]
}
tap_check "folded: stacks begin with the names of threads" named_threads

# uftrace's form: a line for a call without others, else one for its begin and one for its end.
tree_slices() { # of its ends: TID DEPTH TIME UNIT NAME
	awk '/^#|^$/ { next }
	{
		at = index($0, "| ")
		rest = substr($0, at + 2)
		match(rest, /^ */)
		depth = RLENGTH / 2
		rest = substr(rest, RLENGTH + 1)
		split(substr($0, 1, at), f, /[][ ]+/)
		if (rest ~ /\{( \/\*.*)?$/) {
			if (substr($0, 1, 11) !~ /^ *$/ || opened + 0 != depth)
				print "wrong:", $0
			sub(/(\(\))? \{.*/, "", rest)
			name[opened++] = rest
			next
		}
		end = rest ~ /^\}/
		opened -= end
		if (end ? rest !~ /^\} \/\* .* \*\/$/ : rest !~ /;( \/\*.*)?$/)
			print "wrong:", $0
		if (end)
			rest = substr(rest, 6)
		else
			sub(/(\(\))?;.*/, "", rest)
		sub(/(, cut)? \*\/$/, "", rest)
		if (opened != depth || (end && rest != name[depth]))
			print "wrong:", $0
		print f[4], depth, f[2], f[3], rest
	}' "$1" | sort
}
tree() {
	"$program" -q --demangle=none --format=tree threads >tree
	"$program" -q --demangle=none --format=slices --args=none threads | awk '{
		t = $4 - $3
		split($1, id, "/")
		unit = t < 1000000 ? "us" : t < 1000000000 ? "ms" : "s"
		t = int(t / (unit == "us" ? 1 : unit == "ms" ? 1000 : 1000000))
		depth = $2
		$1 = $2 = $3 = $4 = ""
		sub(/^ */, "")
		printf "%s %d %d.%03d %s %s\n", id[2], depth, t / 1000, t % 1000, unit, $0
	}' | sort >ours
	sed -n '/^# EVENTS/,$p' tree >tree.events
	sed -i '/^# EVENTS/,$d' tree
	tree_slices tree | diff ours - && [ "$(grep -c '}' tree)" -gt 100 ] && [ "$(grep -c '^$' tree)" -eq 5 ]
}
tap_check "tree: the slices, indented" tree
# The FTF's records of scheduling: a slice on a CPU begins with each switch to a thread.
switches() {
	"$program" -q -o switches.ftf threads && "$ftfdump" switches.ftf >switches
	sed -n 's/.* context-switch cpu \([0-9]*\) [0-9]* from .* to \([1-9][0-9]*\) .*/\1 \2/p' switches | sort >wanted
	sed -n 's/.* threads on CPU \([0-9]*\): begin .* tid=\([0-9]*\) .*/\1 \2/p' tree.events | sort | diff wanted - && [ -s wanted ] || return 1
	"$program" -q --format=chrome threads | sed -n 's/.*"ph":"B".*"cat":"sched".*"tid":\([0-9]*\),"pri.*/\1/p' | sort >ours
	cut -d ' ' -f 2 wanted | sort | diff - ours
}
tap_check "chrome, tree: a slice for each switch to a thread" switches
frequencies() {
	sed -n 's/.* counter [0-9/]* \([0-9]*\) "\(CPU [0-9]* GHz\)" .* value=\(.*\)/\1 \2 \3/p' switches | sort >wanted
	sed -n 's/^\/\* \([0-9]*\)\.\([0-9]*\) s .*: \(CPU [0-9]* GHz\) value=\(.*\) \*\/$/\1\2 \3 \4/p' tree.events | sort | diff wanted - && [ -s wanted ] || return 1
	[ "$("$program" -q --format=chrome threads | grep -c '"ph":"C"')" -eq "$(wc -l <wanted)" ]
}
tap_check "chrome, tree: the frequency of each CPU" frequencies

# Each weight in units, to less than one; the sum is right.
units() {
	"$program" -q --format=folded threads >ns && "$program" -q --format=folded --unit=1us threads >us || return 1
	awk '{ n = $NF; sub(/ [0-9]+$/, "") } FILENAME == "ns" { ns[$0] = n; sum += n; next }
		{ us[$0] = n; all += n; if (!n) bad = "no weight: " $0 }
		END {
			for (s in ns)
				if (us[s] - ns[s] / 1000 >= 1 || ns[s] / 1000 - us[s] >= 1)
					bad = s
			if (bad || all != int(sum / 1000) || all < 100)
				{ print bad, all, sum; exit 1 }
		}' ns us
}
tap_check "folded: --unit keeps the sum" units

# One line an event; ns since the first slice.  Awk's numbers hold 15 digits.
chrome() {
	"$program" -q --demangle=none --args=none --format=chrome threads >chrome.json
	first=$(sed -n 's/.*"first_ns":"\([0-9]*\)".*/\1/p' chrome.json)
	one_word <chrome.json | awk -F '[:,"}]+' '/"ph":"X"/ {
		begin = int($9 * 1000)
		print $5 "/" $7, begin, begin + int($11 * 1000), $13
	}' | sort >ours
	one_word <threads.slices | awk -v first="$first" '{
		print $1, $3 - first, $4 - first, $5 }' | sort | diff - ours && [ "$(grep -o '"thread_name","args":{"name":"[^"]*' chrome.json | sort -u | grep -vc CPU)" -eq 5 ]
}
tap_check "chrome: slices with their times" chrome

# Static programs have all code in one file; slices that are not code have no file.
categories() {
	"$program" -q --args=full --format=chrome threads >categories.json && "$program" -q --args=line threads -o categories.ftf &&
		grep -E '"ph":"X".*"address":"0x[1-9a-f]' categories.json | grep -vF '"cat":"threads"'
	grep -E '"address":"0x0"' categories.json | grep -F '"cat":'
	"$top_builddir/ftfdump" categories.ftf | grep -E ' (begin|complete) ' >records
	grep -E ' address=0x[1-9a-f]' records | grep -vF 'category "threads"'
	grep ' address=0x0' records | grep -F category
	[ "$(grep -cF '"cat":"threads"' categories.json)" -gt 5000 ] && [ "$(grep -cF 'category "threads"' records)" -gt 5000 ]
}
no_other_category() {
	other=$(categories) && [ -z "$other" ] || { echo "$other" | head -n 3; return 1; }
}
tap_check "chrome, ftf: a call's category is its file" no_other_category

# Of a function's own arguments only the source, in one; those of a call are there.  By
# --args=line, whose lines other tests compare with addr2line's.
sources() {
	"$program" -q --no-samples --args=line --format=slices threads | sed -n 's/^.* line=\([0-9]*\) .*file=\([^ ]*\).*/\2:\1/p' | sort >ours
	"$program" -q --no-samples --format=chrome threads >short.json
	sed -n 's/.*"loc":"\([^"]*\)".*/\1/p' short.json | sort | diff ours - && [ -s ours ] &&
		! grep -E '"(address|line|col|file|symbol)":' short.json && grep -q '"inferred_start_time":true' short.json || return 1
	"$program" -q --no-samples threads -o short.ftf && "$top_builddir/ftfdump" short.ftf >short &&
		sed -n 's/.* loc=\([^ ]*\).*/\1/p' short | sort | diff ours - && ! grep -E ' (address|line|col|file|symbol)=' short &&
		"$top_builddir/ftfdump" --slices short.ftf >short && "$program" -q --no-samples --format=slices threads | diff short - &&
		grep -q ' inferred_start_time=true' short
}
tap_check "chrome, ftf: FILE:LINE of each call" sources

# Each slice with those around it, its times and arguments, as both formats nest them.
same_nesting() {
	"$program" -q --args=full --format=chrome threads >full.json &&
		"$program" -q --args=full --format=slices threads >full || return 1
	python3 - <<-'END'
	import json, sys
	def shown(stack, end, args):
	    for key, value in args.items():
	        args[key] = 'true' if value is True else str(value)
	    return [name for name, time in stack], stack[-1][1], end, args
	chrome, stacks = {}, {}
	trace = json.load(open('full.json'), parse_float=str)
	first = int(trace['otherData']['first_ns'])
	def ps(text):
	    whole, _, rest = text.partition('.')
	    return int(whole + (rest + '000000')[:6])
	for e in trace['traceEvents']:
	    if e['ph'] != 'X':
	        continue
	    thread = '%d/%d' % (e['pid'], e['tid'])
	    begin, end = ps(e['ts']), ps(e['ts']) + ps(e['dur'])
	    stack = stacks.setdefault(thread, [])
	    while stack and stack[-1][2] <= begin:
	        stack.pop()
	    stack.append((e['name'], str(begin // 1000 + first), end))
	    chrome.setdefault(thread, []).append(
	        shown([f[:2] for f in stack], str(end // 1000 + first), e['args']))
	slices = {}
	for line in open('full'):
	    thread, depth, begin, end, *words = line.split()
	    name = [w for w in words if '=' not in w]
	    stack = slices.setdefault(thread, ([], []))[0]
	    if int(depth) > len(stack):
	        sys.exit('no slice around this one: ' + line)
	    stack[int(depth):] = [(' '.join(name), begin)]
	    slices[thread][1].append(shown(stack, end, dict(w.split('=', 1) for w in words if '=' in w)))
	for thread, (_, lines) in slices.items():
	    for ours, theirs in zip(lines, chrome[thread], strict=True):
	        if ours != theirs:
	            sys.exit('%s:\n%s\n%s' % (thread, ours, theirs))
	assert sum('insns' in s[3] for _, lines in slices.values() for s in lines) > 20
	END
}
if command -v python3 >/dev/null; then
	tap_check "chrome and slices: the same nesting and arguments" same_nesting
else
	tap_skip "chrome and slices: the same nesting and arguments" "no python3"
fi
if command -v python3 >/dev/null; then
	tap_check "chrome: is JSON" python3 -c 'import json; json.load(open("chrome.json"))'
else
	tap_skip "chrome: is JSON" "no python3"
fi
packed() {
	"$program" -q --demangle=none --args=none --format=chrome -o packed.json.gz threads && gzip -dc packed.json.gz | cmp - chrome.json
}
tap_check "chrome: into a compressed file" packed
from_text() {
	"$program" -q --format=branches recursion >branches
	"$program" -q --input=perf-script --format=folded branches | grep -q ';main;fibonacci;fibonacci [0-9]'
}
tap_check "folded: of perf script's text" from_text

# The events of each profile, made slices again; speedscope wants them nested, in order and closed.
cat >profiles.py <<'END'
import json, sys
data = json.load(open(sys.argv[1]))
origin = int(sys.argv[2])
assert data["$schema"] == "https://www.speedscope.app/file-format-schema.json"
names = [f["name"] for f in data["shared"]["frames"]]
assert len(set(names)) == len(names)
for profile in data["profiles"]:
    assert profile["type"] == "evented" and profile["unit"] == "nanoseconds"
    thread, stack, last = profile["name"].split()[-1], [], profile["startValue"]
    for event in profile["events"]:
        assert last <= event["at"] <= profile["endValue"]
        last = event["at"]
        if event["type"] == "O":
            stack.append(event)
        else:
            begin = stack.pop()
            assert event["type"] == "C" and begin["frame"] == event["frame"]
            print(thread, len(stack), begin["at"] + origin, last + origin, names[begin["frame"]])
    assert not stack
END
speedscope() {
	"$program" -q --demangle=none --format=speedscope threads >speedscope.json
	python3 profiles.py speedscope.json "$(awk '{ print $3 }' threads.slices | sort -n | head -n 1)" | sort >ours
	sort threads.slices | diff - ours
}
if command -v python3 >/dev/null; then
	# seeds.md: .sexp and .binio have events and stacks
	tap_check "speedscope: the profiles are the slices" speedscope
else
	tap_skip "speedscope: the profiles are the slices" "no python3"
fi

# The table of a text without times says so.
invented_times() {
	printf 'prog 7 call 401000 main+0x0 => 402000 f+0x0\nprog 7 return 402008 f+0x8 => 401005 main+0x5\n' >no-time.txt
	"$program" -q --no-warn --input=perf-script --format=functions no-time.txt >out && tail -n 1 out | grep -q '1 ns a line' &&
		"$program" -q --no-warn --input=perf-script --format=functions --json no-time.txt | grep -q '"times": *"invented"'
}
tap_check "times that perf script has not printed are not called perf's" invented_times
tap_done
