# SPDX-License-Identifier: MIT
check_PROGRAMS += tests/unit/overlays/runtime_events.test
TESTS += tests/unit/overlays/runtime_events.test
tests_unit_overlays_runtime_events_test_SOURCES = tests/unit/overlays/runtime_events.c
tests_unit_overlays_runtime_events_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_overlays_runtime_events_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/overlays/memtrace.test
TESTS += tests/unit/overlays/memtrace.test
tests_unit_overlays_memtrace_test_SOURCES = tests/unit/overlays/memtrace.c
tests_unit_overlays_memtrace_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_overlays_memtrace_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/overlays/memtrace_writer.test
TESTS += tests/unit/overlays/memtrace_writer.test
tests_unit_overlays_memtrace_writer_test_SOURCES = tests/unit/overlays/memtrace_writer.c
tests_unit_overlays_memtrace_writer_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_overlays_memtrace_writer_test_LDADD = $(UNIT_LIBS)
