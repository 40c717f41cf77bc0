#!/bin/sh
# SPDX-License-Identifier: MIT
# A signal ends a recording by ptsim, which keeps the trace up to then, as perf record does.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
[ -x "$ptsim" ] || tap_skip_all "ptsim is not built: libzydis-dev is not installed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$ptsim" record -o "$work/perf.data" -- "$top_builddir/tests/programs/static/tail" >/dev/null 2>"$work/messages" ||
	tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"

mkfifo "$work/fifo"
signal_leaves_a_recording() { # SIGNAL STATUS SHELL-COMMAND
	rm -f "$work/perf.data" "$work/begun"
	"$ptsim" record -o "$work/perf.data" -- sh -c "echo begun >$work/begun; $3" >"$work/output" 2>&1 &
	recorder=$!
	while [ ! -s "$work/begun" ] && kill -0 $recorder; do
		sleep 0.05
	done
	kill -"$1" $recorder
	wait $recorder
	status=$?
	[ $status -eq "$2" ] || { echo "status $status"; cat "$work/output"; return 1; }
	"$top_builddir/ptrace2ftf" -q --format=slices "$work/perf.data" >"$work/slices" &&
		grep -q '\[syscall' "$work/slices"
}
tap_check "Ctrl-C while the program runs leaves a recording" signal_leaves_a_recording INT 130 \
	'while :; do :; done'
tap_check "Ctrl-C while it waits does, too" signal_leaves_a_recording INT 130 \
	"read line <$work/fifo"
tap_check "so does SIGTERM" signal_leaves_a_recording TERM 143 'while :; do :; done'
truth_has_a_folder() {
	"$ptsim" record --truth="$work/new" -o "$work/perf.data" -- true >"$work/output" 2>&1 &&
		[ -s "$work/new/truth.branches" ] || { cat "$work/output"; return 1; }
	! "$ptsim" record --truth="$work/a/b" -o "$work/perf.data" -- true >"$work/output" 2>&1 &&
		grep -q 'cannot write .*: No such file' "$work/output"
}
tap_check "--truth makes its folder" truth_has_a_folder
tap_done
