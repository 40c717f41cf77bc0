#!/bin/sh
# SPDX-License-Identifier: MIT
# One recording in all of perf's file forms has the same trace.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$top_builddir/tests/support/make-sample" "$work"
cd "$work" || exit 1
"$program" --symfs="$work" --format=branches perf.data >expected 2>messages

same() { # STATUS INPUT...: 22 branches, as of the plain file
	expected=$1
	shift
	"$program" --symfs="$work" --format=branches "$@" >ours 2>messages
	status=$?
	[ $status -eq "$expected" ] || { echo "status $status"; cat messages; return 1; }
	[ "$(wc -l <ours)" -eq 22 ] && cmp expected ours
}

from_pipe() { # FILE
	cat "$1" | same 0 -
}

from_file() { # FILE
	same 0 - <"$1"
}

# perf reads the builders' files: its first branches are ours.
as_perf() { # FILE BRANCHES
	perf script -i "$1" --symfs "$work" --itrace=b -F ip,addr >perf 2>perf-messages || { cat perf-messages; return 1; }
	for list in expected perf; do
		sed -n 's/.* \([0-9a-f]*\) [^ ]* *=> *\([0-9a-f]*\).*/\1 \2/p; s/^ *\([0-9a-f]*\) => *\([0-9a-f]*\) *$/\1 \2/p' \
			$list | head -n "$2" >$list-branches
	done
	[ "$(wc -l <perf-branches)" -eq "$2" ] && cmp expected-branches perf-branches
}

kernel_as_perf() {
	perf script -i kernel.data --symfs "$work" --itrace=b -F flags,ip,addr 2>perf-messages |
		sed -n 's/^ *\([a-z]*\)  *\([0-9a-f]*\) => *\([0-9a-f]*\) *$/\1 \2 \3/p' |
		cmp - wanted
}

tap_check "a plain file" same 0 perf.data
tap_check "a stream in a file" same 0 stream
tap_check "a stream from a pipe" from_pipe stream
tap_check "a file from a pipe" from_pipe perf.data
tap_check "a file on standard input" from_file perf.data
tap_check "compressed records of perf 5.2" same 0 compressed
tap_check "compressed records of perf 6.16" same 0 compressed2
tap_check "a directory of perf record --threads" same 0 threads.data
tap_check "a directory named with a slash" same 0 threads.data/
tap_check "a series of perf record --switch-output" same 0 series.1 series.2
tap_check "a file that perf did not finish, with a warning" same 2 unfinished

names_its_output() {
	"$program" -q --symfs="$work" threads.data/ && [ -s threads.ftf ] && [ ! -e threads.data/.ftf ]
}
tap_check "a directory's output is beside it" names_its_output

other_recording() {
	head -c 120 perf.data >other
	printf '\377' | dd of=other bs=1 seek=104 conv=notrunc 2>/dev/null
	tail -c +121 perf.data >>other
	"$program" --symfs="$work" --format=branches series.1 other >ours 2>messages
	[ $? -eq 1 ] && grep -q "cannot join other to series.1 as one recording: its events" messages
}
tap_check "files of two recordings are refused" other_recording
same_file() {
	ln -sf series.1 link
	for second in series.1 ./series.1 link; do
		"$program" --symfs="$work" series.1 series.2 $second -o same.ftf 2>messages
		[ $? -eq 1 ] && grep -qx "ptrace2ftf: cannot join $second to series.1 as one recording: both have the same content; use .*" messages &&
			[ ! -e same.ftf ] || return 1
	done
}
tap_check "a file that is named twice is refused" same_file

