# SPDX-License-Identifier: MIT
check_PROGRAMS += tests/unit/base/base.test
TESTS += tests/unit/base/base.test
tests_unit_base_base_test_SOURCES = tests/unit/base/base.c
tests_unit_base_base_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_base_base_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/base/big_array.test
TESTS += tests/unit/base/big_array.test
tests_unit_base_big_array_test_SOURCES = tests/unit/base/big_array.c
tests_unit_base_big_array_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_base_big_array_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/base/tables.test
TESTS += tests/unit/base/tables.test
tests_unit_base_tables_test_SOURCES = tests/unit/base/tables.c
tests_unit_base_tables_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_base_tables_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/base/workers.test
TESTS += tests/unit/base/workers.test
tests_unit_base_workers_test_SOURCES = tests/unit/base/workers.c
tests_unit_base_workers_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_base_workers_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/base/spelling.test
TESTS += tests/unit/base/spelling.test
tests_unit_base_spelling_test_SOURCES = tests/unit/base/spelling.c
tests_unit_base_spelling_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_base_spelling_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/base/write_behind.test
TESTS += tests/unit/base/write_behind.test
tests_unit_base_write_behind_test_SOURCES = tests/unit/base/write_behind.c
tests_unit_base_write_behind_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_base_write_behind_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/base/files.test
TESTS += tests/unit/base/files.test
tests_unit_base_files_test_SOURCES = tests/unit/base/files.c
tests_unit_base_files_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_base_files_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/base/cache_files.test
TESTS += tests/unit/base/cache_files.test
tests_unit_base_cache_files_test_SOURCES = tests/unit/base/cache_files.c
tests_unit_base_cache_files_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_base_cache_files_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/base/file_use.test
TESTS += tests/unit/base/file_use.test
tests_unit_base_file_use_test_SOURCES = tests/unit/base/file_use.c
tests_unit_base_file_use_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_base_file_use_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/base/interrupt.test
TESTS += tests/unit/base/interrupt.test
tests_unit_base_interrupt_test_SOURCES = tests/unit/base/interrupt.c
tests_unit_base_interrupt_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_base_interrupt_test_LDADD = $(UNIT_LIBS)
