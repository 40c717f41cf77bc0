/* SPDX-License-Identifier: MIT */
/*
 * The frames of one precise call stack, and the search for the innermost frame of an address or
 * function.
 *
 * A search compares the innermost frames one by one. Deeper frames are in a hash index, built when
 * a search first needs it: search time does not grow with depth, and shallow stacks cost nothing.
 * The index maps each key to its innermost frame, and each frame to the next frame below with the
 * same key. Remove a frame from the index before a change (frame_list_cut()).
 */
#pragma once

#include "src/resolve/location.h"

struct slice_cause;

/* x86 instructions have at most 15 bytes (SDM volume 2, 2.3.11). */
#define CALL_LENGTH_MAX 15

enum frame_kind {
	FRAME_CALLED,   /* call is in the trace */
	FRAME_INFERRED, /* call is not in the trace */
	FRAME_PAUSE,    /* not traced: [syscall], [untraced] */
	FRAME_HANDLER,  /* a signal's handler */
	FRAME_ENTRY,    /* the kernel's code for a system call or an interrupt */
	FRAME_INLINED,  /* an inlined call, above the frame of its physical function */
	FRAME_ENTERED,  /* called by code without bytes, or reached from it */
};

/* A frame's role in throws and switches of stacks. */
enum frame_role {
	FRAME_CAUGHT = 1, /* CALLED: a throw can resume its caller at a function's entry */
	/* Its callee runs on another stack, which ends in this frame, or leaves for any stack. */
	FRAME_ENTERS_STACK = 2,
	FRAME_LEAVES_STACK = 4,
	FRAME_OF_FIBER = 8, /* base of a fiber: a copy, without slice, of the frame that entered
			     * it */
	FRAME_HANDLES = 16, /* replaced a frame that entered a stack, when that stack was left */
	FRAME_SWITCHED_TO = 32, /* INFERRED: a switch began the stack in it, not the trace */
};

struct frame {
	const struct symbol *symbol; /* borrowed; never NULL */
	const struct symbol *caller; /* CALLED: the call instruction's function; may be NULL */
	union {
		uint64_t caller_offset;
		const struct slice_cause *cause; /* if slice_flags has SLICE_HAS_CAUSE */
	};
	union {
		uint64_t return_ip; /* CALLED: its lowest possible return address; 0: never returns
				     */
		uint64_t resume_ip; /* PAUSE, HANDLER, ENTRY: where the frame below resumes, or 0 */
		uint64_t known_ip;  /* ENTERED: where the code without bytes went */
	};
	uint64_t entry_ip;
	uint64_t called_insns; /* the thread's instructions at its begin */
	uint32_t traps;        /* OCaml exception handlers that it has installed */
	uint16_t slice_flags;  /* flags of its slice, with an interrupt's vector */
	uint8_t kind;          /* enum frame_kind */
	uint8_t return_slack;  /* CALLED: return_ip can be up to this number of bytes too low */
	bool returned : 1;     /* PAUSE: the filter stopped the trace at a return */
	bool jumped : 1;       /* CALLED: a jump entered its function, not the call */
	bool resolving : 1;    /* a PLT stub that jumped to ".plt" to resolve its target */
	bool outermost : 1;    /* PAUSE: the kernel was left, and only the kernel is traced */
	bool left : 1;         /* a jump left the code of its symbol, and can come back */
	bool opaque : 1;       /* its code's bytes are unknown */
	bool hidden : 1;       /* a PLT stub that has not reached its target: no slice yet */
	bool tail : 1; /* the function of the frame below jumped to its function: frame_is_left() */
	uint8_t roles; /* enum frame_role: bits */
	uint8_t call_length; /* CALLED: bytes of the call instruction */
};

/* Search keys of a frame. */
enum frame_key {
	FRAME_BY_RETURN,   /* value: an address just after its call instruction */
	FRAME_BY_RESUME,   /* value: resume_ip of a signal handler */
	FRAME_BY_ENTRY,    /* no value: an entry into the kernel */
	FRAME_BY_FUNCTION, /* value: frame_function() */
	/* FRAME_BY_FUNCTION without callers of _Unwind_Resume(): unwinding continues below them. */
	FRAME_BY_LANDING,
	FRAME_BY_TRAP,        /* no value: frame with an OCaml handler */
	FRAME_BY_NEAR_RETURN, /* in the index only: FRAME_BY_RETURN with return_slack */
};

#define FRAME_KEYS 4 /* maximum of one frame */

