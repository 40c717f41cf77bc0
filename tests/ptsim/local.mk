# SPDX-License-Identifier: MIT
# A software Intel PT recorder: recordings with ground truth on any machine.
# Without Zydis it is not built; tests whose recordings it makes are skipped.
if INSTALL_PTSIM
bin_PROGRAMS += tests/ptsim/ptsim
else
if HAVE_ZYDIS
check_PROGRAMS += tests/ptsim/ptsim
endif
endif
tests_ptsim_ptsim_SOURCES = \
	tests/ptsim/block.c tests/ptsim/block.h \
	tests/ptsim/code.c tests/ptsim/code.h \
	tests/ptsim/machine.c tests/ptsim/machine.h \
	tests/ptsim/mappings.c tests/ptsim/mappings.h \
	tests/ptsim/pt_output.c tests/ptsim/pt_output.h \
	tests/ptsim/ptsim.c \
	tests/ptsim/recorder.c tests/ptsim/recorder.h \
	tests/ptsim/repeat.c tests/ptsim/repeat.h \
	tests/ptsim/side_band.c tests/ptsim/side_band.h \
	tests/ptsim/tracee.c tests/ptsim/tracee.h \
	tests/ptsim/true_stack.c tests/ptsim/true_stack.h \
	tests/ptsim/truth.c tests/ptsim/truth.h
tests_ptsim_ptsim_LDADD = libsupport.a $(PTRACE2FTF_LIBS) $(ZYDIS_LIBS)

check_PROGRAMS += tests/ptsim/libipt_branches
tests_ptsim_libipt_branches_SOURCES = tests/ptsim/libipt_branches.c
tests_ptsim_libipt_branches_LDADD = $(PTRACE2FTF_LIBS)

TESTS += tests/ptsim/clocks.sh tests/ptsim/threads.sh tests/ptsim/timing.sh tests/ptsim/mutated.sh tests/ptsim/agrees.sh tests/ptsim/args.sh tests/ptsim/notime.sh tests/ptsim/stacks.sh tests/ptsim/stripped.sh tests/ptsim/tails.sh tests/ptsim/jit.sh tests/ptsim/opaque.sh tests/ptsim/engines.sh tests/ptsim/go.sh tests/ptsim/inline.sh tests/ptsim/ptwrite.sh tests/ptsim/fibers.sh tests/ptsim/steps.sh tests/ptsim/ends.sh tests/ptsim/bits32.sh tests/ptsim/diff.sh tests/ptsim/histogram.sh tests/ptsim/waits.sh tests/ptsim/why.sh tests/ptsim/why_page.sh tests/ptsim/slowest.sh tests/ptsim/totals.sh tests/ptsim/usage.sh
dist_noinst_SCRIPTS += tests/ptsim/clocks.sh tests/ptsim/threads.sh tests/ptsim/timing.sh tests/ptsim/mutated.sh tests/ptsim/agrees.sh tests/ptsim/args.sh tests/ptsim/notime.sh tests/ptsim/stacks.sh tests/ptsim/stripped.sh tests/ptsim/tails.sh tests/ptsim/jit.sh tests/ptsim/opaque.sh tests/ptsim/engines.sh tests/ptsim/go.sh tests/ptsim/inline.sh tests/ptsim/ptwrite.sh tests/ptsim/fibers.sh tests/ptsim/steps.sh tests/ptsim/ends.sh tests/ptsim/bits32.sh tests/ptsim/diff.sh tests/ptsim/histogram.sh tests/ptsim/waits.sh tests/ptsim/why.sh tests/ptsim/why_page.sh tests/ptsim/slowest.sh tests/ptsim/totals.sh tests/ptsim/usage.sh
EXTRA_DIST += tests/programs/bits32.s tests/programs/sigsetjmp.c tests/ptsim/chains.awk \
	tests/ptsim/flows.awk tests/ptsim/parents.awk tests/ptsim/random_waits.py tests/ptsim/slices.awk \
	tests/ptsim/time_errors.awk tests/ptsim/time_errors.sh

# All programs with all options, and packages: about half an hour.
check-long: all $(check_PROGRAMS) $(check_DATA)
	LONG=1 LONG_PROGRAMS=except $(MAKE) $(AM_MAKEFLAGS) check-TESTS \
		TESTS='tests/ptsim/engines.sh tests/cli/option_costs.sh tests/ptsim/why.sh tests/ptsim/waits.sh tests/ptsim/slowest.sh tests/ptsim/mutated.sh tests/ptsim/agrees.sh tests/ptsim/stacks.sh tests/ptsys/kernel.sh tests/sweep/sweep.sh tests/scale/scale.sh tests/races/races.sh tests/faults/memory.sh tests/faults/descriptors.sh tests/fuzz/seeds.sh tests/faults/faults.sh tests/unit/symbols/binutils_agrees.sh tests/differential/differential.sh tests/faults/quota.sh tests/oracle/libipt_versions.sh tests/oracle/like.sh tests/oracle/recordings.sh tests/oracle/bytes.sh tests/oracle/text_round_trip.sh tests/oracle/stack_rules.sh tests/ptsim/timing.sh tests/ptsim/totals.sh \
			$(insn_long_tests) $(cli_long_tests) $(consumer_tests)'
.PHONY: check-long

# Recordings with damaged trace.
check_PROGRAMS += tests/support/mutate_aux
tests_support_mutate_aux_SOURCES = tests/support/mutate_aux.c
tests_support_mutate_aux_LDADD = $(PTRACE2FTF_LIBS)
