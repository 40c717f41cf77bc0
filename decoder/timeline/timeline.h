/* SPDX-License-Identifier: MIT */
/*
 * The history of the recording, from perf's sideband records: threads and their names, mapped code,
 * the threads that ran on each CPU, and losses.
 *
 * The timeline is built in one pass over the file and immutable afterwards, so any number of
 * streams can read it at the same time, each with its own cursor. Records are sorted by time, then
 * by file order, so their order in the file does not matter. All results are borrowed and live as
 * long as the timeline. Times are ns of perf's clock.
 */
#pragma once

#include "base/tables/hash.h"
#include "decoder/timeline/hits.h"
#include "decoder/timeline/thread_table.h"
#include "decoder/timeline/trace_pauses.h"
#include "decoder/timeline/tracepoint_formats.h"

/* Read by its users; only the functions that build it change it. */
struct timeline {
	struct arena arena;
	struct file_table files;        /* all mapped files, by index */
	struct process_table processes; /* `space_count`: indices of spaces are below it */
	struct thread_table threads;    /* all threads, by index */
	struct cpu_switch *switches;    /* owned; by CPU, then time; while building: by time */
	size_t switch_count, switch_room;
	struct trace_pauses pauses;
	struct hits hits;    /* breakpoints and probes, in order of time */
	struct loss *losses; /* owned; sorted by owner, then time */
	size_t loss_count, loss_room;
	struct history history;        /* views of these, for the decoder; set at the end */
	uint64_t losses_reported;      /* AUX records of losses, each with a warning */
	struct kernel_symbol *symbols; /* owned: code that the kernel generated, in time order */
	size_t symbol_count, symbol_room;
	struct code_patch *patches; /* owned: changes of the kernel's code, in time order */
	size_t patch_count, patch_room;
	struct sched_points points;    /* the scheduler's tracepoints of the recording */
	struct thread_waking *wakings; /* owned; by thread, then time */
	size_t waking_count, waking_room;
	int32_t highest_id;       /* the highest in `points`: a woken thread can lack records */
	uint64_t unknown_records; /* skipped: of unknown types */
	/* If there are no switch records, switches come from the next best source: */
	bool tracepoint_switches; /* sched_switch tracepoints */
	bool sample_switches;     /* samples with trace data */
	bool has_switches;        /* the recording has all switches: records, or tracepoints */
	/* Owned: times off CPU by tid, then time; found at the first request, by one thread. */
	struct off_times {
		struct off_time {
			int32_t tid;
			uint64_t begin, end; /* ns; end UINT64_MAX: the thread ran no more */
			uint64_t before;     /* ns of the thread's earlier ones */
			int32_t cpu;         /* the CPU that it left */
			bool leaves;         /* while they are found: false for a begin to run */
			bool preempted;
		} * times;
		size_t count, room;
		bool found;
	} * off;
	/* While building: */
	struct diag *diag;            /* borrowed */
	const struct perf_file *file; /* borrowed */
	bool has_points;              /* any scheduler tracepoint is recorded */
	/* Time of a CPU's last sample with trace data. */
	struct sampled_cpu {
		int32_t cpu;
		uint64_t time; /* ns */
		UT_hash_handle hh;
	} * sampled_cpus; /* hash */
	uint64_t lost_records, lost_samples;
	struct perf_record *thread_maps; /* owned */
	size_t thread_map_count, thread_map_room;
	const struct perf_mmap *code; /* borrowed */
	size_t code_count, code_applied;
	int32_t *writers; /* owned: the processes of `code`, each once */
	size_t writer_count, writer_room;
};

/*
 * Read all sideband records of the file. `code` (`count`, sorted by time) is the code of JIT
 * compilers. Like perf inject --jit, ignores mappings of anonymous memory in their processes: such
 * a mapping, which every change of its protection repeats, would hide the code. Counts and skips
 * records of unknown types; skips damaged records with a warning. Returns the timeline, owned by
 * the caller; never NULL.
 */
struct timeline *timeline_open(const struct perf_file *file, const struct perf_mmap *code,
			       size_t count, struct diag *diag);

/* Release everything.  NULL is allowed. */
void timeline_close(struct timeline *timeline);

/* Returns the highest id of a process or thread, also of threads that were only woken; or 0. */
int32_t timeline_highest_id(const struct timeline *timeline);

/*
 * Returns the thread that had a tid at `time` (tids are reused); if no such thread existed then,
 * the last one before or the first one after; NULL if the tid never appears.
 */
const struct thread *timeline_borrow_thread(const struct timeline *timeline, int32_t tid,
					    uint64_t time);

/*
 * Returns the epoch of a process's first exec after the epoch of `before`, up to the epoch of
 * `now`; NULL if there is none.
 */
const struct epoch *timeline_first_exec(const struct process *process,
					const struct address_space *before,
					const struct address_space *now);

/*
 * Returns the begin (ns) of a thread's run on a CPU at `time`; 0: not known from switch records.
 * Samples with trace data, used instead of switches, do not show it.
 */
uint64_t timeline_run_begin(const struct timeline *timeline, const struct thread *thread,
			    int32_t cpu, uint64_t time);

/* Returns the CPU of a thread at `time`, by switch records; -1: unknown. NULL is allowed. */
int32_t timeline_cpu_at(const struct timeline *timeline, int32_t tid, uint64_t time);

/*
 * Find the longest time in [begin, end) (ns) in which a thread was off CPU, by switch records, with
 * the thread that ran instead and the waker. Returns false if there is none.
 */
bool timeline_off_cpu(const struct timeline *timeline, int32_t tid, uint64_t begin, uint64_t end,
		      struct off_cpu *off);

/* Returns the ns of [begin, end) in which a thread was off CPU, by the same records. */
uint64_t timeline_off_ns(const struct timeline *timeline, int32_t tid, uint64_t begin,
			 uint64_t end);

/* ---- Changes by sideband records, for timeline.c -------------------------- */

/* Returns whether records of a type are part of the history; only some samples are. */
bool timeline_has_handler(uint32_t type);

/* Apply a record of such a type. Records must be in the order of time. */
void timeline_apply_record(struct timeline *tl, const struct perf_record *record);

/* List the processes of `code`, before any record is applied. */
void timeline_list_writers(struct timeline *tl);

/* Map JIT code written before `time` (ns). */
void timeline_apply_code(struct timeline *tl, uint64_t time);

/* Name threads of THREAD_MAP records that have no name from other records. */
void timeline_name_threads(struct timeline *tl);
