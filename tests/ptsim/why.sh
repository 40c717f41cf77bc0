#!/bin/sh
# SPDX-License-Identifier: MIT
# ptrace2ftf why: one request of a thousand takes longer, for a planted cause, which is named in the
# first lines.  With LONG=1 (make check-long) on 20 seeds each.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seeds=${LONG:+"$(seq 20)"}
seeds=${seeds:-1}
# Of the programs planted and hidden: fewer than 2,000 and 1,000 calls of serve(), with all causes among them.
calls=500
[ -z "$LONG" ] || calls=

record() { # CAUSE SEED: once each
	folder=$work/$1.$2
	if [ ! -d "$folder" ]; then
		mkdir "$folder" && "$ptsim" record --cyc --interrupts=0 --cpus=2 --seed="$2" --truth="$folder" \
			-o "$folder/perf.data" -- "$top_builddir/tests/programs/static/causes" "$1" "$2" \
			>/dev/null 2>"$work/messages" || return 1
	fi
	cp "$folder"/* "$work"
}
record callee 1 || tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"

why() { # OPTIONS...
	"$program" why -q --symbol=request "$@" "$work/perf.data" >"$work/out" 2>"$work/messages" ||
		{ cat "$work/messages"; return 1; }
}

# The answer, each fact on one line.
whole_lines() { # OPTIONS... INPUT
	"$program" why -q "$@" >"$work/broken" && sed ':a
		$!N
		s/\n         \([^ ]\)/ \1/
		ta
		P
		D' "$work/broken" >"$work/out"
}

# The commands that end an answer: each on one line.
commands_of() { # ANSWER
	sed -n '/^next: /{ :a
		/\\$/{ N
			s/ \\\n */ /
			ba
		}
		s/^next: //p; }' "$1"
}

# The sentence of the first cluster: a cause with at least so many percent, and its innermost callee.
is_first() { # CAUSE PERCENT SENTENCE
	for seed in $seeds; do
		record "$1" "$seed" && why || return 1
		sed -n 's/^1\. //p' "$work/out" >"$work/first"
		grep -q "^$3" "$work/first" &&
			sed 's/^[^)]*), \([0-9]*\) %.*/\1/; s/^[^(]*, \([0-9]*\) %.*/\1/' "$work/first" | awk -v least="$2" '{ exit $1 + 0 < least }' ||
			{ echo "seed $seed"; cat "$work/out"; return 1; }
	done
}
tap_check "a rare branch to a slow callee is the cause" is_first callee 70 'rare_work (causes.c:[0-9]*), '
tap_check "so is a loop that goes round more often" is_first loop 70 'work (causes.c:[0-9]*), '
tap_check "and a page fault, by what its handler does" is_first fault 60 'on_fault (causes.c:[0-9]*), '
tap_check "and a sleep" is_first sleep 80 'take_nap (causes.c:[0-9]*), .* in clock_nanosleep()'
tap_check "and what a cache did not have" is_first cache 70 'compute (causes.c:[0-9]*), '
tap_check "and a lock that another thread held" is_first lock 40 "use_lock (causes.c:$(grep -n -m 1 'pthread_mutex_lock(&lock)' "$top_srcdir/tests/programs/causes.c" | cut -d: -f1)), .* in futex()"

# work(2000) instead of work(5) to work(24), at a line of the loop.
loop_has_rounds() {
	record loop 1 && why || return 1
	loop=$(grep -n 'i < rounds' "$top_srcdir/tests/programs/causes.c" | cut -d: -f1)
	sed -n 's/^   went round \([0-9]*\) times, usually \([0-9]*\): causes.c:\([0-9]*\) in work$/\1 \2 \3/p' "$work/out" |
		awk -v loop="$loop" '{ n++; exit !($1 >= 1999 && $1 <= 2000 && $2 > 4 && $2 < 25 && ($3 == loop || $3 == loop + 1)) } END { if (!n) exit 1 }' ||
		{ cat "$work/out"; return 1; }
}
tap_check "a loop has the rounds of the slow call, and its line" loop_has_rounds

