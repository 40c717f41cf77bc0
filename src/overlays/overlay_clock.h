/* SPDX-License-Identifier: MIT */
/*
 * The offset between an overlay's clock and the trace's.
 *
 * Runtime events have times of CLOCK_MONOTONIC, memtrace of the wall clock, perf of
 * the scheduler's clock; no two of them agree, and perf does not record how they
 * differ.  overlay_clock_choice_recording() has the sources of the offset.
 */
#ifndef SRC_OVERLAYS_OVERLAY_CLOCK_H
#define SRC_OVERLAYS_OVERLAY_CLOCK_H

#include "decoder/aux/auxtrace.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/timeline/timeline.h"
#include "src/overlays/overlay_input.h"

enum overlay_clock_method {
	OVERLAY_CLOCK_OWN = 0,  /* the trace's clock is the overlay's own */
	OVERLAY_CLOCK_EXPLICIT, /* --clock-offset */
	OVERLAY_CLOCK_SYNC,     /* --clock-sync */
	OVERLAY_CLOCK_RECORDED, /* perf used a clock of the system, and recorded which */
	OVERLAY_CLOCK_PT,       /* calls of the program into the runtime */
	OVERLAY_CLOCK_SIDEBAND, /* forks and exits bound it */
	OVERLAY_CLOCK_ASSUMED,
};

struct overlay_clock {
	enum overlay_clock_method method;
	int64_t offset;       /* ns: the trace's time less the overlay's */
	uint64_t uncertainty; /* ns, of the offset; UINT64_MAX: unknown */
};

/* Returns the name of a method, for the user. */
const char *overlay_clock_method_name(enum overlay_clock_method method);

/*
 * Print "OVERLAY: clock: ..." with the method and the uncertainty.  `path` is the overlay's file.
 */
void overlay_clock_print(const struct overlay_clock *clock, const char *path, FILE *out);

/* Returns an overlay's time (ns of its clock) on the trace's clock, not before 0. */
static inline uint64_t overlay_clock_time(const struct overlay_clock *clock, uint64_t time)
{
	uint64_t moved = time + (uint64_t)clock->offset;

	if (clock->offset < 0)
		return time < (uint64_t)-clock->offset ? 0 : moved;
	return moved < time || moved > INT64_MAX ? INT64_MAX : moved;
}

/* The user's information on the clocks of a run. */
struct overlay_clocks {
	struct clock_offsets offsets;
	/* Clocks read at the same time: a line of `ptrace2ftf clock-sync`. */
	struct overlay_sync {
		uint64_t tsc;       /* ticks; 0: not on this machine */
		int64_t mono, real; /* ns: CLOCK_MONOTONIC, CLOCK_REALTIME */
	} * syncs;                  /* owned; lines of --clock-sync */
	size_t sync_count;
};

/*
 * Read the lines "tsc=N mono=N real=N" of a file; other lines are skipped.
 * Returns 0; -1 with err filled: not readable, or no such line.
 */
int overlay_clocks_read(struct overlay_clocks *clocks, const char *path, struct error *err);

void overlay_clocks_release(struct overlay_clocks *clocks);

/* Read the clocks of this machine at the same time: the fastest of a few tries. */
void overlay_sync_now(struct overlay_sync *sync);

/* Matches an overlay's clock with the trace's in the best of the possible ways. */

/* The recording below the overlays; all borrowed. */
struct overlay_recording {
	const struct perf_file *file;
	const struct timeline *timeline;
	const struct pt_info *info;
	const struct overlay_calls *calls;
};

/*
 * Match the clock of an overlay with perf's, in the first of these ways that is
 * possible: --clock-offset, --clock-sync, perf's use of a system clock, calls seen
 * by PT, the order of forks and exits.  If none is, warn, and assume that memtrace's
 * events end with the process, and that the clock of runtime events is perf's.
 */
struct overlay_clock overlay_clock_choice_recording(const struct overlay_clocks *clocks,
						    struct overlay_input *input,
						    const struct overlay_recording *recording,
						    struct diag *diag);

/*
 * Returns the wall-clock time, ns since 1970, of the time 0 of perf's clock, by
 * --clock-offset, --clock-sync, or perf's own record of it; or WALL_BASE_UNKNOWN.
 */
uint64_t overlay_clock_wall(const struct overlay_clocks *clocks,
			    const struct overlay_recording *recording);

/*
 * The same without a recording, for the clock of the runtime events, or of memtrace if
 * there are none.
 */
uint64_t overlay_clock_wall_alone(const struct overlay_clocks *clocks,
				  const struct overlay_input *inputs, size_t count);

/*
 * Match the clock of inputs[index] with that of the runtime events, if there are any,
 * by --clock-offset or --clock-sync; else warn, and assume that memtrace's events end
 * with the last runtime event of their process.
 */
struct overlay_clock overlay_clock_choice_alone(const struct overlay_clocks *clocks,
						const struct overlay_input *inputs, size_t count,
						size_t index, struct diag *diag);

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

struct overlay_thread_calls {
	int32_t pid, tid;
	int pending;  /* kind of the call that runs; -1: none */
	size_t count; /* of all calls; the latest are kept */
	/* A call that writes a message, or the message. */
	struct overlay_call {
		uint64_t time; /* ns: of perf, when caml_time_counter was called; of the ring's
				  clock */
		uint8_t kind;  /* enum runtime_event_kind; of the program's events RUNTIME_USER_UNIT
				*/
	} * calls;             /* owned; a ring of OVERLAY_CALLS_KEPT */
};

struct overlay_calls {
	const struct name *writers[OVERLAY_CALL_KINDS]; /* borrowed: names of the functions */
	const struct name *time_counter;
	struct overlay_thread_calls *threads; /* owned */
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

/*
 * Bounds how far an overlay's clock is ahead of perf's by the order of events.
 *
 * A program's events come after its exec and before its exit.  Each domain of OCaml 5 makes its
 * backup thread just before it reports domain_spawn, and reports domain_terminate before its thread
 * exits (runtime/domain.c: domain_thread_func).  Every such pair of a record of perf and an event
 * bounds the offset from one side.
 */

/* ns by which the overlay's clock is ahead of perf's: low <= ahead <= high. */
struct overlay_bounds {
	int64_t low, high;
};

/*
 * Bound the clock of an overlay by the history of its process.
 * Returns whether there are bounds from both sides and they do not contradict each other.
 */
bool overlay_sideband(struct overlay_bounds *bounds, const struct timeline *timeline,
		      const struct overlay_input *input);

/*
 * Find the threads of the rings that have none in input->tids, and add them: ring 0
 * is the main thread's, others by the forks of backup threads.  The overlay's clock
 * is `ahead` ns ahead of perf's.
 */
void overlay_sideband_tids(struct overlay_input *input, const struct timeline *timeline,
			   int64_t ahead);

#endif
