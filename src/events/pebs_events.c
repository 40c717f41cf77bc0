/* SPDX-License-Identifier: MIT */
/* Write the samples that are in the trace. */
#include "src/events/event_output.h"

#define VALUES 32 /* values of a block: ids have 5 bits */

/* The blocks with a known meaning, and their types in BBP packets. */
enum block {
	BLOCK_GENERAL,
	BLOCK_BASIC,
	BLOCK_MEMORY,
	BLOCK_BRANCHES,
	BLOCK_BRANCHES_LAST = BLOCK_BRANCHES + 2,
	BLOCK_VECTORS,
	BLOCKS
};

static const uint8_t block_types[BLOCKS] = { 1, 4, 5, 8, 9, 10, 16 };

enum basic_value { BASIC_IP, BASIC_COUNTERS, BASIC_TSC };
enum memory_value { MEMORY_ADDRESS, MEMORY_SOURCE, MEMORY_LATENCY, MEMORY_TSX, MEMORY_VALUES };

#define BRANCH_WORDS 3 /* from, to, info */

struct pebs_record {
	int32_t cpu;
	const struct thread *thread; /* borrowed; NULL: unknown */
	uint32_t present[BLOCKS];    /* a bit per value */
	uint64_t values[BLOCKS][VALUES];
	uint32_t others; /* values with unknown meaning */
	UT_hash_handle hh;
};

/* From `time` on, the counter of a CPU is this event's. */
struct counter_use {
	uint64_t counter, time;
	const struct perf_attr *attr; /* borrowed */
	int32_t cpu;
};

/* ---- The event of a counter ---------------------------------------------- */

COMPARE_BY_THREE(compare_uses, struct counter_use, cpu, counter, time)

static void list_events(struct event_output *output)
{
	const struct perf_file *file = output->input.file;
	struct perf_record record;
	uint64_t position = 0;
	unsigned with_output = 0;

	output->listed = true;
	for (size_t i = 0; i < file->attr_count; i++) {
		if (file->attrs[i].attr.aux_output && !with_output++)
			output->only = &file->attrs[i];
	}
	if (with_output > 1)
		output->only = NULL;
	while (perf_file_next(file, &position, &record, NULL)) {
		const struct perf_attr *attr = perf_file_borrow_attr(file, record.id.id);
		struct cursor c = cursor_over(record.payload, record.size);
		uint64_t counter = cursor_u64(&c);

		if (record.type != RECORD_AUX_OUTPUT_HW_ID || c.short_ || !attr)
			continue;
		*ARRAY_ADD(output->uses, output->use_count, output->use_room) =
			(struct counter_use){
				.counter = counter,
				.time = record.id.time,
				.attr = attr,
				.cpu = record.id.cpu,
			};
	}
	SORT(output->uses, output->use_count, compare_uses);
}

/* Returns the event of a counter at a time; NULL: unknown. */
static const struct perf_attr *find_use(struct event_output *output, int32_t cpu, uint64_t counter,
					uint64_t time)
{
	const struct counter_use wanted = { .counter = counter, .time = time, .cpu = cpu };
	const struct counter_use *uses = output->uses;
	size_t after = LOWER_BOUND(i, output->use_count, compare_uses(&uses[i], &wanted) <= 0);

	if (!after || uses[after - 1].cpu != cpu || uses[after - 1].counter != counter)
		return NULL;
	return uses[after - 1].attr;
}

/* A record covers each overflowed counter: use the name of the first known event. */
static const char *counter_event_name(struct event_output *output, const struct pebs_record *record,
				      uint64_t time)
{
	uint64_t counters = record->present[BLOCK_BASIC] >> BASIC_COUNTERS & 1
				    ? record->values[BLOCK_BASIC][BASIC_COUNTERS]
				    : 0;
	const struct perf_attr *attr = output->only;

	for (; !attr && counters; counters &= counters - 1)
		attr = find_use(output, record->cpu, (unsigned)__builtin_ctzll(counters), time);
	return attr && attr->name && attr->name[0] ? attr->name : "pebs";
}

/* ---- Writing ------------------------------------------------------------- */

static bool has(const struct pebs_record *record, enum block block, unsigned id)
{
	return record->present[block] >> id & 1;
}

static void start_instant(struct event_output *output, const struct pebs_record *record,
			  const char *name, uint64_t time, struct event_record *instant)
{
	struct event_track track = record->thread || record->cpu < 0
					   ? event_tracks_thread(&output->tracks, record->thread)
					   : event_tracks_cpu(&output->tracks, record->cpu)->track;

	event_record_init(instant, output->tracks.sink, track, "sample", name, time);
}

/* The record's own time is exact; it must not exceed the time at which the record was written. */
static uint64_t time_of(struct event_output *output, const struct pebs_record *record,
			const struct cpu_event *event)
{
	struct tsc_clock clock = pt_info_tsc_clock(output->input.info);
	uint64_t time;

	if (!has(record, BLOCK_BASIC, BASIC_TSC) || !clock.mult)
		return event->time;
	time = tsc_clock_ns(&clock, record->values[BLOCK_BASIC][BASIC_TSC]);
	return time && time < event->time ? time : event->time;
}

