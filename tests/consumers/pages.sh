#!/bin/sh
# SPDX-License-Identifier: MIT
# Chromium uses the pages of --format=html and of why as a reader does: tests/consumers/pages.mjs.  Its name in CHROMIUM, or `chromium`.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
command -v node >/dev/null || tap_skip_all "no node"
browser=${CHROMIUM:-chromium}
command -v "$browser" >/dev/null || tap_skip_all "no $browser"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export HOME="$work" TMPDIR="$work"
timeout 300 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" \
	--dump-dom 'data:text/html,works' 2>/dev/null | grep -q works || tap_skip_all "$browser does not run here"
# The recording of `make demo`.
"$top_builddir/tests/ptsim/ptsim" record --cpus=2 --cyc --wakings -o demo.data -- \
	"$top_builddir/tests/programs/static/causes" lock 7 >/dev/null 2>messages || tap_skip_all "programs cannot be traced here: $(cat messages)"
"$program" -q -o calls.html demo.data && "$program" -q -f slices --args=none demo.data >slices &&
	"$program" -q -f functions --json demo.data >functions.json && "$program" why -q --symbol=request -o why.html demo.data &&
	"$program" why -q --symbol=request --json demo.data >why.json || exit 1
timeout 1200 node "$top_srcdir/tests/consumers/pages.mjs" . >jobs 2>messages || cat messages jobs | sed 's/^/# /'
while read -r status sentence; do
	[ "$status" = "#" ] && echo "# $sentence" || tap_ok "$status" "$sentence"
done <jobs
tap_check "all jobs were tried" grep -q ' the console of no page has an error$' jobs
tap_done
