#!/bin/sh
# SPDX-License-Identifier: MIT
# Options for all runs: a configuration file, and PTRACE2FTF_OPTIONS.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$top_builddir/tests/support/make-sample" "$work"
mkdir -p "$work/config/ptrace2ftf" "$work/home/.config/ptrace2ftf" "$work/empty"
file=$work/config/ptrace2ftf/config

# The number of functions with names: all of the sample's with --symfs=$work, else fewer.
convert() { # OPTIONS...
	"$program" -q --no-warn --format=functions "$@" "$work/perf.data" >"$work/table" 2>"$work/messages"
}
named() { # OPTIONS...
	convert "$@" && grep -q ' work$' "$work/table" || { cat "$work/table" "$work/messages"; return 1; }
}
wrong() { # PATTERN OPTIONS...
	pattern=$1
	shift
	convert "$@"
	[ $? -eq 64 ] && grep -q -- "$pattern" "$work/messages" && return 0
	cat "$work/messages"
	return 1
}

without() {
	! named >"$work/shown" && named --symfs="$work"
}
tap_check "without settings the sample has no names" without
of_file() {
	printf '# mine\n\n  symfs =  %s \ncolor=never\ndebuginfod\n' "$work" >"$file"
	XDG_CONFIG_HOME=$work/config named && cp "$file" "$work/home/.config/ptrace2ftf" &&
		HOME=$work/home named
}
tap_check "the configuration file gives options, also below HOME" of_file
of_variable() {
	PTRACE2FTF_OPTIONS="--symfs=$work --color=never" named &&
		! XDG_CONFIG_HOME=$work/config PTRACE2FTF_OPTIONS="--symfs=$work/empty" named >"$work/shown"
}
tap_check "so does the variable, which overrides the file" of_variable
overridden() {
	PTRACE2FTF_OPTIONS="--symfs=$work/empty" named --symfs="$work"
}
tap_check "the command line overrides both" overridden
of_another_command() {
	PTRACE2FTF_OPTIONS="--args=full --ui=https://a.example" "$program" list --symfs="$work" "$work/perf.data" >"$work/list" 2>&1 &&
		PTRACE2FTF_OPTIONS="--ui=https://a.example" named --symfs="$work"
}
tap_check "a setting for another command is left out" of_another_command
refused() {
	PTRACE2FTF_OPTIONS="--sysfs=x" wrong "cannot take 'sysfs' from PTRACE2FTF_OPTIONS: there is no such option" &&
		PTRACE2FTF_OPTIONS="--tid=3" wrong "cannot take 'tid' from PTRACE2FTF_OPTIONS: it is not a setting" &&
		PTRACE2FTF_OPTIONS="--symfs" wrong "'symfs' .*: it needs a value" &&
		PTRACE2FTF_OPTIONS="--args=nothing" wrong "unknown --args 'nothing'" &&
		printf 'debuginfod = yes\n' >"$file" &&
		XDG_CONFIG_HOME=$work/config wrong "cannot take 'debuginfod' from $file: it takes no value" &&
		! PTRACE2FTF_OPTIONS="--color=sometimes" convert
}
unreadable() {
	rm -f "$file" && mkdir "$file"
	XDG_CONFIG_HOME=$work/config convert
	[ $? -eq 1 ] && grep -q "^ptrace2ftf: cannot read '$file'" "$work/messages"
}
tap_check "what is no setting is wrong usage, with its source" refused
tap_check "a file that cannot be read is a failure" unreadable
tap_done
