/* SPDX-License-Identifier: MIT */
/*
 * The engine on libipt's block decoder (pt_blocks.c), and its use of libipt's events
 * (pt_block_events.c).  Private to the engine.
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
	bool read_ahead; /* libipt has read the packet after the one that decided it */
};

struct pt_blocks {
	struct pt_stream stream;
	uint8_t *bytes;    /* owned: consecutive pieces, padded; perhaps PT_REWRITE_HEADER before */
	uint64_t size;     /* of `bytes` */
	size_t next_piece; /* the first piece after `bytes` */
	struct pt_config config;
	struct pt_block_decoder *decoder; /* owned; NULL: libipt refused */
	uint64_t behind_psb;              /* offset after the last PSB; 0 at first */
	uint64_t counted;                 /* bytes of these pieces that are in the statistics */
	bool ticks;                       /* libipt 2.1: tick events have the times of branches */
	struct direct_cache insns;
	int status; /* of the last libipt call */
	bool synced;
	bool fresh;   /* synchronised, and nothing decoded since */
	bool idle;    /* tracing is off up to the next PSB */
	bool damaged; /* a gap was emitted, and no trace since */
	bool tx_aborted;
	const struct address_space *space; /* of the decoder's image */
	struct pending_branch pending;
	struct pt_rewrite rewrite;
	struct cpu_event_data cfe; /* of the next interrupt, if has_cfe */
	bool has_cfe;
	bool off;               /* tracing is off */
	bool guest;             /* a guest runs from the next ip on */
	uint64_t packet_offset; /* libipt's last offset */
	uint32_t blocks_without_packet;
};

/*
 * Returns a stream of libipt's engine, owned by the caller; NULL, and nothing is left
 * behind, if libipt refuses the trace.
 */
struct pt_stream *pt_blocks_new(const struct pt_stream_input *input,
				const struct pt_config *config);

/* The pending branch went to `to`. */
void blocks_resolve(struct pt_blocks *blocks, uint64_t to);

/* Give the decoder the image of the present code.  Returns whether it changed. */
bool blocks_use_image(struct pt_blocks *blocks);

/* Tracing begins at ip.  Returns whether the decoder's image changed. */
bool blocks_enter(struct pt_blocks *blocks, uint64_t ip);

/* Emit the pending CFE, if any: the address of its interrupt is ip (0: unknown). */
void blocks_emit_cfe(struct pt_blocks *blocks, uint64_t ip);

/* Handle an event of libipt. */
void blocks_on_event(struct pt_blocks *blocks, const struct pt_event *event);

#endif
