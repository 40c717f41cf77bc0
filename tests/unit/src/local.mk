# SPDX-License-Identifier: MIT
check_PROGRAMS += tests/unit/src/callstack_magic_trace.test
TESTS += tests/unit/src/callstack_magic_trace.test
tests_unit_src_callstack_magic_trace_test_SOURCES = \
	tests/unit/src/callstack_magic_trace.c \
	tests/unit/src/slice_log.c tests/unit/src/slice_log.h tests/unit/src/slice_feed.h
tests_unit_src_callstack_magic_trace_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_callstack_magic_trace_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/perf_script_line.test
TESTS += tests/unit/src/perf_script_line.test
tests_unit_src_perf_script_line_test_SOURCES = tests/unit/src/perf_script_line.c
tests_unit_src_perf_script_line_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_perf_script_line_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/perf_script.test
TESTS += tests/unit/src/perf_script.test
tests_unit_src_perf_script_test_SOURCES = tests/unit/src/perf_script.c \
	tests/support/perf_script_calls.c tests/support/perf_script_calls.h
tests_unit_src_perf_script_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_perf_script_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/fiber_tracks.test
TESTS += tests/unit/src/fiber_tracks.test
tests_unit_src_fiber_tracks_test_SOURCES = tests/unit/src/fiber_tracks.c
tests_unit_src_fiber_tracks_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_fiber_tracks_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/slice_sorter.test
TESTS += tests/unit/src/slice_sorter.test
tests_unit_src_slice_sorter_test_SOURCES = \
	tests/unit/src/slice_sorter.c \
	tests/unit/src/slice_log.c tests/unit/src/slice_log.h tests/unit/src/slice_feed.h
tests_unit_src_slice_sorter_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_slice_sorter_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/frame_list.test
TESTS += tests/unit/src/frame_list.test
tests_unit_src_frame_list_test_SOURCES = tests/unit/src/frame_list.c
tests_unit_src_frame_list_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_frame_list_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/ftf_fit.test
TESTS += tests/unit/src/ftf_fit.test
tests_unit_src_ftf_fit_test_SOURCES = tests/unit/src/ftf_fit.c
tests_unit_src_ftf_fit_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_ftf_fit_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/file_changed.test
TESTS += tests/unit/src/file_changed.test
tests_unit_src_file_changed_test_SOURCES = tests/unit/src/file_changed.c
tests_unit_src_file_changed_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_file_changed_test_LDADD = $(UNIT_LIBS)
check_PROGRAMS += tests/unit/src/fit_ranks.test
TESTS += tests/unit/src/fit_ranks.test
tests_unit_src_fit_ranks_test_SOURCES = tests/unit/src/fit_ranks.c
tests_unit_src_fit_ranks_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_fit_ranks_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/ftf_sink.test
TESTS += tests/unit/src/ftf_sink.test
tests_unit_src_ftf_sink_test_SOURCES = tests/unit/src/ftf_sink.c
tests_unit_src_ftf_sink_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_ftf_sink_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/call_stretch.test
TESTS += tests/unit/src/call_stretch.test
tests_unit_src_call_stretch_test_SOURCES = \
	tests/unit/src/call_stretch.c \
	tests/unit/src/slice_log.c tests/unit/src/slice_log.h
tests_unit_src_call_stretch_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_call_stretch_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/callstack_random.test
TESTS += tests/unit/src/callstack_random.test
tests_unit_src_callstack_random_test_SOURCES = tests/unit/src/callstack_random.c \
	tests/unit/src/slice_log.c tests/unit/src/slice_log.h
