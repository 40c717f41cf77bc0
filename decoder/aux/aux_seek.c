/* SPDX-License-Identifier: MIT */
/* Find a time range in an AUX stream by bisection of the TSCs after PSBs. */

#include "decoder/aux/pt_packet_read.h"
#include "decoder/clock/packet_clock.h"

/* A PSB+ has at most a dozen packets of 2 to 16 bytes, and padding. */
#define HEADER_MAX 256u

/* Size of a range at which bisection ends: PSBs are some KiB apart. */
#define NEAR 32768u

#define NOWHERE UINT64_MAX

/* A PSB with a TSC: decoding can begin here. */
struct sync {
	uint64_t offset; /* in the stream, or NOWHERE */
	uint64_t tsc;
};

static const struct sync no_sync = { NOWHERE, 0 };

/* Returns the piece that contains a byte of the stream. */
static size_t piece_at(const struct aux_stream *aux, uint64_t offset)
{
	size_t after = LOWER_BOUND(i, aux->piece_count, aux->pieces[i].begin <= offset);

	return after ? after - 1 : 0;
}

/* Copy up to `size` bytes from an offset, at most to the next break. Returns their number. */
static size_t copy_bytes(const struct aux_stream *aux, uint64_t offset, uint8_t *bytes, size_t size)
{
	size_t first = piece_at(aux, offset), used = 0;

	for (size_t i = first; i < aux->piece_count && used < size; i++) {
		const struct aux_piece *piece = &aux->pieces[i];
		size_t skip = i == first ? (size_t)(offset - piece->begin) : 0;
		size_t count = piece->size - skip;

		if (i > first && piece->apart)
			break;
		count = MIN(count, size - used);
		memcpy(bytes + used, piece->bytes + skip, count);
		used += count;
	}
	return used;
}

/* Returns the first PSB that begins in a piece at or after `offset`; it may end in later pieces. */
static uint64_t find_in_piece(const struct aux_stream *aux, size_t index, uint64_t offset)
{
	const struct aux_piece *piece = &aux->pieces[index];
	uint64_t begin = piece->begin, end = begin + piece->size;
	uint8_t seam[2 * AUX_PSB_SIZE];
	const uint8_t *from, *found;
	uint64_t last;
	size_t size;

	offset = MAX(offset, begin);
	from = piece->bytes + (offset - begin);
	found = aux_find_psb(from, end - offset, piece->bytes + piece->size);
	if (found)
		return begin + (uint64_t)(found - piece->bytes);
	last = end - offset < AUX_PSB_SIZE ? offset : end - (AUX_PSB_SIZE - 1);
	size = copy_bytes(aux, last, seam, sizeof(seam));
	found = aux_find_psb(seam, size, seam + size);
	return found && last + (uint64_t)(found - seam) < end ? last + (uint64_t)(found - seam)
							      : NOWHERE;
}

/* Returns the first PSB that begins in [from, to). */
static uint64_t psb_in_range(const struct aux_stream *aux, uint64_t from, uint64_t to)
{
	for (size_t i = piece_at(aux, from); i < aux->piece_count && aux->pieces[i].begin < to;
	     i++) {
		uint64_t found = find_in_piece(aux, i, from);

		if (found != NOWHERE)
			return found < to ? found : NOWHERE;
	}
	return NOWHERE;
}

/* Returns whether the PSB+ at an offset has a TSC. */
static bool read_tsc(const struct aux_stream *aux, uint64_t offset, uint64_t *tsc)
{
	uint8_t header[HEADER_MAX + AUX_WINDOW_PADDING] = { 0 };
	uint64_t reference = aux->pieces[piece_at(aux, offset)].reference;
	struct pt_packet_decoder *packets;
	struct pt_packet packet;
	struct pt_config config;
	bool found = false;

	pt_config_init(&config);
	config.begin = header;
	config.end = header + copy_bytes(aux, offset, header, HEADER_MAX);
	packets = ALLOC_CHECKED(pt_pkt_alloc_decoder(&config));
	if (!packets)
		return false;
	pt_pkt_sync_set(packets, 0);
	while (!found && pt_pkt_next(packets, &packet, sizeof(packet)) > 0 &&
	       packet.type != ppt_psbend)
		found = packet.type == ppt_tsc;
	if (found)
		*tsc = tsc_clock_complete(packet.payload.tsc.tsc, reference);
	pt_pkt_free_decoder(packets);
	return found;
}

