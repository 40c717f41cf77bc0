/* SPDX-License-Identifier: MIT */
/*
 * The branches of one AUX stream, in order.
 *
 * Two engines stand behind this: our own (pt_flow.c), which decodes packets
 * against cached runs of code and goes on after damage at the next packet that
 * tells an ip; and libipt's block decoder (pt_blocks.c), simple and trusted,
 * which goes on at the next PSB.  Damage never ends a stream: it becomes a
 * BRANCH_GAP.  Every AUX byte is accounted for in the statistics.
 */
#ifndef DECODER_ENGINE_PT_STREAM_H
#define DECODER_ENGINE_PT_STREAM_H

#include <stdint.h>

#include "base/diag.h"
#include "decoder/aux/auxtrace.h"
#include "decoder/branch_event.h"
#include "decoder/code/code_image.h"
#include "decoder/engine/pt_engine.h"
#include "decoder/timeline/timeline.h"

struct pt_stream;
struct workers;

/* What a stream needs; all borrowed, and outlives the stream. */
struct pt_stream_input {
	const struct pt_info *info;
	const struct aux_stream *aux;
	const struct timeline *timeline;
	struct code_image *code;
	struct diag *diag;
	enum pt_engine engine;
	/*
	 * Leave out jumps within a function (by the source's find_function):
	 * they change no call stack.  They are counted all the same.  Only the fast
	 * engine does.
	 */
	bool skip_local_jumps;
	/*
	 * Where the kernel's __switch_to begins: there threads change, where the
	 * kernel is traced, and not at the time of the switch records, which the
	 * trace tells only roughly.  0: not known.
	 */
	uint64_t switch_ip;
	bool cpu_events; /* give also BRANCH_CPU_EVENT: cpu_event.h */
	/*
	 * Times are those of perf script (perf_clock.h); such a stream is not cut.  Only
	 * the fast engine does.
	 */
	bool perf_times;
	/*
	 * ns: only losses of [begin, end] are told, where `aux` was cut to such a
	 * time.  end 0: all.
	 */
	uint64_t begin, end;
	/*
	 * Streams are cut at PSBs about so many bytes apart (flow_checkpoint.h); 0: as is
	 * best for one stream.  Where the cuts are may move times within a timing
	 * packet.  Only the fast engine does.
	 */
	uint64_t segment;
	/* So many other streams are open at the same time: they share memory. */
	size_t others;
	/* Threads that decode the segments of long streams.  NULL: none. */
	struct workers *workers;
};

#define GAP_REASONS (GAP_NOT_RECORDED + 1)

struct pt_stream_stats {
	/* Of AUX data.  At the end of the stream total = decoded + skipped + lost. */
	uint64_t bytes_total;
	uint64_t bytes_decoded;     /* of packets that were understood */
	uint64_t bytes_skipped;     /* before the first PSB of pieces that follow each other */
	uint64_t bytes_lost;        /* from an error to where decoding went on */
	uint64_t bytes_repeated;    /* not of the total: what several snapshots have, and padding */
	uint64_t bytes_missing;     /* not of the total: the CPU wrote them, the file lacks them */
	uint64_t events, insns;     /* events: also those that are left out */
	uint64_t local_jumps;       /* events that were left out */
	uint64_t writes_broken;     /* emulated PTWRITEs whose value was not told to its end */
	uint64_t segments_again;    /* that threads had to decode a second time */
	uint64_t gaps[GAP_REASONS]; /* by enum gap_reason */
};

/* NULL is allowed. */
void pt_stream_close(struct pt_stream *stream);

/*
 * Give the next event.  The time of branches never goes back; a side event of a
 * thread may be a little ahead of the branch behind it.
 * Returns 1 with *event filled; 0 at the end.
 */
int pt_stream_next(struct pt_stream *stream, struct branch_event *event);

/* Returns the statistics up to now, borrowed. */
const struct pt_stream_stats *pt_stream_stats(const struct pt_stream *stream);

#endif
