/* SPDX-License-Identifier: MIT */
/*
 * Call-stack machines: branches with symbols in, slices out.
 *
 * A machine is the rule by which branches become a call stack.  It is shared by
 * all threads of a run; every traced thread has a struct callstack of its own.
 * Machines do no I/O and never fail: what the trace cannot mean is counted as a
 * warning, and the machine goes on.  Nothing allocates per branch once a
 * thread's arrays have grown to their working size.
 *
 * The interface is a table of functions, so that callers do not care which
 * machine the user chose.
 */
#ifndef SRC_CALLSTACK_CALLSTACK_H
#define SRC_CALLSTACK_CALLSTACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/name.h"
#include "decoder/branch_event.h"
#include "src/options/options.h"
#include "src/resolve/location.h"
#include "src/slices/slice_sink.h"
#include "symbols/symbol.h"
#include "symbols/tables/trap_table.h"

struct slice_cause;

/*
 * One branch, or a gap of the trace, with names.  Passed by const pointer and
 * never kept; the symbols live as long as the machine.
 */
struct resolved_branch {
	uint64_t time;            /* ns, perf's clock; meaningless if `untimed` */
	struct location from, to; /* of a gap: `from.ip` is where it begins, 0 if unknown */
	const char *message; /* of a gap, borrowed for the call; NULL: perf's text for the reason */
	const struct symbol *mark; /* a mark to show at this time without length; NULL: none;
				      kind BRANCH_TX_ABORT: of that, just before its branch */
	uint64_t mark_value;       /* what it says, if its symbol is a SYMBOL_MARK */
	uint32_t insns;            /* retired since the thread's previous branch; 0: unknown */
	uint32_t cycles;           /* of the core since then; 0: unknown */
	const struct trap *traps;  /* OCaml handlers installed and removed on the way to `from` */
	uint32_t trap_count;
	bool enters_trap; /* `to` is where an OCaml handler begins */
	const struct slice_cause
		*event;      /* more of it; borrowed for the machine's life; NULL: nothing */
	bool enters_program; /* tracing begins where a program does: nothing has called it */
	uint16_t vector;     /* 1 + that of an interrupt; 0: not told */
	uint8_t kind;        /* enum branch_kind */
	uint8_t flags;       /* enum branch_flags */
	uint8_t from_length; /* bytes of the instruction at `from`; 0: unknown */
	uint8_t gap;         /* enum gap_reason, if kind is BRANCH_GAP */
	bool untimed; /* a gap whose time is not known: that of the thread's previous event */
};

/* A branch of which no more is to be told than this: branch_is_plain(), and no OCaml handler. */
struct plain_branch {
	const struct branch_event *event; /* borrowed for the call, as is: */
	const struct location_pair *places;
};

/* Returns whether it is a near call, return or jump, which the thread's stack alone has to know. */
static inline bool branch_is_plain(const struct branch_event *event)
{
	const unsigned no_more = BRANCH_INDIRECT | BRANCH_TIME_ESTIMATED;

	return event->kind >= BRANCH_CALL && event->kind <= BRANCH_COND &&
	       !(event->flags & ~no_more);
}

struct callstack_machine;
struct callstack;

struct callstack_ops {
	struct callstack *(*open)(struct callstack_machine *machine, void *track);
	void (*branch)(struct callstack *stack, const struct resolved_branch *branch);
	/* See callstack_plain(); may be NULL. */
	bool (*plain)(struct callstack *stack, const struct plain_branch *branches, size_t count);
	void (*inherit)(struct callstack *stack, const struct callstack *parent,
			uint64_t time); /* may be NULL */
	void (*finish)(struct callstack *stack);
	void (*close)(struct callstack *stack);
	void (*machine_close)(struct callstack_machine *machine);
};

/* What all threads share.  An implementation has this as its first member. */
struct callstack_machine {
	const struct callstack_ops *ops;
	const struct slice_sink *sink; /* borrowed */
	struct diag *diag;             /* borrowed; NULL: warnings are dropped */
	uint64_t base_time;            /* ns: the time of the run's first timed event */
	/*
	 * Events of one timestamp happened within so many ns of it: up to the
	 * next timing packet.  0: unknown, they are spread up to the next event.
	 */
	uint64_t resolution;
	size_t pending_room, pending_most; /* events that all batches have room for, and may have */
	bool has_base_time;
	bool newer_upstream; /* imitate magic-trace 1.1 and later where that differs from 1.0 */
	uint8_t mode;        /* enum trace_mode */
};

/* One thread's stack.  An implementation has this as its first member. */
struct callstack {
	struct callstack_machine *machine; /* borrowed */
	void *track;                       /* borrowed: passed on to the sink */
};

struct callstack_options {
	enum trace_mode mode;
	const struct slice_sink *sink; /* borrowed; must outlive the machine */
	struct name_table *names;      /* borrowed; must be the table of the symbols' names */
	struct diag *diag;             /* borrowed; NULL: warnings are dropped */
	/*
	 * So many calls may be open at once, in all threads; 0: CALLSTACK_OPEN_MOST.
	 * Where there are more, a thread's stack is given up, with a warning, and begins anew.
	 */
	size_t open_most;
	/*
	 * So many calls and returns may wait for a later time, in all threads; 0:
	 * CALLSTACK_PENDING_MOST.  Where there are more, those of a thread are given out
	 * without dealing out the time.
	 */
	size_t pending_most;
};

/* 64 MiB of them. */
#define CALLSTACK_PENDING_MOST ((size_t)1 << 20)
/* 160 MiB of frames; a stack of 8 MiB has half a million at most. */
#define CALLSTACK_OPEN_MOST ((size_t)1 << 21)

/* Returns the stack of a new thread, owned by the caller, to be closed before its machine. */
struct callstack *callstack_open(struct callstack_machine *machine, void *track);

/*
 * Feed one branch or gap.  Times of one thread should not decrease; where they
 * do, the slices given out may go back in time as well (see slice_sorter.h).
 */
void callstack_branch(struct callstack *stack, const struct resolved_branch *branch);

/*
 * Feed branches that are plain, at least one, for less than callstack_branch() takes,
 * with the same outcome.
 * Returns whether they were fed; if not, feed the first one to callstack_branch().
 */
static inline bool callstack_plain(struct callstack *stack, const struct plain_branch *branches,
				   size_t count)
{
	const struct callstack_ops *ops = stack->machine->ops;

	return ops->plain && ops->plain(stack, branches, count);
}

/*
 * Start a new stack with the frames of its parent, of the same machine, which
 * forked it at `time` (ns).  A machine that cannot do that leaves it empty.
 */
void callstack_inherit(struct callstack *stack, const struct callstack *parent, uint64_t time);

/* The trace has ended: close what is open and give it all out.  Once per stack, before close. */
void callstack_finish(struct callstack *stack);

/* Release a stack; NULL is allowed.  Gives out nothing. */
void callstack_close(struct callstack *stack);

/* Release a machine, all of whose stacks are closed; NULL is allowed. */
void callstack_machine_close(struct callstack_machine *machine);

/*
 * Returns perf's wording for a gap's reason (tools/perf/util/intel-pt-decoder,
 * intel_pt__strerror()), a constant; never NULL.
 */
const char *callstack_gap_text(enum gap_reason reason);

#endif
