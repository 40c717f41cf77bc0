# SPDX-License-Identifier: MIT
# A plain shared object to preload; libtool would want to install it.
check_DATA += tests/faults/shim.so
EXTRA_DIST += tests/faults/shim.c
tests/faults/shim.so: $(top_srcdir)/tests/faults/shim.c
	$(AM_V_CCLD)$(MKDIR_P) tests/faults && \
		$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN_CFLAGS) -g -O1 -shared -fPIC -o $@ \
		$(top_srcdir)/tests/faults/shim.c -ldl
CLEANFILES += tests/faults/shim.so tests/faults/hang.so
check_DATA += tests/faults/hang.so
EXTRA_DIST += tests/faults/hang.c
tests/faults/hang.so: $(top_srcdir)/tests/faults/hang.c
	$(AM_V_CCLD)$(MKDIR_P) tests/faults && \
		$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN_CFLAGS) -fno-builtin \
		-Wno-missing-prototypes -g -O1 -shared -fPIC -o $@ $(top_srcdir)/tests/faults/hang.c -ldl
TESTS += tests/faults/descriptors.sh tests/faults/faults.sh tests/faults/hangs.sh tests/faults/limits.sh tests/faults/memory.sh tests/faults/quota.sh
dist_noinst_SCRIPTS += tests/faults/descriptors.sh \
	tests/faults/faults.sh tests/faults/hangs.sh tests/faults/limits.sh tests/faults/memory.sh tests/faults/quota.sh
