/* SPDX-License-Identifier: MIT */
#include "tests/support/perf_data.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

enum {
	HEADER_BYTES = 104,
	ALIGNMENT = 8,
	NAME_ALIGNMENT = 64,       /* NAME_ALIGN of util/header.c */
	RECORD_AUXTRACE_INFO = 70, /* enum perf_user_event_type of util/event.h */
	RECORD_AUXTRACE = 71,
	AUXTRACE_TYPE_INTEL_PT = 1, /* enum auxtrace_type of util/auxtrace.h */
	FEATURE_BUILD_ID = 2,       /* enum of util/header.h */
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_AUXTRACE = 18,
	BUILD_ID_BYTES = 20,
	BUILD_ID_SIZE_GIVEN = 1 << 15, /* PERF_RECORD_MISC_BUILD_ID_SIZE */
};

static void put(struct perf_data_buffer *buffer, const void *bytes, size_t size)
{
	buffer->bytes = alloc_grow(buffer->bytes, &buffer->room, buffer->size + size + 1, 1);
	if (size)
		memcpy(buffer->bytes + buffer->size, bytes, size);
	buffer->size += size;
}

static void put_u16(struct perf_data_buffer *buffer, uint16_t value)
{
	put(buffer, &value, sizeof(value));
}

static void put_u32(struct perf_data_buffer *buffer, uint32_t value)
{
	put(buffer, &value, sizeof(value));
}

static void put_u64(struct perf_data_buffer *buffer, uint64_t value)
{
	put(buffer, &value, sizeof(value));
}

static void put_zeros(struct perf_data_buffer *buffer, size_t count)
{
	while (count--)
		put(buffer, "", 1);
}

/* Pad so that the bytes since `begin` are a multiple of `unit`. */
static void align(struct perf_data_buffer *buffer, size_t begin, size_t unit)
{
	put_zeros(buffer, (unit - (buffer->size - begin) % unit) % unit);
}

static void put_text(struct perf_data_buffer *buffer, const char *text)
{
	size_t begin = buffer->size;

	put(buffer, text, strlen(text) + 1);
	align(buffer, begin, ALIGNMENT);
}

/* A string of a feature section: its padded length, then the text. */
static void put_string(struct perf_data_buffer *buffer, const char *text)
{
	size_t length = strlen(text) + 1;

	length += (NAME_ALIGNMENT - length % NAME_ALIGNMENT) % NAME_ALIGNMENT;
	put_u32(buffer, (uint32_t)length);
	put(buffer, text, strlen(text));
	put_zeros(buffer, length - strlen(text));
}

void perf_data_init(struct perf_data *data)
{
	*data = (struct perf_data){ 0 };
}

void perf_data_release(struct perf_data *data)
{
	free(data->records.bytes);
	free(data->aux_index.bytes);
	for (unsigned i = 0; i < PERF_DATA_FEATURES; i++)
		free(data->features[i].bytes);
	perf_data_init(data);
}

/* ---- Events -------------------------------------------------------------- */

unsigned perf_data_add_event(struct perf_data *data, const struct perf_data_event *event)
{
	if (data->event_count == PERF_DATA_EVENTS)
		abort();
	data->events[data->event_count] = *event;
	return data->event_count++;
}

unsigned perf_data_add_pt_event(struct perf_data *data, uint32_t pmu_type, uint64_t config)
{
	struct perf_data_event event = {
		.attr = {
			.type = pmu_type,
			.config = config,
			.sample_period = 1,
			.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				       PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER,
			.read_format = PERF_FORMAT_ID,
			.exclude_kernel = 1,
			.sample_id_all = 1,
		},
		.name = "intel_pt//u",
		.first_id = 1000 + 100 * data->event_count,
		.attr_bytes = sizeof(struct perf_event_attr),
	};

	return perf_data_add_event(data, &event);
}

/* ---- Records ------------------------------------------------------------- */

