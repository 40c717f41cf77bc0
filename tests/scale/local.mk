# SPDX-License-Identifier: MIT
check_PROGRAMS += tests/scale/make-scale tests/bench/cpu-time
tests_scale_make_scale_SOURCES = tests/scale/make_scale.c
tests_scale_make_scale_LDADD = libsupport.a libbase.a $(IPT_LIBS) $(ZSTD_LIBS)
TESTS += tests/scale/scale.sh tests/scale/many.sh
dist_noinst_SCRIPTS += tests/scale/scale.sh tests/scale/many.sh
