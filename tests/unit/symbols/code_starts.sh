#!/bin/sh
# SPDX-License-Identifier: MIT
# Functions without symbols begin where the program had them before strip(1), by nm.
. "$top_srcdir/tests/support/tap.sh"
namer=$top_builddir/tests/unit/symbols/name-addresses
command -v objdump >/dev/null || tap_skip_all "no binutils"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/prog.c" <<-'END'
	#include <signal.h>
	#include <stdio.h>
	#include <stdlib.h>
	#define OWN __attribute__((noinline)) static
	#ifndef BETWEEN
	#define BETWEEN OWN
	#endif
	volatile int sink;
	OWN int one(int n) { sink += n; return sink * 3; }
	BETWEEN int two(int n) { sink -= n; return sink * 5; }
	OWN int three(int n) { sink ^= n; return one(n) + two(n); }
	OWN void handler(int n) { sink += n; }
	int main(int argc, char **argv)
	{
		signal(SIGUSR1, handler);
		return three(argc) + one(argc) + two(argc) + (atexit((void (*)(void))puts) != argc);
	}
END

# The address and name of each function that nm knows the size of.
build() { # OPTIONS
	(cd "$work" && ${CC:-cc} -O1 "$@" prog.c -o prog && nm -S prog >names) || return 1
	awk 'NF == 4 && $2 !~ /0[0-2]$/ && $3 ~ /[tTwW]/ { sub(/^0+/, "", $1); print $1, $4 }' "$work/names" >"$work/functions"
	grep -q ' three$' "$work/functions"
}

# Each of the functions is found by its first and by its third byte.
all_are_found() { # [PROGRAM: prog]
	while read -r address name; do
		for offset in 0 2; do
			printf '%x\n' $((0x$address + offset)) | "$namer" 0 "$work/${1:-prog}" >"$work/found"
			printf '%x\t%s\t%s\t??:0\n' $((0x$address + offset)) "${1:-prog}+0x$address" "$address" |
				diff - "$work/found" || { echo "not found: $name"; return 1; }
		done
	done <"$work/functions"
}