tests_unit_src_callstack_random_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_callstack_random_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/callstack_precise.test
TESTS += tests/unit/src/callstack_precise.test
tests_unit_src_callstack_precise_test_SOURCES = \
	tests/unit/src/callstack_precise.c tests/unit/src/callstack_precise.h \
	tests/unit/src/callstack_precise_calls.c \
	tests/unit/src/callstack_precise_costs.c \
	tests/unit/src/callstack_precise_exceptions.c \
	tests/unit/src/callstack_precise_far.c \
	tests/unit/src/callstack_precise_inlined.c \
	tests/unit/src/callstack_precise_limits.c \
	tests/unit/src/callstack_precise_opaque.c \
	tests/unit/src/callstack_precise_tails.c \
	tests/unit/src/callstack_precise_stacks.c \
	tests/unit/src/callstack_precise_times.c \
	tests/unit/src/slice_log.c tests/unit/src/slice_log.h tests/unit/src/slice_feed.h
tests_unit_src_callstack_precise_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_callstack_precise_test_LDADD = $(UNIT_LIBS)
tests_unit_src_callstack_precise_test_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=dso_find_inlined,--wrap=address_space_borrow_mapping

check_PROGRAMS += tests/unit/src/thread_stacks.test
TESTS += tests/unit/src/thread_stacks.test
tests_unit_src_thread_stacks_test_SOURCES = \
	tests/unit/src/thread_stacks.c \
	tests/unit/src/slice_log.c tests/unit/src/slice_log.h tests/unit/src/slice_feed.h
tests_unit_src_thread_stacks_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_thread_stacks_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/resolve.test
TESTS += tests/unit/src/resolve.test
tests_unit_src_resolve_test_SOURCES = tests/unit/src/resolve.c
tests_unit_src_resolve_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_resolve_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/fork_pauses.test
TESTS += tests/unit/src/fork_pauses.test
tests_unit_src_fork_pauses_test_SOURCES = tests/unit/src/fork_pauses.c
tests_unit_src_fork_pauses_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_fork_pauses_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/hits.test
TESTS += tests/unit/src/hits.test
tests_unit_src_hits_test_SOURCES = tests/unit/src/hits.c \
	tests/unit/src/event_recording.c tests/unit/src/event_recording.h
tests_unit_src_hits_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_hits_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/jit_dumps.test
TESTS += tests/unit/src/jit_dumps.test
tests_unit_src_jit_dumps_test_SOURCES = tests/unit/src/jit_dumps.c
tests_unit_src_jit_dumps_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_jit_dumps_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/cpu_events.test
TESTS += tests/unit/src/cpu_events.test
tests_unit_src_cpu_events_test_SOURCES = tests/unit/src/cpu_events.c \
	tests/unit/src/event_recording.c tests/unit/src/event_recording.h
tests_unit_src_cpu_events_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_cpu_events_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/event_filter.test
TESTS += tests/unit/src/event_filter.test
tests_unit_src_event_filter_test_SOURCES = tests/unit/src/event_filter.c
tests_unit_src_event_filter_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_event_filter_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/mode_filter.test
TESTS += tests/unit/src/mode_filter.test
tests_unit_src_mode_filter_test_SOURCES = tests/unit/src/mode_filter.c
tests_unit_src_mode_filter_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_mode_filter_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/modes.test
TESTS += tests/unit/src/modes.test
tests_unit_src_modes_test_SOURCES = tests/unit/src/modes.c \
	tests/unit/src/event_recording.c tests/unit/src/event_recording.h
tests_unit_src_modes_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_modes_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/event_choice.test
TESTS += tests/unit/src/event_choice.test
tests_unit_src_event_choice_test_SOURCES = tests/unit/src/event_choice.c \
	tests/unit/src/event_recording.c tests/unit/src/event_recording.h
tests_unit_src_event_choice_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_event_choice_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/kernel_changes.test
TESTS += tests/unit/src/kernel_changes.test
tests_unit_src_kernel_changes_test_SOURCES = tests/unit/src/kernel_changes.c
tests_unit_src_kernel_changes_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_kernel_changes_test_LDADD = $(UNIT_LIBS)

# Kernel modules, as far as they are relocatable files.
check_DATA += tests/unit/src/modules/one.ko tests/unit/src/modules/two.ko
CLEANFILES += tests/unit/src/modules/one.ko tests/unit/src/modules/two.ko
EXTRA_DIST += tests/unit/src/modules/one.S tests/unit/src/modules/two.S
tests/unit/src/modules/one.ko: tests/unit/src/modules/one.S
	@$(MKDIR_P) tests/unit/src/modules
	$(AM_V_GEN)$(CC) -nostdlib -r -Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567 \
		-o $@ $(srcdir)/tests/unit/src/modules/one.S
