/* SPDX-License-Identifier: MIT */
/*
 * Call-stack machines: branches with symbols in, slices out.
 *
 * A machine holds the rules by which branches change a call stack. All threads of a run share it;
 * each traced thread has a struct callstack. Machines do no I/O and never fail; they count an
 * impossible event as a warning. They do not allocate per branch once a thread's arrays have grown
 * to their working size.
 */
#pragma once

#include "base/diag.h"
#include "decoder/branch_event.h"
#include "src/options/options.h"
#include "src/resolve/location.h"
#include "src/slices/slice_sink.h"
#include "symbols/tables/trap_table.h"

struct slice_cause;

/* Additional facts about an event.  Most branches have none. */
struct branch_notes {
	const char *message; /* a gap's, borrowed for the call; NULL: perf's text for the reason */
	/* NULL, or show only this instant. After a BRANCH_TX_ABORT's mark, its branch follows. */
	const struct symbol *mark;
	uint64_t mark_value;      /* shown with the mark if its symbol is a SYMBOL_MARK */
	const struct trap *traps; /* OCaml handlers installed and removed on the way to `from` */
	const struct slice_cause *cause; /* an interrupt's cause; borrowed for the machine's life */
	uint32_t trap_count;
	uint16_t vector;    /* 1 + the interrupt's vector; 0: unknown */
	bool enters_trap;   /* `to` is an OCaml exception handler */
	bool has_no_caller; /* a program or a thread begins at `to` */
	bool exec;          /* the first event of a new program */
	bool died;          /* the thread that had the tid before the exec ended earlier */
	bool untimed;       /* the event's time is unknown: use the thread's last one */
};

/* A branch or gap with names, borrowed by the machine for the call. */
struct resolved_branch {
	const struct branch_event *event;
	const struct location_pair
		*locations; /* a gap's locations: `from.ip` is where it begins, 0: unknown */
};

struct call_stretch;
struct callstack_machine;
struct callstack;
struct timeline;

/* Operations of a machine on a stack, called by the functions below. */
struct callstack_ops {
	/* Returns the stack of a new thread, owned by the caller; close it before the machine. */
	struct callstack *(*open)(struct callstack_machine *machine, void *track);
	/*
	 * Feed a branch or gap; `notes` (borrowed for the call) may be NULL. The times of a thread
	 * should not decrease; otherwise the times of its slices may decrease as well (see
	 * slice_sorter.h).
	 */
	void (*feed)(struct callstack *stack, const struct resolved_branch *branch,
		     const struct branch_notes *notes);
	/*
	 * Feed leading near branches of the first one's thread and program, while they are looked
	 * up and, in the precise machine, have the usual effect (`plain` in
	 * decoder/known_branches.h). `counts`: also counts of cycles between and after them, if the
	 * sink uses details; not in magic-trace's machine, which has none. Returns the number of
	 * events.
	 */
	size_t (*feed_plain)(struct callstack *stack, const struct branch_event *events,
			     size_t count, bool counts);
	/* End of the trace: close all frames and emit all slices. Once per stack, before close. */
	void (*finish)(struct callstack *stack);
	void (*close)(struct callstack *stack);                   /* emits nothing */
	void (*machine_close)(struct callstack_machine *machine); /* all stacks are closed */
};

/* Where the times of a run's calls come from. */
enum time_source {
	TIMES_OF_PERF = 0, /* perf script's */
	TIMES_MEASURED,    /* timing packets, with the machine's resolution */
	TIMES_ESTIMATED,   /* TSC packets only: interpolated by instructions */
	TIMES_INVENTED,    /* no timing packets: 1 ns per instruction */
	TIMES_OF_LINES,    /* perf script's text without times: 1 ns per line */
	TIMES_OF_WORK,     /* --clock: 1 ns per instruction, */
	TIMES_OF_CYCLES,   /* or core cycle */
};

