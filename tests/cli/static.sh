#!/bin/sh
# SPDX-License-Identifier: MIT
# make static's program is small, needs no shared library, and writes the same bytes as the usual
# program, in a root that has only the program, a recording and the recorded files.
# Builds everything again: for `make check-long`.
. "$top_srcdir/tests/support/tap.sh"
[ -n "$LONG" ] || tap_skip_all "builds all again: make check-long"
[ -x "$top_builddir/tests/ptsim/ptsim" ] || tap_skip_all "ptsim is not built: libzydis-dev is not installed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=$top_builddir/static/ptrace2ftf
root=$work/root

status=0
"$top_srcdir/build-aux/static" "$top_srcdir" "$top_builddir/static" \
	"$(sed -n 's/^CC = //p' "$top_builddir/Makefile")" >"$work/log" 2>&1 || status=$?
[ $status -ne 77 ] || tap_skip_all "$(tail -n 1 "$work/log")"
[ $status -eq 0 ] || tail "$work/log" | sed 's/^/# /'
tap_ok $status "make static makes a program"

alone() {
	! readelf -ld "$program" | grep -E 'NEEDED|INTERP'
}
tap_check "it needs no shared library and no loader" alone
small() {
	[ "$(wc -c <"$program")" -lt $((12 << 20)) ] || { ls -l "$program"; return 1; }
}
tap_check "it is under 12 MiB" small
says() {
	"$program" --version | grep -q '^static: without --debuginfod' &&
		"$program" --version | grep -q 'no `ptrace2ftf open`'
}
tap_check "--version says what it lacks" says

recorded() { # NAME: into a root of its own, with the files that it maps
	rm -rf "$root"
	mkdir -p "$root/tmp"
	"$top_builddir/tests/ptsim/ptsim" record --cpus=2 -o "$root/perf.data" -- \
		"$top_builddir/tests/programs/$1" >"$work/log" 2>&1 || return 1
	for file in "$top_builddir/tests/programs/$1" $(ldd "$top_builddir/tests/programs/$1" 2>/dev/null |
		grep -o '/[^ ]*'); do
		file=$(realpath "$file")
		mkdir -p "$root$(dirname "$file")"
		cp "$file" "$root$file"
	done
	cp "$program" "$root/ptrace2ftf"
}
same() { # NAME OPTIONS...
	recorded "$1" || { cat "$work/log"; return 1; }
	shift
	"$top_builddir/ptrace2ftf" -q --symfs="$root" "$@" "$root/perf.data" -o "$work/usual"
	usual=$?
	$alone_in "$root" /ptrace2ftf -q --symfs=/ "$@" /perf.data -o /tmp/static
	[ $? -eq $usual ] && [ $usual -ne 1 ] || { echo "status $usual, in the tree another"; return 1; }
	[ "$(wc -c <"$work/usual")" -gt 1000 ] && cmp "$work/usual" "$root/tmp/static"
}
alone_in=
if [ "$(id -u)" = 0 ]; then
	alone_in=chroot
elif unshare -r true 2>/dev/null; then
	alone_in="unshare -r chroot"
else
	tap_skip "in a folder tree of its own" "neither root nor user namespaces"
	tap_done
fi
for name in static/threads inlined except; do
	for options in --format=ftf '--format=slices --inline' '--format=functions -j 4'; do
		# shellcheck disable=SC2086 # a list of words
		tap_check "$name in a tree with nothing else, $options: the same bytes" same $name $options
	done
done
no_servers() {
	recorded inlined || return 1
	$alone_in "$root" /ptrace2ftf --debuginfod /perf.data -o /tmp/out.ftf 2>"$work/err"
	[ $? -eq 2 ] && grep -q 'cannot ask the servers in DEBUGINFOD_URLS: this is the static program' "$work/err"
}
tap_check "--debuginfod is a warning that says why servers cannot be asked" no_servers
tap_done