tests/unit/src/modules/two.ko: tests/unit/src/modules/two.S
	@$(MKDIR_P) tests/unit/src/modules
	$(AM_V_GEN)$(CC) -c -o $@ $(srcdir)/tests/unit/src/modules/two.S

check_PROGRAMS += tests/unit/src/batch_plan.test
TESTS += tests/unit/src/batch_plan.test
tests_unit_src_batch_plan_test_SOURCES = tests/unit/src/batch_plan.c
tests_unit_src_batch_plan_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_batch_plan_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/selection.test
TESTS += tests/unit/src/selection.test
tests_unit_src_selection_test_SOURCES = tests/unit/src/selection.c
tests_unit_src_selection_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_selection_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/slice_filter.test
TESTS += tests/unit/src/slice_filter.test
tests_unit_src_slice_filter_test_SOURCES = \
	tests/unit/src/slice_filter.c \
	tests/unit/src/slice_log.c tests/unit/src/slice_log.h tests/unit/src/slice_feed.h
tests_unit_src_slice_filter_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_slice_filter_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/durations.test
TESTS += tests/unit/src/durations.test
tests_unit_src_durations_test_SOURCES = tests/unit/src/durations.c
tests_unit_src_durations_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_durations_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/digits.test
TESTS += tests/unit/src/digits.test
tests_unit_src_digits_test_SOURCES = tests/unit/src/digits.c
tests_unit_src_digits_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_digits_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/json_text.test
TESTS += tests/unit/src/json_text.test
tests_unit_src_json_text_test_SOURCES = tests/unit/src/json_text.c
tests_unit_src_json_text_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_json_text_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/perfetto_memory_hint.test
TESTS += tests/unit/src/perfetto_memory_hint.test
tests_unit_src_perfetto_memory_hint_test_SOURCES = tests/unit/src/perfetto_memory_hint.c
tests_unit_src_perfetto_memory_hint_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_perfetto_memory_hint_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/slice_queue.test
TESTS += tests/unit/src/slice_queue.test
tests_unit_src_slice_queue_test_SOURCES = tests/unit/src/slice_queue.c tests/unit/src/slice_log.c tests/unit/src/slice_log.h tests/unit/src/slice_feed.h
tests_unit_src_slice_queue_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_slice_queue_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/decode_threads.test
TESTS += tests/unit/src/decode_threads.test
tests_unit_src_decode_threads_test_SOURCES = tests/unit/src/decode_threads.c
tests_unit_src_decode_threads_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_decode_threads_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/sched_points.test
TESTS += tests/unit/src/sched_points.test
tests_unit_src_sched_points_test_SOURCES = tests/unit/src/sched_points.c
tests_unit_src_sched_points_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_sched_points_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/bpf_agrees.test
TESTS += tests/unit/src/bpf_agrees.test
tests_unit_src_bpf_agrees_test_SOURCES = tests/unit/src/bpf_agrees.c
tests_unit_src_bpf_agrees_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_bpf_agrees_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/kernel_cpus.test
TESTS += tests/unit/src/kernel_cpus.test
tests_unit_src_kernel_cpus_test_SOURCES = tests/unit/src/kernel_cpus.c
tests_unit_src_kernel_cpus_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_kernel_cpus_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/batch_stamp.test
TESTS += tests/unit/src/batch_stamp.test
tests_unit_src_batch_stamp_test_SOURCES = tests/unit/src/batch_stamp.c
tests_unit_src_batch_stamp_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_batch_stamp_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/batch_job.test
TESTS += tests/unit/src/batch_job.test
tests_unit_src_batch_job_test_SOURCES = tests/unit/src/batch_job.c
tests_unit_src_batch_job_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_batch_job_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/summary.test
TESTS += tests/unit/src/summary.test
tests_unit_src_summary_test_SOURCES = tests/unit/src/summary.c
tests_unit_src_summary_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_summary_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/ftf_records.test
TESTS += tests/unit/src/ftf_records.test
tests_unit_src_ftf_records_test_SOURCES = tests/unit/src/ftf_records.c tests/unit/src/slice_feed.h
tests_unit_src_ftf_records_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_ftf_records_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/ftf_split.test
TESTS += tests/unit/src/ftf_split.test
tests_unit_src_ftf_split_test_SOURCES = tests/unit/src/ftf_split.c
tests_unit_src_ftf_split_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_ftf_split_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/formats.test
TESTS += tests/unit/src/formats.test
tests_unit_src_formats_test_SOURCES = tests/unit/src/formats.c
tests_unit_src_formats_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_formats_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/report.test
TESTS += tests/unit/src/report.test
tests_unit_src_report_test_SOURCES = tests/unit/src/report.c
tests_unit_src_report_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_report_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/cost_stacks.test
TESTS += tests/unit/src/cost_stacks.test
tests_unit_src_cost_stacks_test_SOURCES = tests/unit/src/cost_stacks.c
tests_unit_src_cost_stacks_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_cost_stacks_test_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=dso_inlined_at,--wrap=dso_line,--wrap=dso_symbol_line \
	-Wl,--wrap=dso_borrow_symbol_at,--wrap=dso_borrow_code
