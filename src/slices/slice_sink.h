/* SPDX-License-Identifier: MIT */
/*
 * Where a call-stack machine puts its slices: the FTF output, a text printer,
 * a test.
 *
 * A machine calls the functions in the order in which it finds things out,
 * which is not always the order of time: a caller that was never seen to be
 * called is found when it is returned to.  Such slices carry SLICE_DEFERRED and
 * come before all others of the same track and time.  Ends name no slice: an
 * end closes the innermost open one.
 */
#ifndef SRC_SLICES_SLICE_SINK_H
#define SRC_SLICES_SLICE_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "symbols/symbol.h"

enum slice_flags {
	SLICE_INFERRED_START = 1, /* the call was not seen: the time is the earliest possible */
	SLICE_CONTINUED = 64,     /* it began in the part of the trace before (--split) */
	SLICE_DEFERRED = 2, /* written late; at equal times it is outside what was written before */
	SLICE_HAS_CAUSE = 4,     /* `ip` is where its struct slice_cause is; 0: not kept */
	SLICE_HAS_VECTOR = 0x80, /* an interrupt or exception with the vector in bits 8 to 15 */
};

/* What the processor said of the event that a slice is (EVD packets). */
struct slice_cause {
	uint64_t ip;        /* that the slice entered; 0: none */
	uint64_t values[3]; /* by enum cpu_event_evd */
	uint8_t known;      /* a bit for each */
};

/* Returns the vector of flags with SLICE_HAS_VECTOR. */
static inline unsigned slice_vector(unsigned flags)
{
	return flags >> 8 & 0xff;
}

/* What more there is to say of a begin or an end. */
struct slice_detail {
	uint64_t insns, cycles; /* of the thread up to then; cycles stay 0 without CYC packets */
	const struct symbol *caller; /* of a begin: where the call instruction is; NULL: unknown */
	uint64_t caller_offset;      /* bytes from the caller's start */
};

enum slice_event_kind { SLICE_BEGIN, SLICE_END, SLICE_INSTANT };

/* A slice begins or ends, as one of many that are given out at once. */
struct slice_event {
	uint64_t time; /* ns, perf's clock */
	union {
		const struct symbol *symbol; /* of a begin; of an end a hint, or NULL */
		size_t text; /* of an instant, which only the sorter has: sorter_track.h */
	};
	uint64_t ip;     /* of a begin */
	uint32_t detail; /* this and the order are for whoever keeps edges; else 0 */
	uint16_t flags;  /* of a begin: enum slice_flags */
	uint8_t kind;    /* enum slice_event_kind */
	int8_t order;
};

/* `track` is what the machine was given for the thread. */
struct slice_sink {
	/*
	 * The begin or end that this track gets next has this detail, which is
	 * borrowed for the call.  NULL: the sink does not want to know.
	 */
	void (*detail)(const struct slice_sink *sink, void *track,
		       const struct slice_detail *detail);
	/*
	 * A slice begins.  `ip` is the address of the code it entered (0: none),
	 * which is the function's start for a call.
	 */
	void (*begin)(const struct slice_sink *sink, void *track, uint64_t time,
		      const struct symbol *symbol, uint64_t ip, unsigned flags);
	/* The innermost open slice ends; `symbol` is only a hint, or NULL. */
	void (*end)(const struct slice_sink *sink, void *track, uint64_t time,
		    const struct symbol *symbol);
	/*
	 * Begins and ends (none deferred) of one track, at least one, whose times
	 * do not decrease: for less than begin() and end() take, with the same
	 * outcome.  They are borrowed for the call.  NULL: they are to be given one
	 * by one, as soon as they are known.
	 */
	void (*edges)(const struct slice_sink *sink, void *track, const struct slice_event *edges,
		      size_t count);
	/* A whole slice, flags as for begin. */
	void (*complete)(const struct slice_sink *sink, void *track, uint64_t begin_time,
			 uint64_t end_time, const struct symbol *symbol, unsigned flags);
	/*
	 * The slice that ends next on this track has so many shorter ones in it
	 * that are not shown, of so many ns together.  NULL: the sink does not
	 * want to know.
	 */
	void (*folded)(const struct slice_sink *sink, void *track, uint64_t count, uint64_t time);
	/* A mark without length; `text` is borrowed for the call. */
	void (*instant)(const struct slice_sink *sink, void *track, uint64_t time,
			const char *text);
	/*
	 * Everything of this track up to now is written: what comes later is not
	 * earlier in time.  Slices may be open.
	 */
	void (*segment_end)(const struct slice_sink *sink, void *track);
	void *context; /* the implementation's own; borrowed */
};

#endif
