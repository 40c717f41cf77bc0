/* SPDX-License-Identifier: MIT */
/* Two buffers of an output's bytes: one is filled while a job writes the other. */
#include "base/io/output.h"
#include "base/workers.h"

/* Waking a thread takes a third of the time of writing 64 KiB. */
#define BUFFER_SIZE ((size_t)256 * 1024)
/* Bytes per write(): larger writes take the page cache several times as long (output.c). */
#define WRITE_SIZE ((size_t)64 * 1024)

struct write_behind {
	struct worker_job job; /* first: writes `written` */
	struct output_carrier carrier;
	struct workers *workers; /* borrowed */
	struct output *output;   /* borrowed */
	struct byte_buffer {
		uint8_t *bytes; /* owned: BUFFER_SIZE */
		size_t used;
	} filled, written;
	int failure;  /* errno: of a write */
	bool offered; /* the job, since the last wait_for_job() */
};

static void write_bytes(struct write_behind *behind, const uint8_t *bytes, size_t size)
{
	if (!behind->failure)
		behind->failure = output_write_now(behind->output, bytes, size);
}

static void write_filled(struct worker_job *job, struct worker_scratch *scratch)
{
	struct write_behind *behind = (struct write_behind *)job;
	struct byte_buffer *buffer = &behind->written;

	(void)scratch;
	for (size_t at = 0; at < buffer->used; at += WRITE_SIZE) {
		size_t left = buffer->used - at;

		write_bytes(behind, buffer->bytes + at, MIN(left, WRITE_SIZE));
	}
	buffer->used = 0;
}

/* Wait until the job is done, or do it here if no worker has begun it. */
static void wait_for_job(struct write_behind *behind)
{
	if (!behind->offered)
		return;
	behind->offered = false;
	workers_cancel(behind->workers, &behind->job);
	if (behind->written.used)
		write_filled(&behind->job, NULL);
}

static int carry_bytes(void *context, const uint8_t *bytes, size_t size)
{
	struct write_behind *behind = context;

	if (!behind->filled.used && !workers_idle(behind->workers)) {
		wait_for_job(behind);
		write_bytes(behind, bytes, size);
		return behind->failure;
	}
	while (size) {
		struct byte_buffer *buffer = &behind->filled;
		size_t room = BUFFER_SIZE - buffer->used, part = MIN(size, room);

		memcpy(buffer->bytes + buffer->used, bytes, part);
		buffer->used += part;
		bytes += part;
		size -= part;
		if (buffer->used == BUFFER_SIZE) {
			struct byte_buffer filled = behind->filled;

			wait_for_job(behind);
			behind->filled = behind->written;
			behind->written = filled;
			behind->offered = true;
			workers_offer(behind->workers, &behind->job);
		}
	}
	return behind->offered ? 0 : behind->failure; /* a running job may change it */
}

static int finish_carrying(void *context)
{
	struct write_behind *behind = context;

	wait_for_job(behind);
	write_bytes(behind, behind->filled.bytes, behind->filled.used);
	behind->filled.used = 0;
	return behind->failure;
}

struct write_behind *write_behind_open(struct output *output, struct workers *workers)
{
	struct write_behind *behind = alloc_zeroed(1, sizeof(*behind));

	behind->job.run = write_filled;
	behind->workers = workers;
	behind->output = output;
	behind->filled.bytes = alloc_zeroed(1, BUFFER_SIZE);
	behind->written.bytes = alloc_zeroed(1, BUFFER_SIZE);
	behind->carrier = (struct output_carrier){ carry_bytes, finish_carrying, behind };
	output_carry(output, &behind->carrier);
	return behind;
}

void write_behind_close(struct write_behind *behind)
{
	if (!behind)
		return;
	output_carry(behind->output, NULL);
	free(behind->filled.bytes);
	free(behind->written.bytes);
	free(behind);
}
