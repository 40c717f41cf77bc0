# SPDX-License-Identifier: MIT
# Everything but main(), so that tests can link it.
noinst_LIBRARIES += libptrace2ftf.a
libptrace2ftf_a_SOURCES = \
	src/annotate/annotate_command.c \
	src/batch/batch.c src/batch/batch.h \
	src/batch/batch_job.c \
	src/batch/batch_loop.c \
	src/batch/batch_plan.c \
	src/batch/batch_stamp.c \
	src/callstack/callstack.c src/callstack/callstack.h \
	src/callstack/timestamp_deferred.c \
	src/callstack/timestamp_group.c src/callstack/timestamp_group.h \
	src/callstack/timestamp_times.c \
	src/callstack/call_stretch.h \
	src/callstack/fork_pauses.c src/callstack/fork_pauses.h \
	src/callstack/inline_flow.c \
	src/callstack/thread_stacks.c src/callstack/thread_stacks.h \
	src/callstack/magic_trace/callstack_magic_frames.c src/callstack/magic_trace/callstack_magic_frames.h \
	src/callstack/magic_trace/callstack_magic_trace.c \
	src/callstack/precise/callstack_precise.c \
	src/callstack/precise/callstack_precise_branches.c \
	src/callstack/precise/call_follower.c \
	src/callstack/precise/callstack_precise_far.c \
	src/callstack/precise/callstack_precise_inlined.c \
	src/callstack/precise/callstack_precise_opaque.c \
	src/callstack/precise/callstack_precise_stack.c src/callstack/precise/callstack_precise_stack.h \
	src/callstack/precise/callstack_precise_switch.c \
	src/callstack/precise/special_symbols.c src/callstack/precise/special_symbols.h \
	src/callstack/precise/frame_list.c src/callstack/precise/frame_list.h \
	src/cli/command_line.c src/cli/command_line.h \
	src/cli/commands.c src/cli/commands.h \
	src/cli/output_suffix.c \
	src/cli/input_list.c \
	src/cli/option_conflicts.c \
	src/cli/option_table.c \
	src/cli/settings.c \
	src/cli/suggest.c \
	src/costs/cost_stacks.c src/costs/cost_stacks.h \
	src/costs/executed_code.c src/costs/executed_code.h \
	src/diff/diff.h src/diff/diff_command.c \
	src/diff/diff_limit.c \
	src/diff/diff_print.c \
	src/diff/diff_rows.c \
	src/diff/first_diff.c \
	src/diff/first_ways.c \
	src/events/cpu_events.c \
	src/events/event_output.c src/events/event_output.h \
	src/events/event_tracks.c \
	src/events/hit_events.c \
	src/events/hit_output.c src/events/hit_output.h \
	src/events/period_counters.c \
	src/events/pebs_events.c \
	src/events/record_events.c \
	src/formats/answers/cause_lines.c \
	src/formats/answers/code_causes.c \
	src/formats/answers/format_why.c \
	src/formats/answers/why.h \
	src/formats/answers/why_words.c \
	src/formats/answers/other_thread.c \
	src/formats/answers/shared_traits.c \
	src/formats/answers/slow_calls.c \
	src/formats/answers/slow_code.c \
	src/formats/answers/call_shape.c src/formats/answers/slow_causes.c src/formats/answers/slow_causes.h \
	src/formats/call_sites.c src/formats/call_sites.h \
	src/formats/format_annotate.c \
	src/formats/format_callgrind.c \
	src/formats/format_branches.c \
	src/formats/format_order.c \
	src/formats/format_calls.c \
	src/formats/format_chrome.c \
	src/formats/format_compilers.c \
	src/formats/format_folded.c \
	src/formats/format_functions.c \
	src/formats/format_slices.c \
	src/formats/answers/chosen_calls.c src/formats/answers/chosen_calls.h \
	src/formats/answers/format_histogram.c \
	src/formats/format_speedscope.c \
	src/formats/format_tree.c \
	src/formats/slice_list.c src/formats/slice_list.h \
	src/formats/lcov/covered_lines.c src/formats/lcov/covered_lines.h \
	src/formats/lcov/format_lcov.c \
	src/formats/text/any_text.c src/formats/text/any_text.h \
	src/formats/text/source_file.c src/formats/text/source_file.h \
	src/formats/text/digits.c src/formats/text/digits.h \
	src/formats/output_format.c src/formats/output_format.h \
	src/formats/text/time_note.c src/formats/text/time_note.h \
	src/formats/text/event_text.c src/formats/text/event_text.h \
	src/formats/text/json_print.c src/formats/text/json_print.h \
	src/formats/ftf/format_ftf.c \
	src/formats/ftf/ftf_events.c \
	src/formats/ftf/ftf_sink.c src/formats/ftf/ftf_sink.h \
	src/formats/ftf/fit_ranks.c src/formats/ftf/fit_ranks.h \
	src/formats/ftf/fit_store.c src/formats/ftf/fit_store.h \
	src/formats/ftf/ftf_fit.c src/formats/ftf/ftf_fit.h \
	src/formats/ftf/ftf_side.c src/formats/ftf/ftf_side.h \
	src/formats/ftf/ftf_split.c \
	src/formats/parquet/format_parquet.c \
	src/formats/parquet/parquet_file.c src/formats/parquet/parquet_file.h \
	src/html/format_html.c \
	src/html/html_page.c src/html/html_page.h \
	src/html/page_events.c \
	src/html/why_page.c \
	src/options/option_paths.c \
	src/options/options.c src/options/options.h \
	src/options/selection.c src/options/selection.h \
	src/pack/pack.c \
	src/overlays/overlay_calls.c \
	src/overlays/overlay_clock.c \
	src/overlays/overlay_cut.c \
	src/overlays/overlay_importer.h \
	src/overlays/overlay_input.c \
	src/overlays/overlay_sideband.c \
	src/overlays/overlay_trace_memtrace.c \
	src/overlays/overlay_trace_runtime.c \
	src/overlays/overlays.c src/overlays/overlays.h \
	src/perf_script/inferred_calls.c \
	src/perf_script/perf_script.c src/perf_script/perf_script.h \
	src/perf_script/perf_script_line.c src/perf_script/perf_script_line.h \
	src/perf_script/text_view.c \
	src/pipeline/convert.c src/pipeline/convert.h \
	src/pipeline/convert_events.c \
	src/pipeline/convert_perf_data.c \
	src/pipeline/convert_perf_script.c \
	src/pipeline/decode_threads.c \
	src/pipeline/hints.c \
	src/pipeline/list_recording.c \
	src/pipeline/output_pipeline.c src/pipeline/output_pipeline.h \
	src/pipeline/raw_input.c \
	src/pipeline/recording.c src/pipeline/recording.h \
	src/pipeline/second_look.c \
	src/record/call_watch.c \
	src/record/code_file.c \
	src/record/incidents.c \
	src/record/obstacles.c \
	src/record/perf_command.c \
	src/record/record.c src/record/record.h \
	src/record/slow_watch.c \
	src/report/progress.c src/report/progress.h \
	src/report/report.c src/report/report.h \
	src/report/report_print.c \
	src/report/summary.c src/report/summary.h \
	src/report/top_functions.c \
	src/resolve/code_files.c src/resolve/code_files.h \
	src/resolve/jit_dumps.c \
	src/resolve/kernel_files.c \
	src/resolve/kernel_modules.c \
	src/resolve/location.c src/resolve/location.h \
	src/resolve/resolve.c src/resolve/resolve.h \
	src/sandbox/keeper.c \
	src/sandbox/sandbox.c src/sandbox/sandbox.h \
	src/sandbox/sandbox_calls.c \
	src/sandbox/sandbox_files.c \
	src/select/event_filter.c src/select/event_filter.h \
	src/select/function_choice.c src/select/function_choice.h \
	src/select/function_labels.c src/select/function_labels.h \
	src/select/mode_filter.c src/select/mode_filter.h \
	src/select/name_forms.c src/select/name_forms.h \
	src/select/slice_filter.c src/select/slice_filter.h \
	src/select/slice_within.c \
	src/slow/format_slowest.c src/slow/slow_traces.c src/slow/why_many.c \
	src/slow/why_merged.h \
	src/serve/browser.c \
	src/serve/viewer_page.c src/serve/viewer_page.h \
	src/slices/call_tree.c src/slices/call_tree.h \
	src/slices/durations.c src/slices/durations.h \
	src/slices/slice_args.c src/slices/slice_args.h \
	src/slices/slice_queue.c src/slices/slice_queue.h \
	src/slices/event_sink.c src/slices/event_sink.h \
	src/slices/event_store.c src/slices/event_store.h \
	src/slices/slice_sink.h \
	src/slices/slice_sorter.c src/slices/slice_sorter.h \
	src/slices/fiber_tracks.c src/slices/fiber_tracks.h \
	src/slices/slice_store.c src/slices/slice_store.h \
	src/slices/slice_totals.c src/slices/slice_totals.h \
	src/slices/track.h

