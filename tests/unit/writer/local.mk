# SPDX-License-Identifier: MIT
check_PROGRAMS += tests/unit/writer/ftf_writer.test
TESTS += tests/unit/writer/ftf_writer.test
tests_unit_writer_ftf_writer_test_SOURCES = tests/unit/writer/ftf_writer.c \
	tests/unit/writer/round_trip.c tests/unit/writer/round_trip.h
tests_unit_writer_ftf_writer_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_writer_ftf_writer_test_LDADD = $(UNIT_LIBS)
