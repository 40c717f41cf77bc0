#!/bin/sh
# SPDX-License-Identifier: MIT
# The effects of options that have no test of their own.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ptsim=$top_builddir/tests/ptsim/ptsim
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir empty
"$top_builddir/tests/support/make-sample" .

slices() { # OPTIONS...: into `slices`, messages into `messages`
	"$program" --no-warn --format=slices --args=line "$@" >slices 2>messages && return 0
	cat messages
	return 1
}

output() {
	"$program" --quiet --symfs=. perf.data --output=long.ftf && "$program" -q --symfs=. perf.data -o short.ftf &&
		cmp long.ftf short.ftf
}
tap_check "--output and --quiet do what -o and -q do" output
quiet() {
	[ -z "$("$program" --quiet --symfs=empty perf.data -o x.ftf 2>&1)" ]
}
tap_check "--quiet says nothing, also of gaps" quiet
verbose() {
	"$program" --verbose --symfs=. perf.data -o x.ftf 2>messages && grep -q '^phases: ' messages
}
tap_check "--verbose does what -v does" verbose

# The sample's kernel has an entry of system calls at ...000 and a function at ...020.
kallsyms() {
	printf 'ffffffff9a000000 T the_entry\nffffffff9a000020 T the_function\n' >names
	slices --symfs=. kernel.data && ! grep -q the_ slices && slices --symfs=. --kernel=names kernel.data &&
		[ "$(grep -c ' the_entry ' slices)" -eq 1 ] && [ "$(grep -c ' the_function ' slices)" -eq 1 ]
}
tap_check "--kernel names the kernel's functions" kallsyms

# As if only this mode had been recorded, from text as well. All events have one time, of which
# magic-trace shows little.
mode() {
	"$program" -q --symfs=. --format=branches kernel.data >branches
	for input in "--symfs=. kernel.data" "--input=perf-script branches"; do
		# shellcheck disable=SC2086
		slices --mode=both $input && mv slices both && slices --mode=user $input && mv slices user &&
			slices --mode=kernel $input || return 1
		[ "$(grep -c 'address=0xffffffff9a0000' both)" -eq 2 ] && ! grep -q 'syscall' both &&
			grep -q ' main ' user && [ "$(grep -c '\[syscall\]' user)" -eq 1 ] &&
			! grep -q 'address=0xff' user && ! grep -q ' main ' slices &&
			[ "$(grep -c 'address=0xffffffff9a0000' slices)" -eq 2 ] || return 1
		for level in user kernel; do
			# shellcheck disable=SC2086
			slices --stacks=magic-trace --mode=$level $input && ! grep -q 'branches that its mode' messages ||
				return 1
		done
	done
}
tap_check "--mode shows the code of one privilege level" mode

# magic-trace 1.0 ends all frames at an error, whatever its address (doc/seeds.md).
mode_error() { # MODE ADDRESS-PREFIX ADDRESS-OF-ERROR
	for error in "5: Failed to get instruction" "6: Trace doesn't match instruction" "7: Overflow packet"; do
		cat >text <<-END
			5/5 1.000000010: call ${2}20 f+0x2 => ${2}30 g+0x0
			 instruction trace error type 1 time 1.000000020 cpu 0 pid 5 tid 5 ip $3 code $error
			5/5 1.000000030: call ${2}40 h+0x2 => ${2}50 i+0x0
		END
		for stacks in precise magic-trace; do
			slices --input=perf-script --stacks=$stacks --mode=$1 text || return 1
			cat slices
			awk '$5 ~ /^[fg]$/ && $4 <= 1000000020 { ended++ } $5 ~ /^[fg]$/ && $4 > 1000000020 { wrong++ }
				$5 == "i" && $3 >= 1000000030 { later++ } END { exit !ended || wrong || !later }' slices || return 1
		done
	done
}
# seeds.md: a decode error ends all frames of all stacks
tap_check "an error in the kernel ends all frames of --mode=user" mode_error user 4000 0xffffffff81000000
tap_check "an error in a program ends all frames of --mode=kernel" mode_error kernel ffffffff810000 0x4000
mode_not_recorded() {
	"$program" --symfs=. --mode=kernel --format=slices perf.data >slices 2>messages
	[ $? -eq 1 ] && grep -q 'cannot apply --mode=kernel: it was not recorded' messages
}
tap_check "--mode refuses what was not recorded" mode_not_recorded