# The pages as lines of C.
page_parts = src/html/page.html src/html/page.css src/html/charts.js src/html/page.js src/html/why.html
EXTRA_DIST += $(page_parts)
CLEANFILES += src/html/page_lines.inc
src/html/page_lines.inc: $(page_parts)
	$(AM_V_GEN)$(MKDIR_P) src/html && { sed -e '/^@style@$$/{r $(srcdir)/src/html/page.css' -e 'd;}' \
		-e '/^@charts@$$/{r $(srcdir)/src/html/charts.js' -e 'd;}' \
		-e '/^@script@$$/{r $(srcdir)/src/html/page.js' -e 'd;}' $(srcdir)/src/html/page.html && \
		echo @why@ && cat $(srcdir)/src/html/why.html; } | \
		sed 's/[\\"]/\\&/g; s/.*/"&\\n",/' >$@.new && mv $@.new $@
src/html/html_page.$(OBJEXT): src/html/page_lines.inc

# The statements of a database as texts of C.
SUFFIXES = .sql .inc
.sql.inc:
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed '/^--/d; s/.*/"&"/' $< >$@.new && mv $@.new $@
sqlite_texts = src/formats/sqlite/calls.inc src/formats/sqlite/branches.inc \
	src/formats/sqlite/events.inc src/formats/sqlite/ending.inc
