/* SPDX-License-Identifier: MIT */
/*
 * memtrace's code of backtraces: each is a prefix of the previous one and
 * references to a cache of locations, in which every slot predicts the next.
 *
 * One codec per domain; its state lasts from packet to packet.  Source:
 * memtrace's src/backtrace_codec.ml.
 */
#ifndef OVERLAYS_MEMTRACE_CODEC_H
#define OVERLAYS_MEMTRACE_CODEC_H

#include "base/cursor.h"

#define MEMTRACE_CACHE_SIZE 16384

#define MEMTRACE_NO_SLOT 0xFFFF /* in a packet's header: no check */

/* Returns the turn, from 0, in which memtrace's encoder has its packets verify a slot. */
unsigned memtrace_codec_turn(unsigned slot);

/* Returns the slot of a turn. */
unsigned memtrace_codec_slot(unsigned turn);

struct memtrace_codec {
	uint64_t *places;      /* owned; MEMTRACE_CACHE_SIZE codes */
	uint16_t *predictions; /* owned; the slot that followed last time */
	uint64_t *backtrace;   /* owned: the latest, outermost caller first */
	size_t length, room;
	bool cut; /* a backtrace was longer than the limit */
};

/* Make an empty cache of zeroed memory, unless there is one. */
void memtrace_codec_prepare(struct memtrace_codec *codec);

/* Idempotent, also on zeroed memory. */
void memtrace_codec_release(struct memtrace_codec *codec);

/*
 * Read `count` references that follow the first `common` entries of the
 * backtrace before; at most `limit` entries are kept.
 * Returns 0 with codec->backtrace; -1 if `in` is too short.
 */
int memtrace_codec_read(struct memtrace_codec *codec, struct cursor *in, uint64_t common,
			unsigned count, size_t limit);

/* Returns whether a slot has the values of a packet's header; slot 65535 means no check. */
bool memtrace_codec_agrees(const struct memtrace_codec *codec, unsigned slot, unsigned prediction,
			   uint64_t place);

#endif
