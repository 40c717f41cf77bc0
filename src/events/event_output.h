/* SPDX-License-Identifier: MIT */
/*
 * The events that are shown beside the calls: CPU events of the trace, context
 * switches, samples of other events, losses, the wall clock.
 *
 * FTF shows all of them; lists of slices only the marks among the calls.
 */
#ifndef SRC_EVENTS_EVENT_OUTPUT_H
#define SRC_EVENTS_EVENT_OUTPUT_H

#include "base/io/big_array.h"
#include "decoder/cpu_event.h"
#include "decoder/perf_data/perf_file.h"
#include "src/callstack/thread_stacks.h"
#include "src/events/event_tracks.h"
#include "src/events/hit_output.h"
#include "src/formats/output_format.h"

/*
 * Writes the CPU events of the trace (decoder/cpu_event.h):
 *
 *   frequency    a counter of the CPU
 *   sleep, wake  a slice on the CPU's track, with what MWAIT asked for
 *   transaction  a slice on a track beside the thread's, with how it ended
 *   guest        a slice on the CPU's track, from entry to exit
 *   control      a mark on the CPU's track: the event and its vector
 *
 * Values that the program wrote (CPU_EVENT_PTWRITE) are shown among its calls
 * (thread_stacks_mark()).
 */

struct transaction_track;

struct cpu_event_sink {
	struct event_tracks *tracks;            /* borrowed */
	const struct pt_info *info;             /* borrowed: the clocks */
	struct transaction_track *transactions; /* owned: hash by thread */
	uint64_t untimed; /* events before any time was known, or with an impossible one: not
			   * shown */
};

/* Both are borrowed until cpu_event_sink_release(). */
void cpu_event_sink_init(struct cpu_event_sink *sink, struct event_tracks *tracks,
			 const struct pt_info *info);

/* Write an event; those of a CPU come in order of time. */
void cpu_event_sink_add(struct cpu_event_sink *sink, const struct cpu_event *event);

/* The trace ends at `time` (ns): end the open slices there, with a note. */
void cpu_event_sink_finish(struct cpu_event_sink *sink, uint64_t time);

void cpu_event_sink_release(struct cpu_event_sink *sink);

/*
 * Returns the MHz of a core whose clock is `ratio` bus clocks, as perf
 * computes it (tools/perf/util/intel-pt.c, cbr2khz); 0: the file has no clock.
 */
uint32_t core_clock_mhz(const struct pt_info *info, uint64_t ratio);

/*
 * Samples that the processor wrote into the trace (PEBS via PT), as instants of the thread.
 *
 * Each is a record of blocks (BBP) of values (BIP).  The first instant has the name of the
 * event, its code location and its memory access; further ones at the same time have the
 * registers, the vector registers and the last branches, if the record has them.
 *
 * Sources for blocks and values: SDM volume 3, "PEBS output to Intel Processor Trace", and
 * perf (tools/perf/util/intel-pt-decoder/intel-pt-decoder.h, struct intel_pt_blk_items).
 */

struct counter_use;
struct pebs_record;

struct pebs_events {
	struct event_tracks *tracks;  /* borrowed */
	const struct perf_file *file; /* borrowed */
	const struct pt_info *info;   /* borrowed: the clock */
	struct resolver *resolver;    /* borrowed: names the addresses */
	struct pebs_record *records;  /* owned: hash by CPU */
	struct counter_use *uses;     /* owned, sorted: which counter was which event's */
	size_t use_count, use_room;
	const struct perf_attr *only; /* borrowed: the only event with output into the trace */
	bool listed;                  /* the events are */
};

/*
 * Add a CPU_EVENT_PEBS_ITEM, or a CPU_EVENT_PEBS, which is written.  The borrowed members are
 * set, the others zero at first.
 */
void pebs_events_add(struct pebs_events *events, const struct cpu_event *event);

void pebs_events_release(struct pebs_events *events);

/*
 * The state of CPUs and threads where the selected time begins: a sleep, a guest, a
 * transaction, a frequency that began before it.  The last event of each is kept,
 * unless its end came too, and emitted at the beginning of that time.
 */

struct state_owner;

struct initial_state {
	uint64_t begin;             /* ns: of the selected time */
	struct state_owner *owners; /* owned: hash of CPUs and threads */
};

