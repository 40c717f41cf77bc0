#!/bin/sh
# SPDX-License-Identifier: MIT
# --format=pprof, read back by a reader of the format that shares nothing with the writer, by
# pprof itself if Go is there, and compared with --format=folded, functions, and valgrind.
. "$top_srcdir/tests/support/tap.sh"
program=$(realpath "$top_builddir/ptrace2ftf")
segments=$(realpath "$segments")
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$(realpath "$top_builddir/tests/programs/static")
reader=$(realpath "$top_srcdir/tests/cli/pprof.py")
source=$(realpath "$top_srcdir/tests/programs/recursion.c")
make_hostile=$(realpath "$top_builddir/tests/sweep/make-hostile")
command -v python3 >/dev/null || tap_skip_all "no python3"
own_lines=$(realpath "$top_srcdir/tests/cli/own_lines.awk")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$ptsim" record --cyc --interrupts=0 --seed=3 -o "$work/recursion" -- "$programs/recursion" >/dev/null 2>"$work/messages" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"
"$ptsim" record --cyc --cpus=2 --seed=3 -o "$work/threads" -- "$programs/threads" >/dev/null 2>&1
cd "$work" || exit 1

if ! "$program" -q recursion -o recursion.pb.gz 2>messages; then
	refused() {
		cat messages
		grep -q 'this build is without protobuf-c; build it again with libprotobuf-c-dev' messages && [ ! -e recursion.pb.gz ]
	}
	tap_check "a build without protobuf-c says so" refused
	tap_done
fi
"$program" -q threads -f pprof -o threads.pb.gz

# A profile is read once.
read_back() { # FILE [STACKS]
	sum=$(cksum <"$1" | tr ' ' -)
	[ -e "$sum" ] || python3 "$reader" "$@" >"$sum" || { rm "$sum"; echo "$1 cannot be read"; return 1; }
	cp "$sum" profile
}
head_of() {
	read_back recursion.pb.gz && grep -q "^comment .*by executions .*all stacks" profile && [ "$(sed -n 1p profile)" = "types calls/count instructions/count cycles/count time/nanoseconds time" ] &&
		grep -qx "file $programs/recursion $(readelf -n "$programs/recursion" | sed -n 's/.*Build ID: //p')" profile
}
tap_check "values are calls, instructions, cycles and time; a comment says what is divided; the program is named with its build id" head_of

# NAME: stacks with their time, by the thread.
stacks() {
	read_back $1.pb.gz && "$program" -q -f folded $1 | tr ' ' '_' | sed 's/_\([0-9]*\)$/ \1/' | sort >expected &&
		awk '$1 == "stack" && $NF { n[$2] += $NF } END { for (s in n) print s, n[s] }' profile | sort | diff expected - &&
		[ "$(wc -l <expected)" -gt 20 ]
}
tap_check "each stack has its own time: of a recursive program" stacks recursion
tap_check "of a program of threads, by their names" stacks threads

# "name VALUE", of the innermost functions.
own() { # COLUMN FROM THE THIRD ON
	awk -v c="$1" '$1 == "stack" { d = split($2, s, ";"); n[s[d]] += $(3 + c) } END { for (f in n) print f, n[f] }' profile | sort
}
calls() {
	read_back threads.pb.gz && own 1 >ours &&
		"$program" -q -f functions threads | awk 'NR > 1 && !/^times are/ { n = $9; for (i = 10; i <= NF; i++) n = n "_" $i; print n, $1 }' | sort | diff - ours
}
tap_check "calls are those of the table of functions" calls

# valgrind names the levels of a recursion f, f'2.
exact_insns() {
	valgrind --tool=callgrind --skip-plt=no --callgrind-out-file=callgrind "$programs/recursion" >/dev/null 2>messages &&
		callgrind_annotate --threshold=100 --auto=no callgrind | tr -d ',' |
		sed -nE "s/^ *([0-9]+) .*:(depth|fibonacci)('2)? .*/\2 \1/p" | awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' | sort >expected
	read_back recursion.pb.gz && own 2 | grep -E '^(depth|fibonacci) ' | diff expected - && [ "$(wc -l <expected)" -eq 2 ]
}
# The instructions of a function are divided in the same way in all of its stacks; rounding moves
# a few between lines: depth() has 619 stacks.
lines_of_valgrind() {
	awk -v source=recursion.c -f "$own_lines" callgrind | sort >expected
	read_back recursion.pb.gz && sed -n 's/^line .*recursion\.c:\([0-9]*\) [0-9]* \([0-9]*\) .*/\1 \2/p' profile | sort >ours
	join expected ours | awk '{ d = $2 - $3; if (d > 1 + $2 / 200 || -d > 1 + $2 / 200) { print; bad = 1 } n++ } END { exit bad || n < 10 }'
}
if command -v valgrind >/dev/null && [ "$P2F_SANITIZED" != yes ]; then
	tap_check "instructions are those that valgrind counts" exact_insns
	tap_check "of each line, too" lines_of_valgrind
