# SPDX-License-Identifier: MIT
lint_tests = tests/lint/budgets.sh tests/lint/completions.sh tests/lint/format.sh tests/lint/layers.sh \
	tests/lint/manual.sh tests/lint/messages.sh tests/lint/model.sh tests/lint/options.sh tests/lint/schemas.sh tests/lint/sources.sh \
	tests/lint/words.sh
TESTS += $(lint_tests)
dist_noinst_SCRIPTS += $(lint_tests)
EXTRA_DIST += tests/lint/model.tests
