#!/bin/sh
# SPDX-License-Identifier: MIT
# decoder, symbols, writer, reader and overlays include only base and themselves; src
# includes all; nothing includes tests.
. "${top_srcdir:-.}/tests/support/tap.sh"
cd "${top_srcdir:-.}" || exit 1

includes() { # FOLDER ALLOWED-PATTERN: prints what is not allowed
	grep -n '^#include "' $(find "$1" -name "*.[ch]") /dev/null 2>/dev/null |
		grep -Ev "#include \"($2)" && return 1
	return 0
}

tap_check "base includes only base" includes base 'base/|config\.h'
for folder in decoder symbols writer reader overlays; do
	[ -d $folder ] || continue
	tap_check "$folder includes only base and itself" includes $folder "base/|$folder/|config\\.h"
done
tap_check "src does not include tests" includes src 'src/|base/|decoder/|symbols/|writer/|overlays/|config\.h'
tap_done