tests_unit_src_cost_stacks_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/executed_code.test
TESTS += tests/unit/src/executed_code.test
tests_unit_src_executed_code_test_SOURCES = tests/unit/src/executed_code.c
tests_unit_src_executed_code_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_executed_code_test_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=dso_borrow_code
tests_unit_src_executed_code_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/call_tree.test
TESTS += tests/unit/src/call_tree.test
tests_unit_src_call_tree_test_SOURCES = \
	tests/unit/src/call_tree.c tests/unit/src/slice_feed.h
tests_unit_src_call_tree_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_call_tree_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/why_merged.test
TESTS += tests/unit/src/why_merged.test
tests_unit_src_why_merged_test_SOURCES = tests/unit/src/why_merged.c
tests_unit_src_why_merged_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_why_merged_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/slice_totals.test
TESTS += tests/unit/src/slice_totals.test
tests_unit_src_slice_totals_test_SOURCES = tests/unit/src/slice_totals.c
tests_unit_src_slice_totals_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_slice_totals_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/function_labels.test
TESTS += tests/unit/src/function_labels.test
tests_unit_src_function_labels_test_SOURCES = tests/unit/src/function_labels.c
tests_unit_src_function_labels_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_function_labels_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/name_forms.test
TESTS += tests/unit/src/name_forms.test
tests_unit_src_name_forms_test_SOURCES = tests/unit/src/name_forms.c
tests_unit_src_name_forms_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_name_forms_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/debug_hint.test
TESTS += tests/unit/src/debug_hint.test
tests_unit_src_debug_hint_test_SOURCES = tests/unit/src/debug_hint.c
tests_unit_src_debug_hint_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_debug_hint_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/serve.test
TESTS += tests/unit/src/serve.test
tests_unit_src_serve_test_SOURCES = tests/unit/src/serve.c
tests_unit_src_serve_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_serve_test_LDADD = $(UNIT_LIBS)

if HAVE_MHD
check_PROGRAMS += tests/unit/src/trace_server.test tests/unit/src/open_trace.test
TESTS += tests/unit/src/trace_server.test tests/unit/src/open_trace.test
endif
tests_unit_src_open_trace_test_SOURCES = tests/unit/src/open_trace.c
tests_unit_src_open_trace_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_open_trace_test_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=trace_server_listen,--wrap=trace_server_open \
	-Wl,--wrap=trace_server_run,--wrap=trace_server_close,--wrap=page_reach,--wrap=browser_start \
	-Wl,--wrap=sandbox_enter,--wrap=batch_one_run
