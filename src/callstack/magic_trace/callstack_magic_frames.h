/* SPDX-License-Identifier: MIT */
/*
 * The frames of one thread in magic-trace's machine; the rules in callstack_magic_trace.c change
 * them. They form a stack of stacks: a system call or interrupt runs on a new stack while the
 * others wait. All frames are in one array. A frame is a symbol. Times are mapped
 * (timestamp_group.h).
 */
#pragma once

#include "src/callstack/timestamp_group.h"

/* Frames without a function. */
enum magic_special {
	MAGIC_UNTRACED,
	MAGIC_SYSCALL,
	MAGIC_RETURNED,
	MAGIC_UNKNOWN,
	MAGIC_SPECIALS,
};

/* Functions that the heuristics know. */
enum magic_known {
	OCAML_NEXT_FRAME,
	OCAML_STASH_BACKTRACE,
	OCAML_RAISE_EXN,
	OCAML_RAISE_EXCEPTION,
	GO_GOGO,
	GO_MCALL,
	GO_MORESTACK,
	MAGIC_KNOWN,
};

/* The state that all threads share. */
struct magic_trace {
	struct callstack_machine base;
	struct symbol specials[MAGIC_SPECIALS];
	const struct name *known[MAGIC_KNOWN];
	enum trace_mode mode;
	bool saw_user, saw_kernel; /* addresses, for TRACE_MODE_GUESS */
};

struct magic_stack {
	struct callstack base;
	struct timestamp_group group;
	const struct symbol **frames; /* owned array; innermost last */
	size_t depth, frame_room;
	size_t first;       /* the current stack's outermost frame */
	size_t group_depth; /* depth below the group's first call; SIZE_MAX: it returned */
	/* One stack of the stack of stacks: frames from `first` to `first` of the next stack. */
	struct magic_level {
		size_t first;
		int64_t since;    /* mapped: earliest start of a frame that is found late */
		int64_t entry;    /* mapped: when the stack began */
		int8_t enclosing; /* calls at time `entry`, at most SLICE_ORDER_LAST */
	} * levels;               /* owned; the last is the current stack; never empty */
	size_t level_count, level_room;
	/* A copy of a struct resolved_branch. */
	struct held_branch {
		struct branch_event event;
		struct location_pair locations;
		struct branch_notes notes;
	} * transaction; /* owned; branches held back until the transaction ends */
	size_t transaction_count, transaction_room;
	size_t frames_to_unwind; /* OCaml: frames unwound by the raised exception */
	int64_t last_gap_time;   /* mapped; initially the time of the thread's first event */
	int64_t last_event_time; /* mapped */
	bool started;            /* an event was seen */
};

/* Intern the names that the machine knows. */
void magic_names_init(struct magic_trace *machine, struct name_table *names);

static inline struct magic_trace *magic_machine(const struct magic_stack *stack)
{
	return (struct magic_trace *)stack->base.machine;
}

/* Returns whether the current stack has no frames. */
static inline bool magic_is_empty(const struct magic_stack *stack)
{
	return stack->depth == stack->first;
}

/* Returns the innermost frame; NULL: the current stack has no frames. */
static inline const struct symbol *magic_top(const struct magic_stack *stack)
{
	return magic_is_empty(stack) ? NULL : stack->frames[stack->depth - 1];
}

/* Returns the frame that code at a location has; never NULL. */
static inline const struct symbol *magic_symbol_at(const struct magic_stack *stack,
						   const struct location *location)
{
	const struct symbol *symbol = location->symbol;

	/* perf prints no name for code without a symbol. */
	if (symbol && stack->base.machine->like_upstream && symbol->kind >= SYMBOL_UNNAMED &&
	    symbol->kind <= SYMBOL_FILE)
		symbol = NULL;
	return symbol ? symbol : &magic_machine(stack)->specials[MAGIC_UNKNOWN];
}

/*
 * Returns the time of an event after the first, at a mapped time. A time equal to that of the
 * thread's last gap or first event, except 0, is moved by 1 ns, so that a segment never begins at
 * the end of the former.
 */
static inline int64_t magic_time(struct magic_stack *stack, int64_t time)
{
	stack->last_event_time = time;
	return time == stack->last_gap_time && time != 0 ? (int64_t)((uint64_t)time + 1) : time;
}

/* Push the function at `to`; a slice begins. */
void magic_call(struct magic_stack *stack, int64_t time, const struct location *to);

/* Push a frame without a function; a slice begins. */
void magic_call_special(struct magic_stack *stack, int64_t time, enum magic_special special);

/*
 * Return from the innermost frame, and from the frames that an OCaml exception unwinds. On an empty
 * stack, emit a slice "[unknown]" that began at the earliest possible time.
 */
void magic_ret(struct magic_stack *stack, int64_t time);

/*
 * Make the innermost frame the function at `to`: if the names differ (a tail call, a PLT stub, a
 * return without a call), replace it. On an empty stack, infer that the function ran from the
 * stack's start.
 */
void magic_check_symbol(struct magic_stack *stack, int64_t time, const struct location *to);

/* Return from all frames of the current stack. */
void magic_clear(struct magic_stack *stack, int64_t time);

/* Set the current stack aside and begin a new one at `ip`. */
void magic_push_level(struct magic_stack *stack, int64_t time, uint64_t ip);

/* Resume the stack set aside last; false if there is none. The current stack must be empty. */
bool magic_pop_level(struct magic_stack *stack);

/*
 * Begin a new stack at `ip`. The current stack must be empty. Frames that are found late began at
 * `time` if `ip` is in the kernel, otherwise at the thread's last gap.
 */
void magic_renew(struct magic_stack *stack, int64_t time, uint64_t ip);

/* Return from all frames of all stacks and emit all events; `last`: no segment follows. */
void magic_end_segment(struct magic_stack *stack, int64_t time, bool last);

/* The control flow has a gap: end the segment at `time`; the next begins at `ip` (0: unknown). */
void magic_restart(struct magic_stack *stack, int64_t time, uint64_t ip);

/* `feed_plain` of struct callstack_ops. */
size_t magic_feed_plain(struct callstack *base, const struct branch_event *events, size_t count,
			bool counts);
