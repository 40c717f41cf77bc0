# SPDX-License-Identifier: MIT
dist_noinst_SCRIPTS += tests/bench/bench.sh

bench: ptrace2ftf$(EXEEXT) tests/ptsim/ptsim$(EXEEXT) tests/programs/indirect$(EXEEXT)
	$(srcdir)/tests/bench/bench.sh $(abs_top_srcdir)
.PHONY: bench
