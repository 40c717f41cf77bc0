# SPDX-License-Identifier: MIT
check_PROGRAMS += tests/unit/src/callstack_magic_trace.test
TESTS += tests/unit/src/callstack_magic_trace.test
tests_unit_src_callstack_magic_trace_test_SOURCES = \
	tests/unit/src/callstack_magic_trace.c \
	tests/unit/src/span_log.c tests/unit/src/span_log.h
tests_unit_src_callstack_magic_trace_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_callstack_magic_trace_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/perf_script_line.test
TESTS += tests/unit/src/perf_script_line.test
tests_unit_src_perf_script_line_test_SOURCES = tests/unit/src/perf_script_line.c
tests_unit_src_perf_script_line_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_perf_script_line_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/perf_script.test
TESTS += tests/unit/src/perf_script.test
tests_unit_src_perf_script_test_SOURCES = tests/unit/src/perf_script.c
tests_unit_src_perf_script_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_perf_script_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/span_sorter.test
TESTS += tests/unit/src/span_sorter.test
tests_unit_src_span_sorter_test_SOURCES = \
	tests/unit/src/span_sorter.c \
	tests/unit/src/span_log.c tests/unit/src/span_log.h
tests_unit_src_span_sorter_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_span_sorter_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/callstack_precise.test
TESTS += tests/unit/src/callstack_precise.test
tests_unit_src_callstack_precise_test_SOURCES = \
	tests/unit/src/callstack_precise.c \
	tests/unit/src/span_log.c tests/unit/src/span_log.h
tests_unit_src_callstack_precise_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_callstack_precise_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/resolve.test
TESTS += tests/unit/src/resolve.test
tests_unit_src_resolve_test_SOURCES = tests/unit/src/resolve.c
tests_unit_src_resolve_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_resolve_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/jit_dumps.test
TESTS += tests/unit/src/jit_dumps.test
tests_unit_src_jit_dumps_test_SOURCES = tests/unit/src/jit_dumps.c
tests_unit_src_jit_dumps_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_jit_dumps_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/batch_plan.test
TESTS += tests/unit/src/batch_plan.test
tests_unit_src_batch_plan_test_SOURCES = tests/unit/src/batch_plan.c
tests_unit_src_batch_plan_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_batch_plan_test_LDADD = $(UNIT_LIBS)
