#!/bin/sh
# SPDX-License-Identifier: MIT
# --format=divergence: one request of a thousand takes longer, for a planted cause: where it leaves
# the common way comes first.  With LONG=1 (make check-long) on 20 seeds each.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
source=$top_srcdir/tests/programs/causes.c
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seeds=${LONG:+"$(seq 20)"}
seeds=${seeds:-3 11 20}

record() { # CAUSE SEED
	"$ptsim" record --cyc --interrupts=0 --cpus=2 --seed="$2" -o "$work/perf.data" -- \
		"$top_builddir/tests/programs/static/causes" "$1" "$2" >/dev/null 2>"$work/messages"
}
record callee 1 || tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"

divergence() { # OPTIONS...
	"$program" -q --format=divergence --symbol=request --strip-prefix="$(dirname "$(realpath "$source")")/" "$@" \
		"$work/perf.data" >"$work/out" 2>"$work/messages" || { cat "$work/messages"; return 1; }
}
# The planted statement, by its text: "causes.c:LINE".
line_of() { # TEXT
	echo "causes.c:$(grep -nF "$1" "$source" | head -n 1 | cut -d : -f 1)"
}
# The first row is of one call, at that statement, and matches the pattern: which way of a branch
# jumps is the compiler's choice.
is_first() { # CAUSE STATEMENT PATTERN
	place=$(line_of "$2")
	for seed in $seeds; do
		record "$1" "$seed" && divergence || return 1
		sed -n '/first difference/{n;p;q}' "$work/out" >"$work/first"
		grep -q "^     1 " "$work/first" && grep -qF "$place" "$work/first" && grep -qE -- "$3" "$work/first" ||
			{ echo "seed $seed, $place"; cat "$work/out"; return 1; }
	done
}
tap_check "a rare branch to a slow callee is where the slow call leaves" \
	is_first callee 'if (cause == CALLEE && number == planted)' "(jumps to request|calls rare_work)"
# Without a branch, by a conditional move, only the loop's count shows it.
more_or_branch() {
	is_first loop 'if (cause == LOOP && number == planted)' "(does not jump|jumps to request)" >"$work/branch" ||
		is_first loop 'for (unsigned i = 0; i < rounds; i++)' "the loop goes round (1998|1999|2000) times, usually 1[0-9] " ||
		{ cat "$work/branch"; return 1; }
}
tap_check "so is one that changes how often a loop goes round, or that loop" more_or_branch
tap_check "and a page fault, by its handler" is_first fault 'page[number % PAGE] = 1;' "is interrupted, and runs on_fault"
tap_check "and a sleep" is_first sleep 'if (cause == SLEEP && number == planted)' "(jumps to request|calls take_nap)"
tap_check "and what a cache did not have" is_first cache 'if (!kept[key])' "(jumps to use_cache|calls compute)"
tap_check "and a lock that another thread held" is_first lock 'if (number == planted)' "(jumps to use_lock|usually calls __pthread_mutex_lock)"

record callee 1
divergence
cp "$work/out" "$work/all"
no_difference() {
	grep -q 'no difference in control flow: the same steps took longer$' "$work/all"
}
tap_check "slow calls that made the same steps are named" no_difference

# The slowest call of the truth is one of a thousand.
later() {
	"$program" -q --format=slices --symbol=request "$work/perf.data" | awk '$5 == "request" { print $4 - $3 }' | sort -n >"$work/times"
	median=$(sed -n 500p "$work/times") most=$(tail -n 1 "$work/times")
	sed -n '/first difference/{n;p;q}' "$work/all" | awk -v expected=$((most - median)) '{ sub("us", "", $2); print $2, expected; d = $2 * 1000 - expected; exit !(d > -30 && d < 30) }'
}
tap_check "how much later is against the median call" later

is_the_same() {
	for jobs in 1 2 8; do
		PTRACE2FTF_SEGMENT=3000 divergence -j $jobs && cmp "$work/all" "$work/out" || return 1
	done
}
tap_check "it is the same by any number of threads" is_the_same

# A loop of 9 to 13 rounds has 400 once, before all else.
more_rounds() {
	cat >"$work/rounds.c" <<-'END'
		static volatile int sink;
		__attribute__((noinline)) static void request(int rounds)
		{
			for (int i = 0; i < rounds; i++)
				sink += i;
			if (sink & 1)
				sink++;
		}
		int main(void)
		{
			for (int i = 0; i < 500; i++)
				request(i == 222 ? 400 : 9 + i % 5);
			return 0;
		}
	END
	gcc -g -O1 -static -o "$work/rounds" "$work/rounds.c" 2>/dev/null || return 0
	"$ptsim" record --cyc --interrupts=0 --seed=3 -o "$work/perf.data" -- "$work/rounds" >/dev/null 2>&1 && divergence || return 1
	sed -n '/first difference/{n;p;q}' "$work/out" >"$work/first"
	cat "$work/first"
	grep -qE 'request \(.*rounds.c:[45]\): the loop goes round (398|399) times, usually (9|10) \((7|8) to 1[12]\)$' "$work/first"
}
tap_check "a loop that goes round more often is counted" more_rounds
record callee 1
json_agrees() {
	divergence -o "$work/text" --json="$work/json" || return 1
	python3 - "$work/json" "$top_srcdir/doc/summary.schema.json" <<-'END'
		import json, sys
		answer = json.load(open(sys.argv[1]))["answer"]
		f = answer["functions"][0]
		assert answer["format"] == "divergence" and f["function"] == "request", answer
		assert f["slow_calls"] + f["other_calls"] == 1000, f
		first = f["places"][0]
		assert first["kind"] == "branch" and first["calls"] == 1 and first["other_calls"] == 0, first
		assert first["place"]["function"] == "request" and "causes.c:" in first["place"]["line"], first
		import importlib.util
		if importlib.util.find_spec("jsonschema"):
		    __import__("jsonschema").validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))
	END
}
if command -v python3 >/dev/null; then
	tap_check "--json has the same" json_agrees
else
	tap_skip "--json has the same" "no python3"
fi
refused() {
	for options in '--stacks=magic-trace' '--inline' '--pair=1,2'; do
		"$program" --format=divergence --symbol=request $options "$work/perf.data" >/dev/null 2>"$work/messages"
		[ $? -eq 64 ] || { echo "$options"; return 1; }
	done
	"$program" --format=divergence "$work/perf.data" 2>&1 | grep -q 'needs functions; choose them with --symbol=GLOB'
}
tap_check "what it cannot do is refused" refused
tap_done
