# SPDX-License-Identifier: MIT
# Programs that ptsim records in tests. Each has one hard case of call stacks; built with -g.
PROGRAM_CFLAGS = -std=gnu11 -g -O1 -fno-optimize-sibling-calls
RECORDED = \
	tests/programs/called tests/programs/cancel tests/programs/coroutines tests/programs/except tests/programs/family \
	tests/programs/indirect tests/programs/inlined tests/programs/jit tests/programs/jit_large tests/programs/jitdump tests/programs/mapped tests/programs/patched tests/programs/longjmp \
	tests/programs/plugins tests/programs/ptwrite tests/programs/recursion tests/programs/seeded tests/programs/signals \
	tests/programs/slowly tests/programs/syscalls tests/programs/tail tests/programs/threads
check_PROGRAMS += $(RECORDED)

# The same with a libc whose functions have names (-all-static is libtool's word for -static).
STATIC = \
	tests/programs/static/cancel tests/programs/static/causes tests/programs/static/chains \
	tests/programs/static/chains_called tests/programs/static/coroutines tests/programs/static/emulated tests/programs/static/except \
	tests/programs/static/exclusive tests/programs/static/execs tests/programs/static/family tests/programs/static/fibers tests/programs/static/forks \
	tests/programs/static/group_exit tests/programs/static/indirect tests/programs/static/labels tests/programs/static/longjmp \
	tests/programs/static/ocaml_scanned tests/programs/static/ocaml_traps tests/programs/static/opaque \
	tests/programs/static/hidden tests/programs/static/memory tests/programs/static/planted tests/programs/static/shared \
	tests/programs/static/raised tests/programs/static/recursion tests/programs/static/renamed_a tests/programs/static/renamed_b \
	tests/programs/static/replaced \
	tests/programs/static/signals \
	tests/programs/static/parked tests/programs/static/stack_kinds tests/programs/static/switches tests/programs/static/syscalls \
	tests/programs/static/tail tests/programs/static/thread_exec tests/programs/static/threads \
	tests/programs/static/transfers \
	tests/programs/static/unwinding tests/programs/static/version_a tests/programs/static/version_b \
	tests/programs/static/wrapped
check_PROGRAMS += $(STATIC)

tests_programs_called_SOURCES = tests/programs/called.c
tests_programs_called_CFLAGS = $(PROGRAM_CFLAGS) -pthread
tests_programs_called_LDFLAGS = -pthread
tests_programs_cancel_SOURCES = tests/programs/cancel.cpp
tests_programs_cancel_CXXFLAGS = -g -O2 -fPIE -pthread
tests_programs_cancel_LDFLAGS = -pthread
tests_programs_coroutines_SOURCES = tests/programs/coroutines.c
tests_programs_coroutines_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_coroutines_LDFLAGS =
tests_programs_except_SOURCES = tests/programs/except.cpp
tests_programs_except_CXXFLAGS = -g -O1
tests_programs_except_LDFLAGS =
tests_programs_family_SOURCES = tests/programs/family.c
tests_programs_family_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_family_LDFLAGS =
tests_programs_indirect_SOURCES = tests/programs/indirect.c
tests_programs_indirect_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_indirect_LDFLAGS =
tests_programs_inlined_SOURCES = tests/programs/inlined.c
tests_programs_inlined_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_inlined_LDFLAGS =
tests_programs_jit_SOURCES = tests/programs/jit.c
tests_programs_jit_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_jit_LDFLAGS = -all-static
tests_programs_jit_large_SOURCES = tests/programs/jit_large.c
tests_programs_jit_large_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_jit_large_LDFLAGS = -all-static
tests_programs_mapped_SOURCES = tests/programs/mapped.c
tests_programs_mapped_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_mapped_LDFLAGS = -all-static
tests_programs_patched_SOURCES = tests/programs/patched.c
tests_programs_patched_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_patched_LDFLAGS =
tests_programs_jitdump_SOURCES = tests/programs/jitdump.c
tests_programs_jitdump_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_jitdump_LDFLAGS = -all-static
tests_programs_longjmp_SOURCES = tests/programs/longjmp.c
tests_programs_longjmp_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_longjmp_LDFLAGS =
tests_programs_plugins_SOURCES = tests/programs/plugins.c
tests_programs_plugins_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_plugins_LDFLAGS =
tests_programs_plugins_DEPENDENCIES = tests/programs/plugin_a.so tests/programs/plugin_b.so
tests_programs_ptwrite_SOURCES = tests/programs/ptwrite.c
tests_programs_ptwrite_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_ptwrite_LDFLAGS =
tests_programs_recursion_SOURCES = tests/programs/recursion.c
tests_programs_recursion_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_recursion_LDFLAGS =
tests_programs_seeded_SOURCES = tests/programs/seeded.c
tests_programs_seeded_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_seeded_LDFLAGS =
tests_programs_signals_SOURCES = tests/programs/signals.c
tests_programs_signals_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_signals_LDFLAGS =
tests_programs_slowly_SOURCES = tests/programs/slowly.c
tests_programs_slowly_CFLAGS = $(PROGRAM_CFLAGS) -pthread
tests_programs_slowly_LDFLAGS = -pthread
tests_programs_syscalls_SOURCES = tests/programs/syscalls.c
tests_programs_syscalls_CFLAGS = -std=gnu11 -g -O2
tests_programs_syscalls_LDFLAGS =
tests_programs_tail_SOURCES = tests/programs/tail.c
tests_programs_tail_CFLAGS = -std=gnu11 -g -O2
tests_programs_tail_LDFLAGS =
tests_programs_threads_SOURCES = tests/programs/threads.c
tests_programs_threads_CFLAGS = $(PROGRAM_CFLAGS) -pthread
tests_programs_threads_LDFLAGS = -pthread

