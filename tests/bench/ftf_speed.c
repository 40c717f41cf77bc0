/* SPDX-License-Identifier: MIT */
/*
 * ftf-speed: writes begins and ends without arguments by both interfaces of libftf, and copies the
 * same bytes by memcpy(), all in one run; the best of five counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "writer/ftf.h"

enum { RUNS = 5, PAIRS = 4000000, NAMES = 1024 };

#define BLOCK ((size_t)1024 * 1024)

/* A trace's destination: memory of `room` bytes, overwritten from the start when it is full. */
struct memory {
	uint8_t *bytes;
	size_t room, at, total;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int drop(void *context, const void *bytes, size_t size)
{
	struct memory *memory = context;

	(void)bytes;
	memory->total += size;
	return 0;
}

static int copy(void *context, const void *bytes, size_t size)
{
	struct memory *memory = context;

	if (memory->at + size > memory->room)
		memory->at = 0;
	memcpy(memory->bytes + memory->at, bytes, size);
	memory->at += size;
	memory->total += size;
	return 0;
}

static void write_low(const struct ftf_destination *to)
{
	const struct ftf_low_event begin = { .type = FTF_DURATION_BEGIN, .thread = 1, .name = 1 };
	const struct ftf_low_event end = { .type = FTF_DURATION_END, .thread = 1 };
	const uint64_t begin_header = ftf_low_event_header(&begin);
	const uint64_t end_header = ftf_low_event_header(&end);
	struct ftf_low low;

	ftf_low_init(&low, to, false);
	for (uint64_t i = 0; i < PAIRS; i++) {
		ftf_low_pair(&low, begin_header + (i % NAMES << 48), i);
		ftf_low_pair(&low, end_header, i + 1);
	}
	ftf_low_close(&low, NULL);
}

static void write_high(const struct ftf_destination *to)
{
	struct ftf_writer *writer =
		ftf_open_destination(to, &(struct ftf_options){ .provider = "speed" }, NULL);
	struct ftf_event begin = { .thread = ftf_thread(writer, 1, 1) }, end = begin;
	struct ftf_name names[NAMES];
	char text[40];

	for (int i = 0; i < NAMES; i++) {
		snprintf(text, sizeof(text), "function %d", i);
		names[i] = ftf_text(writer, text);
	}
	for (uint64_t i = 0; i < PAIRS; i++) {
		begin.name = names[i % NAMES];
		begin.time = i;
		end.time = i + 1;
		ftf_begin(writer, &begin);
		ftf_end(writer, &end);
	}
	ftf_close(writer, NULL);
}

static double seconds_of(void (*write)(const struct ftf_destination *),
			 const struct ftf_destination *to)
{
	double best = 1e9;

	for (int i = 0; i < RUNS; i++) {
		double begin = now();

		write(to);
		best = now() - begin < best ? now() - begin : best;
	}
	return best;
}

/* Copy PAIRS pairs' bytes in blocks from one memory to the other. */
static double seconds_of_memcpy(struct memory *to, const struct memory *from)
{
	double best = 1e9;

	for (int i = 0; i < RUNS; i++) {
		double begin = now();

		for (size_t done = 0; done < (size_t)PAIRS * 32; done += BLOCK) {
			memcpy(to->bytes + done % to->room, from->bytes + done % from->room, BLOCK);
			__asm__ volatile("" ::: "memory"); /* keep each copy */
		}
		best = now() - begin < best ? now() - begin : best;
	}
	return best;
}

static void report(const char *title, double seconds, double of_memcpy)
{
	printf("libftf, %s: %.0f million events/s, %.1f GB/s, %.2f of memcpy's speed\n", title,
	       2.0 * PAIRS / seconds / 1e6, 32.0 * PAIRS / seconds / 1e9, of_memcpy / seconds);
}

static struct memory memory_of(size_t room)
{
	struct memory memory = { .bytes = malloc(room), .room = room };

	if (!memory.bytes)
		abort();
	memset(memory.bytes, 1, room);
	return memory;
}

int main(void)
{
	struct memory large = memory_of(128 * BLOCK), other = memory_of(128 * BLOCK);
	struct memory small = memory_of(BLOCK), little = memory_of(BLOCK);
	const struct ftf_destination into_memory = { copy, &large }, away = { drop, &small };
	double far, near;

	far = seconds_of_memcpy(&large, &other);
	printf("memcpy: %.1f GB/s in memory", 32.0 * PAIRS / far / 1e9);
	near = seconds_of_memcpy(&small, &little);
	printf(", %.1f GB/s in caches\n", 32.0 * PAIRS / near / 1e9);
	report("low face, to memory", seconds_of(write_low, &into_memory), far);
	report("high face, to memory", seconds_of(write_high, &into_memory), far);
	report("low face, bytes dropped", seconds_of(write_low, &away), near);
	report("high face, bytes dropped", seconds_of(write_high, &away), near);
	free(large.bytes);
	free(other.bytes);
	free(small.bytes);
	free(little.bytes);
	return 0;
}
