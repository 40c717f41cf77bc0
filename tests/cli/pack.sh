#!/bin/sh
# SPDX-License-Identifier: MIT
# `ptrace2ftf pack`: the packed file alone gives the trace of the recording with its files.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ftfdump=$top_builddir/ftfdump
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# A machine without the recorded files.
mkdir none

record() { # NAME OPTIONS... -- PROGRAM ARGUMENTS...
	name=$1
	shift
	"$ptsim" record --cyc --seed=3 -o "$name" "$@" >/dev/null 2>messages
}
record threads --cpus=2 -- "$programs/static/threads" || tap_skip_all "programs cannot be traced here: $(cat messages)"
record except -- "$programs/except"

# With the default arguments, there is no warning of what is not packed.
quiet() {
	"$program" pack -q threads -o packed && "$program" -q --symfs=none -o packed.ftf packed && "$program" why --symfs=none packed >out 2>messages
	status=$?
	cat messages
	[ $status -eq 0 ] && ! grep warning messages
}
tap_check "conversions and answers of a packed file warn of nothing" quiet
slices() { # INPUT OPTIONS...
	"$program" -q --no-warn --args=none -o slices.ftf "$@" && "$ftfdump" --slices slices.ftf
}
same() { # NAME OPTIONS...: pack and compare
	name=$1
	shift
	"$program" pack -q "$@" "$name" -o packed && slices "$name" "$@" >wanted &&
		slices packed --symfs=none "$@" >got && [ "$(wc -l <wanted)" -gt 100 ] && cmp wanted got
}
tap_check "threads on two CPUs are the same without their program's file" same threads
tap_check "a program with libraries and exceptions is the same without its files" same except

# Byte by byte, with source lines, inlined calls, and functions without names.
all_the_same() { # NAME
	"$program" pack -q "$1" -o packed || return 1
	for how in --args=loc --args=line --inline; do
		"$program" -q --no-warn --no-cache $how -o wanted.ftf "$1" && "$program" -q --no-warn --no-cache $how --symfs=none -o got.ftf packed && cmp wanted.ftf got.ftf || return 1
	done
	"$program" -q --no-warn -f slices "$1" | grep -q " loc=[^ ]*\.c[cp]*:[0-9]"
}
tap_check "source lines of a packed file are the recording's" all_the_same threads
cp "$programs/static/recursion" stripped && strip stripped && record nameless -- ./stripped
unnamed() {
	"$program" pack -q nameless -o packed && "$program" -q --no-warn -o wanted.ftf nameless && "$program" -q --no-warn --symfs=none -o got.ftf packed && cmp wanted.ftf got.ftf &&
		"$program" -q --no-warn --symfs=none -f slices packed | grep -q ' stripped+0x.* dso=/.*/stripped'
}
command -v strip >/dev/null && tap_check "functions without names are still without names" unnamed

refused() { # STATUS WORDS COMMAND...
	wanted_status=$1 words=$2
	shift 2
	"$@" >out 2>&1
	status=$?
	cat out
	[ $status -eq "$wanted_status" ] && [ "$(wc -l <out)" -eq 1 ] && grep -qF "$words" out
}