/* The state that all threads share.  An implementation has this as its first member. */
struct callstack_machine {
	const struct callstack_ops *ops;
	const struct slice_sink *sink; /* borrowed */
	struct diag *diag;             /* borrowed; NULL: warnings are dropped */
	uint64_t base_time;            /* ns: the time of the run's first timed event */
	/* ns: maximum age of a timestamp at an event that has it; 0: up to the next timestamp. */
	uint64_t resolution;
	enum time_source times;
	uint64_t branch;   /* number of the current branch, for slice details; 0: not numbered */
	bool by_insns;     /* times are estimated or invented: rank calls by instructions */
	bool sites;        /* slices without details have frame_site() as their `ip` */
	bool has_cycles;   /* CYC packets: mark calls that share a time, if the sink uses details */
	bool lacks_levels; /* the input lacks what levels depend on: mark all slices from now on */
	/* Counts of uncertain slices and frames, and the start of each. */
	struct stack_doubts {
		uint64_t uncertain_levels; /* slices with SLICE_UNCERTAIN_LEVEL */
		int64_t first_uncertain;   /* mapped: start of the first of them, approximately */
		uint64_t opaque_frames;    /* frames of code without bytes */
		uint64_t opaque_ip;        /* address of the first of them */
	} doubts;
	/*
	 * Limits for all threads together: open calls (above it, a thread's frames are dropped with
	 * a warning), and calls and returns that wait for a later time (above it, they get no share
	 * of that time).
	 */
	size_t open_most, pending_most;
	size_t pending_room; /* for events, in all groups */
	bool has_base_time;
	uint32_t fibers;     /* stacks so far, with --fibers */
	bool precise;        /* the machine is the precise one */
	bool newer_upstream; /* imitate magic-trace 1.1 and later where they differ from 1.0 */
	bool like_upstream;  /* imitate 1.0 even where the records would be better otherwise */
	/* Returns the base time (ns) for the time of the run's first event. NULL: use that time. */
	uint64_t (*choose_base)(void *context, uint64_t time);
	void *base_context; /* borrowed */
};

/* Count a slice with SLICE_UNCERTAIN_LEVEL, which begins at a mapped time. */
static inline void callstack_count_uncertain(struct callstack_machine *machine, int64_t time)
{
	struct stack_doubts *doubts = &machine->doubts;

	if (!doubts->uncertain_levels++ || time < doubts->first_uncertain)
		doubts->first_uncertain = time;
}

/* Mark a slice that is about to be emitted if the input lacks what its level depends on. */
static inline void callstack_mark_level(struct callstack_machine *machine,
					struct slice_event *event)
{
	if (!machine->lacks_levels || event->kind != SLICE_BEGIN)
		return;
	event->flags |= SLICE_UNCERTAIN_LEVEL;
	callstack_count_uncertain(machine, (int64_t)(event->time - machine->base_time));
}

/* One thread's stack.  An implementation has this as its first member. */
struct callstack {
	struct callstack_machine *machine; /* borrowed */
	void *track;                       /* borrowed: passed on to the sink */
};

/* Whether a function that ends in a tail call encloses the called one, or ends there. */
enum tail_calls { TAIL_CALLS_NEST = 0, TAIL_CALLS_REPLACE };

/*
 * With --fibers, the slices between two switches of stacks are in a slice whose symbol means
 * the stack. A slice that stays open while its stack is parked has SLICE_CONTINUED at its end, and
 * at its next begin. The threads of a process share the stacks that they left.
 */
struct callstack_fibers {
	/*
	 * Returns the symbol of a stack that began on a thread, or of the thread's first stack:
	 * `number` 0. `first`: its first function; NULL: unknown. A number returns twice if the
	 * trace is decoded twice.
	 */
	const struct symbol *(*add)(void *context, void *track, uint32_t number,
				    const struct symbol *first);
	void *context; /* borrowed */
};

