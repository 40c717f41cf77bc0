/* SPDX-License-Identifier: MIT */
/*
 * The branches of one AUX stream, in order.
 *
 * Two engines implement this: the fast engine (fast/pt_flow.c), which decodes packets against
 * cached basic blocks and resumes after damage at the next packet with an ip; and libipt's block
 * decoder (libipt/pt_blocks.c), simple and trusted, which resumes at the next PSB. Damage never
 * ends a stream: it becomes a BRANCH_GAP. The statistics account for every AUX byte.
 */
#pragma once

#include "base/diag.h"
#include "decoder/aux/pt_info.h"
#include "decoder/branch_event.h"
#include "decoder/code/code_counts.h"
#include "decoder/code/code_image.h"
#include "decoder/engine/pt_engine.h"
#include "decoder/history.h"
#include "decoder/known_branches.h"

struct event_pool;
struct pt_stream;
struct workers;

/*
 * A reader of a segment's events in the job that decodes them, ahead of the reader of the stream.
 * Each segment in progress has a state, which is reused for later segments.
 */
struct segment_follower {
	/* Returns a state, owned by the stream. */
	void *(*open)(const struct segment_follower *follower);
	/* In any thread. Begin a segment; the results of the state's former one are not used. */
	void (*begin)(void *state);
	/* Follow the next events of the segment. */
	void (*follow)(void *state, struct branch_event *events, size_t count);
	/*
	 * End the segment. May mark near branches as BRANCH_FOLLOWED; the reader of the stream
	 * restores these, unless the guess of the segment was wrong.
	 */
	void (*end)(void *state);
	void (*close)(void *state); /* release the state */
};

/* The inputs of a stream, all borrowed; they must outlive the stream. */
struct pt_stream_input {
	const struct pt_info *info;
	const struct aux_stream *aux;
	const struct history *history;
	const struct code_source *code;
	struct diag *diag;
	enum pt_engine engine;
	/*
	 * Omit jumps within a function (by the source's find_function), which change no call stack;
	 * keep jumps after a load of the stack pointer (stack_effect.h). The statistics count
	 * omitted jumps. Returns out of code without bytes then need no proof (flow_opaque.c). Fast
	 * engine only.
	 */
	bool skip_local_jumps;
	/*
	 * Emit the number of omitted jumps as BRANCH_COUNTS before another thread runs, and, with
	 * instructions and cycles, before each multiple of `period` (ns; 0: never).
	 */
	bool count_jumps;
	uint64_t period;
	/*
	 * Emit an event where straight-line code enters another piece (source's find_piece(),
	 * branch_is_passage()); only jumps within a piece are local. Fast engine only.
	 */
	bool pieces;
	struct code_counter *counter; /* receives the executions of code; NULL: do not count */
	/* The table of known branches, to which new ones are added; NULL: do not use one. */
	struct known_branches *branches;
	/*
	 * Address of the kernel's __switch_to, 0: unknown. If the kernel is traced, threads change
	 * there, not at the times of switch records, which match the trace only roughly.
	 */
	uint64_t switch_ip;
	bool cpu_events; /* also emit BRANCH_CPU_EVENT (cpu_event.h) */
	bool cycles; /* emit the cycles of CYC packets, with near branches or as BRANCH_COUNTS. Fast
			engine only */
	bool sums_cycles; /* but with count_jumps, only in its BRANCH_COUNTS */
	/*
	 * ns: emit only losses, and count only local jumps and code, in [begin, end], because `aux`
	 * was cut to this time. end 0: all. With `cycles`, also emit a BRANCH_COUNTS for the
	 * instructions before `begin`, and up to `end`.
	 */
	uint64_t begin, end;
	/* Returns, in any thread, whether to count a thread's (NULL: unknown) code at `ip`. */
	bool (*selects)(const void *context, const struct thread *thread, uint64_t ip);
	const void *context; /* the context of selects() */
	/*
	 * Distance of the PSBs at which streams are cut, in bytes (flow_checkpoint.h); 0: best for
	 * one stream. Cuts can move times within a timing packet. Fast engine only.
	 */
	uint64_t segment;
	/* Number of other streams open at the same time, with which the memory is shared. */
	size_t others;
	/* Threads that decode segments of long streams; may be NULL. */
	struct workers *workers;
	struct event_pool *pool; /* memory for the segments' events; needed with `workers` */
	const struct segment_follower *follower; /* follower of their segments; may be NULL */
};

struct pt_stream_stats {
	/* Bytes of AUX data. At the end of the stream total = decoded + skipped + lost. */
	uint64_t bytes_total;
	uint64_t bytes_decoded;     /* bytes of valid packets */
	uint64_t bytes_skipped;     /* before the first PSB of consecutive pieces */
	uint64_t unsynced;          /* streams that begin at a TIP.PGE without a PSB */
	uint64_t bytes_lost;        /* from an error to the point at which decoding resumed */
	uint64_t bytes_repeated;    /* not in the total: present in several snapshots, or padding */
	uint64_t bytes_missing;     /* not in the total: written by the CPU, missing in the file */
	uint64_t events, insns;     /* events: including omitted ones */
	uint64_t local_jumps;       /* omitted events in the chosen time and threads */
	uint64_t writes_broken;     /* emulated PTWRITEs with an incomplete value */
	uint64_t times_impossible;  /* above INT64_MAX ns, or before earlier ones */
	uint64_t guests;            /* number of runs of a virtual machine's code */
	uint64_t segments_again;    /* segments decoded twice */
	uint64_t gaps[GAP_REASONS]; /* by enum gap_reason */
};

/*
 * Open an AUX stream with the engine chosen in `input`. Returns the stream, owned by the caller
 * (pt_stream_close()); NULL with err filled on failure.
 */
struct pt_stream *pt_stream_open(const struct pt_stream_input *input, struct error *err);

/* Add counts to a sum. */
void pt_stream_stats_add(struct pt_stream_stats *sum, const struct pt_stream_stats *stats);

/* Pass the counts of code on to input.counter. Closing a stream drops them. */
void pt_stream_flush(struct pt_stream *stream);

/* NULL is allowed. */
void pt_stream_close(struct pt_stream *stream);

/*
 * Get the next event. Times of branches never decrease; a thread's CPU event can be slightly ahead
 * of the next branch. Returns 1 with *event filled; 0 at the end.
 */
int pt_stream_next(struct pt_stream *stream, struct branch_event *event);

/* Returns the statistics so far, borrowed. */
const struct pt_stream_stats *pt_stream_stats(const struct pt_stream *stream);
