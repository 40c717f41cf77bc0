#!/bin/sh
# SPDX-License-Identifier: MIT
# clang-format changes nothing. Its releases differ, so the test needs the release that the
# tree follows.
. "${top_srcdir:-.}/tests/support/tap.sh"
cd "${top_srcdir:-.}" || exit 1

is_formatted() {
	find base decoder symbols writer reader overlays src tests -name '*.[ch]' ! -name '*.pb-c.[ch]' | sort |
		xargs -n 40 clang-format --dry-run -Werror
}

case $(clang-format --version 2>/dev/null) in
*' version 14.'*) tap_check "every C file is laid out as .clang-format says" is_formatted ;;
*) tap_skip "every C file is laid out as .clang-format says" "no clang-format 14" ;;
esac
tap_done
