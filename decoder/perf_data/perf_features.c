/* SPDX-License-Identifier: MIT */
/* Read the feature sections and build ids of a recording. */
#include "decoder/perf_data/perf_file.h"

#include "decoder/address_space.h"

#define FEATURE_BITS          256
#define FEATURE_BITMAP_OFFSET 72     /* offset in struct perf_file_header */
#define RECORD_HEADER         8      /* bytes of struct perf_event_header */
#define BUILD_ID_FIXED        36     /* header, pid, 24 bytes of id */
#define BUILD_ID_SIZE_GIVEN   0x8000 /* PERF_RECORD_MISC_BUILD_ID_SIZE */

/* Read a length, then bytes of that length with a NUL and padding. Returns NULL if truncated. */
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

	/* A word occupies at least 4 bytes of the section, so the line has room for the blank. */
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

/* A PMU for each kind of core, and its CPUs. */
static void read_hybrid_topology(struct perf_file *file, struct cursor *c)
{
	uint32_t kinds = cursor_u32(c);

	while (kinds-- && !c->short_) {
		const char *pmu = read_string(file, c);
		const char *cpus = read_string(file, c);

		if (pmu && cpus && strcmp(pmu, "cpu_core") == 0)
			file->features.performance_cpus = cpus;
	}
}

void perf_features_add_build_ids(struct perf_file *file, struct byte_view row)
{
	*ARRAY_ADD(file->build_ids, file->build_id_count, file->build_id_room) = row;
}

/* Features that are one string each. */
static const struct {
	unsigned feature; /* enum perf_feature */
	size_t field;     /* offset in struct perf_features of the const char pointer */
} strings[] = {
	{ PERF_FEATURE_HOSTNAME, offsetof(struct perf_features, hostname) },
	{ PERF_FEATURE_OSRELEASE, offsetof(struct perf_features, os_release) },
	{ PERF_FEATURE_VERSION, offsetof(struct perf_features, version) },
	{ PERF_FEATURE_CPUDESC, offsetof(struct perf_features, cpu_description) },
	{ PERF_FEATURE_CPUID, offsetof(struct perf_features, cpuid) },
};

/* Read the values of a feature. Other features are kept as bytes or ignored. */
static void read_values(struct perf_file *file, unsigned feature, struct cursor *c)
{
	struct perf_features *features = &file->features;

	for (size_t i = 0; i < COUNT_OF(strings); i++) {
		if (strings[i].feature == feature)
			*(const char **)((char *)features + strings[i].field) =
				read_string(file, c);
	}
	if (feature == PERF_FEATURE_NRCPUS) {
		features->cpus_available = cursor_u32(c);
	} else if (feature == PERF_FEATURE_CMDLINE) {
		features->command_line = read_command_line(file, c);
	} else if (feature == PERF_FEATURE_EVENT_DESC) {
		uint32_t count = cursor_u32(c);
		uint32_t attr_size = cursor_u32(c);

		/* The events are in the order of the attributes. */
		for (uint32_t i = 0; i < count && i < file->attr_count && !c->short_; i++) {
			uint32_t ids;

			cursor_take(c, attr_size);
			ids = cursor_u32(c);
			file->attrs[i].name = read_string(file, c);
			cursor_take(c, (size_t)ids * sizeof(uint64_t));
		}
	} else if (feature == PERF_FEATURE_SAMPLE_TIME) {
		features->first_sample_time = cursor_u64(c);
		features->last_sample_time = cursor_u64(c);
	} else if (feature == PERF_FEATURE_CLOCK_DATA) {
		cursor_u32(c); /* version */
		cursor_u32(c); /* clockid */
		features->clock_wall_ns = cursor_u64(c);
		features->clock_ns = cursor_u64(c);
		features->has_clock_data = !c->short_;
	} else if (feature == PERF_FEATURE_HYBRID_TOPOLOGY) {
		read_hybrid_topology(file, c);
	}
}

/* By number: tools/perf/util/header.h, enum HEADER_*; 32 and later are newer than perf 6.18. */
static const char *const feature_names[] = {
	"RESERVED",        "TRACING_DATA", "BUILD_ID",        "HOSTNAME",     "OSRELEASE",
	"VERSION",         "ARCH",         "NRCPUS",          "CPUDESC",      "CPUID",
	"TOTAL_MEM",       "CMDLINE",      "EVENT_DESC",      "CPU_TOPOLOGY", "NUMA_TOPOLOGY",
	"BRANCH_STACK",    "PMU_MAPPINGS", "GROUP_DESC",      "AUXTRACE",     "STAT",
	"CACHE",           "SAMPLE_TIME",  "MEM_TOPOLOGY",    "CLOCKID",      "DIR_FORMAT",
	"BPF_PROG_INFO",   "BPF_BTF",      "COMPRESSED",      "CPU_PMU_CAPS", "CLOCK_DATA",
	"HYBRID_TOPOLOGY", "PMU_CAPS",     "CPU_DOMAIN_INFO", "E_MACHINE",    "CLN_SIZE"
};

