/* SPDX-License-Identifier: MIT */
#include "base/io/compressor.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"

#define BLOCK_SIZE ((size_t)1024 * 1024)
#define BLOCKS     4 /* being filled, waiting, being compressed */
/* Written at a time: larger pieces take the page cache several times as long (base/io/output.c). */
#define WRITE_SIZE  ((size_t)64 * 1024)
#define GZIP_WINDOW (15 + 16) /* zlib: 32 KiB, and a gzip header */
/* Takes half the time of the default of 6, for 2% more bytes (a trace of 36 MB). */
#define GZIP_LEVEL 3
#define ZSTD_LEVEL 3

struct block {
	uint8_t *bytes; /* owned: BLOCK_SIZE */
	size_t used;
};

struct packer {
	compressor_write_fn *write;
	void *context;
	enum packing packing;
	z_stream gzip;
	ZSTD_CCtx *zstd;  /* owned */
	struct block out; /* of the thread only */
	pthread_t thread; /* unless alone */
	bool alone;       /* there is no thread: the caller's does its work */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under the lock: */
	struct block ring[BLOCKS];
	unsigned filled,
		emptied; /* blocks handed over, blocks done; the one being filled is apart */
	bool ended;      /* no more blocks come */
	bool stopped;    /* what is left is not wanted */
	int failure;     /* errno */
};

enum packing packing_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	if (dot && strcmp(dot, ".gz") == 0)
		return PACKING_GZIP;
	if (dot && strcmp(dot, ".zst") == 0)
		return PACKING_ZSTD;
	return PACKING_NONE;
}

/* ---- The thread ---------------------------------------------------------- */

static int write_pieces(const struct packer *packer, const struct block *block)
{
	int status = 0;

	for (size_t at = 0; at < block->used && status == 0; at += WRITE_SIZE) {
		size_t left = block->used - at;

		status = packer->write(packer->context, block->bytes + at,
				       left < WRITE_SIZE ? left : WRITE_SIZE);
	}
	return status;
}

static int write_out(struct packer *packer)
{
	int status = write_pieces(packer, &packer->out);

	packer->out.used = 0;
	return status;
}

static int pack_gzip(struct packer *packer, const struct block *block, bool last)
{
	z_stream *gzip = &packer->gzip;
	int status = Z_OK, failure = 0;

	gzip->next_in = block->bytes;
	gzip->avail_in = (uInt)block->used;
	do {
		gzip->next_out = packer->out.bytes + packer->out.used;
		gzip->avail_out = (uInt)(BLOCK_SIZE - packer->out.used);
		status = deflate(gzip, last ? Z_FINISH : Z_NO_FLUSH);
		packer->out.used = BLOCK_SIZE - gzip->avail_out;
		if (packer->out.used == BLOCK_SIZE)
			failure = write_out(packer);
	} while (!failure && (last ? status != Z_STREAM_END : gzip->avail_in != 0));
	return failure;
}

static int pack_zstd(struct packer *packer, const struct block *block, bool last)
{
	ZSTD_inBuffer in = { block->bytes, block->used, 0 };
	size_t left;
	int failure = 0;

	do {
		ZSTD_outBuffer out = { packer->out.bytes, BLOCK_SIZE, packer->out.used };

		left = ZSTD_compressStream2(packer->zstd, &out, &in,
					    last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return EIO; /* only a lack of memory is possible */
		packer->out.used = out.pos;
		if (packer->out.used == BLOCK_SIZE)
			failure = write_out(packer);
	} while (!failure && (last ? left != 0 : in.pos != in.size));
	return failure;
}

/* Returns the next block, NULL for the last, empty one; *stop if there is nothing to do any more.
 */
static struct block *next_block(struct packer *packer, bool *stop)
{
	struct block *block = NULL;

	pthread_mutex_lock(&packer->lock);
	while (packer->filled == packer->emptied && !packer->ended && !packer->stopped)
		pthread_cond_wait(&packer->changed, &packer->lock);
	*stop = packer->stopped;
	if (packer->filled != packer->emptied)
		block = &packer->ring[packer->emptied % BLOCKS];
	pthread_mutex_unlock(&packer->lock);
	return block;
}

static void done(struct packer *packer, int failure)
{
	pthread_mutex_lock(&packer->lock);
	packer->emptied++;
	if (failure) {
		packer->failure = failure;
		packer->stopped = true;
	}
	pthread_cond_broadcast(&packer->changed);
	pthread_mutex_unlock(&packer->lock);
}

/* Compress a block; NULL is the end of the stream.  Returns 0, or an errno. */
static int pack(struct packer *packer, const struct block *block)
{
	static const struct block empty;
	int failure;

	failure = packer->packing == PACKING_GZIP
			  ? pack_gzip(packer, block ? block : &empty, !block)
			  : pack_zstd(packer, block ? block : &empty, !block);
	return failure || block ? failure : write_out(packer);
}

static void *run(void *context)
{
	struct packer *packer = context;
	struct block *block;
	bool stop;

	for (;;) {
		int failure;

		block = next_block(packer, &stop);
		if (stop)
			return NULL;
		failure = pack(packer, block);
		if (!block) {
			packer->failure = failure; /* compressor_close() reads it after it joined */
			return NULL;
		}
		done(packer, failure);
	}
}

/* ---- The caller ---------------------------------------------------------- */

static void release(struct packer *packer)
{
	if (packer->packing == PACKING_GZIP)
		deflateEnd(&packer->gzip);
	ZSTD_freeCCtx(packer->zstd);
	for (size_t i = 0; i < BLOCKS; i++)
		free(packer->ring[i].bytes);
	free(packer->out.bytes);
	pthread_mutex_destroy(&packer->lock);
	pthread_cond_destroy(&packer->changed);
	free(packer);
}

static void start_library(struct packer *packer)
{
	packer->out.bytes = alloc_zeroed(1, BLOCK_SIZE);
	if (packer->packing == PACKING_ZSTD) {
		packer->zstd = ZSTD_createCCtx();
		if (!packer->zstd)
			alloc_fail(BLOCK_SIZE);
		ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
		ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_checksumFlag, 1);
	} else if (deflateInit2(&packer->gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 9,
				Z_DEFAULT_STRATEGY) != Z_OK) {
		alloc_fail(BLOCK_SIZE);
	}
}

