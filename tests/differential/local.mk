# SPDX-License-Identifier: MIT
# As tests/faults/shim.so.
check_DATA += tests/differential/cpus.so
EXTRA_DIST += tests/differential/cpus.c tests/differential/differential.py
tests/differential/cpus.so: $(top_srcdir)/tests/differential/cpus.c
	$(AM_V_CCLD)$(MKDIR_P) tests/differential && \
		$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN_CFLAGS) -g -O1 -shared -fPIC -o $@ \
		$(top_srcdir)/tests/differential/cpus.c
CLEANFILES += tests/differential/cpus.so
TESTS += tests/differential/differential.sh
dist_noinst_SCRIPTS += tests/differential/differential.sh
