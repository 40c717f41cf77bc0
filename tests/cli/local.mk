# SPDX-License-Identifier: MIT
cli_tests = tests/cli/errors.sh tests/cli/filter.sh tests/cli/forms.sh tests/cli/ftfdump.sh tests/cli/libftf.sh \
	tests/cli/output.sh tests/cli/select.sh tests/cli/split.sh tests/cli/views.sh
TESTS += $(cli_tests)
dist_noinst_SCRIPTS += $(cli_tests)
EXTRA_DIST += tests/cli/functions.awk
