/* SPDX-License-Identifier: MIT */
/*
 * OCaml's runtime events and memtrace files that accompany a recording: opens them, matches their
 * clocks with the trace's, and prints them as text or writes them as tracks of their process.
 */
#pragma once

#include "decoder/aux/pt_info.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/timeline/timeline.h"
#include "src/formats/output_format.h"
#include "src/overlays/overlay_importer.h"

/* Counts of --format=memtrace: `events` of the whole file, `written` to the new one. */
struct overlay_cut_counts {
	uint64_t events, written;
	uint64_t alive; /* written allocations from before the range */
};

/*
 * Write the events of memtrace whose times, from the file's start to its last event, are in the
 * range of `selection`.  Blocks that are alive at its begin are allocated there, and promoted if
 * they had been.  The cut renumbers blocks without gaps, in the old order.  The start and the times
 * are unchanged.  Ends early if the output is full, and marks it as cut.  Returns 0 with *counts;
 * -1 with err filled.  Write errors stay with the output.
 */
int overlay_cut(struct overlay_input *input, const struct selection *selection,
		struct output *output, struct overlay_cut_counts *counts, struct error *err);

/* ---- All overlays of a run ----------------------------------------------- */

struct overlays {
	const struct options *options; /* borrowed */
	struct overlay_input *inputs;  /* owned */
	size_t count;
	/* Clocks read at the same time: a line of `ptrace2ftf clock-sync`. */
	struct overlay_sync {
		uint64_t tsc;       /* ticks; 0: not on this machine */
		int64_t mono, real; /* ns: CLOCK_MONOTONIC, CLOCK_REALTIME */
	} * syncs;                  /* owned; lines of --clock-sync */
	size_t sync_count;
	struct overlay_sink out;
};

/* Read the clocks of this machine at the same time: the fastest of a few attempts. */
void overlay_sync_now(struct overlay_sync *sync);

/* The recording below the overlays; all borrowed. */
struct overlay_recording {
	const struct perf_file *file;
	const struct timeline *timeline;
	const struct pt_info *info;
	const struct overlay_calls *calls;
};

/*
 * Open the overlays that the options name.  `options` and `diag` are borrowed.
 * Returns 0; -1 with err filled.  The caller calls overlays_close() in both cases.
 */
int overlays_open(struct overlays *overlays, const struct options *options, struct diag *diag,
		  struct error *err);

void overlays_close(struct overlays *overlays);

/*
 * Match each overlay's clock with the trace's, print how, and write the overlay's tracks, up to the
 * limit of `output`, which gets what `sink` takes.  The trace's clock is perf's; without a
 * recording (NULL) it is that of the runtime events, or memtrace's without runtime events.
 *
 * Of runtime events, per domain: "domain N GC" with the collector's phases as nested slices,
 * "domain N spans" and "domain N events" of the program, and counters.  Of memtrace: "memtrace
 * domain N" with a slice without length per event, arrows from an allocation to its block's
 * promotion and collection, and counters.  A domain here is a slot of the runtime: a later domain
 * may reuse the slot of an ended domain.
 */
void overlays_write(struct overlays *overlays, struct event_sink *sink, struct output *output,
		    const struct overlay_recording *recording);

/*
 * Returns the wall-clock time, ns since 1970, of the time 0 of the trace's clock, by
 * --clock-sync, or perf's own record of it; or WALL_BASE_UNKNOWN.
 */
uint64_t overlays_wall(const struct overlays *overlays, const struct overlay_recording *recording);

#define OVERLAY_ANY_PROCESS INT32_MIN

/* Returns the first overlay of a kind and process; NULL: not given. */
const struct overlay_input *overlays_find(const struct overlays *overlays,
					  const struct overlay_importer *importer, int32_t pid);

/* Returns the highest process or thread id in an overlay's names; 0: without ids. */
int32_t overlays_highest_id(const struct overlays *overlays);

