# SPDX-License-Identifier: MIT
check_PROGRAMS += tests/sweep/sweep
tests_sweep_sweep_SOURCES = tests/sweep/sweep.c \
	tests/sweep/recording.c tests/sweep/recording.h \
	tests/sweep/slice_text.c tests/sweep/slice_text.h
tests_sweep_sweep_LDADD = libsupport.a libftfread.a $(PTRACE2FTF_LIBS)
check_PROGRAMS += tests/sweep/make-hostile
tests_sweep_make_hostile_SOURCES = tests/sweep/make_hostile.c \
	tests/sweep/hostile_dwarf.c tests/sweep/hostile_dwarf.h \
	tests/sweep/hostile_set.c tests/sweep/hostile_set.h
tests_sweep_make_hostile_LDADD = libsupport.a libbase.a $(IPT_LIBS) $(ZLIB_LIBS) $(ZSTD_LIBS)
TESTS += tests/sweep/sweep.sh
dist_noinst_SCRIPTS += tests/sweep/sweep.sh
