#!/bin/sh
# SPDX-License-Identifier: MIT
# README.md's ways from a clone to a trace, and to tests that pass, in a fresh Debian 12 and 13 made by
# debootstrap. Downloads about 300 MB for each: for `make check-long`. Takes the last commit.
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/support/root_tree.sh"
[ -n "$LONG" ] || tap_skip_all "installs a system: make check-long"
[ "$(id -u)" = 0 ] || tap_skip_all "debootstrap needs root"
command -v debootstrap >/dev/null || tap_skip_all "no debootstrap"
git -C "$top_srcdir" rev-parse HEAD >/dev/null 2>&1 || tap_skip_all "no git repository to clone"
unshare --mount --pid --fork true 2>/dev/null || tap_skip_all "no mount namespaces here"
mirror=http://deb.debian.org/debian
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 1' INT TERM

reaches_mirror() {
	/usr/lib/apt/apt-helper download-file $mirror/dists/bookworm/Release "$work/Release" >/dev/null 2>&1
}
reaches_mirror || tap_skip_all "no way to $mirror"

debian() { # SUITE
	debootstrap --variant=minbase "$1" "$root" $mirror >"$work/log" 2>&1 || { tail -5 "$work/log"; return 1; }
	use_host_mirror
	git clone -q --bare "$top_srcdir" "$root/repository"
	# The address in README.md is this repository's.
	ln -s /repository "$root/root/URL"
}

commands() {
	sed -n '/^<!-- fresh commands -->$/,/^```$/p' "$top_srcdir/README.md" | grep -v '^<!--\|^```' >"$root/commands"
	count=$(wc -l <"$root/commands")
	[ "$count" -gt 0 ] && [ "$count" -lt 10 ] || { echo "$count commands"; return 1; }
	inside "cd; . /commands" >"$work/log" 2>&1 || { tail -20 "$work/log"; return 1; }
	grep -q "^Open .*build/demo.ftf at https://ui.perfetto.dev" "$work/log"
}

# Two threads, by the program's source.
sound() {
	"$top_builddir/ftfdump" --check "$root/root/ptrace2ftf/build/demo.ftf" >/dev/null &&
		[ "$("$top_builddir/ftfdump" --names "$root/root/ptrace2ftf/build/demo.ftf" | grep -c '^thread')" -eq 2 ]
}

tests() {
	sed -n '/^<!-- test command -->$/,/^```$/p' "$top_srcdir/README.md" | grep -v '^<!--\|^```' >"$root/commands"
	[ "$(wc -l <"$root/commands")" -eq 1 ] || { echo "not one command"; return 1; }
	inside "cd; cd ptrace2ftf; . /commands" >"$work/log" 2>&1
	status=$?
	grep -E '^(FAIL|ERROR)|^# (PASS|SKIP|FAIL|ERROR):' "$work/log" | tail -n 20
	find "$root/root/ptrace2ftf/build/tests" -name '*.log' -exec grep -h -B 10 '^not ok' {} + | head -n 100
	[ $status -eq 0 ] && [ "$(sed -n 's/^# PASS: *//p' "$work/log")" -gt 3000 ]
}

for suite in bookworm trixie; do
	root=$work/$suite
	tap_check "$suite: debootstrap makes it" debian "$suite"
	tap_check "$suite: README.md's commands, fewer than ten, end with a trace to open" commands
	tap_check "$suite: the trace is sound and has the demo's threads" sound
	tap_check "$suite: README.md's test command passes" tests
	rm -rf --one-file-system "$root"
done
tap_done