/* Print all events of all overlays, each below its path if there are several. */
void overlays_print(struct overlays *overlays, FILE *out);

/* ---- Parts of overlays_write() ------------------------------------------- */

/*
 * Match the clock of inputs[index] with the trace's, and say how on stderr.  If no method works,
 * warn, and assume that memtrace's events end with the process (without a recording: with its last
 * runtime event), and that the clock of runtime events is perf's.
 */
struct overlay_clock overlays_match_clock(struct overlays *overlays, size_t index,
					  const struct overlay_recording *recording);

/* ---- Calls seen by Intel PT ---------------------------------------------- */

/*
 * Matches the recorded program's calls into OCaml's runtime-events writer, which
 * Intel PT traced, with the messages that the calls wrote.
 *
 * Every message of a ring comes from one call of caml_ev_begin, caml_ev_end, caml_ev_counter,
 * caml_ev_lifecycle, caml_ev_alloc_flush or caml_runtime_events_user_write, which then calls
 * caml_time_counter for the message's time (runtime/runtime_events.c).  So a thread's calls of both
 * have the kinds of its ring's messages, at the same distances in time.  The shift at which both
 * fit is the offset between the clocks, as precise as PT's timestamps.
 */

/* Calls kept per thread: the latest, since a ring keeps its latest messages too. */
#define OVERLAY_CALLS_KEPT 4096

#define OVERLAY_CALL_KINDS 6

struct overlay_calls {
	const struct name *writers[OVERLAY_CALL_KINDS]; /* borrowed: names of the functions */
	const struct name *time_counter;
	struct overlay_thread_calls {
		int32_t pid, tid;
		int pending; /* kind of the running call; -1: no call */
		size_t count;
		/* A call that writes a message, or the message. */
		struct overlay_call {
			uint64_t time; /* ns: perf's at the call of caml_time_counter; a message's
					  by the ring's clock */
			uint8_t kind;  /* enum runtime_event_kind; USER_UNIT: any of the program */
		} * calls;             /* owned; with room for twice OVERLAY_CALLS_KEPT */
	} * threads;                   /* owned */
	size_t count, room;
	uint64_t resolution; /* ns by which a call's time may be off */
};

/* Start without calls; `names` (borrowed) must be the table of the symbols' names. */
void overlay_calls_init(struct overlay_calls *calls, struct name_table *names);

void overlay_calls_release(struct overlay_calls *calls);

/* Note that a call or jump entered a function of the program; most are ignored. */
void overlay_calls_enter(struct overlay_calls *calls, int32_t pid, int32_t tid, uint64_t time,
			 const struct name *function);

/*
 * Find the offset at which a process's calls fit the messages of its rings, and add
 * the threads of the rings to input->tids, unless the user named them.
 * Returns whether one offset fits, and much better than any other; *clock has it then.
 */
bool overlay_calls_match(struct overlay_clock *clock, const struct overlay_calls *calls,
			 struct overlay_input *input);

/* ---- The order of events in the sideband --------------------------------- */

/*
 * A program's events come after its exec and before its exit.  Each domain of OCaml 5 makes its
 * backup thread just before it reports domain_spawn, and reports domain_terminate before its thread
 * exits (runtime/domain.c: domain_thread_func).  Every pair of a perf record and an event bounds
 * the offset from one side.
 */

/* ns by which the overlay's clock is ahead of perf's: low <= ahead <= high. */
struct overlay_bounds {
	int64_t low, high;
};

/* Returns whether there are bounds from both sides that do not contradict each other. */
bool overlay_sideband(struct overlay_bounds *bounds, const struct timeline *timeline,
		      const struct overlay_input *input);

/*
 * Add the missing threads of rings to input->tids: ring 0 is the main thread's; the forks of backup
 * threads show the others.  The overlay's clock is `ahead` ns ahead of perf's.
 */
void overlay_sideband_tids(struct overlay_input *input, const struct timeline *timeline,
			   int64_t ahead);
