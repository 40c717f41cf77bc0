#!/bin/sh
# SPDX-License-Identifier: MIT
# afl.sh SOURCE BUILD SECONDS TARGET...: as fuzz.sh, with AFL++ (afl-clang-fast,
# whose driver takes libFuzzer's place).  What it finds stays in BUILD/afl/TARGET
# and is where the next run begins; the last lines are its figures.
set -e
source=$1
build=$2
seconds=$3
shift 3
command -v afl-fuzz >/dev/null || { echo "no afl-fuzz: apt-get install afl++" >&2; exit 1; }
mkdir -p "$build"
cd "$build"
[ -f Makefile ] || AFL_QUIET=1 "$source/configure" -q CC=afl-clang-fast CXX=afl-clang-fast++ CFLAGS='-g -O1' \
	--enable-sanitize=address,undefined
targets=
for target; do
	targets="$targets tests/fuzz/$target.fuzz"
done
AFL_QUIET=1 make -s $targets tests/fuzz/make_seeds tests/unit/symbols/sample tests/unit/symbols/sample_gz \
	tests/support/make-trace
"$source/tests/fuzz/corpus.sh" . seeds
mkdir -p afl
export AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_NO_AFFINITY=1 AFL_AUTORESUME=1
# A report ends the program by a signal, or AFL++ would not see it.
export ASAN_OPTIONS=abort_on_error=1:symbolize=0:detect_leaks=0 \
	UBSAN_OPTIONS=abort_on_error=1:halt_on_error=1:symbolize=0
status=0
for target; do
	dictionary=$source/tests/fuzz/dictionaries/$target.dict
	nice -n 19 afl-fuzz -i "seeds/$target" -o "afl/$target" -V "$seconds" -t 5000 -m none \
		$([ ! -f "$dictionary" ] || echo "-x $dictionary") \
		-- "tests/fuzz/$target.fuzz" >"$target.log" 2>&1 || { tail -n 20 "$target.log"; status=1; }
	stats=afl/$target/default/fuzzer_stats
	[ -f "$stats" ] || continue
	sed -nE "s/^(run_time|execs_done|corpus_count|edges_found|saved_crashes|saved_hangs) +: /$target: \1 /p" "$stats"
	grep -qE '^saved_(crashes|hangs) +: [1-9]' "$stats" && status=1
done
exit $status
