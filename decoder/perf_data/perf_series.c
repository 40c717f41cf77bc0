/* SPDX-License-Identifier: MIT */
/* Compares the inputs of a recording in several files. */
#include "decoder/perf_data/perf_series.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "decoder/perf_data/perf_attrs.h"
#include "decoder/perf_data/perf_parts.h"

/* Of struct perf_record_auxtrace_info: time_shift, time_mult and time_zero (util/intel-pt.h). */
#define CLOCK_OFFSET 16
#define CLOCK_SIZE   24

/* Of struct perf_record_auxtrace (util/event.h): size, offset, reference, idx, tid, cpu. */
#define AUXTRACE_OFFSET 8
#define AUXTRACE_BUFFER 24

/* Longest text of each file in a message. */
#define TEXT_MOST 60

/* The end of a long path says more than its begin. */
static const char *name_of(const struct perf_origin *origin)
{
	size_t length = strlen(origin->path);

	if (strcmp(origin->path, "-") == 0)
		return "standard input";
	return length > TEXT_MOST ? origin->path + length - TEXT_MOST : origin->path;
}

/* Records of perf itself have no time, but their part's. */
static struct perf_origin find_origin(const struct perf_file *file)
{
	struct perf_origin origin = { .path = file->path,
				      .bytes = file->mappings[0],
				      .begin = UINT64_MAX };
	struct perf_record record;
	uint64_t position = 0;

	while (perf_file_next(file, &position, &record, NULL)) {
		uint64_t time = record.id.time;

		if (record.type == PERF_USER_AUXTRACE_INFO &&
		    record.size >= CLOCK_OFFSET + CLOCK_SIZE)
			origin.clock = record.payload + CLOCK_OFFSET;
		if (time && time < origin.begin)
			origin.begin = time;
		if (time > origin.end)
			origin.end = time;
	}
	return origin;
}

static int compare_buffers(const void *a, const void *b)
{
	const struct perf_aux_extent *one = a, *other = b;

	return memcmp(one->buffer, other->buffer, sizeof(one->buffer));
}

static const struct perf_aux_extent *find_extent(const struct perf_file *file,
						 const struct perf_aux_extent *like)
{
	return file->extent_count ? bsearch(like, file->extents, file->extent_count, sizeof(*like),
					    compare_buffers)
				  : NULL;
}

/* Sort the extents by their buffers, and make one of those of a buffer. */
static void join_extents(struct perf_file *file)
{
	struct perf_aux_extent *last = file->extents;

	if (!file->extent_count)
		return;
	qsort(file->extents, file->extent_count, sizeof(*file->extents), compare_buffers);
	for (size_t i = 1; i < file->extent_count; i++) {
		const struct perf_aux_extent *extent = &file->extents[i];

		if (compare_buffers(last, extent) != 0) {
			*++last = *extent;
			continue;
		}
		if (extent->begin < last->begin)
			last->begin = extent->begin;
		if (extent->end > last->end)
			last->end = extent->end;
	}
	file->extent_count = (size_t)(last - file->extents) + 1;
}

/* Fill the extents of one input. */
static void find_extents(struct perf_file *file)
{
	struct perf_aux_extent extent;
	struct perf_record record;
	uint64_t position = 0, size;

	while (perf_file_next(file, &position, &record, NULL)) {
		if (record.type != PERF_USER_AUXTRACE ||
		    record.size < AUXTRACE_BUFFER + sizeof(extent.buffer))
			continue;
		memcpy(extent.buffer, record.payload + AUXTRACE_BUFFER, sizeof(extent.buffer));
		memcpy(&extent.begin, record.payload + AUXTRACE_OFFSET, sizeof(extent.begin));
		memcpy(&size, record.payload, sizeof(size));
		extent.end = extent.begin + size;
		*ARRAY_ADD(file->extents, file->extent_count, file->extent_room) = extent;
	}
	join_extents(file);
}

/*
 * The kernel counts a buffer's bytes since the recording began.  Snapshots may overlap, and the
 * offsets of a writer that does not count are 0: times decide then.  Returns -1 if the bytes of
 * `next` come before those of `file`, 1 if they come after, 0 if that is unknown, and 2 if the
 * buffers differ in it.
 */
static int extent_order(const struct perf_file *file, const struct perf_file *next)
{
	bool earlier = false, later = false;

	for (size_t i = 0; i < next->extent_count; i++) {
		const struct perf_aux_extent *b = &next->extents[i];
		const struct perf_aux_extent *a = find_extent(file, b);

		earlier |= a && b->begin < a->begin;
		later |= a && b->begin >= a->end && b->begin;
	}
	return earlier && later ? 2 : later - earlier;
}

static int refuse_join(struct error *err, const struct perf_origin *next,
		       const struct perf_origin *before, const char *reason)
{
	return error_set(
		err, ERROR_FORMAT,
		"cannot join %s to %s as one recording: %s; use -o DIR/ to convert each, or "
		"ptrace2ftf diff to compare two",
		name_of(next), name_of(before), reason);
}

