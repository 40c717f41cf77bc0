/* SPDX-License-Identifier: MIT */
/* Join the pieces of an AUX buffer into one stream: overlaps, losses, snapshots. */
#include "base/pages.h"
#include "decoder/aux/aux_window.h"

/* perf fills the data of a record up to a multiple of 8 bytes with zeros. */
#define PADDING_MAX 7

static struct aux_piece *add_piece(struct aux_piece_list *list, const struct aux_piece *piece)
{
	struct aux_piece *added = ARRAY_ADD(list->pieces, list->count, list->room);

	*added = *piece;
	return added;
}

static void skip_bytes(struct aux_piece *piece, size_t size)
{
	piece->bytes += size;
	piece->size -= size;
	piece->aux_offset += size;
	piece->file_offset += size;
}

void aux_pieces_release(struct aux_piece_list *list)
{
	free(list->pieces);
	*list = (struct aux_piece_list){ 0 };
}

/* ---- Full trace ---------------------------------------------------------- */

static uint64_t end_of(const struct aux_piece *piece)
{
	return piece->aux_offset + piece->size;
}

/* Returns whether the piece continues the last one; if so, cuts off the last one's padding. */
static bool follows(struct aux_piece *last, const struct aux_piece *piece)
{
	uint64_t padding = end_of(last) - piece->aux_offset;

	if (padding > PADDING_MAX || padding > last->size)
		return false;
	last->size -= padding;
	return true;
}

void aux_pieces_join(struct aux_piece_list *list, const struct aux_piece *pieces, size_t count,
		     const struct aux_cut *cuts, size_t cut_count)
{
	for (size_t i = 0; i < count; i++) {
		struct aux_piece *last = list->count ? &list->pieces[list->count - 1] : NULL;
		struct aux_piece piece = pieces[i];
		size_t next;

		piece.apart = last && !follows(last, &piece);
		if (piece.apart && piece.aux_offset > end_of(last))
			list->missing += piece.aux_offset - end_of(last);
		/* Add a piece, divided at the cuts. */
		next = LOWER_BOUND(k, cut_count, cuts[k].at < piece.aux_offset);
		for (; next < cut_count && cuts[next].at < end_of(&piece); next++) {
			uint64_t size = cuts[next].at - piece.aux_offset;

			if (cuts[next].whole)
				continue;
			if (size) {
				add_piece(list, &piece)->size = size;
				skip_bytes(&piece, size);
			}
			piece.apart = piece.resumes = list->count > 0;
			piece.resume_time = cuts[next].time;
		}
		if (piece.size)
			add_piece(list, &piece);
	}
}

/* ---- Snapshots and samples ----------------------------------------------- */

/* Returns the last PSB of a piece, or NULL. */
static const uint8_t *find_last_psb(const struct aux_piece *piece)
{
	size_t at = piece->size;

	while (at >= AUX_PSB_SIZE) {
		const uint8_t *end = memrchr(piece->bytes, AUX_PSB[1], at);

		if (!end || end - piece->bytes + 1 < (ptrdiff_t)AUX_PSB_SIZE)
			return NULL;
		at = (size_t)(end - piece->bytes);
		if (memcmp(end + 1 - AUX_PSB_SIZE, AUX_PSB, AUX_PSB_SIZE) == 0)
			return end + 1 - AUX_PSB_SIZE;
	}
	return NULL;
}

/*
 * Find the tail of the previous piece, starting at its last PSB, in this piece. The PSB+ has a TSC,
 * so these bytes are unique in the trace. They contain only the PSB at their start, so the search
 * takes linear time. Zeros at the end are padding or packets: try both. Returns the number of bytes
 * of the piece that the previous one also has, and in *padding the bytes of padding at the end of
 * the previous one; 0 if they do not overlap.
 */
static size_t find_overlap(const struct aux_piece *before, const struct aux_piece *piece,
			   size_t *padding)
{
	const uint8_t *tail = find_last_psb(before), *found = piece->bytes;
	const uint8_t *end = piece->bytes + piece->size;
	size_t size, left;

	*padding = 0;
	if (!tail)
		return 0;
	size = (size_t)(before->bytes + before->size - tail);
	while ((found = memmem(found, (size_t)(end - found), AUX_PSB, AUX_PSB_SIZE))) {
		left = (size_t)(end - found);
		if (left >= size && memcmp(found, tail, size) == 0)
			return (size_t)(found - piece->bytes) + size;
		/* Zeros at the end can be perf's padding. */
		for (*padding = 0; *padding < PADDING_MAX && *padding < before->size &&
				   !before->bytes[before->size - 1 - *padding];)
			++*padding;
		if (left >= size - *padding && memcmp(found, tail, size - *padding) == 0)
			return (size_t)(found - piece->bytes) + size - *padding;
		found++;
	}
	return 0;
}

