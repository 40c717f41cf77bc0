/* SPDX-License-Identifier: MIT */
/*
 * The Intel PT part of a recording: its parameters and its AUX streams.
 *
 * A stream is all the pieces of one buffer, of AUXTRACE records or of samples,
 * in the order in which the CPU wrote them; PSBs and packets may straddle
 * pieces, unless one is apart.  The pieces are views of the mapped file.
 */
#ifndef DECODER_AUX_AUXTRACE_H
#define DECODER_AUX_AUXTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

struct perf_file;

/*
 * PERF_RECORD_AUXTRACE_INFO of type PERF_AUXTRACE_INTEL_PT: its priv[] words
 * in order (tools/perf/util/intel-pt.h), and what else a decoder must know.
 * Words that an older perf did not write are 0.
 */
struct pt_info {
	uint64_t pmu_type;
	uint64_t time_shift, time_mult,
		time_zero;       /* ns = time_zero + (tsc * mult) >> shift, see tsc_clock.h */
	bool cap_user_time_zero; /* the three words above mean something */
	uint64_t tsc_bit, noretcomp_bit; /* masks in attr.config */
	bool have_sched_switch;
	bool snapshot_mode;
	bool per_cpu_mmaps;                        /* a buffer per CPU; else per thread */
	uint64_t mtc_bit, mtc_freq_bits;           /* masks in attr.config */
	uint64_t tsc_ctc_ratio_n, tsc_ctc_ratio_d; /* CPUID 15H: EBX, EAX */
	uint64_t cyc_bit;                          /* mask in attr.config */
	uint64_t max_nonturbo_ratio;               /* TSC frequency / bus clock */
	const char *filter; /* address filter, owned by the arena; NULL: none */

	/* From the attribute of the intel_pt event: */
	uint64_t config;
	bool exclude_user, exclude_kernel;

	/* From the CPUID feature ("GenuineIntel,6,94,3"); 0 if absent: */
	uint32_t cpu_family, cpu_model, cpu_stepping;
	bool cpu_is_intel;
};

/* One PERF_RECORD_AUXTRACE with the data behind it, or the trace data of one sample. */
struct aux_piece {
	const uint8_t *bytes; /* view of a mapped file: pages are given back, to be read again */
	size_t size;          /* bytes present (less than the record claims if the file is cut) */
	uint64_t aux_offset;  /* position in the AUX buffer's own count */
	uint64_t reference;   /* a TSC near the data; its top byte completes 7-byte TSC packets */
	uint64_t file_offset; /* of the data */
	bool apart;           /* it does not go on where the piece before ends: data is missing */
};

struct aux_stream {
	int32_t cpu;                    /* -1: a buffer per thread */
	int32_t tid;                    /* -1: a buffer per CPU */
	uint32_t queue;                 /* perf's `idx` */
	const struct aux_piece *pieces; /* in aux_offset order per run of the file */
	size_t piece_count;
	uint64_t size;     /* bytes of all pieces */
	uint64_t repeated; /* bytes of the file besides: other snapshots have them, or padding */
	uint64_t missing;  /* bytes that the CPU wrote and the file does not have */
	bool again;  /* a stream before it is of the same CPU or thread; no machine does that */
	bool copies; /* of snapshots or samples, not of a full trace */
};

struct auxtrace {
	struct arena arena;
	struct pt_info info;
	const struct aux_stream *streams; /* in queue order */
	size_t stream_count;
};

/*
 * Gather the PT parameters and streams of a recording.
 * Returns 0; -1 with err filled if there is no Intel PT in it, or it is of a
 * kind that cannot be read.  The caller owns the members and calls
 * auxtrace_release() in both cases.
 */
int auxtrace_init(struct auxtrace *auxtrace, const struct perf_file *file, struct error *err);

/*
 * Returns whether trace was lost in the AUX buffer at a place (as AUX records
 * count) that lies within a stream: a piece begins apart there.
 */
bool aux_stream_has_cut(const struct aux_stream *stream, uint64_t at);

/* Release all members.  Idempotent, also on zeroed memory. */
void auxtrace_release(struct auxtrace *auxtrace);

#endif
