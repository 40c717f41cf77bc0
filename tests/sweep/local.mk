# SPDX-License-Identifier: MIT
check_PROGRAMS += tests/sweep/sweep
tests_sweep_sweep_SOURCES = tests/sweep/sweep.c \
	tests/sweep/recording.c tests/sweep/recording.h \
	tests/sweep/slice_text.c tests/sweep/slice_text.h
tests_sweep_sweep_LDADD = libsupport.a libftfread.a $(PTRACE2FTF_LIBS)
TESTS += tests/sweep/sweep.sh
dist_noinst_SCRIPTS += tests/sweep/sweep.sh
