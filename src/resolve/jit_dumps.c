/* SPDX-License-Identifier: MIT */
/* Read the jitdump files in the recording's mappings, and the code in a core. */
#include "src/resolve/code_files.h"

#include <time.h>

#include "symbols/files/core_file.h"
#include "symbols/names/jit_dump.h"

/* The compiler maps a dump right after it has begun the file: within this time, ns. */
#define MAPPED_WITHIN UINT64_C(1000000000)

/* The clock of a dump's times. */
struct dump_clock {
	const struct tsc_clock *tsc; /* borrowed; NULL: the times are ns */
	uint64_t ahead;              /* perf's clock less the dump's, ns, modulo 2^64 */
	bool unknown;                /* all code has the time `mapped` */
	uint64_t mapped;
};

static uint64_t write_time(const struct dump_clock *clock, uint64_t time)
{
	if (clock->unknown)
		return clock->mapped;
	return clock->tsc ? tsc_clock_ns(clock->tsc, time) : time + clock->ahead;
}

static bool is_near(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) < MAPPED_WITHIN;
}

/*
 * Find the clock by the header's time, which is that of the file's mapping.  If neither is
 * known, as for a process that ran before the recording, or the TSC's clock is not, believe the
 * header's flag; without a common clock, the code that was written last at an address holds there
 * since `mapped`.
 */
static struct dump_clock find_clock(const struct jit_dumps *dumps, const struct tsc_clock *tsc,
				    const struct jit_dump *dump, uint64_t mapped)
{
	bool flagged = dump->tsc_times && tsc->mult, common = !dump->tsc_times && dumps->monotonic;
	struct dump_clock clock = { .mapped = mapped };

	if (!dump->made || !mapped || (dump->tsc_times && !tsc->mult)) {
		clock.tsc = flagged ? tsc : NULL;
		clock.unknown = !flagged && !common;
	} else if (tsc->mult && is_near(tsc_clock_ns(tsc, dump->made), mapped)) {
		clock.tsc = tsc;
	} else if (!dumps->monotonic || !is_near(dump->made, mapped)) {
		clock.ahead = mapped - dump->made;
	}
	return clock;
}

static void read_dump(struct jit_dumps *dumps, struct dso *dso, const struct perf_mmap *mmap,
		      const struct tsc_clock *tsc)
{
	struct dump_clock clock;
	struct jit_dump dump;
	struct jit_code code;

	if (!dso->elf.bytes || !jit_dump_init(&dump, dso->elf.bytes, dso->elf.size))
		return;
	clock = find_clock(dumps, tsc, &dump, mmap->time);
	while (jit_dump_next(&dump, &code)) {
		if (code.size > UINT64_MAX - code.address)
			continue;
		*ARRAY_ADD(dumps->code, dumps->count, dumps->room) = (struct perf_mmap){
			.time = write_time(&clock, code.time),
			.pid = mmap->pid,
			.begin = code.address,
			.end = code.address + code.size,
			.file_offset = code.offset,
			.path = dso->path,
		};
	}
	jit_dump_release(&dump);
}

/* Read the next mapping of the recording; returns false at the end. */
static bool next_mmap(const struct perf_file *file, uint64_t *position, struct perf_mmap *mmap)
{
	struct perf_record record;

	while (perf_file_next(file, position, &record, NULL))
		if ((record.type == PERF_RECORD_MMAP || record.type == PERF_RECORD_MMAP2) &&
		    perf_record_read_mmap(&record, mmap) == 0)
			return true;
	return false;
}

/* ---- A core -------------------------------------------------------------- */

/* Limit of mappings of a core's code: one per this many bytes of recording and core. */
#define BYTES_PER_MAPPING 64