void perf_data_stamp(struct perf_data *data, struct perf_data_stamp stamp)
{
	data->stamp = stamp;
}

/* struct sample_id in linux/perf_event.h, at PERF_RECORD_MMAP. */
static void put_trailer(struct perf_data_buffer *buffer, const struct perf_data *data)
{
	const struct perf_data_stamp *stamp = &data->stamp;
	const struct perf_data_event *event = &data->events[stamp->event];
	uint64_t id = event->first_id + (stamp->cpu > 0 ? (unsigned)stamp->cpu % PERF_DATA_IDS : 0);
	uint64_t fields = event->attr.sample_type;

	if (stamp->event >= data->event_count || !event->attr.sample_id_all)
		return;
	if (fields & PERF_SAMPLE_TID) {
		put_u32(buffer, (uint32_t)stamp->pid);
		put_u32(buffer, (uint32_t)stamp->tid);
	}
	if (fields & PERF_SAMPLE_TIME)
		put_u64(buffer, stamp->time);
	if (fields & PERF_SAMPLE_ID)
		put_u64(buffer, id);
	if (fields & PERF_SAMPLE_STREAM_ID)
		put_u64(buffer, id);
	if (fields & PERF_SAMPLE_CPU)
		put_u64(buffer, (uint32_t)stamp->cpu);
	if (fields & PERF_SAMPLE_IDENTIFIER)
		put_u64(buffer, id);
}

static size_t begin_record(struct perf_data_buffer *buffer, uint32_t type, uint16_t misc)
{
	size_t begin = buffer->size;

	put_u32(buffer, type);
	put_u16(buffer, misc);
	put_u16(buffer, 0);
	return begin;
}

/* Store the size, which is now known. */
static void end_record(struct perf_data_buffer *buffer, size_t begin)
{
	uint16_t size = (uint16_t)(buffer->size - begin);

	if (buffer->size - begin > UINT16_MAX)
		abort();
	memcpy(buffer->bytes + begin + 6, &size, sizeof(size));
}

void perf_data_add_record(struct perf_data *data, uint32_t type, uint16_t misc, const void *payload,
			  size_t size)
{
	size_t begin = begin_record(&data->records, type, misc);

	put(&data->records, payload, size);
	align(&data->records, begin, ALIGNMENT);
	put_trailer(&data->records, data);
	end_record(&data->records, begin);
}

void perf_data_add_user_record(struct perf_data *data, uint32_t type, const void *payload,
			       size_t size)
{
	size_t begin = begin_record(&data->records, type, 0);

	put(&data->records, payload, size);
	align(&data->records, begin, ALIGNMENT);
	end_record(&data->records, begin);
}

/* Add a record with its payload from a buffer of its own. */
static void add_gathered(struct perf_data *data, uint32_t type, uint16_t misc,
			 struct perf_data_buffer *payload)
{
	perf_data_add_record(data, type, misc, payload->bytes, payload->size);
	free(payload->bytes);
}

static void put_map_range(struct perf_data_buffer *payload, const struct perf_data_mmap *map)
{
	put_u32(payload, (uint32_t)map->pid);
	put_u32(payload, (uint32_t)map->tid);
	put_u64(payload, map->address);
	put_u64(payload, map->length);
	put_u64(payload, map->file_offset);
}

void perf_data_add_mmap(struct perf_data *data, uint16_t misc, const struct perf_data_mmap *map)
{
	struct perf_data_buffer payload = { 0 };

	put_map_range(&payload, map);
	put_text(&payload, map->path);
	add_gathered(data, PERF_RECORD_MMAP, misc, &payload);
}

