#!/bin/sh
# SPDX-License-Identifier: MIT
# --format=outliers: one request of a thousand takes longer, for a planted cause, which is named
# first.  With LONG=1 (make check-long) on 20 seeds each.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seeds=${LONG:+"$(seq 20)"}
seeds=${seeds:-11}

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

outliers() { # OPTIONS...
	"$program" -q --format=outliers --symbol=request "$@" "$work/perf.data" >"$work/out" 2>"$work/messages" ||
		{ cat "$work/messages"; return 1; }
}

# The first path of the table, and what it is to be, with at least so many percent.
is_first() { # CAUSE PERCENT PATH
	for seed in $seeds; do
		record "$1" "$seed" && outliers || return 1
		sed -n '/ share /,/^$/{/ > /{p;q}}' "$work/out" >"$work/first"
		grep -q "[0-9]  $3\$" "$work/first" && awk -v least="$2" '{ exit $1 + 0 < least }' "$work/first" ||
			{ echo "seed $seed"; cat "$work/out"; return 1; }
	done
}
tap_check "a rare branch to a slow callee is the first reason" is_first callee 70 "request > rare_work > work"
tap_check "so is a loop that goes round more often" is_first loop 70 "request > work"
tap_check "and a page fault, by what its handler does" is_first fault 30 "request > on_fault > work"
tap_check "and a sleep" is_first sleep 80 "request > take_nap > .*nanosleep > .*\[syscall: clock_nanosleep\]"
tap_check "and what a cache did not have" is_first cache 70 "request > use_cache > compute > work"
tap_check "and a lock that another thread held" is_first lock 40 "request > use_lock > .*lock_wait > \[syscall: futex\]"

record callee 1
outliers
cp "$work/out" "$work/all"
# "SLOW OTHER": mean durations of the true calls, ns, of which `slow` are slow.
true_means() { # SLOW
	awk '$5 == "request" { print $4 - $3 }' "$work/truth.slices" | sort -nr |
		awk -v slow="$1" 'NR <= slow { s += $1; next } { o += $1; n++ } END { print s / slow, o / n }'
}
# Our times of a call are CYC's, 100 ns near the true ones.
extra_is_true() {
	slow=$(sed -n 's/^request: \([0-9]*\) slow call.*/\1/p' "$work/all")
	[ "$slow" -ge 1 ] && [ "$slow" -le 15 ] || { cat "$work/all"; return 1; }
	true_means "$slow" >"$work/means"
	sed -n 's/^a slow call takes \([0-9.]*\)us more$/\1/p' "$work/all" >>"$work/means"
	cat "$work/means"
	awk 'NR == 1 { extra = ($1 - $2) / 1000; next } { exit !($1 > extra - 0.1 && $1 < extra + 0.1) }' "$work/means"
}
tap_check "the extra time is that of the true calls" extra_is_true

adds_up() {
	awk '/ share / { table = 1; next } /^$/ { table = 0 } table { sum += $1 } END { print sum; exit !(sum > 99.7 && sum < 100.3) }' "$work/all"
}
tap_check "the shares add up to 100 %" adds_up

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
	"$program" -q --input=perf-script --format=outliers --symbol=request --slow=10us "$work/text" >"$work/out"
	grep -q '^ *0\.0% .* rest: 2 paths$' "$work/out" || { cat "$work/out"; return 1; }
}
tap_check "no share is -0.0 %" without_minus

is_the_same() {
	for jobs in 1 2 8; do
		program=$segments PTRACE2FTF_SEGMENT=3000 outliers -j $jobs && cmp "$work/all" "$work/out" || return 1
	done
}
tap_check "it is the same by any number of threads" is_the_same

# The slowest call and one of the others, by times within them.
pair() {
	"$program" -q --format=slices --symbol=request "$work/perf.data" |
		awk '$5 == "request" { printf "%d %.9f\n", $4 - $3, int(($3 + $4) / 2) / 1e9 }' | sort -nr >"$work/calls"
	a=$(sed -n 1p "$work/calls")
	b=$(sed -n 100p "$work/calls")
	outliers --pair="${a#* },${b#* }" || return 1
	sed -n '/ share /,/^$/{/ > /{p;q}}' "$work/out" | grep -q 'request > rare_work > work$' || { cat "$work/out"; return 1; }
	extra=$((${a% *} - ${b% *}))
	sed -n 's/^a slow call takes \([0-9.]*\)us more$/\1/p' "$work/out" |
		awk -v extra=$extra '{ print $1, extra; exit !($1 * 1000 > extra - 2 && $1 * 1000 < extra + 2) }'
}
tap_check "--pair compares two calls" pair

