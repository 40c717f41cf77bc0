#!/bin/sh
# SPDX-License-Identifier: MIT
# Slices of all shared recordings keep the rules of stack_rules.awk.
. "$top_srcdir/tests/support/tap.sh"
shared=$top_srcdir/../shared
[ -d "$shared" ] || tap_skip_all "no shared recordings"
shared=$(cd "$shared" && pwd -P)

keeps_rules() { # RECORDING
	folder=$(dirname "$1")
	vdso=$folder/vdso.so
	for symfs in "$folder/symfs" "$folder/../symfs" "$folder/binaries" "$folder/../../symfs" ''; do
		[ -z "$symfs" ] || [ -d "$symfs" ] && break
	done
	[ -f "$vdso" ] || vdso=
	"$top_builddir/ptrace2ftf" -q --no-warn ${symfs:+--symfs="$symfs"} ${vdso:+--vdso="$vdso"} \
		--format=chrome "$1" | awk -f "$top_srcdir/tests/oracle/stack_rules.awk"
}

for file in $(find "$shared" \( -name perf.data -o -name recording \) -type f -size +0 | sort); do
	tap_check "${file#"$shared"/}: no inferred slice is in one that was seen to begin" keeps_rules "$file"
done
tap_done
