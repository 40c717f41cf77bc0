#!/bin/sh
# SPDX-License-Identifier: MIT
# The manual page is well-formed, also as it is read, and it and --help list the same options.
. "${top_srcdir:-.}/tests/support/tap.sh"
. "${top_srcdir:-.}/tests/support/rendered.sh"

is_well_formed() { # PAGE
	warnings=$(groff -mdoc -ww -Tascii "$1" 2>&1 >/dev/null)
	[ -z "$warnings" ] || { echo "$warnings"; return 1; }
}

lists_the_same_options() { # PROGRAM PAGE OPTION COMMANDS
	program=$1 manual=$2
	from_help=$(for command in $4 ""; do "$program" $command "$3"; done | grep -oE -- '--[a-z][a-z-]+' | sort -u)
	from_manual=$(sed -n '/^\.Sh OPTIONS/,/^\.Sh [^O]/p;/^\.Sh OUTPUT/q' "$manual" | grep '^\.It' |
		grep -oE 'Fl \\-[a-z][a-z-]+' | sed 's/Fl \\-/--/' | sort -u)
	[ "$from_help" = "$from_manual" ] && return 0
	echo "help:   $from_help" | tr '\n' ' '
	echo "manual: $from_manual" | tr '\n' ' '
	return 1
}

fits_a_terminal() { # PROGRAM OPTION
	! "$1" "$2" | grep -E '.{81}'
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The model names each record type that the kernel's header and the reader know.
names_every_record() {
	model=${top_srcdir:-.}/man/ptrace2ftf.7
	{
		sed -n 's/^\tPERF_USER_\([A-Z0-9_]*\) = .*/\1/p' "${top_srcdir:-.}/decoder/perf_data/perf_types.h"
		sed -n 's/^\tPERF_RECORD_\([A-Z0-9_]*\)[ \t]*= .*/\1/p' /usr/include/linux/perf_event.h |
			grep -v ^KSYMBOL_TYPE
	} | sort -u >"$work/records"
	sed -n '/^.Ss What becomes of each record/,/^.Ss What becomes of each packet/p' "$model" |
		tr ' ' '\n' >"$work/named"
	missing=$(grep -vxF -f "$work/named" "$work/records")
	count=$(wc -l <"$work/records")
	[ "$count" -gt 40 ] && [ -z "$missing" ] || { echo "$count records; missing: $missing"; return 1; }
}
tap_check "the model says what becomes of every type of record" names_every_record

if command -v groff >/dev/null; then
	for page in "${top_srcdir:-.}"/man/*.[137]; do
		tap_check "$(basename "$page") has no groff warnings" is_well_formed "$page"
	done
else
	tap_skip "the manual pages have no groff warnings" "no groff"
fi
# What goes wrong with mdoc: quotes in quotes, a blank before a comma, a parenthesis that stays open,
# a macro's name in the text.
reads_well() { # RENDERER PAGE
	rendered "$1" "$2" >"$work/page"
	LC_ALL=C.UTF-8 grep -nE '.{81}|BSD' "$work/page"
	awk -v RS= '{ gsub(/\n */, " "); text = $0 }
		/‘[^’]*‘|’’| [,;:]( |$)|[(] | [)]/ || / (Ns|Ar|Fl|Cm|Li|Ql|Dq|Pq|Po|Pc|Ev|Pa|Xr|Sx|Nm|Op|Lk|Fn|Em|Sy)( |$)/ || gsub(/[(]/, "") != gsub(/[)]/, "") { print text }' "$work/page" >"$work/odd"
	cat "$work/odd"
	[ "$(wc -l <"$work/page")" -gt 20 ] && ! [ -s "$work/odd" ] &&
		! LC_ALL=C.UTF-8 grep -qE '.{81}|BSD' "$work/page"
}
for renderer in $(renderers); do
	for page in "${top_srcdir:-.}"/man/*.[137]; do
		tap_check "$(basename "$page") reads well, by $renderer" reads_well "$renderer" "$page"
	done
done
if command -v mandoc >/dev/null; then
	for page in "${top_srcdir:-.}"/man/*.[137]; do
		tap_check "$(basename "$page") has no mandoc warnings" mandoc -T lint -W warning "$page"
	done
fi

for name in ptrace2ftf ftfdump; do
	all=--help commands=
	[ $name = ftfdump ] || all=--help=all commands="record diff"
	tap_check "$name $all and the manual page list the same options" \
		lists_the_same_options "${top_builddir:-.}/$name" "${top_srcdir:-.}/man/$name.1" $all "$commands"
	tap_check "$name $all fits into 80 columns" fits_a_terminal "${top_builddir:-.}/$name" $all
done
# What fits a terminal is read.
is_short() {
	for command in '' open record list diff clock-sync help; do
		# shellcheck disable=SC2086
		lines=$("${top_builddir:-.}/ptrace2ftf" $command --help | tee "$work/help" | wc -l)
		[ "$lines" -ge 2 ] && [ "$lines" -le 60 ] && ! grep -E '.{80}' "$work/help" ||
			{ echo "$command: $lines lines"; return 1; }
	done
}
tap_check "the --help of each command has at most 60 lines" is_short
tap_done
