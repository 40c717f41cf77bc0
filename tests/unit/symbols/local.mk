# SPDX-License-Identifier: MIT
check_PROGRAMS += tests/unit/symbols/demangle.test tests/unit/symbols/dso_store.test \
	tests/unit/symbols/hostile_elf.test tests/unit/symbols/perf_agrees.test \
	tests/unit/symbols/sample tests/unit/symbols/sample_gz
TESTS += tests/unit/symbols/demangle.test tests/unit/symbols/dso_store.test \
	tests/unit/symbols/hostile_elf.test tests/unit/symbols/perf_agrees.test

tests_unit_symbols_demangle_test_SOURCES = tests/unit/symbols/demangle.c
tests_unit_symbols_demangle_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_symbols_demangle_test_LDADD = $(UNIT_LIBS)

tests_unit_symbols_dso_store_test_SOURCES = tests/unit/symbols/dso_store.c
tests_unit_symbols_dso_store_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_symbols_dso_store_test_LDADD = $(UNIT_LIBS)

tests_unit_symbols_hostile_elf_test_SOURCES = tests/unit/symbols/hostile_elf.c
tests_unit_symbols_hostile_elf_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_symbols_hostile_elf_test_LDADD = $(UNIT_LIBS)

tests_unit_symbols_perf_agrees_test_SOURCES = tests/unit/symbols/perf_agrees.c
tests_unit_symbols_perf_agrees_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_symbols_perf_agrees_test_LDADD = $(UNIT_LIBS)

# The program whose symbols the tests look up: as small as can be, so without sanitizers.
tests_unit_symbols_sample_SOURCES = tests/unit/symbols/sample.c
tests_unit_symbols_sample_CFLAGS = -std=gnu11 -g -O0
tests_unit_symbols_sample_LDFLAGS = -Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567
tests_unit_symbols_sample_LDADD =

# The same with compressed debug information.
tests_unit_symbols_sample_gz_SOURCES = $(tests_unit_symbols_sample_SOURCES)
tests_unit_symbols_sample_gz_CFLAGS = $(tests_unit_symbols_sample_CFLAGS) -gz
tests_unit_symbols_sample_gz_LDFLAGS = $(tests_unit_symbols_sample_LDFLAGS) -gz
tests_unit_symbols_sample_gz_LDADD =

check_PROGRAMS += tests/unit/symbols/tiny_files.test
TESTS += tests/unit/symbols/tiny_files.test
tests_unit_symbols_tiny_files_test_SOURCES = tests/unit/symbols/tiny_files.c
tests_unit_symbols_tiny_files_test_CFLAGS = $(UNIT_CFLAGS) -g
tests_unit_symbols_tiny_files_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/symbols/line_cache.test
TESTS += tests/unit/symbols/line_cache.test
tests_unit_symbols_line_cache_test_SOURCES = tests/unit/symbols/line_cache.c
tests_unit_symbols_line_cache_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_symbols_line_cache_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/symbols/dso_lines.test
TESTS += tests/unit/symbols/dso_lines.test
tests_unit_symbols_dso_lines_test_SOURCES = tests/unit/symbols/dso_lines.c
tests_unit_symbols_dso_lines_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_symbols_dso_lines_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/symbols/name-addresses
tests_unit_symbols_name_addresses_SOURCES = tests/unit/symbols/name_addresses.c
tests_unit_symbols_name_addresses_LDADD = $(PTRACE2FTF_LIBS)
check_PROGRAMS += tests/unit/symbols/damage-package
tests_unit_symbols_damage_package_SOURCES = tests/unit/symbols/damage_package.c
tests_unit_symbols_damage_package_LDADD = $(PTRACE2FTF_LIBS)
TESTS += tests/unit/symbols/code_starts.sh
dist_noinst_SCRIPTS += tests/unit/symbols/code_starts.sh
TESTS += tests/unit/symbols/debug_files.sh
dist_noinst_SCRIPTS += tests/unit/symbols/debug_files.sh
TESTS += tests/unit/symbols/binutils_agrees.sh
dist_noinst_SCRIPTS += tests/unit/symbols/binutils_agrees.sh

check_PROGRAMS += tests/unit/symbols/jit_kernel_names.test
TESTS += tests/unit/symbols/jit_kernel_names.test
tests_unit_symbols_jit_kernel_names_test_SOURCES = tests/unit/symbols/jit_kernel_names.c
tests_unit_symbols_jit_kernel_names_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_symbols_jit_kernel_names_test_LDADD = $(UNIT_LIBS)
TESTS += tests/unit/symbols/link_forms.sh
dist_noinst_SCRIPTS += tests/unit/symbols/link_forms.sh

check_PROGRAMS += tests/unit/symbols/unpack.test
TESTS += tests/unit/symbols/unpack.test
tests_unit_symbols_unpack_test_SOURCES = tests/unit/symbols/unpack.c
tests_unit_symbols_unpack_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_symbols_unpack_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/symbols/landing_pads.test
TESTS += tests/unit/symbols/landing_pads.test
tests_unit_symbols_landing_pads_test_SOURCES = tests/unit/symbols/landing_pads.c
tests_unit_symbols_landing_pads_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_symbols_landing_pads_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/symbols/go_table.test
TESTS += tests/unit/symbols/go_table.test
tests_unit_symbols_go_table_test_SOURCES = tests/unit/symbols/go_table.c
tests_unit_symbols_go_table_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_symbols_go_table_test_LDADD = $(UNIT_LIBS)
