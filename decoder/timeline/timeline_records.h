/* SPDX-License-Identifier: MIT */
/* The timeline, and its changes by sideband records. Private to timeline.c. */
#ifndef DECODER_TIMELINE_TIMELINE_RECORDS_H
#define DECODER_TIMELINE_TIMELINE_RECORDS_H

#include "base/tables/hash.h"
#include "decoder/timeline/hits.h"
#include "decoder/timeline/thread_table.h"
#include "decoder/timeline/trace_pauses.h"
#include "decoder/timeline/tracepoint_formats.h"

struct timeline {
	struct arena arena;
	struct diag *diag; /* borrowed, while building */
	struct file_table files;
	struct process_table processes;
	struct thread_table threads;
	struct switch_table switches;
	struct trace_pauses pauses;
	struct hits hits;
	struct loss *losses;        /* owned; when complete, sorted by CPU, then time */
	struct loss *losses_by_tid; /* owned; when complete, a copy sorted by thread, then time */
	size_t loss_count, loss_room;
	struct kernel_symbol *symbols; /* owned */
	size_t symbol_count, symbol_room;
	struct code_patch *patches; /* owned */
	size_t patch_count, patch_room;
	const struct perf_file *file; /* borrowed, while building */
	/* If there are no switch records, switches come from the next best source: */
	bool tracepoint_switches; /* sched_switch tracepoints */
	bool sample_switches;     /* samples with trace data */
	struct sched_points points;
	bool has_points;               /* any scheduler tracepoint is recorded */
	struct thread_waking *wakings; /* owned; when complete by thread, then time */
	size_t waking_count, waking_room;
	int32_t highest_id; /* of `points`: a woken thread can lack records */
	/* Time of a CPU's last sample with trace data. */
	struct sampled_cpu {
		int32_t cpu;
		uint64_t time; /* ns */
		UT_hash_handle hh;
	} * sampled_cpus; /* hash, while building */
	uint64_t lost_records, lost_samples;
	struct perf_record *thread_maps; /* owned, while building */
	size_t thread_map_count, thread_map_room;
	const struct perf_mmap *code; /* borrowed, while building */
	size_t code_count, code_applied;
	int32_t *writers; /* owned, while building: the processes of `code`, each once */
	size_t writer_count, writer_room;
	uint64_t unknown_records;
};

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

#endif