for tool in objcopy strip readelf; do
	command -v $tool >/dev/null || { tap_skip "the other options" "no $tool"; tap_done; exit; }
done
objcopy --redefine-sym finish=_ZN5space6finishIiEEviPKc "$top_builddir/tests/programs/static/tail" program
chmod +x program
"$ptsim" record -o tail.data -- "$work/program" >/dev/null 2>messages || {
	tap_skip "the other options" "programs cannot be traced here: $(cat messages)"
	tap_done
	exit
}

# By the Itanium C++ ABI: void space::finish<int>(int, char const*).
names() { # NAME OPTIONS...
	name=$1
	shift
	slices "$@" tail.data && grep -qF " $name address=" slices || { grep finish slices; return 1; }
}
tap_check "names are short by default" names 'space::finish'
tap_check "--demangle=short: the same" names 'space::finish' --demangle=short
tap_check "--demangle=full has template arguments and parameters" \
	names 'void space::finish<int>(int, char const*)' --demangle=full
full_symbol() {
	slices --args=full --demangle=none tail.data && ! grep ' main address=' slices | grep -v ' symbol=main' && grep -q ' symbol=main' slices &&
		slices --args=line --demangle=none tail.data && ! grep ' symbol=' slices
}
# seeds.md: it has symbol
tap_check "--args=full has the symbol always" full_symbol
tap_check "--demangle=none has the symbol" names '_ZN5space6finishIiEEviPKc' --demangle=none

# Text has mangled names where perf demangles none.
names_of_text() {
	"$program" -q --format=branches --demangle=none tail.data >branches && grep -q _ZN5space branches &&
		for style in short full none; do
			slices --demangle=$style tail.data && cut -d ' ' -f 5- slices | sed 's/ address=.*//' | sort -u >recorded &&
				slices --input=perf-script --demangle=$style branches &&
				cut -d ' ' -f 5- slices | sed 's/ address=.*//' | sort -u >text &&
				grep finish recorded >wanted && grep finish text | diff wanted - || return 1
		done
}
# seeds.md: names of OCaml are demangled
tap_check "--demangle: the same of text" names_of_text

# The same function by any of its names.
symbol() {
	slices --args=none --symbol=_ZN5space6finishIiEEviPKc tail.data && mv slices mangled && [ -s mangled ] || return 1
	for name in space::finish finish 'fin*' 'space::finish<int>' 'finish<int>(int, char const*)'; do
		slices --args=none --symbol="$name" tail.data && cmp slices mangled || { echo "$name"; return 1; }
	done
}
tap_check "--symbol matches with and without namespace and arguments" symbol

# In the precise machine a tail call ends with its caller's return; magic-trace's machine goes by names.
stacks() {
	slices --stacks=precise tail.data && mv slices precise && slices tail.data && cmp slices precise || return 1
	slices --stacks=magic-trace tail.data && ! cmp -s slices precise &&
		grep -q '\[returned\]\|\[unknown\]\|\[untraced\]' slices
}
tap_check "--stacks chooses the machine" stacks

strip_prefix() {
	slices tail.data || return 1
	file=$(sed -n 's/.* main address.* file=\([^ ]*\).*/\1/p' slices | head -1)
	[ "${file##*/}" = tail.c ] && [ "$file" != tail.c ] || { echo "main is of '$file'"; return 1; }
	slices --strip-prefix="$(dirname "$file")" tail.data && grep -q ' main address.* file=tail\.c' slices
}
tap_check "--strip-prefix shortens paths of sources" strip_prefix

