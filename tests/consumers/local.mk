# SPDX-License-Identifier: MIT
# Each format through its real readers, of which many are no package of the system: not in `make check`.
# Besides the scripts here those of other folders that ask a reader.
consumer_tests = tests/consumers/viewers.sh tests/consumers/compilers.sh tests/consumers/references.sh \
	tests/consumers/pages.sh tests/consumers/perfetto.sh tests/consumers/perfetto_sql.sh tests/consumers/fleet.sh
dist_noinst_SCRIPTS += $(consumer_tests)
EXTRA_DIST += tests/consumers/fleet.mjs tests/consumers/browser.mjs tests/consumers/pages.mjs tests/consumers/perfetto.mjs tests/consumers/perfetto_ui.mjs tests/consumers/speedscope.js tests/consumers/trace_processor.mjs tests/consumers/sql_viewer.py tests/consumers/QtSql.py tests/consumers/sums.py
consumer_others = tests/cli/sqlite.sh tests/cli/pprof.sh tests/cli/callgrind.sh tests/cli/compilers.sh tests/cli/lcov.sh \
	tests/oracle/trace_processor.sh tests/lint/completions.sh
check-consumers: all $(check_PROGRAMS) $(check_DATA)
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(consumer_tests) $(consumer_others)'
.PHONY: check-consumers
