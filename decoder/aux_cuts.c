/* SPDX-License-Identifier: MIT */
#include "decoder/aux_cuts.h"

#include <string.h>

/* SDM volume 3, "Packet Stream Boundary (PSB) Packet": 02 82, eight times. */
#define PSB_SIZE 16

static const uint8_t psb[PSB_SIZE] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
				       2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };

static void find_from(struct aux_cuts *cuts, uint64_t from)
{
	for (; cuts->place.piece < cuts->aux->piece_count; cuts->place.piece++) {
		const struct aux_piece *piece = &cuts->aux->pieces[cuts->place.piece];
		uint64_t skip = from > cuts->place.piece_begin ? from - cuts->place.piece_begin : 0;
		const uint8_t *found = NULL;

		if (skip < piece->size)
			found = memmem(piece->bytes + skip, piece->size - skip, psb, PSB_SIZE);
		if (found) {
			cuts->place.at = cuts->place.piece_begin + (uint64_t)(found - piece->bytes);
			return;
		}
		cuts->place.piece_begin += piece->size;
	}
	cuts->place.at = AUX_CUTS_NONE;
}

void aux_cuts_init(struct aux_cuts *cuts, const struct aux_stream *aux, uint64_t distance)
{
	*cuts = (struct aux_cuts){ .aux = aux, .distance = distance };
	find_from(cuts, distance);
}

void aux_cuts_next(struct aux_cuts *cuts)
{
	if (cuts->place.at != AUX_CUTS_NONE)
		find_from(cuts, cuts->place.at + cuts->distance);
}
