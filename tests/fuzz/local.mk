# SPDX-License-Identifier: MIT
# Fuzz targets.  `make check` runs each over its seeds and regressions; `make
# fuzz` builds them with clang's libFuzzer and sanitizers in a build directory
# of their own, and runs each for FUZZ_SECONDS (or those named by FUZZ_ONLY);
# `make afl` does the same with AFL++.
FUZZ_TARGETS = demangle elf memtrace names options perf_data perf_script pt_stream raw_input records \
	run runtime_events trace_reader
fuzz_common = tests/fuzz/fuzz.h tests/fuzz/memory_file.c tests/fuzz/memory_file.h
fuzz_libs = libsupport.a libftfread.a $(PTRACE2FTF_LIBS)
# Programs of two kinds: with a main() of our own, and with libFuzzer's.
fuzz_programs = tests/fuzz/demangle tests/fuzz/elf tests/fuzz/memtrace tests/fuzz/names \
	tests/fuzz/options tests/fuzz/perf_data tests/fuzz/perf_script tests/fuzz/pt_stream \
	tests/fuzz/raw_input tests/fuzz/records tests/fuzz/run tests/fuzz/runtime_events tests/fuzz/trace_reader
check_PROGRAMS += $(fuzz_programs) tests/fuzz/make_seeds
TESTS += tests/fuzz/seeds.sh
dist_noinst_SCRIPTS += tests/fuzz/afl.sh tests/fuzz/corpus.sh tests/fuzz/fuzz.sh \
	tests/fuzz/libraries.sh tests/fuzz/seeds.sh
EXTRA_DIST += tests/fuzz/dictionaries tests/fuzz/regressions

