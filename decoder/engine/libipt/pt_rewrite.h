/* SPDX-License-Identifier: MIT */
/*
 * Makes packets that libipt 2.0 does not know, and guests that it cannot follow,
 * into packets by which its block decoder goes the right way.
 *
 * Works on a copy of the trace, which keeps its length:
 *
 *   CFE, EVD        EXSTOP, of two bytes; what it stands for is in the list of notes.
 *                   A CFE with a FUP of its own is an EXSTOP that has one, too
 *   MODE.Exec       with a FUP of its own (the interrupt flag): EXSTOP
 *   BBP, BIP, BEP   PAD; a BEP with a FUP of its own: EXSTOP
 *   guest code      PAD, from the TIP that enters it (PIP's NR bit is set before), which
 *                   becomes TIP.PGD, to the one that leaves it, which becomes TIP.PGE.
 *                   Times, PIP and others that are of no code move forward in between
 *
 * Source: SDM volume 3, "Intel Processor Trace", packet definitions; "PIP".
 */
#ifndef DECODER_ENGINE_LIBIPT_PT_REWRITE_H
#define DECODER_ENGINE_LIBIPT_PT_REWRITE_H

#include "decoder/engine/pt_stream_base.h"

/* What an EXSTOP packet of the rewritten trace stands for; CPU_EVENT_EXSTOP: for itself. */
struct pt_rewrite_note {
	uint64_t offset; /* of the packet, in the rewritten trace */
	struct cpu_event_data note;
	bool of_interrupt; /* a CFE: the event is told where the FUP behind it says */
	bool bound;        /* it has a FUP of its own */
	bool dropped;      /* which never came: libipt tells of no event */
};

struct pt_rewrite {
	struct pt_rewrite_note *notes; /* owned; in the order of packets */
	size_t count, room, next;      /* `next`: for whoever reads them; begins at 0 */
};

/*
 * Rewrite `size` bytes of trace, behind which lie at least as many readable bytes
 * as libipt reads too far.  The notes of an earlier rewriting are gone.
 */
void pt_rewrite_bytes(struct pt_rewrite *rewrite, uint8_t *bytes, uint64_t size);

/* libipt goes on at an offset: the next note is one from there on. */
void pt_rewrite_seek(struct pt_rewrite *rewrite, uint64_t offset);

/* Returns the note of the next event of an EXSTOP; NULL: there is none. */
const struct pt_rewrite_note *pt_rewrite_next(struct pt_rewrite *rewrite);

/* Idempotent, also on zeroed memory. */
void pt_rewrite_release(struct pt_rewrite *rewrite);

#endif
