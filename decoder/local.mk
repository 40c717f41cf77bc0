# SPDX-License-Identifier: MIT
# The code of the decoder that knows no recording.
DECODE_SOURCES = \
	decoder/address_space.h decoder/branch_event.c decoder/branch_event.h \
	decoder/cpu_event.h decoder/history.c decoder/history.h \
	decoder/known_branches.c decoder/known_branches.h \
	decoder/aux/aux_pieces.c decoder/aux/aux_window.c decoder/aux/aux_window.h \
	decoder/aux/pt_evd_pebs_packets.c decoder/aux/pt_info.c decoder/aux/pt_info.h \
	decoder/aux/pt_packet_read.c decoder/aux/pt_packet_read.h \
	decoder/clock/packet_clock.c decoder/clock/packet_clock.h decoder/clock/tsc_clock.h \
	decoder/code/address_filter.c decoder/code/address_filter.h \
	decoder/code/basic_block.c decoder/code/basic_block.h \
	decoder/code/block_counts.c decoder/code/code_counts.h \
	decoder/code/code_image.c decoder/code/code_image.h \
	decoder/code/insn.c decoder/code/insn.h \
	decoder/code/kernel_text.c decoder/code/packed_counts.h decoder/code/run_memo.c decoder/code/run_memo.h \
	decoder/code/stack_effect.c decoder/code/stack_effect.h \
	decoder/engine/pt_engine.h decoder/engine/pt_stream.h decoder/engine/event_pool.c decoder/engine/event_pool.h \
	decoder/engine/pt_stream_base.c decoder/engine/pt_stream_base.h \
	decoder/engine/schedule.c decoder/engine/schedule.h \
	decoder/engine/fast/emulated_ptwrite.c decoder/engine/fast/flow_cached.c \
	decoder/engine/fast/flow_checkpoint.c decoder/engine/fast/flow_checkpoint.h \
	decoder/engine/fast/flow_code.c decoder/engine/fast/flow_code.h \
	decoder/engine/fast/flow_counted.c decoder/engine/fast/flow_follow.h \
	decoder/engine/fast/flow_frequent.c decoder/engine/fast/flow_packets.c decoder/engine/fast/flow_packets.h \
	decoder/engine/fast/flow_record.h decoder/engine/fast/flow_runs.h decoder/engine/fast/flow_segments.c decoder/engine/fast/flow_state.h \
	decoder/engine/fast/flow_opaque.c decoder/engine/fast/flow_probe.c \
	decoder/engine/fast/flow_step.c decoder/engine/fast/flow_step.h \
	decoder/engine/fast/flow_window.c decoder/engine/fast/pt_flow.c decoder/engine/fast/pt_flow.h decoder/engine/fast/tnt_bits.h \
	decoder/engine/libipt/pt_block_events.c decoder/engine/libipt/pt_blocks.c decoder/engine/libipt/pt_blocks.h \
	decoder/engine/libipt/pt_rewrite.c decoder/ptflow/pt_stream_open.c
noinst_LIBRARIES += libdecoder.a
libdecoder_a_SOURCES = $(DECODE_SOURCES) \
	decoder/aux/aux_seek.c decoder/code/syscall_number.c decoder/code/syscall_number.h \
	decoder/mappings/file_table.c decoder/mappings/space_builder.c decoder/mappings/space_builder.h \
	decoder/perf_data/bpf_programs.c decoder/perf_data/perf_attrs.c decoder/perf_data/perf_features.c \
	decoder/perf_data/perf_file.c decoder/perf_data/perf_file.h \
	decoder/perf_data/perf_input.c decoder/perf_data/perf_parts.c \
	decoder/perf_data/perf_record.c decoder/perf_data/perf_record.h \
	decoder/perf_data/perf_sample.c decoder/perf_data/perf_unpack.c \
	decoder/streams/auxtrace.c decoder/streams/auxtrace.h \
	decoder/streams/branch_merge.c decoder/streams/pt_streams.c decoder/streams/pt_streams.h \
	decoder/streams/pt_verify.c decoder/streams/pt_verify.h \
	decoder/timeline/hits.c decoder/timeline/hits.h \
	decoder/timeline/process_table.c decoder/timeline/trace_pauses.c decoder/timeline/trace_pauses.h \
	decoder/timeline/timeline.c decoder/timeline/timeline.h \
	decoder/timeline/thread_table.c decoder/timeline/thread_table.h \
	decoder/timeline/timeline_records.c decoder/timeline/tracepoint_formats.c decoder/timeline/tracepoint_formats.h
# libptflow, installed: the same code, with its own copy of what it needs of base.
lib_LTLIBRARIES += libptflow.la
include_HEADERS += decoder/ptflow/ptflow.h
pkgconfig_DATA += decoder/ptflow/libptflow.pc
EXTRA_DIST += decoder/ptflow/libptflow.map
libptflow_la_SOURCES = $(DECODE_SOURCES) decoder/ptflow/ptflow.c decoder/ptflow/ptflow.h base/alloc.c base/arena.c base/diag.c \
	base/error.c base/message.c base/pages.c base/printable.c base/workers.c base/io/file_use.c base/tables/direct_cache.c \
	base/tables/id_index.c base/tables/pair_table.c
libptflow_la_LIBTOOLFLAGS = --tag=disable-static
libptflow_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
libptflow_la_LDFLAGS = $(SANITIZE_CFLAGS) $(HARDEN_LDFLAGS) -shared -version-info 1:0:0 \
	-Wl,--version-script=$(srcdir)/decoder/ptflow/libptflow.map
libptflow_la_LIBADD = $(IPT_LIBS)