static void write_pebs_sample(struct event_output *output, const struct pebs_record *record,
			      uint64_t time, uint64_t fup_ip)
{
	static const char *const memory[MEMORY_VALUES] = { "data_address", "data_source", "latency",
							   "tsx" };
	struct event_record instant;
	uint64_t ip =
		has(record, BLOCK_BASIC, BASIC_IP) ? record->values[BLOCK_BASIC][BASIC_IP] : fup_ip;

	start_instant(output, record, counter_event_name(output, record, time), time, &instant);
	if (ip)
		event_location_add(&instant, output->input.resolver, record->thread, ip);
	if (has(record, BLOCK_BASIC, BASIC_COUNTERS))
		event_record_add_address(&instant, "counters",
					 record->values[BLOCK_BASIC][BASIC_COUNTERS]);
	for (unsigned id = 0; id < MEMORY_VALUES; id++)
		if (has(record, BLOCK_MEMORY, id))
			event_record_add_address(&instant, memory[id],
						 record->values[BLOCK_MEMORY][id]);
	if (record->others)
		event_record_add_number(&instant, "other_values", record->others);
	event_record_emit(&instant, TRACK_INSTANT);
}

/* A group of values, of a few blocks. */
struct value_group {
	const char *name;
	enum block first, last;
};

static void name_value(char *text, size_t room, enum block block, unsigned id)
{
	/* The order is that of PEBS, not that of the instruction set. */
	static const char *const registers[] = { "rflags", "rip", "rax", "rcx", "rdx", "rbx",
						 "rsp",    "rbp", "rsi", "rdi", "r8",  "r9",
						 "r10",    "r11", "r12", "r13", "r14", "r15" };
	static const char *const words[BRANCH_WORDS] = { "from", "to", "info" };

	if (block == BLOCK_VECTORS)
		snprintf(text, room, "xmm%u_%s", id / 2, id % 2 ? "high" : "low");
	else if (block != BLOCK_GENERAL)
		snprintf(text, room, "%s%u", words[id % BRANCH_WORDS],
			 (block - BLOCK_BRANCHES) * (VALUES / BRANCH_WORDS) + id / BRANCH_WORDS);
	else if (id < COUNT_OF(registers))
		snprintf(text, room, "%s", registers[id]);
	else
		snprintf(text, room, "register %u", id);
}

/* An event has few arguments: write as many instants as necessary. */
static void write_pebs_group(struct event_output *output, const struct pebs_record *record,
			     const struct value_group *group, uint64_t time)
{
	struct event_record instant;
	char name[32];

	instant.event.arg_count = 0;
	for (unsigned i = 0; i < (unsigned)(group->last - group->first + 1) * VALUES; i++) {
		unsigned block = group->first + i / VALUES, id = i % VALUES;

		if (!has(record, (enum block)block, id))
			continue;
		if (!instant.event.arg_count)
			start_instant(output, record, group->name, time, &instant);
		name_value(name, sizeof(name), (enum block)block, id);
		event_record_add_address(&instant, event_record_copy(&instant, name),
					 record->values[block][id]);
		if (instant.event.arg_count == EVENT_ARGS_MAX) {
			event_record_emit(&instant, TRACK_INSTANT);
			instant.event.arg_count = 0;
		}
	}
	if (instant.event.arg_count)
		event_record_emit(&instant, TRACK_INSTANT);
}

/* ---- Records ------------------------------------------------------------- */

static void clear(struct pebs_record *record, const struct thread *thread)
{
	memset(record->present, 0, sizeof(record->present));
	record->others = 0;
	record->thread = thread;
}

static void add_item(struct pebs_record *record, unsigned type, unsigned id, uint64_t value)
{
	for (unsigned block = 0; block < BLOCKS; block++) {
		if (block_types[block] == type) {
			record->present[block] |= UINT32_C(1) << id;
			record->values[block][id] = value;
			return;
		}
	}
	record->others++;
}

void pebs_events_add(struct event_output *output, const struct cpu_event *event)
{
	struct pebs_record *record;
	static const struct value_group groups[] = {
		{ "registers", BLOCK_GENERAL, BLOCK_GENERAL },
		{ "vector registers", BLOCK_VECTORS, BLOCK_VECTORS },
		{ "last branches", BLOCK_BRANCHES, BLOCK_BRANCHES_LAST },
	};
	uint64_t time;

	HASH_FIND_OR_ADD(output->records, cpu, &event->cpu, record);
	if (!output->listed)
		list_events(output);
	if (event->extra & PEBS_FIRST || record->thread != event->thread)
		clear(record, event->thread);
	if (event->kind == CPU_EVENT_PEBS_ITEM) {
		add_item(record, PEBS_BLOCK_TYPE(event->extra), PEBS_ID(event->extra),
			 event->value);
		return;
	}
	time = time_of(output, record, event);
	write_pebs_sample(output, record, time, event->ip);
	for (size_t i = 0; i < COUNT_OF(groups); i++)
		write_pebs_group(output, record, &groups[i], time);
	clear(record, NULL);
}

void pebs_events_release(struct event_output *output)
{
	struct pebs_record *record;

	HASH_FREE_ALL(output->records, record);
	free(output->uses);
	output->uses = NULL;
}
