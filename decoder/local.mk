# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libdecoder.a
libdecoder_a_SOURCES = \
	decoder/address_filter.c decoder/address_filter.h \
	decoder/address_space.c decoder/address_space.h \
	decoder/aux_cuts.c decoder/aux_cuts.h \
	decoder/aux_seek.c decoder/aux_seek.h \
	decoder/aux_window.c decoder/aux_window.h \
	decoder/aux_pieces.c decoder/aux_pieces.h \
	decoder/auxtrace.c decoder/auxtrace.h \
	decoder/bpf_programs.c decoder/bpf_programs.h \
	decoder/branch_event.h \
	decoder/branch_merge.c decoder/branch_merge.h \
	decoder/code_image.c decoder/code_image.h \
	decoder/file_table.c decoder/file_table.h \
	decoder/huge_text.c decoder/huge_text.h \
	decoder/insn.c decoder/insn.h \
	decoder/kernel_text.c decoder/kernel_text.h \
	decoder/loss_table.c decoder/loss_table.h \
	decoder/perf_attrs.c decoder/perf_attrs.h \
	decoder/perf_clock.c decoder/perf_clock.h \
	decoder/perf_features.c decoder/perf_features.h \
	decoder/perf_file.c decoder/perf_file.h \
	decoder/perf_input.c decoder/perf_input.h \
	decoder/perf_record.c decoder/perf_record.h \
	decoder/perf_sample.c decoder/perf_sample.h \
	decoder/perf_unpack.c decoder/perf_unpack.h \
	decoder/process_table.c decoder/process_table.h \
	decoder/code_areas.c decoder/code_areas.h \
	decoder/code_paths.c decoder/code_paths.h \
	decoder/code_runs.c decoder/code_runs.h decoder/code_steps.h \
	decoder/packet_clock.c decoder/packet_clock.h \
	decoder/pt_blocks.c decoder/pt_blocks.h decoder/pt_block_events.c \
	decoder/pt_boundary.c decoder/pt_boundary.h \
	decoder/pt_flow.c decoder/pt_flow.h decoder/pt_stream_base.h \
	decoder/pt_newer_packets.c decoder/pt_newer_packets.h \
	decoder/pt_packets.c decoder/pt_packets.h \
	decoder/pt_rewrite.c decoder/pt_rewrite.h \
	decoder/pt_perf_time.c decoder/pt_perf_time.h \
	decoder/pt_segments.c decoder/pt_segments.h \
	decoder/pt_streams.c decoder/pt_streams.h \
	decoder/pt_stream.c decoder/pt_stream.h \
	decoder/pt_verify.c decoder/pt_verify.h \
	decoder/emulated_write.c decoder/emulated_write.h \
	decoder/pt_walk.c decoder/pt_walk.h \
	decoder/pt_walk_known.c decoder/pt_walk_steps.h \
	decoder/pt_workers.c decoder/pt_workers.h \
	decoder/sched_points.c decoder/sched_points.h \
	decoder/schedule.c decoder/schedule.h \
	decoder/side_event.h \
	decoder/space_builder.c decoder/space_builder.h \
	decoder/switch_table.c decoder/switch_table.h \
	decoder/thread_table.c decoder/thread_table.h \
	decoder/timeline.c decoder/timeline.h decoder/timeline_records.c \
	decoder/timeline_records.h \
	decoder/tnt_bits.h \
	decoder/tsc_clock.c decoder/tsc_clock.h
