# SPDX-License-Identifier: MIT

# magic-trace's own test dumps, in ../shared when it is there.
check_PROGRAMS += tests/oracle/magic_trace.test
TESTS += tests/oracle/magic_trace.test
tests_oracle_magic_trace_test_SOURCES = tests/oracle/magic_trace.c \
	tests/support/perf_script_calls.c tests/support/perf_script_calls.h
tests_oracle_magic_trace_test_LDADD = $(PTRACE2FTF_LIBS)

# Recordings of ../shared against perf's, libipt's and their authors' readings.
TESTS += tests/oracle/recordings.sh tests/oracle/engines.sh tests/oracle/windows.sh tests/oracle/bytes.sh tests/oracle/side.sh tests/oracle/trace_processor.sh
dist_noinst_SCRIPTS += tests/oracle/recordings.sh tests/oracle/engines.sh tests/oracle/windows.sh tests/oracle/bytes.sh tests/oracle/side.sh tests/oracle/trace_processor.sh
EXTRA_DIST += tests/oracle/branches.awk
# Of check-long (tests/ptsim/local.mk).
dist_noinst_SCRIPTS += tests/oracle/libipt_versions.sh
TESTS += tests/oracle/hits.sh tests/oracle/text_fields.sh tests/oracle/text_round_trip.sh
dist_noinst_SCRIPTS += tests/oracle/hits.sh tests/oracle/text_fields.sh tests/oracle/text_round_trip.sh
TESTS += tests/oracle/memtrace_cut.sh
dist_noinst_SCRIPTS += tests/oracle/memtrace_cut.sh
TESTS += tests/oracle/random_slices.sh
dist_noinst_SCRIPTS += tests/oracle/random_slices.sh
TESTS += tests/oracle/like.sh
dist_noinst_SCRIPTS += tests/oracle/like.sh
EXTRA_DIST += tests/oracle/magic_trace_model.awk tests/oracle/magic_trace_records.awk tests/oracle/function_lines.awk
EXTRA_DIST += tests/oracle/random_script.awk tests/oracle/slices_of_calls.awk tests/oracle/stack_rules.awk tests/oracle/stack_code.awk
check_PROGRAMS += tests/oracle/magic_trace_slices.test
TESTS += tests/oracle/magic_trace_slices.test
tests_oracle_magic_trace_slices_test_SOURCES = tests/oracle/magic_trace_slices.c
tests_oracle_magic_trace_slices_test_LDADD = $(PTRACE2FTF_LIBS)

check_PROGRAMS += tests/oracle/precise_truth
tests_oracle_precise_truth_SOURCES = tests/oracle/precise_truth.c
tests_oracle_precise_truth_LDADD = $(PTRACE2FTF_LIBS)
TESTS += tests/oracle/stack_rules.sh tests/oracle/stacks.sh
dist_noinst_SCRIPTS += tests/oracle/stack_rules.sh tests/oracle/stacks.sh

# OCaml's overlays against the dumps of their own readers.
TESTS += tests/oracle/overlays_pt.sh tests/oracle/overlays.sh tests/oracle/overlays_trace.sh
dist_noinst_SCRIPTS += tests/oracle/overlays_pt.sh tests/oracle/overlays.sh tests/oracle/overlays_trace.sh
check_PROGRAMS += tests/oracle/overlay_bounds
tests_oracle_overlay_bounds_SOURCES = tests/oracle/overlay_bounds.c
tests_oracle_overlay_bounds_LDADD = $(PTRACE2FTF_LIBS)
