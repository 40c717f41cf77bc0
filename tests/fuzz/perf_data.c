/* SPDX-License-Identifier: MIT */
/* Any bytes as a perf.data file: its records, history, trace pieces and build ids. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include "decoder/perf_data/perf_file.h"
#include "decoder/streams/auxtrace.h"
#include "decoder/timeline/timeline.h"
#include "tests/fuzz/memory_file.h"

static void read_records(const struct perf_file *file, struct diag *diag)
{
	struct perf_record record;
	uint64_t position = 0;
	size_t records = 0;

	while (perf_file_next(file, &position, &record, diag)) {
		/* A record's header has 8 bytes; decompressed records come from a mapping too. */
		if (++records > file->size / 8)
			abort();
	}
}

static void read_build_ids(const struct perf_file *file)
{
	struct perf_build_id entry = { 0 };

	while (perf_features_next_build_id(file, &entry)) {
		if (entry.id_size > 20)
			abort();
	}
}

static void read_history(const struct perf_file *file, struct diag *diag)
{
	struct timeline *timeline = timeline_open(file, NULL, 0, diag);
	const struct thread *const *threads;
	size_t count;

	if (!timeline)
		return;
	threads = timeline->threads.threads;
	count = timeline->threads.count;
	for (size_t i = 0; i < count; i++)
		timeline_borrow_thread(timeline, threads[i]->tid, threads[i]->end);
	for (int32_t cpu = -1; cpu < 4; cpu++)
		history_switches(&timeline->history, cpu, &count);
	timeline_close(timeline);
}

static void read_trace(const struct perf_file *file)
{
	struct auxtrace auxtrace;

	if (auxtrace_init(&auxtrace, file, NULL) == 0)
		for (size_t i = 0; i < auxtrace.stream_count; i++)
			if (auxtrace.streams[i].size > file->size)
				abort();
	auxtrace_release(&auxtrace);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct memory_file input;
	struct perf_file file;
	struct diag diag;

	diag_init(&diag);
	if (perf_file_open(&file, memory_file_set(&input, bytes, size), &diag, NULL) == 0) {
		read_records(&file, &diag);
		read_build_ids(&file);
		read_history(&file, &diag);
		read_trace(&file);
	}
	perf_file_close(&file);
	diag_release(&diag);
	return 0;
}