tests_programs_static_cancel_SOURCES = tests/programs/cancel.cpp
tests_programs_static_cancel_CXXFLAGS = $(tests_programs_cancel_CXXFLAGS)
tests_programs_static_cancel_LDFLAGS = -XCClinker -static-pie -pthread
tests_programs_static_coroutines_SOURCES = tests/programs/coroutines.c
tests_programs_static_coroutines_CFLAGS = $(tests_programs_coroutines_CFLAGS)
tests_programs_static_coroutines_LDFLAGS = -all-static
tests_programs_static_exclusive_SOURCES = tests/programs/exclusive.c
tests_programs_static_exclusive_CFLAGS = $(PROGRAM_CFLAGS) -pthread
tests_programs_static_exclusive_LDFLAGS = -all-static -pthread
tests_programs_static_execs_SOURCES = tests/programs/execs.c
tests_programs_static_execs_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_static_execs_LDFLAGS = -all-static
tests_programs_static_family_SOURCES = tests/programs/family.c
tests_programs_static_family_CFLAGS = $(tests_programs_family_CFLAGS)
tests_programs_static_family_LDFLAGS = -all-static
tests_programs_static_forks_SOURCES = tests/programs/forks.c
tests_programs_static_forks_CFLAGS = $(PROGRAM_CFLAGS) -pthread
tests_programs_static_forks_LDFLAGS = -all-static -pthread
tests_programs_static_group_exit_SOURCES = tests/programs/group_exit.c
tests_programs_static_group_exit_CFLAGS = $(PROGRAM_CFLAGS) -pthread
tests_programs_static_group_exit_LDFLAGS = -all-static -pthread
tests_programs_static_indirect_SOURCES = tests/programs/indirect.c
tests_programs_static_indirect_CFLAGS = $(tests_programs_indirect_CFLAGS)
tests_programs_static_indirect_LDFLAGS = -all-static
tests_programs_static_emulated_SOURCES = tests/programs/emulated.S
tests_programs_static_emulated_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_static_emulated_LDFLAGS = -all-static
tests_programs_static_labels_SOURCES = tests/programs/labels.S
tests_programs_static_labels_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_static_labels_LDFLAGS = -all-static
tests_programs_static_longjmp_SOURCES = tests/programs/longjmp.c
tests_programs_static_longjmp_CFLAGS = $(tests_programs_longjmp_CFLAGS)
tests_programs_static_longjmp_LDFLAGS = -all-static
tests_programs_static_opaque_SOURCES = tests/programs/opaque.c
tests_programs_static_opaque_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_static_opaque_LDFLAGS = -all-static -Wl,-z,execstack
tests_programs_static_ocaml_scanned_SOURCES = tests/programs/ocaml_traps.S
tests_programs_static_ocaml_scanned_CPPFLAGS = $(AM_CPPFLAGS) -DSCANNED
tests_programs_static_ocaml_scanned_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_static_ocaml_scanned_LDFLAGS = -all-static
tests_programs_static_ocaml_traps_SOURCES = tests/programs/ocaml_traps.S
tests_programs_static_ocaml_traps_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_static_ocaml_traps_LDFLAGS = -all-static
tests_programs_static_raised_SOURCES = tests/programs/raised.c
tests_programs_static_raised_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_static_raised_LDFLAGS = -all-static
tests_programs_static_replaced_SOURCES = tests/programs/replaced.c
tests_programs_static_replaced_CFLAGS = $(PROGRAM_CFLAGS) -fno-omit-frame-pointer
tests_programs_static_replaced_LDFLAGS = -all-static
tests_programs_static_recursion_SOURCES = tests/programs/recursion.c
tests_programs_static_recursion_CFLAGS = $(tests_programs_recursion_CFLAGS)
tests_programs_static_recursion_LDFLAGS = -all-static
tests_programs_static_signals_SOURCES = tests/programs/signals.c
tests_programs_static_signals_CFLAGS = $(tests_programs_signals_CFLAGS)
tests_programs_static_signals_LDFLAGS = -all-static
tests_programs_static_stack_kinds_SOURCES = tests/programs/stack_kinds.c
tests_programs_static_stack_kinds_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_static_stack_kinds_LDFLAGS = -all-static
tests_programs_static_parked_SOURCES = tests/programs/parked.c
tests_programs_static_parked_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_static_parked_LDFLAGS = -all-static
tests_programs_static_switches_SOURCES = tests/programs/switches.c
tests_programs_static_switches_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_static_switches_LDFLAGS = -all-static
tests_programs_static_causes_SOURCES = tests/programs/causes.c
# The compiler must not unroll or merge loops: tests count their rounds.
tests_programs_static_causes_CFLAGS = $(PROGRAM_CFLAGS) -fno-unroll-loops -pthread
tests_programs_static_causes_LDFLAGS = -all-static -pthread
tests_programs_static_memory_SOURCES = tests/programs/memory.c
tests_programs_static_memory_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_static_memory_LDFLAGS = -all-static
tests_programs_static_shared_SOURCES = tests/programs/shared.c
tests_programs_static_shared_CFLAGS = $(PROGRAM_CFLAGS) -fno-unroll-loops -pthread
tests_programs_static_shared_LDFLAGS = -all-static -pthread

