/* SPDX-License-Identifier: MIT */
/* The parameters of a trace by Intel PT, and the search by time in its AUX streams. */
#pragma once

#include "base/arena.h"
#include "decoder/aux/aux_window.h"
#include "decoder/clock/tsc_clock.h"

/*
 * The priv[] words of PERF_RECORD_AUXTRACE_INFO of type PERF_AUXTRACE_INTEL_PT, in order
 * (tools/perf/util/intel-pt.h), and other parameters for decoders. Words missing from an older
 * perf's file are 0.
 */
struct pt_info {
	uint64_t pmu_type;
	/* ns = time_zero + (tsc * mult) >> shift, see tsc_clock.h; mult 0: unknown */
	uint64_t time_shift, time_mult, time_zero;
	uint64_t tsc_bit, noretcomp_bit; /* masks in attr.config */
	bool snapshot_mode;
	bool per_cpu_mmaps;                        /* a buffer per CPU; else per thread */
	uint64_t mtc_bit, mtc_freq_bits;           /* masks in attr.config */
	uint64_t tsc_ctc_ratio_n, tsc_ctc_ratio_d; /* CPUID 15H: EBX, EAX */
	uint64_t cyc_bit;                          /* mask in attr.config */
	uint64_t max_nonturbo_ratio;               /* TSC frequency / bus clock */
	const char *filter; /* address filter, owned by the arena; may be NULL */

	/* From the attribute of the intel_pt event: */
	uint64_t config;
	bool exclude_user, exclude_kernel;

	/* From the CPUID feature ("GenuineIntel,6,94,3"); 0 if absent: */
	uint32_t cpu_family, cpu_model, cpu_stepping;
	bool cpu_is_intel;

	/* From the HYBRID_TOPOLOGY feature, as "0-7,16"; owned by the arena; NULL: absent */
	const char *performance_cpus;
};

/* The kinds of core of a hybrid processor. */
enum core_kind {
	CORE_UNKNOWN, /* or all cores are of one kind */
	CORE_PERFORMANCE,
	CORE_EFFICIENT,
};

/* Returns the kind of core of a CPU; CPU -1: unknown. */
enum core_kind pt_info_core(const struct pt_info *info, int32_t cpu);

/* Returns the relation of the TSC to perf's clock. */
struct tsc_clock pt_info_tsc_clock(const struct pt_info *info);

/* Returns the rates of the clocks of timing packets. */
struct clock_rates pt_info_rates(const struct pt_info *info);

/* Returns the TSC ticks from one MTC to the next; 0 if not recorded, or unknown. */
uint64_t pt_info_mtc_period(const struct pt_info *info);

/*
 * Decoding can begin at any PSB, and the TSCs after PSBs (SDM volume 3, "PSB+") increase along a
 * stream, so bisection looks at a few dozen PSBs of a stream of any size. A stream whose PSBs have
 * no TSC cannot be cut, and stays whole.
 *
 * Cut a stream to the ticks [begin, end], both TSC values with all 8 bytes. `view` is the stream
 * with fewer pieces (in the arena; the bytes are those of `aux`): it begins one PSB before the last
 * PSB before `begin`, so that clocks and threads have settled at `begin`, and ends before the
 * second PSB after `end`. The view is empty if the stream begins later.
 */
void aux_seek(const struct aux_stream *aux, uint64_t begin, uint64_t end, struct arena *arena,
	      struct aux_stream *view);

/*
 * Let `view`, a copy of the stream, have only the bytes [from, to), which are not empty. Its pieces
 * are in the arena.
 */
void aux_stream_cut(const struct aux_stream *aux, uint64_t from, uint64_t to, struct arena *arena,
		    struct aux_stream *view);

/*
 * Find the TSC of the first PSB and the time of the last packet, in ticks. All kinds of timing
 * packets count, but only those after the last PSB are read. Returns false if no PSB has a TSC.
 */
bool aux_seek_extent(const struct aux_stream *aux, const struct pt_info *info, uint64_t *first,
		     uint64_t *last);
