# SPDX-License-Identifier: MIT
# As tests/faults/shim.so.
check_DATA += tests/sandbox/probe.so
EXTRA_DIST += tests/sandbox/probe.c
tests/sandbox/probe.so: $(top_srcdir)/tests/sandbox/probe.c
	$(AM_V_CCLD)$(MKDIR_P) tests/sandbox && \
		$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN_CFLAGS) -g -O1 -shared -fPIC -o $@ \
		$(top_srcdir)/tests/sandbox/probe.c -ldl
CLEANFILES += tests/sandbox/probe.so
TESTS += tests/sandbox/sandbox.sh tests/sandbox/server.sh
dist_noinst_SCRIPTS += tests/sandbox/sandbox.sh tests/sandbox/server.sh
