/* SPDX-License-Identifier: MIT */
/*
 * The branches of one AUX stream, in order.
 *
 * Two engines implement this: the fast engine (fast/pt_flow.c), which decodes packets against
 * cached basic blocks and resumes after damage at the next packet with an ip; and libipt's block
 * decoder (libipt/pt_blocks.c), simple and trusted, which resumes at the next PSB.  Damage never
 * ends a stream: it becomes a BRANCH_GAP. Every AUX byte is accounted for in the statistics.
 */
#ifndef DECODER_ENGINE_PT_STREAM_H
#define DECODER_ENGINE_PT_STREAM_H

#include "decoder/aux/auxtrace.h"
#include "decoder/branch_event.h"
#include "decoder/code/code_counts.h"
#include "decoder/code/code_image.h"
#include "decoder/engine/pt_engine.h"
#include "decoder/known_branches.h"
#include "decoder/timeline/timeline.h"

struct pt_stream;
struct workers;

/*
 * A reader of a segment's events in the job that decodes them, ahead of the reader of the stream.
 * Each segment under way has a state of it, which is used for one segment after the other.
 */
struct segment_follower {
	/* Returns a state, owned by the stream. */
	void *(*open)(const struct segment_follower *follower);
	/*
	 * Follow the events of a segment, in any thread; the results of the segment before are not
	 * used any more.  It may mark near branches as BRANCH_FOLLOWED, which the reader of the
	 * stream makes branches again, unless the segment was decoded from a wrong guess.
	 */
	void (*follow)(void *state, struct branch_event *events, size_t count);
	void (*close)(void *state); /* release the state */
};

/* The inputs of a stream, all borrowed; they must outlive the stream. */
struct pt_stream_input {
	const struct pt_info *info;
	const struct aux_stream *aux;
	const struct timeline *timeline;
	struct code_image *code;
	struct diag *diag;
	enum pt_engine engine;
	/*
	 * Leave out jumps within a function (by the source's find_function), which change no
	 * call stack; jumps after a load of the stack pointer (stack_effect.h) are kept.
	 * The statistics count them.  Fast engine only.  Returns out of code without bytes then
	 * need no proof (flow_opaque.c).
	 */
	bool skip_local_jumps;
	/*
	 * Emit the number of omitted jumps, as BRANCH_COUNTS: before another thread runs, and,
	 * with instructions and cycles, before each multiple of `period` (ns; 0: not).
	 */
	bool count_jumps;
	uint64_t period;
	/*
	 * Emit where straight code enters other code by the source's find_piece() (see
	 * branch_is_passage()); only jumps within a piece are local.  Fast engine only.
	 */
	bool pieces;
	struct code_counter *counter; /* gets the executions of code; NULL: these do not count */
	/* The table of events' branches, to which new ones are added; NULL: none is known. */
	struct known_branches *branches;
	/*
	 * Address of the kernel's __switch_to. Where the kernel is traced, threads change there,
	 * and not at the times of switch records, which the trace matches only roughly. 0: unknown.
	 */
	uint64_t switch_ip;
	bool cpu_events; /* emit BRANCH_CPU_EVENT, too: cpu_event.h */
	bool cycles;     /* emit the cycles of CYC packets, as BRANCH_COUNTS.  Fast engine only */
	/*
	 * ns: emit only losses, and count only local jumps and code, of [begin, end], because
	 * `aux` was cut to this time.  With `cycles`, the instructions before `begin`, and those up
	 * to `end`, are also a BRANCH_COUNTS.  end 0: all.
	 */
	uint64_t begin, end;
	/* Returns, in any thread, whether to count what a thread (NULL: unknown) runs at `ip`. */
	bool (*selects)(const void *context, const struct thread *thread, uint64_t ip);
	const void *context; /* of selects() */
	/*
	 * Distance of the PSBs where streams are cut, in bytes (flow_checkpoint.h); 0: the best one
	 * for one stream.  Cuts may move times within a timing packet.  Fast engine only.
	 */
	uint64_t segment;
	/* Number of other streams that are open at the same time: they share memory. */
	size_t others;
	/* Threads that decode segments of long streams; may be NULL. */
	struct workers *workers;
	const struct segment_follower *follower; /* of what they decode; may be NULL */
};

struct pt_stream_stats {
	/* Of AUX data.  At the end of the stream total = decoded + skipped + lost. */
	uint64_t bytes_total;
	uint64_t bytes_decoded;     /* of packets that were understood */
	uint64_t bytes_skipped;     /* before the first PSB of pieces that follow each other */
	uint64_t bytes_lost;        /* from an error to where decoding resumed */
	uint64_t bytes_repeated;    /* not of the total: present in several snapshots, or padding */
	uint64_t bytes_missing;     /* not of the total: the CPU wrote them, the file lacks them */
	uint64_t events, insns;     /* events: including those left out */
	uint64_t local_jumps;       /* events left out, of the chosen time and threads */
	uint64_t writes_broken;     /* emulated PTWRITEs with an incomplete value */
	uint64_t times_impossible;  /* times of packets above INT64_MAX ns */
	uint64_t guests;            /* times that a virtual machine's code ran */
	uint64_t segments_again;    /* segments that were decoded twice */
	uint64_t gaps[GAP_REASONS]; /* by enum gap_reason */
};

/* Hand the counts of code over to input.counter.  Closing a stream drops them. */
void pt_stream_flush(struct pt_stream *stream);

/* NULL is allowed. */
void pt_stream_close(struct pt_stream *stream);

/*
 * Get the next event.  Times of branches never decrease; a CPU event of a thread may be a little
 * ahead of the next branch.  Returns 1 with *event filled; 0 at the end.
 */
int pt_stream_next(struct pt_stream *stream, struct branch_event *event);

/* Returns the statistics up to now, borrowed. */
const struct pt_stream_stats *pt_stream_stats(const struct pt_stream *stream);

#endif