struct saved_code {
	const struct core_segment *segments; /* borrowed; sorted by pid and address */
	struct core_segment *dumped; /* owned; code of dumps, sorted likewise, without bytes */
	size_t dumped_count;
	/* When each was mapped last, also in part (ns), and how often. */
	struct segment_use {
		uint64_t mapped;
		unsigned count;
	} * uses;                      /* owned */
	const struct tsc_clock *clock; /* clock of core_segment.saved */
	size_t count;
	size_t left;          /* mappings still allowed */
	bool cut;             /* there were more */
	bool used, fits;      /* memory without a file is in it, or pages of files are */
	const uint8_t *bytes; /* bytes of the core */
};

COMPARE_BY_TWO(compare_ranges, struct core_segment, pid, begin)

/* Returns the first of ranges sorted by process and address that ends after an address. */
static size_t first_of(const struct core_segment *ranges, size_t count, int32_t pid, uint64_t begin)
{
	return LOWER_BOUND(k, count,
			   ranges[k].pid < pid || (ranges[k].pid == pid && ranges[k].end <= begin));
}

static void add_made(struct jit_dumps *dumps, struct saved_code *saved, struct perf_mmap piece)
{
	if (piece.begin >= piece.end)
		return;
	saved->cut |= !saved->left;
	if (saved->cut)
		return;
	saved->left--;
	*ARRAY_ADD(dumps->code, dumps->count, dumps->room) = piece;
}

/* Add the parts of saved code that no dump has. */
static void add_saved(struct jit_dumps *dumps, struct saved_code *saved, struct perf_mmap piece)
{
	const struct core_segment *dumped = saved->dumped;
	size_t i = first_of(dumped, saved->dumped_count, piece.pid, piece.begin);

	for (; i < saved->dumped_count && dumped[i].pid == piece.pid && dumped[i].begin < piece.end;
	     i++) {
		struct perf_mmap part = piece;

		part.end = dumped[i].begin;
		add_made(dumps, saved, part);
		piece.file_offset += dumped[i].end - piece.begin;
		piece.begin = dumped[i].end;
	}
	add_made(dumps, saved, piece);
}

/* Add memory that is neither in the core nor, if the process has one, in a dump. */
static void add_unsaved(struct jit_dumps *dumps, struct saved_code *saved,
			const struct perf_mmap *mmap, uint64_t begin, uint64_t end)
{
	size_t i = first_of(saved->dumped, saved->dumped_count, mmap->pid, 0);
	struct perf_mmap piece = *mmap;

	piece.begin = begin;
	piece.end = end;
	piece.file_offset += begin - mmap->begin;
	if (i == saved->dumped_count || saved->dumped[i].pid != mmap->pid)
		add_made(dumps, saved, piece);
}

/*
 * Divide a mapping without a file into the parts in the core, and the rest.  Compilers map code
 * again, or make it executable again, to write to it: the code before may have been different.
 */
static void add_mapped(struct jit_dumps *dumps, struct saved_code *saved,
		       const struct perf_mmap *mmap)
{
	const struct core_segment *segments = saved->segments;
	struct perf_mmap piece = { .time = mmap->time, .pid = mmap->pid };
	uint64_t begin = mmap->begin;
	size_t i = first_of(segments, saved->count, mmap->pid, begin);

	for (; i < saved->count && segments[i].pid == mmap->pid && segments[i].begin < mmap->end;
	     i++) {
		if (segments[i].end <= begin)
			continue;
		add_unsaved(dumps, saved, mmap, begin, segments[i].begin);
		piece.begin = MAX(segments[i].begin, begin);
		piece.end = MIN(segments[i].end, mmap->end);
		piece.file_offset = segments[i].file_offset + (piece.begin - segments[i].begin);
		piece.path = segments[i].changed || mmap->time < saved->uses[i].mapped
				     ? DSO_CHANGED DSO_SAVED_CODE
				     : DSO_SAVED_CODE;
		add_saved(dumps, saved, piece);
		saved->used = true;
		begin = piece.end;
	}
	add_unsaved(dumps, saved, mmap, begin, mmap->end);
}

/*
 * Add the pages of a file that the process changed in memory: since it made them executable again,
 * or since they were seen, by another process's doing (a debugger, live patches).
 */
