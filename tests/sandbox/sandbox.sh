#!/bin/sh
# SPDX-License-Identifier: MIT
# The sandbox refuses the system calls that an exploited fault might use; probe.c tries
# them in the place of the program. All other tests run in the sandbox, and so show that
# needed calls are allowed.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work" /tmp/probe-renamed /tmp/probe-linked' EXIT
# Not the folder of the output or of temporary files.
mkdir "$work/sample" "$work/out" "$work/temporary" "$work/here"
TMPDIR=$work/temporary
export TMPDIR
"$top_builddir/tests/support/make-sample" "$work/sample"
cd "$work/here" || exit 1

probe() { # OPTIONS...
	rm -rf "$work/outside" "$work/tried" "$work/here/probe-new" "$work/out"/*
	mkdir "$work/outside"
	for name in kept old doomed; do echo "$name" >"$work/outside/$name"; done
	PROBE_BESIDE=$work/out/beside LD_PRELOAD=$top_builddir/tests/sandbox/probe.so PROBE_REPORT=$work/tried PROBE_OUTSIDE=$work/outside \
		"$program" -v "$@" 2>"$work/messages" >"$work/shown" </dev/null
	status=$?
	[ -s "$work/tried" ] || { echo "nothing was tried"; cat "$work/messages"; return 1; }
}
done_are() { # NAMES, each in a line
	sed -n 's/: done$//p' "$work/tried" | sort -u >"$work/done"
	printf '%s' "$1" | sort | diff - "$work/done"
}
untouched() {
	[ "$(ls "$work/outside")" = "$(printf 'doomed\nkept\nold')" ] && [ "$(cat "$work/outside/kept")" = kept ]
}

symfs=--symfs=$work/sample
data=$work/sample/perf.data
[ "$P2F_SANITIZED" != yes ] || tap_skip_all "it is off in builds with sanitizers"
"$program" -q --sandbox=on $symfs --format=none "$data" || tap_skip_all "no Landlock or no seccomp here"

all_but_exec="ask for signals
be traced
change a mode by descriptor
change the mode
change the times
create
create beside the output
create in the working directory
fork
hard link
leave the namespace
link
local socket
make a directory
make a fifo
make a nameless file
make code
map code
read
read a process
remove
rename
set a signal
set an attribute
set an attribute by descriptor
set an owner of signals
signal
socket
truncate
truncate by opening
type on the terminal
write
"
without_it_all_is_done() {
	probe --sandbox=off $symfs "$data" -o "$work/out/x.ftf" || return 1
	# Calls that systems refuse otherwise, or allow only for root.
	grep -v "read another's memory\|type on\|limits\|ring of\|a fault\|events" \
		"$work/tried" >"$work/tried2"
	echo "type on the terminal: done" | cat "$work/tried2" - >"$work/tried"
	done_are "$all_but_exec" && ! untouched && grep -q 'sandbox: none (--sandbox=off)' "$work/messages"
}
tap_check "without the sandbox the probe does what it tries" without_it_all_is_done
nothing_is_done() { # OPTIONS...
	PROBE_EXEC=1 probe $symfs "$data" -o "$work/out/x.ftf" "$@" && [ $status -eq 0 ] || return 1
	done_are "" && untouched && grep -q '^exec: E' "$work/tried" &&
		"$top_builddir/ftfdump" --check "$work/out/x.ftf" >/dev/null &&
		grep -qx 'sandbox: files and system calls' "$work/messages"
}
tap_check "in it nothing is written or read elsewhere, started, connected or made code" nothing_is_done
tap_check "and neither with --sandbox=on" nothing_is_done --sandbox=on
tap_check "and neither by threads that decode" nothing_is_done --threads=8
refused_by() { # ERROR NAME...
	error=$1
	shift
	for name; do grep -qx "$name: $error" "$work/tried" || { echo "$name"; return 1; }; done
}
as_documented() {
	refused_by EACCES read &&
		refused_by ENOSYS create write remove fork exec socket signal "make code" "type on the terminal"
}
tap_check "files are refused with EACCES, calls with ENOSYS" as_documented
batch() {
	cp "$data" "$work/here/one.data"
	cp "$data" "$work/here/two.data"
	probe $symfs --jobs=2 "$work/here/one.data" "$work/here/two.data" -o "$work/out/" &&
		[ $status -eq 0 ] && done_are "" && untouched &&
		[ "$(grep -c '^socket: ENOSYS' "$work/tried")" = 2 ] && [ "$(ls "$work/out" | wc -l)" = 2 ]
}
tap_check "it holds in each process of a batch" batch
text() {
	probe $symfs --format=slices "$data" && [ $status -eq 0 ] && done_are "" && [ -s "$work/shown" ]
}
tap_check "an output to standard output leaves no directory to write to" text
# Kernel names are there, with --symfs, too.
cache() {
	mkdir -p "$work/home"
	ln -sfn ../outside "$work/home/.debug"
	HOME=$work/home probe $symfs --format=slices "$data" && [ $status -eq 0 ] && done_are "read
" && untouched
}
tap_check "perf's own cache is read, and no more" cache
# Without the library the status is 2, and the sandbox is the same.
servers() {
	probe $symfs --debuginfod --format=slices "$data" || return 1
	[ $status -eq 0 ] || grep 'libdebuginfod.so.1 cannot be loaded' "$work/messages" || return 1
	done_are "ask for signals
change a mode by descriptor
change the times
local socket
make code
map code
read
socket
" && untouched
}
tap_check "with --debuginfod there are sockets and libraries, and no more" servers

# ---- Older and other systems ----
with_version() { # OPTIONS...
	for version in 1 2 3 4 5 6; do
		PROBE_ABI=$version nothing_is_done "$@" || { echo "version $version"; return 1; }
	done
}
keeps() {
	PROBE_KEEPER=1 probe $symfs --threads=1 "$data" -o "$work/out/x.ftf" && [ $status -eq 0 ] || return 1
	done_are "find the keeper
" && untouched && [ "$(ls "$work/out")" = x.ftf ] &&
		[ "$(grep -c '^ask .*: EACCES$' "$work/tried")" = 7 ] && grep -q '^ask for another thing: EINVAL' "$work/tried"
}
tap_check "the process that makes the files makes, moves and removes no others" keeps
# Killed, it removes nothing itself.
none_is_left() {
	mkfifo "$work/here/slow"
	"$program" -q $symfs "$data" -o "$work/out/x.ftf" --split=1 --json="$work/here/slow" &
	pid=$!
	tries=0
	while [ -z "$(ls "$work/out")" ] && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
	[ -n "$(ls "$work/out")" ] || { echo "no temporary file"; return 1; }
	kill -KILL $pid
	tries=0
	while [ -n "$(ls "$work/out")" ] && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
	[ -z "$(ls "$work/out")" ] || { ls "$work/out"; return 1; }
}
rm -f "$work/out"/*
tap_check "a conversion that is killed leaves no temporary file" none_is_left
tap_check "it holds with each older version of Landlock" with_version
without() { # WHAT MESSAGE
	PROBE_WITHOUT=$1 probe $symfs "$data" -o "$work/out/x.ftf" && [ $status -eq 0 ] &&
		grep -qx "$2" "$work/messages" || { cat "$work/messages"; return 1; }
	PROBE_WITHOUT=$1 probe --sandbox=on $symfs "$data" -o "$work/out/x.ftf" >/dev/null
	[ $status -eq 1 ] && [ -z "$(ls "$work/out")" ] && [ ! -s "$work/tried" ] &&
		grep -q '^ptrace2ftf: cannot enter the sandbox: ' "$work/messages"
}
tap_check "a system without Landlock has half of it, and fails --sandbox=on" \
	without files 'sandbox: system calls (the system has no Landlock)'
tap_check "a system without seccomp has half of it, and fails --sandbox=on" \
	without calls 'sandbox: files (the system has no filters of system calls)'
warned() {
	PROBE_WITHOUT=both probe $symfs "$data" -o "$work/out/x.ftf" --json="$work/out/x.json" &&
		grep -q '^ptrace2ftf: warning: no sandbox: the system has no Landlock' "$work/messages" &&
		grep -A4 '"sandbox"' "$work/out/x.json" | grep -q '"files": false'
}
tap_check "where there is neither, a warning and the summary say so" warned
tap_check "a system without either runs, and fails --sandbox=on" \
	without both 'sandbox: none (the system has no Landlock)'
tap_done
