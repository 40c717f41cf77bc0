# SPDX-License-Identifier: MIT
check_PROGRAMS += tests/unit/decoder/perf_file.test
TESTS += tests/unit/decoder/perf_file.test
tests_unit_decoder_perf_file_test_SOURCES = tests/unit/decoder/perf_file.c
tests_unit_decoder_perf_file_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_perf_file_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/perf_series.test
TESTS += tests/unit/decoder/perf_series.test
tests_unit_decoder_perf_series_test_SOURCES = tests/unit/decoder/perf_series.c
tests_unit_decoder_perf_series_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_perf_series_test_LDADD = $(UNIT_LIBS)

stream_run = tests/unit/decoder/stream_run.c tests/unit/decoder/stream_run.h
check_PROGRAMS += tests/unit/decoder/pt_stream.test
TESTS += tests/unit/decoder/pt_stream.test
tests_unit_decoder_pt_stream_test_SOURCES = tests/unit/decoder/pt_stream.c $(stream_run)
tests_unit_decoder_pt_stream_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_pt_stream_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/pt_stream_pieces.test
TESTS += tests/unit/decoder/pt_stream_pieces.test
tests_unit_decoder_pt_stream_pieces_test_SOURCES = tests/unit/decoder/pt_stream_pieces.c $(stream_run)
tests_unit_decoder_pt_stream_pieces_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_pt_stream_pieces_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/pt_stream_packets.test
TESTS += tests/unit/decoder/pt_stream_packets.test
tests_unit_decoder_pt_stream_packets_test_SOURCES = tests/unit/decoder/pt_stream_packets.c $(stream_run)
tests_unit_decoder_pt_stream_packets_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_pt_stream_packets_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/pt_stream_time.test
TESTS += tests/unit/decoder/pt_stream_time.test
tests_unit_decoder_pt_stream_time_test_SOURCES = tests/unit/decoder/pt_stream_time.c $(stream_run)
tests_unit_decoder_pt_stream_time_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_pt_stream_time_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/pt_stream_code.test
TESTS += tests/unit/decoder/pt_stream_code.test
tests_unit_decoder_pt_stream_code_test_SOURCES = tests/unit/decoder/pt_stream_code.c $(stream_run)
tests_unit_decoder_pt_stream_code_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_pt_stream_code_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/random_programs.test
TESTS += tests/unit/decoder/random_programs.test
tests_unit_decoder_random_programs_test_SOURCES = tests/unit/decoder/random_programs.c $(stream_run)
tests_unit_decoder_random_programs_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_random_programs_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/pt_stream_probes.test
TESTS += tests/unit/decoder/pt_stream_probes.test
tests_unit_decoder_pt_stream_probes_test_SOURCES = tests/unit/decoder/pt_stream_probes.c $(stream_run)
tests_unit_decoder_pt_stream_probes_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_pt_stream_probes_test_LDADD = $(UNIT_LIBS)

