#!/bin/sh
# SPDX-License-Identifier: MIT
# The default build is hardened, as readelf shows for the programs and the library.
. "$top_srcdir/tests/support/tap.sh"
[ "$P2F_HARDENED" = yes ] || tap_skip_all "built without hardening (sanitizers, or --disable-hardening)"
command -v readelf >/dev/null || tap_skip_all "no readelf"
library=$(ls "$top_builddir"/.libs/libftf.so.*.*.* 2>/dev/null | head -1)

has() { # PATTERN READELF-OPTIONS FILE
	readelf -W $2 "$3" | grep -q -- "$1"
}
# The linker drops the mark if any object, also of a library, has no landing pads. Even then
# our own code must have them.
protected_branches() { # FILE
	has "x86 feature:.*IBT" -n "$1" || objdump -d --no-show-raw-insn "$1" |
		awk '/<(main|convert|ftf_open)(@.*)?>:$/ { wanted = 1; next } wanted { exit !/endbr64/ }'
}
# Lists the objects of archives without the marks; libdemanglers.a is the system's libiberty.
unmarked() { # FILE...
	readelf -W -n "$@" | awk '
		/^File: / { if (name && !marked) print name; name = $2; marked = 0; count++ }
		/x86 feature:.*IBT.*SHSTK/ { marked = 1 }
		END { if (name && !marked) print name; if (!count) print "no objects" }'
}
objects_are_marked() {
	unmarked=$(unmarked $(ls "$top_builddir"/lib*.a | grep -v /libdemanglers.a))
	echo "$unmarked"
	[ -z "$unmarked" ]
}
# The linker keeps a mark that all objects have.
first_unmarked_of_system() {
	for object in Scrt1.o crti.o crtn.o; do
		readelf -W -n "$(gcc -print-file-name=$object)" 2>/dev/null | grep -q 'IBT.*SHSTK' ||
			{ echo $object; return; }
	done
}
writable_stack() {
	readelf -W -l "$1" | awk '$1 == "GNU_STACK" { exit $7 != "RW" }'
}

for file in "$top_builddir/ptrace2ftf" "$top_builddir/ftfdump" "$top_builddir/tests/ptsim/ptsim" "$library"; do
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
tap_check "all objects have the marks of branch targets and shadow stacks" objects_are_marked
unmarked_system=$(first_unmarked_of_system)
if [ -n "$unmarked_system" ]; then
	tap_skip "ptrace2ftf has both marks" "the system's $unmarked_system has none"
else
	tap_check "ptrace2ftf has both marks" has "x86 feature: IBT, SHSTK" -n "$top_builddir/ptrace2ftf"
fi
tap_done
