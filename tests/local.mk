# SPDX-License-Identifier: MIT
TEST_EXTENSIONS = .test .sh
TEST_LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(TEST_LOG_DRIVER)
# A test that hangs fails, and says so.
TEST_LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/support/limited.sh
SH_LOG_COMPILER = $(TEST_LOG_COMPILER)
if HARDENED
hardened = yes
endif
if SANITIZED
sanitized = yes
endif
AM_TESTS_ENVIRONMENT = P2F_HARDENED='$(hardened)'; P2F_SANITIZED='$(sanitized)'; \
	export P2F_HARDENED P2F_SANITIZED; \
	top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)'; export top_srcdir top_builddir;

# Unit tests are compiled more often than run: -O1 takes three quarters of -O2's time.
tests/unit/%.o: CFLAGS := $(CFLAGS:-O2=-O1)

include tests/support/local.mk
include tests/programs/local.mk
include tests/ptsim/local.mk
include tests/ptsys/local.mk
include tests/unit/base/local.mk
include tests/unit/decoder/local.mk
include tests/unit/symbols/local.mk
include tests/unit/writer/local.mk
include tests/unit/overlays/local.mk
include tests/unit/src/local.mk
include tests/oracle/local.mk
include tests/fuzz/local.mk
include tests/sweep/local.mk
include tests/faults/local.mk
include tests/differential/local.mk
include tests/races/local.mk
include tests/sandbox/local.mk
include tests/scale/local.mk
include tests/bench/local.mk
include tests/cli/local.mk
include tests/distributions/local.mk
include tests/consumers/local.mk
include tests/mutants/local.mk
include tests/lint/local.mk

# The unit programs, and what they read: none of the programs that scripts record.
check-unit:
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(filter tests/unit/%.test,$(TESTS))' \
		check_PROGRAMS='$(filter tests/unit/% tests/support/% tests/programs/inlined,$(check_PROGRAMS))' \
		check_DATA='$(filter tests/unit/%,$(check_DATA))'
.PHONY: check-unit