struct frame_list {
	struct frame *frames; /* owned; outermost first */
	size_t depth, room;
	const struct name *resume; /* borrowed: _Unwind_Resume(), for FRAME_BY_LANDING */
	size_t indexed;            /* frames [0, indexed) are in the index */
	size_t fragile;            /* changes below this depth concern the index */
	bool near_returns;         /* frames with return_slack were indexed */
	struct indexed_key {
		uint64_t value;
		uint32_t kind; /* enum frame_key */
		uint32_t last; /* 1 + its innermost indexed frame; 0: no frame */
	} * keys;              /* owned; by id - 1 */
	size_t key_count, key_room;
	struct id_index ids;           /* ids of the keys */
	uint32_t (*below)[FRAME_KEYS]; /* owned; by frame: 1 + the next one below with the key */
	size_t below_room;
};

/* Release the memory.  Idempotent, also on zeroed memory, which is an empty list. */
void frame_list_release(struct frame_list *list);

/* Make a list empty, for reuse. */
void frame_list_clear(struct frame_list *list);

/* frame_list_cut() for frames in the index. */
void frame_list_cut_index(struct frame_list *list, size_t depth);

/* Call before frames at `depth` and above are removed or changed. */
static inline void frame_list_cut(struct frame_list *list, size_t depth)
{
	if (depth < list->fragile)
		frame_list_cut_index(list, depth);
}

/* Returns a new innermost frame, uninitialized. */
static inline struct frame *frame_list_add(struct frame_list *list)
{
	list->frames =
		alloc_grow(list->frames, &list->room, list->depth + 1, sizeof(*list->frames));
	return &list->frames[list->depth++];
}

/* Set where a CALLED frame returns to; call_length 0: unknown (text input). */
static inline void frame_set_return(struct frame *frame, uint64_t call_ip, uint8_t call_length)
{
	frame->return_ip = call_ip + (call_length ? call_length : 1);
	frame->return_slack = call_length ? 0 : CALL_LENGTH_MAX - 1;
}

/* Set a frame's function, after the end of its slice. `hidden`: the function is a stub. */
static inline void frame_change_function(struct frame *frame, const struct symbol *symbol,
					 uint64_t ip, bool hidden)
{
	bool stub = frame->hidden || frame->symbol->kind == SYMBOL_PLT;

	frame->jumped |= !stub && !frame->resolving;
	/*
	 * An unbound stub jumps to the common ".plt", which jumps to the resolver. A resolver
	 * without a name, shown as the stub, jumps to the function.
	 */
	frame->resolving = stub && (hidden || (frame->hidden && frame->resolving));
	frame->symbol = symbol;
	frame->entry_ip = ip;
	frame->hidden = hidden;
	frame->left = frame->opaque = false;
	frame->traps = 0;
}

/* Returns whether ip follows the call instruction of a CALLED frame. */
static inline bool frame_returns_to(const struct frame *frame, uint64_t ip)
{
	return ip - frame->return_ip <= frame->return_slack && frame->kind == FRAME_CALLED;
}

/*
 * Several frames of the list are one physical frame if their functions called each other by tail
 * calls. Only the innermost one of such a chain can continue; the others share its return address.
 * Returns whether frame `at` is one of the others.
 */
static inline bool frame_is_left(const struct frame_list *list, size_t at)
{
	return at + 1 < list->depth && list->frames[at + 1].tail;
}

/* Returns the address of the call of a frame in its file (ELF); 0: unknown. */
static inline uint64_t frame_site(const struct frame *frame)
{
	return frame->caller ? frame->caller->start + frame->caller_offset : 0;
}

/* Returns the number of frames around the physical frame of frame `at` - 1. */
static inline size_t frame_list_around(const struct frame_list *list, size_t at)
{
	while (--at && list->frames[at].tail)
		;
	return at;
}

/* Returns the key of a symbol's function (symbols/symbol.h). */
static inline uint64_t frame_function(const struct symbol *symbol)
{
	return (uintptr_t)symbol_function(symbol);
}

/* Returns whether two symbols are parts of one function. */
static inline bool same_function(const struct symbol *a, const struct symbol *b)
{
	return a == b || symbol_function(a) == symbol_function(b);
}

/* Returns 1 + the index of the innermost frame with a key; 0: none. */
size_t frame_list_find(struct frame_list *list, enum frame_key kind, uint64_t value);

/* The same by FRAME_BY_FUNCTION or _LANDING; also 0 if the symbol is not a function. */
static inline size_t frame_list_find_function(struct frame_list *list, enum frame_key kind,
					      const struct symbol *symbol)
{
	return symbol_is_function(symbol) ? frame_list_find(list, kind, frame_function(symbol)) : 0;
}