# The condition of the planted call in request(), or use_cache(), by its line in the source.
branch_differs() { # CAUSE CONDITION
	line=$(grep -n "$2" "$top_srcdir/tests/programs/causes.c" | head -n 1 | cut -d: -f1)
	record "$1" 1 && why && grep -qE "^   (branches, usually not|does not branch, usually does): causes.c:$line in " "$work/out" ||
		{ cat "$work/out"; return 1; }
}
tap_check "the first branch that only the slow call takes is named" branch_differs callee 'cause == CALLEE && number == planted'
tap_check "and so is that before a loop" branch_differs loop 'cause == LOOP && number == planted'
tap_check "and that of an empty cache" branch_differs cache '!kept.key'

record callee 1
why
cp "$work/out" "$work/all"
# "SLOW OTHER": mean durations of the true calls, ns, of which `slow` are slow.
true_means() { # SLOW
	awk '$5 == "request" { print $4 - $3 }' "$work/truth.slices" | sort -nr |
		awk -v slow="$1" 'NR <= slow { s += $1; next } { o += $1; n++ } END { print s / slow, o / n }'
}
# Our times of a call are those of CYC, 100 ns near the true ones; the true ones have stops, too.
extra_is_true() {
	slow=$(sed -n 's/^request: \([0-9]*\) of 1000 calls .*/\1/p' "$work/all")
	[ "$slow" = 1 ] || { cat "$work/all"; return 1; }
	true_means "$slow" >"$work/means"
	sed -n 's/^   1 call, \([0-9.]*\)us more.*$/\1/p' "$work/all" >>"$work/means"
	cat "$work/means"
	awk 'NR == 1 { extra = ($1 - $2) / 1000; next } { exit !($1 > extra - 0.1 && $1 < extra + 0.1) }' "$work/means"
}
tap_check "the extra time is that of the true call" extra_is_true

# rare_work() is called once, but not by the first request.
tap_check "what is rare is no initialisation" sh -c "! grep -q initialisation '$work/all'"

is_narrow() {
	"$program" why -q "$work/perf.data" >"$work/narrow" || return 1
	cat "$work/all" "$work/narrow" | awk 'length > 80 && / / { print; exit 1 }' &&
		[ "$(wc -l <"$work/all")" -le 20 ] && [ "$(wc -l <"$work/narrow")" -le 40 ]
}
tap_check "an answer has few lines of 80 columns, with its commands" is_narrow

# In the first lines, by the function or its cause; work() is what the slow ones do.
blind() {
	for cause in callee:rare_work loop:work sleep:take_nap cache:compute; do
		record ${cause%:*} 1 && "$program" why -q "$work/perf.data" >"$work/out" 2>"$work/messages" || return 1
		sed -n 2,3p "$work/out" | grep -q "[ :]${cause#*:}[ :]" || { echo $cause; cat "$work/out"; return 1; }
	done
	record callee 1
}
tap_check "without a function the planted cause is found" blind