void aux_pieces_join_copies(struct aux_piece_list *list, const struct aux_piece *pieces,
			    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct aux_piece *last = list->count ? &list->pieces[list->count - 1] : NULL;
		struct aux_piece piece = pieces[i];
		size_t padding = 0,
		       size = last ? find_overlap(&pieces[i - 1], &piece, &padding) : 0;

		piece.apart = last && !size;
		if (size && padding < last->size) {
			last->size -= padding;
			list->repeated += padding;
		}
		list->repeated += size;
		skip_bytes(&piece, size);
		if (piece.size)
			add_piece(list, &piece);
	}
}

/* ---- Streams ------------------------------------------------------------- */

const uint8_t *aux_find_psb(const uint8_t *bytes, size_t size, const uint8_t *end)
{
	size_t room = (size_t)(end - bytes);
	const uint8_t *found;

	if (size < room)
		room = room - size < AUX_PSB_SIZE - 1 ? room : size + AUX_PSB_SIZE - 1;
	found = memmem(bytes, room, AUX_PSB, AUX_PSB_SIZE);
	while (found && (size_t)(end - found) >= AUX_PSB_SIZE + 2 &&
	       memcmp(found + AUX_PSB_SIZE, AUX_PSB, 2) == 0)
		found += 2;
	return found;
}

bool aux_stream_has_cut(const struct aux_stream *stream, uint64_t at)
{
	const struct aux_piece *pieces = stream->pieces;
	size_t next = LOWER_BOUND(i, stream->piece_count, pieces[i].aux_offset < at);

	return !stream->copies && next < stream->piece_count && pieces[next].apart;
}

/* Bytes to scan, and to drop from memory, in one step. */
#define STRIDE ((uint64_t)1 << 20)

/*
 * Drop pages in large blocks: a system call per small piece would dominate, and other threads wait
 * while the kernel unmaps pages on all CPUs.
 */
static uintptr_t block_of(const uint8_t *bytes)
{
	return (uintptr_t)bytes / STRIDE;
}

void aux_stream_give_back(const struct aux_stream *stream, size_t piece, uint64_t begin,
			  uint64_t end)
{
	const struct aux_piece *at = &stream->pieces[piece];
	const uint8_t *next = at->bytes + end;

	if (end == at->size)
		next = piece + 1 < stream->piece_count ? at[1].bytes : NULL;
	if (begin < end && !stream->in_memory && block_of(at->bytes + begin) != block_of(next))
		pages_give_back_around(at->bytes + begin, end - begin, begin + at->before,
				       at->size - end + at->after);
}

/* Windows have read far ahead, and do not need the pages again. */
static void give_back_cut(struct aux_cuts *cuts, uint64_t end)
{
	aux_stream_give_back(cuts->aux, cuts->position.piece, cuts->given, end);
	cuts->given = MAX(cuts->given, end);
}

/* Returns the first PSB of a piece at or after offset `at`, or NULL. */
static const uint8_t *psb_of_piece(struct aux_cuts *cuts, const struct aux_piece *piece,
				   uint64_t at)
{
	const uint8_t *found = NULL;

	while (!found && at < piece->size) {
		uint64_t left = piece->size - at, stride = MIN(left, STRIDE);

		found = aux_find_psb(piece->bytes + at, stride, piece->bytes + piece->size);
		give_back_cut(cuts, at - at % STRIDE);
		at += stride;
	}
	return found;
}

static void find_cut(struct aux_cuts *cuts, uint64_t from)
{
	for (; cuts->position.piece < cuts->aux->piece_count; cuts->position.piece++) {
		const struct aux_piece *piece = &cuts->aux->pieces[cuts->position.piece];
		uint64_t skip = from > piece->begin ? from - piece->begin : 0;
		const uint8_t *found = psb_of_piece(cuts, piece, skip);

		if (found) {
			cuts->position.at = piece->begin + (uint64_t)(found - piece->bytes);
			return;
		}
		give_back_cut(cuts, piece->size);
		cuts->given = 0;
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
