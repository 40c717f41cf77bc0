/* SPDX-License-Identifier: MIT */
/* Open a recording: find its files, and read their headers, attributes and features. */
#include "decoder/perf_data/perf_file.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include "base/file_kind.h"

#define MAGIC_LITTLE     UINT64_C(0x32454c4946524550) /* "PERFILE2" */
#define MAGIC_BIG        UINT64_C(0x50455246494c4532) /* the same, byte-swapped */
#define HEADER_SIZE      104
#define PIPE_HEADER_SIZE 16
#define SECTION_SIZE     16

struct file_section {
	uint64_t offset, size;
};

static struct file_section read_section(struct cursor *c)
{
	struct file_section section;

	section.offset = cursor_u64(c);
	section.size = cursor_u64(c);
	return section;
}

static bool is_inside_file(struct byte_view bytes, const struct file_section *section)
{
	return section->offset <= bytes.size && section->size <= bytes.size - section->offset;
}

/* Let the file own mapped bytes. */
static void own_mapping(struct perf_file *file, struct byte_view bytes)
{
	*ARRAY_ADD(file->mappings, file->mapping_count, file->mapping_room) = bytes;
	file->size += bytes.size;
}

static int map_input(struct perf_file *file, const char *path, struct byte_view *bytes,
		     struct diag *diag, struct error *err)
{
	if (perf_input_map(path, bytes, err) < 0)
		return -1;
	if (perf_input_unpack(bytes, diag, err) < 0)
		return error_prefix(err, "%s", path);
	own_mapping(file, *bytes);
	return 0;
}

/* ---- Headers ------------------------------------------------------------- */

static int check_magic(struct byte_view bytes, bool *stream, struct error *err)
{
	struct cursor c = cursor_over(bytes.bytes, bytes.size);
	uint64_t magic = cursor_u64(&c);
	uint64_t size = cursor_u64(&c);

	*stream = size == PIPE_HEADER_SIZE;
	if (magic == MAGIC_BIG)
		return error_set(
			err, ERROR_UNSUPPORTED,
			"was recorded on a big-endian machine, and those have no Intel PT");
	if (magic != MAGIC_LITTLE)
		return error_set(err, ERROR_FORMAT, "is not a perf.data file%s",
				 file_kind_text(bytes.bytes, bytes.size));
	if (!*stream && (size != HEADER_SIZE || bytes.size < HEADER_SIZE))
		return error_set_at(err, 8, "has a damaged header");
	return 0;
}

static int read_header(struct perf_file *file, struct byte_view bytes, struct diag *diag,
		       struct error *err)
{
	struct cursor c = cursor_over(bytes.bytes + 16, HEADER_SIZE - 16);
	uint64_t attr_size = cursor_u64(&c);
	struct file_section attrs = read_section(&c);
	struct file_section data = read_section(&c);
	struct perf_part part = { .bytes = bytes.bytes, .begin = data.offset, .end = bytes.size };

	if (attr_size < PERF_ATTR_SIZE_VER0 + SECTION_SIZE || !is_inside_file(bytes, &attrs))
		return error_set_at(err, 16, "the attribute section is damaged");
	for (size_t i = 0; i < attrs.size / attr_size; i++) {
		const uint8_t *entry = bytes.bytes + attrs.offset + i * attr_size;
		struct cursor end = cursor_over(entry + attr_size - SECTION_SIZE, SECTION_SIZE);
		struct file_section ids = read_section(&end);

		if (!is_inside_file(bytes, &ids))
			ids.offset = ids.size = 0;
		perf_attrs_add(file, (struct byte_view){ entry, attr_size - SECTION_SIZE },
			       (struct byte_view){ bytes.bytes + ids.offset, ids.size });
	}
	perf_attrs_finish(file);
	if (data.offset > bytes.size)
		return error_set_at(err, 40, "the data section is past the end of the file");
	file->unfinished |= data.size == 0;
	if (data.size == 0)
		diag_warn(diag, "unfinished",
			  "perf did not finish the file (was it killed?): reading to its end");
	else if (!is_inside_file(bytes, &data))
		diag_warn(diag, "truncated",
			  "the file is too short: the last %llu bytes of its data are missing; "
			  "copy it again",
			  (unsigned long long)(data.size - (bytes.size - data.offset)));
	if (data.size && is_inside_file(bytes, &data))
		part.end = data.offset + data.size;
	if (part.end < bytes.size)
		perf_features_read(file, bytes, part.end, diag);
	perf_parts_add(file, &part);
	return 0;
}

/* Read the events first: in a stream, features such as the events' names precede them. */
static void read_stream(struct perf_file *file, struct byte_view bytes, struct diag *diag)
{
	struct perf_part part = { .bytes = bytes.bytes,
				  .begin = PIPE_HEADER_SIZE,
				  .end = bytes.size };
	struct perf_record record;
	uint64_t position = 0;

	perf_parts_add(file, &part);
	while (perf_file_next(file, &position, &record, NULL)) {
		if (record.type == PERF_USER_HEADER_ATTR)
			perf_attrs_add_record(file, &record);
	}
	perf_attrs_finish(file);
	position = 0;
	while (perf_file_next(file, &position, &record, NULL)) {
		if (record.type == PERF_USER_EVENT_UPDATE)
			perf_attrs_update_name(file, &record);
		perf_features_read_record(file, &record, diag);
	}
}