vdso() {
	# Use a copy: the recorded file itself would be recognised as the program.
	cp program other
	"$program" --no-warn -vv --vdso=other --format=none tail.data 2>messages || return 1
	grep -q '^file \[vdso\]: .*other' messages || { grep vdso messages; return 1; }
}
tap_check "--vdso names the vdso's file" vdso

# Change a byte of the program's build id.
build_id=$(readelf -n program | sed -n 's/.*Build ID: //p')
force_dso() {
	cp program true-program
	first=$(printf '%d' "0x$(echo "$build_id" | cut -c1-2)")
	# After the note's header and "GNU".
	section=$(readelf -SW program | awk '{ sub(/^ *\[ *[0-9]*\] /, "") } $1 == ".note.gnu.build-id" { print $4 }')
	offset=$((0x$section + 16))
	printf "\\$(printf '%o' $((255 - first)))" | dd of=program bs=1 seek="$offset" conv=notrunc 2>/dev/null
	slices tail.data && ! grep -q ' main ' slices && grep -q 'is not the file that was recorded' messages &&
		slices --force-dso tail.data && grep -q ' main ' slices && grep -q 'used anyway' messages
	status=$?
	cp true-program program
	return $status
}
tap_check "--force-dso takes a file with another build id, and says so" force_dso

