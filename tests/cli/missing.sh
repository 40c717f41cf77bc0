#!/bin/sh
# SPDX-License-Identifier: MIT
# A missing file of a recording is named, and is the reason of every gap.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ptsim=$top_builddir/tests/ptsim/ptsim
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cp "$top_builddir"/tests/programs/plugins "$top_builddir"/tests/programs/plugin_*.so .

"$ptsim" record --cyc --seed=3 --psb-period=512 -o perf.data -- ./plugins >/dev/null 2>messages ||
	tap_skip_all "programs cannot be traced here: $(cat messages)"
# "file PATH: N symbols ..." of all files that are at hand.
"$program" -v --format=none perf.data 2>&1 | sed -n 's/^file \(\/[^:]*\): .*/\1/p' >files
mkdir tree
while read -r file; do cp --parents -L "$file" tree; done <files

# Print gaps as "N reason": the reason is missing code.
missing() { # ENGINE FILE
	mv "tree/$2" away
	"$program" --engine="$1" --format=none --symfs=tree perf.data 2>messages
	status=$?
	mv away "tree/$2"
	[ $status -eq 2 ] && grep -q 'code is missing; give' messages && ! grep -q 'does not fit' messages &&
		grep -q "1 binary not found; its calls are missing: $2 (build id" messages && return 0
	cat messages
	return 1
}
each_file() { # ENGINE
	[ "$(wc -l <files)" -ge 4 ] || { cat files; return 1; }
	while read -r file; do missing "$1" "$file" || return 1; done <files
}
tap_check "with all files there is no gap" "$program" --format=none --symfs=tree perf.data
tap_check "a missing file is the reason of every gap" each_file fast
tap_check "so it is for libipt" each_file libipt

# A program without a build id is known by its inode and its time.
changed() { # WARNINGS
	"$program" --format=none unknown.data 2>messages
	status=$?
	[ "$(grep -c 'unknown may not be the file that ran' messages)" -eq "$1" ] && [ $status -eq $((2 * $1)) ] && return 0
	cat messages
	return 1
}
if command -v objcopy >/dev/null; then
	objcopy --remove-section .note.gnu.build-id "$top_builddir/tests/programs/static/tail" unknown
	"$ptsim" record --inodes -o unknown.data -- ./unknown >/dev/null 2>&1
	tap_check "the program that ran is right" changed 0
	touch -d '1 hour' unknown
	tap_check "one that was written since may be another one" changed 1
	cp unknown rebuilt && mv rebuilt unknown && touch -d '1 hour' unknown
	tap_check "so may one that replaced it" changed 1
else
	tap_skip "programs without build ids" "no objcopy"
fi
tap_done
