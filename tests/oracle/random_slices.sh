#!/bin/sh
# SPDX-License-Identifier: MIT
# Slices and FTF of random perf script text, with magic-trace's machine: slices_of_calls.awk
# compares them with what the machine says itself.  COUNT=5000 FIRST=1000 tries more.
. "$top_srcdir/tests/support/tap.sh"
here=$(cd "$top_srcdir/tests/oracle" && pwd)
tools=$(cd "$top_builddir" && pwd)
count=${COUNT:-100}
first=${FIRST:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

convert() { # FORMAT
	mkdir -p "$1" && find scripts -name '*.script' |
		xargs -n 1000 "$tools/ptrace2ftf" -q --input=perf-script --stacks=magic-trace --args=line -f "$1" -o "$1/" 2>messages
	[ "$(find "$1" -type f | wc -l)" = "$count" ] || cat messages
}

generate() { # [-v arbitrary=1]
	rm -rf scripts calls slices ftf && mkdir scripts &&
		awk -v dir=scripts -v first="$first" -v count="$count" "$@" -f "$here/random_script.awk"
	convert calls && convert slices && convert ftf
}

same_slices() { # [-v arbitrary=1]
	for script in scripts/*; do
		name=${script##*/}
		echo "$script calls/$name.calls slices/$name.slices"
	done | xargs -n 600 awk "$@" -f "$here/slices_of_calls.awk"
}

same_ftf() { # which has a decode error as an instant
	for trace in ftf/*.ftf; do
		name=${trace##*/}
		grep -v ' \[decode error: ' "slices/${name%.ftf}.slices" >expected
		"$tools/ftfdump" --slices "$trace" | diff expected - || return 1
	done
}

generate
# seeds.md: frames found late enclose all that is in the segment
tap_check "slices begin and end as the machine says, inside each other" same_slices
tap_check "FTF has the same slices and arguments" same_ftf
generate -v arbitrary=1
tap_check "slices of any order of branches are inside each other" same_slices -v arbitrary=1
tap_check "FTF has those as well" same_ftf
tap_done