static void add_private(struct jit_dumps *dumps, struct saved_code *saved, struct dso_store *store,
			const struct dso *dso, const struct perf_mmap *mmap)
{
	const struct elf_file *file = &dso->elf;
	const struct core_segment *segments = saved->segments;
	size_t i = first_of(segments, saved->count, mmap->pid, mmap->begin);

	for (; i < saved->count && segments[i].pid == mmap->pid && segments[i].begin < mmap->end;
	     i++) {
		uint64_t move = segments[i].file_offset - segments[i].begin -
				(mmap->file_offset - mmap->begin);
		uint64_t seen = segments[i].saved && saved->clock->mult
					? tsc_clock_ns(saved->clock, segments[i].saved)
					: UINT64_MAX;
		struct perf_mmap piece = *mmap;
		char path[PATH_MAX];

		saved->fits = true;
		piece.time = saved->uses[i].count > 1 ? MIN(seen, mmap->time) : seen;
		piece.begin = MAX(segments[i].begin, mmap->begin);
		piece.end = MIN(segments[i].end, mmap->end);
		piece.file_offset += piece.begin - mmap->begin;
		if (piece.time == UINT64_MAX || mmap->time != saved->uses[i].mapped ||
		    piece.file_offset >= file->size ||
		    piece.end - piece.begin > file->size - piece.file_offset ||
		    memcmp(file->bytes + piece.file_offset, saved->bytes + piece.file_offset + move,
			   piece.end - piece.begin) == 0)
			continue;
		snprintf(path, sizeof(path), "%s%" PRIx64 "%s", PERF_MMAP_PRIVATE, move,
			 mmap->path);
		piece.path = dso_keep_text(store, path);
		add_made(dumps, saved, piece);
	}
}

static bool has_process(const struct saved_code *saved, int32_t pid)
{
	size_t i = LOWER_BOUND(k, saved->count, saved->segments[k].pid < pid);

	return i < saved->count && saved->segments[i].pid == pid;
}

/* Note all mappings of processes that the core has; with `store`, add their code. */
static void for_each_mapped(struct jit_dumps *dumps, struct saved_code *saved,
			    const struct perf_file *file, struct dso_store *store)
{
	struct perf_mmap mmap;
	uint64_t position = 0;

	while (next_mmap(file, &position, &mmap)) {
		enum dso_shape shape = dso_find_shape(mmap.path);
		const struct dso *dso;

		if (!mmap.executable || mmap.guest || !has_process(saved, mmap.pid) ||
		    (shape != DSO_SHAPE_NO_FILE && shape != DSO_SHAPE_FILE))
			continue;
		if (!store) {
			for (size_t i =
				     first_of(saved->segments, saved->count, mmap.pid, mmap.begin);
			     i < saved->count && saved->segments[i].pid == mmap.pid &&
			     saved->segments[i].begin < mmap.end;
			     i++) {
				saved->uses[i].mapped = MAX(saved->uses[i].mapped, mmap.time);
				saved->uses[i].count++;
			}
			continue;
		}
		dso = dso_store_borrow(store, mmap.path, mmap.build_id, mmap.build_id_size);
		if (dso->state == DSO_FOUND)
			add_private(dumps, saved, store, dso, &mmap);
		else if (shape == DSO_SHAPE_NO_FILE || ends_with(mmap.path, " (deleted)"))
			add_mapped(dumps, saved, &mmap);
	}
}

/* Let the store have the core. Returns false if there is none, or it is another recording's. */
static bool open_core(const struct perf_file *file, struct dso_store *store, struct diag *diag)
{
	const struct dso *dso = dso_store_borrow(store, DSO_SAVED_CODE, NULL, 0);
	struct core_file core;

	if (!dso->elf.bytes)
		return false;
	core_file_read(dso->elf.bytes, dso->elf.size, &core);
	if (!core.recording || store->options.core_given || file->folder || !dso->file ||
	    core.recording == file->mappings[0].size) {
		dso_store_use_core(store, &core);
		return true;
	}
	diag_warn(diag, "core-stale",
		  "%s is ignored: it belongs to a recording of %" PRIu64
		  " bytes, but this one has %zu; remove it, or if perf inject changed the "
		  "recording, give it with --core",
		  dso->file, core.recording, file->mappings[0].size);
	core_file_release(&core);
	return false;
}

