#!/bin/sh
# SPDX-License-Identifier: MIT
# README.md's way from a clone to a trace, in a fresh Debian 12 made by debootstrap.
# Downloads some 300 MB: for `make check-long`.  What is not committed is not tried.
. "$top_srcdir/tests/support/tap.sh"
[ -n "$LONG" ] || tap_skip_all "installs a system: make check-long"
[ "$(id -u)" = 0 ] || tap_skip_all "debootstrap needs root"
command -v debootstrap >/dev/null || tap_skip_all "no debootstrap"
git -C "$top_srcdir" rev-parse HEAD >/dev/null 2>&1 || tap_skip_all "no git repository to clone"
unshare --mount --pid --fork true 2>/dev/null || tap_skip_all "no mount namespaces here"
mirror=http://deb.debian.org/debian
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 1' INT TERM
root=$work/root

reaches_mirror() {
	/usr/lib/apt/apt-helper download-file $mirror/dists/bookworm/Release "$work/Release" >/dev/null 2>&1
}
reaches_mirror || tap_skip_all "no way to $mirror"

debian() {
	debootstrap --variant=minbase bookworm "$root" $mirror >"$work/log" 2>&1 || { tail -5 "$work/log"; return 1; }
	git clone -q --bare "$top_srcdir" "$root/repository"
	# The address in README.md is this repository's.
	ln -s /repository "$root/root/URL"
}
tap_check "debootstrap makes a Debian 12" debian

inside() { # FILE: a script in the root
	unshare --mount --pid --fork --mount-proc="$root/proc" chroot "$root" /usr/bin/env -i \
		HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive sh -ec "cd /root; . /$1"
}
commands() {
	sed -n '/^<!-- fresh commands -->$/,/^```$/p' "$top_srcdir/README.md" | grep -v '^<!--\|^```' >"$root/commands"
	count=$(wc -l <"$root/commands")
	[ "$count" -gt 0 ] && [ "$count" -lt 10 ] || { echo "$count commands"; return 1; }
	inside commands >"$work/log" 2>&1 || { tail -20 "$work/log"; return 1; }
	grep -q "^Open .*build/demo.ftf at https://ui.perfetto.dev" "$work/log"
}
tap_check "README.md's commands, fewer than ten, end with a trace to open" commands

# Four threads beside main(), by the program's source.
sound() {
	"$top_builddir/ftfdump" --check "$root/root/ptrace2ftf/build/demo.ftf" >/dev/null &&
		[ "$("$top_builddir/ftfdump" --names "$root/root/ptrace2ftf/build/demo.ftf" | grep -c '^thread')" -ge 4 ]
}
tap_check "the trace is sound and has the demo's threads" sound
tap_done