tests_unit_src_open_trace_test_LDADD = $(UNIT_LIBS)
tests_unit_src_trace_server_test_SOURCES = tests/unit/src/trace_server.c
tests_unit_src_trace_server_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_trace_server_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/syscall_symbols.test
TESTS += tests/unit/src/syscall_symbols.test
tests_unit_src_syscall_symbols_test_SOURCES = tests/unit/src/syscall_symbols.c
tests_unit_src_syscall_symbols_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_syscall_symbols_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/code_file.test
TESTS += tests/unit/src/code_file.test
tests_unit_src_code_file_test_SOURCES = tests/unit/src/code_file.c
tests_unit_src_code_file_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_code_file_test_LDADD = $(UNIT_LIBS)
check_PROGRAMS += tests/unit/src/command_line.test
TESTS += tests/unit/src/command_line.test
tests_unit_src_command_line_test_SOURCES = tests/unit/src/command_line.c
tests_unit_src_command_line_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_command_line_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/answers.test
TESTS += tests/unit/src/answers.test
tests_unit_src_answers_test_SOURCES = tests/unit/src/answers.c tests/unit/src/answers.h \
	tests/unit/src/answers_calls.c tests/unit/src/answers_causes.c \
	tests/unit/src/answers_page.c tests/unit/src/answers_parts.c tests/unit/src/answers_why.c tests/unit/src/answers_formats.c \
	tests/unit/src/slice_feed.h
tests_unit_src_answers_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_answers_test_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=dso_symbol_line
tests_unit_src_answers_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/slow_code.test
TESTS += tests/unit/src/slow_code.test
tests_unit_src_slow_code_test_SOURCES = tests/unit/src/slow_code.c
tests_unit_src_slow_code_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_slow_code_test_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=executed_insn_at,--wrap=dso_line,--wrap=dso_inlined_at,--wrap=slice_source_line
tests_unit_src_slow_code_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/diff.test
TESTS += tests/unit/src/diff.test
tests_unit_src_diff_test_SOURCES = tests/unit/src/diff.c
tests_unit_src_diff_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_diff_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/first_diff.test
TESTS += tests/unit/src/first_diff.test
tests_unit_src_first_diff_test_SOURCES = tests/unit/src/first_diff.c
tests_unit_src_first_diff_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_first_diff_test_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=dso_line
tests_unit_src_first_diff_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/compilers.test
TESTS += tests/unit/src/compilers.test
tests_unit_src_compilers_test_SOURCES = tests/unit/src/compilers.c
tests_unit_src_compilers_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_compilers_test_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=dso_borrow_symbol_at,--wrap=dso_borrow_code,--wrap=dso_source_frames
tests_unit_src_compilers_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/covered_lines.test
TESTS += tests/unit/src/covered_lines.test
tests_unit_src_covered_lines_test_SOURCES = tests/unit/src/covered_lines.c
tests_unit_src_covered_lines_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_covered_lines_test_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=dso_borrow_symbol_at,--wrap=dso_borrow_code,--wrap=dso_find_unit,--wrap=dso_list_statements,--wrap=dso_name_line
tests_unit_src_covered_lines_test_LDADD = $(UNIT_LIBS)

if HAVE_PROTOBUF_C
check_PROGRAMS += tests/unit/src/pprof.test
TESTS += tests/unit/src/pprof.test
tests_unit_src_pprof_test_SOURCES = tests/unit/src/pprof.c
tests_unit_src_pprof_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_pprof_test_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=dso_inlined_at,--wrap=dso_line,--wrap=dso_symbol_line \
	-Wl,--wrap=dso_borrow_symbol_at,--wrap=dso_borrow_code
tests_unit_src_pprof_test_LDADD = $(UNIT_LIBS)
endif

check_PROGRAMS += tests/unit/src/source_file.test
TESTS += tests/unit/src/source_file.test
tests_unit_src_source_file_test_SOURCES = tests/unit/src/source_file.c
tests_unit_src_source_file_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_source_file_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/raw_input.test
TESTS += tests/unit/src/raw_input.test
tests_unit_src_raw_input_test_SOURCES = tests/unit/src/raw_input.c
tests_unit_src_raw_input_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_raw_input_test_LDADD = $(UNIT_LIBS)

