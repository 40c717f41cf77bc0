/* SPDX-License-Identifier: MIT */
/* Reads a trace file from front to back, and unpacks it. */
#include "reader/trace_input.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define BLOCK_SIZE  ((size_t)1024 * 1024)
#define GZIP_WINDOW (15 + 16) /* zlib: 32 KiB, and a gzip header */

struct trace_unpacker {
	z_stream gzip;
	ZSTD_DCtx *zstd; /* owned; NULL: gzip */
	bool inside;     /* of a gzip member or zstd frame that has not ended */
};

/* Read on until the block is full or the file ends.  Returns 0; -1 with err filled. */
static int read_block(struct trace_input *input, struct error *err)
{
	input->packed_at = 0;
	input->packed_used = 0;
	while (input->packed_used < BLOCK_SIZE) {
		ssize_t got = read(input->fd, input->packed + input->packed_used,
				   BLOCK_SIZE - input->packed_used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_set_system(err, errno, "cannot read");
		if (got == 0)
			break;
		input->packed_used += (size_t)got;
	}
	return 0;
}

static void open_unpacker(struct trace_input *input)
{
	static const uint8_t gzip[] = { 0x1f, 0x8b }, zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
	bool is_zstd;

	is_zstd = input->packed_used >= sizeof(zstd) &&
		  memcmp(input->packed, zstd, sizeof(zstd)) == 0;
	if (!is_zstd &&
	    (input->packed_used < sizeof(gzip) || memcmp(input->packed, gzip, sizeof(gzip)) != 0))
		return;
	input->unpacker = alloc_zeroed(1, sizeof(*input->unpacker));
	if (is_zstd)
		input->unpacker->zstd = ZSTD_createDCtx();
	if (is_zstd ? !input->unpacker->zstd
		    : inflateInit2(&input->unpacker->gzip, GZIP_WINDOW) != Z_OK)
		alloc_fail(BLOCK_SIZE);
}

void trace_input_close(struct trace_input *input)
{
	if (!input->packed)
		return;
	if (input->unpacker && input->unpacker->zstd)
		ZSTD_freeDCtx(input->unpacker->zstd);
	else if (input->unpacker)
		inflateEnd(&input->unpacker->gzip);
	free(input->unpacker);
	free(input->packed);
	free(input->bytes);
	close(input->fd);
	*input = (struct trace_input){ .fd = -1 };
}

int trace_input_open(struct trace_input *input, const char *path, struct error *err)
{
	int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);

	*input = (struct trace_input){ .fd = fd };
	if (fd < 0)
		return error_set_system(err, errno, "cannot open");
	input->packed = alloc_zeroed(1, BLOCK_SIZE);
	input->bytes = alloc_zeroed(1, BLOCK_SIZE);
	if (read_block(input, err) < 0) {
		trace_input_close(input);
		return -1;
	}
	open_unpacker(input);
	return 0;
}

/* ---- Unpacking ----------------------------------------------------------- */

/* Each of these unpacks some bytes of the file.  Returns 0; -1 if they are damaged. */

static int copy_plain(struct trace_input *input)
{
	size_t part = input->packed_used - input->packed_at, room = BLOCK_SIZE - input->used;

	part = MIN(part, room);
	memcpy(input->bytes + input->used, input->packed + input->packed_at, part);
	input->used += part;
	input->packed_at += part;
	return 0;
}

static int unpack_gzip(struct trace_input *input)
{
	struct trace_unpacker *unpacker = input->unpacker;
	z_stream *gzip = &unpacker->gzip;
	int status;

	gzip->next_in = input->packed + input->packed_at;
	gzip->avail_in = (uInt)(input->packed_used - input->packed_at);
	gzip->next_out = input->bytes + input->used;
	gzip->avail_out = (uInt)(BLOCK_SIZE - input->used);
	status = inflate(gzip, Z_NO_FLUSH);
	input->packed_at = input->packed_used - gzip->avail_in;
	input->used = BLOCK_SIZE - gzip->avail_out;
	unpacker->inside = status != Z_STREAM_END;
	if (status == Z_STREAM_END)
		return inflateReset(gzip) == Z_OK ? 0 : -1;
	return status == Z_OK || status == Z_BUF_ERROR ? 0 : -1;
}

static int unpack_zstd(struct trace_input *input)
{
	ZSTD_inBuffer in = { input->packed, input->packed_used, input->packed_at };
	ZSTD_outBuffer out = { input->bytes, BLOCK_SIZE, input->used };
	size_t left = ZSTD_decompressStream(input->unpacker->zstd, &out, &in);

	if (ZSTD_isError(left))
		return -1;
	input->packed_at = in.pos;
	input->used = out.pos;
	input->unpacker->inside = left != 0;
	return 0;
}

static int unpack_block(struct trace_input *input)
{
	if (!input->unpacker)
		return copy_plain(input);
	return input->unpacker->zstd ? unpack_zstd(input) : unpack_gzip(input);
}

/* Fill the trace's block.  Returns 0; -1 with err filled. */
static int fill_block(struct trace_input *input, struct error *err)
{
	memmove(input->bytes, input->bytes + input->at, input->used - input->at);
	input->used -= input->at;
	input->at = 0;
	while (input->used < BLOCK_SIZE) {
		size_t before = input->used;

		if (input->packed_at == input->packed_used && read_block(input, err) < 0)
			return -1;
		input->ended = input->packed_used == 0;
		if (input->ended && !(input->unpacker && input->unpacker->inside))
			return 0;
		/* At the end of the file, the unpacker may still hold output. */
		if (unpack_block(input) < 0)
			return error_set(err, ERROR_FORMAT, "compressed data are damaged");
		if (input->ended && input->used == before && input->unpacker->inside)
			return error_set(err, ERROR_FORMAT, "compressed data are cut off");
	}
	input->ended = false;
	return 0;
}

const uint8_t *trace_input_peek(struct trace_input *input, size_t size, size_t *left,
				struct error *err)
{
	if (input->used - input->at < size && !input->ended && fill_block(input, err) < 0)
		return NULL;
	*left = input->used - input->at;
	return *left < size ? NULL : input->bytes + input->at;
}
