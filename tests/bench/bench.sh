#!/bin/sh
# SPDX-License-Identifier: MIT
# bench.sh SOURCE: the first section of tests/bench/README.md, as a page on stdout. PARTS chooses among
# instructions and costs, which a busy machine does not change, and times, which need an idle one.
# Run by `make bench`.
set -eu
source=$1
LEFT_OUT=$(mktemp)
trap 'rm -f "$LEFT_OUT"' EXIT
export LEFT_OUT

version() { # PROGRAM: prints a comma, and the last word of the first line
	! command -v "$1" >/dev/null || "$1" --version 2>&1 | sed -n '1s/^.*[ /]/, /p'
}

echo "$(date +'%B %-d, %Y'), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sed -n 1p), $(nproc) CPUs," \
	"load $(cut -d' ' -f1 /proc/loadavg): $(./ptrace2ftf --version | sed -n 1p)$(version "${PTXED:-ptxed}")$(
	version perf | sed 's/,/, perf/')."
for part in ${PARTS:-instructions costs times}; do
	"$source/tests/bench/$part.sh" "$source"
done
if [ -s "$LEFT_OUT" ]; then
	printf '\nLeft out:\n\n'
	sort -u "$LEFT_OUT" | sed 's/^/- /'
fi
