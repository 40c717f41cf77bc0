/* SPDX-License-Identifier: MIT */
/*
 * The history of the recording, from perf's side-band records: threads and
 * their names, mapped code, the threads that ran on each CPU, and losses.
 *
 * Built in one pass over the file, immutable afterwards, so that any number of streams may read it
 * at the same time, each with a cursor of its own.  The order of records in the file does not
 * matter: records are sorted by their time (file order where times are equal).  Everything returned
 * is borrowed and lives as long as the timeline.  Times are ns of perf's clock.
 */
#ifndef DECODER_TIMELINE_TIMELINE_H
#define DECODER_TIMELINE_TIMELINE_H

#include "decoder/timeline/timeline_types.h"

struct perf_file;
struct timeline;
struct hits;
struct trace_pauses;

/*
 * Read all side-band records of the file.  `code` (`count`, sorted by time) is the code that JIT
 * compilers wrote.  Anonymous memory of their processes is no mapping of its own then: it would
 * hide the code each time that its protection changes, and perf inject --jit leaves it out, too.
 * Records of unknown types are skipped and counted; damaged records are warned about and skipped.
 * Returns the timeline, owned by the caller; never NULL.
 */
struct timeline *timeline_open(const struct perf_file *file, const struct perf_mmap *code,
			       size_t count, struct diag *diag);

/* Release everything.  NULL is allowed. */
void timeline_close(struct timeline *timeline);

/* Returns all threads, `*count` of them, by index. */
const struct thread *const *timeline_threads(const struct timeline *timeline, size_t *count);

/* Returns the highest id of a process or thread, also of one that was only woken; 0: no id. */
int32_t timeline_highest_id(const struct timeline *timeline);

/*
 * Returns the thread that had this tid at `time` (tids are reused); the last one before, or the
 * first after, if no such thread lived then; NULL if the tid never appears.
 */
const struct thread *timeline_borrow_thread(const struct timeline *timeline, int32_t tid,
					    uint64_t time);

/* Returns whether a process ran exec after the epoch with space `before`, up to that with `now`. */
bool timeline_ran_exec(const struct process *process, const struct address_space *before,
		       const struct address_space *now);

/*
 * Returns the context switches of one CPU in time order, `*count` of them.  A switch takes effect
 * at the time of the switch-out record that names the next thread (PERF_RECORD_SWITCH_CPU_WIDE,
 * next_prev_pid/tid; perf's intel_pt_context_switch does the same); where only switch-in records
 * exist (PERF_RECORD_SWITCH), at theirs.  ITRACE_START counts as a switch too.  If no event asked
 * for such records, samples of the tracepoint sched_switch are used.
 */
const struct cpu_switch *timeline_switches(const struct timeline *timeline, int32_t cpu,
					   size_t *count);

/*
 * Returns when (ns) a thread that ran on a CPU at `time` had come there; 0: no switch records say
 * so.  Samples of trace, which are used instead of switches, do not.
 */
uint64_t timeline_run_begin(const struct timeline *timeline, const struct thread *thread,
			    int32_t cpu, uint64_t time);

/*
 * Find the longest time in [begin, end) (ns) in which a thread was off CPU by the records of
 * switches, with what the CPU did and who woke the thread.  Returns false if there is none.
 */
bool timeline_off_cpu(const struct timeline *timeline, int32_t tid, uint64_t begin, uint64_t end,
		      struct off_cpu *off);

/* Returns CPU number `index` of those with switches, in ascending order; -1 past the last. */
int32_t timeline_switched_cpu(const struct timeline *timeline, size_t index);

/* Returns the losses of a buffer, `*count` of them in time order: a CPU's if tid is -1. */
const struct loss *timeline_losses(const struct timeline *timeline, int32_t cpu, int32_t tid,
				   size_t *count);

/* Returns the registrations of code that the kernel generated in time order, `*count` of them. */
const struct kernel_symbol *timeline_kernel_symbols(const struct timeline *timeline, size_t *count);

/* Returns the changes of the kernel's code (TEXT_POKE) in time order, `*count` of them. */
const struct code_patch *timeline_code_patches(const struct timeline *timeline, size_t *count);

/* Returns the pauses of the trace (trace_pauses_find()), or NULL. */
const struct trace_pauses *timeline_pauses(const struct timeline *timeline);

/* Returns the hits of breakpoints and probes, in order of time; they need the file. */
const struct hits *timeline_hits(const struct timeline *timeline);

/* Returns all mapped files, `*count` of them, by index. */
const struct mapped_file *const *timeline_files(const struct timeline *timeline, size_t *count);

/* Returns the number of address spaces (their indices are 0 .. n-1). */
size_t timeline_space_count(const struct timeline *timeline);

/* Returns the number of skipped records of unknown types. */
uint64_t timeline_unknown_records(const struct timeline *timeline);

#endif