void perf_data_add_mmap2(struct perf_data *data, uint16_t misc, const struct perf_data_mmap *map)
{
	struct perf_data_buffer payload = { 0 };

	put_map_range(&payload, map);
	if (map->build_id) {
		misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		put_u32(&payload, map->build_id_size);
		put(&payload, map->build_id, map->build_id_size);
		put_zeros(&payload, BUILD_ID_BYTES - map->build_id_size);
	} else {
		put_u32(&payload, map->major);
		put_u32(&payload, 0); /* minor */
		put_u64(&payload, map->inode);
		put_u64(&payload, 0); /* ino_generation */
	}
	put_u32(&payload, map->prot);
	put_u32(&payload, map->shared ? 1 : 2); /* flags: MAP_SHARED, MAP_PRIVATE */
	put_text(&payload, map->path);
	add_gathered(data, PERF_RECORD_MMAP2, misc, &payload);
}

void perf_data_add_comm(struct perf_data *data, uint16_t misc, int32_t pid, int32_t tid,
			const char *name)
{
	struct perf_data_buffer payload = { 0 };

	put_u32(&payload, (uint32_t)pid);
	put_u32(&payload, (uint32_t)tid);
	put_text(&payload, name);
	add_gathered(data, PERF_RECORD_COMM, misc, &payload);
}

static void add_task(struct perf_data *data, uint32_t type, const int32_t ids[4])
{
	struct perf_data_buffer payload = { 0 };

	put(&payload, ids, 4 * sizeof(ids[0])); /* pid, ppid, tid, ptid */
	put_u64(&payload, data->stamp.time);
	add_gathered(data, type, 0, &payload);
}

void perf_data_add_fork(struct perf_data *data, int32_t pid, int32_t tid, int32_t parent_pid)
{
	add_task(data, PERF_RECORD_FORK, (const int32_t[]){ pid, parent_pid, tid, parent_pid });
}

void perf_data_add_exit(struct perf_data *data, int32_t pid, int32_t tid)
{
	add_task(data, PERF_RECORD_EXIT, (const int32_t[]){ pid, pid, tid, pid });
}

void perf_data_add_switch(struct perf_data *data, bool out, int32_t pid, int32_t tid)
{
	perf_data_add_record(data, PERF_RECORD_SWITCH_CPU_WIDE,
			     out ? PERF_RECORD_MISC_SWITCH_OUT : 0, (const int32_t[]){ pid, tid },
			     2 * sizeof(int32_t));
}

void perf_data_add_itrace_start(struct perf_data *data, int32_t pid, int32_t tid)
{
	perf_data_add_record(data, PERF_RECORD_ITRACE_START, 0, (const int32_t[]){ pid, tid },
			     2 * sizeof(int32_t));
}

void perf_data_add_aux_event(struct perf_data *data, uint64_t offset, uint64_t size, uint64_t flags)
{
	perf_data_add_record(data, PERF_RECORD_AUX, 0, (const uint64_t[]){ offset, size, flags },
			     3 * sizeof(uint64_t));
}

void perf_data_add_lost(struct perf_data *data, uint64_t count)
{
	const struct perf_data_event *event = &data->events[data->stamp.event];

	perf_data_add_record(data, PERF_RECORD_LOST, 0,
			     (const uint64_t[]){ event->first_id, count }, 2 * sizeof(uint64_t));
}

void perf_data_add_pt_info(struct perf_data *data, const struct perf_data_pt_info *info,
			   const char *filter)
{
	struct perf_data_buffer payload = { 0 };

	put_u32(&payload, AUXTRACE_TYPE_INTEL_PT);
	put_u32(&payload, 0);
	put(&payload, info, sizeof(*info));
	put_u64(&payload, filter ? strlen(filter) : 0);
	if (filter)
		put_text(&payload, filter);
	perf_data_add_user_record(data, RECORD_AUXTRACE_INFO, payload.bytes, payload.size);
	free(payload.bytes);
}

