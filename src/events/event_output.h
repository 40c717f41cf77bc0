/* SPDX-License-Identifier: MIT */
/*
 * The events that are shown in addition to calls: CPU events of the trace, context switches,
 * samples of other events, losses, the wall clock.
 *
 * FTF shows all of them; lists of slices only the marks among the calls.
 */
#pragma once

#include "base/io/big_array.h"
#include "decoder/cpu_event.h"
#include "decoder/perf_data/perf_file.h"
#include "src/callstack/thread_stacks.h"
#include "src/events/hit_output.h"
#include "src/formats/output_format.h"
#include "src/resolve/resolve.h"
#include "src/select/event_filter.h"
#include "src/slices/event_sink.h"

struct perf_line;

/* ---- Tracks -------------------------------------------------------------- */

/*
 * The tracks of events: one per thread, and one per CPU in a separate group.
 *
 * Perfetto takes the process of a thread from the record of the thread's name, so
 * that is written once, before the thread's first event.
 */

/* Types of data that an event can have: enum cpu_event_evd. */
#define EVD_TYPES 3

/* A thread or a CPU, as the key of a hash. */
struct event_owner {
	const struct thread *thread; /* borrowed; NULL: unknown, or the owner is a CPU */
	int64_t cpu;                 /* EVENT_NO_CPU: the owner is a thread */
};

/* CPUs have numbers of 32 bits. */
#define EVENT_NO_CPU INT64_MIN

/* A CPU and its track; cpu -1: unknown (AUX buffers per thread). */
struct cpu_track {
	int32_t cpu;
	struct event_track track;
	uint64_t ratio;      /* ratio of the last CBR packet; 0 at first */
	uint64_t last_time;  /* ns: of the last event written; times of a track do not decrease */
	bool sleeps;         /* the sleep's slice is open */
	bool waits;          /* an MWAIT asked for a sleep that has not begun */
	uint64_t hints;      /* hints of the MWAIT */
	uint32_t extensions; /* extensions of the MWAIT */
	bool in_guest;       /* the guest's slice is open */
	uint64_t vmcs;       /* VMCS of the last VMCS packet; 0 at first */
	/* From EVD packets, by their type, for the next event: */
	struct evd_value {
		bool known;
		uint64_t value;
	} data[EVD_TYPES], exit[EVD_TYPES];
	int exit_vector; /* vector of the exit that ends the guest's slice; -1 if absent */
	UT_hash_handle hh;
};

struct event_tracks {
	struct event_sink *sink;           /* borrowed */
	const struct timeline *timeline;   /* borrowed */
	const struct event_filter *filter; /* borrowed */
	bool *named;                       /* owned; by thread index */
	struct cpu_track *cpus;            /* owned: hash by cpu */
	uint32_t unknown;                  /* the id of unknown processes and threads */
	uint64_t group;                    /* the process of the CPUs' tracks; 0 at first */
	uint64_t slices;                   /* begun up to now, marks included */
};

/* Returns the track of a thread, whose name is written; NULL: the track of unknown threads. */
struct event_track event_tracks_thread(struct event_tracks *tracks, const struct thread *thread);

/* Returns the track of a CPU, made at first use; borrowed. */
struct cpu_track *event_tracks_cpu(struct event_tracks *tracks, int32_t cpu);

/* Begin a slice. */
void event_tracks_begin(struct event_tracks *tracks, struct event_record *record);

/*
 * Write a mark on a CPU's track: a slice without length, by a begin and an end.  Perfetto nests
 * instants with equal times (SliceTracker::MaybeCloseStack()), which marks of a CPU often have.
 */
void event_tracks_mark(struct event_tracks *tracks, struct cpu_track *cpu,
		       struct event_record *record);

/* Returns the time of an event on the CPU's track, not before the last one's. */
uint64_t cpu_track_time(struct cpu_track *cpu, uint64_t time);

/* The code location of an event, as its arguments. */

/* Returns the code at `ip` at a time in the thread's process (NULL: unknown). */
struct location event_location_find(struct resolver *resolver, const struct thread *thread,
				    uint64_t time, uint64_t ip);

/* Add the arguments "address" and, if known, "function" of `ip` at the event's time. */
void event_location_add(struct event_record *record, struct resolver *resolver,
			const struct thread *thread, uint64_t ip);

/* ---- All events ---------------------------------------------------------- */

/* All pointers are borrowed until event_output_release(). */
struct event_output_input {
	struct event_sink *sink; /* NULL: emit no tracks of events */
	const struct perf_file *file;
	const struct timeline *timeline;
	const struct pt_info *info; /* the clocks */
	const struct event_filter *filter;
	struct thread_stacks *stacks; /* NULL: show no marks among calls */
	struct resolver *resolver;    /* names addresses */
	struct diag *diag;
	bool samples; /* show them */
	struct trace_facts facts;
};