# The kernel's code: a call and a return in it, then back to the program.
kernel_branches() { # STATUS OPTIONS... INPUT
	expected=$1
	shift
	"$program" --symfs="$work" --format=branches "$@" >ours 2>messages
	status=$?
	[ $status -eq "$expected" ] || { echo "status $status"; cat messages; return 1; }
	sed -n 's/^ *[^ ]* *[^ ]*: *\([^ ].*[^ ]\)  *\([0-9a-f]*\) [^ ]* *=> *\([0-9a-f]*\) .*/\1 \2 \3/p' ours |
		tr -s ' ' >flow
	printf '%s\n' "syscall 40100a ffffffff9a000000" "call ffffffff9a000000 ffffffff9a000020" \
		"return ffffffff9a000020 ffffffff9a000005" "sysret ffffffff9a000005 40100c" >wanted
	grep -E '^(syscall|call|return|sysret)' flow | cmp - wanted || { cat ours; return 1; }
}
no_kernel() {
	"$program" --symfs="$work" --format=branches kernel.data/data >ours 2>messages
	[ $? -eq 2 ] && grep -q '1 binary not found.*kernel.kallsyms' messages
}
# seeds.md: kernel code comes from kcore and vmlinux
tap_check "the kernel's code comes from kcore_dir" kernel_branches 0 kernel.data
# seeds.md: --symfs, --kernel
tap_check "and from a kcore that is named" kernel_branches 0 --kernel=kernel.data/kcore_dir/kcore kernel.data/data
# seeds.md: kernel code comes from kcore and vmlinux
tap_check "and from vmlinux, moved to where the kernel was" kernel_branches 0 --kernel=vmlinux kernel.data/data
tap_check "libipt's decoder finds it too" kernel_branches 0 --engine=libipt kernel.data
tap_check "without any the missing kernel is named" no_kernel
# ERETU ends a system call there; libipt 2.0 does not know it.
fred() {
	"$program" -q --symfs="$work" --format=slices fred.data >ours &&
		"$program" -q --symfs="$work" --format=slices kernel.data >others &&
		[ "$(wc -l <ours)" -eq 4 ] && cmp ours others
}
tap_check "a kernel with FRED has the same stacks" fred
# perf puts it there; the addresses are those of make-sample's kernel.
names_by_kallsyms() {
	cat >kernel.data/kcore_dir/kallsyms <<-'SYMBOLS'
		ffffffff9a000000 T entry_SYSCALL_64
		ffffffff9a000020 T do_syscall_64
		ffffffff9a000040 T nothing
	SYMBOLS
	"$program" --symfs="$work" --format=slices --args=line kernel.data >ours 2>messages || return 1
	"$program" --symfs="$work" --format=slices --args=line --kernel=kernel.data/kcore_dir/kcore kernel.data/data \
		>named 2>messages || return 1
	rm kernel.data/kcore_dir/kallsyms
	grep -q ' entry_SYSCALL_64 ' ours && grep -q ' do_syscall_64 ' ours && cmp ours named
}
tap_check "its names come from the kallsyms beside it" names_by_kallsyms
missing_kcore() {
	mkdir -p nothing
	"$program" --symfs="$work" --kernel=nothing --format=none kernel.data 2>messages
	[ $? -eq 2 ] && grep -q "nothing/kcore: cannot open" messages
}
tap_check "a directory of --kernel without a kcore is named" missing_kcore

# Of each cut or changed file, the status is a grade.
sweep() { # FILE
	size=$(wc -c <"$1")
	cut=0
	while [ $cut -lt "$size" ]; do
		head -c $cut "$1" >damaged
		"$program" -q --symfs="$work" --format=none damaged 2>/dev/null
		[ $? -le 2 ] || { echo "$1: $cut bytes"; return 1; }
		cut=$((cut + 61))
	done
}
for form in stream compressed compressed2; do
	tap_check "every prefix of the $form form ends in 0, 1 or 2" sweep $form
done

# Any byte of a compressed record may be wrong: zstd reports it, or the records differ.
damaged_compression() {
	offset=$(LC_ALL=C grep -obUaP '\x28\xb5\x2f\xfd' compressed | head -1 | cut -d: -f1)
	for byte in 1 5 9 20 60; do
		cp compressed damaged
		printf '\377' | dd of=damaged bs=1 seek=$((offset + byte)) conv=notrunc 2>/dev/null
		"$program" -q --symfs="$work" --format=none damaged 2>/dev/null
		[ $? -le 2 ] || { echo "byte $byte"; return 1; }
	done
	"$program" --symfs="$work" --format=none damaged 2>messages
	cp compressed damaged
	printf '\377' | dd of=damaged bs=1 seek="$offset" conv=notrunc 2>/dev/null
	"$program" --symfs="$work" --format=none damaged 2>messages
	[ $? -eq 2 ] && grep -q "cannot unpack the compressed record" messages
}
tap_check "damaged compression costs a warning" damaged_compression

# perf 6.1 leaves out the last packets of a stream, and all packets of threads.data, as it
# reads trace data of the first file only.
if command -v perf >/dev/null; then
	tap_check "perf script reads the file too" as_perf perf.data 22
	tap_check "perf script reads the stream too" as_perf stream 19
	tap_check "perf script reads the compressed file too" as_perf compressed 22
	tap_check "perf script finds the kernel's code in kcore_dir too" kernel_as_perf
else
	tap_skip "perf script reads the forms too" "no perf"
fi
tap_done
