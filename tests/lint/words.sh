#!/bin/sh
# SPDX-License-Identifier: MIT
# Names, comments, messages and manuals use the terms of doc/GLOSSARY.md, and not the words
# below.
. "${top_srcdir:-.}/tests/support/tap.sh"
cd "${top_srcdir:-.}" || exit 1

banned='tells?|told|telling|go(es)? on|going on|went on|stands?|stood|gives? out|gave out|given out|giving out|puts? down'
banned="$banned|deals? out|dealt out|walk(s|ed|ing|er)?"

# A word ends where its letters end, so it is also found in a part of an identifier.
has_banned() {
	find "$@" -type f \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.sh' -o -name '*.awk' -o -name '*.mk' \
		-o -name '*.md' -o -name '*.[137]' -o -name '*.json' \) ! -path 'tests/lint/words.sh' |
		xargs grep -niE "(^|[^a-z])($banned)([^a-z]|\$)" | grep -vE 'twalk|json_walk'
}

for place in base decoder symbols writer reader overlays src man doc tests README.md CONTRIBUTING.md SECURITY.md; do
	uses_terms() {
		! has_banned $place | head -n 20 | grep .
	}
	tap_check "$place uses the field's terms" uses_terms
done

# "| term | meaning | source |"
glossary_has_sources() {
	rows=$(grep -c '^| \*\*' doc/GLOSSARY.md)
	bad=$(grep '^| \*\*' doc/GLOSSARY.md | awk -F'|' 'NF != 5 || $4 ~ /^ *$/')
	[ "$rows" -ge 40 ] && [ -z "$bad" ] && return 0
	echo "$rows rows; without a source: $bad"
	return 1
}
tap_check "each term of the glossary has a meaning and a source" glossary_has_sources
tap_done
