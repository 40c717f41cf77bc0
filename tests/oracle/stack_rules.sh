#!/bin/sh
# SPDX-License-Identifier: MIT
# Slices of shared recordings keep the rules of stack_rules.awk, and their code is the cause.  Of the
# cases every third; all with LONG=1.
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/support/stack_rules.sh"
shared=$top_srcdir/../shared
[ -d "$shared" ] || tap_skip_all "no shared recordings"
shared=$(cd "$shared" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

recording_keeps_rules() { # RECORDING
	folder=$(dirname "$1")
	vdso=$folder/vdso.so
	for symfs in "$folder/symfs" "$folder/../symfs" "$folder/binaries" "$folder/../../symfs" ''; do
		[ -z "$symfs" ] || [ -d "$symfs" ] && break
	done
	[ -f "$vdso" ] || vdso=
	keeps_rules "${symfs:-$folder}" ${symfs:+--symfs="$symfs"} ${vdso:+--vdso="$vdso"} "$1"
}

for file in $(find "$shared" \( -name perf.data -o -name recording \) -type f -size +0 | sort); do
	case $file in */cases/*) tap_sampled 3 || continue ;; esac
	tap_check "${file#"$shared"/}: inferred slices are outermost; stacks and calls of themselves have a cause" \
		recording_keeps_rules "$file"
done
tap_done
