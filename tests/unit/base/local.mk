# SPDX-License-Identifier: MIT
check_PROGRAMS += tests/unit/base/base.test
TESTS += tests/unit/base/base.test
tests_unit_base_base_test_SOURCES = tests/unit/base/base.c
tests_unit_base_base_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_base_base_test_LDADD = $(UNIT_LIBS)