/* ---- Opening ------------------------------------------------------------- */

static int open_first(struct perf_file *file, const char *path, struct diag *diag,
		      struct error *err)
{
	struct byte_view bytes;
	bool stream;

	if (map_input(file, path, &bytes, diag, err) < 0)
		return -1;
	if (check_magic(bytes, &stream, err) < 0)
		return error_prefix(err, "%s", path);
	if (stream)
		read_stream(file, bytes, diag);
	else if (read_header(file, bytes, diag, err) < 0)
		return error_prefix(err, "%s", path);
	return 0;
}

int perf_file_open(struct perf_file *file, const char *path, struct diag *diag, struct error *err)
{
	struct perf_input input;
	struct stat times;
	int status;

	*file = (struct perf_file){ .path = path };
	if (stat(path, &times) == 0 && !S_ISFIFO(times.st_mode))
		file->written_ns = (uint64_t)times.st_mtim.tv_sec * 1000000000 +
				   (uint64_t)times.st_mtim.tv_nsec;
	status = perf_input_list(&input, path, &file->arena, err);
	if (status == 0)
		status = open_first(file, input.paths[0], diag, err);
	if (status == 0) {
		/* The other files of a directory have no header and no features. */
		for (size_t i = 1; i < input.count; i++) {
			struct error failure = { 0 };
			struct byte_view bytes;

			if (!perf_input_is_file(input.paths[i]))
				error_set(&failure, ERROR_UNSUPPORTED, "%s: is not a regular file",
					  input.paths[i]);
			else if (map_input(file, input.paths[i], &bytes, diag, &failure) == 0)
				perf_parts_add(file, &(struct perf_part){ .bytes = bytes.bytes,
									  .end = bytes.size });
			if (failure.kind != ERROR_NONE &&
			    failure.kind != ERROR_FORMAT) /* empty files are usual */
				diag_warn(diag, "part-missing",
					  "%s: its trace and events are missing", failure.text);
		}
		/* Add unpacked records as the last parts; consumers order records by time. */
		for (size_t i = 0, count = file->part_count; i < count; i++) {
			struct byte_view bytes = perf_parts_unpack(file, i, diag);

			if (!bytes.bytes)
				continue;
			own_mapping(file, bytes);
			perf_parts_add(file, &(struct perf_part){ .bytes = bytes.bytes,
								  .end = bytes.size });
		}
	}
	file->folder = input.folder;
	free(input.paths);
	return status;
}

void perf_file_open_stream(struct perf_file *file, const char *path, struct byte_view stream,
			   struct diag *diag)
{
	*file = (struct perf_file){ .path = path };
	own_mapping(file, stream);
	read_stream(file, stream, diag);
}

/* ---- Series of files ----------------------------------------------------- */

/*
 * The files of perf record --switch-output agree in machine, boot, command line and events, and
 * their times follow each other. This is the evidence that files belong to one
 * recording.
 */

/* struct perf_record_auxtrace_info: time_shift, time_mult and time_zero (util/intel-pt.h). */
#define CLOCK_OFFSET 16
#define CLOCK_SIZE   24

/* Longest text of each file in a message. */
#define TEXT_MOST 60

/* The end of a long path is more informative than its start. */
static const char *name_of(const struct perf_origin *origin)
{
	size_t length = strlen(origin->path);

	if (strcmp(origin->path, "-") == 0)
		return "standard input";
	return length > TEXT_MOST ? origin->path + length - TEXT_MOST : origin->path;
}

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
		origin.end = MAX(origin.end, time);
	}
	return origin;
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

/* Describe how the features of two files' machines differ. Returns false if they are equal. */
static bool find_difference(char *reason, size_t room, const struct perf_features *a,
			    const struct perf_features *b)
{
	const struct {
		const char *name, *before, *next;
	} texts[] = { { "host name", a->hostname, b->hostname },
		      { "kernel", a->os_release, b->os_release },
		      { "CPU", a->cpuid, b->cpuid },
		      { "command line", a->command_line, b->command_line } };
	size_t same = 0, cut;

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		if (!texts[i].before || !texts[i].next ||
		    strcmp(texts[i].before, texts[i].next) == 0)
			continue;
		/* Show the texts around the first difference. */
		while (texts[i].next[same] && texts[i].next[same] == texts[i].before[same])
			same++;
		cut = same > TEXT_MOST / 2 ? same - TEXT_MOST / 2 : 0;
		snprintf(reason, room, "its %s is '%s%.*s', not '%s%.*s'", texts[i].name,
			 cut ? "..." : "", TEXT_MOST, texts[i].next + cut, cut ? "..." : "",
			 TEXT_MOST, texts[i].before + cut);
		return true;
	}
	if (a->cpus_available && b->cpus_available && a->cpus_available != b->cpus_available) {
		snprintf(reason, room, "its machine has %" PRIu32 " CPUs, not %" PRIu32,
			 b->cpus_available, a->cpus_available);
		return true;
	}
	return false;
}

