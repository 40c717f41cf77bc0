#!/bin/sh
# SPDX-License-Identifier: MIT
# The default build is hardened: what readelf sees of the programs and the library.
. "$top_srcdir/tests/support/tap.sh"
[ "$P2F_HARDENED" = yes ] || tap_skip_all "built without hardening (sanitizers, or --disable-hardening)"
command -v readelf >/dev/null || tap_skip_all "no readelf"
library=$(ls "$top_builddir"/.libs/libftf.so.*.*.* 2>/dev/null | head -1)

has() { # PATTERN READELF-OPTIONS FILE
	readelf -W $2 "$3" | grep -q -- "$1"
}
# The linker drops the mark if one object of all, libraries' too, has no landing pads:
# then our own code must have them all the same.
protected_branches() { # FILE
	has "x86 feature:.*IBT" -n "$1" || objdump -d --no-show-raw-insn "$1" |
		awk '/<(main|convert|ftf_open)(@.*)?>:$/ { wanted = 1; next } wanted { exit !/endbr64/ }'
}
writable_stack() {
	readelf -W -l "$1" | awk '$1 == "GNU_STACK" { exit $7 != "RW" }'
}

for file in "$top_builddir/ptrace2ftf" "$top_builddir/ftfdump" "$library"; do
	[ -n "$file" ] || continue
	name=$(basename "$file")
	tap_check "$name: functions with arrays have a canary" has __stack_chk_fail --dyn-syms "$file"
	tap_check "$name: copies are checked against the size of their target" has "_chk@" --dyn-syms "$file"
	tap_check "$name: addresses of functions are read-only from the start" has "NOW" -d "$file"
	tap_check "$name: relocated data is read-only" has GNU_RELRO -l "$file"
	tap_check "$name: the stack cannot be executed" writable_stack "$file"
	tap_check "$name: indirect jumps land on marks" protected_branches "$file"
done
for file in "$top_builddir/ptrace2ftf" "$top_builddir/ftfdump"; do
	tap_check "$(basename "$file"): code lies at a random place" has "Flags:.*PIE" -d "$file"
done
tap_done
