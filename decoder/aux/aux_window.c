/* SPDX-License-Identifier: MIT */
/* Copy the pieces of a stream through a window, so that packets are contiguous. */
#include "decoder/aux/aux_window.h"

#define WINDOW ((size_t)1 << 20)

/* Size for decoding a segment, usually shorter than this (src/pipeline/decode_threads.c). */
#define SEEK_WINDOW (AUX_WINDOW_AHEAD + ((size_t)8 << 10))

static void fill(struct aux_window *window)
{
	while (window->size < window->room && !aux_window_at_end(window)) {
		const struct aux_piece *piece = &window->aux->pieces[window->piece];
		uint64_t count = piece->size - window->piece_used;

		count = MIN(count, window->room - window->size);
		memcpy(window->bytes + window->size, piece->bytes + window->piece_used, count);
		window->size += count;
		window->piece_used += count;
		aux_stream_give_back(window->aux, window->piece, window->piece_used - count,
				     window->piece_used);
		if (window->piece_used < piece->size)
			return;
		window->piece++;
		window->piece_used = 0;
		window->run_begins = false;
	}
}

void aux_window_init(struct aux_window *window, const struct aux_stream *aux)
{
	*window = (struct aux_window){ .aux = aux, .run_begins = true };
	window->room = MIN(aux->size, WINDOW);
	window->bytes = alloc_zeroed(1, window->room + AUX_WINDOW_PADDING);
	fill(window);
}

void aux_window_seek(struct aux_window *window, const struct aux_stream *aux,
		     const struct aux_position *position)
{
	const struct aux_piece *pieces = aux->pieces;
	size_t piece = position->piece;

	if (!window->bytes)
		window->bytes = alloc_zeroed(1, SEEK_WINDOW + AUX_WINDOW_PADDING);
	if (!window->room || window->room > SEEK_WINDOW)
		window->room = SEEK_WINDOW;
	while (piece < aux->piece_count && position->at - pieces[piece].begin > pieces[piece].size)
		piece++;
	window->aux = aux;
	window->size = 0;
	window->base = position->at;
	window->piece = piece;
	window->piece_used = piece < aux->piece_count ? position->at - pieces[piece].begin : 0;
	window->run_begins = position->run_begins;
	if (piece < aux->piece_count && window->piece_used == pieces[piece].size) {
		window->piece++;
		window->piece_used = 0;
	} else if (!window->piece_used) {
		window->run_begins = true;
	}
	fill(window);
}

void aux_window_release(struct aux_window *window)
{
	free(window->bytes);
	window->bytes = NULL;
}

uint64_t aux_window_aux_end(const struct aux_window *window)
{
	const struct aux_piece *next = &window->aux->pieces[window->piece];

	if (window->piece_used)
		return next->aux_offset + window->piece_used;
	return window->piece ? next[-1].aux_offset + next[-1].size : 0;
}

bool aux_window_at_end(const struct aux_window *window)
{
	return window->piece == window->aux->piece_count ||
	       (window->aux->pieces[window->piece].apart && !window->piece_used &&
		!window->run_begins);
}

bool aux_window_next_run(struct aux_window *window)
{
	if (window->piece == window->aux->piece_count)
		return false;
	window->base += window->size;
	window->size = 0;
	window->run_begins = true;
	fill(window);
	return true;
}

void aux_window_move(struct aux_window *window, size_t used)
{
	memmove(window->bytes, window->bytes + used, window->size - used);
	window->size -= used;
	window->base += used;
	fill(window);
}
