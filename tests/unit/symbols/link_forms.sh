#!/bin/sh
# SPDX-License-Identifier: MIT
# Names and lines of programs that are linked and compiled in different ways, compared with
# objdump and nm.
. "$top_srcdir/tests/support/tap.sh"
namer=$top_builddir/tests/unit/symbols/name-addresses
command -v objdump >/dev/null || tap_skip_all "no binutils"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/prog.c" <<-'END'
	#include <stdio.h>
	#include <stdlib.h>
	static int one(void) { return 1; }
	static int two(void) { return 2; }
	static int (*choose(void))(void) { return getenv("X") ? one : two; }
	int chosen(void) __attribute__((ifunc("choose")));
	int main(int argc, char **argv)
	{
		puts(argv[0]);
		return chosen() + rand() + (atexit((void (*)(void))puts) != argc);
	}
END
cat >"$work/old.c" <<-'END'
	int first(void) { return 1; }
	int second(void) { return 2; }
	__asm__(".symver first, work@V_1");
	__asm__(".symver second, work@@V_2");
END
echo 'V_1 { global: work; local: *; }; V_2 { global: work; } V_1;' >"$work/versions"

# objdump calls each stub NAME@plt; every instruction of it is asked for.
stubs() { # OPTIONS
	(cd "$work" && ${CC:-cc} -g "$@" prog.c -o prog) || return 1
	objdump -d --no-show-raw-insn "$work/prog" | awk '
		/^[0-9a-f]+ <.*>:/ { name = $2; gsub(/[<>:]/, "", name); next }
		/^ / && name ~ /@plt$/ && name !~ /^\*ABS\*/ { sub(":", "", $1); print $1 "\t" name }' >"$work/expected"
	grep -q 'puts@plt' "$work/expected" && grep -q 'rand@plt' "$work/expected" || return 1
	cut -f 1 "$work/expected" | "$namer" 0 "$work/prog" | cut -f 1,2 | diff "$work/expected" -
}

# i386's code that may lie anywhere: the header and the stub after it.
stubs_of_32_bits() {
	printf 'call work@PLT\nret\n' | as --32 -o "$work/wide.o" &&
		ld -m elf_i386 -shared -z lazy "$work/wide.o" -o "$work/wide.so" || return 1
	plt=$(objdump -h "$work/wide.so" | awk '$2 == ".plt" { print $4 }')
	printf '%s\n' "$plt" "$(printf '%x' $((0x$plt + 6)))" "$(printf '%x' $((0x$plt + 16)))" |
		"$namer" 0 "$work/wide.so" | cut -f 2 | paste -sd ' ' | grep -x '.plt .plt work@plt'
}

# Stubs of functions whose pointers the code has, too, are bound at the start.
bound_stubs_of_32_bits() { # OPTIONS
	printf '%s\n' 'call one@PLT' 'call two@PLT' 'call lazy@PLT' 'mov one@GOT(%ebx), %eax' \
		'mov two@GOT(%ebx), %eax' ret | as --32 -o "$work/bound.o" &&
		ld -m elf_i386 -shared "$@" "$work/bound.o" -o "$work/bound.so" || return 1
	objdump -d --no-show-raw-insn "$work/bound.so" | awk '
		/^[0-9a-f]+ <.*>:/ { name = $2; gsub(/[<>:]/, "", name); next }
		/^ / && name ~ /@plt$/ { sub(":", "", $1); print $1 "\t" name }' >"$work/expected"
	[ "$(cut -f 2 "$work/expected" | sort -u | paste -sd ' ')" = 'lazy@plt one@plt two@plt' ] ||
		{ cat "$work/expected"; return 1; }
	cut -f 1 "$work/expected" | "$namer" 0 "$work/bound.so" | cut -f 1,2 | diff "$work/expected" -
}

chosen() {
	nm "$work/prog" | awk '$2 == "i" { print $1 }' >"$work/addresses"
	"$namer" 0 "$work/prog" <"$work/addresses" | cut -f 2 >"$work/ours"
	cat "$work/ours"
	[ "$(cat "$work/ours")" = chosen ] || [ "$(cat "$work/ours")" = choose ]
}

versions() {
	(cd "$work" && ${CC:-cc} -shared -fPIC -Wl,--version-script=versions old.c -o old.so) || return 1
	nm -D "$work/old.so" | awk '$2 == "T" { print $1 }' >"$work/addresses"
	nm -D "$work/old.so" | grep -q 'work@@V_2' || return 1
	"$namer" 1 "$work/old.so" <"$work/addresses" | cut -f 2 >"$work/ours"
	strip "$work/old.so" && "$namer" 1 "$work/old.so" <"$work/addresses" | cut -f 2 >>"$work/ours"
	cat "$work/ours"
	! grep -q @ "$work/ours" && [ "$(grep -c '^work$' "$work/ours")" -ge 2 ]
}

# The compiler has options for the paths to record: they are shown so.
prefix_map() {
	(cd "$work" && ${CC:-cc} -g -ffile-prefix-map="$work"=/usr/src/prog prog.c -o mapped) || return 1
	nm "$work/mapped" | awk '$3 == "main" { print $1 }' | "$namer" 0 "$work/mapped" | cut -f 4 >"$work/ours"
	cat "$work/ours"
	[ "$(cat "$work/ours")" = /usr/src/prog/prog.c:8 ]
}

tap_check "stubs that are bound at the first call" stubs -Wl,-z,lazy
tap_check "stubs that are bound at the start" stubs -Wl,-z,now
tap_check "stubs with IBT, in .plt.sec" stubs -fcf-protection -Wl,-z,lazy -Wl,-z,ibtplt
tap_check "stubs with IBT that are bound at the start" stubs -fcf-protection -Wl,-z,now -Wl,-z,ibtplt
tap_check "stubs of a program at a fixed address" stubs -no-pie -fno-pie -Wl,-z,lazy
if printf 'ret\n' | as --32 -o "$work/wide.o" && ld -m elf_i386 "$work/wide.o" -o "$work/wide" 2>/dev/null; then
	tap_check "stubs of a 32-bit library, and their header" stubs_of_32_bits
	tap_check "32-bit stubs by pointers relative to ebx" bound_stubs_of_32_bits -z lazy
	tap_check "the same, all bound at the start" bound_stubs_of_32_bits -z now
	tap_check "the same with IBT" bound_stubs_of_32_bits -z lazy -z ibtplt
else
	tap_skip "stubs of a 32-bit library, and their header" "no 32-bit linker"
	tap_skip "32-bit stubs by pointers relative to ebx" "no 32-bit linker"
fi
tap_check "a function that is chosen at the start (IFUNC)" chosen
tap_check "versioned names are shown without their versions" versions
tap_check "paths that -ffile-prefix-map made are left alone" prefix_map
tap_done
