# SPDX-License-Identifier: MIT
# Not in check-long: installs five systems, each with all packages, for an hour and more.
dist_noinst_SCRIPTS += tests/distributions/distributions.sh tests/distributions/musl.sh
check-distributions:
	top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' $(SHELL) $(top_srcdir)/tests/distributions/distributions.sh
.PHONY: check-distributions