# Code that is in no ELF file of 64 bits with sections: byte by byte, and never masked.
whole() { # WORDS INPUT OPTIONS...
	words=$1 input=$2
	shift 2
	"$program" pack -q "$@" -o packed "$input" 2>messages
	[ $? -ne 1 ] || { cat messages; return 1; }
	for how in --args=loc --args=line; do
		"$program" -q --no-warn --no-cache $how "$@" -o wanted.ftf "$input"
		"$program" -q --no-warn --no-cache $how --symfs=none -o got.ftf packed
		cmp wanted.ftf got.ftf || return 1
	done
	"$program" -q --no-warn --symfs=none -f slices packed | grep -q "$words" &&
		refused 1 "cannot mask" "$program" pack -q --no-warn --mask "$@" "$input" -o masked
}
record jitdump --as-is -- "$programs/jitdump" "$work"
tap_check "code and names of a jitdump are packed" whole " jit_outer loc=made.js:7" jitdump
mkdir -p dumps maps
record saved --code --as-is -- "$programs/jitdump" "$work/dumps" both
tap_check "with saved code beside it" whole ' jit_outer' saved
record patched --code -- "$programs/patched"
tap_check "changed code of a file is packed" whole ' hook' patched
record anonymous -- "$programs/jit"
pid=$("$program" -q --no-warn -f slices anonymous | sed 's|/.*||;q')
page=$("$program" -q --no-warn -f branches anonymous | sed -n 's/.* call  *[0-9a-f]* main+0x[0-9a-f]* => *\([0-9a-f]*\) \[anon\].*/\1/p' | head -n 1)
printf '%s 4 jit code (second)\n' "$page" >"maps/perf-$pid.map"
tap_check "the names of a perf map are packed" whole ' jit code (second)' anonymous --perf-map-dir=maps
if command -v python3 >/dev/null; then
	python3 - "$programs/static/recursion" <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[40:48] = bytes(8) # e_shoff; e_shnum, e_shstrndx
data[60:64] = bytes(4)
open("sectionless", "wb").write(data)
END
	chmod +x sectionless
	record bare -- ./sectionless
	tap_check "a file without sections is packed" whole ' \[sectionless\]\| sectionless+0x' bare
fi
bits32=$top_srcdir/../shared/more/xdc-avscript
if [ -e "$bits32" ]; then
	tap_check "32-bit code is packed" whole image "$bits32/recording" --symfs="$bits32/symfs"
else
	tap_skip "32-bit code is packed" "no $bits32"
fi

# Source lines of a debug file, which the packed file has.
record_debug() {
	objcopy --only-keep-debug "$programs/static/recursion" lines.debug && objcopy --strip-all --add-gnu-debuglink=lines.debug "$programs/static/recursion" apart &&
		record lines -- ./apart
}
debug_file() {
	record_debug && all_the_same lines && "$program" -q --no-warn --symfs=none -f slices packed | grep -q " loc=[^ ]*recursion\.c:[0-9]"
}
if command -v objcopy >/dev/null; then
	tap_check "a separate debug file is packed" debug_file
else
	tap_skip "a separate debug file is packed" "no objcopy"
fi
# std::...@plt
stubs() {
	"$program" pack -q except -o packed && "$program" -q --no-warn --demangle=none -f branches except >stubs.wanted && "$program" -q --no-warn --demangle=none -f branches --symfs=none packed >stubs.got &&
		grep -q ' _Z[^ ]*@plt' stubs.wanted && cmp stubs.wanted stubs.got
}
tap_check "stubs have their mangled names" stubs

slices except >wanted
# Two times of calls in the middle, and the thread of the last one.
cut -d' ' -f3 wanted | sort >times
from=$(sed -n "$(($(wc -l <times) / 3))p" times) to=$(sed -n "$(($(wc -l <times) / 2))p" times)
tap_check "a part of the time is the same" same except --time="${from}ns,${to}ns"
threads() { # OPTIONS...
	same threads --time="$(sed -n 500p all)ns,$(sed -n 900p all)ns" "$@"
}
slices threads | cut -d' ' -f3 | sort >all
tap_check "a part of the time of threads on two CPUs is the same" threads
tid=$(slices threads | tail -1 | sed 's/ .*//; s/.*\///')
tap_check "one thread is the same" same threads --tid="$tid"

