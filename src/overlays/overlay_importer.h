/* SPDX-License-Identifier: MIT */
/*
 * The interface between OCaml's overlays and their kinds: runtime events and memtrace.  An importer
 * opens a file, prints it as text, or gives it to an event sink by a clock that was matched for it.
 * It knows no recording.
 */
#pragma once

#include "base/io/output.h"
#include "overlays/memtrace.h"
#include "overlays/runtime_events.h"
#include "src/options/options.h"
#include "src/slices/event_sink.h"

/* ---- One overlay --------------------------------------------------------- */

struct overlay_input {
	const struct overlay_importer *importer;
	char *path;      /* owned */
	int32_t pid;     /* -1: unknown */
	int ocaml_minor; /* N of ocaml=5.N; -1: not given */
	bool lives;      /* memtrace: show each block's life as an async slice */
	/* The thread that writes a ring: from tid.RING=N, or found by matching clocks. */
	struct overlay_tid {
		uint32_t ring;
		int32_t tid;
	} * tids; /* owned */
	size_t tid_count, tid_room;
	uint8_t *bytes; /* owned mapping */
	size_t size;
	/* ns of the overlay's clock: its start, or the first event; its last event.  0: no event */
	uint64_t first_time, last_time;
	struct runtime_events events; /* runtime events */
	struct memtrace memtrace;     /* memtrace; at its first event */
};

/*
 * Parse FILE[,pid=N][,ocaml=5.N][,tid.RING=N][,lives]..., map the file and open
 * it.  The pid is that of the description; else, of runtime events, that of
 * the ring's start, else that of the file's name PID.events.
 * Returns 0; -1 with err filled.  The caller calls overlay_input_close() in both cases.
 */
int overlay_input_open(struct overlay_input *input, const struct overlay_option *option,
		       struct diag *diag, struct error *err);

/* Set the thread of a ring, unless it is known. */
void overlay_input_add_tid(struct overlay_input *input, uint32_t ring, int32_t tid);

/* Returns the thread of a ring; -1: unknown. */
int32_t overlay_input_tid(const struct overlay_input *input, uint32_t ring);

void overlay_input_close(struct overlay_input *input);

/* ---- Clocks -------------------------------------------------------------- */

/*
 * Runtime events have times of CLOCK_MONOTONIC, memtrace of the wall clock, perf of the scheduler's
 * clock; no two of them agree, and perf does not record their offsets.  The first possible method
 * of these finds an offset.
 */
enum overlay_clock_method {
	OVERLAY_CLOCK_OWN = 0,  /* the trace's clock is the overlay's own */
	OVERLAY_CLOCK_EXPLICIT, /* --clock-sync=CLOCK=TIME */
	OVERLAY_CLOCK_SYNC,     /* --clock-sync */
	OVERLAY_CLOCK_RECORDED, /* perf recorded which clock of the system it used */
	OVERLAY_CLOCK_PT,       /* calls of the program into the runtime */
	OVERLAY_CLOCK_SIDEBAND, /* forks and exits bound it */
	OVERLAY_CLOCK_ASSUMED,
};

struct overlay_clock {
	enum overlay_clock_method method;
	int64_t offset;       /* ns: the trace's time less the overlay's */
	uint64_t uncertainty; /* ns, of the offset; UINT64_MAX: unknown */
};

extern const char *const overlay_clock_methods[]; /* as messages name them, by method */

/* Returns an overlay's time (ns of its clock) on the trace's clock, not before 0. */
static inline uint64_t overlay_clock_time(const struct overlay_clock *clock, uint64_t time)
{
	uint64_t moved = time + (uint64_t)clock->offset;

	if (clock->offset < 0)
		return time < (uint64_t)-clock->offset ? 0 : moved;
	return moved < time || moved > INT64_MAX ? INT64_MAX : moved;
}

/* ---- Output -------------------------------------------------------------- */

/* The target of all overlays of a run. */
struct overlay_sink {
	struct event_sink *sink; /* borrowed, as the next two */
	struct output *output;   /* gets what `sink` takes */
	struct diag *diag;
	struct name_table names; /* names of spans and of functions that allocate */
	uint64_t next_id;        /* id of the next arrow or async slice; from 1 */
	uint64_t slices;         /* written up to now */
};

/* Returns whether the output has reached its limit; if so, marks it as cut. */
bool overlay_sink_full(struct overlay_sink *out);

/* Returns a new track of process `pid`; -1: unknown. */
struct event_track overlay_sink_track(struct overlay_sink *out, int32_t pid, const char *name);

/* Write an instant at `time` (ns, trace) that shows how the overlay's clock was matched. */
void overlay_sink_show_clock(struct overlay_sink *out, struct event_track track, uint64_t time,
			     const struct overlay_clock *clock);

/* Print a text as OCaml's %S does. */
void overlay_print_quoted(const char *text, FILE *out);

/* ---- Importers ----------------------------------------------------------- */

struct overlay_importer {
	bool wall_clock; /* times are the wall clock's; else CLOCK_MONOTONIC's */
	/* Read a word of the option other than pid=.  Returns whether it is one. */
	bool (*read_word)(struct overlay_input *input, const char *word);
	/* Open the mapped file, and set its times.  Returns 0; -1 with err filled. */
	int (*open)(struct overlay_input *input, struct diag *diag, struct error *err);
	/* Print all events in the lines of the format's own reader. */
	void (*print)(struct overlay_input *input, FILE *out);
	/* Write all events, up to the limit of the output. */
	void (*write)(struct overlay_sink *out, struct overlay_input *input,
		      const struct overlay_clock *clock);
};

extern const struct overlay_importer overlay_runtime_events, overlay_memtrace;

/* Returns whether `text` is a decimal number up to `most`, followed by `until`. */
bool overlay_read_number(const char *text, char until, long most, long *number);
