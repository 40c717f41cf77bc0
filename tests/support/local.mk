# SPDX-License-Identifier: MIT
# What tests share; each unit program links it.
check_LIBRARIES += libsupport.a
libsupport_a_SOURCES = \
	tests/support/ftf_reader.c tests/support/ftf_reader.h \
	tests/support/perf_data.c tests/support/perf_data.h \
	tests/support/unit.c tests/support/unit.h
libsupport_a_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
EXTRA_DIST += tests/support/tap.sh
UNIT_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
UNIT_LIBS = libsupport.a $(PTRACE2FTF_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/support/ftfcheck
tests_support_ftfcheck_SOURCES = tests/support/ftfcheck.c
tests_support_ftfcheck_LDADD = libsupport.a