packet_text = tests/unit/decoder/packet_text.c tests/unit/decoder/packet_text.h $(stream_run)
check_PROGRAMS += tests/unit/decoder/packet_table.test
TESTS += tests/unit/decoder/packet_table.test
tests_unit_decoder_packet_table_test_SOURCES = tests/unit/decoder/packet_table.c $(packet_text)
tests_unit_decoder_packet_table_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_packet_table_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/packet_times.test
TESTS += tests/unit/decoder/packet_times.test
tests_unit_decoder_packet_times_test_SOURCES = tests/unit/decoder/packet_times.c $(packet_text)
tests_unit_decoder_packet_times_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_packet_times_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/missing_code.test
TESTS += tests/unit/decoder/missing_code.test
tests_unit_decoder_missing_code_test_SOURCES = tests/unit/decoder/missing_code.c $(packet_text)
tests_unit_decoder_missing_code_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_missing_code_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/schedule.test
TESTS += tests/unit/decoder/schedule.test
tests_unit_decoder_schedule_test_SOURCES = tests/unit/decoder/schedule.c
tests_unit_decoder_schedule_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_schedule_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/tsc_clock.test
TESTS += tests/unit/decoder/tsc_clock.test
tests_unit_decoder_tsc_clock_test_SOURCES = tests/unit/decoder/tsc_clock.c
tests_unit_decoder_tsc_clock_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_tsc_clock_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/auxtrace.test
TESTS += tests/unit/decoder/auxtrace.test
tests_unit_decoder_auxtrace_test_SOURCES = tests/unit/decoder/auxtrace.c
tests_unit_decoder_auxtrace_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_auxtrace_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/timeline.test
TESTS += tests/unit/decoder/timeline.test
tests_unit_decoder_timeline_test_SOURCES = tests/unit/decoder/timeline.c
tests_unit_decoder_timeline_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_timeline_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/damage.test
TESTS += tests/unit/decoder/damage.test
tests_unit_decoder_damage_test_SOURCES = tests/unit/decoder/damage.c
tests_unit_decoder_damage_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_damage_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/perf_agrees.test
TESTS += tests/unit/decoder/perf_agrees.test
tests_unit_decoder_perf_agrees_test_SOURCES = tests/unit/decoder/perf_agrees.c
tests_unit_decoder_perf_agrees_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_perf_agrees_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/errata.test
TESTS += tests/unit/decoder/errata.test
tests_unit_decoder_errata_test_SOURCES = tests/unit/decoder/errata.c
tests_unit_decoder_errata_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_errata_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/packet_clock.test
TESTS += tests/unit/decoder/packet_clock.test
tests_unit_decoder_packet_clock_test_SOURCES = tests/unit/decoder/packet_clock.c
tests_unit_decoder_packet_clock_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_packet_clock_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/aux_pieces.test
TESTS += tests/unit/decoder/aux_pieces.test
tests_unit_decoder_aux_pieces_test_SOURCES = tests/unit/decoder/aux_pieces.c
tests_unit_decoder_aux_pieces_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_aux_pieces_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/perf_sample.test
TESTS += tests/unit/decoder/perf_sample.test
tests_unit_decoder_perf_sample_test_SOURCES = tests/unit/decoder/perf_sample.c
tests_unit_decoder_perf_sample_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_perf_sample_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/aux_seek.test
TESTS += tests/unit/decoder/aux_seek.test
tests_unit_decoder_aux_seek_test_SOURCES = tests/unit/decoder/aux_seek.c
tests_unit_decoder_aux_seek_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_aux_seek_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/flow_segments.test
TESTS += tests/unit/decoder/flow_segments.test
tests_unit_decoder_flow_segments_test_SOURCES = tests/unit/decoder/flow_segments.c
tests_unit_decoder_flow_segments_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_flow_segments_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/pt_verify.test
TESTS += tests/unit/decoder/pt_verify.test
tests_unit_decoder_pt_verify_test_SOURCES = tests/unit/decoder/pt_verify.c
tests_unit_decoder_pt_verify_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_pt_verify_test_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pt_stream_open
tests_unit_decoder_pt_verify_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/pt_rewrite.test
TESTS += tests/unit/decoder/pt_rewrite.test
tests_unit_decoder_pt_rewrite_test_SOURCES = tests/unit/decoder/pt_rewrite.c
tests_unit_decoder_pt_rewrite_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_pt_rewrite_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/address_filter.test
TESTS += tests/unit/decoder/address_filter.test
tests_unit_decoder_address_filter_test_SOURCES = tests/unit/decoder/address_filter.c
tests_unit_decoder_address_filter_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_address_filter_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/aux_cuts.test
TESTS += tests/unit/decoder/aux_cuts.test
tests_unit_decoder_aux_cuts_test_SOURCES = tests/unit/decoder/aux_cuts.c
tests_unit_decoder_aux_cuts_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_aux_cuts_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/kernel_text.test
TESTS += tests/unit/decoder/kernel_text.test
tests_unit_decoder_kernel_text_test_SOURCES = tests/unit/decoder/kernel_text.c
tests_unit_decoder_kernel_text_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_kernel_text_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/aux_window.test
TESTS += tests/unit/decoder/aux_window.test
tests_unit_decoder_aux_window_test_SOURCES = tests/unit/decoder/aux_window.c
tests_unit_decoder_aux_window_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_aux_window_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/off_cpu.test
TESTS += tests/unit/decoder/off_cpu.test
tests_unit_decoder_off_cpu_test_SOURCES = tests/unit/decoder/off_cpu.c
tests_unit_decoder_off_cpu_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_off_cpu_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/sched_points.test
TESTS += tests/unit/decoder/sched_points.test
tests_unit_decoder_sched_points_test_SOURCES = tests/unit/decoder/sched_points.c
tests_unit_decoder_sched_points_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_sched_points_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/code_regions.test
TESTS += tests/unit/decoder/code_regions.test
tests_unit_decoder_code_regions_test_SOURCES = tests/unit/decoder/code_regions.c
tests_unit_decoder_code_regions_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_code_regions_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/run_memo.test
TESTS += tests/unit/decoder/run_memo.test
tests_unit_decoder_run_memo_test_SOURCES = tests/unit/decoder/run_memo.c
tests_unit_decoder_run_memo_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_run_memo_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/packed_counts.test
TESTS += tests/unit/decoder/packed_counts.test
tests_unit_decoder_packed_counts_test_SOURCES = tests/unit/decoder/packed_counts.c
tests_unit_decoder_packed_counts_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_packed_counts_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/syscall_number.test
TESTS += tests/unit/decoder/syscall_number.test
tests_unit_decoder_syscall_number_test_SOURCES = tests/unit/decoder/syscall_number.c
tests_unit_decoder_syscall_number_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_syscall_number_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/stack_effect.test
TESTS += tests/unit/decoder/stack_effect.test
tests_unit_decoder_stack_effect_test_SOURCES = tests/unit/decoder/stack_effect.c
tests_unit_decoder_stack_effect_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_stack_effect_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/tnt_bits.test
TESTS += tests/unit/decoder/tnt_bits.test
tests_unit_decoder_tnt_bits_test_SOURCES = tests/unit/decoder/tnt_bits.c
tests_unit_decoder_tnt_bits_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_tnt_bits_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/ptsim_output.test
TESTS += tests/unit/decoder/ptsim_output.test
tests_unit_decoder_ptsim_output_test_SOURCES = tests/unit/decoder/ptsim_output.c \
	tests/ptsim/pt_output.c tests/ptsim/pt_output.h
