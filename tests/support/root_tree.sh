#!/bin/sh
# SPDX-License-Identifier: MIT
# Sourced by shell tests that build in the root tree of a distribution, $root, as root.  debootstrap makes
# each distribution's base once, below the build directory, where the trees stay, too.
trees=$top_builddir/distributions
debian=$(sh "$top_srcdir/build-aux/debian-source" --mirror)
keys=/usr/share/keyrings
# What a tree has of this system beside /proc; $1: the tree.
mounts='mount -t sysfs sysfs "$1/sys" && mount --rbind /dev "$1/dev"'

root_tree_needs() { # skip all tests if trees cannot be made here
	[ "$(id -u)" = 0 ] || tap_skip_all "debootstrap and chroot need root"
	command -v debootstrap >/dev/null || tap_skip_all "no debootstrap: apt-get install debootstrap"
	git -C "$top_srcdir" rev-parse HEAD >/dev/null 2>&1 || tap_skip_all "no git repository to build the last commit of"
	unshare --mount --pid --fork true 2>/dev/null || tap_skip_all "no mount namespaces here"
}

make_base() { # SUITE MIRROR KEYRING: $base
	base=$trees/bases/$1
	[ ! -f "$base.made" ] || return 0
	rm -rf --one-file-system "$base"
	mkdir -p "$trees/bases"
	components=main
	script= # where debootstrap is older than the release; all of Ubuntu are the same
	case $2 in *ubuntu*) components=main,universe ;; esac
	[ -e "/usr/share/debootstrap/scripts/$1" ] || script=gutsy
	debootstrap --variant=minbase --components=$components --keyring="$3" "$1" "$base" "$2" $script \
		>"$base.log" 2>&1 || { tail -n 3 "$base.log"; return 1; }
	touch "$base.made"
}

# Make $root anew, with this system's options of apt: for a mirror that keeps a day of the past, and a proxy.
make_root() { # SUITE MIRROR KEYRING
	make_base "$@" && rm -rf --one-file-system "$root" && cp -ax --reflink=auto "$base" "$root" &&
		echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io" && # faster; trees are made anew
		apt-config dump | sed -nE '/^Acquire::(Check-(Valid-Until|Date)|https?::Proxy) /p' >"$root/etc/apt/apt.conf.d/00host"
}

inside() { # COMMANDS: in the tree, with processes of its own
	unshare --mount --pid --fork --kill-child sh -c '
		mount -t proc proc "$1/proc" && '"$mounts"' &&
			exec chroot "$1" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
			DEBIAN_FRONTEND=noninteractive sh -ec "$2"' inside "$root" "$1"
}
