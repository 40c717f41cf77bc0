#!/bin/sh
# SPDX-License-Identifier: MIT
# The sandbox of the process that serves a trace: probe.c tries the calls that an exploited fault
# might use, in the place of the process, while it waits for requests.
if [ -z "$P2F_PRIVATE" ]; then
	export P2F_PRIVATE=yes
	exec "$top_builddir/tests/support/private-network" sh "$0"
fi
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work" /tmp/probe-renamed /tmp/probe-linked' EXIT
"$top_builddir/tests/support/make-sample" "$work"
cd "$work" || exit 1
[ "$P2F_SANITIZED" != yes ] || tap_skip_all "it is off in builds with sanitizers"
"$program" -q --sandbox=on --symfs=. perf.data -o trace.ftf || tap_skip_all "no Landlock or no seccomp here"
"$program" open nothing 2>&1 | grep -q 'this build has no server' && tap_skip_all "this build has no server"
unset BROWSER DISPLAY WAYLAND_DISPLAY

serve() { # LAST-NAME OPTIONS...: until that was tried
	last=$1
	shift
	rm -rf outside tried
	mkdir outside
	for name in kept old doomed; do echo "$name" >"outside/$name"; done
	env PROBE_SERVER=1 PROBE_BESIDE=beside PROBE_REPORT=tried PROBE_OUTSIDE="$work/outside" \
		LD_PRELOAD="$top_builddir/tests/sandbox/probe.so" "$program" open -v "$@" trace.ftf 2>messages >shown </dev/null &
	pid=$!
	tries=0
	until grep -qs "^$last: " tried || ! kill -0 $pid 2>/dev/null || [ $tries -ge 6000 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	# It is traced by this shell now, so that other signals only stop it.
	kill -KILL $pid 2>/dev/null
	wait $pid
	sed -n 's/: done$//p' tried >done
}
all_is_done() {
	serve 'be traced' --sandbox=off && grep -qx 'sandbox: none (--sandbox=off)' messages &&
		grep -qx read done && grep -qx remove done && grep -qx fork done && grep -qx socket done
}
tap_check "without the sandbox the probe does what it tries" all_is_done
nothing_is_done() {
	PROBE_EXEC=1 serve exec --sandbox=on && [ ! -s done ] && [ "$(wc -l <tried)" -gt 30 ] && ! grep -v ': ENOSYS$' tried &&
		[ "$(ls outside)" = "$(printf 'doomed\nkept\nold')" ] && grep -qx 'sandbox: files and system calls' messages
}
tap_check "in it nothing is opened, written, started, connected or made code" nothing_is_done
tap_done