# The block of a function, up to the empty line after its table.
block() {
	awk -v f="$1" 'index($0, f ": ") == 1 { on = 1 } on && /^[a-z_]*: / && index($0, f ": ") != 1 { exit } on && !/^times are/' "$work/out"
}
# "work" is part of calls of "request", and has calls of its own; those in another "work" do not count.
within() {
	record callee 1
	outliers && block request >"$work/alone"
	"$program" -q --format=outliers --symbol='*' "$work/perf.data" >"$work/out" 2>"$work/messages"
	block request | sed '/ calls are left out/d' >"$work/among"
	cmp "$work/alone" "$work/among" && [ "$(wc -l <"$work/alone")" -gt 5 ] || { cat "$work/alone" "$work/among"; return 1; }
	sed -n 's/^work: \([0-9]*\) slow call.* and \([0-9]*\) others.*/\1 \2/p' "$work/out" >"$work/counts"
	awk '$5 == "work"' "$work/truth.slices" | wc -l >"$work/true"
	cat "$work/counts" "$work/true"
	awk 'NR == 1 { n = $1 + $2; next } { exit !(n == $1 && n > 1000) }' "$work/counts" "$work/true"
}
tap_check "calls within those of other chosen functions are calls of their own" within

bounds() {
	outliers --slow=1s && grep -q '^request: 1000 calls, none to compare as slow$' "$work/out" &&
		outliers --slow=p50 && grep -q '^request: [45][0-9][0-9] slow calls' "$work/out" &&
		outliers --slow=1ns && grep -q '^request: 1000 calls, none to compare with$' "$work/out" || { cat "$work/out"; return 1; }
}
tap_check "--slow is a time or a percentile" bounds

no_cycles() {
	"$ptsim" record --interrupts=0 -o "$work/perf.data" -- "$top_builddir/tests/programs/static/causes" callee 1 \
		>/dev/null 2>&1 && outliers && grep -q '^no cycles were recorded' "$work/out"
}
tap_check "without cycles it says what cannot be known" no_cycles

json_agrees() {
	record callee 1
	outliers -o "$work/text" --json="$work/json" || return 1
	python3 - "$work/json" <<-'END'
		import json, sys
		answer = json.load(open(sys.argv[1]))["answer"]
		f = answer["functions"][0]
		assert answer["format"] == "outliers" and f["name"] == "request", answer
		assert f["slow_calls"] + f["other_calls"] == 1000, f
		first = f["paths"][0]
		assert first["path"] == ["request", "rare_work", "work"] and first["share"] > 0.7, first
		assert first["slow"]["insns"] > 1000 and first["other"]["calls"] == 0, first
	END
}
# Without times, a slow call has more instructions: those of the slices, in text and JSON.
json_counts_insns() {
	"$ptsim" record --no-mtc --interrupts=0 -o "$work/perf.data" -- "$top_builddir/tests/programs/static/causes" callee 1 \
		>/dev/null 2>&1 && outliers -o "$work/text" --json="$work/json" || return 1
	extra=$("$program" -q --format=slices --args=full --symbol=request "$work/perf.data" |
		sed -n '/ request /s/.* insns=\([0-9]*\).*/\1/p' | sort -n |
		awk '{ n[NR] = $1; sum += $1 } END { printf "%.3f", n[NR] - (sum - n[NR]) / (NR - 1) }')
	grep -q "^a slow call takes $(printf %.0f "$extra") more instructions$" "$work/text" || { cat "$work/text"; return 1; }
	python3 - "$work/json" "$extra" <<-'END'
		import json, sys
		f, extra = json.load(open(sys.argv[1]))["answer"]["functions"][0], float(sys.argv[2])
		first = f["paths"][0]
		assert f["slow_calls"] == 1 and abs(f["extra_insns"] - extra) < 0.01, (f, extra)
		assert abs(first["extra_insns"] - extra * first["share"]) < 0.01 and first["share"] > 0.9, first
		assert "extra_ns" not in f and "extra_ns" not in first, f
	END
}
if command -v python3 >/dev/null; then
	tap_check "--json has the same" json_agrees
	tap_check "--json counts instructions without times" json_counts_insns
else
	tap_skip "--json has the same" "no python3"
	tap_skip "--json counts instructions without times" "no python3"
fi
tap_done