/* Returns whether events of this kind begin or end a state. */
bool initial_state_is_state(enum cpu_event_kind kind);

/* Keep or drop a state by an event of it; those of a CPU come in order of time. */
void initial_state_update(struct initial_state *initial, const struct cpu_event *event);

/* Emit the states of an event's CPU and thread, if they were not emitted yet. */
void initial_state_emit(struct initial_state *initial, const struct cpu_event *event,
			struct cpu_event_sink *sink);

/* Emit all states that were not emitted yet. */
void initial_state_emit_all(struct initial_state *initial, struct cpu_event_sink *sink);

void initial_state_release(struct initial_state *initial);

struct perf_line;
struct resolver;

/* All is borrowed until event_output_release(). */
struct event_output_input {
	struct ftf_writer *writer; /* NULL: write no tracks of events */
	const struct perf_file *file;
	const struct timeline *timeline;
	const struct pt_info *info;
	const struct event_filter *filter;
	struct thread_stacks *stacks; /* NULL: leave the marks among calls out */
	struct resolver *resolver;
	struct diag *diag;
	bool samples; /* show them */
	struct trace_facts facts;
};

/*
 * Show the chosen hits of a recording (decoder/timeline/hits.h), in the order of time; of `input`
 * only the timeline, the filter, the clock (`info`) and the resolver are needed.  Those of
 * magic_trace_stop_indicator() have the program's arguments, if the registers di and si were
 * recorded (magic-trace's breakpoint_stubs.c).
 */
void hit_events_show(const struct event_output_input *input, struct hit_output *output);

/*
 * Show a line of kind PERF_LINE_HIT; `location` is its code location.  The values are the fields',
 * "(4010) argc=1 name=\"x\"".  A text of another form becomes one value.
 */
void hit_events_show_line(const struct perf_line *line, const struct location *location,
			  struct hit_output *output);

struct event_output {
	struct event_output_input input;
	struct event_tracks tracks;
	struct cpu_event_sink sink;
	struct pebs_events pebs;
	struct initial_state initial;
	struct hit_output hits;
	struct big_array events; /* owned: struct cpu_event, written by event_output_finish() */
	size_t event_count;
	struct symbol ptwrite, abort; /* marks */
};

void event_output_init(struct event_output *output, const struct event_output_input *input,
		       struct name_table *names);

/* Add an event of kind BRANCH_CPU_EVENT; those of a stream come in order of time. */
void event_output_add(struct event_output *output, const struct branch_event *event);

/*
 * Write the events of the trace and of other records.  The trace is from `begin` to
 * `end` (ns; both 0: nothing with a time was decoded).  If it is `untimed`, the decoded
 * events have no times, so records with a time are left out, with a warning.  Hits are
 * counted in any case.  Nothing else may use the writer now.
 */
void event_output_finish(struct event_output *output, uint64_t begin, uint64_t end, bool untimed);

void event_output_release(struct event_output *output);

/*
 * Write perf's own records: samples, wakeups, losses, context switches, and the wall clock of
 * `begin` (ns; 0: of the first record).
 */
void record_events_write(struct event_output *output, uint64_t begin);

/* Returns the number of context switches, all of which record_events_write() would write. */
uint64_t record_events_count_switches(const struct timeline *timeline,
				      const struct perf_file *file);

/*
 * --counters=TIME: the activity of each thread and each CPU in each stretch of that time:
 * instructions and calls a second, instructions per cycle, taken branches per instruction.
 *
 * Every instruction and call is in exactly one stretch, that of the event which reports it, so
 * the sum of a counter times TIME is the thread's total.
 */

struct counted_owner;

struct period_counters {
	uint64_t length;                    /* ns; 0: nothing is counted */
	struct counted_owner *owners;       /* owned: hash of threads and CPUs */
	struct counted_owner *thread, *cpu; /* borrowed: of the last event */
	struct big_array stretches;         /* owned: struct counted_stretch, of all owners */
	size_t count;
};

/* Count branches and gaps, in order of time. */
void period_counters_add(struct period_counters *counters, const struct branch_event *events,
			 size_t count);

/* Write the counters, until `output` is full.  Nothing else may use the tracks' writer. */
void period_counters_write(struct period_counters *counters, struct event_tracks *tracks,
			   const struct output *output);

void period_counters_release(struct period_counters *counters);

#endif
