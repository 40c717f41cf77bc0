#!/bin/sh
# SPDX-License-Identifier: MIT
# Raw trace data (--raw, --map, --cpu) and LLDB's trace.json: recordings of ptsim, and of ../shared,
# taken apart, show what the recordings show. The wrapped recordings' branches are compared with
# perf's and libipt's by other tests (tests/oracle/, tests/ptsim/engines.sh).
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs
shared=$top_srcdir/../shared
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
command -v python3 >/dev/null || tap_skip_all "no python3"

take_apart() { # RECORDING DIR [VDSO]: and the words for its buffers in DIR/words
	mkdir -p "$2" && python3 "$top_srcdir/tests/support/raw_parts.py" "$@" &&
		(cd "$2" && ls raw.* | sed "s:^:--raw=$2/:" && cat maps cpu) >"$2/words"
}

"$ptsim" record --no-mtc --per-thread --seed=3 -o apart -- "$programs/static/threads" >/dev/null 2>messages ||
	tap_skip_all "programs cannot be traced here: $(cat messages)"
"$ptsim" record --no-mtc --cpus=2 --seed=3 -o cpus -- "$programs/threads" >/dev/null 2>&1
"$ptsim" record --cyc --seed=3 -o cyc -- "$programs/static/causes" >/dev/null 2>&1
# The kernel maps the same vDSO into each process; glibc 2.41 calls it before main().
python3 - >vdso <<'END'
import re, sys
begin, end = (int(n, 16) for n in re.search(r'(\w+)-(\w+) .*\[vdso\]', open('/proc/self/maps').read()).groups())
with open('/proc/self/mem', 'rb') as memory:
    memory.seek(begin)
    sys.stdout.buffer.write(memory.read(end - begin))
END
for recording in apart cpus cyc; do
	take_apart $recording parts.$recording "$work/vdso"
	"$program" -q -f branches $recording -o $recording.branches
done

# ---- trace.json --------------------------------------------------------------

same() { # RECORDING INPUT: the same branches, at the same times
	"$program" -q -f branches "$2" -o ours && [ "$(wc -l <ours)" -gt 1000 ] && cmp $1.branches ours
}
tap_check "trace.json with a trace of each thread" same apart parts.apart/trace.json
tap_check "trace.json with a trace and the context switches of each CPU" same cpus parts.cpus/trace.json

older_names() {
	sed 's/"cpus"/"cores"/; s/"id"/"coreId"/; s/"iptTrace"/"traceBuffer"/' parts.cpus/trace.json >parts.cpus/older.json
	same cpus parts.cpus/older.json
}
tap_check "trace.json of an older LLDB" older_names

# Its names are those of the files in the symfs; the files of traces are beside it.
with_symfs() {
	mkdir -p root && cp "$programs/static/threads" vdso root/ && "$program" -q -f branches --symfs=root parts.apart/trace.json -o ours &&
		cmp apart.branches ours
}
tap_check "--symfs applies to the modules of trace.json" with_symfs

copied_modules() {
	mkdir -p bundle/modules && cp parts.apart/raw.* bundle/ && cp "$programs/static/threads" bundle/modules/other &&
		sed 's|"systemPath": "[^"]*"|"systemPath": "/no/such/threads", "file": "modules/other"|' parts.apart/trace.json >bundle/trace.json &&
		same apart bundle/trace.json && cd bundle && "$program" -q -f branches trace.json -o ours && cmp ../apart.branches ours
}
tap_check "copies of modules and traces are found from the folder of trace.json" copied_modules

wrong_build() {
	sed -i 's/"uuid": "../"uuid": "00/' bundle/trace.json && ! grep -q '"uuid": "0000' bundle/trace.json || return 1
	"$program" -f none bundle/trace.json 2>messages
	[ $? -eq 2 ] && grep 'other is not the file that was recorded: its build id is' messages
}
tap_check "a module with another build id is not used" wrong_build

# ---- --raw ---------------------------------------------------------------------

# Times are TSC ticks from any start, and ids are others: the branches of each thread agree.
without_times() {
	sed 's|^ *[0-9]*/\([0-9]*\) *[0-9.]*:|\1|; s/ time .* tid [0-9]*//' "$1" | sed "$2" | sort -s -n -k 1,1
}

