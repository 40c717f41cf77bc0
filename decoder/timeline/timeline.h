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
#ifndef DECODER_TIMELINE_TIMELINE_H
#define DECODER_TIMELINE_TIMELINE_H

#include "decoder/timeline/timeline_types.h"

struct perf_file;
struct timeline;
struct hits;
struct trace_pauses;

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

/* Returns all `*count` threads, by index. */
const struct thread *const *timeline_threads(const struct timeline *timeline, size_t *count);

/* Returns the highest id of a process or thread, also of threads that were only woken; or 0. */
int32_t timeline_highest_id(const struct timeline *timeline);

/*
 * Returns the thread that had a tid at `time` (tids are reused); if no such thread existed then,
 * the last one before or the first one after; NULL if the tid never appears.
 */
const struct thread *timeline_borrow_thread(const struct timeline *timeline, int32_t tid,
					    uint64_t time);

/* Returns whether a process ran exec after the epoch of `before`, up to the epoch of `now`. */
bool timeline_ran_exec(const struct process *process, const struct address_space *before,
		       const struct address_space *now);

/*
 * Returns the `*count` context switches of one CPU in time order. A switch takes effect at the time
 * of the switch-out record that names the next thread (PERF_RECORD_SWITCH_CPU_WIDE,
 * next_prev_pid/tid, like perf's intel_pt_context_switch()), else of the switch-in record
 * (PERF_RECORD_SWITCH). ITRACE_START counts as a switch. If switch records were not requested,
 * samples of the tracepoint sched_switch are used.
 */
const struct cpu_switch *timeline_switches(const struct timeline *timeline, int32_t cpu,
					   size_t *count);

/*
 * Returns the begin (ns) of a thread's run on a CPU at `time`; 0: not known from switch records.
 * Samples with trace data, used instead of switches, do not show it.
 */
uint64_t timeline_run_begin(const struct timeline *timeline, const struct thread *thread,
			    int32_t cpu, uint64_t time);

/*
 * Find the longest time in [begin, end) (ns) in which a thread was off CPU, by switch records, with
 * the thread that ran instead and the waker. Returns false if there is none.
 */
bool timeline_off_cpu(const struct timeline *timeline, int32_t tid, uint64_t begin, uint64_t end,
		      struct off_cpu *off);

/* Returns the `index`-th CPU with switches, in ascending order; -1 after the last. */
int32_t timeline_switched_cpu(const struct timeline *timeline, size_t index);

/* Returns the `*count` losses of a buffer in time order. tid -1: of the CPU's buffer. */
const struct loss *timeline_losses(const struct timeline *timeline, int32_t cpu, int32_t tid,
				   size_t *count);

/* Returns the `*count` registrations of code that the kernel generated, in time order. */
const struct kernel_symbol *timeline_kernel_symbols(const struct timeline *timeline, size_t *count);

/* Returns the `*count` changes of the kernel's code (TEXT_POKE), in time order. */
const struct code_patch *timeline_code_patches(const struct timeline *timeline, size_t *count);

/* Returns the pauses of the trace (trace_pauses_find()), or NULL. */
const struct trace_pauses *timeline_pauses(const struct timeline *timeline);

/* Returns the hits of breakpoints and probes, in order of time. They refer to the file. */
const struct hits *timeline_hits(const struct timeline *timeline);

/* Returns all `*count` mapped files, by index. */
const struct mapped_file *const *timeline_files(const struct timeline *timeline, size_t *count);

/* Returns the number of address spaces (their indices are 0 .. n-1). */
size_t timeline_space_count(const struct timeline *timeline);

/* Returns the number of skipped records of unknown types. */
uint64_t timeline_unknown_records(const struct timeline *timeline);

#endif
