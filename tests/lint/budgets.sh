#!/bin/sh
# SPDX-License-Identifier: MIT
# The table of doc/BUDGETS.md: each row names an existing test, and each constant of base/budget.h has
# a row.
. "${top_srcdir:-.}/tests/support/tap.sh"
top=${top_srcdir:-.}
table=$top/doc/BUDGETS.md

rows() {
	sed -n '/^|---/,/^$/p' "$table" | sed '1d;/^$/d'
}
every_row_has_a_test() {
	[ "$(rows | wc -l)" -ge 15 ] || return 1
	bad=0
	while read -r row; do
		tests=$(echo "$row" | sed 's/|$//; s/.*|//' | tr '`' '\n' | grep '^tests/')
		[ -n "$tests" ] || { echo "no test: $row"; bad=1; }
		for test in $tests; do
			[ -f "$top/$test" ] || { echo "$test: not there"; bad=1; }
		done
	done <<-END
		$(rows)
	END
	return $bad
}
tap_check "each budget has a test that is there" every_row_has_a_test
every_constant_has_a_row() {
	bad=0
	constants=$(sed -n 's/^#define \([A-Z_]*\) .*/\1/p' "$top/base/budget.h")
	[ "$(echo "$constants" | wc -l)" -ge 10 ] || return 1
	for constant in $constants; do
		rows | grep -qF "\`$constant\`" || { echo "$constant: no row"; bad=1; }
	done
	for constant in $(rows | grep -o '`[A-Z]*_[A-Z_]*`' | tr -d '`'); do
		echo "$constants" | grep -qx "$constant" || { echo "$constant: no constant"; bad=1; }
	done
	return $bad
}
tap_check "each constant of base/budget.h is a budget of the table, and no other" every_constant_has_a_row
# Sets that the sweep makes: "(names)" after the sweep's name.
sets_are_there() {
	bad=0
	for set in $(rows | sed -n 's/.*`tests\/sweep\/sweep.sh` (\([^)]*\)).*/\1/p' | tr -d ,); do
		grep -qw "$set" "$top/tests/sweep/sweep.sh" || { echo "$set: no set"; bad=1; }
	done
	return $bad
}
tap_check "the sets that it names are those of the sweep" sets_are_there
tap_done
