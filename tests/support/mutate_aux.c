/* SPDX-License-Identifier: MIT */
/*
 * mutate_aux IN OUT SEED: copies a recording with one to four damages of its Intel PT data: a
 * changed bit, removed bytes (the rest moves up, and is padded), or an inserted OVF packet.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/perf_data/perf_file.h"
#include "decoder/streams/auxtrace.h"

#define PLACES_MAX 4
#define CUT_MAX    64

static uint64_t state;

static uint64_t draw(uint64_t sides)
{
	/* Constants of Knuth's MMIX generator. */
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 33) % sides;
}

static void cut(uint8_t *bytes, size_t size, size_t at)
{
	size_t count = 1 + draw(CUT_MAX);

	if (count > size - at)
		count = size - at;
	memmove(bytes + at, bytes + at + count, size - at - count);
	memset(bytes + size - count, 0, count);
}

static void insert_overflow(uint8_t *bytes, size_t size, size_t at)
{
	/* SDM volume 3, "Overflow (OVF) Packet" */
	static const uint8_t packet[] = { 0x02, 0xf3 };

	if (size - at < sizeof(packet))
		return;
	memmove(bytes + at + sizeof(packet), bytes + at, size - at - sizeof(packet));
	memcpy(bytes + at, packet, sizeof(packet));
}

static void mutate(uint8_t *bytes, size_t size)
{
	size_t at = draw(size);

	switch (draw(4)) {
	case 0:
		cut(bytes, size, at);
		break;
	case 1:
		insert_overflow(bytes, size, at);
		break;
	default:
		bytes[at] ^= (uint8_t)(1u << draw(8));
		break;
	}
}

static uint8_t *read_file(const char *path, size_t *size)
{
	FILE *in = fopen(path, "rb");
	uint8_t *bytes;

	if (!in || fseek(in, 0, SEEK_END) < 0)
		return NULL;
	*size = (size_t)ftell(in);
	rewind(in);
	bytes = malloc(*size);
	if (bytes && fread(bytes, 1, *size, in) != *size)
		return NULL;
	fclose(in);
	return bytes;
}

static void mutate_streams(const struct auxtrace *auxtrace, uint8_t *bytes)
{
	const struct aux_stream *stream = &auxtrace->streams[draw(auxtrace->stream_count)];
	unsigned places = 1 + (unsigned)draw(PLACES_MAX);

	for (unsigned i = 0; i < places && stream->piece_count; i++) {
		const struct aux_piece *piece = &stream->pieces[draw(stream->piece_count)];

		if (piece->size)
			mutate(bytes + piece->file_offset, piece->size);
	}
}

int main(int argc, char **argv)
{
	struct auxtrace auxtrace;
	struct perf_file file;
	uint8_t *bytes;
	size_t size;
	FILE *out;

	if (argc != 4)
		return 64;
	state = strtoull(argv[3], NULL, 10);
	bytes = read_file(argv[1], &size);
	if (!bytes || perf_file_open(&file, argv[1], NULL, NULL) < 0 ||
	    auxtrace_init(&auxtrace, &file, NULL) < 0)
		return 1;
	mutate_streams(&auxtrace, bytes);
	auxtrace_release(&auxtrace);
	perf_file_close(&file);
	out = fopen(argv[2], "wb");
	if (!out || fwrite(bytes, 1, size, out) != size || fclose(out) != 0)
		return 1;
	free(bytes);
	return 0;
}