/* Returns the first PSB with a TSC in [from, to). */
static struct sync next_sync(const struct aux_stream *aux, uint64_t from, uint64_t to)
{
	struct sync sync = no_sync;

	while (from < to) {
		sync.offset = psb_in_range(aux, from, to);
		if (sync.offset == NOWHERE || read_tsc(aux, sync.offset, &sync.tsc))
			return sync;
		from = sync.offset + AUX_PSB_SIZE;
	}
	return no_sync;
}

/* Returns the last PSB with a TSC of at most `tsc`. */
static struct sync last_sync(const struct aux_stream *aux, uint64_t tsc)
{
	uint64_t end = aux->size;
	struct sync best = next_sync(aux, 0, end), next;

	if (best.offset == NOWHERE || best.tsc > tsc)
		return no_sync;
	while (end - best.offset > NEAR) {
		uint64_t middle = best.offset + (end - best.offset) / 2;

		next = next_sync(aux, middle, end);
		if (next.offset != NOWHERE && next.tsc <= tsc)
			best = next;
		else
			end = middle;
	}
	for (next = best; next.offset != NOWHERE && next.tsc <= tsc;
	     next = next_sync(aux, best.offset + AUX_PSB_SIZE, aux->size))
		best = next;
	return best;
}

/* Returns the last PSB with a TSC before `offset`; `offset` if no such PSB exists. */
static uint64_t sync_before(const struct aux_stream *aux, uint64_t offset)
{
	for (uint64_t distance = NEAR;; distance *= 2) {
		uint64_t from = distance < offset ? offset - distance : 0, found = offset;
		struct sync sync;

		for (sync = next_sync(aux, from, offset); sync.offset != NOWHERE;
		     sync = next_sync(aux, sync.offset + AUX_PSB_SIZE, offset))
			found = sync.offset;
		if (found != offset || !from)
			return found;
	}
}

/* Returns the second PSB after an offset, or the stream's end. */
static uint64_t second_after(const struct aux_stream *aux, uint64_t offset)
{
	uint64_t end = aux->size;

	for (int i = 0; i < 2; i++) {
		offset = psb_in_range(aux, offset + AUX_PSB_SIZE, end);
		if (offset == NOWHERE)
			return end;
	}
	return offset;
}

void aux_stream_cut(const struct aux_stream *aux, uint64_t from, uint64_t to, struct arena *arena,
		    struct aux_stream *view)
{
	size_t first = piece_at(aux, from), count = piece_at(aux, to - 1) - first + 1;
	struct aux_piece *pieces = arena_copy(arena, aux->pieces + first, count * sizeof(*pieces));
	size_t skip = from - pieces[0].begin;

	pieces[count - 1].size = to - pieces[count - 1].begin;
	pieces[0].bytes += skip;
	pieces[0].size -= skip;
	pieces[0].aux_offset += skip;
	pieces[0].file_offset += skip;
	pieces[0].apart = pieces[0].resumes = false;
	view->pieces = pieces;
	view->piece_count = count;
	view->size = to - from;
	view->repeated = 0;
	view->missing = view->end_missing = to == aux->size ? view->end_missing : 0;
	for (size_t i = 0; i < count; i++)
		pieces[i].begin = i ? pieces[i].begin - from : 0;
	for (size_t i = 1; i < count && !view->copies; i++) {
		uint64_t end = pieces[i - 1].aux_offset + pieces[i - 1].size;

		if (pieces[i].apart && pieces[i].aux_offset > end)
			view->missing += pieces[i].aux_offset - end;
	}
}

