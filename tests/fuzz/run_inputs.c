/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target without libFuzzer: on each named file, on prefixes of it, and on FUZZ_ROUNDS
 * (256) deterministic mutations, by changed bytes or by the target's own mutator.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

static unsigned rounds = 256;

/* Most bytes that a mutator may add. */
#define ROOM_MORE 4096u

#pragma weak LLVMFuzzerCustomMutator

static uint8_t *read_all(const char *path, size_t *size)
{
	FILE *in = fopen(path, "rb");
	uint8_t *bytes;
	long end;

	if (!in || fseek(in, 0, SEEK_END) || (end = ftell(in)) < 0)
		return NULL;
	rewind(in);
	bytes = malloc((size_t)end + 1);
	*size = bytes ? fread(bytes, 1, (size_t)end, in) : 0;
	fclose(in);
	return bytes;
}

/*
 * Runs on a copy of exactly `size` bytes, so that sanitizers see an overrun; as libFuzzer demands,
 * the target must not change it.
 */
static void run(const uint8_t *bytes, size_t size, size_t changed_at, uint8_t value)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	memcpy(copy, bytes, size);
	if (changed_at < size)
		copy[changed_at] = value;
	LLVMFuzzerTestOneInput(copy, size);
	if (changed_at < size && copy[changed_at] == value)
		copy[changed_at] = bytes[changed_at];
	if (memcmp(copy, bytes, size) != 0)
		abort();
	free(copy);
}

/* Each round mutates the result of the one before. */
static void run_mutations(const uint8_t *bytes, size_t size)
{
	size_t room = size + ROOM_MORE, changed = size;
	uint8_t *copy = malloc(room);

	if (!copy)
		abort();
	memcpy(copy, bytes, size);
	for (unsigned i = 0; i < rounds; i++) {
		changed = LLVMFuzzerCustomMutator(copy, changed, room, i * 2654435761u);
		if (changed > room)
			abort();
		run(copy, changed, changed, 0);
	}
	free(copy);
}

static void run_rounds(const uint8_t *bytes, size_t size)
{
	uint32_t state = 1;

	run(bytes, size, size, 0);
	if (LLVMFuzzerCustomMutator) {
		run_mutations(bytes, size);
		return;
	}
	for (unsigned i = 0; i < rounds; i++) {
		state = state * 1664525 + 1013904223;
		run(bytes, size * i / rounds, size, 0);
		/* The first bytes matter most. */
		run(bytes, size, (state >> 8) % (i % 2 && size > 512 ? 512 : size + 1),
		    (uint8_t)(state >> 24));
	}
}

int main(int argc, char **argv)
{
	int failed = EXIT_SUCCESS;

	if (getenv("FUZZ_ROUNDS"))
		rounds = (unsigned)strtoul(getenv("FUZZ_ROUNDS"), NULL, 10);
	for (int i = 1; i < argc; i++) {
		size_t size = 0;
		uint8_t *bytes = read_all(argv[i], &size);

		if (!bytes) {
			perror(argv[i]);
			failed = EXIT_FAILURE;
			continue;
		}
		run_rounds(bytes, size);
		free(bytes);
	}
	return failed;
}
