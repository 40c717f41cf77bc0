#!/bin/sh
# SPDX-License-Identifier: MIT
# make dist's tarball builds without git, and Debian packages are made of it.
# Builds everything twice: for `make check-long`.
. "$top_srcdir/tests/support/tap.sh"
[ -n "$LONG" ] || tap_skip_all "takes minutes: make check-long"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Whoever asks git gets no answer.
mkdir "$work/bin"
printf '#!/bin/sh\nexit 127\n' >"$work/bin/git"
chmod +x "$work/bin/git"

name=ptrace2ftf-$(sed -n 's/^VERSION = //p' "$top_builddir/Makefile")
unpacks() {
	make -C "$top_builddir" dist-xz >"$work/log" 2>&1 || { tail -5 "$work/log"; return 1; }
	tar -C "$work" -xf "$top_builddir/$name.tar.xz" && mv "$top_builddir/$name.tar.xz" "$work/" && mv "$work/$name" "$work/ptrace2ftf"
}
builds() {
	(mkdir "$work/build" && cd "$work/build" && PATH="$work/bin:$PATH" && ../ptrace2ftf/configure && make -j2) \
		>"$work/log" 2>&1 || { tail -5 "$work/log"; return 1; }
	[ "$("$work/build/ptrace2ftf" --version | head -n 1)" = "$("$top_builddir/ptrace2ftf" --version | head -n 1)" ]
}
tap_check "make dist makes a tarball" unpacks
tap_check "it builds without git, and knows its version" builds

rpms() {
	rpmbuild -tb --nodeps --define "_topdir $work/rpm" --define '_smp_mflags -j2' "$work/$name.tar.xz" \
		>"$work/log" 2>&1 || { tail -5 "$work/log"; return 1; }
	[ "$(find "$work/rpm/RPMS" -name '*.rpm' | sed 's#.*/##; s/-[0-9].*//' | sort | tr '\n' ' ')" = "libftf libftf-devel libptflow libptflow-devel ptrace2ftf ptsim " ] &&
		rpm -qlp "$work"/rpm/RPMS/x86_64/ptrace2ftf-*.rpm | grep -q '^/usr/bin/ptrace2ftf$'
}
if command -v rpmbuild >/dev/null; then
	tap_check "rpmbuild makes the packages of the tarball" rpms
else
	tap_skip "rpmbuild makes the packages of the tarball" "no rpmbuild: apt-get install rpm"
fi

for tool in dpkg-buildpackage dh lintian; do
	if ! command -v $tool >/dev/null; then
		tap_skip "Debian packages" "no $tool"
		tap_done
	fi
done