entries() {
	build "$@" && strip "$work/prog" && all_are_found
}
# Addresses of start-up code, which has no unwind entries: by nm's names.
start_up() {
	build -fcf-protection=none && strip "$work/prog" || return 1
	awk '$3 ~ /^(_init|_fini|frame_dummy|__do_global_dtors_aux|deregister_tm_clones|register_tm_clones)$/ {
		sub(/^0+/, "", $1); print $1, $3 }' "$work/names" >"$work/functions"
	cat "$work/functions"
	[ "$(wc -l <"$work/functions")" -eq 6 ] && all_are_found
}
# Without section headers the program headers lead to .eh_frame_hdr.
without_sections() {
	build && strip "$work/prog" || return 1
	printf '\0\0\0\0\0\0\0\0' | dd of="$work/prog" bs=1 seek=40 conv=notrunc 2>/dev/null
	printf '\0\0\0\0\0\0' | dd of="$work/prog" bs=1 seek=58 conv=notrunc 2>/dev/null
	! readelf -S "$work/prog" 2>/dev/null | grep -q eh_frame && all_are_found
}
only_debug_frame() {
	build -g -fno-asynchronous-unwind-tables -fno-unwind-tables || return 1
	grep -vE ' (_start|_dl_relocate_static_pie)$' "$work/functions" >"$work/own"
	mv "$work/own" "$work/functions"
	strip -s --keep-section=.debug_frame "$work/prog" && all_are_found
}
called() {
	build -fno-asynchronous-unwind-tables -fcf-protection=none && strip "$work/prog" || return 1
	grep -E ' (one|two|three)$' "$work/functions" >"$work/own"
	mv "$work/own" "$work/functions"
	all_are_found
}
endbr64() {
	build -fno-asynchronous-unwind-tables -fcf-protection=branch && strip "$work/prog" || return 1
	grep -E ' (handler|main)$' "$work/functions" >"$work/own"
	mv "$work/own" "$work/functions"
	all_are_found
}
# A call's bytes in the middle of a function: as an operand.
a_call_into_a_function() {
	cat >"$work/prog.s" <<-'END'
		.globl main
		main:	.cfi_startproc
			jmp 1f
		three:	nop
			call 1f
			ret
		1:	mov $1, %eax
			ret
			.cfi_endproc
	END
	(cd "$work" && ${CC:-cc} prog.s -o prog && nm prog >names && strip prog) || return 1
	main=$(sed -n 's/^0*\([0-9a-f]*\) T main$/\1/p' "$work/names")
	echo "$main" >"$work/functions"
	printf '%x\n' $((0x$main + 8)) | "$namer" 0 "$work/prog" | grep -q "prog+0x$main"
}
exported() {
	(cd "$work" && build -shared -fPIC -DBETWEEN='__attribute__((noinline))') && strip "$work/prog" || return 1
	grep -E ' (one|three|handler)$' "$work/functions" >"$work/own"
	nm -D "$work/prog" | awk '$3 == "two" { print $1 }' | "$namer" 0 "$work/prog" | cut -f 2 | grep -qx two || return 1
	mv "$work/own" "$work/functions"
	all_are_found
}
# A symbol without a size between two functions without symbols.
a_symbol_without_a_size() {
	cat >"$work/prog.s" <<-'END'
			.type before, @function
		before:	.cfi_startproc
			.skip 32, 0x90
			.cfi_endproc
			.globl exported
			.type exported, @function
		exported: .cfi_startproc
			.skip 32, 0x90
			.cfi_endproc
		after:	.cfi_startproc
			.skip 32, 0x90
			.cfi_endproc
	END
	(cd "$work" && ${CC:-cc} -shared -nostdlib prog.s -o prog && strip prog && nm -D prog >names) || return 1
	symbol=$(sed -n 's/^0*\([0-9a-f]*\) T exported$/\1/p' "$work/names")
	printf '%x\n' $((0x$symbol - 1)) $((0x$symbol + 31)) $((0x$symbol + 33)) | "$namer" 0 "$work/prog" |
		cut -f 2 >"$work/found"
	printf 'prog+0x%x\nexported\nprog+0x%x\n' $((0x$symbol - 32)) $((0x$symbol + 32)) | diff - "$work/found"
}
# A static program's stubs jump to what resolvers chose, whose symbols strip(1) removes.
nameless_stub() {
	(cd "$work" && ${CC:-cc} -O1 -static prog.c -o prog && strip prog) || return 1
	objdump -d --no-show-raw-insn "$work/prog" | awk '/^Disassembly/ { in_plt = / \.plt:/ }
		in_plt && /jmp/ { print $1 }' | tr -d : | head -n 5 >"$work/stubs"
	[ -s "$work/stubs" ] || { echo "this C library has no such stubs"; return 0; }
	"$namer" 0 "$work/prog" <"$work/stubs" | cut -f 2 | sort -u >"$work/found"
	cat "$work/found"
	[ "$(cat "$work/found")" = .plt ]
}
# The C library's own entry begins a byte before the code that handlers return to.
signal_return() {
	(cd "$work" && ${CC:-cc} -O1 -static prog.c -o prog && nm prog >names) || return 1
	restorer=$(sed -n 's/^0*\([0-9a-f]*\) t __restore_rt$/\1/p' "$work/names")
	[ "$restorer" ] || { echo "this C library has no __restore_rt"; return 0; }
	echo "$restorer __restore_rt" >"$work/functions"
	strip "$work/prog" && all_are_found
}
# Lookups alternate between two entries with different rules.
many_lookups() {
	cat >"$work/prog.s" <<-'END'
		one:	.cfi_startproc
			.skip 32, 0x90
			.cfi_endproc
		two:	.cfi_startproc simple
			.skip 32, 0x90
			.cfi_endproc
	END
	(cd "$work" && ${CC:-cc} -shared -nostdlib prog.s -o prog && nm prog >names && strip prog) || return 1
	one=$(sed -n 's/^0*\([0-9a-f]*\) t one$/\1/p' "$work/names")
	awk -v one="$one" -v two="$(printf %x $((0x$one + 32)))" \
		'BEGIN { for (i = 0; i < 10000; i++) print one "\n" two }' >"$work/addresses"
	"$namer" 0 "$work/prog" <"$work/addresses" | cut -f 2 >"$work/found"
	sed 's/^/prog+0x/' "$work/addresses" | cmp - "$work/found"
}

tap_check "functions with unwind entries" entries
tap_check "functions with different rules, many times" many_lookups
tap_check "functions of a program at a fixed address" entries -no-pie -fno-pie
tap_check "functions whose entries have no search table" entries -Wl,--no-eh-frame-hdr
tap_check "functions of a program without section headers" without_sections
tap_check "functions with entries in .debug_frame only" only_debug_frame
tap_check "code that signal handlers return to" signal_return
tap_check "functions between exported ones" exported
tap_check "a linkage stub without a name" nameless_stub
tap_check "an exported symbol without a size ends where an entry begins" a_symbol_without_a_size
tap_check "functions without entries that are called" called
tap_check "functions without entries that begin with ENDBR64" endbr64
tap_check "sections, the entry point and the functions that the loader calls" start_up
tap_check "a call into the middle of a function begins none" a_call_into_a_function
tap_done
