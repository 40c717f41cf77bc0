#!/bin/sh
# SPDX-License-Identifier: MIT
# make release: the archive has the same bytes twice, and checksums, notices and the SPDX document have
# all that they are of.  Builds everything: for `make check-long`.
. "$top_srcdir/tests/support/tap.sh"
[ -n "$LONG" ] || tap_skip_all "builds all again: make check-long"
command -v jq >/dev/null || tap_skip_all "no jq"
git -C "$top_srcdir" rev-parse HEAD >/dev/null 2>&1 || tap_skip_all "no git repository to release"
release=$top_builddir/release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

releases() { # UMASK
	(umask "$1" && make -C "$top_builddir" release) >"$work/log" 2>&1 || { tail -n 5 "$work/log"; return 1; }
	cat "$release"/*.tar.xz | sha256sum >"$work/archive.$1" # a shell need not expand a redirection
}
releases 022 || { cat "$work/log"; tap_skip_all "$(tail -n 1 "$work/log")"; }
same_archive() {
	releases 002 && cmp "$work/archive.022" "$work/archive.002"
}
tap_check "the archive has the same bytes with another umask and at another time" same_archive
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
tap_check "notices and SPDX document have the libraries of the static program" lists
tap_done
