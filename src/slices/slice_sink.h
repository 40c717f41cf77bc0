/* SPDX-License-Identifier: MIT */
/*
 * The interface between producers and consumers of slices: call-stack machines, queue, sorter,
 * filter, output formats, tests.
 *
 * A machine emits events when it discovers them, not always in order of time: a return can reveal a
 * caller whose call is not in the trace. The field `order` (enum slice_order) defines how such an
 * event sorts among others of the same track and time. An end names no slice: it closes the
 * innermost open one.
 */
#pragma once

#include "symbols/symbol.h"

enum slice_flags {
	SLICE_INFERRED_START = 1, /* the call was not seen: earliest possible time */
	SLICE_CONTEXT = 2,        /* a caller of the chosen functions; its call is not counted */
	/* Calls may be missing between it and its children, or these are on another stack. */
	SLICE_UNCERTAIN_LEVEL = 8,
	SLICE_CUT = 16,            /* an end: no return was seen; the trace ends or is missing */
	SLICE_ESTIMATED_TIME = 32, /* shares the time between two timestamps with a gap or, if
				      details are used, with other calls */
	SLICE_CONTINUED = 64, /* began in an earlier part of the trace (--split); until the sorter,
				 see struct callstack_fibers */
	/* With --stacks=flows and replace, of an end: a tail call; its target begins next */
	SLICE_TAIL_CALL = 1,
	SLICE_TAIL_CALLED = 16,  /* a begin: by a tail call, inside of the call that jumped */
	SLICE_HAS_CAUSE = 4,     /* `ip` points to a struct slice_cause; 0: not stored */
	SLICE_HAS_VECTOR = 0x80, /* an interrupt or exception; its vector is in bits 8 to 15 */
};

/* The processor's description of the event that a slice shows (EVD packets). */
struct slice_cause {
	uint64_t ip;        /* the code that the slice entered; 0: unknown */
	uint64_t values[3]; /* by enum cpu_event_evd */
	uint8_t known;      /* bit mask of known values */
};

/* Returns the vector of flags with SLICE_HAS_VECTOR. */
static inline unsigned slice_vector(unsigned flags)
{
	return flags >> 8 & 0xff;
}

/* Optional data of a begin or an end. */
struct slice_detail {
	uint64_t insns, cycles; /* the thread's so far; cycles are 0 without CYC packets */
	uint64_t branch; /* number of the branch that begins or ends it, from 1; 0: unknown */
	union {
		struct {                             /* a begin: */
			const struct symbol *caller; /* contains the call; NULL: unknown */
			uint64_t caller_offset;      /* bytes from the caller's start */
		};
		struct {                      /* an end: */
			uint64_t folded;      /* omitted shorter slices inside */
			uint64_t folded_time; /* their total ns */
		};
	};
};

/*
 * A sink with `late` also gets SLICE_LATE. A sink with `arrows` gets the ends of arrows between
 * tracks; `ip` is the arrow's number. A sink with `early` also gets SLICE_EARLY.
 */
enum slice_event_kind {
	SLICE_BEGIN,
	SLICE_END,
	SLICE_INSTANT,
	SLICE_LATE,
	SLICE_ARROW,
	SLICE_ARROW_END,
	SLICE_EARLY
};

/* Sort key of events with equal times; the next key is arrival. */
enum slice_order {
	SLICE_ORDER_WHOLE = -2, /* end of a slice whose begin is the previous event of the batch */
	SLICE_ORDER_DEFERRED = -1, /* emitted late: encloses all earlier events; see also `late` */
	SLICE_ORDER_PLAIN = 0,
	/*
	 * Emitted late: SLICE_ORDER_PLAIN + N sorts after N plain begins of its time, and encloses
	 * the rest.
	 */
	SLICE_ORDER_LAST = 100,
};

