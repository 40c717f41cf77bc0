#!/bin/sh
# SPDX-License-Identifier: MIT
# How options are taken: groups, misspelt ones, versions.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

groups() {
	[ "$("$program" --help | sed -n 's/^ \([A-Z][A-Za-z]*\):$/\1/p' |
		grep -xE 'Input|Selection|Stacks|Symbols|Output|Diagnostics' | tr '\n' ' ')" = \
		"Input Selection Stacks Symbols Output Diagnostics " ]
}
tap_check "--help has its options in groups" groups

# One message on stderr that ends with what was meant, nothing on stdout, status 64.
suggests() { # PATTERN OPTIONS...
	pattern=$1
	shift
	"$program" "$@" 2>"$work/messages" >"$work/stdout"
	[ $? -eq 64 ] && [ ! -s "$work/stdout" ] && grep -q -- "$pattern" "$work/messages" && return 0
	cat "$work/messages"
	return 1
}
tap_check "a misspelt option is an error with the option meant" \
	suggests "^ptrace2ftf: unrecognized option '--fromat'; did you mean '--format'?$" --fromat=ftf a
tap_check "also one of another group, behind other options" \
	suggests "'--memtrase'; did you mean '--memtrace'" -q -o x --symfs --fromat --memtrase a
tap_check "a misspelt word is an error with the word meant, and all others" \
	suggests "--format: 'slises' is none of: ftf, branches.*; did you mean 'slices'?$" --format=slises a
suggests_nothing() {
	suggests "unrecognized option '--nonsense'" --nonsense a && ! grep -q "did you mean" "$work/messages" &&
		suggests "'zzz' is none of: [a-z, -]*$" --mode=zzz a
}
tap_check "what is near to none gets no suggestion" suggests_nothing
takes_arguments() {
	"$program" --strip-prefix --fromat "$work/nothing" 2>"$work/messages"
	[ $? -eq 1 ] && grep -q "nothing: cannot open" "$work/messages"
}
tap_check "an option's argument is not taken for an option" takes_arguments
tap_check "a beginning of several options lists them" suggests "ambiguous.*--input.*--inline" --in=x a

# One message with the option's name, nothing converted.
is_wrong() { # PATTERN OPTIONS...
	suggests "$@" && [ "$(grep -c '^ptrace2ftf: \|^[^ ]*/ptrace2ftf: ' "$work/messages")" -eq 1 ]
}
numbers() {
	for bad in 0 -1 x 1025 2x ''; do
		is_wrong "--threads: '$bad' is not a number from 1 to 1024" --threads=$bad a || return 1
	done
	for bad in 0 x; do
		is_wrong "--verify: '$bad' is not a number from 1" --verify=$bad a || return 1
	done
	for bad in 10001 -1 x; do
		is_wrong "--jobs: '$bad' is not a number from 0 to 10000" --jobs=$bad a || return 1
	done
	for bad in 0 -1 x 4294967296; do
		is_wrong "--depth: '$bad' is not a number from 1 to 4294967295" --depth=$bad a || return 1
	done
}
tap_check "numbers that are none, or too many, are wrong usage" numbers
excluded() {
	is_wrong "--output and --output-pattern exclude each other" -o out/ --output-pattern=x a &&
		is_wrong "--split cannot show overlays" --split=1k --memtrace=m -o x.ftf a &&
		is_wrong "cannot combine overlays with several recordings: 'b'" --memtrace=m -o out/ a b &&
		is_wrong "need a perf.data file" --input=perf-script --format=slices --tid=1 a &&
		is_wrong "is not mono=TIME or real=TIME" --memtrace=m --clock-offset=5 -o x.ftf
}
tap_check "options that exclude each other are wrong usage" excluded

versions() {
	"$program" --version >"$work/versions" && head -1 "$work/versions" | grep -q '^ptrace2ftf [0-9]' || return 1
	for library in libipt elfutils jansson zlib zstd liblzma; do
		grep -q "^$library [0-9]*\.[0-9.]*$" "$work/versions" || { echo "$library"; return 1; }
	done
}
tap_check "--version has the versions of the libraries" versions

usage() {
	"$program" --usage >"$work/usage" || return 1
	"$program" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u >"$work/help"
	grep -oE -- '--[a-z][a-z-]+' "$work/usage" | sort -u | diff - "$work/help"
}
tap_check "--usage names all options that --help explains" usage
tap_done
