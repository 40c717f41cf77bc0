#!/bin/sh
# SPDX-License-Identifier: MIT
# --format=magic-trace against magic_trace_model.awk: the records of random text, and of recordings
# in ../shared.  LONG=1 takes thousands of texts and all recordings, COUNT=5000 FIRST=1000 other texts.
. "$top_srcdir/tests/support/tap.sh"
here=$(cd "$top_srcdir/tests/oracle" && pwd)
tools=$(cd "$top_builddir" && pwd)
shared=$(cd "$top_srcdir/../shared" 2>/dev/null && pwd)
count=${COUNT:-${LONG:+1000}}
count=${count:-100}
first=${FIRST:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# Records of events as the model prints them.
records() { # FTF...
	for trace in "$@"; do
		[ $# -eq 1 ] || echo "FILE $trace"
		"$tools/ftfdump" "$trace" 2>>unsound
	done | sed -E 's,^FILE .*/(.*)\.ftf$,FILE \1,' | awk -f "$here/magic_trace_records.awk"
}

generate() { # [-v arbitrary=1]
	rm -rf scripts && mkdir scripts &&
		awk -v dir=scripts -v first="$first" -v count="$count" "$@" -f "$here/random_script.awk"
}

same_as_the_model() { # MODE
	rm -rf ftf && mkdir ftf && find scripts -name '*.script' | sort |
		xargs -n 1000 "$tools/ptrace2ftf" -q --input=perf-script --format=magic-trace --mode="$1" -o ftf/ 2>messages
	[ "$(find ftf -type f | wc -l)" = "$count" ] || { cat messages; return 1; }
	find scripts -name '*.script' | sort | sed 's/\.script$//; s/^scripts/ftf/' >names
	sed 's/^ftf\(.*\)/scripts\1.script/' names | xargs awk -v mode="$1" -f "$here/magic_trace_model.awk" >expected
	# shellcheck disable=SC2046 # names without blanks
	records $(find ftf -name '*.ftf' | sort -t / -k 2) >ours
	sed -i 's/^\(FILE .*\)\.script$/\1/' expected ours
	[ "$(grep -c '" ' expected)" -gt $((count * 10)) ] || { echo "the model finds nothing"; return 1; }
	cmp -s expected ours && return 0
	diff expected ours | head -20
	return 1
}

for order in "" "-v arbitrary=1"; do
	# shellcheck disable=SC2086 # words
	generate $order
	for mode in user kernel; do
		# seeds.md: the traced mode must be given again to decode
		tap_check "random text ${order#-v }, --mode=$mode: the model's records" same_as_the_model $mode
	done
done

# Text that magic-trace reads in part: mangled names, names without offset, hits, other columns.
same_text() {
	"$tools/ptrace2ftf" -q --no-warn --format=magic-trace --input=perf-script text -o text.ftf 2>messages || { cat messages; return 1; }
	awk -v mode=user -f "$here/magic_trace_model.awk" text >expected
	records text.ftf >ours
	grep -q "$1" ours || { cat ours; return 1; }
	diff expected ours
}
cat >text <<'END'
 7/7 1.000000100: 1 mem:0x4010:x:u: 4010 work+0x0
 7/7 1.000000200: 1 branches:u:   call   4000 main+0x0 => 4010 _ZN4work3runEv+0x0 (prog)
 7/7 1.000000300: 1 mem:0x4010:x:u: 4010 work+0x0
 8/8 1.000000350: 1 cpu-clock:u: 4010 work+0x0
 7/7 1.000000350: cbr:  42 freq: 4219 MHz (156%) 0 [unknown]
 7/7 1.000000400: 1 branches:u:   call   4014 _ZN4work3runEv+0x4 => 4030 gogo (prog)
 7/7 1.000000500: 1 branches:u:   call   4034 gogo+0x4 => 4040 [unknown] (prog)
 7/7 1.000000600: 1 branches:u:   jmp   4044 [unknown] (prog) => 4050 leaf+0x0 (prog)
END
# seeds.md: hits of the trigger are slices without length, on a separate track
tap_check "hits of text are slices without length, and times count from the first" same_text '^4194305 Snapshot symbol hits complete 200 200 "hit work"'
tap_check "names are those of the text, and code without an offset has none" same_text ' 300 "\[unknown\]" .*symbol=\[unknown\]'

cat >text <<'END'
 instruction trace error type 1 time 1.000000100 cpu -1 pid 7 tid 7 ip 0 code 7: Overflow packet
 7/7 1.000000200: 1 branches:u:   call   4000 main+0x0 => 4010 work+0x0
 7/7 1.000000300: 1 branches:u:   return   4014 work+0x4 => 4004 main+0x4
END
# seeds.md: if that is an error, from 0
tap_check "if the first event is an error, times count from 0" same_text '^1 7/7 complete 1000000101 1000000101 "\[decode error: Overflow packet\]"'

symfs() { # FOLDER
	for symfs in "$1/symfs" "$1/../symfs" "$1/binaries"; do
		[ -d "$symfs" ] && echo "$symfs" && return
	done
}

options() { # FOLDER
	[ -z "$(symfs "$1")" ] || echo "--symfs=$(symfs "$1")"
	[ -f "$1/vdso.so" ] && echo "--vdso=$1/vdso.so"
	case $1 in
	*/rr-alderlake | */big-sqlite) [ "$LONG" ] || echo "--time=0%,1%" ;;
	esac
}

# Where the functions of the recorded files are in the source, by binutils: a file for each folder.
lines() { # FOLDER
	folder=$(symfs "$1")
	lines=lines$(echo "$folder" | tr -c 'a-z0-9\n' _)
	[ -f "$lines" ] || [ -z "$folder" ] || find "$folder/" -type f | while read -r file; do
		readelf -S "$file" 2>/dev/null | grep -q '\.debug_line' || continue
		nm --defined-only "$file" >symbols 2>/dev/null
		readelf --debug-dump=rawline "$file" >rows 2>/dev/null
		cut -d ' ' -f 1 symbols | addr2line -e "$file" | paste symbols - | c++filt -p |
			awk -v rows=rows -f "$here/function_lines.awk"
	done >"$lines"
}

# Threads end in any order: in magic-trace that of a hash table.
by_thread() {
	sort -s -t ' ' -k 1,1n
}

same_recording() { # RECORDING [OPTIONS]
	lines "$(dirname "$1")"
	# shellcheck disable=SC2046 # words
	set -- "$@" $(options "$(dirname "$1")")
	"$tools/ptrace2ftf" -q --no-warn --format=branches --unnamed=files "$@" -o - |
		awk -v mode=user -v lines="$lines" -f "$here/magic_trace_model.awk" | by_thread >expected
	"$tools/ptrace2ftf" -q --no-warn --format=magic-trace "$@" -o trace.ftf || return 1
	records trace.ftf | by_thread >ours
	[ -s expected ] && cmp -s expected ours && return 0
	diff expected ours | head -20
	return 1
}

[ "$shared" ] && for recording in $(find "$shared/recordings" "$shared/more" -name 'perf.data*' -o -name recording | sort); do
	name=${recording#"$shared"/}
	case $name in
	*/xdc-[qma]* | */arcus-cve-* | */except/* | */ls-l/* | */pipeline-2cpu/* | */tiny-no*) [ "$LONG" ] || continue ;;
	esac
	"$tools/ptrace2ftf" list "$recording" 2>&1 | grep -q 'no Intel PT' && continue
	# seeds.md: times count from the run's first event
	# seeds.md: an end has the slice's name
	# seeds.md: it has symbol
	# seeds.md: its category is empty
	# seeds.md: each thread is a separate process with made-up ids
	# seeds.md: a decode error is a slice without length `[decode error: MESSAGE]`
	# seeds.md: it has line, column and file of the function's begin
	tap_check "$name: the model's records" same_recording "$recording"
done

# A single thread's first event is also the first one of the run.
threads=$shared/recordings/truth/threads-2cpu/perf.data
if [ -f "$threads" ]; then
	tid=$("$tools/ptrace2ftf" -q --no-warn --format=branches "$threads" | sed -n 's,^ *[0-9]*/\([0-9]*\) .*,\1,p' | sort -u | tail -n 1)
	tap_check "one thread, --tid: the model's records" same_recording "$threads" "--tid=$tid"
fi
tap_done