#define FEATURES_KNOWN (COUNT_OF(feature_names))

static const char *feature_name(unsigned feature)
{
	return feature < FEATURES_KNOWN ? feature_names[feature] : "unknown";
}

static void read_feature(struct perf_file *file, unsigned feature, struct byte_view section,
			 struct diag *diag)
{
	struct cursor c = cursor_over(section.bytes, section.size);

	if (feature < PERF_FEATURE_COUNT && !file->features.sections[feature].bytes)
		file->features.sections[feature] = section;
	read_values(file, feature, &c);
	if (c.short_)
		diag_warn(diag, "feature-damaged",
			  "the feature section %s (%u) of the file is too short for its content",
			  feature_name(feature), feature);
	if (feature >= FEATURES_KNOWN)
		diag_warn(diag, "feature-unknown",
			  "the feature section %u of the file is of a newer perf, and not read",
			  feature);
}

/* The table after the data describes a section for each set bit of the header's bitmap. */
void perf_features_read(struct perf_file *file, struct byte_view bytes, uint64_t table_offset,
			struct diag *diag)
{
	bool first = !file->part_count;
	struct cursor table = cursor_over(bytes.bytes + table_offset, bytes.size - table_offset);

	for (unsigned feature = 0; feature < FEATURE_BITS; feature++) {
		struct byte_view section;
		uint64_t offset;

		if (!(bytes.bytes[FEATURE_BITMAP_OFFSET + feature / 8] >> feature % 8 & 1))
			continue;
		offset = cursor_u64(&table);
		section.size = cursor_u64(&table);
		if (table.short_ || offset > bytes.size || section.size > bytes.size - offset) {
			diag_warn(diag, "feature-damaged",
				  "the feature section %s (%u) of the file is damaged and left out",
				  feature_name(feature), feature);
			continue;
		}
		section.bytes = bytes.bytes + offset;
		if (feature == PERF_FEATURE_BUILD_ID)
			perf_features_add_build_ids(file, section);
		if (first)
			read_feature(file, feature, section, diag);
	}
}

void perf_features_read_record(struct perf_file *file, const struct perf_record *record,
			       struct diag *diag)
{
	struct cursor c = cursor_over(record->payload, record->size);
	struct byte_view section;
	uint64_t feature;

	/* An entry of the section includes the record's header. */
	if (record->type == PERF_USER_HEADER_BUILD_ID)
		perf_features_add_build_ids(file,
					    (struct byte_view){ record->payload - RECORD_HEADER,
								record->size + RECORD_HEADER });
	if (record->type == PERF_USER_HEADER_TRACING_DATA)
		read_feature(file, PERF_FEATURE_TRACING_DATA, record->aux, diag);
	if (record->type == PERF_USER_PACKED)
		file->features.sections[PERF_FEATURE_PACKED] = record->aux;
	if (record->type != PERF_USER_HEADER_FEATURE)
		return;
	feature = cursor_u64(&c);
	section = (struct byte_view){ c.at, cursor_left(&c) };
	if (feature == PERF_FEATURE_BUILD_ID)
		perf_features_add_build_ids(file, section);
	if (!c.short_ && feature < FEATURE_BITS)
		read_feature(file, (unsigned)feature, section, diag);
}

/* Returns the bytes of the entry; 0 if it is missing or damaged. */
static size_t read_build_id(const struct byte_view *row, size_t at, struct perf_build_id *found)
{
	const uint8_t *entry = row->bytes + at;
	struct cursor c = cursor_over(entry, row->size - at);
	uint16_t misc, size;

	cursor_u32(&c);
	misc = cursor_u16(&c);
	size = cursor_u16(&c);
	if (c.short_ || size <= BUILD_ID_FIXED || size > row->size - at)
		return 0;
	found->id = entry + 12;
	found->id_size = misc & BUILD_ID_SIZE_GIVEN ? entry[12 + BUILD_ID_MAX] : BUILD_ID_MAX;
	found->id_size = MIN(found->id_size, BUILD_ID_MAX);
	found->path = (const char *)entry + BUILD_ID_FIXED;
	return memchr(found->path, 0, size - BUILD_ID_FIXED) ? size : 0;
}

int perf_features_next_build_id(const struct perf_file *file, struct perf_build_id *entry)
{
	for (; entry->row < file->build_id_count; entry->row++, entry->offset = 0) {
		size_t size = read_build_id(&file->build_ids[entry->row], entry->offset, entry);

		entry->offset += size;
		/* The end of a damaged entry is unknown: skip the rest of the row. */
		if (size)
			return 1;
	}
	return 0;
}
