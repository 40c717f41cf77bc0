#!/bin/sh
# SPDX-License-Identifier: MIT
# make release: all files have the same bytes twice; checksums, notices and the SPDX document have all that they are of;
# and what each file installs answers README.md's question, in a bare Debian 12 or 13, or in a tree with nothing else.
# Builds everything twice, in trees: `make check-release`.
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/support/root_tree.sh"
[ -n "$LONG" ] || tap_skip_all "builds all again: make check-release"
command -v jq >/dev/null || tap_skip_all "no jq"
root_tree_needs
release=$top_builddir/release
version=$(sed -n 's/^VERSION = //p' "$top_builddir/Makefile")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

unnamed() {
	git clone -q "$top_srcdir" "$work/clone" && echo >>"$work/clone/README.md" &&
		case $("$work/clone/build-aux/git-version") in *-dirty) ;; *) return 1 ;; esac
}
tap_check "a changed source does not have the version of its commit" unnamed
releases() { # UMASK
	(umask "$1" && make -C "$top_builddir" release) >"$work/log" 2>&1 || { tail -n 20 "$work/log"; return 1; }
	cp "$release/SHA256SUMS" "$work/sums.$1"
}
tap_check "make release makes all files" releases 022
[ $tap_status -eq 0 ] || tap_done
same() {
	releases 002 && diff "$work/sums.022" "$work/sums.002"
}
tap_check "each file has the same bytes with another umask and at another time" same
sums() {
	(cd "$release" && sha256sum --quiet -c SHA256SUMS) && [ "$(wc -l <"$release/SHA256SUMS")" -eq "$(($(ls "$release" | wc -l) - 1))" ]
}
tap_check "SHA256SUMS has every file" sums
# libiberty, of which no archive of its own is linked, among them.
lists() {
	for library in elfutils glibc intel-processor-trace libdeflate libiberty libzstd zlib; do
		jq -e --arg name $library '.relationships[] | select(.relationshipType == "STATIC_LINK" and
			(.relatedSpdxElement | startswith("SPDXRef-" + $name)))' "$release"/*.spdx.json >/dev/null &&
			grep -q "^==== $library " "$release"/*-third-party-notices.txt || { echo "no $library"; return 1; }
	done
}
tap_check "notices and SPDX document have the libraries of the static programs" lists

# What the planted cause is: tests/programs/causes.c.
answers() { # COMMAND...: prints the answer to README.md's question
	"$@" >"$work/answer" 2>&1
	status=$?
	grep -q '^request: [0-9]* of 1000 calls longer than ' "$work/answer" && grep -q '^1. use_lock (causes.c:.* in futex()$' "$work/answer" &&
		[ $status -eq 0 ] || { echo "status $status"; tail -n 20 "$work/answer"; return 1; }
}
bare() { # SUITE FILE...: $root, with files of the release
	root=$trees/installed
	mkdir -p "$trees/packages-$1/partial"
	# The tree's own /dev has the devices that debootstrap makes.
	mounts="mount --bind '$trees/packages-$1' \"\$1/var/cache/apt/archives\""
	make_root "$1" "$debian" $keys/debian-archive-keyring.gpg && mkdir "$root/RELEASE" || return 1
	shift
	cp "$@" "$root/RELEASE/"
}
# The formats that need libraries, too.
runs() {
	tar -xf "$release"/*-demo.tar.xz -C "$root/root" &&
		answers inside "cd; ptrace2ftf why -q --symfs=. --symbol=request demo/demo.data" &&
		inside 'cd; ptrace2ftf -q --symfs=. demo/demo.data -o x.pb.gz && ptrace2ftf -q --symfs=. demo/demo.data -o x.sqlite &&
			ptrace2ftf -q --symfs=. -f insns --symbol=request demo/demo.data | grep -q "\<call"
			ptrace2ftf -q --symfs=. demo/demo.data -o demo.ftf && ftfdump --check demo.ftf' >"$work/log" 2>&1 || { tail -n 5 "$work/log"; return 1; }
}
# README.md's line, and the commands of its picture.
installs() { # SUITE NUMBER
	bare "$1" "$release"/*+deb"$2"_amd64.deb && inside "apt-get update -q && apt-get install -y -q curl" >"$work/log" 2>&1 || return 1
	sed -n '/^<!-- deb command -->$/,/^```$/p' "$top_srcdir/README.md" | sed "/^<!--\|^\`\`\`/d; s/sudo //
		s/RELEASE/file:\/\/\/RELEASE/; s/ptrace2ftf_[^ ]*_amd64\.deb/$(cd "$release" && echo ptrace2ftf_*+deb"$2"_amd64.deb)/g" >"$root/command"
	cat "$root/command"
	[ "$(wc -l <"$root/command")" -eq 1 ] && inside "cd; . /command" >"$work/log" 2>&1 || { tail -n 5 "$work/log"; return 1; }
	runs || return 1
	sed -n 's/.*class="command".*>\$ \(.*\)<\/text>/\1/p' "$top_srcdir/doc/first-minute.svg" >"$root/commands"
	[ "$(wc -l <"$root/commands")" -ge 3 ] && inside "cd; set -x; . /commands" >"$work/log" 2>&1 || { tail -n 5 "$work/log"; return 1; }
	inside "apt-get remove -y -q ptrace2ftf" >"$work/log" 2>&1 && [ ! -e "$root/usr/share/ptrace2ftf" ]
}
# debian/tests, with the packages' programs and libraries.
tests_pass() { # COMMANDS: install the files in /RELEASE
	tar -xf "$release"/ptrace2ftf-"$version".tar.xz -C "$root/RELEASE" || return 1
	inside "apt-get update -q; apt-get install -y -q --no-install-recommends gcc libc6-dev pkg-config; $1
		cd /RELEASE/ptrace2ftf-$version
		for test in debian/tests/converts debian/tests/library debian/tests/records; do \$test; done" >"$work/log" 2>&1 ||
		{ tail -n 5 "$work/log"; return 1; }
}
debs() { # SUITE NUMBER
	bare "$1" "$release"/*+deb"$2"_amd64.deb && tests_pass "apt-get install -y -q --no-install-recommends /RELEASE/*.deb" &&
		inside "apt-get remove -y -q ptrace2ftf ptsim libftf1 libptflow1" >"$work/log" 2>&1 &&
		[ -z "$(find "$root/usr" -name '*ptsim*' -o -name '*ptflow*' -o -name '*libftf*')" ]
}
tap_check "Debian 12: README.md's line installs the package, which answers" installs bookworm 12
tap_check "Debian 12: all packages install, pass debian/tests, and are removed" debs bookworm 12
tap_check "Debian 13: README.md's line installs the package, which answers" installs trixie 13
tap_check "Debian 13: all packages install, pass debian/tests, and are removed" debs trixie 13

# Fedora's libraries have the same sonames as Debian's, from which they come here; its folder is not Debian's.
rpm_runs() {
	bare bookworm "$release"/*.x86_64.rpm && tests_pass 'apt-get install -y -q --no-install-recommends rpm \
			libdw1 libjansson4 libipt2 libdeflate0 libxxhash0 libprotobuf-c1 libsqlite3-0 libcapstone4 libzydis4.0 libzstd-dev zlib1g-dev
		rpm -i --nodeps /RELEASE/*.rpm; export PKG_CONFIG_PATH=/usr/lib64/pkgconfig LD_LIBRARY_PATH=/usr/lib64' && runs
}
tap_check "the RPMs pass debian/tests, have all formats, and answer" rpm_runs

# Containerfile's image; a chroot takes the place of its run.
contains() {
	# buildah wants a root that is mounted.
	bare bookworm "$release"/Containerfile "$release"/*-static-x86_64 && mounts="$mounts && mount --rbind \"\$1\" \"\$1\"" && inside 'apt-get update -q; apt-get install -y -q --no-install-recommends buildah
		b="buildah --storage-driver=vfs"
		$b build --isolation=chroot -t image /RELEASE; $b mount "$($b from image)" >/image' >"$work/log" 2>&1 || { tail -n 5 "$work/log"; return 1; }
	image=$(cat "$root/image")
	tar -xf "$release"/*-demo.tar.xz -C "$root$image/data" &&
		answers inside "chroot $image /ptrace2ftf why -q --symfs=/data --symbol=request /data/demo/demo.data"
}
tap_check "the Containerfile makes an image, whose program answers" contains

alone() { # MACHINE [QEMU]
	root=$work/root
	rm -rf "$root" && mkdir -p "$root/tmp" && cp "$release"/ptrace2ftf-*-static-"$1" "$root/ptrace2ftf" && tar -xf "$release"/*-demo.tar.xz -C "$root" || return 1
	[ -z "$2" ] || cp "$2" "$root/qemu" || return 1
	# qemu-user has no Landlock.
	answers chroot "$root" ${2:+/qemu} /ptrace2ftf why ${2:+--sandbox=off} -q --symfs=/ --symbol=request /demo/demo.data
}
tap_check "the static program answers, with nothing else" alone x86_64
qemu=$(command -v qemu-aarch64-static)
if [ "$qemu" ]; then
	tap_check "the static program for arm64 answers, with qemu and nothing else" alone aarch64 "$qemu"
else
	tap_skip "the static program for arm64 answers" "no qemu-aarch64-static: apt-get install qemu-user-static"
fi
tap_done