/* Signals are for the threads of the program. */
static int start_thread(struct packer *packer)
{
	sigset_t all, before;
	int status;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	status = pthread_create(&packer->thread, NULL, run, packer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status;
}

struct packer *compressor_open(enum packing packing, compressor_write_fn *write, void *context)
{
	struct packer *packer = alloc_zeroed(1, sizeof(*packer));

	packer->packing = packing;
	packer->write = write;
	packer->context = context;
	for (size_t i = 0; i < BLOCKS; i++)
		packer->ring[i].bytes = alloc_zeroed(1, BLOCK_SIZE);
	pthread_mutex_init(&packer->lock, NULL);
	pthread_cond_init(&packer->changed, NULL);
	start_library(packer);
	packer->alone = start_thread(packer) != 0;
	return packer;
}

/* Hand over the block being filled, and wait until the next one is free. */
static int hand_over(struct packer *packer)
{
	int failure;

	if (packer->alone) {
		failure = pack(packer, &packer->ring[packer->filled % BLOCKS]);
		packer->ring[packer->filled % BLOCKS].used = 0;
		packer->failure = packer->failure ? packer->failure : failure;
		return packer->failure;
	}
	pthread_mutex_lock(&packer->lock);
	packer->filled++;
	pthread_cond_broadcast(&packer->changed);
	while (packer->filled - packer->emptied >= BLOCKS && !packer->stopped)
		pthread_cond_wait(&packer->changed, &packer->lock);
	failure = packer->failure;
	pthread_mutex_unlock(&packer->lock);
	packer->ring[packer->filled % BLOCKS].used = 0;
	return failure;
}

int compressor_put(struct packer *packer, const uint8_t *bytes, size_t size)
{
	int failure = 0;

	while (size && !failure) {
		struct block *block = &packer->ring[packer->filled % BLOCKS];
		size_t part = BLOCK_SIZE - block->used;

		part = size < part ? size : part;
		memcpy(block->bytes + block->used, bytes, part);
		block->used += part;
		bytes += part;
		size -= part;
		if (block->used == BLOCK_SIZE)
			failure = hand_over(packer);
	}
	return failure;
}

static int join(struct packer *packer, bool stop)
{
	int failure;

	if (packer->alone) {
		failure = stop ? packer->failure : pack(packer, NULL);
		release(packer);
		return failure;
	}
	pthread_mutex_lock(&packer->lock);
	packer->ended = true;
	packer->stopped |= stop;
	pthread_cond_broadcast(&packer->changed);
	pthread_mutex_unlock(&packer->lock);
	pthread_join(packer->thread, NULL);
	failure = packer->failure;
	release(packer);
	return failure;
}

int compressor_close(struct packer *packer)
{
	bool failed = packer->ring[packer->filled % BLOCKS].used && hand_over(packer);

	return join(packer, failed);
}

void compressor_abandon(struct packer *packer)
{
	if (packer)
		join(packer, true);
}
