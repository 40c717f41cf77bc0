# SPDX-License-Identifier: MIT
# Everything but main(), so that tests can link it.
noinst_LIBRARIES += libptrace2ftf.a
libptrace2ftf_a_SOURCES = \
	src/batch.c src/batch.h \
	src/batch_job.c src/batch_job.h \
	src/batch_line.c src/batch_line.h \
	src/batch_plan.c src/batch_plan.h \
	src/batch_stamp.c src/batch_stamp.h \
	src/call_sites.c src/call_sites.h \
	src/callstack.c src/callstack.h \
	src/callstack_batch.c src/callstack_batch.h \
	src/callstack_frame_index.c src/callstack_frame_index.h \
	src/callstack_frames.c src/callstack_frames.h \
	src/callstack_magic_frames.c src/callstack_magic_frames.h \
	src/callstack_magic_trace.c src/callstack_magic_trace.h \
	src/callstack_precise.c src/callstack_precise.h \
	src/callstack_precise_branches.c \
	src/callstack_precise_plain.c \
	src/callstack_precise_stack.c src/callstack_precise_stack.h \
	src/code_files.c src/code_files.h \
	src/convert.c src/convert.h \
	src/convert_perf_data.c src/convert_perf_data.h \
	src/durations.c src/durations.h \
	src/decode_threads.c src/decode_threads.h \
	src/event_filter.c src/event_filter.h \
	src/format_branches.c src/format_branches.h \
	src/format_calls.c src/format_calls.h \
	src/format_chrome.c src/format_chrome.h \
	src/format_folded.c src/format_folded.h \
	src/format_functions.c src/format_functions.h \
	src/format_speedscope.c src/format_speedscope.h \
	src/format_svg.c src/format_svg.h \
	src/format_slices.c src/format_slices.h \
	src/ftf_sink.c src/ftf_sink.h \
	src/kernel_changes.c src/kernel_changes.h \
	src/ftf_split.c src/ftf_split.h \
	src/kernel_files.c src/kernel_files.h \
	src/kernel_modules.c src/kernel_modules.h \
	src/kernel_names.c src/kernel_names.h \
	src/inline_flow.c src/inline_flow.h \
	src/json_text.c src/json_text.h \
	src/jit_dumps.c src/jit_dumps.h \
	src/nearest.c src/nearest.h \
	src/option_batch.c src/option_choose.c src/option_group.h src/option_overlays.c \
	src/option_report.c src/option_sandbox.c src/option_select.c src/option_speed.c \
	src/option_timing.c \
	src/options.c src/options.h \
	src/output_check.c src/output_check.h \
	src/overlay_calls.c src/overlay_calls.h \
	src/overlay_clock.c src/overlay_clock.h \
	src/overlay_dump.c src/overlay_dump.h \
	src/overlay_input.c src/overlay_input.h \
	src/overlay_ladder.c src/overlay_ladder.h \
	src/overlay_sideband.c src/overlay_sideband.h \
	src/overlay_spans.c src/overlay_spans.h \
	src/overlay_trace.c src/overlay_trace.h \
	src/overlay_trace_memtrace.c src/overlay_trace_runtime.c \
	src/overlays.c src/overlays.h \
	src/output_path.c src/output_path.h \
	src/pair_table.c src/pair_table.h \
	src/perf_script.c src/perf_script.h \
	src/perf_script_calls.c src/perf_script_calls.h \
	src/perf_script_line.c src/perf_script_line.h \
	src/progress.c src/progress.h \
	src/report.c src/report.h src/report_print.c \
	src/resolve.c src/resolve.h \
	src/sandbox.c src/sandbox.h src/sandbox_calls.c src/sandbox_files.c \
	src/side_early.c src/side_early.h \
	src/side_records.c src/side_records.h \
	src/side_sink.c src/side_sink.h \
	src/side_switches.c src/side_switches.h \
	src/side_tracks.c src/side_tracks.h \
	src/side_view.c src/side_view.h \
	src/selection.c src/selection.h \
	src/size_note.c src/size_note.h \
	src/slice_output.c src/slice_output.h \
	src/slice_args.c src/slice_args.h \
	src/slice_costs.c src/slice_costs.h \
	src/span_filter.c src/span_filter.h \
	src/span_relay.c src/span_relay.h \
	src/span_sink.h \
	src/span_spool.c src/span_spool.h \
	src/span_sorter.c src/span_sorter.h \
	src/span_track.c src/span_track.h \
	src/span_tally.c src/span_tally.h \
	src/summary.c src/summary.h \
	src/thread_stacks.c src/thread_stacks.h \
	src/track.h \
	src/versions.c src/versions.h \
	src/view.c src/view.h

bin_PROGRAMS += ptrace2ftf
ptrace2ftf_SOURCES = src/main.c

# Order matters: each library may use the ones after it.
PTRACE2FTF_LIBS = libptrace2ftf.a libdecoder.a libsymbols.a liboverlays.a libftf.la libbase.a \
	$(IPT_LIBS) $(ZYDIS_LIBS) $(DW_LIBS) $(ELF_LIBS) $(IBERTY_LIBS) \
	$(JANSSON_LIBS) $(XXHASH_LIBS) $(ZSTD_LIBS) $(ZLIB_LIBS) $(LZMA_LIBS)
ptrace2ftf_LDADD = $(PTRACE2FTF_LIBS)
