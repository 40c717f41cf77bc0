#!/bin/sh
# SPDX-License-Identifier: MIT
# Every recording in ../shared: both engines find the same branches, with times at
# most an MTC period apart.
. "$top_srcdir/tests/support/tap.sh"
shared=$top_srcdir/../shared
[ -d "$shared" ] || tap_skip_all "no shared recordings"
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
branches=0
recordings=0

options() { # FOLDER
	for symfs in "$1/symfs" "$1/../symfs" "$1/binaries"; do
		[ -d "$symfs" ] && echo "--symfs=$symfs" && break
	done
	[ -f "$1/vdso.so" ] && echo "--vdso=$1/vdso.so"
}

engines_agree() { # RECORDING LEAST: there must be so many branches
	# shellcheck disable=SC2046 # words
	"$program" --verify --no-warn --format=none $(options "$(dirname "$1")") "$1" \
		2>"$work/messages" || { cat "$work/messages"; return 1; }
	found=$(sed -n 's/.*by libipt: 0 differ; \([0-9]*\) branches.*/\1/p' "$work/messages")
	echo "${found:-0}" >"$work/found"
	[ "${found:-0}" -ge "$2" ] && ! grep 'libipt finds' "$work/messages" && return 0
	cat "$work/messages"
	return 1
}

# The least number of equal parts, as some recordings have no code.
least() { # RECORDING
	case $1 in
	*/big-sqlite/*) echo 4700000 ;;
	*/rr-alderlake/*) echo 11000000 ;;
	*/truth/*) echo 4000 ;;
	*/lldb-multicore/*) echo 16000 ;;
	*/recordings/*/control_flow/*) echo 240 ;;
	*/control_flow-*) echo 210 ;; # the end of the trace
	*/loopy*) echo 20 ;;
	*) echo 2 ;;
	esac
}

# Not more/xdc-*: where tracing begins, they do not say that the code is 64-bit, and libipt guesses.
for recording in $(find "$shared/" -name 'perf.data*' -o -path '*/more/hase*/recording' \
	-o -path '*/more/lldb*/recording' | sort); do
	"$program" --no-warn --format=none "$recording" 2>&1 | grep -q 'no Intel PT' && continue
	name=${recording#"$shared"/}
	# seeds.md: direct_backend decodes by libipt
	tap_check "$name: both engines find the same" engines_agree "$recording" "$(least "$recording")"
	recordings=$((recordings + 1))
	branches=$((branches + $(cat "$work/found")))
done
echo "# $recordings recordings, $branches branches"
tap_done
