/* SPDX-License-Identifier: MIT */
/* Numbers of memtrace's src/memtrace.tsdl, src/trace.ml and src/backtrace_codec.ml. */
#pragma once

#define MAGIC          0xC1FC1FC1u
#define NEWEST_VERSION 3

/* An event's header has its code and the low bits of its time. */
#define TIME_BITS 25
#define TIME_MASK ((UINT64_C(1) << TIME_BITS) - 1)

enum event_code {
	CODE_INFO = 0,
	CODE_LOCATION = 1,
	CODE_ALLOC = 2,
	CODE_PROMOTE = 3,
	CODE_COLLECT = 4,
	CODE_SHORT_1 = 101, /* an allocation of one word; up to 16 words follow */
	CODE_SHORT_16 = 116,
};

/* First byte of a longer number; a smaller byte is the number itself. */
enum vint_size { VINT_U16 = 253, VINT_I32 = 254, VINT_I64 = 255 };

/* Packets of memtrace's encoder verify one slot each, in this order. */
#define FIRST_SLOT     4242u
#define SLOT_STEP      5413u
#define STEPS_PER_SLOT 16045u /* the inverse of SLOT_STEP, modulo the cache's size */

/* Low bits of a reference to a backtrace's next entry; the cache's slot is above them. */
enum reference_tag {
	TAG_HIT = 0,    /* the slot's location */
	TAG_HIT_1 = 1,  /* the slot's location and the predicted next one */
	TAG_HIT_N = 2,  /* the same with N predicted ones; the next byte is N */
	TAG_LITERAL = 3 /* the location follows */
};