packages() {
	(cd "$work/ptrace2ftf" && PATH="$work/bin:$PATH" DEB_BUILD_OPTIONS="nocheck parallel=2" dpkg-buildpackage -Pnocheck -us -uc -b) \
		>"$work/log" 2>&1 || { tail -20 "$work/log"; return 1; }
	for name in ptrace2ftf ptsim libftf1 libftf-dev libptflow1 libptflow-dev; do
		dpkg-deb -c "$work/${name}"_*.deb | awk -v p=$name '!/\/$/ { print p, $6 }'
	done | sed "s#lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)/#lib/*/#" | grep -v 'share/doc' | sort >"$work/files"
	diff - "$work/files" <<-'END'
	libftf-dev ./usr/include/ftf.h
	libftf-dev ./usr/lib/*/libftf.a
	libftf-dev ./usr/lib/*/libftf.so
	libftf-dev ./usr/lib/*/pkgconfig/libftf.pc
	libftf-dev ./usr/share/man/man3/libftf.3.gz
	libftf1 ./usr/lib/*/libftf.so.1
	libftf1 ./usr/lib/*/libftf.so.1.0.0
	libptflow-dev ./usr/include/ptflow.h
	libptflow-dev ./usr/lib/*/libptflow.so
	libptflow-dev ./usr/lib/*/pkgconfig/libptflow.pc
	libptflow-dev ./usr/share/man/man3/libptflow.3.gz
	libptflow1 ./usr/lib/*/libptflow.so.1
	libptflow1 ./usr/lib/*/libptflow.so.1.0.0
	ptrace2ftf ./usr/bin/ftfdump
	ptrace2ftf ./usr/bin/ptrace2ftf
	ptrace2ftf ./usr/share/applications/ptrace2ftf.desktop
	ptrace2ftf ./usr/share/bash-completion/completions/ptrace2ftf
	ptrace2ftf ./usr/share/fish/vendor_completions.d/ptrace2ftf.fish
	ptrace2ftf ./usr/share/man/man1/ftfdump.1.gz
	ptrace2ftf ./usr/share/man/man1/ptrace2ftf-annotate.1.gz
	ptrace2ftf ./usr/share/man/man1/ptrace2ftf-diff.1.gz
	ptrace2ftf ./usr/share/man/man1/ptrace2ftf-list.1.gz
	ptrace2ftf ./usr/share/man/man1/ptrace2ftf-open.1.gz
	ptrace2ftf ./usr/share/man/man1/ptrace2ftf-pack.1.gz
	ptrace2ftf ./usr/share/man/man1/ptrace2ftf-record.1.gz
	ptrace2ftf ./usr/share/man/man1/ptrace2ftf-watch.1.gz
	ptrace2ftf ./usr/share/man/man1/ptrace2ftf-why.1.gz
	ptrace2ftf ./usr/share/man/man1/ptrace2ftf.1.gz
	ptrace2ftf ./usr/share/man/man7/ptrace2ftf.7.gz
	ptrace2ftf ./usr/share/mime/packages/ptrace2ftf.xml
	ptrace2ftf ./usr/share/ptrace2ftf/answer.schema.json
	ptrace2ftf ./usr/share/ptrace2ftf/batch-line.schema.json
	ptrace2ftf ./usr/share/ptrace2ftf/diff-first.schema.json
	ptrace2ftf ./usr/share/ptrace2ftf/diff.schema.json
	ptrace2ftf ./usr/share/ptrace2ftf/perfetto/ptrace2ftf/calls.sql
	ptrace2ftf ./usr/share/ptrace2ftf/perfetto/ptrace2ftf/functions.sql
	ptrace2ftf ./usr/share/ptrace2ftf/perfetto/ptrace2ftf/slow_calls.sql
	ptrace2ftf ./usr/share/ptrace2ftf/perfetto/summary.textproto
	ptrace2ftf ./usr/share/ptrace2ftf/record-check.schema.json
	ptrace2ftf ./usr/share/ptrace2ftf/slow-index.schema.json
	ptrace2ftf ./usr/share/ptrace2ftf/summary.schema.json
	ptrace2ftf ./usr/share/ptrace2ftf/why-merged.schema.json
	ptrace2ftf ./usr/share/zsh/vendor-completions/_ptrace2ftf
	ptsim ./usr/bin/ptsim
	ptsim ./usr/share/man/man1/ptsim.1.gz
	END
}
tap_check "dpkg-buildpackage makes the packages, with all files" packages
knows_its_version() {
	dpkg-deb -x "$work"/ptrace2ftf_*.deb "$work/installed" &&
		[ "$("$work/installed/usr/bin/ptrace2ftf" --version | head -n 1)" = "ptrace2ftf $(dpkg-deb -f "$work"/ptrace2ftf_*.deb Version)" ]
}
tap_check "the packaged program has the package's version" knows_its_version
cleans() {
	(cd "$work/ptrace2ftf" && debian/rules clean) >"$work/log" 2>&1 || { tail -20 "$work/log"; return 1; }
	(cd "$work/ptrace2ftf" && find . ! -name . ! -path './debian/files' | sort) >"$work/left"
	tar -tf "$work/$name.tar.xz" | sed -n 's#/$##; s#^[^/]*/#./#p' | sort | comm -13 - "$work/left" | grep . && return 1
	return 0
}
tap_check "debian/rules clean leaves the source" cleans
tap_check "lintian finds no errors" lintian --fail-on error --tag-display-limit 0 --allow-root "$work"/ptrace2ftf_*.changes
tap_done
