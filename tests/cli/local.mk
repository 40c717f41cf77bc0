# SPDX-License-Identifier: MIT
cli_tests = tests/cli/batch.sh tests/cli/errors.sh tests/cli/forms.sh tests/cli/ftfdump.sh \
	tests/cli/install.sh tests/cli/libftf.sh tests/cli/output.sh
TESTS += $(cli_tests)
# Only in `make check-long`.
cli_long_tests = tests/cli/cluster.sh tests/cli/fresh.sh tests/cli/package.sh
EXTRA_DIST += doc/batch.md
dist_noinst_SCRIPTS += $(cli_tests) $(cli_long_tests)
