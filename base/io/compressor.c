/* SPDX-License-Identifier: MIT */
/* gzip by zlib and zstd by libzstd, as one stream. */
#include "base/io/output.h"

#include <zlib.h>
#include <zstd.h>

/* Bytes per write(): larger writes take the page cache several times as long (base/io/output.c). */
#define WRITE_SIZE  ((size_t)64 * 1024)
#define GZIP_WINDOW (15 + 16) /* zlib: 32 KiB, and a gzip header */
/* Takes half the time of the default of 6, for 2% more bytes (a trace of 36 MB). */
#define GZIP_LEVEL 3
#define ZSTD_LEVEL 3

struct compressor {
	compressor_write_fn *write;
	void *context; /* the context of `write`; borrowed */
	enum compression compression;
	z_stream gzip;
	ZSTD_CCtx *zstd; /* owned */
	int failure;     /* errno: the first */
	size_t used;     /* bytes of `out` */
	uint8_t out[WRITE_SIZE];
};

enum compression compression_of_path(const char *path)
{
	if (ends_with(path, ".gz"))
		return COMPRESSION_GZIP;
	return ends_with(path, ".zst") ? COMPRESSION_ZSTD : COMPRESSION_NONE;
}

/* Compress input until the output is full.  Returns whether work is left. */
static bool compress_gzip(struct compressor *compressor, ZSTD_inBuffer *in, bool last)
{
	z_stream *gzip = &compressor->gzip;
	int status;

	gzip->next_in = (uint8_t *)(uintptr_t)in->src + in->pos;
	gzip->avail_in = (uInt)MIN(in->size - in->pos, (size_t)UINT_MAX);
	gzip->next_out = compressor->out + compressor->used;
	gzip->avail_out = (uInt)(WRITE_SIZE - compressor->used);
	status = deflate(gzip, last ? Z_FINISH : Z_NO_FLUSH);
	in->pos = (size_t)(gzip->next_in - (const uint8_t *)in->src);
	compressor->used = WRITE_SIZE - gzip->avail_out;
	return last ? status != Z_STREAM_END : in->pos != in->size;
}

/* The same with zstd.  A lack of memory is the only error here. */
static bool compress_zstd(struct compressor *compressor, ZSTD_inBuffer *in, bool last)
{
	ZSTD_outBuffer out = { compressor->out, WRITE_SIZE, compressor->used };
	size_t left = ZSTD_compressStream2(compressor->zstd, &out, in,
					   last ? ZSTD_e_end : ZSTD_e_continue);

	compressor->used = out.pos;
	if (ZSTD_isError(left))
		compressor->failure = EIO;
	return last ? left != 0 : in->pos != in->size;
}

/* Compress bytes, and write full blocks; `last`: end the stream.  Returns 0, or an errno. */
static int compress_bytes(struct compressor *compressor, const uint8_t *bytes, size_t size,
			  bool last)
{
	ZSTD_inBuffer in = { bytes, size, 0 };
	bool more = !compressor->failure;

	while (more) {
		more = compressor->compression == COMPRESSION_GZIP
			       ? compress_gzip(compressor, &in, last)
			       : compress_zstd(compressor, &in, last);
		if (!compressor->failure && (compressor->used == WRITE_SIZE || (last && !more))) {
			compressor->failure = compressor->write(compressor->context,
								compressor->out, compressor->used);
			compressor->used = 0;
		}
		more &= !compressor->failure;
	}
	return compressor->failure;
}

/* Returns whether there was memory. */
static bool start_library(struct compressor *compressor)
{
	if (compressor->compression != COMPRESSION_ZSTD)
		return deflateInit2(&compressor->gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 9,
				    Z_DEFAULT_STRATEGY) == Z_OK;
	compressor->zstd = ZSTD_createCCtx();
	if (!compressor->zstd)
		return false;
	ZSTD_CCtx_setParameter(compressor->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(compressor->zstd, ZSTD_c_checksumFlag, 1);
	return true;
}

struct compressor *compressor_open(enum compression compression, compressor_write_fn *write,
				   void *context)
{
	struct compressor *compressor = calloc(1, sizeof(*compressor));

	if (!compressor)
		return NULL;
	compressor->compression = compression;
	compressor->write = write;
	compressor->context = context;
	if (start_library(compressor))
		return compressor;
	free(compressor);
	return NULL;
}

int compressor_put(struct compressor *compressor, const uint8_t *bytes, size_t size)
{
	return compress_bytes(compressor, bytes, size, false);
}

int compressor_close(struct compressor *compressor)
{
	/* Not NULL: C allows no addition to NULL, not even of 0. */
	int failure = compress_bytes(compressor, compressor->out, 0, true);

	compressor_abandon(compressor);
	return failure;
}

void compressor_abandon(struct compressor *compressor)
{
	if (!compressor)
		return;
	if (compressor->compression == COMPRESSION_GZIP)
		deflateEnd(&compressor->gzip);
	ZSTD_freeCCtx(compressor->zstd);
	free(compressor);
}
