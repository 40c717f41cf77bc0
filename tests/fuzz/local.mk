# SPDX-License-Identifier: MIT
# Fuzz targets.  `make check` runs each over its seeds; `make fuzz` builds them
# with clang's libFuzzer and sanitizers, and runs each for FUZZ_SECONDS.
FUZZ_TARGETS = tests/fuzz/memtrace tests/fuzz/runtime_events
check_PROGRAMS += $(FUZZ_TARGETS) tests/fuzz/make_seeds
TESTS += tests/fuzz/seeds.sh
dist_noinst_SCRIPTS += tests/fuzz/seeds.sh

tests_fuzz_make_seeds_SOURCES = tests/fuzz/make_seeds.c
tests_fuzz_make_seeds_LDADD = libsupport.a $(PTRACE2FTF_LIBS)
tests_fuzz_memtrace_SOURCES = tests/fuzz/memtrace.c tests/fuzz/run_inputs.c tests/fuzz/fuzz.h
tests_fuzz_memtrace_LDADD = $(PTRACE2FTF_LIBS)
tests_fuzz_runtime_events_SOURCES = tests/fuzz/runtime_events.c tests/fuzz/run_inputs.c
tests_fuzz_runtime_events_LDADD = $(PTRACE2FTF_LIBS)

FUZZ_CLANG = clang -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
FUZZ_SECONDS = 60
fuzz: tests/fuzz/make_seeds
	for target in $(FUZZ_TARGETS); do \
		mkdir -p $$target.corpus && tests/fuzz/make_seeds $$target.corpus && \
		( cd $(srcdir) && $(FUZZ_CLANG) -D_GNU_SOURCE -I. -Isrc -I'$(abs_builddir)' \
			-o '$(abs_builddir)'/$$target.fuzz $$target.c \
			overlays/*.c src/base/*.c $(ZSTD_LIBS) $(ZLIB_LIBS) ) && \
		$$target.fuzz -max_total_time=$(FUZZ_SECONDS) -timeout=5 -max_len=65536 \
			$$target.corpus || exit 1; \
	done
.PHONY: fuzz