# It reads databases by the library.
if HAVE_SQLITE
check_PROGRAMS += tests/unit/src/sqlite.test
TESTS += tests/unit/src/sqlite.test
endif
tests_unit_src_sqlite_test_SOURCES = tests/unit/src/sqlite.c
tests_unit_src_sqlite_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_sqlite_test_LDADD = $(UNIT_LIBS) -lsqlite3

check_PROGRAMS += tests/unit/src/html.test
TESTS += tests/unit/src/html.test
tests_unit_src_html_test_SOURCES = tests/unit/src/html.c tests/unit/src/slice_feed.h
tests_unit_src_html_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_html_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/slow_runs.test
TESTS += tests/unit/src/slow_runs.test
tests_unit_src_slow_runs_test_SOURCES = tests/unit/src/slow_runs.c
tests_unit_src_slow_runs_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_slow_runs_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/slow_watch.test
TESTS += tests/unit/src/slow_watch.test
tests_unit_src_slow_watch_test_SOURCES = tests/unit/src/slow_watch.c
tests_unit_src_slow_watch_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_slow_watch_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/sandbox.test
TESTS += tests/unit/src/sandbox.test
tests_unit_src_sandbox_test_SOURCES = tests/unit/src/sandbox.c
tests_unit_src_sandbox_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_sandbox_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/perf_command.test
TESTS += tests/unit/src/perf_command.test
tests_unit_src_perf_command_test_SOURCES = tests/unit/src/perf_command.c
tests_unit_src_perf_command_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_perf_command_test_LDADD = $(UNIT_LIBS)
tests_unit_src_perf_command_test_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=access,--wrap=fopen,--wrap=geteuid,--wrap=syscall

check_PROGRAMS += tests/unit/src/annotate.test
TESTS += tests/unit/src/annotate.test
tests_unit_src_annotate_test_SOURCES = tests/unit/src/annotate.c
tests_unit_src_annotate_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_annotate_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/event_store.test
TESTS += tests/unit/src/event_store.test
tests_unit_src_event_store_test_SOURCES = tests/unit/src/event_store.c
tests_unit_src_event_store_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_event_store_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/overlays.test
TESTS += tests/unit/src/overlays.test
tests_unit_src_overlays_test_SOURCES = tests/unit/src/overlays.c
tests_unit_src_overlays_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_overlays_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/overlay_files.test
TESTS += tests/unit/src/overlay_files.test
tests_unit_src_overlay_files_test_SOURCES = tests/unit/src/overlay_files.c
tests_unit_src_overlay_files_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_overlay_files_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/pipeline_list.test
TESTS += tests/unit/src/pipeline_list.test
tests_unit_src_pipeline_list_test_SOURCES = tests/unit/src/pipeline_list.c
tests_unit_src_pipeline_list_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_pipeline_list_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/pipeline_more.test
TESTS += tests/unit/src/pipeline_more.test
tests_unit_src_pipeline_more_test_SOURCES = tests/unit/src/pipeline_more.c
tests_unit_src_pipeline_more_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_pipeline_more_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/pipeline.test
TESTS += tests/unit/src/pipeline.test
tests_unit_src_pipeline_test_SOURCES = tests/unit/src/pipeline.c
tests_unit_src_pipeline_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_pipeline_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/thread_waits.test
TESTS += tests/unit/src/thread_waits.test
tests_unit_src_thread_waits_test_SOURCES = tests/unit/src/thread_waits.c
tests_unit_src_thread_waits_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_thread_waits_test_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=syscall_symbols_find,--wrap=executed_insn_at
tests_unit_src_thread_waits_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/src/parquet_file.test
TESTS += tests/unit/src/parquet_file.test
tests_unit_src_parquet_file_test_SOURCES = tests/unit/src/parquet_file.c
tests_unit_src_parquet_file_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_src_parquet_file_test_LDADD = $(UNIT_LIBS)
