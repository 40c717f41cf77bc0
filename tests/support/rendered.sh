# SPDX-License-Identifier: MIT
# Sourced by shell tests: render manual pages.

renderers() { # prints those of groff and mandoc that are installed
	command -v groff >/dev/null && echo groff
	command -v mandoc >/dev/null && echo mandoc
	return 0
}

rendered() { # RENDERER PAGE: prints the page as UTF-8 text of 80 columns, without bold and underlined
	case $1 in
	groff) groff -K utf8 -mandoc -Tutf8 -P-cbou "$2" ;;
	mandoc) LC_ALL=C.UTF-8 mandoc -T utf8 -O width=80 "$2" | LC_ALL=C.UTF-8 sed 's/.\x08//g' ;;
	esac
}