static void read_core(struct jit_dumps *dumps, const struct perf_file *file,
		      struct dso_store *store, const struct tsc_clock *clock, struct diag *diag)
{
	const struct dso *dso = dso_store_borrow(store, DSO_SAVED_CODE, NULL, 0);
	struct saved_code saved = { .segments = store->core.segments,
				    .count = store->core.count,
				    .clock = clock,
				    .bytes = dso->elf.bytes,
				    .left = (file->size + dso->elf.size) / BYTES_PER_MAPPING };
	struct core_segment *ranges = alloc_zeroed(dumps->count, sizeof(*ranges)), *last = ranges;

	/* Sort and join the code of all dumps, which have the time and name of each piece. */
	for (size_t i = 0; i < dumps->count; i++)
		ranges[i] = (struct core_segment){ .pid = dumps->code[i].pid,
						   .begin = dumps->code[i].begin,
						   .end = dumps->code[i].end };
	SORT(ranges, dumps->count, compare_ranges);
	for (size_t i = 0; i < dumps->count; i++) {
		if (i && last->pid == ranges[i].pid && last->end >= ranges[i].begin)
			last->end = MAX(last->end, ranges[i].end);
		else
			*(last = &ranges[saved.dumped_count++]) = ranges[i];
	}
	saved.dumped = ranges;
	saved.uses = alloc_zeroed(saved.count, sizeof(*saved.uses));
	for_each_mapped(dumps, &saved, file, NULL);
	for_each_mapped(dumps, &saved, file, store);
	if (dso->file && !saved.used && !saved.fits &&
	    store->core.recording != file->mappings[0].size)
		diag_warn(diag, "core-unused",
			  "%s has no code of the recording; is it an ELF core of its process?",
			  dso->file);
	if (saved.cut || store->core.cut)
		diag_warn(diag, "core-too-large",
			  "%s has more code, or files, than its size allows; some are left out",
			  dso->file);
	dumps->saved = saved.used;
	free(saved.dumped);
	free(saved.uses);
}

/* Code written at one time is in file order. */
COMPARE_BY_TWO(compare_code, struct perf_mmap, time, file_offset)

void jit_dumps_read(struct jit_dumps *dumps, const struct perf_file *file, struct dso_store *store,
		    const struct tsc_clock *clock, struct diag *diag)
{
	bool has_core = open_core(file, store, diag);
	struct perf_mmap mmap;
	uint64_t position = 0;

	for (size_t i = 0; i < file->attr_count; i++)
		dumps->monotonic |= file->attrs[i].attr.use_clockid &&
				    file->attrs[i].attr.clockid == CLOCK_MONOTONIC;
	while (next_mmap(file, &position, &mmap)) {
		struct dso *dso;

		if (!jit_dump_is_path(mmap.path))
			continue;
		dso = dso_store_borrow_dump(store, mmap.pid, mmap.path);
		if (dso->state == DSO_MISSING)
			diag_warn(diag, "jitdump-missing",
				  "%s is missing, and with it code generated at run time",
				  mmap.path);
		/* It may be mapped more than once, and belongs to who mapped it first. */
		if (dso->state == DSO_FOUND && !dso->dump_read)
			read_dump(dumps, dso, &mmap, clock);
		dso->dump_read = true;
	}
	if (has_core)
		read_core(dumps, file, store, clock, diag);
	SORT(dumps->code, dumps->count, compare_code);
}

void jit_dumps_release(struct jit_dumps *dumps)
{
	free(dumps->code);
	*dumps = (struct jit_dumps){ 0 };
}
