/* SPDX-License-Identifier: MIT */
/* Reads the jitdump files that the recording's mappings name. */
#include "src/resolve/jit_dumps.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/tables/compare.h"
#include "decoder/perf_data/perf_record.h"
#include "symbols/names/jit_dump.h"

/* The clocks of the recording and of a dump. */
struct dump_clocks {
	const struct tsc_clock *tsc;
	uint64_t mapped; /* ns: when the dump was mapped */
	bool monotonic;  /* perf's clock is CLOCK_MONOTONIC (perf record -k mono) */
};

/*
 * Returns the time when code was written, by perf's clock.  Without a common clock this
 * is the time when the dump was mapped: then the code that was written last at an
 * address always holds there.
 */
static uint64_t write_time(const struct dump_clocks *clocks, const struct jit_dump *dump,
			   uint64_t time)
{
	if (dump->tsc_times && clocks->tsc->mult)
		return tsc_clock_ns(clocks->tsc, time);
	return !dump->tsc_times && clocks->monotonic ? time : clocks->mapped;
}

static void read_dump(struct jit_dumps *dumps, struct dso *dso, int32_t pid,
		      const struct dump_clocks *clocks)
{
	struct jit_dump dump;
	struct jit_code code;
	const uint8_t *bytes;
	size_t size;

	bytes = dso_borrow_bytes(dso, &size);
	if (!bytes || !jit_dump_init(&dump, bytes, size))
		return;
	while (jit_dump_next(&dump, &code)) {
		if (code.size > UINT64_MAX - code.address)
			continue;
		*ARRAY_ADD(dumps->code, dumps->count, dumps->room) = (struct jit_mapping){
			.time = write_time(clocks, &dump, code.time),
			.pid = pid,
			.begin = code.address,
			.end = code.address + code.size,
			.file_offset = code.offset,
			.path = dso_path(dso),
		};
	}
	jit_dump_release(&dump);
}

/* A dump may be mapped more than once: it belongs to the process that mapped it first. */
static bool is_new(struct jit_dumps *dumps, const struct dso *dso)
{
	for (size_t i = 0; i < dumps->file_count; i++)
		if (dumps->files[i] == dso)
			return false;
	*ARRAY_ADD(dumps->files, dumps->file_count, dumps->file_room) = dso;
	return true;
}

/* Code that was written at one time is in the order of the file. */
static int compare_code(const void *left, const void *right)
{
	const struct jit_mapping *a = left, *b = right;

	return COMPARE(a->time, b->time) ?: COMPARE(a->file_offset, b->file_offset);
}

void jit_dumps_read(struct jit_dumps *dumps, const struct perf_file *file, struct dso_store *store,
		    const struct tsc_clock *clock, struct diag *diag)
{
	struct dump_clocks clocks = { .tsc = clock };
	struct perf_record record;
	struct perf_mmap mmap;
	uint64_t position = 0;

	for (size_t i = 0; i < file->attr_count; i++)
		clocks.monotonic |= file->attrs[i].attr.use_clockid &&
				    file->attrs[i].attr.clockid == CLOCK_MONOTONIC;
	while (perf_file_next(file, &position, &record, NULL)) {
		struct dso *dso;

		if (record.type != PERF_RECORD_MMAP && record.type != PERF_RECORD_MMAP2)
			continue;
		if (perf_record_read_mmap(&record, &mmap) < 0 || !jit_dump_is_path(mmap.path))
			continue;
		dso = dso_store_borrow(store, mmap.path, NULL, 0);
		if (dso_state(dso) == DSO_MISSING)
			diag_warn(diag, "jitdump-missing",
				  "%s is missing, so the code that was written at run time is",
				  mmap.path);
		clocks.mapped = record.id.time;
		if (dso_state(dso) == DSO_FOUND && is_new(dumps, dso))
			read_dump(dumps, dso, mmap.pid, &clocks);
	}
	if (dumps->count)
		qsort(dumps->code, dumps->count, sizeof(*dumps->code), compare_code);
}

void jit_dumps_release(struct jit_dumps *dumps)
{
	free(dumps->code);
	free(dumps->files);
	*dumps = (struct jit_dumps){ 0 };
}
