/* SPDX-License-Identifier: MIT */
/* Find the PSBs where a stream may be cut into segments. */
#include "decoder/aux/aux_cuts.h"

#include "base/pages.h"

/* Bytes to scan at a time: a piece without a PSB may be larger than memory. */
#define STRIDE ((uint64_t)1 << 20)

/*
 * Drop the pages of a piece that were scanned up to `end`: windows that read far ahead do not
 * read them again.
 */
static void give_back(struct aux_cuts *cuts, const struct aux_piece *piece, uint64_t end)
{
	uint64_t begin = cuts->given;

	if (begin >= end)
		return;
	pages_give_back_around(piece->bytes + begin, end - begin, begin + piece->before,
			       piece->size - end + piece->after);
	cuts->given = end;
}

/* Returns the first PSB of a piece at or after offset `at`, or NULL. */
static const uint8_t *find_psb(struct aux_cuts *cuts, const struct aux_piece *piece, uint64_t at)
{
	const uint8_t *found = NULL;

	while (!found && at < piece->size) {
		uint64_t left = piece->size - at, stride = left < STRIDE ? left : STRIDE;

		found = aux_find_psb(piece->bytes + at, stride, piece->bytes + piece->size);
		give_back(cuts, piece, at - at % STRIDE);
		at += stride;
	}
	return found;
}

static void find_cut(struct aux_cuts *cuts, uint64_t from)
{
	for (; cuts->position.piece < cuts->aux->piece_count; cuts->position.piece++) {
		const struct aux_piece *piece = &cuts->aux->pieces[cuts->position.piece];
		uint64_t skip =
			from > cuts->position.piece_begin ? from - cuts->position.piece_begin : 0;
		const uint8_t *found = find_psb(cuts, piece, skip);

		if (found) {
			cuts->position.at =
				cuts->position.piece_begin + (uint64_t)(found - piece->bytes);
			return;
		}
		give_back(cuts, piece, piece->size);
		cuts->given = 0;
		cuts->position.piece_begin += piece->size;
	}
	cuts->position.at = AUX_CUTS_NONE;
}

void aux_cuts_init(struct aux_cuts *cuts, const struct aux_stream *aux, uint64_t distance)
{
	*cuts = (struct aux_cuts){ .aux = aux, .distance = distance };
	find_cut(cuts, distance);
}

void aux_cuts_next(struct aux_cuts *cuts)
{
	if (cuts->position.at != AUX_CUTS_NONE)
		find_cut(cuts, cuts->position.at + cuts->distance);
}
