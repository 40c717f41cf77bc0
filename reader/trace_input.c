/* SPDX-License-Identifier: MIT */
/* Reads a trace file from front to back, and unpacks it. */
#include "reader/trace_reader.h"

#include <zlib.h>
#include <zstd.h>

#define BLOCK_SIZE  ((size_t)1024 * 1024)
#define GZIP_WINDOW (15 + 16) /* zlib: 32 KiB, and a gzip header */

static int read_block(struct trace_input *input, struct error *err)
{
	input->packed_at = 0;
	input->packed_used = fread(input->packed, 1, BLOCK_SIZE, input->file);
	return ferror(input->file) ? error_set_system(err, errno, "cannot read") : 0;
}

void trace_input_close(struct trace_input *input)
{
	if (!input->file)
		return;
	ZSTD_freeDCtx(input->zstd);
	if (input->gzip)
		inflateEnd(input->gzip);
	free(input->gzip);
	free(input->packed);
	free(input->bytes);
	fclose(input->file);
	*input = (struct trace_input){ 0 };
}

int trace_input_open(struct trace_input *input, const char *path, struct error *err)
{
	static const uint8_t gzip[] = { 0x1f, 0x8b }, zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };

	*input =
		(struct trace_input){ .file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rbe") };
	if (!input->file)
		return error_set_system(err, errno, "cannot open");
	input->packed = alloc_zeroed(1, BLOCK_SIZE);
	input->bytes = alloc_zeroed(1, BLOCK_SIZE);
	if (read_block(input, err) < 0) {
		trace_input_close(input);
		return -1;
	}
	if (memcmp(input->packed, zstd, sizeof(zstd)) == 0)
		input->zstd = ALLOC_CHECKED(ZSTD_createDCtx());
	if (memcmp(input->packed, gzip, sizeof(gzip)) != 0)
		return 0;
	input->gzip = alloc_zeroed(1, sizeof(*input->gzip));
	if (inflateInit2(input->gzip, GZIP_WINDOW) != Z_OK)
		alloc_fail(BLOCK_SIZE);
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
	z_stream *gzip = input->gzip;
	int status;

	gzip->next_in = input->packed + input->packed_at;
	gzip->avail_in = (uInt)(input->packed_used - input->packed_at);
	gzip->next_out = input->bytes + input->used;
	gzip->avail_out = (uInt)(BLOCK_SIZE - input->used);
	status = inflate(gzip, Z_NO_FLUSH);
	input->packed_at = input->packed_used - gzip->avail_in;
	input->used = BLOCK_SIZE - gzip->avail_out;
	input->inside = status != Z_STREAM_END;
	if (status == Z_STREAM_END)
		status = inflateReset(gzip);
	return status == Z_OK || status == Z_BUF_ERROR ? 0 : -1;
}

static int unpack_zstd(struct trace_input *input)
{
	ZSTD_inBuffer in = { input->packed, input->packed_used, input->packed_at };
	ZSTD_outBuffer out = { input->bytes, BLOCK_SIZE, input->used };
	size_t left = ZSTD_decompressStream(input->zstd, &out, &in);

	input->packed_at = in.pos;
	input->used = out.pos;
	input->inside = left != 0;
	return ZSTD_isError(left) ? -1 : 0;
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
		if (input->ended && !input->inside)
			return 0;
		/* At the end of the file, the unpacker may still hold output. */
		if ((input->zstd   ? unpack_zstd(input)
		     : input->gzip ? unpack_gzip(input)
				   : copy_plain(input)) < 0)
			return error_set(err, ERROR_FORMAT, "compressed data are damaged");
		if (input->ended && input->used == before && input->inside)
			return error_set(err, ERROR_FORMAT, "compressed data are cut off");
	}
	input->ended = false;
	return 0;
}

int trace_input_peek(struct trace_input *input, size_t size, struct byte_view *view,
		     struct error *err)
{
	if (input->used - input->at < size && !input->ended && fill_block(input, err) < 0)
		return -1;
	*view = (struct byte_view){ input->bytes + input->at, input->used - input->at };
	return 0;
}
