/* SPDX-License-Identifier: MIT */
/*
 * Writes the Fuchsia trace format (FTF, "FXT"), as Perfetto reads it.
 *
 * Source: fuchsia.dev, "Fuchsia trace format"; section names below are its.
 * Names and threads are given whole; the writer lends them the format's few
 * numbers (ftf_slots.h), so there is no limit on how many there are.  Records
 * are sequences of 64-bit little-endian words, at most 4095 of them.
 *
 * The writer is sticky like stdio: functions that emit return nothing, and the
 * output tells in the end.  Times are nanoseconds.  Perfetto wants durations
 * of a thread in program order with times that do not go back, and shows at
 * most 512 open at a time: both are the caller's business.
 */
#ifndef WRITER_FTF_WRITER_H
#define WRITER_FTF_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/name.h"
#include "base/output.h"
#include "writer/ftf_slots.h"

/* "Argument Types". */
enum ftf_arg_type {
	FTF_NULL = 0,
	FTF_INT32 = 1,
	FTF_UINT32 = 2,
	FTF_INT64 = 3,
	FTF_UINT64 = 4,
	FTF_DOUBLE = 5,
	FTF_STRING = 6,
	FTF_POINTER = 7,
	FTF_KOID = 8,
	FTF_BOOL = 9,
};

struct ftf_arg {
	const struct name *name; /* without '.', '[' and ']': Perfetto's details would fail */
	enum ftf_arg_type type;
	union {
		int64_t integer;           /* INT32, INT64 */
		uint64_t word;             /* UINT32, UINT64, POINTER, KOID, BOOL */
		double real;               /* DOUBLE */
		const struct name *string; /* STRING */
	} value;
};

#define FTF_ARGS_MAX 15

/* Longer strings are cut at a UTF-8 boundary ("String Record": keep to 32000 bytes). */
#define FTF_STRING_MAX 32000

struct ftf_thread {
	uint32_t index; /* dense: the writer's key for the thread */
	uint32_t pid, tid;
};

struct ftf_writer {
	struct output *output; /* borrowed */
	struct ftf_slots strings, threads;
	uint32_t record;       /* number of the current event record */
	uint64_t events;       /* event records written */
};

/*
 * Start a trace: magic number, provider, initialization record with 10^9 ticks
 * a second.  `output` is borrowed and closed by the caller.
 */
void ftf_writer_init(struct ftf_writer *writer, struct output *output);

/* Release the memory.  Idempotent, also on zeroed memory. */
void ftf_writer_release(struct ftf_writer *writer);

/* Name a process ("Kernel Object Record", process). */
void ftf_process_name(struct ftf_writer *writer, uint32_t pid, const struct name *name);

/*
 * Name a thread ("Kernel Object Record", thread, with the argument "process"
 * that Perfetto needs).  `process_key` is the name "process".
 */
void ftf_thread_name(struct ftf_writer *writer, const struct ftf_thread *thread,
		     const struct name *name, const struct name *process_key);

/* "Duration Begin Event"; `category` may be NULL (none), `args` if `count` is 0. */
void ftf_duration_begin(struct ftf_writer *writer, const struct ftf_thread *thread, uint64_t time,
			const struct name *category, const struct name *name,
			const struct ftf_arg *args, size_t count);

/* "Duration End Event": ends the thread's innermost open duration, whatever its name. */
void ftf_duration_end(struct ftf_writer *writer, const struct ftf_thread *thread, uint64_t time);

/* The same with arguments, which Perfetto adds to those of the begin. */
void ftf_duration_end_args(struct ftf_writer *writer, const struct ftf_thread *thread,
			   uint64_t time, const struct ftf_arg *args, size_t count);

#endif