void aux_seek(const struct aux_stream *aux, uint64_t begin, uint64_t end, struct arena *arena,
	      struct aux_stream *view)
{
	struct sync first, last;

	*view = *aux;
	if (!aux->size)
		return;
	first = last_sync(aux, begin);
	last = last_sync(aux, end);
	if (last.offset != NOWHERE && end >= begin) {
		uint64_t from = first.offset == NOWHERE ? 0 : sync_before(aux, first.offset);
		uint64_t to = second_after(aux, last.offset);

		/* Every comparison that leads to `last` holds for `first` as well. */
		aux_stream_cut(aux, from, to, arena, view);
	} else if (next_sync(aux, 0, aux->size).offset != NOWHERE) {
		view->size = view->piece_count = 0;
		view->repeated = view->missing = view->end_missing = 0;
	}
}

/* ---- The time of the last packet ----------------------------------------- */

/* State of the clock while packets are read. */
struct last_time {
	struct packet_clock clock;
	struct pt_config config;
	unsigned bip_size;  /* pt_packet_read() */
	uint64_t reference; /* completes TSCs */
};

/* Read a window's packets up to its end or to damage. Returns the end's offset; 0: no packet. */
static size_t read_window(const struct aux_window *window, struct last_time *last)
{
	size_t end = window->size, at = 0;
	struct pt_packet_decoder *packets;
	struct pt_packet packet;

	if (!aux_window_at_end(window))
		end -= AUX_WINDOW_PACKET_MAX;
	last->config.begin = window->bytes;
	last->config.end = window->bytes + window->size;
	packets = ALLOC_CHECKED(pt_pkt_alloc_decoder(&last->config));
	if (!packets)
		return 0;
	while (at < end && pt_packet_read(packets, &last->config, &at, &last->bip_size, &packet)) {
		if (packet.type == ppt_tsc)
			packet.payload.tsc.tsc =
				tsc_clock_complete(packet.payload.tsc.tsc, last->reference);
		packet_clock_packet(&last->clock, &packet);
	}
	pt_pkt_free_decoder(packets);
	return at;
}

/* If the stream resumes with a packet after the window, move there and return true. */
static bool resume_window(struct aux_window *window, struct last_time *last)
{
	const struct aux_stream *aux = window->aux;

	last->bip_size = 0;
	return window->piece < aux->piece_count && aux->pieces[window->piece].resumes &&
	       aux_window_next_run(window);
}

bool aux_seek_extent(const struct aux_stream *aux, const struct pt_info *info, uint64_t *first,
		     uint64_t *last)
{
	struct last_time time = { .clock.rates = pt_info_rates(info) };
	struct aux_stream rest = *aux;
	struct arena arena = { 0 };
	struct sync begin, end;

	if (!aux->size)
		return false;
	begin = next_sync(aux, 0, aux->size);
	end = last_sync(aux, UINT64_MAX);
	if (end.offset != NOWHERE) {
		struct aux_window window;
		size_t used;

		aux_stream_cut(aux, end.offset, aux->size, &arena, &rest);
		pt_packet_config(&time.config, info, aux->cpu);
		time.reference = rest.pieces[0].reference;
		/* Read the packets of a stream up to its end, or to damage. */
		aux_window_init(&window, &rest);
		do {
			while ((used = read_window(&window, &time)) && !aux_window_at_end(&window))
				aux_window_move(&window, used);
		} while (aux_window_at_end(&window) && resume_window(&window, &time));
		aux_window_release(&window);
		arena_release(&arena);
		*first = begin.tsc;
		*last = MAX(time.clock.tsc, end.tsc);
	}
	return end.offset != NOWHERE;
}
