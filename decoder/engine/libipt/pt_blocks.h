/* SPDX-License-Identifier: MIT */
/*
 * The engine that lets libipt's block decoder walk (pt_blocks.c), and what it makes of
 * libipt's events (pt_block_events.c).  Private to the engine.
 */
#ifndef DECODER_ENGINE_LIBIPT_PT_BLOCKS_H
#define DECODER_ENGINE_LIBIPT_PT_BLOCKS_H

#include <intel-pt.h>

#include "decoder/code/insn.h"
#include "decoder/engine/libipt/pt_rewrite.h"
#include "decoder/engine/pt_stream_base.h"

struct pending_branch {
	uint64_t from;
	struct insn insn; /* kind BRANCH_NONE: nothing is pending */
	uint8_t flags;
	struct timestamp decided;
};

struct pt_blocks {
	struct pt_stream stream;
	uint8_t *bytes;    /* owned: pieces that follow each other in a row, padded */
	uint64_t size;     /* of those */
	size_t next_piece; /* the first that is not among them */
	struct pt_config config;
	struct pt_block_decoder *decoder; /* owned; NULL: libipt refused */
	uint64_t counted;                 /* bytes of this run that are in the statistics */
	struct insn_cache insns;
	int status; /* of the last libipt call that gives one */
	bool synced;
	bool fresh;   /* synchronised, and nothing decoded since */
	bool idle;    /* tracing is off up to the next PSB */
	bool damaged; /* there was a gap, and no trace since */
	bool tx_aborted;
	const struct address_space *space; /* whose image the decoder has */
	struct pending_branch pending;
	struct pt_rewrite rewrite;
	struct cpu_event_data control; /* of the interrupt that is next, if has_control */
	bool has_control;
	bool off;               /* tracing is */
	bool guest;             /* a guest runs from the next ip on */
	uint64_t packet_offset; /* where libipt was when it last moved */
	uint32_t blocks_without_packet;
};

/*
 * Returns a stream of libipt's engine, owned by the caller; NULL, and nothing is left
 * behind, if libipt refuses the trace.
 */
struct pt_stream *pt_blocks_new(const struct aux_stream *aux, const struct pt_config *config);

/* The pending branch went to `to`. */
void blocks_resolve(struct pt_blocks *blocks, uint64_t to);

/* Returns whether the decoder sees other code now. */
bool blocks_use_image(struct pt_blocks *blocks);

/* Tracing begins at ip.  Returns whether the decoder sees other code now. */
bool blocks_enter(struct pt_blocks *blocks, uint64_t ip);

/* Tell of the interrupt that was to come, if any: it struck at ip (0: unknown). */
void blocks_tell_control(struct pt_blocks *blocks, uint64_t ip);

/* libipt tells of an event. */
void blocks_on_event(struct pt_blocks *blocks, const struct pt_event *event);

#endif
