# SPDX-License-Identifier: MIT
check_PROGRAMS += tests/unit/symbols/dso_store.test
TESTS += tests/unit/symbols/dso_store.test
tests_unit_symbols_dso_store_test_SOURCES = tests/unit/symbols/dso_store.c
tests_unit_symbols_dso_store_test_CFLAGS = $(UNIT_CFLAGS) -g
tests_unit_symbols_dso_store_test_LDADD = $(UNIT_LIBS)
