/* SPDX-License-Identifier: MIT */
/* The history of a recording: threads, processes, context switches, losses. */
#pragma once

#include "decoder/address_space.h"

struct thread {
	int32_t pid, tid;
	uint32_t index; /* dense, in the order of first appearance */
	const struct process *process;
	const struct thread *parent; /* forked this thread; NULL: not seen */
	const struct thread_name {
		uint64_t time;    /* start of the name; 0 for the first */
		const char *text; /* text of PERF_RECORD_COMM; any bytes */
	} * names;                /* in time order; may be empty */
	size_t name_count;
	/* FORK and EXIT. If not seen: 0, or a reused tid's first record; and UINT64_MAX. */
	uint64_t begin, end;
};

/* Returns the last name of a thread (NULL: unknown), or NULL. */
static inline const char *thread_last_name(const struct thread *thread)
{
	return thread && thread->name_count ? thread->names[thread->name_count - 1].text : NULL;
}

struct process {
	int32_t pid;
	/* The mappings from `begin` up to the next epoch of the process. */
	const struct epoch {
		uint64_t begin;
		bool exec; /* starts with an exec: no mapping of the previous epoch remains */
		bool leader_ended; /* another thread ran the exec, after the leader's end */
		const struct address_space *space;
		size_t next_exec; /* index of the next epoch with `exec`; 0 if absent */
	} * epochs;               /* in time order, not empty; the first begins at 0 */
	size_t epoch_count;
};

/* At and after `time`, `thread` runs on the CPU (tid 0: idle; never NULL). */
struct cpu_switch {
	uint64_t time;
	const struct thread *thread;
	int32_t cpu;
	bool stayed;    /* the thread ran on no other CPU since it last ran here */
	bool preempted; /* the previous thread was still runnable (MISC_SWITCH_OUT_PREEMPT) */
	bool dead;      /* the previous thread has ended (tracepoint sched_switch only) */
	bool exec;      /* an exec gave this thread's tid to the previous thread */
	uint64_t order; /* the record's order, for sorting */
};

/* A thread became runnable. */
struct thread_waking {
	uint64_t time;
	int32_t tid;
	int32_t waker; /* tid of the waking thread; 0: an interrupt */
};

/* A time in which a thread did not run. */
struct off_cpu {
	uint64_t begin, end;          /* ns */
	int32_t cpu;                  /* the CPU that it left */
	bool preempted;               /* the thread was still runnable */
	const struct thread *instead; /* ran longest on that CPU in this time; NULL: unknown */
	uint64_t instead_ns;
	const struct thread_waking *waking; /* NULL: not recorded */
};

/* A loss of trace data that the kernel reported in the flags of a PERF_RECORD_AUX. */
struct loss {
	int64_t owner; /* owner_of_cpu(), or owner_of_thread() in a copy */
	uint64_t time;
	uint64_t flags;                /* PERF_AUX_FLAG_TRUNCATED, _PARTIAL, _COLLISION etc. */
	uint64_t aux_offset, aux_size; /* the AUX record's range, in the AUX buffer's byte count */
	uint64_t order;                /* the record's order, for sorting */
};

/* Returns a number for the owner of AUX buffers: a CPU, or a thread. */
static inline int64_t owner_of_cpu(int32_t cpu)
{
	return cpu;
}

static inline int64_t owner_of_thread(int32_t tid)
{
	return INT64_C(1) << 32 | (uint32_t)tid;
}

/* The part of a recording's history that the decoder reads; all borrowed. */
struct history {
	const struct cpu_switch *switches; /* sorted by CPU, then time */
	size_t switch_count;
	const struct loss *losses; /* sorted by owner, then time */
	size_t loss_count;
	/* Returns the thread that had a tid at `time`; NULL: none ever had. */
	const struct thread *(*find_thread)(const void *context, int32_t tid, uint64_t time);
	const void *context;
};

/*
 * Returns the `*count` context switches of one CPU in time order. A switch takes effect at the time
 * of the switch-out record that names the next thread (PERF_RECORD_SWITCH_CPU_WIDE,
 * next_prev_pid/tid, like perf's intel_pt_context_switch()), else of the switch-in record
 * (PERF_RECORD_SWITCH). ITRACE_START counts as a switch. If switch records were not requested,
 * samples of the tracepoint sched_switch are used.
 */
const struct cpu_switch *history_switches(const struct history *history, int32_t cpu,
					  size_t *count);

/* Returns the `*count` losses of a buffer in time order. tid -1: of the CPU's buffer. */
const struct loss *history_losses(const struct history *history, int32_t cpu, int32_t tid,
				  size_t *count);
