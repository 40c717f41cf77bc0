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
 *                   Timing packets, PIP and others without code move forward in between
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
	bool of_interrupt; /* a CFE: the FUP behind it has its address */
	bool bound;        /* it has a FUP of its own */
	bool dropped;      /* its FUP is missing: libipt reports no event */
};

struct pt_rewrite {
	struct pt_rewrite_note *notes; /* owned; in the order of packets */
	size_t count, room, next;      /* `next`: for the reader; begins at 0 */
};

/*
 * Rewrite `size` bytes of trace, with padding behind them for libipt.  The notes of an earlier
 * call are dropped.
 */
void pt_rewrite_bytes(struct pt_rewrite *rewrite, const struct pt_errata *errata, uint8_t *bytes,
		      uint64_t size);

/* libipt continues at an offset: skip the notes before it. */
void pt_rewrite_seek(struct pt_rewrite *rewrite, uint64_t offset);

/* Returns the note of libipt's next EXSTOP event; NULL: none. */
const struct pt_rewrite_note *pt_rewrite_next(struct pt_rewrite *rewrite);

/* Idempotent, also on zeroed memory. */
void pt_rewrite_release(struct pt_rewrite *rewrite);

#endif
