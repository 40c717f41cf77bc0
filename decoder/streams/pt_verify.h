/* SPDX-License-Identifier: MIT */
/*
 * Checks the fast engine by libipt's: both decode the same pieces of a stream,
 * from one PSB to the next, and must find the same branches.
 *
 * Left out is what follows where both say that the trace is damaged: each goes on
 * in its own way.  Left out too are the last branches before an overflow and at
 * the end of the data, which libipt keeps back until the next packet comes; what
 * follows a return that libipt takes to where an earlier one should have gone; and
 * direct branches behind the last packet, which only libipt follows; and what follows a
 * direct branch out of an address filter, whose ranges libipt is not told.
 *
 * Times, which each estimates between timing packets, are compared for branches that
 * both find: they must be no more than an MTC period apart.
 */
#ifndef DECODER_ENGINE_LIBIPT_PT_VERIFY_H
#define DECODER_ENGINE_LIBIPT_PT_VERIFY_H

#include "decoder/engine/pt_stream.h"

struct pt_verdict {
	uint64_t segments;    /* that were compared */
	uint64_t differences; /* of those: in which the engines differ */
	uint64_t one_sided;   /* of those: where one calls damaged what the other does not */
	uint64_t branches;    /* that both found */
	uint64_t apart;       /* of those: whose times are more than a timing packet apart */
	uint64_t most_apart;  /* ns: the most that times are apart */
	/* The first difference, if there is one of those that is not one-sided: */
	uint64_t offset;           /* of the segment's PSB in the stream */
	uint64_t file_offset;      /* the same in the file */
	uint64_t index;            /* of the event in the segment */
	bool has_fast, has_libipt; /* whether there is an event on that side */
	struct branch_event fast, libipt;
};

/*
 * Compare every so-manyth segment of the stream (`every` is 1 or more); `input`
 * is as for pt_stream_open(), its engine is not looked at.
 * Adds to the verdict, which begins as zeros.  Returns 0; -1 with err filled if
 * libipt cannot make a decoder.
 */
int pt_verify(const struct pt_stream_input *input, uint64_t every, struct pt_verdict *verdict,
	      struct error *err);

/* Write one side of a difference, "call 401000 => 401020", into `text`. */
void pt_verdict_print(bool has, const struct branch_event *event, char *text, size_t room);

#endif
