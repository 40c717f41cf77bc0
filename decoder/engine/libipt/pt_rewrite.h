/* SPDX-License-Identifier: MIT */
/*
 * Replaces packets that libipt 2.0 does not know, and guests that it cannot follow, by packets
 * with which its block decoder finds the right branches.
 *
 * Works on a copy of the trace, which keeps its length:
 *
 *   CFE, EVD, TRIG  EXSTOP, of two bytes; the list of notes has the original packet.
 *   BIP, BEP        A CFE, BEP or TRIG with a FUP of its own is an EXSTOP with a FUP
 *   MWAIT           EXSTOP: it has no FUP of its own, but that of its EXSTOP
 *   MODE.Exec       with a FUP of its own (the interrupt flag): EXSTOP
 *   BBP             PAD
 *   guest code      PAD, from the TIP that enters it (PIP's NR bit is set before), which
 *                   becomes TIP.PGD, to the one that leaves it, which becomes TIP.PGE.
 *                   Timing packets, PIP and others without code move forward in between.
 *                   Where its trace begins or ends otherwise: EXSTOP
 *   resumed trace   (the buffer was full, struct aux_piece) as at the end of a guest's
 *
 * Source: SDM volume 3, "Intel Processor Trace", packet definitions; "PIP".
 */
#ifndef DECODER_ENGINE_LIBIPT_PT_REWRITE_H
#define DECODER_ENGINE_LIBIPT_PT_REWRITE_H

#include <intel-pt.h>

#include "decoder/engine/pt_stream_base.h"

/* The original packet of an EXSTOP of the rewritten trace; CPU_EVENT_EXSTOP: itself. */
struct pt_rewrite_note {
	uint64_t offset; /* of the packet, in the rewritten trace */
	struct cpu_event_data note;
	bool of_interrupt; /* a CFE: the FUP after it has its address */
	bool bound;        /* it has a FUP of its own */
	bool dropped;      /* its FUP is missing: libipt reports no event */
	bool is_guest;     /* no event: the trace of a guest's code begins (`guest`) or ends */
	bool guest;
};

struct pt_rewrite {
	struct pt_rewrite_note *notes; /* owned; in the order of packets */
	size_t count, room, next;      /* `next`: for the reader; begins at 0 */
	uint64_t last_ip;              /* of the CPU, at the end of the bytes */
	uint8_t exec_mode;             /* payload of its last MODE.Exec; 0 if absent */
	bool has_guests;               /* NR bits count (stream_is_of_guest()); set by the owner */
};

/* Bytes of pt_rewrite_header(). */
#define PT_REWRITE_HEADER 48u

/*
 * Write a PSB+ and padding, for libipt to begin where the trace resumes without a PSB, after the
 * bytes that were rewritten last.  `tsc`: the time; 0: unknown.
 */
void pt_rewrite_header(const struct pt_rewrite *rewrite, uint64_t tsc, uint8_t *bytes);

/*
 * Rewrite `size` bytes of trace, with padding after them for libipt.  The notes of an earlier
 * call are dropped.  `header` is PT_REWRITE_HEADER if the bytes begin with a header of a PSB; the
 * next packet with an ip is where tracing resumes then; otherwise 0.
 */
void pt_rewrite_bytes(struct pt_rewrite *rewrite, const struct pt_errata *errata, uint8_t *bytes,
		      uint64_t size, uint64_t header);

/* libipt continues at an offset: skip the notes before it. */
void pt_rewrite_seek(struct pt_rewrite *rewrite, uint64_t offset);

/* Returns the note of libipt's next EXSTOP event, or NULL. */
const struct pt_rewrite_note *pt_rewrite_next(struct pt_rewrite *rewrite);

/* Idempotent, also on zeroed memory. */
void pt_rewrite_release(struct pt_rewrite *rewrite);

#endif
