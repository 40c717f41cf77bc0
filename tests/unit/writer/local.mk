# SPDX-License-Identifier: MIT
ROUND_TRIP = tests/unit/writer/round_trip.c tests/unit/writer/round_trip.h

check_PROGRAMS += tests/unit/writer/ftf_writer.test
TESTS += tests/unit/writer/ftf_writer.test
tests_unit_writer_ftf_writer_test_SOURCES = tests/unit/writer/ftf_writer.c $(ROUND_TRIP)
tests_unit_writer_ftf_writer_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_writer_ftf_writer_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/writer/ftf_low.test
TESTS += tests/unit/writer/ftf_low.test
tests_unit_writer_ftf_low_test_SOURCES = tests/unit/writer/ftf_low.c $(ROUND_TRIP)
tests_unit_writer_ftf_low_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_writer_ftf_low_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/writer/ftf_calls.test
TESTS += tests/unit/writer/ftf_calls.test
tests_unit_writer_ftf_calls_test_SOURCES = tests/unit/writer/ftf_calls.c $(ROUND_TRIP)
tests_unit_writer_ftf_calls_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_writer_ftf_calls_test_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free
tests_unit_writer_ftf_calls_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/writer/generated.test
TESTS += tests/unit/writer/generated.test
tests_unit_writer_generated_test_SOURCES = tests/unit/writer/generated.c $(ROUND_TRIP)
tests_unit_writer_generated_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_writer_generated_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/reader/trace_reader.test
TESTS += tests/unit/reader/trace_reader.test
tests_unit_reader_trace_reader_test_SOURCES = tests/unit/reader/trace_reader.c $(ROUND_TRIP)
tests_unit_reader_trace_reader_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_reader_trace_reader_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/writer/many.test
TESTS += tests/unit/writer/many.test
tests_unit_writer_many_test_SOURCES = tests/unit/writer/many.c $(ROUND_TRIP)
tests_unit_writer_many_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_writer_many_test_LDADD = $(UNIT_LIBS)