tests_fuzz_make_seeds_SOURCES = tests/fuzz/make_seeds.c
tests_fuzz_make_seeds_LDADD = $(fuzz_libs)
tests_fuzz_demangle_SOURCES = tests/fuzz/demangle.c tests/fuzz/run_inputs.c $(fuzz_common)
tests_fuzz_demangle_LDADD = $(fuzz_libs)
EXTRA_PROGRAMS += tests/fuzz/demangle.fuzz
tests_fuzz_demangle_fuzz_SOURCES = tests/fuzz/demangle.c $(fuzz_common)
tests_fuzz_demangle_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_demangle_fuzz_LDADD = $(fuzz_libs)
tests_fuzz_elf_SOURCES = tests/fuzz/elf.c tests/fuzz/run_inputs.c $(fuzz_common)
tests_fuzz_elf_LDADD = $(fuzz_libs)
EXTRA_PROGRAMS += tests/fuzz/elf.fuzz
tests_fuzz_elf_fuzz_SOURCES = tests/fuzz/elf.c $(fuzz_common)
tests_fuzz_elf_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_elf_fuzz_LDADD = $(fuzz_libs)
tests_fuzz_memtrace_SOURCES = tests/fuzz/memtrace.c tests/fuzz/run_inputs.c $(fuzz_common)
tests_fuzz_memtrace_LDADD = $(fuzz_libs)
EXTRA_PROGRAMS += tests/fuzz/memtrace.fuzz
tests_fuzz_memtrace_fuzz_SOURCES = tests/fuzz/memtrace.c $(fuzz_common)
tests_fuzz_memtrace_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_memtrace_fuzz_LDADD = $(fuzz_libs)
tests_fuzz_names_SOURCES = tests/fuzz/names.c tests/fuzz/run_inputs.c $(fuzz_common)
tests_fuzz_names_LDADD = $(fuzz_libs)
EXTRA_PROGRAMS += tests/fuzz/names.fuzz
tests_fuzz_names_fuzz_SOURCES = tests/fuzz/names.c $(fuzz_common)
tests_fuzz_names_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_names_fuzz_LDADD = $(fuzz_libs)
tests_fuzz_options_SOURCES = tests/fuzz/options.c tests/fuzz/run_inputs.c $(fuzz_common)
tests_fuzz_options_LDADD = $(fuzz_libs)
EXTRA_PROGRAMS += tests/fuzz/options.fuzz
tests_fuzz_options_fuzz_SOURCES = tests/fuzz/options.c $(fuzz_common)
tests_fuzz_options_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_options_fuzz_LDADD = $(fuzz_libs)
tests_fuzz_perf_data_SOURCES = tests/fuzz/perf_data.c tests/fuzz/run_inputs.c $(fuzz_common)
tests_fuzz_perf_data_LDADD = $(fuzz_libs)
EXTRA_PROGRAMS += tests/fuzz/perf_data.fuzz
tests_fuzz_perf_data_fuzz_SOURCES = tests/fuzz/perf_data.c $(fuzz_common)
tests_fuzz_perf_data_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_perf_data_fuzz_LDADD = $(fuzz_libs)
tests_fuzz_perf_script_SOURCES = tests/fuzz/perf_script.c tests/fuzz/run_inputs.c $(fuzz_common)
tests_fuzz_perf_script_LDADD = $(fuzz_libs)
EXTRA_PROGRAMS += tests/fuzz/perf_script.fuzz
tests_fuzz_perf_script_fuzz_SOURCES = tests/fuzz/perf_script.c $(fuzz_common)
tests_fuzz_perf_script_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_perf_script_fuzz_LDADD = $(fuzz_libs)
tests_fuzz_pt_stream_SOURCES = tests/fuzz/pt_stream.c tests/fuzz/run_inputs.c $(fuzz_common)
tests_fuzz_pt_stream_LDADD = $(fuzz_libs)
EXTRA_PROGRAMS += tests/fuzz/pt_stream.fuzz
tests_fuzz_pt_stream_fuzz_SOURCES = tests/fuzz/pt_stream.c $(fuzz_common)
tests_fuzz_pt_stream_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_pt_stream_fuzz_LDADD = $(fuzz_libs)
tests_fuzz_raw_input_SOURCES = tests/fuzz/raw_input.c tests/fuzz/run_inputs.c $(fuzz_common)
tests_fuzz_raw_input_LDADD = $(fuzz_libs)
EXTRA_PROGRAMS += tests/fuzz/raw_input.fuzz
tests_fuzz_raw_input_fuzz_SOURCES = tests/fuzz/raw_input.c $(fuzz_common)
tests_fuzz_raw_input_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_raw_input_fuzz_LDADD = $(fuzz_libs)
tests_fuzz_records_SOURCES = tests/fuzz/records.c tests/fuzz/run.c tests/fuzz/run_inputs.c $(fuzz_common)
tests_fuzz_records_LDADD = $(fuzz_libs)
EXTRA_PROGRAMS += tests/fuzz/records.fuzz
tests_fuzz_records_fuzz_SOURCES = tests/fuzz/records.c tests/fuzz/run.c $(fuzz_common)
tests_fuzz_records_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_records_fuzz_LDADD = $(fuzz_libs)
tests_fuzz_run_SOURCES = tests/fuzz/run.c tests/fuzz/run_inputs.c $(fuzz_common)
tests_fuzz_run_LDADD = $(fuzz_libs)
EXTRA_PROGRAMS += tests/fuzz/run.fuzz
tests_fuzz_run_fuzz_SOURCES = tests/fuzz/run.c $(fuzz_common)
tests_fuzz_run_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_run_fuzz_LDADD = $(fuzz_libs)
tests_fuzz_runtime_events_SOURCES = tests/fuzz/runtime_events.c tests/fuzz/run_inputs.c $(fuzz_common)
tests_fuzz_runtime_events_LDADD = $(fuzz_libs)
EXTRA_PROGRAMS += tests/fuzz/runtime_events.fuzz
tests_fuzz_runtime_events_fuzz_SOURCES = tests/fuzz/runtime_events.c $(fuzz_common)
tests_fuzz_runtime_events_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_runtime_events_fuzz_LDADD = $(fuzz_libs)
tests_fuzz_trace_reader_SOURCES = tests/fuzz/trace_reader.c tests/fuzz/run_inputs.c $(fuzz_common)
tests_fuzz_trace_reader_LDADD = $(fuzz_libs)
EXTRA_PROGRAMS += tests/fuzz/trace_reader.fuzz
tests_fuzz_trace_reader_fuzz_SOURCES = tests/fuzz/trace_reader.c $(fuzz_common)
tests_fuzz_trace_reader_fuzz_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_trace_reader_fuzz_LDADD = $(fuzz_libs)

FUZZ_SECONDS = 60
FUZZ_ONLY = $(FUZZ_TARGETS)
fuzz:
	'$(abs_top_srcdir)/tests/fuzz/fuzz.sh' '$(abs_top_srcdir)' fuzz-build $(FUZZ_SECONDS) $(FUZZ_ONLY)
afl:
	'$(abs_top_srcdir)/tests/fuzz/afl.sh' '$(abs_top_srcdir)' afl-build $(FUZZ_SECONDS) $(FUZZ_ONLY)
clean-fuzz:
	rm -rf fuzz-build afl-build
.PHONY: afl fuzz clean-fuzz
