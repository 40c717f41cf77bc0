#!/bin/sh
# SPDX-License-Identifier: MIT
# --format=memtrace: a cut file against the lines that memtrace's dump_trace printed of the whole
# one, of which awk chooses those of the range.
. "${top_srcdir:-.}/tests/support/tap.sh"
shared=${top_srcdir:-.}/../shared/ocaml
program=${top_builddir:-.}/ptrace2ftf
[ -d "$shared/memtrace" ] || tap_skip_all "no ../shared/ocaml"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Lines of the range, without the number of entries that a backtrace shares with the previous one. A
# block that is alive at the begin of the range is allocated and promoted there. Blocks have new
# numbers.
choose() { # FROM TO DUMP
	gzip -dcf "$3" | sed -E 's/(dom=[0-9]+) +[0-9]+:/\1:/' >"$work/lines"
	awk -v from="$1" '$3 == "collect" && $1 + 0 < from { print $2 }' "$work/lines" >"$work/dead"
	awk -v to="$2" -v from="$1" '
		FILENAME == ARGV[1] { dead[$1] = 1; next }
		/ alloc/ && $1 + 0 <= to && !($1 + 0 < from && $2 in dead) { print $2 }
	' "$work/dead" "$work/lines" | LC_ALL=C sort -n >"$work/blocks"
	awk -v to="$2" -v from="$1" '
		FILENAME == ARGV[1] { number[$1] = FNR - 1; next }
		$1 + 0 > to || !($2 in number) { next }
		{
			rest = substr($0, length($1) + length($2) + 3)
			printf "%010d %010d %s\n", $1 + 0 < from ? from : $1, number[$2], rest
		}
	' "$work/blocks" "$work/lines"
}

cut_equal() { # FILE DUMP FROM TO RANGE
	choose "$3" "$4" "$2" >"$work/expected"
	"$program" -q --memtrace="$1" --time="$5" -o "$work/cut.ctf" &&
		"$program" --format=events --memtrace="$work/cut.ctf" -o "$work/printed" || return 1
	sed -E -e '/^# /d' -e 's/(dom=[0-9]+) +[0-9]+:/\1:/' "$work/printed" |
		cmp "$work/expected" - || return 1
	[ "$(wc -l <"$work/expected")" -ge "${6:-1}" ]
}

check() { # FILE DUMP LAST-TIME
	name=$(basename "$(dirname "$1")")/$(basename "$1")
	for range in "0 100" "0 30" "40 60" "55 56" "90 100"; do
		from=$(($3 * ${range% *} / 100)) to=$(($3 * ${range#* } / 100))
		# seeds.md: a file is written from another one (copy)
		tap_check "$name from $from to $to us has the blocks that are alive, and their events" \
			cut_equal "$1" "$2" $from $to "+${from}us,+$((to - from))us"
	done
	tap_check "$name is written whole" cut_equal "$1" "$2" 0 "$3" ","
}

for file in "$shared"/memtrace/small.ctf "$shared"/memtrace/synth.ctf \
	"$shared"/memtrace/ocamlopt_v01.ctf "$shared"/combined/single/out.ctf; do
	dump=$(ls "${file%.ctf}".dump.txt* 2>/dev/null || ls "$shared"/memtrace/ocamlopt_v0*.dump.txt.gz)
	last=$(gzip -dcf "$dump" | awk '$1 + 0 > last { last = $1 + 0 } END { print last }')
	check "$file" "$dump" "$last"
done
tap_done