static bool differ(const char *a, const char *b)
{
	return a && b && strcmp(a, b) != 0;
}

/* Write what the features of two files say of their machines.  Returns false if nothing differs. */
static bool find_difference(char *reason, size_t room, const struct perf_features *a,
			    const struct perf_features *b)
{
	const struct {
		const char *name, *before, *next;
	} texts[] = { { "host name", a->hostname, b->hostname },
		      { "kernel", a->os_release, b->os_release },
		      { "CPU", a->cpuid, b->cpuid },
		      { "command line", a->command_line, b->command_line } };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!differ(texts[i].before, texts[i].next))
			continue;
		snprintf(reason, room, "its %s is '%.*s', not '%.*s'", texts[i].name, TEXT_MOST,
			 texts[i].next, TEXT_MOST, texts[i].before);
		return true;
	}
	if (a->cpus_available && b->cpus_available && a->cpus_available != b->cpus_available) {
		snprintf(reason, room, "its machine has %" PRIu32 " CPUs, not %" PRIu32,
			 b->cpus_available, a->cpus_available);
		return true;
	}
	return false;
}

/*
 * A CPU's events that perf read last before it began another file may have later times than
 * events of other CPUs in that file, so files may overlap by a little.
 */
static bool overlap(const struct perf_origin *a, const struct perf_origin *b)
{
	uint64_t begin = a->begin > b->begin ? a->begin : b->begin;
	uint64_t end = a->end < b->end ? a->end : b->end;
	uint64_t length_a = a->end - a->begin, length_b = b->end - b->begin;

	return a->begin < a->end && b->begin < b->end && begin < end &&
	       end - begin > (length_a < length_b ? length_a : length_b) / 2;
}

/* Compare with another input; features and events were compared with the first one. */
static int compare_origins(const struct perf_origin *before, const struct perf_origin *next,
			   int order, struct error *err)
{
	if (before->bytes.size == next->bytes.size &&
	    memcmp(before->bytes.bytes, next->bytes.bytes, next->bytes.size) == 0)
		return refuse_join(err, next, before, "both have the same content");
	if (before->clock && next->clock && memcmp(before->clock, next->clock, CLOCK_SIZE) != 0)
		return refuse_join(err, next, before, "its clock is of another boot or machine");
	if (order == 2)
		return refuse_join(err, next, before,
				   "some of its buffers continue before, others after");
	if (order < 0)
		return refuse_join(err, next, before, "its trace data come before (name it first)");
	if (!order && overlap(before, next))
		return refuse_join(err, next, before, "their times overlap");
	/* A buffer's trace continues in the next file: before it, nothing can be decoded. */
	if (next->begin < next->end && before->begin < before->end && next->end <= before->begin)
		return refuse_join(err, next, before,
				   order ? "its trace data come after, its times before"
					 : "it was recorded earlier (name it first)");
	return 0;
}

static int compare_all(const struct perf_file *file, const struct perf_file *next,
		       const struct perf_origin *origin, struct error *err)
{
	char reason[4 * TEXT_MOST];

	if (find_difference(reason, sizeof(reason), &file->features, &next->features))
		return refuse_join(err, origin, file->origins, reason);
	/* The kernel gives each counter an id of its own. */
	if (!perf_attrs_equal(file, next))
		return refuse_join(err, origin, file->origins,
				   "its events are others, of another run of perf");
	for (size_t i = 0; i < file->origin_count; i++) {
		if (compare_origins(&file->origins[i], origin, extent_order(file, next), err) < 0)
			return -1;
	}
	return 0;
}

/* Returns whether nothing differs because nothing is known. */
static bool lacks_evidence(const struct perf_file *file, const struct perf_file *next,
			   const struct perf_origin *origin)
{
	const struct perf_origin *first = file->origins;

	return !file->features.hostname || !next->features.hostname ||
	       !file->features.command_line || !next->features.command_line || !first->clock ||
	       !origin->clock || first->begin >= first->end || origin->begin >= origin->end;
}

int perf_series_check(struct perf_file *file, struct perf_file *next, struct error *err)
{
	struct perf_origin origin = find_origin(next);

	find_extents(next);
	if (!file->origin_count) {
		find_extents(file);
		*ARRAY_ADD(file->origins, file->origin_count, file->origin_room) =
			find_origin(file);
	}
	if (compare_all(file, next, &origin, err) < 0)
		return -1;
	file->unproven |= lacks_evidence(file, next, &origin);
	*ARRAY_ADD(file->origins, file->origin_count, file->origin_room) = origin;
	for (size_t i = 0; i < next->extent_count; i++)
		*ARRAY_ADD(file->extents, file->extent_count, file->extent_room) = next->extents[i];
	join_extents(file);
	return 0;
}
