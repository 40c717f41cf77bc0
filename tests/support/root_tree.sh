# SPDX-License-Identifier: MIT
# Sourced by shell tests that build in the root tree of a distribution, $root, as root.

inside() { # COMMANDS: in the tree, with processes of its own
	unshare --mount --pid --fork sh -c '
		mount -t proc proc "$1/proc" && mount -t sysfs sysfs "$1/sys" && mount --rbind /dev "$1/dev" &&
			exec chroot "$1" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
			DEBIAN_FRONTEND=noninteractive sh -ec "$2"' inside "$root" "$1"
}

use_host_mirror() { # a mirror that keeps a day of the past: as this system's apt takes it
	apt-config dump | grep -E '^Acquire::Check-(Valid-Until|Date) ' >"$root/etc/apt/apt.conf.d/00host"
}
