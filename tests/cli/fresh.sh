#!/bin/sh
# SPDX-License-Identifier: MIT
# README.md's commands on a bare Debian 12 and 13, made by debootstrap: from a clone to a trace, as root and
# as a user with sudo, and to tests that pass, as .ci/run runs them.  There are one processor, no /sys, no
# /dev/pts and no ../shared.  Takes the last commit: `make check-fresh`, or FRESH=trixie for one of the two.
# The first run downloads 300 MB for each; the trees (root-SUITE, user-SUITE) and the packages stay below the build
# directory, in distributions/.
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/support/root_tree.sh"
[ -n "$LONG" ] || tap_skip_all "installs a system: make check-fresh"
root_tree_needs
reason=$(make_base trixie "$debian" $keys/debian-archive-keyring.gpg) ||
	tap_skip_all "debootstrap cannot make a system of $debian: $(echo "$reason" | tail -n 1)"
taskset -p -c "$(taskset -p -c $$ | sed 's/.*: *//; s/[,-].*//')" $$ >/dev/null

bare() { # OWNER HOME: a tree of $suite with a repository, at the address that README.md names
	make_root "$suite" "$debian" $keys/debian-archive-keyring.gpg || return 1
	[ "$1" = root ] || inside "apt-get update && apt-get install -y sudo && useradd -m $1 &&
		echo '$1 ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/$1" >"$root.log" 2>&1 || { tail -n 20 "$root.log"; return 1; }
	git clone -q --bare "$top_srcdir" "$root$2/URL" && inside "chown -R $1: $2/URL"
}

commands() { # MARK: README.md's commands after a comment
	sed -n "/^<!-- $1 -->\$/,/^\`\`\`\$/p" "$top_srcdir/README.md" | grep -v '^<!--\|^```'
}

made() { # HOME: README.md's first commands were successful; the demo's trace has two threads, by the program's source
	demo=$root$1/ptrace2ftf/build/demo.ftf
	grep -q "^Open .*build/demo.ftf at https://ui.perfetto.dev" "$root.log" || { tail -n 20 "$root.log"; return 1; }
	"$top_builddir/ftfdump" --check "$demo" && "$top_builddir/ftfdump" --names "$demo" >"$root.names" || return 1
	[ "$(awk '/^thread .* process=1001$/ { print $2 }' "$root.names" | sort -u | wc -l)" -eq 2 ] || { cat "$root.names"; return 1; }
}

as_root() {
	bare root /root || return 1
	commands 'fresh commands' >"$root/commands"
	count=$(wc -l <"$root/commands")
	[ "$count" -gt 0 ] && [ "$count" -lt 10 ] || { echo "$count commands"; return 1; }
	inside "cd; . /commands" >"$root.log" 2>&1
	made /root
}

as_user() {
	root=$trees/user-$suite
	bare someone /home/someone || return 1
	commands 'fresh commands' | sed 's/\(^\|&& \)apt-get/\1sudo apt-get/g' >"$root/commands"
	inside "su - someone -c 'set -e; . /commands'" >"$root.log" 2>&1
	made /home/someone
}

passes() {
	[ "$(commands 'test command' | wc -l)" -eq 1 ] || { echo "not one command"; return 1; }
	inside "/root/ptrace2ftf/.ci/run" >"$root.tests.log" 2>&1
	status=$?
	# Of a failed run, what .ci/run prints after the tests' own output.
	awk '/^== / { shown = 1 } shown' "$root.tests.log" | head -n 200
	[ $status -eq 0 ] && [ "$(sed -n 's/^# PASS: *//p' "$root.tests.log" | tail -n 1)" -gt 3000 ]
}

for suite in ${FRESH:-bookworm trixie}; do
	mkdir -p "$trees/packages-$suite/partial"
	# The tree's own /dev has the devices that debootstrap makes.
	mounts="mount --bind '$trees/packages-$suite' \"\$1/var/cache/apt/archives\""
	root=$trees/root-$suite
	rm -f "$root.tests.log"
	tap_check "$suite: README.md's commands, fewer than ten, end with a trace to open" as_root
	tap_check "$suite: README.md's test command passes" passes
	[ ! -f "$root.tests.log" ] || grep -aE '^# ([A-Z]*|CPU time|skipped): ' "$root.tests.log"
	tap_check "$suite: README.md's commands as a user with sudo" as_user
done
tap_done