EXTRA_DIST += $(sqlite_texts:.inc=.sql)
CLEANFILES += $(sqlite_texts)
src/formats/sqlite/format_sqlite.$(OBJEXT): $(sqlite_texts)

# The messages' functions are made of their description.
pprof_messages = src/formats/pprof/profile.pb-c.c src/formats/pprof/profile.pb-c.h
EXTRA_DIST += src/formats/pprof/profile.proto
if HAVE_PROTOBUF_C
libptrace2ftf_a_SOURCES += \
	src/formats/pprof/format_pprof.c
nodist_libptrace2ftf_a_SOURCES = $(pprof_messages)
BUILT_SOURCES += $(pprof_messages)
CLEANFILES += $(pprof_messages)
src/formats/pprof/profile.pb-c.c: src/formats/pprof/profile.proto
	$(AM_V_GEN)$(MKDIR_P) src && $(PROTOC_C) -I$(top_srcdir) --c_out=. \
		$(top_srcdir)/src/formats/pprof/profile.proto
src/formats/pprof/profile.pb-c.h: src/formats/pprof/profile.pb-c.c
src/formats/pprof/format_pprof.$(OBJEXT): src/formats/pprof/profile.pb-c.h
endif

if HAVE_SQLITE
libptrace2ftf_a_SOURCES += src/formats/sqlite/format_sqlite.c
endif

bin_PROGRAMS += ptrace2ftf
ptrace2ftf_SOURCES = src/main.c
# Programs of tests link open_trace_none.c before the library, and have no server.
if HAVE_MHD
libptrace2ftf_a_SOURCES += src/serve/open_trace.c src/serve/trace_server.c
else
ptrace2ftf_SOURCES += src/serve/open_trace_none.c
endif

# Order matters: each library may use the ones after it. Of the shared ones the C library comes first,
# because most symbols are its own, and the loader searches libraries in this order.
PTRACE2FTF_LIBS = libptrace2ftf.a libftfread.a libdecoder.a libsymbols.a liboverlays.a libftf.la libbase.a \
	-lc $(IPT_LIBS) $(DW_LIBS) $(ELF_LIBS) libdemanglers.a \
	$(JANSSON_LIBS) $(ZSTD_LIBS) $(ZLIB_LIBS) $(DEFLATE_LIBS) $(LZMA_LIBS) $(PROTOBUF_C_LIBS)
ptrace2ftf_LDADD = $(PTRACE2FTF_LIBS)