else
	tap_skip "of each line, too" "no valgrind, or of no use here"
	tap_skip "instructions are those that valgrind counts" "no valgrind, or of no use here"
fi

# A frame that calls has the line of its call.
lines() {
	in_main=$(grep -n 'fibonacci(12)' "$source" | cut -d : -f 1)
	call=$(grep -n 'fibonacci(n - 1)' "$source" | cut -d : -f 1)
	read_back recursion.pb.gz
	grep -o 'main;fibonacci;fibonacci;fibonacci [^ ]*' profile | sed 's/.*;\([0-9]*;[0-9]*;[0-9]*\);[0-9]*$/\1/' | sort -u >ours
	cat ours
	[ "$(cat ours)" = "$in_main;$call;$call" ]
}
tap_check "a frame has the line of its call" lines

any_threads() {
	for jobs in 1 2 3; do
		PTRACE2FTF_SEGMENT=300 "$segments" -q -j $jobs threads -o $jobs.pb.gz || return 1
	done
	cmp 1.pb.gz 2.pb.gz && cmp 1.pb.gz 3.pb.gz
}
tap_check "the file does not depend on the number of threads" any_threads

names() {
	"$program" -q recursion -o x.pb && "$program" -q recursion -o x.pprof && "$program" -q -f pprof recursion -o - >x &&
		"$program" -q -f pprof recursion && for file in x.pb x.pprof x; do cmp $file recursion.pb.gz || return 1; done
}
tap_check "the profile is compressed whatever its name is, .pb and .pprof choose the format" names

chosen() {
	"$program" -q --symbol=fibonacci recursion -o x.pb.gz && read_back x.pb.gz && own 1 >ours && cat ours &&
		[ "$(cat ours)" = "fibonacci 465" ] && "$program" -q --depth=2 recursion -o x.pb.gz && read_back x.pb.gz &&
		[ "$(awk '$1 == "stack" { print split($2, s, ";") }' profile | sort -n | tail -n 1)" = 3 ]
}
tap_check "slices can be chosen" chosen
inlined() {
	"$program" -q --inline threads -o x.pb.gz && read_back x.pb.gz && "$program" -q --inline -f functions threads |
		awk 'NR > 1 && !/^times are/ { n = $9; for (i = 10; i <= NF; i++) n = n "_" $i; print n, $1 }' | sort >expected && own 1 | diff expected -
}
tap_check "inlined functions are frames" inlined

# Text has no instructions and no times of packets. A name may have any bytes.
from_text() {
	"$program" -q -f branches recursion | LC_ALL=C sed 's/fibonacci/fib\xff\xfe/g' >branches
	"$program" -q --input=perf-script branches -o x.pb.gz && read_back x.pb.gz && sed -n 1p profile &&
		[ "$(sed -n 1p profile)" = "types calls/count time/nanoseconds time" ] && grep -q ';main;fib��;fib�� ' profile
}
tap_check "of perf script's text; bytes that are no UTF-8 are replaced" from_text

# 8,000 calls in each other: the square of that.
limited() {
	"$make_hostile" symbols set && (ulimit -t 5; "$program" --max-stack=none --max-output=100kB --symfs=set set/perf.data -o x.pb.gz 2>messages)
	[ $? -eq 2 ] && grep -q 'the output has reached its limit' messages && [ "$(stat -c %s x.pb.gz)" -lt 2000000 ] && read_back x.pb.gz 20
}
if [ "$P2F_SANITIZED" != yes ]; then
	tap_check "--max-output ends it, and it can be read" limited
fi

by_go() {
	go tool pprof -top -sample_index=calls recursion.pb.gz >top 2>&1
	cat top
	grep -q ' 465 .* fibonacci$' top && grep -q '^File: recursion$' top
}
if command -v go >/dev/null; then
	tap_check "go tool pprof reads it" by_go
else
	tap_skip "go tool pprof reads it" "no Go"
fi
by_protoc() {
	read_back recursion.pb.gz && gzip -dc recursion.pb.gz | protoc --decode=perftools.profiles.Profile -I"$(dirname "$messages")" "$messages" >decoded &&
		! grep -qE '^ *[0-9]+:' decoded && grep -qx "samples $(grep -c '^sample {' decoded)" profile
}
messages=$(cd "$OLDPWD" && realpath "$top_srcdir/src/formats/pprof/profile.proto")
if command -v protoc >/dev/null; then
	tap_check "protoc knows all fields" by_protoc
else
	tap_skip "protoc knows all fields" "no protoc"
fi
tap_done
