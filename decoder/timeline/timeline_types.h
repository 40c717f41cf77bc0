/* SPDX-License-Identifier: MIT */
/* The structs of a recording's history: threads, processes, context switches, losses. */
#ifndef DECODER_TIMELINE_TIMELINE_TYPES_H
#define DECODER_TIMELINE_TIMELINE_TYPES_H

#include "decoder/mappings/address_space.h"

struct thread {
	int32_t pid, tid;
	uint32_t index; /* dense, in the order of first appearance */
	const struct process *process;
	const struct thread *parent; /* forked it; NULL: not seen */
	const struct thread_name {
		uint64_t time;    /* valid from here on; 0 for the first */
		const char *text; /* of PERF_RECORD_COMM; any bytes */
	} * names;                /* in time order; may be empty */
	size_t name_count;
	/* FORK and EXIT; if not seen 0, or the first sight of a tid used before, and UINT64_MAX. */
	uint64_t begin, end;
};

struct process {
	int32_t pid;
	/* The mappings from `begin` up to the next epoch of the process. */
	const struct epoch {
		uint64_t begin;
		bool exec; /* it began with an exec: nothing of the epoch before is left */
		const struct address_space *space;
		size_t next_exec; /* index of the next epoch that began with an exec; 0 if absent */
	} * epochs;               /* in time order, at least one; the first begins at 0 */
	size_t epoch_count;
};

/* At and after `time`, `thread` runs on the CPU (tid 0: idle; never NULL). */
struct cpu_switch {
	uint64_t time;
	const struct thread *thread;
	int32_t cpu;
	bool stayed;    /* the thread ran nowhere else since it ran here last */
	bool preempted; /* the thread before was still runnable (MISC_SWITCH_OUT_PREEMPT) */
	bool dead;      /* the thread before has ended (of the tracepoint sched_switch) */
	bool exec;      /* an exec gave this thread's tid to the thread before */
	uint64_t order; /* of the record, for sorting */
};

/* A thread became runnable. */
struct thread_waking {
	uint64_t time;
	int32_t tid;
	int32_t waker; /* the tid of the thread that did it; 0: an interrupt */
};

/* A time in which a thread does not run. */
struct off_cpu {
	uint64_t begin, end;          /* ns */
	int32_t cpu;                  /* that it left */
	bool preempted;               /* it was still runnable */
	const struct thread *instead; /* ran on the CPU longest meanwhile; NULL: none is known */
	uint64_t instead_ns;
	const struct thread_waking *waking; /* NULL: not recorded */
};

/* A loss of trace data that the kernel reported in the flags of a PERF_RECORD_AUX. */
struct loss {
	uint64_t time;
	int32_t cpu;      /* -1: unknown */
	int32_t pid, tid; /* -1: unknown */
	uint64_t flags;   /* PERF_AUX_FLAG_TRUNCATED, _PARTIAL, _COLLISION and others */
	uint64_t aux_offset, aux_size; /* of the AUX record, in the AUX buffer's own count */
	uint64_t file_offset;          /* of the record */
	uint64_t order;                /* of the record, for sorting */
};

/*
 * The context switches of each CPU.  Filled while a timeline is built, with the switches of all
 * CPUs in the order of time, and part of it afterwards.
 */
struct switch_table {
	struct cpu_switch *switches; /* owned; after switch_table_finish() by CPU, then time */
	size_t count, room;
};

/* Add a copy, whose `order` and `stayed` are set later.  A zeroed table is empty. */
void switch_table_add(struct switch_table *table, const struct cpu_switch *change);

/* Sort the switches by CPU.  After this, switches must not be added. */
void switch_table_finish(struct switch_table *table);

/* See timeline_switches(). */
const struct cpu_switch *switch_table_find(const struct switch_table *table, int32_t cpu,
					   size_t *count);

#endif