struct slice_event {
	uint64_t time; /* ns, perf's clock */
	union {
		const struct symbol *symbol; /* the function; in an end only a hint, or NULL */
		const char *text;            /* text of an instant; borrowed for the call */
	};
	uint64_t ip;     /* begin: address of the entered code, or see slice_flags; 0: unknown */
	uint32_t detail; /* 1 + index in the batch's details; 0: none. Unused in plain batches */
	uint16_t flags;  /* enum slice_flags: of a begin; of an end SLICE_CUT, SLICE_TAIL_CALL */
	uint8_t kind;    /* enum slice_event_kind */
	int8_t order;    /* enum slice_order; PLAIN after the sorter */
};

/* Events of one track, at least one; all borrowed for the call. */
struct slice_batch {
	const struct slice_event *events;
	size_t count;
	const struct slice_detail *details; /* NULL: no event has one */
	/*
	 * A hint that makes sinks faster: the batch has only begins and ends of SLICE_ORDER_PLAIN,
	 * whose times do not decrease. If it has details, they are those of its events, in order.
	 */
	bool plain;
};

/* `track`: the emitter's pointer for the thread. */
struct slice_sink {
	void (*events)(const struct slice_sink *sink, void *track, const struct slice_batch *batch);
	/*
	 * Later events of this track are not earlier in time than the ones so far. Slices may be
	 * open. NULL: the sink needs events in order of time.
	 */
	void (*flush)(const struct slice_sink *sink, void *track);
	/*
	 * Until the next flush, slices of this track that are found late begin at `time` (ns);
	 * UINT64_MAX, and before the first call: at any time. NULL: not needed.
	 */
	void (*since)(const struct slice_sink *sink, void *track, uint64_t time);
	void *context;  /* the implementation's context; borrowed */
	bool details;   /* the sink uses insns, cycles and callers: emit them */
	bool folded;    /* the sink uses `folded` and `folded_time` of ends */
	bool immediate; /* events must be emitted as soon as they are known */
	/*
	 * Events have the order of time, but the sink also takes slices late. A SLICE_LATE begins a
	 * part of a track; `ip` is the time (ns) of late slices that ended before the part. In the
	 * part, an end without an open slice ends a late slice. Such an end has
	 * SLICE_ORDER_DEFERRED, the slice's symbol, the time of its begin in `ip`, and
	 * SLICE_INFERRED_START if only this end revealed the slice. At the end of the part come the
	 * begins of late slices, outermost first, then all other slices that begin and end at such
	 * a time; these begins have SLICE_ORDER_DEFERRED. Another SLICE_LATE ends the part.
	 */
	bool late;
	/*
	 * With `late`: the sink sums up without an order. A late slice has the time of since(), and
	 * details are exact; at the end of a part come only the begins of late slices, and slices
	 * without length.
	 */
	bool sums;
	struct error *again; /* with `late`: set if slices must not be; or NULL */
	bool arrows;         /* it shows arrows */
	/* After SLICE_EARLY_EVENTS of a segment, announce begins found late: as SLICE_EARLY. */
	bool early;
};

#define SLICE_EARLY_EVENTS ((size_t)1 << 13)

/* Returns an event's detail, borrowed from the batch; may be NULL. */
static inline const struct slice_detail *slice_batch_detail(const struct slice_batch *batch,
							    const struct slice_event *event)
{
	if (!batch->details)
		return NULL;
	if (batch->plain)
		return &batch->details[event - batch->events];
	return event->detail ? &batch->details[event->detail - 1] : NULL;
}

/* Emit one event with `detail`, which may be NULL; the event's field `detail` is ignored. */
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

static inline void slice_sink_since(const struct slice_sink *sink, void *track, uint64_t time)
{
	if (sink->since)
		sink->since(sink, track, time);
}

static inline void slice_sink_flush(const struct slice_sink *sink, void *track)
{
	if (sink->flush)
		sink->flush(sink, track);
}

/* `events` of a sink that drops all slices. */
static inline void slice_sink_drop(const struct slice_sink *sink, void *track,
				   const struct slice_batch *batch)
{
	(void)sink;
	(void)track;
	(void)batch;
}
