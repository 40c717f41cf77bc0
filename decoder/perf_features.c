/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/cursor.h"
#include "decoder/perf_file.h"

#define FEATURE_BITS 256
#define FEATURE_BITMAP_OFFSET 72 /* of struct perf_file_header */
#define BUILD_ID_FIXED 36        /* header, pid, 24 bytes of id */
#define BUILD_ID_SIZE_GIVEN 0x8000 /* PERF_RECORD_MISC_BUILD_ID_SIZE */
#define BUILD_ID_LENGTH 20

/* A string is a length, that many bytes, among them a NUL and padding.  Returns NULL if cut. */
static const char *read_string(struct perf_file *file, struct cursor *c)
{
	uint32_t length = cursor_u32(c);
	const uint8_t *text = cursor_take(c, length);

	return text ? arena_text(&file->arena, (const char *)text,
				 strnlen((const char *)text, length))
		    : NULL;
}

static const char *read_command_line(struct perf_file *file, struct cursor *c)
{
	uint32_t words = cursor_u32(c);
	char *line = arena_alloc(&file->arena, cursor_left(c) + 1);
	size_t used = 0;

	/* A word takes at least 4 bytes of the section, so the line has room for its blank. */
	for (uint32_t i = 0; i < words; i++) {
		uint32_t room = cursor_u32(c);
		const uint8_t *word = cursor_take(c, room);
		size_t length;

		if (c->short_)
			break;
		length = strnlen((const char *)word, room);
		if (used)
			line[used++] = ' ';
		memcpy(line + used, word, length);
		used += length;
	}
	return line;
}

/* The events stand in the order of the attributes. */
static void read_event_names(struct perf_file *file, struct cursor *c)
{
	uint32_t count = cursor_u32(c);
	uint32_t attr_size = cursor_u32(c);

	for (uint32_t i = 0; i < count && i < file->attr_count && !c->short_; i++) {
		uint32_t ids;

		cursor_take(c, attr_size);
		ids = cursor_u32(c);
		file->attrs[i].name = read_string(file, c);
		cursor_take(c, (size_t)ids * sizeof(uint64_t));
	}
}

static void read_clock_data(struct perf_features *features, struct cursor *c)
{
	cursor_u32(c); /* version */
	features->clock_id = cursor_u32(c);
	features->clock_wall_ns = cursor_u64(c);
	features->clock_ns = cursor_u64(c);
	features->has_clock_data = !c->short_;
}

static void read_feature(struct perf_file *file, unsigned feature, struct cursor *c)
{
	struct perf_features *features = &file->features;

	switch (feature) {
	case PERF_FEATURE_HOSTNAME:
		features->hostname = read_string(file, c);
		break;
	case PERF_FEATURE_OSRELEASE:
		features->os_release = read_string(file, c);
		break;
	case PERF_FEATURE_VERSION:
		features->version = read_string(file, c);
		break;
	case PERF_FEATURE_ARCH:
		features->arch = read_string(file, c);
		break;
	case PERF_FEATURE_CPUDESC:
		features->cpu_description = read_string(file, c);
		break;
	case PERF_FEATURE_CPUID:
		features->cpuid = read_string(file, c);
		break;
	case PERF_FEATURE_NRCPUS:
		features->cpus_available = cursor_u32(c);
		features->cpus_online = cursor_u32(c);
		break;
	case PERF_FEATURE_CMDLINE:
		features->command_line = read_command_line(file, c);
		break;
	case PERF_FEATURE_EVENT_DESC:
		read_event_names(file, c);
		break;
	case PERF_FEATURE_SAMPLE_TIME:
		features->first_sample_time = cursor_u64(c);
		features->last_sample_time = cursor_u64(c);
		break;
	case PERF_FEATURE_CLOCKID:
		features->clockid_resolution = cursor_u64(c);
		break;
	case PERF_FEATURE_CLOCK_DATA:
		read_clock_data(features, c);
		break;
	default: /* kept as bytes, or not needed */
		break;
	}
}

/* Each set bit of the header's bitmap has a section, described behind the data. */
void perf_features_read(struct perf_file *file, struct diag *diag)
{
	struct cursor table = cursor_over(file->bytes + file->data_end,
					  file->size - file->data_end);

	for (unsigned feature = 0; feature < FEATURE_BITS; feature++) {
		uint64_t offset, size;
		struct cursor c;

		if (!(file->bytes[FEATURE_BITMAP_OFFSET + feature / 8] >> feature % 8 & 1))
			continue;
		offset = cursor_u64(&table);
		size = cursor_u64(&table);
		if (table.short_ || offset > file->size || size > file->size - offset) {
			diag_warn(diag, "feature-damaged",
				  "feature section %u of the file is damaged and left out", feature);
			continue;
		}
		if (feature < PERF_FEATURE_COUNT)
			file->features.sections[feature] =
				(struct perf_bytes){ file->bytes + offset, size };
		c = cursor_over(file->bytes + offset, size);
		read_feature(file, feature, &c);
		if (c.short_)
			diag_warn(diag, "feature-damaged", "feature section %u of the file is cut",
				  feature);
	}
}

int perf_features_next_build_id(const struct perf_file *file, size_t *position, const char **path,
				const uint8_t **id, size_t *id_size)
{
	const struct perf_bytes *section = &file->features.sections[PERF_FEATURE_BUILD_ID];
	struct cursor c;
	uint16_t misc, size;
	const uint8_t *entry;

	if (!section->bytes || *position >= section->size)
		return 0;
	entry = section->bytes + *position;
	c = cursor_over(entry, section->size - *position);
	cursor_u32(&c);
	misc = cursor_u16(&c);
	size = cursor_u16(&c);
	if (c.short_ || size <= BUILD_ID_FIXED || size > section->size - *position)
		return 0;
	*id = entry + 12;
	*id_size = misc & BUILD_ID_SIZE_GIVEN ? entry[12 + BUILD_ID_LENGTH] : BUILD_ID_LENGTH;
	if (*id_size > BUILD_ID_LENGTH)
		*id_size = BUILD_ID_LENGTH;
	*path = (const char *)entry + BUILD_ID_FIXED;
	*position += size;
	if (!memchr(*path, 0, size - BUILD_ID_FIXED))
		return 0;
	return 1;
}