# The symbols of the stripped program are in another file.
folder=debug/.build-id/$(echo "$build_id" | cut -c1-2)
mkdir -p "$folder"
objcopy --only-keep-debug program "$folder/$(echo "$build_id" | cut -c3-).debug"
strip program
debug_dir() {
	slices tail.data && ! grep -q ' main ' slices && slices --debug-dir=debug tail.data &&
		grep -q ' main address=.* line=[1-9]' slices
}
tap_check "--debug-dir has symbols and lines of stripped files" debug_dir
hint() { # a static program: all code is its own
	for threads in 1 4; do
		slices -j $threads tail.data && sed -n 's/^  program: \([0-9]*\) % of the time has no names; get debug files by: .*/\1/p' \
			messages >percent.$threads
	done
	[ "$(cat percent.1)" -ge 95 ] && cmp percent.1 percent.4 || { cat messages; return 1; }
	slices --debug-dir=debug tail.data && ! grep 'has no names' messages
}
tap_check "code without names that took time is a reason to name how to get debug files" hint
debuginfod() {
	mkdir -p "server/buildid/$build_id" cache
	cp "$folder"/*.debug "server/buildid/$build_id/debuginfo"
	DEBUGINFOD_URLS=file://$work/server DEBUGINFOD_CACHE_PATH=$work/cache
	export DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH
	slices tail.data && ! grep -q ' main ' slices && slices --debuginfod tail.data && grep -q ' main ' slices
}
if ldconfig -p 2>/dev/null | grep -q 'libdebuginfod\.so\.1'; then
	tap_check "--debuginfod asks a server for them, and only then" debuginfod
else
	tap_skip "--debuginfod asks a server for them, and only then" "no libdebuginfod"
fi

# An offset moves the overlay, a slice of the collector, against perf's clock.
overlay() { # OPTIONS...: prints when the collector's first phase began
	"$program" -q --no-warn --runtime-events="$work/1234.events,ocaml=5.1" "$@" -o overlay.ftf &&
		"$top_builddir/ftfdump" --slices overlay.ftf | awk '$5 != "main" && $2 == 0 { print $3; exit }'
}
clock_offset() {
	printf '0 1000110 begin 0 0\n0 1000210 end 0 0\n' |
		"$top_builddir/tests/support/make-ring" 1 1024 1234.events
	[ "$(overlay)" = 1000110 ] || { echo "begins at $(overlay)"; return 1; }
	overlay --symfs=. --clock-sync=mono=50 perf.data >/dev/null &&
		[ "$("$top_builddir/ftfdump" --slices overlay.ftf | awk '$3 == 1000160 && $4 == 1000260' | wc -l)" -eq 1 ]
}
tap_check "--runtime-events shows the collector, moved by --clock-sync" clock_offset

allocations() {
	"$program" -q --memtrace=memtrace.ctf -o memtrace.ftf &&
		"$top_builddir/ftfdump" --slices memtrace.ftf >slices || return 1
	cat slices
	[ "$(grep -c 'estimated_bytes=800000 ' slices)" -eq 2 ] &&
		grep 'common_prefix=0 ' slices | grep -q 'A\.f (a\.ml:10:2-30)' &&
		grep 'common_prefix=1 ' slices | grep -q 'B\.g (b\.ml:20:4-50) <- A\.f (a\.ml:10:2-30)'
}
# seeds.md: locations have their last character, allocations their common prefix, samples their estimated bytes
tap_check "--memtrace shows estimated bytes, whole places and common prefixes" allocations
description() {
	"$top_builddir/ftfdump" memtrace.ftf >records
	grep -w executable_name records | tee description
	for value in executable_name=/bin/program host_name=host ocaml_runtime_params=v=0x400 context=context \
		pid=1234 initial_domain=0 sample_rate=1e-05 word_size=64; do
		grep -qF " $value" description || { echo "no $value"; return 1; }
	done
}
# seeds.md: the first packet has the trace's info
tap_check "--memtrace shows the description of the file" description
# The second of two allocations, 10 us later; the first one is alive.
cut_memtrace() {
	"$program" --memtrace=memtrace.ctf --time=+15us, -o cut.ctf 2>messages &&
		grep -qx '2 of 2 events of memtrace, 1 of them blocks that were allocated before' messages &&
		"$program" -q --format=events --memtrace=cut.ctf -o lines || return 1
	sed '/^# /d' lines >events
	cat >expected <<-END
		0000000015 0000000000 alloc 1 len=2 dom=0    0: A.f@a.ml:10:2-30
		0000000020 0000000001 alloc 1 len=2 dom=0    1: A.f@a.ml:10:2-30 B.g@b.ml:20:4-50
	END
	cmp expected events
}
# seeds.md: a file is written from another one (copy)
tap_check "-o OUT.ctf cuts a memtrace file to --time, with the blocks that are alive" cut_memtrace
cut_outside() {
	for range in 1,2 +1s, 5,1; do
		"$program" -q --memtrace=memtrace.ctf --time=$range -o none.ctf 2>messages
		[ $? -eq 1 ] && [ ! -e none.ctf ] && [ "$(wc -l <messages)" -eq 1 ] || return 1
	done
	grep -q -- '--time: the range ends before it begins' messages
}
tap_check "-o OUT.ctf: a range without events is an error" cut_outside
cut_damaged() {
	"$program" -q --memtrace=memtrace-ids.ctf -o cut.ctf
	[ $? -eq 2 ] && "$program" -q --format=events --memtrace=cut.ctf -o lines &&
		grep -q '^0000000020 0000000001 alloc 1 len=2 dom=0    0:$' lines
}
tap_check "-o OUT.ctf: an unknown backtrace is empty, and the exit status says so" cut_damaged
lost_backtraces() {
	"$program" --memtrace=memtrace-ids.ctf --json=summary.json -o x.ftf 2>messages
	[ $? -eq 2 ] && grep -q 'backtraces of domain 0 are unknown from here' messages &&
		grep -q ': 1 of 2 allocations of memtrace have no backtrace' messages
}
# seeds.md: a packet has as many allocations as its ids (alloc id sync)
tap_check "--memtrace: lost backtraces are reported and counted" lost_backtraces
memtrace_json() {
	jq -e '.memtrace[0] | del(.path) == {pid: 1234, executable_name: "/bin/program", host_name: "host",
		ocaml_runtime_params: "v=0x400", context: "context", initial_domain: 0,
		start_time_us: 1700000000000000, sample_rate: 1e-05, word_size: 64,
		allocations: 2, unknown_backtraces: 1}' summary.json
}
if command -v jq >/dev/null; then
	# seeds.md: the first packet has the trace's info
	tap_check "--json has the description of memtrace and what was lost" memtrace_json
else
	tap_skip "--json has the description of memtrace and what was lost" "no jq"
fi
tap_done
