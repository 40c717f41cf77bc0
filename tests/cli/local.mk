# SPDX-License-Identifier: MIT
cli_tests = tests/cli/batch.sh tests/cli/errors.sh tests/cli/forms.sh tests/cli/ftfdump.sh \
	tests/cli/libftf.sh tests/cli/output.sh
TESTS += $(cli_tests)
dist_noinst_SCRIPTS += $(cli_tests)
