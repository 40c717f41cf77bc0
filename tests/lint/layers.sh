#!/bin/sh
# SPDX-License-Identifier: MIT
# The folder table of doc/ARCHITECTURE.md is the architecture: each folder with code has a row,
# and includes point from a row to itself or to rows above.
. "${top_srcdir:-.}/tests/support/tap.sh"
cd "${top_srcdir:-.}" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find base decoder symbols writer reader overlays src -name '*.[ch]' | sort >"$work/files"
# "folder/" of the rows, in their order.
sed -n 's/^| `\([a-z_/]*\)\/` |.*/\1/p' doc/ARCHITECTURE.md >"$work/rows"
# "FILE INCLUDED", by paths from the top.
xargs grep -H '^#include "' <"$work/files" |
	sed -n 's/^\([^:]*\):#include "\(.*\)"/\1 \2/p' >"$work/includes"

has_a_row_for_each_folder() {
	sed 's#/[^/]*$##' "$work/files" | sort -u >"$work/folders"
	grep -E '^(base|decoder|symbols|writer|reader|overlays|src)(/|$)' "$work/rows" | sort >"$work/named"
	[ "$(wc -l <"$work/folders")" -gt 30 ] && diff "$work/folders" "$work/named"
}
tap_check "the folder table has a row for each folder with code, and no other" has_a_row_for_each_folder

includes_point_up() {
	! awk 'NR == FNR { row[$1] = NR; next }
		{ from = $1; sub(/\/[^\/]*$/, "", from); to = $2; sub(/\/[^\/]*$/, "", to) }
		$2 != "config.h" && !(to in row && row[to] <= row[from]) { print $1 " includes " $2 }
		' "$work/rows" "$work/includes" | grep .
}
tap_check "a folder includes only itself and folders above it in the table" includes_point_up

only() { # FOLDER ALLOWED-PATTERN
	! grep "^$1/" "$work/includes" | grep -Ev " ($2)" | grep .
}
tap_check "base includes only base" only base 'base/|config\.h'
for folder in decoder symbols writer reader overlays; do
	tap_check "$folder includes only base and itself" only $folder "base/|$folder/|config\\.h"
done

# libptflow is the decoder alone: it takes bytes, a code_source and a history, and no recording. Each header that it includes is checked as well.
decodes_bytes() {
	! grep -E '^decoder/((aux|clock|code|engine|ptflow)/([a-z]*/)?)?[a-z_]*\.[ch] ' "$work/includes" |
		grep -Ev ' (base/|decoder/[a-z_]*\.h|decoder/(aux|clock|code|engine|ptflow)/)' | grep .
}
tap_check "decoder/aux, clock, code, engine and ptflow know no recording" decodes_bytes

# An importer gets a file, a clock and a sink.
imports_files() {
	! grep -E '^src/overlays/overlay_(importer|input|trace_[a-z]*)\.[ch] ' "$work/includes" |
		grep -Ev ' (base/|overlays/|src/options/options\.h|src/slices/event_sink\.h|src/overlays/overlay_importer\.h)' |
		grep .
}
tap_check "importers of overlays know no recording" imports_files

# A .c file and its own header are one module.
has_no_circle() {
	sed 's/\.[ch]\>//g' "$work/includes" | awk '$1 != $2' | tsort 2>&1 >/dev/null | grep . && return 1
	sed -E 's#/[^/ ]+( |$)#\1#g' "$work/includes" | awk '$1 != $2' | tsort 2>&1 >/dev/null | grep . && return 1
	return 0
}
tap_check "includes form no circle, between folders or files" has_no_circle

has_few_files() {
	sed 's#/[^/]*$##' "$work/files" | sort | uniq -c | awk '$1 > 26 { print; bad = 1 } END { exit bad }'
}
tap_check "a folder holds one idea in few files" has_few_files
tap_done
