/* SPDX-License-Identifier: MIT */
/*
 * The history of the recording, as perf's side-band records tell it: threads
 * and their names, what code was mapped where, who ran on which CPU, and what
 * was lost.
 *
 * Built in one pass over the file, immutable afterwards, so any number of
 * streams may walk it side by side, each with a cursor of its own.  The order
 * of records in the file does not matter: records are sorted by their time
 * (file order where times are equal).  Everything returned is borrowed and
 * lives as long as the timeline.  Times are ns of perf's clock.
 */
#ifndef DECODER_TIMELINE_TIMELINE_H
#define DECODER_TIMELINE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/error.h"
#include "decoder/mappings/address_space.h"

struct perf_file;
struct timeline;

struct thread_name {
	uint64_t time;    /* valid from here on; 0 for the first */
	const char *text; /* of PERF_RECORD_COMM; any bytes */
};

struct thread {
	int32_t pid, tid;
	uint32_t index; /* dense, in the order of first appearance */
	const struct process *process;
	const struct thread *parent;     /* that forked it; NULL: not seen */
	const struct thread_name *names; /* in time order; may be empty */
	size_t name_count;
	/* FORK and EXIT; if not seen 0, or the first sight of a tid used before, and UINT64_MAX. */
	uint64_t begin, end;
};

/* What is mapped from `begin` on, up to the next epoch of the process. */
struct epoch {
	uint64_t begin;
	bool exec; /* it began with an exec: nothing of the epoch before is left */
	const struct address_space *space;
};

/* The kernel's code changed: from `time` (ns) on, the new bytes are at the address. */
struct code_patch {
	uint64_t time;
	uint64_t address;
	const uint8_t *old_bytes, *new_bytes; /* borrowed; either may be empty */
	uint32_t old_size, new_size;
	uint64_t order; /* among patches of one time; for the caller's use */
};

struct process {
	int32_t pid;
	const struct epoch *epochs; /* in time order, at least one; the first begins at 0 */
	size_t epoch_count;
};

/* From `time` on, `thread` runs on the CPU (tid 0: idle; never NULL). */
struct cpu_switch {
	uint64_t time;
	const struct thread *thread;
	bool stayed;    /* the thread ran nowhere else since it ran here last */
	bool preempted; /* the thread before could have gone on (MISC_SWITCH_OUT_PREEMPT) */
	bool dead;      /* the thread before has ended, says the sched_switch tracepoint */
};

/* A loss of trace data that the kernel reported in the flags of a PERF_RECORD_AUX. */
struct loss {
	uint64_t time;
	int32_t cpu;      /* -1: unknown */
	int32_t pid, tid; /* -1: unknown */
	uint64_t flags;   /* PERF_AUX_FLAG_TRUNCATED, _PARTIAL, _COLLISION and others */
	uint64_t aux_offset, aux_size; /* of the AUX record, in the AUX buffer's own count */
	uint64_t file_offset;          /* of the record */
	uint64_t order;                /* the timeline's own */
};

/*
 * Code that the kernel made at run time came or went: a BPF program, a
 * trampoline of ftrace or kprobes (PERF_RECORD_KSYMBOL).
 */
struct kernel_symbol {
	uint64_t time;       /* ns; 0: it was there when the recording began */
	uint64_t begin, end; /* ip range [begin, end), not empty */
	const char *name;    /* any bytes */
	bool gone;
};

/*
 * Read all side-band records of the file.  Records of unknown types are
 * skipped and counted; damage is warned about and costs only itself.
 * Returns the timeline, owned by the caller; NULL with err filled on failure.
 */
struct timeline *timeline_open(const struct perf_file *file, struct diag *diag, struct error *err);

/*
 * Code that a JIT compiler wrote, as its own file tells: no record of perf does.
 * It lies in a file as if that were mapped there from `time` on.
 */
struct jit_mapping {
	uint64_t time; /* ns, perf's clock */
	int32_t pid;
	uint64_t begin, end; /* ip range [begin, end) */
	uint64_t file_offset;
	const char *path;
};

/*
 * The same with code (`count`, sorted by time) that JIT compilers wrote.
 * Anonymous memory of their processes is then no mapping of its own: it would
 * hide the code in it each time that its protection changes, and perf inject
 * --jit leaves it out, too.
 */
struct timeline *timeline_open_written(const struct perf_file *file, const struct jit_mapping *code,
				       size_t count, struct diag *diag, struct error *err);

/* Release everything.  NULL is allowed. */
void timeline_close(struct timeline *timeline);

/* Returns all threads, `*count` of them, by index. */
const struct thread *const *timeline_threads(const struct timeline *timeline, size_t *count);

/*
 * Returns the thread that had this tid at `time` (tids are reused); the last
 * one before, or the first after, if none lived then; NULL if the tid never
 * appears.
 */
const struct thread *timeline_borrow_thread(const struct timeline *timeline, int32_t tid,
					    uint64_t time);

/* Returns whether a process ran exec after the epoch with space `before`, up to that with `now`. */
bool timeline_ran_exec(const struct process *process, const struct address_space *before,
		       const struct address_space *now);

/*
 * Returns the context switches of one CPU in time order, `*count` of them.  A
 * switch takes effect at the time of the switch-out record that names the next
 * thread (PERF_RECORD_SWITCH_CPU_WIDE, next_prev_pid/tid; perf's
 * intel_pt_context_switch does the same); where only switch-in records exist
 * (PERF_RECORD_SWITCH), at theirs.  ITRACE_START counts as a switch too.  If no
 * event asked for such records, samples of the tracepoint sched_switch tell.
 */
const struct cpu_switch *timeline_switches(const struct timeline *timeline, int32_t cpu,
					   size_t *count);

/*
 * Returns the CPU of which there are switches, by index in ascending order; -1
 * from the last one on.
 */
int32_t timeline_switched_cpu(const struct timeline *timeline, size_t index);

/*
 * Returns the losses of one buffer in time order, `*count` of them: a thread's,
 * or if tid is -1 a CPU's.
 */
const struct loss *timeline_losses(const struct timeline *timeline, int32_t cpu, int32_t tid,
				   size_t *count);

/* Returns what the kernel told of its code made at run time in time order, `*count` of them. */
const struct kernel_symbol *timeline_kernel_symbols(const struct timeline *timeline, size_t *count);

/* Returns the changes of the kernel's code (PERF_RECORD_TEXT_POKE) in time order, `*count` of them.
 */
const struct code_patch *timeline_code_patches(const struct timeline *timeline, size_t *count);

/* Returns all mapped files, `*count` of them, by index. */
const struct mapped_file *const *timeline_files(const struct timeline *timeline, size_t *count);

/* Returns the number of address spaces (their indices are 0 .. n-1). */
size_t timeline_space_count(const struct timeline *timeline);

/* Returns how many records of unknown types were skipped. */
uint64_t timeline_unknown_records(const struct timeline *timeline);

#endif