/* Files overlap a little: perf reads one CPU after another, also before it switches files. */
static bool times_overlap(const struct perf_origin *a, const struct perf_origin *b)
{
	uint64_t begin = MAX(a->begin, b->begin);
	uint64_t end = MIN(a->end, b->end);
	uint64_t length_a = a->end - a->begin, length_b = b->end - b->begin;

	return a->begin < a->end && b->begin < b->end && begin < end &&
	       end - begin > MIN(length_a, length_b) / 2;
}

/* Compare with another input. Features and events were already compared with the first input's. */
static int compare_origins(const struct perf_origin *before, const struct perf_origin *next,
			   struct error *err)
{
	if (before->bytes.size == next->bytes.size &&
	    memcmp(before->bytes.bytes, next->bytes.bytes, next->bytes.size) == 0)
		return refuse_join(err, next, before, "both have the same content");
	if (before->clock && next->clock && memcmp(before->clock, next->clock, CLOCK_SIZE) != 0)
		return refuse_join(err, next, before, "its clock is of another boot or machine");
	if (times_overlap(before, next))
		return refuse_join(err, next, before, "their times overlap");
	/*
	 * A buffer's trace continues in the next file, so files must be joined in order. The end
	 * shows no order: a slow CPU's last events can be in the next file.
	 */
	if (next->begin < next->end && before->begin < before->end && next->begin < before->begin)
		return refuse_join(err, next, before, "it was recorded earlier (name it first)");
	return 0;
}

static int compare_all(const struct perf_file *file, const struct perf_file *next,
		       const struct perf_origin *origin, struct error *err)
{
	char reason[4 * TEXT_MOST];

	if (find_difference(reason, sizeof(reason), &file->features, &next->features))
		return refuse_join(err, origin, file->origins, reason);
	/* Counter ids are unique in the kernel. */
	if (!perf_attrs_equal(file, next))
		return refuse_join(err, origin, file->origins,
				   "its events are others, of another run of perf");
	for (size_t i = 0; i < file->origin_count; i++)
		if (compare_origins(&file->origins[i], origin, err) < 0)
			return -1;
	return 0;
}

/* Returns whether the files agree only because of missing features. */
static bool lacks_evidence(const struct perf_file *file, const struct perf_file *next,
			   const struct perf_origin *origin)
{
	const struct perf_origin *first = file->origins;

	return !file->features.hostname || !next->features.hostname ||
	       !file->features.command_line || !next->features.command_line || !first->clock ||
	       !origin->clock || first->begin >= first->end || origin->begin >= origin->end;
}

/* Compare an input with the inputs of `file`, and add it. Returns 0; -1 with err filled. */
static int perf_series_check(struct perf_file *file, struct perf_file *next, struct error *err)
{
	struct perf_origin origin = find_origin(next);

	if (!file->origin_count)
		*ARRAY_ADD(file->origins, file->origin_count, file->origin_room) =
			find_origin(file);
	if (compare_all(file, next, &origin, err) < 0)
		return -1;
	file->unproven |= lacks_evidence(file, next, &origin);
	*ARRAY_ADD(file->origins, file->origin_count, file->origin_room) = origin;
	return 0;
}

int perf_file_append(struct perf_file *file, const char *path, struct diag *diag, struct error *err)
{
	struct perf_file next;
	int status = perf_file_open(&next, path, diag, err);

	if (status == 0)
		status = perf_series_check(file, &next, err);
	if (status == 0) {
		uint64_t begin = file->origins[file->origin_count - 1].begin;

		/* Move mappings, parts and build ids of another file to this one. */
		for (size_t i = 0; i < next.part_count; i++) {
			if (begin != UINT64_MAX)
				next.parts[i].begin_time = begin;
			perf_parts_add(file, &next.parts[i]);
		}
		for (size_t i = 0; i < next.mapping_count; i++)
			own_mapping(file, next.mappings[i]);
		for (size_t i = 0; i < next.build_id_count; i++)
			perf_features_add_build_ids(file, next.build_ids[i]);
		file->unfinished |= next.unfinished;
		next.mapping_count = 0;
	}
	perf_file_close(&next);
	return status;
}

void perf_file_close(struct perf_file *file)
{
	for (size_t i = 0; i < file->mapping_count; i++)
		munmap((void *)file->mappings[i].bytes, file->mappings[i].size);
	free(file->mappings);
	free(file->parts);
	free(file->origins);
	free(file->build_ids);
	free(file->by_id);
	free(file->attrs);
	arena_release(&file->arena);
	*file = (struct perf_file){ 0 };
}
