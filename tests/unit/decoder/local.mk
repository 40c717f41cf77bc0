# SPDX-License-Identifier: MIT
check_PROGRAMS += tests/unit/decoder/perf_file.test
TESTS += tests/unit/decoder/perf_file.test
tests_unit_decoder_perf_file_test_SOURCES = tests/unit/decoder/perf_file.c
tests_unit_decoder_perf_file_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_perf_file_test_LDADD = $(UNIT_LIBS)
