/* SPDX-License-Identifier: MIT */
/* The engine on libipt's block decoder.  Private to the engine. */
#pragma once

#include <intel-pt.h>

#include "decoder/engine/pt_stream_base.h"

/*
 * Replaces packets that libipt 2.0 does not know, and guests that it cannot follow, by packets that
 * make its block decoder find the right branches.
 *
 * Works on a copy of the trace, and keeps its length:
 *
 *   CFE, EVD, TRIG  EXSTOP, of two bytes; the list of notes has the original packet.
 *   BIP, BEP        A CFE, BEP or TRIG with a FUP of its own is an EXSTOP with a FUP
 *   MWAIT           EXSTOP: its only FUP is its EXSTOP's
 *   MODE.Exec       with a FUP of its own (the interrupt flag): EXSTOP
 *   BBP             PAD
 *   guest code      PAD, from the TIP that enters it (after PIP with the NR bit),
 *                   which becomes TIP.PGD, to the TIP that leaves it, which becomes TIP.PGE. Timing
 *                   packets, PIP and others without code move forward in between. EXSTOP, if the
 *                   guest's trace begins or ends in another way
 *   resumed trace   (after a full buffer, struct aux_piece) as after a guest
 *
 * Source: SDM volume 3, "Intel Processor Trace", packet definitions; "PIP".
 */

struct pt_rewrite {
	/* The original packet of an EXSTOP of the rewritten trace; CPU_EVENT_EXSTOP: unchanged. */
	struct pt_rewrite_note {
		uint64_t offset; /* the packet's offset in the rewritten trace */
		struct cpu_event_data note;
		bool of_interrupt; /* a CFE: the FUP after it has its address */
		bool bound;        /* has its own FUP */
		bool dropped;      /* its FUP is missing: libipt reports no event */
		bool is_guest; /* no event: the trace of a guest's code begins (`guest`) or ends */
		bool guest;
	} * notes;                /* owned; in the order of packets */
	size_t count, room, next; /* `next`: for the reader; begins at 0 */
	uint64_t last_ip;         /* the CPU's last IP at the end of the bytes */
	uint8_t exec_mode;        /* payload of its last MODE.Exec; 0 if absent */
	bool has_guests;          /* use NR bits (stream_is_of_guest()); set by the owner */
};

/* Bytes of pt_rewrite_header(). */
#define PT_REWRITE_HEADER 48u

/*
 * Write a PSB+ and padding, for trace that resumes without a PSB after the last rewritten bytes.
 * `tsc`: the time; 0: unknown.
 */
void pt_rewrite_header(const struct pt_rewrite *rewrite, uint64_t tsc, uint8_t *bytes);

/*
 * Rewrite `size` bytes of trace, followed by padding for libipt. Drops the notes of an earlier
 * call. `header` is PT_REWRITE_HEADER if the bytes begin with pt_rewrite_header(), so that tracing
 * resumes at the next packet with an ip; otherwise 0.
 */
void pt_rewrite_bytes(struct pt_rewrite *rewrite, const struct pt_errata *errata, uint8_t *bytes,
		      uint64_t size, uint64_t header);

/* libipt continues at an offset: skip the notes before it. */
void pt_rewrite_seek(struct pt_rewrite *rewrite, uint64_t offset);

/* Returns the note of libipt's next EXSTOP event, or NULL. */
const struct pt_rewrite_note *pt_rewrite_next(struct pt_rewrite *rewrite);

void pt_rewrite_release(struct pt_rewrite *rewrite);

struct pt_blocks {
	struct pt_stream stream;
	uint8_t *bytes;    /* owned: consecutive pieces, padded; possibly after PT_REWRITE_HEADER */
	uint64_t size;     /* bytes in `bytes` */
	size_t next_piece; /* the first piece after `bytes` */
	struct pt_config config;
	struct pt_block_decoder *decoder; /* owned; NULL: libipt refused */
	uint64_t psb_end;                 /* offset after the last PSB; 0 at first */
	uint64_t counted;                 /* bytes of these pieces that are in the statistics */
	bool ticks;                       /* libipt 2.1: tick events have the times of branches */
	int status;                       /* status of the last libipt call */
	bool synced;
	bool fresh;   /* synchronized, and nothing decoded since */
	bool idle;    /* tracing is off up to the next PSB */
	bool damaged; /* a gap was emitted, and no trace since */
	bool tx_aborted;
	struct pt_image *image;            /* owned: the current code, by a callback */
	const struct address_space *space; /* the address space of `view` */
	struct code_view view;             /* the code that was read last */
	struct pending_branch {
		uint64_t begin, from; /* the first and the last instruction of the block */
		struct insn insn;     /* kind BRANCH_NONE: nothing is pending */
		uint8_t flags;
		struct timestamp begun, decided; /* times of the block, and of the branch */
		bool read_ahead; /* libipt has read beyond the packet that decided the branch */
		uint64_t to;     /* before an event: target decided by a packet; or 0 */
	} pending;
	struct pt_rewrite rewrite;
	struct cpu_event_data cfe; /* the next interrupt's event, if has_cfe */
	bool has_cfe;
	bool off;               /* tracing is off */
	bool guest;             /* a guest runs, starting at the next ip */
	uint64_t packet_offset; /* libipt's last offset */
	uint32_t blocks_without_packet;
};

/* Returns a stream of libipt's engine, owned by the caller; NULL if libipt refuses the trace. */
struct pt_stream *pt_blocks_new(const struct pt_stream_input *input,
				const struct pt_config *config);

/* Count the block of the pending branch, which went to `to`. */
void blocks_count(struct pt_blocks *blocks, uint64_t to);

/* Emit the pending branch, which went to `to`. */
void blocks_resolve(struct pt_blocks *blocks, uint64_t to);

/* Emit the pending CFE, if any, with its interrupt's address (0: unknown). */
void blocks_emit_cfe(struct pt_blocks *blocks, uint64_t ip);

/* Handle an event of libipt. */
void blocks_on_event(struct pt_blocks *blocks, const struct pt_event *event);