struct event_output {
	struct event_output_input input;
	struct event_tracks tracks;
	struct hit_output hits;
	struct big_array events; /* owned: struct cpu_event, written by event_output_finish() */
	size_t event_count;
	struct symbol ptwrite, abort; /* marks */
	struct state_owner *states;   /* owned: hash of CPUs and threads */
	struct transaction_track {
		const struct thread *thread; /* borrowed; NULL: unknown */
		struct event_track track;
		uint64_t last_time; /* ns */
		bool open;
		UT_hash_handle hh;
	} * transactions;           /* owned: hash by thread */
	struct event_record record; /* the CPU event that is being written */
	uint64_t untimed; /* CPU events before any time was known, or with an impossible one */
	/* PEBS via PT: */
	struct pebs_record *records; /* owned: hash by CPU */
	struct counter_use *uses;    /* owned, sorted: which counter was which event's */
	size_t use_count, use_room;
	const struct perf_attr *only; /* borrowed: the only event with output into the trace */
	bool listed;                  /* the events are */
};

void event_output_init(struct event_output *output, const struct event_output_input *input,
		       struct name_table *names);

/* Add an event of kind BRANCH_CPU_EVENT; the events of a stream must come in order of time. */
void event_output_add(struct event_output *output, const struct branch_event *event);

/*
 * Write the events of the trace and of other records.  The trace is from `begin` to `end` (ns; both
 * 0: nothing with a time was decoded).  If it is `untimed`, the decoded events have no times, so
 * records with a time are left out, with a warning.  Hits are counted in any case.  Nothing else
 * may use the sink meanwhile.
 */
void event_output_finish(struct event_output *output, uint64_t begin, uint64_t end, bool untimed);

void event_output_release(struct event_output *output);

/* ---- CPU events ---------------------------------------------------------- */

/*
 * Write a CPU event of the trace (decoder/cpu_event.h); the events of a CPU come in order of time:
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
void cpu_event_write(struct event_output *output, const struct cpu_event *event);

/* The trace ends at `time` (ns): end the open slices there, with a note. */
void cpu_events_finish(struct event_output *output, uint64_t time);

/* Returns the MHz of a core by CBR's ratio, as perf's cbr2khz(); 0: the file has no clock. */
uint32_t core_clock_mhz(const struct pt_info *info, uint64_t ratio);

/*
 * Add a CPU_EVENT_PEBS_ITEM, or write a CPU_EVENT_PEBS: a sample that the processor wrote into the
 * trace (PEBS via PT), as instants of the thread.
 *
 * Each is a record of blocks (BBP) of values (BIP).  The first instant has the name of the
 * event, its code location and its memory access; further ones at the same time have the
 * registers, the vector registers and the last branches, if the record has them.
 *
 * Sources for blocks and values: SDM volume 3, "PEBS output to Intel Processor Trace", and
 * perf (tools/perf/util/intel-pt-decoder/intel-pt-decoder.h, struct intel_pt_blk_items).
 */
void pebs_events_add(struct event_output *output, const struct cpu_event *event);

void pebs_events_release(struct event_output *output);

/* ---- Hits and perf's records --------------------------------------------- */

/*
 * Show the chosen hits of a recording (decoder/timeline/hits.h), in the order of time; of `input`
 * only the timeline, the filter, the clock (`info`) and the resolver are needed.  Hits of
 * magic_trace_stop_indicator() have the program's arguments, if the registers di and si were
 * recorded (magic-trace's breakpoint_stubs.c).
 */
void hit_events_show(const struct event_output_input *input, struct hit_output *output);

/*
 * Show a line of kind PERF_LINE_HIT; `location` is its code location.  The values are the fields',
 * "(4010) argc=1 name=\"x\"".  Text of another form becomes one value.
 */
void hit_events_show_line(const struct perf_line *line, const struct location *location,
			  struct hit_output *output);

/* Write perf's own records, and the wall clock of `begin` (ns; 0: of the first record). */
void record_events_write(struct event_output *output, uint64_t begin);

/* ---- --counters=TIME ----------------------------------------------------- */

/*
 * The activity of each thread and each CPU in each stretch of that time:
 * instructions and calls a second, instructions per cycle, taken branches per instruction.
 *
 * Every instruction and call is in exactly one stretch, the stretch of the event that reports it,
 * so the sum of a counter times TIME is the thread's total.
 */
struct period_counters {
	uint64_t length;                    /* ns; 0: nothing is counted */
	struct counted_owner *owners;       /* owned: hash of threads and CPUs */
	struct counted_owner *thread, *cpu; /* borrowed: of the last event */
	struct big_array stretches;         /* owned: struct counted_stretch, of all owners */
	size_t count;
};

/* Count branches, counts and gaps from `event`, in order of time. */
void period_counters_add(struct period_counters *counters, const struct branch_event *event,
			 size_t count);

/* Write the counters, until `output` is full.  Nothing else may use the tracks' sink. */
void period_counters_write(struct period_counters *counters, struct event_tracks *tracks,
			   const struct output *output);

void period_counters_release(struct period_counters *counters);
