/* SPDX-License-Identifier: MIT */
/*
 * Checks the fast engine against libipt: both decode the same pieces of a stream, from one PSB to
 * the next, and must find the same branches.
 *
 * Not compared: events after both engines report damage, because each resumes in its own way; the
 * last branches before an overflow and at the end of the data, which libipt delays until the next
 * packet; events after a return for which libipt uses an earlier return's address; direct branches
 * after the last packet, which only libipt follows; and events after a direct branch out of an
 * address filter, whose ranges libipt does not know.
 *
 * Each engine estimates times between timing packets; these may differ by at most an MTC period.
 * The branches of a piece's last packet are ignored: libipt reads ahead, and can give them the time
 * of the next PSB.
 */
#pragma once

#include "decoder/engine/pt_stream.h"

/* Why the rest of a segment is not compared. */
enum verify_stop {
	VERIFY_END, /* the last branches, of one engine only: see above */
	VERIFY_DIFFERENCE,
	VERIFY_OVERFLOW,
	VERIFY_FILTER, /* a direct branch out of an address filter */
	VERIFY_DAMAGE, /* in both engines */
	VERIFY_RETURN, /* libipt uses an earlier return's address */
};

#define VERIFY_STOPS (VERIFY_RETURN + 1)
#define VERIFY_TEXT  100

struct pt_verdict {
	uint64_t segments;    /* compared */
	uint64_t differences; /* segments with a difference */
	uint64_t one_sided;   /* segments of `differences` with damage in one engine only */
	uint64_t branches;    /* found by both engines */
	struct {
		uint64_t fast,
			libipt; /* branches that the engine found, and that are not compared */
	} rest[VERIFY_STOPS];
	uint64_t apart;      /* branches whose times differ by more than an MTC period */
	uint64_t most_apart; /* ns: greatest difference of times */
	/* The first difference, preferably a two-sided one: */
	uint64_t file_offset;                        /* offset of the segment's PSB */
	uint64_t index;                              /* the event's index in the segment */
	char fast[VERIFY_TEXT], libipt[VERIFY_TEXT]; /* such as "call 401000 => 401020" */
};

/*
 * Compare every `every`th segment of the stream (`every` >= 1); `input` is as for pt_stream_open(),
 * with its engine ignored. Adds to the verdict, which the caller zeroes first. Returns 0; -1 with
 * err filled if libipt cannot create a decoder.
 */
int pt_verify(const struct pt_stream_input *input, uint64_t every, struct pt_verdict *verdict,
	      struct error *err);
