#!/bin/sh
# SPDX-License-Identifier: MIT
# The manual pages are well-formed, also as rendered, and list the same options as --help.
. "${top_srcdir:-.}/tests/support/tap.sh"
. "${top_srcdir:-.}/tests/support/rendered.sh"

is_well_formed() { # PAGE
	warnings=$(groff -mdoc -ww -Tascii "$1" 2>&1 >/dev/null)
	[ -z "$warnings" ] || { echo "$warnings"; return 1; }
}

options_of() { # PAGE: of its section OPTIONS
	sed -n '/^\.Sh OPTIONS/,/^\.Sh [^O]/p' "$1" | grep '^\.It' | grep -oE 'Fl \\-[a-z][a-z0-9-]+' | sed 's/Fl \\-/--/' | sort
}

# A page of a command has the options that a conversion does not take; an option is in one page only.
lists_the_same_options() { # PROGRAM PAGE OPTION COMMAND
	options_of "$2" >"$work/documented"
	"$1" "$3" | grep -oE -- '--[a-z][a-z0-9-]+' | sort -u >"$work/general"
	if [ "$4" ]; then
		"$1" "$4" "$3" | grep -oE -- '--[a-z][a-z0-9-]+' | sort -u | comm -23 - "$work/general" >"$work/own"
	else
		cp "$work/general" "$work/own"
	fi
	diff "$work/own" "$work/documented"
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
		sed -n 's/^\tPERF_USER_\([A-Z0-9_]*\) = .*/\1/p' "${top_srcdir:-.}/decoder/perf_data/perf_record.h"
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
# Common errors of mdoc: quotes in quotes, a blank before a comma, an open parenthesis, a macro's name
# in the text.
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

# Those of clock-sync and help are in the page of the program.
commands=$("${top_builddir:-.}/ptrace2ftf" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' | grep -v 'clock-sync\|help')
for command in "" $commands; do
	# Its options are those of record.
	[ "$command" != watch ] || continue
	page=ptrace2ftf${command:+-$command}.1
	tap_check "$page and --help=all list the same options" \
		lists_the_same_options "${top_builddir:-.}/ptrace2ftf" "${top_srcdir:-.}/man/$page" --help=all "$command"
done
# Both in the section COMMANDS and in SEE ALSO.
names_commands() {
	for command in $commands; do
		[ "$(grep -c "^\.Xr ptrace2ftf-$command 1" "${top_srcdir:-.}/man/ptrace2ftf.1")" -ge 2 ] && grep -q "^\.It Cm $command\$" "${top_srcdir:-.}/man/ptrace2ftf.1" || { echo "$command"; return 1; }
	done
}
tap_check "ptrace2ftf.1 names each command and its page" names_commands
tap_check "ftfdump.1 and --help list the same options" \
	lists_the_same_options "${top_builddir:-.}/ftfdump" "${top_srcdir:-.}/man/ftfdump.1" --help
if [ -x "${top_builddir:-.}/tests/ptsim/ptsim" ]; then
	tap_check "ptsim.1 and ptsim record --help list the same options" \
		lists_the_same_options "${top_builddir:-.}/tests/ptsim/ptsim" "${top_srcdir:-.}/man/ptsim.1" --help record
else
	tap_skip "ptsim.1 and ptsim record --help list the same options" "ptsim is not built: libzydis-dev is not installed"
fi
tap_check "--help=all fits into 80 columns" fits_a_terminal "${top_builddir:-.}/ptrace2ftf" --help=all
tap_check "ftfdump --help fits into 80 columns" fits_a_terminal "${top_builddir:-.}/ftfdump" --help
# The manual page is short enough to be read.
page_is_short() {
	for renderer in $(renderers); do
		lines=$(rendered "$renderer" "${top_srcdir:-.}/man/ptrace2ftf.1" | wc -l)
		[ "$lines" -gt 100 ] && [ "$lines" -le 500 ] || { echo "$renderer: $lines lines"; return 1; }
	done
}
tap_check "ptrace2ftf.1 has at most 500 lines" page_is_short
is_short() {
	for command in '' $commands; do
		page=ptrace2ftf${command:+-$command}
		"${top_builddir:-.}/ptrace2ftf" ${command:+"$command"} --help | grep -qF "See $page(1)." && [ -e "${top_srcdir:-.}/man/$page.1" ] ||
			{ echo "$page"; return 1; }
	done
	for command in '' $commands clock-sync help; do
		# shellcheck disable=SC2086
		lines=$("${top_builddir:-.}/ptrace2ftf" $command --help | tee "$work/help" | wc -l)
		[ "$lines" -ge 2 ] && [ "$lines" -le 60 ] && ! grep -E '.{80}' "$work/help" ||
			{ echo "$command: $lines lines"; return 1; }
	done
}
tap_check "the --help of each command has at most 60 lines, and names its page" is_short
tap_done