# Causes that the rules were not made for: in the first line with the function, and in the first three without.
unseen() { # KIND CAUSE
	"$ptsim" record --cyc --cpus=2 -o "$work/unseen" -- "$top_builddir/tests/programs/static/planted" "$1" 3 $calls >/dev/null 2>&1 &&
		"$program" why -q --symbol=serve "$work/unseen" >"$work/out" && grep -q "^1\. $2 (planted.c:" "$work/out" &&
		"$program" why -q "$work/unseen" >"$work/out" && sed -n 2,4p "$work/out" | grep -q "[ :]$2[ :]" ||
		{ cat "$work/out"; return 1; }
}
for cause in rehash:rehash jump:recover ${LONG:+gc:collect lazy:build_tables compact:compact deep:descend \
	rounds:digest filter:slow_filter spill:spill twice:attempt}; do
	tap_check "$cause is found" unseen ${cause%:*} ${cause#*:}
done

# What slow calls share.
share() { # WHAT SENTENCE
	"$ptsim" record --cyc --interrupts=0 --cpus=2 --seed=3 -o "$work/shared" -- "$top_builddir/tests/programs/static/shared" "$1" 3 \
		>/dev/null 2>&1 && whole_lines --symbol=find_key "$work/shared" &&
		sed -n 3,9p "$work/out" | grep -q "^   [0-9]* of [0-9]* slow calls, but 0 % of [0-9]* sampled usual ones, $2" || { cat "$work/out"; return 1; }
}
line=$(grep -n 'find_key(389)' "$top_srcdir/tests/programs/shared.c" | cut -d: -f1)
tap_check "slow calls of one place have its line" share sites "come from shared.c:$line in serve$"
tap_check "and those of one thread its name" share threads 'are in thread shared/1002$'
tap_check "and those after a pause its length" share pauses 'come 2\.[0-9]*ms or more after the last one'

# Causes in a loop or another thread, in the first five lines; without the function in one of the first three.
# On one CPU, ptsim's clock passes for both threads.
hidden() { # KIND CAUSE SENTENCE
	for seed in ${LONG:+1 2 4 5} 3; do
		"$ptsim" record --cyc --interrupts=0 --cpus=1 --seed="$seed" -o "$work/hidden" -- \
			"$top_builddir/tests/programs/static/hidden" "$1" "$seed" $calls >/dev/null 2>&1 || return 1
		whole_lines --symbol=serve "$work/hidden" &&
			sed -n 3,4p "$work/out" | grep -q "^1\. $2 (" && sed -n 4,8p "$work/out" | grep -q "^   $3$" &&
			whole_lines "$work/hidden" && sed -n 2,4p "$work/out" | grep -q "[ :]$2[ :]" &&
			grep -q "^   $3$" "$work/out" || { echo "seed $seed"; cat "$work/out"; return 1; }
	done
}
tap_check "a long list is found, and the loop, which begins in an inlined function" hidden chain is_key \
	'went round 3[89][0-9] times, usually [0-9.]*: hidden.c:[0-9]* in find_key'
tap_check "and one in an inlined function" hidden inline scan_items \
	'went round 3[78][0-9] times, usually [0-9.]*: hidden.c:[0-9]* in scan_items'
tap_check "and what is done at the first use" hidden init fill_table \
	'likely initialisation at the first use: the only call of fill_table'
tap_check "and who held a lock, and its calls meanwhile" hidden hold use_lock \
	'likely waited for a lock of hidden/1002: .*dump_stats > format_stats > work'
tap_check "and who filled a queue" hidden queue take_item 'likely waited for hidden/1002: .*produce > make_item > work'
tap_check "and who wrote to a pipe" hidden pipe read_block 'likely waited for hidden/1002: .*send_block > compress_block > work'
tap_check "and for whom the producer waited" hidden relay take_item 'which likely waited for a lock of hidden/1003: .*rebuild > sort_store > work'
chain_json() { # of the last recording: the threads, with the innermost call of the program's own code
	"$program" why -q --json="$work/json" --symbol=serve "$work/hidden" >/dev/null && [ "$(jq -r '.answer.functions[0].clusters[0].waited_for[] |
		"\(.tid) \(.path | map(select(test("refresh|sort_store")))[0]) \(.lock) \(.proved) \(.waited_in)"' "$work/json" | tr '\n' ,)" = "1002 refresh false false null,1003 sort_store true false null," ] ||
		{ jq '.answer.functions[0].clusters[0].waited_for' "$work/json"; return 1; }
}
if command -v jq >/dev/null; then
	tap_check "and JSON has the chain" chain_json
else
	tap_skip "and JSON has the chain" "no jq"
fi

# A thread that gives way to another one does not wait for it. A slow call takes four of these quanta.
gives_way() {
	"$ptsim" record --cyc --interrupts=0 --cpus=1 --quantum=500 --seed=3 -o "$work/hidden" -- \
		"$top_builddir/tests/programs/static/hidden" beside 3 $calls >/dev/null 2>&1 &&
		"$program" why -q --symbol=serve --slow=1us "$work/hidden" >"$work/out" &&
		grep -q '^   off CPU [0-9.]*us; CPU 0 ran hidden/1002 for [0-9]* %$' "$work/out" && ! grep -q 'waited' "$work/out" ||
		{ cat "$work/out"; return 1; }
}
tap_check "a thread off CPU may not wait" gives_way

# With a cache and page faults, in the first lines.
memory() { # KIND SLOW CAUSE SENTENCE
	for seed in ${LONG:+1 2 4 5} 3; do
		"$ptsim" record --memory --cyc --interrupts=0 --seed="$seed" -o "$work/memory" -- \
			"$top_builddir/tests/programs/static/memory" "$1" "$seed" >/dev/null 2>&1 || return 1
		"$program" why -q --symbol=serve $2 "$work/memory" >"$work/out" &&
			sed -n 3p "$work/out" | grep -q "^1\. $3, \(100\|9[0-9]\) % " && sed -n 4,6p "$work/out" | grep -q "^   $4$" &&
			"$program" why -q $2 "$work/memory" >"$work/blind" && grep -q "^   $4$" "$work/blind" ||
			{ echo "seed $seed"; cat "$work/out" "$work/blind"; return 1; }
	done
}
tap_check "as many steps through memory that no cache has are found" memory chase "" 'follow (memory.c:[0-9]*)' \
	"same instructions, more time, likely memory: memory.c:$(grep -n 'item = (char' "$top_srcdir/tests/programs/memory.c" | cut -d: -f1) in follow"
tap_check "and the first access to a page" memory touch --slow=1us 'likely page faults in fill_page (memory.c:[0-9]*)' \
	"likely page faults at one instruction: memory.c:$(grep -n '\*page = 1' "$top_srcdir/tests/programs/memory.c" | cut -d: -f1) in fill_page"

# "off CPU 12us; woken by hidden/1002; CPU 0 ran hidden/1002 for 82 %": thread 1001 in the call of the answer, by perf.
off_cpu_by_perf() {
	sed -n 's/^next: ptrace2ftf --time=\([0-9.]*\),\([0-9.]*\) --tid=1001 .*/\1 \2/p' "$work/out" >"$work/call"
	perf script -i "$work/hidden" --no-itrace --ns --show-switch-events -F tid,cpu,time,event,trace 2>/dev/null |
		awk -v call="$(cat "$work/call")" '
			BEGIN { split(call, in_call, " ") }
			{ time = $3 + 0; running = $1 }
			since && $2 == cpu && $5 == "OUT" && $1 != 0 { ran += time - begun }
			since && $2 == cpu && $5 == "IN" { begun = time }
			since && /sched_waking: .* pid=1001 / { waker = $1 }
			since && $5 == "IN" && $1 == 1001 {
				if (time - since > longest) {
					longest = time - since
					text = sprintf("%.3f", longest * 1e6)
					sub(/\.?0+$/, "", text)
					text = "off CPU " text "us; woken by hidden/" waker
					if (ran) text = text sprintf("; CPU 0 ran hidden/1002 for %.0f %%", 100 * ran / longest)
				}
				since = 0
			}
			$5 == "OUT" && $1 == 1001 && time > in_call[1] && time < in_call[2] { since = time; ran = 0; cpu = $2 }
			END { print text }'
}
wakings() { # KIND SENTENCE
	for cpus in 1 2; do
		"$ptsim" record --wakings --cyc --interrupts=0 --cpus=$cpus --seed=3 -o "$work/hidden" -- \
			"$top_builddir/tests/programs/static/hidden" "$1" 3 500 >/dev/null 2>&1 && whole_lines --symbol=serve "$work/hidden" &&
			sed -n 6p "$work/out" | grep -q "^   $2$" && sed -n 5p "$work/out" | grep -q '^   off CPU .*; woken by hidden/1002' &&
			grep -q '^extra time: .* % waiting in futex()' "$work/out" &&
			off_cpu_by_perf >"$work/off" || { cat "$work/out"; return 1; }
		[ $cpus -eq 2 ] || [ "   $(cat "$work/off")" = "$(sed -n 5p "$work/out")" ] || { cat "$work/out" "$work/off"; return 1; }
	done
}
if command -v perf >/dev/null; then
	tap_check "a recorded waking says who ended a wait for a lock" wakings hold \
		'waited for hidden/1002, likely for a lock: .*dump_stats > format_stats > work'
	tap_check "and one for a queue" wakings queue 'waited for hidden/1002: .*produce > make_item > work'
else
	tap_skip "a recorded waking says who ended a wait for a lock" "no perf, or no jq"
	tap_skip "and one for a queue" "no perf, or no jq"
fi

# By a tail call or not, each function of a library that the program calls is bound once.
binding() {
	bound=$(readelf -rW "$top_builddir/tests/programs/longjmp" | grep -c JUMP_SLO)
	"$ptsim" record --cyc -o "$work/bound" -- "$top_builddir/tests/programs/longjmp" >/dev/null 2>&1 &&
		"$program" why -q "$work/bound" >"$work/out" && grep -q "^lazy binding .* in $bound calls; " "$work/out" &&
		"$program" why -q "$work/perf.data" >"$work/static" && ! grep -q binding "$work/static" ||
		{ cat "$work/out"; return 1; }
}
if command -v readelf >/dev/null && readelf -rW "$top_builddir/tests/programs/longjmp" | grep -q JUMP_SLO; then
	tap_check "lazy binding is counted" binding
else
	tap_skip "lazy binding is counted" "no readelf, or programs are bound at the start"
fi

# The slow call waits, and works 30 ns less: -0.03 %.
without_minus() {
	awk 'function branch(ns, kind, from, to) {
			time += ns
			printf "p 1/1 %.9f: %s %s => %s\n", 1 + time / 1e9, kind, from, to
		}
		BEGIN {
			for (i = 0; i < 1000; i++) {
				branch(100, "call", "1010 main+0x10", "2000 request+0x0")
				branch(10, "call", "2010 request+0x10", "3000 wait+0x0")
				branch(i == 500 ? 100000 : 100, "return", "3010 wait+0x10", "2012 request+0x12")
				branch(10, "call", "2020 request+0x20", "4000 work+0x0")
				branch(i == 500 ? 80 : 110, "return", "4010 work+0x10", "2022 request+0x22")
				branch(10, "return", "2030 request+0x30", "1012 main+0x12")
			}
		}' >"$work/text"
	"$program" why -q --input=perf-script --symbol=request --slow=10us "$work/text" >"$work/out"
	grep -q '^1\. wait, 100 % of' "$work/out" && ! grep -q -e '-0\.0%' "$work/out" || { cat "$work/out"; return 1; }
}
tap_check "no share is -0.0 %" without_minus

is_the_same() {
	for jobs in 1 2 8; do
		program=$segments PTRACE2FTF_SEGMENT=3000 why -j $jobs && cmp "$work/all" "$work/out" || return 1
	done
}
tap_check "it is the same by any number of threads" is_the_same

bounds() {
	why --slow=1s && grep -q '^request: 0 of 1000 calls longer than 1s' "$work/out" &&
		why --slow=p50 && grep -q '^request: [45][0-9][0-9] of 1000 calls' "$work/out" &&
		why --slow=1ns && grep -q '^request: 1000 of 1000 calls' "$work/out" || { cat "$work/out"; return 1; }
}
tap_check "--slow is a time or a percentile" bounds

# Recordings are separate incidents; lines of single runs say the same as all at once.
in_common() (
	mkdir -p "$work/many" && cd "$work/many" && rm -f lines &&
		for run in callee:1 lock:1 lock:2; do
			record ${run%:*} ${run#*:} && cp "$work/${run%:*}.${run#*:}/perf.data" $run.data &&
				"$top/ptrace2ftf" why -q --symbol=request $run.data --json-lines=lines >/dev/null || return 1
		done
	"$top/ptrace2ftf" why --jobs=3 --symbol=request ./*.data >all && sed 's,\./,,' all >plain &&
		"$top/ptrace2ftf" why --merge lines | diff - plain && grep -q '^ *2 *2 .* request: use_lock; worst at .* in lock:[12]\.data$' plain &&
		grep -q '^ *1 *1 .* request: rare_work; worst at .* in callee:1\.data$' plain && grep -q '^3 recordings' plain &&
		commands_of plain >command && (PATH=$top:$PATH && sh -e command) | grep -q '^1\. use_lock' || { cat plain; return 1; }
	# One that is missing costs only itself; without any other one the output stays.
	for option in '' --no-warn; do
		"$top/ptrace2ftf" why $option --symbol=request none callee:1.data -o all 2>messages
		[ $? = 2 ] && grep -q 'none: cannot open' messages && grep -q '1 recording; 1 more could not be read' all || return 1
	done
	cp all before
	"$top/ptrace2ftf" why --symbol=request none no:1.data -o all 2>messages
	[ $? = 1 ] && cmp all before
)
top=$(cd "$top_builddir" && pwd)
tap_check "recordings have causes in common" in_common
record callee 1

# The commands that end the answer run as they are printed: the slowest calls, another cause, lines of own code.
next_runs() {
	cp "$work/perf.data" "$work/it's \$1.data"
	(PATH=$(cd "$top_builddir" && pwd):$PATH && cd "$work" && ptrace2ftf why -q --symbol=request --slow=p99 "it's \$1.data" >out &&
		commands_of out >commands && [ "$(wc -l <commands)" = 4 ] && sh -e commands >lines 2>messages &&
		[ -f slow/call-001.ftf ] && "$top/ftfdump" --slices cause-2.ftf | grep -q ' request' && grep -q '^work: ' lines) ||
		{ cat "$work/out" "$work/commands" "$work/messages"; return 1; }
}
tap_check "the next commands run" next_runs

# Others of its time may come before it.
is_entered() {
	for cause in callee loop cache; do
		record $cause 1 && why && commands_of "$work/out" | grep -e --format=branches >"$work/command" &&
			(PATH=$(cd "$top_builddir" && pwd):$PATH && sh -e "$work/command") >"$work/branches" &&
			head -n 1 "$work/branches" | grep -q ' call .* => .* request+0x0$' || { head -n 3 "$work/command" "$work/branches"; return 1; }
	done
	record callee 1
}
tap_check "the list of branches begins with the one into the call" is_entered

# Unless escaped, the first two names match others as patterns, and the second not its own.
next_is_exact() {
	for name in "get<a*>'\$x" 'get[abi:x]\q?' plain; do
		name=$name awk -v pattern="get<abc*>'\$x get[abi:x]q! geta get<ab>'\$x" '
			function call(name, ns) {
				printf "p 1/1 %.9f: call 1010 main+0x10 => 2000 %s+0x0\n", 1 + (time += 10) / 1e9, name
				printf "p 1/1 %.9f: return 2010 %s+0x10 => 1012 main+0x12\n", 1 + (time += ns) / 1e9, name
			}
			BEGIN {
				name = ENVIRON["name"]
				count = split(pattern, others, " ")
				for (i = 0; i < 100; i++) {
					call(name, i == 50 ? 100000 : 100)
					for (j = 1; j <= count; j++)
						call(others[j], i == 50 ? 900 : 100)
				}
			}' >"$work/names"
		"$program" why -q --input=perf-script "$work/names" >"$work/out" && commands_of "$work/out" | head -n 1 >"$work/command" &&
			(PATH=$(cd "$top_builddir" && pwd):$PATH && sh -e "$work/command") >"$work/slowest" &&
			[ "$(sed -n 2,4p "$work/slowest" | grep -cF "  ${name%%\\*}")" = 3 ] && grep -q '^100 calls' "$work/slowest" ||
			{ cat "$work/out" "$work/slowest"; return 1; }
	done
}
tap_check "and choose the function, whatever its name" next_is_exact

json_agrees() {
	why -o "$work/text" --json="$work/json" || return 1
	python3 - "$work/json" <<-'END'
		import json, sys
		answer = json.load(open(sys.argv[1]))["answer"]
		f = answer["functions"][0]
		assert answer["format"] == "why" and answer["unit"] == "ns" and f["function"] == "request", answer
		assert f["calls"] == 1000 and f["slow_calls"] == 1, f
		cluster = f["clusters"][0]
		assert cluster["cause"] == "rare_work" and cluster["file"].endswith("causes.c"), cluster
		leaves = sum(line["share"] for line in cluster["lines"] if line["leaf"])
		assert abs(leaves + cluster["rest_share"] - 1) < 1e-9, cluster
		assert cluster["lines"][0]["path"][:2] == ["request", "rare_work"], cluster
	END
}
# Without times, a slow call has more instructions: those of the slices, in text and JSON.
json_counts_insns() {
	"$ptsim" record --no-mtc --interrupts=0 -o "$work/perf.data" -- "$top_builddir/tests/programs/static/causes" callee 1 \
		>/dev/null 2>&1 && why -o "$work/text" && why --json="$work/json" -o "$work/text" || return 1
	extra=$("$program" -q --format=slices --args=full --symbol=request "$work/perf.data" |
		sed -n '/ request /s/.* insns=\([0-9]*\).*/\1/p' | sort -n |
		awk '{ n[NR] = $1; sum += $1 } END { printf "%.3f", n[NR] - (sum - n[NR]) / (NR - 1) }')
	grep -q "^   1 call, $(printf %.0f "$extra") more instructions" "$work/text" || { cat "$work/text"; return 1; }
	python3 - "$work/json" "$extra" <<-'END'
		import json, sys
		answer, extra = json.load(open(sys.argv[1]))["answer"], float(sys.argv[2])
		f = answer["functions"][0]
		assert answer["unit"] == "instructions" and f["slow_calls"] == 1, answer
		assert abs(f["clusters"][0]["extra"] - extra) < 0.01, (f, extra)
	END
}
# With an interrupt at every fourth instruction the trace of the slow call, of 120,000 instructions, is four times as long
# as a 32nd of all and 128 KiB. The C library's own code before main() is longer in some releases.
says_what_is_left_out() {
	"$ptsim" record --cyc --interrupts=4 -o "$work/perf.data" -- "$top_builddir/tests/programs/static/causes" loop 3 20000 >/dev/null 2>&1 &&
		why --json="$work/json" -o "$work/text" && why || return 1
	again=$(sed -n 's/^lines and other threads were looked for in \([0-9]*\) calls; the trace of \([0-9]*\) more .*/\1 \2/p' "$work/out")
	! grep -q '^   went round' "$work/out" && [ "${again#* }" = 1 ] &&
		tr -d ' \n' <"$work/json" | grep -q "\"decoded_again\":${again% *},\"too_long\":1," || { cat "$work/out" "$work/json"; return 1; }
}
tap_check "what is too long to look for lines in is counted" says_what_is_left_out
record callee 1

if command -v python3 >/dev/null; then
	tap_check "--json has the same" json_agrees
	tap_check "--json counts instructions without times" json_counts_insns
else
	tap_skip "--json has the same" "no python3"
	tap_skip "--json counts instructions without times" "no python3"
fi
tap_done