struct callstack_options {
	enum trace_mode mode;          /* the trace's mode; used by magic-trace's machine only */
	const struct slice_sink *sink; /* borrowed; must outlive the machine */
	struct name_table *names;      /* borrowed; the table of the symbols' names */
	struct diag *diag;             /* borrowed; NULL: warnings are dropped */
	enum tail_calls tail_calls;    /* in the precise machine */
	bool flows; /* mark tail calls that do not nest: SLICE_TAIL_CALL, SLICE_TAIL_CALLED */
	const struct callstack_fibers *fibers; /* borrowed: show each stack; NULL: do not */
	const struct timeline *timeline;       /* borrowed: of the events' threads; may be NULL */
};

/* Set a machine's operations and limits, and the options that all machines share. */
void callstack_machine_init(struct callstack_machine *machine, const struct callstack_ops *ops,
			    const struct callstack_options *options);

/*
 * Return a new machine, owned by the caller: the precise one, or that of magic-trace 1.0
 * (callstack_precise.c, callstack_magic_trace.c).  Never NULL.
 */
struct callstack_machine *callstack_precise_open(const struct callstack_options *options);
struct callstack_machine *callstack_magic_trace_open(const struct callstack_options *options);

static inline struct callstack *callstack_open(struct callstack_machine *machine, void *track)
{
	return machine->ops->open(machine, track);
}

static inline void callstack_feed(struct callstack *stack, const struct resolved_branch *branch,
				  const struct branch_notes *notes)
{
	stack->machine->ops->feed(stack, branch, notes);
}

static inline size_t callstack_feed_plain(struct callstack *stack,
					  const struct branch_event *events, size_t count,
					  bool counts)
{
	return stack->machine->ops->feed_plain(stack, events, count, counts);
}

static inline void callstack_finish(struct callstack *stack)
{
	stack->machine->ops->finish(stack);
}

/* NULL is allowed, as below. */
static inline void callstack_close(struct callstack *stack)
{
	if (stack)
		stack->machine->ops->close(stack);
}

static inline void callstack_machine_close(struct callstack_machine *machine)
{
	if (machine)
		machine->ops->machine_close(machine);
}

/*
 * Prepare the machine for the same events again, while all stacks are closed. Symbols stay, as
 * slices have them; it does not warn again.
 */
static inline void callstack_machine_again(struct callstack_machine *machine)
{
	machine->diag = NULL;
	machine->branch = machine->fibers = 0;
	machine->has_base_time = machine->lacks_levels = false;
	machine->doubts = (struct stack_doubts){ 0 };
}

/* ---- Stacks of the precise machine ----------------------------------------- */

/* Feed a stretch (call_stretch.h) if it fits the stack. Returns whether it does. */
bool callstack_join(struct callstack *stack, const struct call_stretch *stretch);

/* Emit the slices of past times if a stretch could have emitted them, before another thread's. */
void callstack_emit(struct callstack *stack);

/*
 * Start a new stack with the frames of its parent, a stack of the same machine that forked it at
 * `time` (ns); NULL: the parent's frames are not known yet. If the new stack already ran in the
 * kernel, its frames end at `time`, inside the parent's.
 */
void callstack_inherit(struct callstack *stack, const struct callstack *parent, uint64_t time);

/*
 * Copy a stack of the same machine; `copy` can only be inherited from and closed. Subtracts the
 * number of frames from `*most`. Returns false, with an empty copy, if the stack has more frames
 * than `*most`, or if all stacks together have too many.
 */
bool callstack_copy(struct callstack *copy, const struct callstack *stack, uint64_t *most);

/* Take the time and the counts of an event that changes no frame. */
void callstack_pass(struct callstack *stack, const struct branch_event *event);

/*
 * If `location` is in the innermost function, make `call` (NULL: no call) and its parents the
 * function's inlined calls. They begin and end at the last event, and take their time from the
 * function alone. Returns whether `location` is in that function.
 */
bool callstack_set_inlined(struct callstack *stack, const struct location *location,
			   const struct inlined_call *call);

/* ---- Gaps ---------------------------------------------------------------- */

/* Returns the number of gaps that are damage. */
uint64_t gap_reasons_sum(const uint64_t gaps[GAP_REASONS]);