raw() { # RECORDING ID...: the ids of the recording's threads
	recording=$1 script=
	shift
	number=1
	for id; do
		script="$script s/^$id /$number /;" number=$((number + 1))
	done
	"$program" -f branches $(cat parts.$recording/words) -o ours 2>messages
	[ $? -eq 2 ] && without_times $recording.branches "$script" >theirs && without_times ours "" | diff theirs - | head -n 5 >differences
	[ ! -s differences ] || { cat differences; return 1; }
	grep 'the frequency of the TSC is unknown: times are its ticks' messages
}
tap_check "--raw of several threads with --map and --cpu" raw apart 1001 1002 1003 1004 1005
tap_check "--raw with CYC and MTC packets, whose rates are unknown" raw cyc 1001

elf_file() {
	address=$(readelf -lW "$programs/static/threads" | awk '$1 == "LOAD" { print $3; exit }')
	"$program" -q -f branches --raw=parts.apart/raw.-1.1001 --map="$programs/static/threads@$address" $(cat parts.apart/cpu) -o one
	"$program" -q -f branches --raw=parts.apart/raw.-1.1001 $(cat parts.apart/maps parts.apart/cpu) -o two
	[ "$(wc -l <one)" -gt 100 ] && cmp one two
}
tap_check "--map=ELF@ADDRESS maps the segments of an ELF file" elf_file

# In a folder with an awkward name, by relative paths, in both forms of numbers.
image() {
	mkdir -p 'a:1@2' && cd 'a:1@2' && set -- $(sed -n 's/.*:\(.*\)@\(.*\)-\(.*\)/\1 \2 \3/p; q' ../parts.apart/maps) &&
		{ head -c 100 /dev/zero; tail -c +$((0x$1 + 1)) "$programs/static/threads" | head -c $((0x$3 - 0x$2)); } >image &&
		"$program" -q -f branches --raw=../parts.apart/raw.-1.1001 --map=image:0x64@0x$2 $(cat ../parts.apart/cpu) -o ours
	sed 's/[^ ]*+0x[^ ]*//g; s/\[[^]]*\]//g; s/[^ ]* =>/=>/; s/[^ ]*$//' ours | sed 's/ *$//; s/.*: *//' >one
	awk '{ print $1 }' one | sort | uniq -c >kinds
	sed 's/.*: *//' ../two | awk '{ print $1 }' | sort | uniq -c | diff - kinds && [ "$(wc -l <ours)" -gt 100 ]
}
tap_check "--map takes an image of memory, from an offset" image

from_pipe() {
	"$program" -q -f branches --raw=- $(cat parts.apart/maps parts.apart/cpu) -o piped <parts.apart/raw.-1.1001 && return 1
	[ "$(cut -c 30- piped)" = "$(cut -c 30- two)" ]
}
tap_check "--raw=- reads standard input" from_pipe

# ---- Commands ------------------------------------------------------------------

