# SPDX-License-Identifier: MIT
# As tests/faults/shim.so.
check_DATA += tests/races/delays.so
EXTRA_DIST += tests/races/delays.c
tests/races/delays.so: $(top_srcdir)/tests/races/delays.c
	$(AM_V_CCLD)$(MKDIR_P) tests/races && \
		$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN_CFLAGS) -g -O1 -shared -fPIC -o $@ \
		$(top_srcdir)/tests/races/delays.c -ldl
CLEANFILES += tests/races/delays.so
TESTS += tests/races/races.sh
dist_noinst_SCRIPTS += tests/races/races.sh
dist_noinst_SCRIPTS += tests/races/tsan.sh

# The suite under ThreadSanitizer: about an hour.  THREADS_ONLY='tests/races/races.sh ...' chooses.
THREADS_ONLY = $(TESTS)
check-threads:
	'$(abs_top_srcdir)/tests/races/tsan.sh' '$(abs_top_srcdir)' threads-build $(THREADS_ONLY)
clean-threads:
	rm -rf threads-build
.PHONY: check-threads clean-threads
