/* SPDX-License-Identifier: MIT */
/* Collects the events of a recording and finds them by the ids of their counters. */
#include "decoder/perf_data/perf_file.h"

#define AUX_ACTION_OFFSET 116 /* offset of perf_event_attr.aux_action */
#define EVENT_UPDATE_NAME 2   /* PERF_EVENT_UPDATE__NAME of tools/perf/util/event.h */

/* Entries are sorted by id, and equal ids by attribute. */
struct perf_attr_id {
	uint64_t id;
	size_t attr; /* index */
};

/* ---- Adding -------------------------------------------------------------- */

/* Read the attribute into this kernel's struct: fields that the file lacks are 0. */
static void read_attr(struct perf_attr *attr, const uint8_t *bytes, size_t size)
{
	uint32_t own_size = 0;

	if (size >= PERF_ATTR_SIZE_VER0)
		memcpy(&own_size, bytes + 4, sizeof(own_size));
	if (own_size >= PERF_ATTR_SIZE_VER0 && own_size < size)
		size = own_size;
	memcpy(&attr->attr, bytes, size < sizeof(attr->attr) ? size : sizeof(attr->attr));
	if (size >= AUX_ACTION_OFFSET + sizeof(attr->aux_action))
		memcpy(&attr->aux_action, bytes + AUX_ACTION_OFFSET, sizeof(attr->aux_action));
}

void perf_attrs_add(struct perf_file *file, struct byte_view attr, struct byte_view ids)
{
	struct perf_attr *added;

	added = ARRAY_ADD(file->attrs, file->attr_count, file->attr_room);
	*added = (struct perf_attr){ 0 };
	read_attr(added, attr.bytes, attr.size);
	added->id_count = ids.size / sizeof(uint64_t);
	added->ids = added->id_count ? ids.bytes : NULL;
}

void perf_attrs_add_record(struct perf_file *file, const struct perf_record *record)
{
	uint32_t size = 0;

	if (record->size >= PERF_ATTR_SIZE_VER0)
		memcpy(&size, record->payload + sizeof(uint32_t), sizeof(size));
	if (size < PERF_ATTR_SIZE_VER0 || size > record->size)
		return;
	perf_attrs_add(file, (struct byte_view){ record->payload, size },
		       (struct byte_view){ record->payload + size, record->size - size });
}

void perf_attrs_update_name(struct perf_file *file, const struct perf_record *record)
{
	struct cursor c = cursor_over(record->payload, record->size);
	uint64_t type = cursor_u64(&c);
	uint64_t id = cursor_u64(&c);
	const char *text = cursor_text(&c);
	const struct perf_attr *attr;

	if (type != EVENT_UPDATE_NAME || !text)
		return;
	attr = perf_file_borrow_attr(file, id);
	if (attr)
		file->attrs[attr - file->attrs].name = arena_text(&file->arena, text, strlen(text));
}

/* ---- Ids ----------------------------------------------------------------- */

COMPARE_BY_TWO(compare_ids, struct perf_attr_id, id, attr)

/* Real id sections do not overlap: ignore further ids once they cannot all fit into the file. */
void perf_attrs_finish(struct perf_file *file)
{
	uint64_t room = file->size / sizeof(uint64_t);
	size_t total = 0;

	free(file->by_id);
	file->id_count = 0;
	for (size_t i = 0; i < file->attr_count; i++) {
		if (file->attrs[i].id_count > room - total)
			file->attrs[i].id_count = 0;
		total += file->attrs[i].id_count;
	}
	file->by_id = alloc_zeroed(total, sizeof(*file->by_id));
	for (size_t i = 0; i < file->attr_count; i++) {
		struct cursor c =
			cursor_over(file->attrs[i].ids, file->attrs[i].id_count * sizeof(uint64_t));

		for (size_t k = 0; k < file->attrs[i].id_count; k++)
			file->by_id[file->id_count++] = (struct perf_attr_id){ cursor_u64(&c), i };
	}
	SORT(file->by_id, file->id_count, compare_ids);
}

const struct perf_attr *perf_file_borrow_attr(const struct perf_file *file, uint64_t id)
{
	size_t low = LOWER_BOUND(i, file->id_count, file->by_id[i].id < id);

	if (low == file->id_count || file->by_id[low].id != id)
		return NULL;
	return &file->attrs[file->by_id[low].attr];
}

bool perf_attrs_equal(const struct perf_file *a, const struct perf_file *b)
{
	if (a->attr_count != b->attr_count)
		return false;
	for (size_t i = 0; i < a->attr_count; i++) {
		const struct perf_attr *left = &a->attrs[i], *right = &b->attrs[i];

		if (left->attr.type != right->attr.type ||
		    left->attr.config != right->attr.config ||
		    left->attr.sample_type != right->attr.sample_type ||
		    left->id_count != right->id_count)
			return false;
		if (left->id_count &&
		    memcmp(left->ids, right->ids, left->id_count * sizeof(uint64_t)) != 0)
			return false;
	}
	return true;
}