tests_unit_decoder_ptsim_output_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_ptsim_output_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/insn.test
TESTS += tests/unit/decoder/insn.test
tests_unit_decoder_insn_test_SOURCES = tests/unit/decoder/insn.c
tests_unit_decoder_insn_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_insn_test_LDADD = $(UNIT_LIBS)

if HAVE_ZYDIS
check_PROGRAMS += tests/unit/decoder/insn_agrees.test
TESTS += tests/unit/decoder/insn_agrees.test
insn_long_tests = tests/unit/decoder/insn_agrees.test
endif
tests_unit_decoder_insn_agrees_test_SOURCES = tests/unit/decoder/insn_agrees.c
tests_unit_decoder_insn_agrees_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_insn_agrees_test_LDADD = $(UNIT_LIBS) $(ZYDIS_LIBS)

check_PROGRAMS += tests/unit/decoder/basic_block.test
TESTS += tests/unit/decoder/basic_block.test
tests_unit_decoder_basic_block_test_SOURCES = tests/unit/decoder/basic_block.c
tests_unit_decoder_basic_block_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_basic_block_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/known_branches.test
TESTS += tests/unit/decoder/known_branches.test
tests_unit_decoder_known_branches_test_SOURCES = tests/unit/decoder/known_branches.c
tests_unit_decoder_known_branches_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_known_branches_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/branch_merge.test
TESTS += tests/unit/decoder/branch_merge.test
tests_unit_decoder_branch_merge_test_SOURCES = tests/unit/decoder/branch_merge.c
tests_unit_decoder_branch_merge_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_branch_merge_test_LDADD = $(UNIT_LIBS)

check_PROGRAMS += tests/unit/decoder/event_pool.test
TESTS += tests/unit/decoder/event_pool.test
tests_unit_decoder_event_pool_test_SOURCES = tests/unit/decoder/event_pool.c
tests_unit_decoder_event_pool_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_event_pool_test_LDADD = $(UNIT_LIBS)

# By the shared library, which has the engine's code; the tests' packets come from libsupport.a.
check_PROGRAMS += tests/unit/decoder/ptflow.test
TESTS += tests/unit/decoder/ptflow.test
tests_unit_decoder_ptflow_test_SOURCES = tests/unit/decoder/ptflow.c
tests_unit_decoder_ptflow_test_CFLAGS = $(UNIT_CFLAGS)
tests_unit_decoder_ptflow_test_LDFLAGS = $(SANITIZE_CFLAGS) $(HARDEN_LDFLAGS) $(HARDEN_PIE)
tests_unit_decoder_ptflow_test_LDADD = libptflow.la libsupport.a libbase.a $(IPT_LIBS) $(CHECK_LIBS)
