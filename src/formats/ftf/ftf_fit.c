/* SPDX-License-Identifier: MIT */
/* Where a trace is until it is known whether it fits, and what it is folded into. */
#include "src/formats/ftf/ftf_fit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/pages.h"

/* Bytes that are collected for a file without a name, and copied from it at once. */
#define BUFFER ((size_t)64 * 1024)
#define COPY   ((size_t)1 << 20)

/* ---- Where bytes go ------------------------------------------------------ */

static void write_output(void *context, const void *bytes, size_t size)
{
	output_write(context, bytes, size);
}

/* The output keeps its own error, which names the file. */
static int write_trace(void *context, const void *bytes, size_t size)
{
	write_output(context, bytes, size);
	return 0;
}

static bool open_spool(struct ftf_fit *fit, struct temp_file *spool)
{
	return !output_failed(fit->output) && temp_file_open(spool, &fit->output->err) == 0;
}

static int write_spool(void *context, const void *bytes, size_t size)
{
	struct ftf_fit *fit = context;

	if (!output_failed(fit->output) && (fit->spool.open || open_spool(fit, &fit->spool)))
		temp_file_write(&fit->spool, bytes, size, &fit->output->err);
	fit->output->elsewhere = fit->spool.size;
	return 0;
}

/* A file without a name that is written in small pieces. */
struct fit_pieces {
	struct temp_file file;
	struct error *err; /* borrowed */
	size_t used;
	uint8_t buffer[BUFFER];
};

static void flush_pieces(struct fit_pieces *pieces)
{
	if (pieces->err->kind == ERROR_NONE)
		temp_file_write(&pieces->file, pieces->buffer, pieces->used, pieces->err);
	pieces->used = 0;
}

static void write_piece(void *context, const void *bytes, size_t size)
{
	struct fit_pieces *pieces = context;

	if (pieces->used + size > BUFFER)
		flush_pieces(pieces);
	if (size > BUFFER) {
		if (pieces->err->kind == ERROR_NONE)
			temp_file_write(&pieces->file, bytes, size, pieces->err);
		return;
	}
	memcpy(pieces->buffer + pieces->used, bytes, size);
	pieces->used += size;
}

/* ---- Folding ------------------------------------------------------------- */

/* Returns the trace as it is, owned by the caller (munmap()); NULL: there is none, or an error. */
static const uint8_t *map_trace(struct ftf_fit *fit, uint64_t *size)
{
	const uint8_t *bytes;

	if (!fit->spool.open) {
		bytes = output_is_readable(fit->output) ? output_map(fit->output) : NULL;
		*size = fit->output->written;
		return bytes;
	}
	*size = fit->spool.size;
	return output_failed(fit->output) ? NULL : temp_file_map(&fit->spool, &fit->output->err);
}

static void unmap(const uint8_t *bytes, uint64_t size)
{
	munmap((void *)(uintptr_t)bytes, size);
}

/* Fold the trace into a new file without a name. */
static void fold_into_spool(struct ftf_fit *fit)
{
	struct fit_pieces *pieces = alloc_zeroed(1, sizeof(*pieces));
	const struct fold_output to = { write_piece, pieces };
	uint64_t size;
	const uint8_t *bytes = map_trace(fit, &size);

	pieces->err = &fit->output->err;
	if (bytes && open_spool(fit, &pieces->file)) {
		ftf_fold_run(&fit->fold, bytes, size, &to);
		flush_pieces(pieces);
		if (!fit->spool.open)
			output_clear(fit->output);
		temp_file_close(&fit->spool);
		fit->spool = pieces->file;
		fit->output->elsewhere = fit->spool.size;
	}
	if (bytes)
		unmap(bytes, size);
	free(pieces);
}

void ftf_fit_now(struct ftf_fit *fit, struct ftf_writer *writer, uint64_t slices)
{
	const struct ftf_destination spool = { write_spool, fit };
	uint64_t limit = fit->fold.limit, left;

	ftf_flush(writer);
	fold_into_spool(fit);
	ftf_set_destination(writer, &spool);
	left = slices - ftf_fit_removed(fit);
	/* What cannot be folded must not be read again for each slice. */
	fit->next = slices + (left < limit + limit / 2 ? 2 * limit - left : left);
}

static void copy_spool(struct ftf_fit *fit)
{
	const uint8_t *bytes = NULL;
	uint64_t size = 0;

	if (fit->spool.open)
		bytes = map_trace(fit, &size);
	for (uint64_t at = 0; bytes && at < size; at += COPY) {
		size_t part = size - at < COPY ? (size_t)(size - at) : COPY;

		output_write(fit->output, bytes + at, part);
		pages_give_back(bytes + at, part);
	}
	if (bytes)
		unmap(bytes, size);
}

static void fold_into_output(struct ftf_fit *fit)
{
	const struct fold_output to = { write_output, fit->output };
	uint64_t size;
	const uint8_t *bytes = map_trace(fit, &size);

	if (!bytes)
		return;
	ftf_fold_run(&fit->fold, bytes, size, &to);
	unmap(bytes, size);
}

void ftf_fit_finish(struct ftf_fit *fit, uint64_t slices)
{
	bool fits = !fit->fold.limit || slices <= fit->fold.limit;

	if (!fits && fit->spool.open) {
		/* What came since it was folded last must not show shorter slices than the rest. */
		fold_into_output(fit);
	} else {
		if (!fits)
			fold_into_spool(fit);
		copy_spool(fit);
	}
	temp_file_close(&fit->spool);
}

/* ---- The life of it ------------------------------------------------------ */

void ftf_fit_init(struct ftf_fit *fit, struct output *output, uint64_t limit, bool args)
{
	*fit = (struct ftf_fit){
		.output = output,
		.fold = { .limit = limit, .args = args },
		.next = limit && limit <= UINT64_MAX / 2 ? 2 * limit : UINT64_MAX,
	};
}

struct ftf_destination ftf_fit_destination(struct ftf_fit *fit)
{
	if (!fit->fold.limit || output_is_readable(fit->output))
		return (struct ftf_destination){ write_trace, fit->output };
	return (struct ftf_destination){ write_spool, fit };
}

void ftf_fit_release(struct ftf_fit *fit)
{
	temp_file_close(&fit->spool);
	ftf_fold_release(&fit->fold);
}
