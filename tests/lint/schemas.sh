#!/bin/sh
# SPDX-License-Identifier: MIT
# Text that is printed from JSON (src/formats/text/json_print.h) shows fields of the schemas in doc/.
. "${top_srcdir:-.}/tests/support/tap.sh"
cd "${top_srcdir:-.}" || exit 1

fields() { # {TITLE=KEY:WIDTHKIND}
	grep -rl '^#include "src/formats/text/json_print\.h"' src | grep -v /json_print | xargs cat |
		grep -oE '\{([a-z ]+=)?[a-z][a-z0-9_.]*(\?|:>?-?[0-9]*[a-z]?)?\}' | sed -E 's/^\{([^=]*=)?([^?:}]*).*/\2/' | sort -u
}
are_in_schemas() {
	fields | while read -r key; do
		grep -qE "\"$key(_ns|_insns)?\": \{" doc/*.schema.json || echo "$key"
	done | grep . && return 1
	[ "$(fields | wc -l)" -gt 40 ]
}
tap_check "each column and field of text is in a JSON Schema" are_in_schemas
kinds_are_in_the_schema() {
	sed -n 's/.*add_\(code_\)*fact([a-z]*, "\([^"]*\)".*/\2/p' src/formats/answers/code_causes.c | sort -u | {
		bad=0
		count=0
		while read -r kind; do
			count=$((count + 1))
			grep '"first use"' doc/summary.schema.json | grep -qF "\"$kind\"" || { echo "$kind"; bad=1; }
		done
		[ "$count" -gt 4 ] && [ "$bad" -eq 0 ]
	}
}
tap_check "each kind of a fact about slow calls is in the JSON Schema" kinds_are_in_the_schema
tap_done
