# SPDX-License-Identifier: MIT
cli_tests = \
	tests/cli/callgrind.sh tests/cli/compilers.sh tests/cli/within.sh \
	tests/cli/batch.sh \
	tests/cli/effects.sh \
	tests/cli/errors.sh \
	tests/cli/examples.sh \
	tests/cli/filter.sh \
	tests/cli/fit.sh \
	tests/cli/forms.sh \
	tests/cli/ftfdump.sh \
	tests/cli/hardening.sh \
	tests/cli/html.sh \
	tests/cli/install.sh \
	tests/cli/instructions.sh \
	tests/cli/interrupt.sh \
	tests/cli/libftf.sh \
	tests/cli/libptflow.sh \
	tests/cli/max_stack.sh \
	tests/cli/messages.sh \
	tests/cli/missing.sh \
	tests/cli/open.sh \
	tests/cli/annotate.sh tests/cli/lcov.sh \
	tests/cli/open_browser.sh tests/cli/order.sh \
	tests/cli/costs.sh \
	tests/cli/option_costs.sh \
	tests/cli/options.sh \
	tests/cli/output.sh \
	tests/cli/pprof.sh \
	tests/cli/progress.sh \
	tests/cli/safety.sh \
	tests/cli/record.sh tests/cli/record_slow.sh \
	tests/cli/select.sh tests/cli/settings.sh \
	tests/cli/slowest.sh \
	tests/cli/line_cache.sh \
	tests/cli/limit.sh tests/cli/counters.sh tests/cli/clock.sh tests/cli/split.sh tests/cli/sqlite.sh \
	tests/cli/summary.sh tests/cli/tasks.sh \
	tests/cli/valgrind.sh \
	tests/cli/uprobes.sh tests/cli/views.sh \
	tests/cli/list.sh tests/cli/pack.sh tests/cli/raw.sh tests/cli/readme.sh tests/cli/recipes.sh
TESTS += $(cli_tests)
# Only in `make check-long`.
cli_long_tests = tests/cli/cluster.sh tests/cli/fresh.sh tests/cli/package.sh tests/cli/release.sh tests/cli/static.sh
dist_noinst_SCRIPTS += $(cli_tests) $(cli_long_tests)
check-fresh: all
	LONG=1 top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' $(SHELL) $(top_srcdir)/tests/cli/fresh.sh
check-release: all
	LONG=1 top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' $(SHELL) $(top_srcdir)/tests/cli/release.sh
.PHONY: check-fresh check-release
EXTRA_DIST += tests/cli/functions.awk tests/cli/html_page.py tests/cli/own_lines.awk tests/cli/pprof.py doc/batch.md
