/* SPDX-License-Identifier: MIT */
/*
 * The interface between everything that produces slices and everything that
 * consumes them: call-stack machines, queue, sorter, filter, output formats, tests.
 *
 * A machine emits events in the order in which it discovers them, which is not
 * always the order of time: a caller that was never seen to be called is found
 * when it is returned to.  The order of such events (enum slice_order) says how
 * they sort among others of the same track and time.  An end names no slice: it
 * closes the innermost open one.
 */
#ifndef SRC_SLICES_SLICE_SINK_H
#define SRC_SLICES_SLICE_SINK_H

#include "symbols/symbol.h"

enum slice_flags {
	SLICE_INFERRED_START = 1, /* the call was not seen: the time is the earliest possible */
	SLICE_CONTEXT = 2,        /* a caller of the chosen functions: its call counts elsewhere */
	/* Calls may be missing between it and the slices in it, or they are of another stack. */
	SLICE_UNCERTAIN_LEVEL = 8,
	SLICE_CUT =
		16, /* of an end: no return was seen, the trace ends or is missing from there on */
	SLICE_ESTIMATED_TIME = 32, /* it shares the time between two timestamps: with a gap, or, if
				      details are used, with other calls */
	SLICE_CONTINUED = 64,      /* it began in the part of the trace before (--split) */
	SLICE_TAIL_CALL = 1, /* of an end, with --flows: a tail call left it; its target is next */
	SLICE_TAIL_CALLED = 16,  /* of a begin, with --flows: a tail call entered it */
	SLICE_HAS_CAUSE = 4,     /* `ip` is the address of its struct slice_cause; 0: not kept */
	SLICE_HAS_VECTOR = 0x80, /* an interrupt or exception with the vector in bits 8 to 15 */
};

/* The processor's description of the event that a slice shows (EVD packets). */
struct slice_cause {
	uint64_t ip;        /* that the slice entered; 0: none */
	uint64_t values[3]; /* by enum cpu_event_evd */
	uint8_t known;      /* a bit for each value */
};

/* Returns the vector of flags with SLICE_HAS_VECTOR. */
static inline unsigned slice_vector(unsigned flags)
{
	return flags >> 8 & 0xff;
}

/* Optional data of a begin or an end. */
struct slice_detail {
	uint64_t insns, cycles; /* of the thread up to then; cycles stay 0 without CYC packets */
	union {
		struct {                             /* of a begin: */
			const struct symbol *caller; /* contains the call; NULL: unknown */
			uint64_t caller_offset;      /* bytes from the caller's start */
		};
		struct {                      /* of an end: */
			uint64_t folded;      /* shorter slices inside that are not shown, */
			uint64_t folded_time; /* and their ns together */
		};
	};
};

enum slice_event_kind { SLICE_BEGIN, SLICE_END, SLICE_INSTANT };

/* Events of equal time are sorted by this, then by arrival. */
enum slice_order {
	SLICE_ORDER_WHOLE =
		-2, /* the end of a slice whose begin is the event before, in one batch */
	SLICE_ORDER_DEFERRED = -1, /* emitted late: it encloses what was emitted before */
	SLICE_ORDER_PLAIN = 0,
	/*
	 * Emitted late: SLICE_ORDER_PLAIN + N, it comes behind N plain begins of its time, and
	 * encloses the others.
	 */
	SLICE_ORDER_LAST = 100,
};

struct slice_event {
	uint64_t time; /* ns, perf's clock */
	union {
		const struct symbol *symbol; /* of a begin; of an end a hint, or NULL */
		const char *text;            /* of an instant; borrowed for the call */
	};
	uint64_t ip;     /* of a begin: the code that it entered, a call's function; 0: none */
	uint32_t detail; /* 1 + index in the batch's details, if that has any; 0: it has none */
	uint16_t flags;  /* enum slice_flags: of a begin; of an end SLICE_CUT, SLICE_TAIL_CALL */
	uint8_t kind;    /* enum slice_event_kind */
	int8_t order;    /* enum slice_order; PLAIN behind the sorter */
};

/* Events of one track, at least one; all is borrowed for the call. */
struct slice_batch {
	const struct slice_event *events;
	size_t count;
	const struct slice_detail *details; /* NULL: no event has one */
	/*
	 * The batch has only begins and ends of SLICE_ORDER_PLAIN, whose times do not decrease.  If
	 * it has details, each event has one, in the order of the events.  Sinks handle such a
	 * batch faster; it may also be false for one.
	 */
	bool plain;
};

/* `track` is the pointer that the emitter was given for the thread. */
struct slice_sink {
	void (*events)(const struct slice_sink *sink, void *track, const struct slice_batch *batch);
	/*
	 * All events of this track up to now have arrived: later ones are not earlier
	 * in time.  Slices may be open.  NULL: the sink needs events in order of time.
	 */
	void (*flush)(const struct slice_sink *sink, void *track);
	void *context;  /* the implementation's own; borrowed */
	bool details;   /* it uses insns, cycles and callers: emit them */
	bool folded;    /* it uses `folded` and `folded_time` of ends */
	bool immediate; /* each event must be emitted as soon as it is known */
};

/* Returns an event's detail, borrowed from the batch; NULL: it has none. */
static inline const struct slice_detail *slice_batch_detail(const struct slice_batch *batch,
							    const struct slice_event *event)
{
	return batch->details && event->detail ? &batch->details[event->detail - 1] : NULL;
}

/* Emit one event, whose field `detail` is ignored: it has `detail`, or NULL. */
static inline void slice_sink_emit(const struct slice_sink *sink, void *track,
				   const struct slice_event *event,
				   const struct slice_detail *detail)
{
	struct slice_event one = *event;

	one.detail = detail != NULL;
	sink->events(sink, track, &(struct slice_batch){ &one, 1, detail, false });
}

/* Emit a whole slice: its begin, and an end without detail at `end_time`. */
static inline void slice_sink_emit_whole(const struct slice_sink *sink, void *track,
					 const struct slice_event *begin, uint64_t end_time)
{
	const struct slice_event pair[2] = {
		*begin,
		{ .time = end_time,
		  .symbol = begin->symbol,
		  .kind = SLICE_END,
		  .order = SLICE_ORDER_WHOLE },
	};

	sink->events(sink, track, &(struct slice_batch){ pair, 2, NULL, false });
}

static inline void slice_sink_flush(const struct slice_sink *sink, void *track)
{
	if (sink->flush)
		sink->flush(sink, track);
}

#endif
