#!/bin/sh
# SPDX-License-Identifier: MIT
# A 32-bit program recorded by ptsim: the slices are the true stacks.  It needs no library, and
# writes the vdso that it has.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[ -x "$ptsim" ] || tap_skip_all "ptsim is not built: libzydis-dev is not installed"
as --32 "$top_srcdir/tests/programs/bits32.s" -o "$work/bits32.o" &&
	ld -m elf_i386 "$work/bits32.o" -o "$work/bits32" && "$work/bits32" >"$work/vdso" ||
	tap_skip_all "32-bit programs cannot be made or run here"
"$ptsim" record -o "$work/perf.data" -- "$work/bits32" >/dev/null 2>"$work/messages" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"

# ptsim has no names of this vdso.
names='^(_start|pops_its_arguments|recursive|here|thunk|leaf|handler|by_vdso|chooses|writes|\[syscall.*\])$'
same_stacks() { # TOLERANCE OPTIONS...
	tolerance=$1
	shift
	"$ptsim" record --truth="$work" -o "$work/perf.data" "$@" -- "$work/bits32" >"$work/vdso" 2>"$work/messages" ||
		{ cat "$work/messages"; return 1; }
	"$program" -q --stacks=replace --vdso="$work/vdso" --format=slices --args=full "$work/perf.data" \
		>"$work/slices" || return 1
	grep -q __kernel_vsyscall "$work/slices" &&
		awk -v tolerance="$tolerance" -v only="$names" -f "$top_srcdir/tests/ptsim/slices.awk" \
			"$work/truth.counts" "$work/slices"
}
tap_check "the true stacks, MTC" same_stacks 700 --seed=3
tap_check "the true stacks, CYC" same_stacks 400 --cyc --seed=4 --interrupts=50
tap_check "the true stacks, each instruction stepped" same_stacks 400 --cyc --seed=4 --single-step

# By the truth's addresses: the vdso executes syscall or sysenter.
system_calls_are_int() {
	awk '$6 == "syscall" && length($7) < 8 { print $7 }' "$work/truth.branches" >"$work/truth.int"
	"$program" -q --vdso="$work/vdso" --format=branches "$work/perf.data" >"$work/branches" &&
		sed -n 's/.* tr end  int  *\([0-9a-f]*\) .*/\1/p' "$work/branches" | grep -v '.\{8\}' >"$work/int"
	[ -s "$work/int" ] && diff "$work/truth.int" "$work/int"
}
tap_check "as a branch int \$0x80 is int, as perf prints it" system_calls_are_int

# The number is in the code before int $0x80, or in the code that calls the vdso.
names_are_known() {
	"$program" -q --vdso="$work/vdso" --format=slices "$work/perf.data" | sed -n 's/.*\(\[syscall.*\]\).*/\1/p' |
		sort | uniq -c | sed 's/^ *//' >"$work/called"
	cat "$work/called"
	! grep -F '[syscall]' "$work/called" && grep -q '^1 \[syscall: kill\]$' "$work/called" &&
		grep -q '^1 \[syscall: write\]$' "$work/called" && grep -q '\[syscall: sigaction\]$' "$work/called" &&
		grep -q '^41 \[syscall: getpid\]$' "$work/called"
}
tap_check "system calls have i386's names" names_are_known

other_vdso_is_not_used() {
	"$program" --format=slices "$work/perf.data" >"$work/slices" 2>"$work/messages"
	[ $? -eq 2 ] && grep -q 'binary not found.*\[vdso32\]' "$work/messages" || { cat "$work/messages"; return 1; }
}
tap_check "the vdso of 64-bit processes is not used for it" other_vdso_is_not_used

libipt_agrees() {
	"$program" --verify --vdso="$work/vdso" --format=none "$work/perf.data" 2>"$work/messages" &&
		grep -q 'also decoded by libipt: 0 differ' "$work/messages" || { cat "$work/messages"; return 1; }
}
tap_check "libipt finds the same branches" libipt_agrees
tap_done