commands() {
	set -- $(cat parts.apart/words)
	share=$(wc -c parts.apart/raw.* | awk '/1001$/ { bytes = $1 } END { printf "%.1f%%", 100 * bytes / $1 }')
	"$program" list --no-warn "$@" >list && grep -q " $share .*raw.-1.1001 1/1$" list && grep -q 'thread 5$' list &&
		"$program" annotate --no-warn work "$@" | grep -q '^work: [0-9]* calls, ' &&
		"$program" why --no-warn "$@" >why && ! grep recordings why &&
		"$program" diff --no-warn parts.apart/trace.json parts.apart/trace.json | grep 'no function differs\|^B: parts' &&
		"$program" diff --no-warn --raw=parts.apart/raw.-1.1004 --raw=parts.apart/raw.-1.1005 $(cat parts.apart/maps parts.apart/cpu) | grep '^B: .*1005' &&
		"$program" --no-warn -q parts.apart/trace.json parts.cpus/trace.json --output=out/{dir}.ftf && ls out/*/parts.*.ftf out/parts.* 2>/dev/null | grep cpus
}
tap_check "commands take both" commands

# The stamp has the bytes of the inputs; traces that trace.json names have other bytes.
skipped() {
	set -- -o again/ --skip-existing --no-warn
	"$program" "$@" $(cat parts.apart/words) 2>/dev/null && "$program" "$@" $(cat parts.apart/words) 2>&1 | grep 'is up to date' || return 1
	"$program" "$@" parts.apart/trace.json 2>/dev/null && ! "$program" "$@" parts.apart/trace.json 2>&1 | grep 'is up to date'
}
tap_check "--skip-existing keeps an output of --raw, and none of trace.json" skipped

kinds() {
	"$program" -q --no-warn -f none --json=report parts.apart/trace.json && grep -q '"kind": "lldb"' report &&
		"$program" -q --no-warn -f none --json=report $(cat parts.apart/words) && [ "$(grep -c '"kind": "raw"' report)" -eq 5 ]
}
tap_check "the summary has the kinds of inputs" kinds

# The page's address is printed when the trace is ready; JSON of Chrome's format is shown as it is.
opened() {
	"$program" open --ui=http://127.0.0.1:1/ parts.apart/trace.json >address 2>&1 &
	for _ in $(seq 200); do
		grep -q 'http://127.0.0.1:1/' address && break
		sleep .1
	done
	kill $!
	wait $!
	cat address
	grep -q 'branches, .* slices on 5 threads' address || grep -q 'without libmicrohttpd' address
}
tap_check "open converts trace.json" opened

selections() {
	"$program" -q --no-warn -f branches --tid=1002 parts.apart/trace.json -o one && "$program" -q -f branches --tid=1002 apart -o two && cmp one two &&
		"$program" -q --no-warn -f branches --cpu=1 parts.cpus/trace.json -o one && "$program" -q -f branches --cpu=1 cpus -o two && cmp one two &&
		"$program" -q --no-warn -f branches --time=50%, parts.cpus/trace.json -o one && "$program" -q -f branches --time=50%, cpus -o two && cmp one two
}
tap_check "so do selections by thread, CPU and time" selections

# ---- What is unknown or wrong ----------------------------------------------------

refused() { # STATUS PATTERN OPTIONS...
	status=$1 pattern=$2
	shift 2
	"$program" -f none "$@" 2>messages
	[ $? -eq "$status" ] && grep -- "$pattern" messages
}
raw_file=parts.apart/raw.-1.1001
tap_check "without --cpu the processor is unknown" refused 2 'the processor is unknown' --raw=$raw_file
tap_check "a missing file of --map is named" refused 2 'nowhere: cannot map: it is not found' --raw=$raw_file --map=nowhere@1000
tap_check "an image that ends before the offset is named" refused 2 'ends before the offset' --raw=$raw_file --map=$raw_file:100000@1000
for map in x @1000 x@ x@g x@1000-1000 x@2000-1000 x@-1 x@1- x@10000000000000000 x@1-2-3 "x@ 1"; do
	tap_check "--map=$map is refused" refused 64 'invalid --map' --raw=$raw_file "--map=$map"
done
for cpu in 6/94 6/94/ 6/94/3/1 /// 6/94/3333 -6/94/3; do
	tap_check "--cpu=$cpu is refused" refused 64 'invalid --cpu' --raw=$raw_file "--cpu=$cpu"
done
tap_check "--map needs --raw" refused 64 'needs --raw' --map=x@1000 apart
tap_check "--raw is the only input" refused 64 "cannot combine --raw and 'apart'" --raw=$raw_file apart
tap_check "a buffer is named once" refused 1 'is named twice' --raw=$raw_file --raw=./$raw_file
: >empty
tap_check "an empty file is no trace" refused 1 'empty: is empty' --raw=empty

json() { # TEXT: as bundle/odd.json
	printf '%s\n' "$1" >bundle/odd.json
}
wrong_json() { # STATUS PATTERN TEXT
	json "$3"
	refused "$1" "$2" bundle/odd.json
}
tap_check "other JSON is refused" wrong_json 1 'not a trace.json of LLDB' '{"a": "intel-pt"}'
tap_check "JSON without LLDB's type is refused" wrong_json 1 'is not a perf.data file, but perhaps JSON' '{"type": "intel"}'
tap_check "damaged JSON is refused with its line" wrong_json 1 'damaged JSON: line 2' '{"type": "intel-pt", '
tap_check "two descriptions are not joined" refused 1 'is not a perf.data file' parts.apart/trace.json parts.cpus/trace.json -o out.ftf
tap_check "a description without traces is refused" wrong_json 1 'no trace data' '{"type": "intel-pt"}'
thread='"threads": [{"tid": 2, "iptTrace": "raw.-1.1001"}]'
for pid in -1 2147483648 '"x"' '"-1"' 1.5 null '""' '"1 "' '{}'; do
	tap_check "pid $pid is refused" wrong_json 1 "'pid' is missing" '{"type": "intel-pt", "processes": [{"pid": '"$pid, $thread}]}"
done
tap_check "an address of more than 64 bits is refused" wrong_json 1 "'loadAddress' is" \
	'{"type": "intel-pt", "processes": [{"pid": 1, '"$thread"', "modules": [{"systemPath": "/x", "loadAddress": "0x10000000000000000"}]}]}'
tap_check "a file of traces that is missing is named" wrong_json 2 'nowhere: cannot open: .* a part is missing' \
	'{"type": "intel-pt", "processes": [{"pid": 1, "threads": [{"tid": 2, "iptTrace": "raw.-1.1001"}, {"tid": 3, "iptTrace": "nowhere"}]}]}'
mkfifo bundle/fifo
tap_check "a pipe is not opened" wrong_json 2 'fifo: is no regular file' \
	'{"type": "intel-pt", "processes": [{"pid": 1, "threads": [{"tid": 2, "iptTrace": "raw.-1.1001"}, {"tid": 3, "iptTrace": "fifo"}]}]}'
tap_check "a file of /proc, which may be endless, is not read" wrong_json 1 'has no trace data' \
	'{"type": "intel-pt", "processes": [{"pid": 1, "threads": [{"tid": 3, "iptTrace": "/proc/self/maps"}]}]}'
truncate -s 1T bundle/holes
tap_check "holes are not copied" wrong_json 2 'or has holes' \
	'{"type": "intel-pt", "processes": [{"pid": 1, "threads": [{"tid": 2, "iptTrace": "raw.-1.1001"}, {"tid": 3, "iptTrace": "holes"}]}]}'
printf '\017\0\0\0\0\0\040\0short' >bundle/switches
tap_check "damaged context switches are reported" wrong_json 2 'switches: is damaged' \
	'{"type": "intel-pt", "cpus": [{"id": 0, "iptTrace": "raw.-1.1001", "contextSwitchTrace": "switches"}]}'

confined() {
	ln -sf "$work/$raw_file" bundle/link
	for name in ../$raw_file "$work/$raw_file" link; do
		json '{"type": "intel-pt", "processes": [{"pid": 1, "threads": [{"tid": 2, "iptTrace": "raw.-1.1001"}, {"tid": 3, "iptTrace": "'"$name"'"}]}]}'
		"$program" -q -f none --json=on bundle/odd.json
		"$program" -q -f none --sandbox=off --symfs=root --json=off bundle/odd.json
		grep -q 'is not beside the input\|is named twice' off || { cat off; return 1; }
		[ "$name" = link ] || ! grep 'is not beside' on || return 1
	done
}
tap_check "with --symfs, files of traces are beside trace.json" confined

# ---- Recordings of real processors ---------------------------------------------

real() { # DIRECTORY
	recording=$1/recording vdso=
	[ -e "$recording" ] || recording=$1/perf.data
	[ ! -e "$1/vdso.so" ] || vdso=--vdso=$1/vdso.so
	rm -rf real && take_apart "$recording" real || return 1
	"$program" -q --symfs="$1/symfs" $vdso -f branches "$recording" -o real.branches
	"$program" -q --symfs="$1/symfs" $vdso -f branches $(cat real/words) -o ours
	without_times real.branches 's/^[0-9]* //' >theirs && without_times ours 's/^[0-9]* //' | cmp theirs - && [ -s theirs ] &&
		{ [ -s ours ] && [ "$(wc -l <ours)" = "$(wc -l <real.branches)" ]; }
}
for name in lldb-single lldb-multifile xdc-foo xdc-unzip arcus-hello arcus-int-01-poc; do
	[ -d "$shared/more/$name" ] || continue
	tap_check "$name as raw data" real "$shared/more/$name"
done
real_bundle() {
	rm -rf real && take_apart "$shared/recordings/lldb-multicore/perf.data" real &&
		"$program" -q --symfs="$shared/recordings/lldb-multicore/symfs" -f branches "$shared/recordings/lldb-multicore/perf.data" -o real.branches
	"$program" -q --symfs="$shared/recordings/lldb-multicore/symfs" -f branches real/trace.json -o ours
	cmp real.branches ours && [ "$(wc -l <ours)" -gt 20000 ]
}
[ ! -d "$shared/recordings/lldb-multicore" ] || tap_check "LLDB's trace of two CPUs as trace.json" real_bundle
tap_done
