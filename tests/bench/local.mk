# SPDX-License-Identifier: MIT
dist_noinst_SCRIPTS += tests/bench/bench.sh

EXTRA_PROGRAMS += tests/bench/ftf-speed
CLEANFILES += tests/bench/ftf-speed
tests_bench_ftf_speed_SOURCES = tests/bench/ftf_speed.c
tests_bench_ftf_speed_LDADD = libftf.la

bench: ptrace2ftf$(EXEEXT) tests/bench/ftf-speed$(EXEEXT) tests/ptsim/ptsim$(EXEEXT) tests/programs/indirect$(EXEEXT)
	$(srcdir)/tests/bench/bench.sh $(abs_top_srcdir)
.PHONY: bench