void perf_data_add_auxtrace(struct perf_data *data, const struct perf_data_aux *aux)
{
	struct perf_data_buffer *records = &data->records;
	size_t begin = begin_record(records, RECORD_AUXTRACE, 0);
	size_t padding = (ALIGNMENT - aux->size % ALIGNMENT) % ALIGNMENT;

	put_u64(records, aux->size + padding);
	put_u64(records, aux->aux_offset);
	put_u64(records, aux->reference);
	put_u32(records, aux->queue);
	put_u32(records, (uint32_t)aux->tid);
	put_u32(records, (uint32_t)aux->cpu);
	put_u32(records, 0);
	end_record(records, begin);
	put_u64(&data->aux_index, begin);
	put_u64(&data->aux_index, records->size - begin);
	put(records, aux->bytes, aux->size);
	put_zeros(records, padding);
}

/* ---- Features ------------------------------------------------------------ */

void perf_data_set_feature(struct perf_data *data, unsigned feature, const void *bytes, size_t size)
{
	data->features[feature].size = 0;
	put(&data->features[feature], bytes, size);
}

void perf_data_set_text(struct perf_data *data, unsigned feature, const char *text)
{
	data->features[feature].size = 0;
	put_string(&data->features[feature], text);
}

void perf_data_set_command_line(struct perf_data *data, const char *const *words)
{
	struct perf_data_buffer *section = &data->features[FEATURE_CMDLINE];
	uint32_t count = 0;

	while (words[count])
		count++;
	section->size = 0;
	put_u32(section, count);
	for (uint32_t i = 0; i < count; i++)
		put_string(section, words[i]);
}

/* struct perf_record_header_build_id of perf's event.h. */
void perf_data_add_build_id(struct perf_data *data, uint16_t misc, const char *path,
			    const uint8_t *id, uint8_t size)
{
	struct perf_data_buffer *section = &data->features[FEATURE_BUILD_ID];
	size_t begin = begin_record(section, 0, misc | BUILD_ID_SIZE_GIVEN);

	put_u32(section, UINT32_MAX); /* pid: -1 */
	put(section, id, size);
	put_zeros(section, BUILD_ID_BYTES - size);
	put_u32(section, size);
	put_text(section, path);
	end_record(section, begin);
}

/* ---- The file ------------------------------------------------------------ */

static uint32_t attr_bytes(const struct perf_data *data)
{
	return data->event_count ? data->events[0].attr_bytes : sizeof(struct perf_event_attr);
}

/* The attribute in the size of the emulated perf. */
static void put_attr(struct perf_data_buffer *file, const struct perf_data *data, unsigned event)
{
	struct perf_event_attr attr = data->events[event].attr;
	size_t size = attr_bytes(data);

	attr.size = (uint32_t)size;
	put(file, &attr, size < sizeof(attr) ? size : sizeof(attr));
	if (size > sizeof(attr))
		put_zeros(file, size - sizeof(attr));
}

static void put_ids(struct perf_data_buffer *file, const struct perf_data_event *event)
{
	for (unsigned i = 0; i < PERF_DATA_IDS; i++)
		put_u64(file, event->first_id + i);
}

static void put_event_names(struct perf_data_buffer *section, const struct perf_data *data)
{
	put_u32(section, data->event_count);
	put_u32(section, attr_bytes(data));
	for (unsigned i = 0; i < data->event_count; i++) {
		const struct perf_data_event *event = &data->events[i];

		put_attr(section, data, i);
		put_u32(section, PERF_DATA_IDS);
		put_string(section, event->name ? event->name : "");
		put_ids(section, event);
	}
}

/* struct auxtrace_index_entry of util/auxtrace.h; the section begins with their number. */
static void put_aux_index(struct perf_data_buffer *section, const struct perf_data *data,
			  uint64_t data_offset)
{
	put_u64(section, data->aux_index.size / 16);
	for (size_t i = 0; i < data->aux_index.size; i += 16) {
		uint64_t entry[2];

		memcpy(entry, data->aux_index.bytes + i, sizeof(entry));
		put_u64(section, data_offset + entry[0]);
		put_u64(section, entry[1]);
	}
}

