/* SPDX-License-Identifier: MIT */
/* Decodes backtraces. */
#include "overlays/memtrace.h"

#include "overlays/memtrace_format.h"

#define FIRST_SLOT     4242u
#define SLOT_STEP      5413u
#define STEPS_PER_SLOT 16045u /* the inverse of SLOT_STEP, modulo the cache's size */

unsigned memtrace_codec_turn(unsigned slot)
{
	return (slot - FIRST_SLOT) * STEPS_PER_SLOT % MEMTRACE_CACHE_SIZE;
}

unsigned memtrace_codec_slot(unsigned turn)
{
	return (FIRST_SLOT + turn * SLOT_STEP) % MEMTRACE_CACHE_SIZE;
}

void memtrace_codec_release(struct memtrace_codec *codec)
{
	free(codec->codes);
	free(codec->predictions);
	free(codec->backtrace);
	*codec = (struct memtrace_codec){ 0 };
}

/* Zeroed memory: pages that are never used cost nothing. */
void memtrace_codec_init(struct memtrace_codec *codec)
{
	*codec = (struct memtrace_codec){ 0 };
	codec->codes = alloc_zeroed(MEMTRACE_CACHE_SIZE, sizeof(*codec->codes));
	codec->predictions = alloc_zeroed(MEMTRACE_CACHE_SIZE, sizeof(*codec->predictions));
}

static void append_slot(struct memtrace_codec *codec, unsigned slot, size_t limit)
{
	if (codec->length >= limit) {
		codec->cut = true;
		return;
	}
	*ARRAY_ADD(codec->backtrace, codec->length, codec->room) = codec->codes[slot];
}

int memtrace_codec_read(struct memtrace_codec *codec, struct cursor *in, uint64_t common,
			unsigned count, size_t limit)
{
	size_t before = codec->length;
	bool keep = common > before;
	unsigned slot = 0;

	/* A prefix longer than the last backtrace: keep that one, but update the cache. */
	codec->length = keep ? before : (size_t)common;
	for (unsigned i = 0; i < count && !in->short_; i++) {
		unsigned word = cursor_u16(in), tag = word & 3, ahead = tag == TAG_HIT_1;

		codec->predictions[slot] = (uint16_t)(word >> 2);
		slot = word >> 2;
		if (tag == TAG_LITERAL)
			codec->codes[slot] = cursor_u64(in);
		if (tag == TAG_HIT_N)
			ahead = cursor_u8(in);
		append_slot(codec, slot, keep ? 0 : limit);
		for (; ahead; ahead--) {
			slot = codec->predictions[slot];
			append_slot(codec, slot, keep ? 0 : limit);
		}
	}
	return in->short_ ? -1 : 0;
}

bool memtrace_codec_agrees(const struct memtrace_codec *codec, unsigned slot, unsigned prediction,
			   uint64_t code)
{
	return slot == MEMTRACE_NO_SLOT ||
	       (slot < MEMTRACE_CACHE_SIZE && codec->codes[slot] == code &&
		codec->predictions[slot] == prediction);
}