records() { # FILE TYPE: count perf's records
	python3 - "$@" <<'END'
import gzip, struct, sys
data, at, count = open(sys.argv[1], "rb").read(), 16, 0
data = gzip.decompress(data)
while at < len(data):
    kind, _, size = struct.unpack_from("<IHH", data, at)
    count += kind == int(sys.argv[2])
    at += size + (struct.unpack_from("<Q", data, at + 8)[0] if kind in (71, 0x50434b) else 0)
print(count)
END
}
sideband() {
	"$program" pack -q threads -o whole && "$program" pack -q threads -o packed \
		--time="$(sed -n 500p all)ns,$(sed -n 510p all)ns" || return 1
	# PERF_RECORD_SWITCH_CPU_WIDE, MMAP2
	[ "$(records packed 15)" -gt 1 ] && [ "$(records packed 15)" -lt "$(records whole 15)" ] &&
		[ "$(records packed 10)" -eq "$(records whole 10)" ]
}
command -v python3 >/dev/null && tap_check "context switches outside of the time are left out, mappings before are not" sideband

# The trace of each CPU as snapshots: the first two overlap, by more than a PSB+, the third one is apart.
make_snapshots() {
	record often --cpus=2 --psb-period=256 -- "$programs/static/threads" && "$program" pack -q often -o packed && python3 - <<'END'
import gzip, struct
data = gzip.open("packed").read()
at, out = 16, data[:16]
while at < len(data):
    kind, _, size = struct.unpack_from("<IHH", data, at)
    record, end = data[at:at + size], at + size
    if kind in (71, 0x50434b): # AUXTRACE, the files
        end += struct.unpack_from("<Q", data, at + 8)[0]
    if kind == 70: # AUXTRACE_INFO: snapshot_mode is the ninth word of Intel PT's
        record = record[:16 + 64] + struct.pack("<Q", 1) + record[16 + 72:]
    if kind == 71:
        trace = data[at + size:end]
        for first, last in (0, 4), (3, 6), (7, 10):
            part = trace[len(trace) * first // 80 * 8:len(trace) * last // 80 * 8]
            out += record[:8] + struct.pack("<Q", len(part)) + record[16:] + part
    else:
        out += record + data[at + size:end]
    at = end
open("snapshots", "wb").write(out)
END
}
snapshots() { # of two CPUs
	make_snapshots && "$program" -q --no-warn --json=report.json -o wanted.ftf --symfs=none snapshots && grep '"bytes_repeated"' report.json | grep -qv ': 0,' &&
		all_the_same snapshots && [ "$(records packed 71)" -lt 6 ]
}
command -v python3 >/dev/null && tap_check "snapshots that overlap, or not, are the same" snapshots

# Names of 4 letters or more, of functions, files and threads; those that unwind stay.
masked() {
	"$program" pack -q --mask except -o packed || return 1
	slices packed --symfs=none | cut -d' ' -f1-4 >got
	slices except | cut -d' ' -f1-4 >wanted
	cmp wanted got || return 1
	gzip -dc packed | strings -n 4 | sort -u >strings
	slices except | cut -d' ' -f5 | grep -E '^[A-Za-z_]{5,}$' | grep -vE 'longjmp|setjmp|__cxa|_Unwind' | sort -u >names
	[ "$(wc -l <names)" -gt 20 ] && ! grep -xFf names strings && ! grep -E "$programs|libstdc|libc\.so|except\$" strings
}
command -v strings >/dev/null && tap_check "--mask keeps times and nesting, and no name or path" masked

cp threads input
tap_check "an output over the input is refused" refused 1 input "$program" pack -q input -o input
tap_check "the input is whole" cmp threads input
tap_check "a full disk is an error" refused 1 "No space left" "$program" pack -q threads -o /dev/full
cp threads second
tap_check "several recordings are refused" refused 64 "cannot pack several files" "$program" pack -q threads second -o out.packed
echo text >text
tap_check "another file is refused" refused 1 "is not a perf.data file" "$program" pack -q text -o out.packed
tap_check "no output is left" [ ! -e out.packed ]
cut_packed() {
	"$program" pack -q threads -o packed && gzip -dc packed >plain || return 1
	for bytes in 100 3000 60000; do
		head -c "-$bytes" plain >short
		"$program" -q --no-warn --symfs=none short -o short.ftf >out 2>&1
		[ $? -le 2 ] || { cat out; return 1; }
	done
}
tap_check "a packed file that was cut is read up to there" cut_packed
tap_done