/* The caller's features and the derived ones. */
static struct perf_data_buffer feature_of(const struct perf_data *data, unsigned feature,
					  uint64_t data_offset)
{
	struct perf_data_buffer section = { 0 };

	if (data->unfinished)
		return section;
	put(&section, data->features[feature].bytes, data->features[feature].size);
	if (section.size)
		return section;
	if (feature == FEATURE_EVENT_DESC && data->event_count)
		put_event_names(&section, data);
	if (feature == FEATURE_AUXTRACE && data->aux_index.size)
		put_aux_index(&section, data, data_offset);
	return section;
}

/* The table of sections follows the data, and the sections follow the table. */
static uint64_t put_features(struct perf_data_buffer *file, const struct perf_data *data,
			     uint64_t data_offset)
{
	struct perf_data_buffer sections[PERF_DATA_FEATURES];
	uint64_t present = 0, offset = file->size;

	for (unsigned i = 0; i < PERF_DATA_FEATURES; i++) {
		sections[i] = feature_of(data, i, data_offset);
		if (sections[i].size)
			present |= UINT64_C(1) << i;
	}
	offset += 16 * (uint64_t)__builtin_popcountll(present);
	for (unsigned i = 0; i < PERF_DATA_FEATURES; i++) {
		if (sections[i].size) {
			put_u64(file, offset);
			put_u64(file, sections[i].size);
			offset += sections[i].size;
		}
	}
	for (unsigned i = 0; i < PERF_DATA_FEATURES; i++) {
		put(file, sections[i].bytes, sections[i].size);
		free(sections[i].bytes);
	}
	return present;
}

/* struct perf_file_header of util/header.h. */
static void put_header(struct perf_data_buffer *file, const struct perf_data *data)
{
	uint64_t entry_bytes = attr_bytes(data) + 16;
	uint64_t ids_bytes = (uint64_t)data->event_count * PERF_DATA_IDS * 8;
	uint64_t attrs_bytes = data->event_count * entry_bytes;

	put(file, "PERFILE2", 8);
	put_u64(file, HEADER_BYTES);
	put_u64(file, entry_bytes);
	put_u64(file, HEADER_BYTES + ids_bytes);
	put_u64(file, attrs_bytes);
	put_u64(file, HEADER_BYTES + ids_bytes + attrs_bytes);
	put_u64(file, data->unfinished ? 0 : data->records.size);
	put_zeros(file, 16 + 32); /* event_types, and the features' bitmap for later */
}

uint8_t *perf_data_finish(const struct perf_data *data, size_t *size)
{
	struct perf_data_buffer file = { 0 };
	uint64_t data_offset, present;

	put_header(&file, data);
	for (unsigned i = 0; i < data->event_count; i++)
		put_ids(&file, &data->events[i]);
	for (unsigned i = 0; i < data->event_count; i++) {
		put_attr(&file, data, i);
		put_u64(&file, HEADER_BYTES + (uint64_t)i * PERF_DATA_IDS * 8);
		put_u64(&file, PERF_DATA_IDS * 8);
	}
	data_offset = file.size;
	put(&file, data->records.bytes, data->records.size);
	present = put_features(&file, data, data_offset);
	memcpy(file.bytes + 72, &present, sizeof(present));
	*size = file.size;
	return file.bytes;
}

void perf_data_write(const struct perf_data *data, const char *path)
{
	size_t size;
	uint8_t *bytes = perf_data_finish(data, &size);
	FILE *out = fopen(path, "wb");

	if (!out || fwrite(bytes, 1, size, out) != size || fclose(out) != 0) {
		perror(path);
		abort();
	}
	free(bytes);
}

void perf_data_write_temporary(const struct perf_data *data, char path[PERF_DATA_PATH])
{
	int fd;

	strcpy(path, "/tmp/perf-data-XXXXXX");
	fd = mkstemp(path);
	if (fd < 0) {
		perror(path);
		abort();
	}
	close(fd);
	perf_data_write(data, path);
}