tests_programs_static_hidden_SOURCES = tests/programs/hidden.c
tests_programs_static_hidden_CFLAGS = $(PROGRAM_CFLAGS) -fno-unroll-loops -pthread
tests_programs_static_hidden_LDFLAGS = -all-static -pthread
tests_programs_static_chains_SOURCES = tests/programs/chains.c
tests_programs_static_chains_CFLAGS = -std=gnu11 -g -O2
tests_programs_static_chains_LDFLAGS = -all-static
tests_programs_static_chains_called_SOURCES = tests/programs/chains.c
tests_programs_static_chains_called_CFLAGS = -std=gnu11 -g -O2 -fno-optimize-sibling-calls
tests_programs_static_chains_called_LDFLAGS = -all-static
tests_programs_static_planted_SOURCES = tests/programs/planted.c
tests_programs_static_planted_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_static_planted_LDFLAGS = -all-static
tests_programs_static_syscalls_SOURCES = tests/programs/syscalls.c
tests_programs_static_syscalls_CFLAGS = $(tests_programs_syscalls_CFLAGS)
tests_programs_static_syscalls_LDFLAGS = -all-static
tests_programs_static_tail_SOURCES = tests/programs/tail.c
tests_programs_static_tail_CFLAGS = $(tests_programs_tail_CFLAGS)
tests_programs_static_tail_LDFLAGS = -all-static
tests_programs_static_thread_exec_SOURCES = tests/programs/thread_exec.c
tests_programs_static_thread_exec_CFLAGS = $(PROGRAM_CFLAGS) -pthread
tests_programs_static_thread_exec_LDFLAGS = -all-static -pthread
tests_programs_static_threads_SOURCES = tests/programs/threads.c
tests_programs_static_threads_CFLAGS = $(tests_programs_threads_CFLAGS)
tests_programs_static_threads_LDFLAGS = -all-static -pthread
tests_programs_static_except_SOURCES = tests/programs/except.cpp
tests_programs_static_except_CXXFLAGS = $(tests_programs_except_CXXFLAGS)
tests_programs_static_except_LDFLAGS = -all-static
tests_programs_static_renamed_a_SOURCES = tests/programs/renamed.c
tests_programs_static_renamed_a_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_static_renamed_a_LDFLAGS = -all-static
tests_programs_static_renamed_b_SOURCES = tests/programs/renamed.c
tests_programs_static_renamed_b_CFLAGS = $(PROGRAM_CFLAGS) -DNEW
tests_programs_static_renamed_b_LDFLAGS = -all-static
tests_programs_static_version_a_SOURCES = tests/programs/versions.c
tests_programs_static_version_a_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_static_version_a_LDFLAGS = -all-static
tests_programs_static_version_b_SOURCES = tests/programs/versions.c
tests_programs_static_version_b_CFLAGS = $(PROGRAM_CFLAGS) -DNEW
tests_programs_static_version_b_LDFLAGS = -all-static
tests_programs_static_transfers_SOURCES = tests/programs/transfers.S
tests_programs_static_transfers_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_static_transfers_LDFLAGS = -all-static
tests_programs_static_fibers_SOURCES = tests/programs/fibers.cpp
tests_programs_static_fibers_CXXFLAGS = -g -O2 -fPIE -fno-optimize-sibling-calls
tests_programs_static_fibers_LDFLAGS = -XCClinker -static-pie
tests_programs_static_unwinding_SOURCES = tests/programs/unwinding.cpp
# A position-independent program does not sort its unwind entries: a tenth of the instructions.
tests_programs_static_unwinding_CXXFLAGS = -g -O2 -fPIE
tests_programs_static_unwinding_LDFLAGS = -XCClinker -static-pie
tests_programs_static_wrapped_SOURCES = tests/programs/wrapped.c tests/programs/wrappers.S
tests_programs_static_wrapped_CFLAGS = $(PROGRAM_CFLAGS)
tests_programs_static_wrapped_LDFLAGS = -all-static

# Plug-ins are opened at run time, not linked, so plain rules are enough.
EXTRA_DIST += tests/programs/coverage.c tests/programs/coverage.cc tests/programs/plugin.c
PLUGINS = tests/programs/plugin_a.so tests/programs/plugin_b.so
check_DATA = $(PLUGINS)
CLEANFILES += $(PLUGINS)
# tests/support/stack_rules.sh keeps objdump's output of a program.
CLEANFILES += tests/programs/*.listing tests/programs/static/*.listing
$(PLUGINS): tests/programs/plugin.c
	$(AM_V_CC)name=`basename $@ .so` && $(MKDIR_P) tests/programs && \
		$(CC) $(PROGRAM_CFLAGS) -fPIC -shared -DNAME=$$name -o $@ $(top_srcdir)/tests/programs/plugin.c

# Recorded for the clock of OCaml's runtime events: static, so that addresses are those of the file.
check_PROGRAMS += tests/programs/static/ocaml
tests_programs_static_ocaml_SOURCES = tests/programs/ocaml.c
tests_programs_static_ocaml_CFLAGS = $(PROGRAM_CFLAGS) -pthread
tests_programs_static_ocaml_LDFLAGS = -all-static -pthread
tests_programs_static_ocaml_LDADD =
