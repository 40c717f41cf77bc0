/* SPDX-License-Identifier: MIT */
/*
 * The frames of one precise call stack, and which of them an address or a
 * function means.
 *
 * All searches find the innermost frame.  The innermost ones are looked at one
 * by one; those below, if there are many, through an index that is made when a
 * search first gets there: so the time of a search does not grow with the
 * depth, and shallow stacks pay nothing.  An indexed frame does not change:
 * frame_list_cut() comes before any change that is not at the very top.
 */
#ifndef SRC_CALLSTACK_CALLSTACK_FRAMES_H
#define SRC_CALLSTACK_CALLSTACK_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "src/callstack/callstack_frame_index.h"
#include "symbols/symbol.h"

struct slice_cause;

/* x86 instructions have at most 15 bytes (SDM volume 2, 2.3.11). */
#define CALL_LENGTH_MAX 15

enum frame_kind {
	FRAME_CALLED,   /* the call was seen */
	FRAME_INFERRED, /* it was not */
	FRAME_PAUSE,    /* not traced: [syscall], [untraced] */
	FRAME_HANDLER,  /* of a signal */
	FRAME_ENTRY,    /* of the kernel: system call, interrupt */
};

/* What a thread has executed. */
struct counts {
	uint64_t insns, cycles;
};

struct frame {
	const struct symbol *symbol; /* borrowed; never NULL */
	const struct symbol *caller; /* CALLED: where the call instruction is; may be NULL */
	union {
		uint64_t caller_offset;
		const struct slice_cause *cause; /* if slice_flags has SLICE_HAS_CAUSE */
	};
	union {
		uint64_t call_ip;   /* CALLED: of the call instruction */
		uint64_t resume_ip; /* PAUSE, HANDLER, ENTRY: where what is below goes on; 0:
				       unknown */
	};
	uint64_t entry_ip;
	struct counts called; /* of what ran before it */
	uint32_t traps;       /* OCaml exception handlers that it has installed */
	uint16_t slice_flags; /* of its slice: an interrupt's vector */
	uint8_t kind;         /* enum frame_kind */
	bool returned;        /* PAUSE: tracing went off at a return, by a filter */
	bool hidden;          /* a PLT stub that has not reached its target: no slice yet */
};

struct frame_list {
	struct frame *frames; /* owned; outermost first */
	size_t depth, room;
	size_t fragile;            /* changes from a depth below this one on concern the index */
	const struct name *resume; /* borrowed: _Unwind_Resume(), for frame_list_find_landing() */
	struct frame_index index;
	uint64_t looked_at; /* frames that searches compared: their cost, for tests */
};

/* Release the memory.  Idempotent, also on zeroed memory, which is an empty list. */
void frame_list_release(struct frame_list *list);

/* Make a list empty, for use again. */
void frame_list_clear(struct frame_list *list);

/* What frame_list_cut() does if there is something to do. */
void frame_list_cut_index(struct frame_list *list, size_t depth);

/* Frames from `depth` on are to be removed, or change. */
static inline void frame_list_cut(struct frame_list *list, size_t depth)
{
	if (depth < list->fragile)
		frame_list_cut_index(list, depth);
}

/* Returns a new innermost frame, not filled. */
static inline struct frame *frame_list_add(struct frame_list *list)
{
	list->frames =
		alloc_grow(list->frames, &list->room, list->depth + 1, sizeof(*list->frames));
	return &list->frames[list->depth++];
}

/* Returns whether ip is just behind the call instruction of a frame that was seen to be called. */
static inline bool frame_returns_to(const struct frame *frame, uint64_t ip)
{
	/* One comparison: what is not behind the call wraps around. */
	return ip - frame->call_ip - 1 < CALL_LENGTH_MAX && frame->kind == FRAME_CALLED;
}

/* Returns whether code is of one function, perhaps of different parts of it (symbols/symbol.h). */
static inline bool same_function(const struct symbol *a, const struct symbol *b)
{
	return a == b || symbol_function(a) == symbol_function(b);
}

/* All of these return 1 + the index of the innermost frame that is meant; 0: there is none. */

/* The one that returns to ip. */
size_t frame_list_find_return(struct frame_list *list, uint64_t ip);

/* The one of a function. */
size_t frame_list_find_function(struct frame_list *list, const struct symbol *symbol);

/*
 * The one of a function that an unwinder enters in mid-body.  A frame that
 * called _Unwind_Resume() is done with its clean-up: unwinding goes on below
 * it, which tells recursive functions apart.
 */
size_t frame_list_find_landing(struct frame_list *list, const struct symbol *symbol);

/* The signal handler below which execution goes on at ip. */
size_t frame_list_find_resumed(struct frame_list *list, uint64_t ip);

/* The entry into the kernel. */
size_t frame_list_find_entry(struct frame_list *list);

/* The one with a handler of OCaml installed. */
size_t frame_list_find_trap(struct frame_list *list);

#endif
