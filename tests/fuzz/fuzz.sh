#!/bin/sh
# SPDX-License-Identifier: MIT
# fuzz.sh SOURCE BUILD SECONDS TARGET...: builds fuzz targets with clang in BUILD
# and runs each, one after the other.  Corpora stay in BUILD/corpus and grow from
# run to run; findings come to BUILD/findings; the last lines of each run's log
# (BUILD/TARGET.log) contain executions and coverage.
set -e
source=$1
build=$2
seconds=$3
shift 3
mkdir -p "$build"
cd "$build"
sanitize=fuzzer-no-link,address,undefined
libraries=$PWD/libraries
[ -f Makefile ] || {
	"$source/tests/fuzz/libraries.sh" "$libraries" "${FUZZ_CC:-clang}" "-g -O1 -fsanitize=$sanitize" ||
		{ [ $? = 77 ] && libraries=; }
	# -B: where the compiler's -print-file-name looks for libiberty.a, too.
	"$source/configure" -q CC="${FUZZ_CC:-clang}" CFLAGS='-g -O1' --enable-sanitize=$sanitize \
		${libraries:+LDFLAGS="-B$libraries -L$libraries" ac_cv_lib_iberty_cplus_demangle=yes DW_CFLAGS=" " \
			DW_LIBS="$(cat "$libraries/libs")"}
}
targets=
for target; do
	targets="$targets tests/fuzz/$target.fuzz"
done
make -s $targets tests/fuzz/make_seeds tests/unit/symbols/sample tests/unit/symbols/sample_gz \
	tests/support/make-trace
"$source/tests/fuzz/corpus.sh" . seeds
mkdir -p findings
status=0
for target; do
	mkdir -p "corpus/$target"
	dictionary=$source/tests/fuzz/dictionaries/$target.dict
	# 32 MiB more than zstd's largest window, which takes memory as far as it is filled; the
	# reader of an xz section takes 96 MiB (symbols/files/debug_file.c).
	nice -n 19 "tests/fuzz/$target.fuzz" -max_total_time="$seconds" -timeout=5 -max_len=65536 \
		-malloc_limit_mb=160 -print_final_stats=1 -artifact_prefix="findings/$target-" \
		$([ ! -f "$dictionary" ] || echo "-dict=$dictionary") \
		"corpus/$target" "seeds/$target" 2>"$target.log" || status=1
	tail -n 12 "$target.log" | sed "s/^/$target: /"
done
exit $status
