#!/bin/sh
# SPDX-License-Identifier: MIT
# Every source file says its licence, and none has unfinished business.
. "${top_srcdir:-.}/tests/support/tap.sh"
cd "${top_srcdir:-.}" || exit 1

sources() {
	find base src decoder symbols writer reader overlays tests man m4 completions doc configure.ac Makefile.am build-aux/bootstrap \
		build-aux/git-version -type f \
		\( -name '*.[ch]' -o -name '*.cpp' -o -name '*.sh' -o -name '*.awk' -o -name '*.mk' -o -name '*.[13]' -o -name "_ptrace2ftf" -o -name "*.bash" -o -name "*.fish" \
		-o -name '*.7' -o -name 'p2f-*.m4' -o -name configure.ac -o -name Makefile.am -o -path 'build-aux/*' \) 2>/dev/null
}

has_licence() {
	missing=$(sources | xargs grep -L 'SPDX-License-Identifier: ')
	[ -z "$missing" ] || { echo "$missing"; return 1; }
}

is_finished() {
	! sources | grep -v tests/lint | xargs grep -nwE 'TODO|FIXME|[X]XX'
}

has_header_guard() {
	missing=$(sources | grep '\.h$' | xargs grep -L '^#ifndef ')
	[ -z "$missing" ] || { echo "$missing"; return 1; }
}

tap_check "every source file has an SPDX line" has_licence
tap_check "no source file is marked unfinished" is_finished
tap_check "every header has an include guard" has_header_guard
tap_done
