#!/bin/sh
# SPDX-License-Identifier: MIT
# ptsim's command line: help, version, messages and exit statuses, as ptsim(1) says.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$(realpath "$top_builddir/tests/ptsim/ptsim")
[ -x "$ptsim" ] || tap_skip_all "ptsim is not built: libzydis-dev is not installed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

ends() { # STATUS MESSAGE ARGUMENTS...: the first line on standard error begins with the message
	expected=$1 message=$2
	shift 2
	timeout 100 "$ptsim" "$@" >output 2>messages
	status=$?
	[ $status -eq "$expected" ] && { [ -z "$message" ] || head -n 1 messages | grep -q "^ptsim$message"; } && return 0
	echo "status $status"
	cat messages
	return 1
}

shows_help() {
	ends 0 '' help && mv output help && ends 0 '' --help && cmp help output && grep -q '^  record ' help &&
		ends 0 '' record --help && mv output help && ends 0 '' help record && cmp help output &&
		grep -q -e '--cyc-threshold=N' help && ! grep -E '.{81}' help
}
tap_check "help shows commands and options" shows_help
version() {
	ends 0 '' --version && grep -qxF "ptsim ($("$top_builddir/ptrace2ftf" --version | head -n 1))" output
}
tap_check "--version has the version of the source" version
wrong_usage() {
	ends 64 ': no command; ' && ends 64 ": unknown command 'nothing'; " nothing && ends 64 ": unknown command 'more'; " help more &&
		ends 64 ' record: no program to record; ' record -o x && ends 64 ' record: no output; ' record -- true &&
		ends 64 ' record: .*nothing' record --nothing || return 1
	for value in cpus=5 cpus=-1 cpus=0 quantum=0 mtc-period=16 seed=1x seed= interrupts=4294967296 seed=18446744073709551616; do
		ends 64 " record: not a number from [0-9]* to [0-9]*: '${value#*=}'" record -o x "--$value" -- true || return 1
	done
	[ ! -e x ]
}
tap_check "wrong usage has status 64 and a reason, and writes nothing" wrong_usage

"$ptsim" record -o whole -- true >/dev/null 2>messages || tap_skip_all "programs cannot be traced here: $(cat messages)"
largest_numbers() {
	ends 0 ': ' record -o x --seed=18446744073709551615 --wall=1796000000000000000 -- true && rm x
}
tap_check "times and seeds have 64 bits" largest_numbers
fails() {
	ends 1 ': cannot run nothing: No such file' record -o x -- nothing && ends 1 ': cannot write nowhere/x: No such file' record -o nowhere/x -- true &&
		ends 1 ': cannot write nowhere/y/truth.branches: No such file' record -o x --truth=nowhere/y -- true &&
		ends 1 ': cannot write /dev/full: No space left' record -o /dev/full -- true
}
tap_check "what cannot run or be written has status 1 and a reason" fails
tap_check "a program's own status is not ptsim's" ends 0 ': [0-9]* instructions' record -o x -- false
interrupted() {
	timeout --foreground 3 "$ptsim" record -o cut -- sh -c 'while :; do :; done' 2>messages
	[ $? -eq 124 ] && "$top_builddir/ptrace2ftf" -q cut -o cut.ftf && "$top_builddir/ftfdump" --slices cut.ftf | grep -q .
}
tap_check "a recording that a signal ends is complete up to there" interrupted
tap_done
