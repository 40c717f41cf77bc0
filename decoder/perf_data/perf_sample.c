/* SPDX-License-Identifier: MIT */
/* Read samples and sample_id trailers, field by field in the kernel's order. */

#include "decoder/perf_data/perf_file.h"

/* Newer than some linux/perf_event.h. */
#define FORMAT_LOST          (UINT64_C(1) << 4)  /* PERF_FORMAT_LOST, Linux 6.0 */
#define BRANCH_HW_INDEX      (UINT64_C(1) << 17) /* PERF_SAMPLE_BRANCH_HW_INDEX, 5.7 */
#define BRANCH_COUNTERS      (UINT64_C(1) << 19) /* PERF_SAMPLE_BRANCH_COUNTERS, 6.8 */
#define SAMPLE_WEIGHT_STRUCT (UINT64_C(1) << 24) /* 5.12 */
#define BRANCH_ENTRY_WORDS   3                   /* struct perf_branch_entry */
#define REGS_ABI_SIMD        4 /* PERF_SAMPLE_REGS_ABI_SIMD, proposed for Linux after 6.18 */
#define OFF_CPU_EVENT        "offcpu-time" /* OFFCPU_EVENT, tools/perf/util/off_cpu.h */

static unsigned bit_count(uint64_t bits)
{
	return (unsigned)__builtin_popcountll(bits);
}

/* Skip `count` items of `words` 8-byte words each. */
static void skip_items(struct cursor *c, uint64_t count, uint64_t words)
{
	if (count > cursor_left(c) / (words * sizeof(uint64_t)))
		c->short_ = true;
	else
		cursor_take(c, count * words * sizeof(uint64_t));
}

static void skip_words(struct cursor *c, uint64_t count)
{
	skip_items(c, count, 1);
}

/* Take `size` bytes. */
static struct byte_view take_sized(struct cursor *c, uint64_t size)
{
	const uint8_t *bytes = cursor_take(c, size);

	return (struct byte_view){ bytes, bytes ? size : 0 };
}

/* struct read_format. */
static void skip_read(struct cursor *c, uint64_t format)
{
	uint64_t per_value = 1 + !!(format & PERF_FORMAT_ID) + !!(format & FORMAT_LOST);
	uint64_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			 !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t values = format & PERF_FORMAT_GROUP ? cursor_u64(c) : 1;

	skip_words(c, times);
	skip_items(c, values, per_value);
}

static void skip_branches(struct cursor *c, uint64_t branch_type)
{
	uint64_t count = cursor_u64(c);

	if (branch_type & BRANCH_HW_INDEX)
		cursor_u64(c);
	skip_items(c, count, BRANCH_ENTRY_WORDS + !!(branch_type & BRANCH_COUNTERS));
}

/* Registers follow unless the abi is NONE. */
static const uint8_t *read_registers(struct cursor *c, uint64_t mask)
{
	const uint8_t *words = NULL;
	uint64_t abi = cursor_u64(c);

	if (abi != PERF_SAMPLE_REGS_ABI_NONE) {
		words = c->at;
		skip_words(c, bit_count(mask));
	}
	if (abi & REGS_ABI_SIMD) {
		uint64_t vectors = cursor_u16(c), vector_words = cursor_u16(c);
		uint64_t predicates = cursor_u16(c), predicate_words = cursor_u16(c);

		/*
		 * Vector and predicate registers follow the others: their numbers and sizes in
		 * words, then the values (patch "perf: Support SIMD registers", versions 2 to 4).
		 */
		skip_words(c, vectors * vector_words + predicates * predicate_words);
	}
	return c->short_ ? NULL : words;
}

static void read_head(struct perf_sample *sample, struct cursor *c, uint64_t type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		sample->id = cursor_u64(c);
	if (type & PERF_SAMPLE_IP)
		sample->ip = cursor_u64(c);
	if (type & PERF_SAMPLE_TID) {
		sample->pid = (int32_t)cursor_u32(c);
		sample->tid = (int32_t)cursor_u32(c);
	}
	if (type & PERF_SAMPLE_TIME)
		sample->time = cursor_u64(c);
	if (type & PERF_SAMPLE_ADDR)
		sample->address = cursor_u64(c);
	if (type & PERF_SAMPLE_ID)
		sample->id = cursor_u64(c);
	if (type & PERF_SAMPLE_STREAM_ID)
		cursor_u64(c);
	if (type & PERF_SAMPLE_CPU) {
		sample->cpu = (int32_t)cursor_u32(c);
		cursor_u32(c);
	}
	if (type & PERF_SAMPLE_PERIOD)
		sample->period = cursor_u64(c);
}

static void read_tail(struct perf_sample *sample, struct cursor *c,
		      const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;

	if (type & PERF_SAMPLE_REGS_USER)
		sample->user_registers = read_registers(c, attr->sample_regs_user);
	if (type & PERF_SAMPLE_STACK_USER) {
		uint64_t size = cursor_u64(c);

		take_sized(c, size);
		if (size)
			cursor_u64(c); /* number of valid bytes */
	}
	if (type & (PERF_SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT))
		cursor_u64(c);
	skip_words(c, bit_count(type & (PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION)));
	if (type & PERF_SAMPLE_REGS_INTR)
		sample->registers = read_registers(c, attr->sample_regs_intr);
	skip_words(c, bit_count(type & (PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |
					PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)));
	if (type & PERF_SAMPLE_AUX)
		sample->aux = take_sized(c, cursor_u64(c));
}

/* IDENTIFIER is the first word of a sample; ID follows the words of `before`. */
static const struct perf_attr *attr_of_sample(const struct perf_file *file,
					      const struct perf_record *record)
{
	const uint64_t before =
		PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
	struct cursor c = cursor_over(record->payload, record->size);
	const struct perf_attr *attr;
	uint64_t type;

	if (!file->attr_count)
		return NULL;
	type = file->attrs[0].attr.sample_type;
	if (!(type & PERF_SAMPLE_IDENTIFIER))
		skip_words(&c, bit_count(type & before));
	attr = type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)
		       ? perf_file_borrow_attr(file, cursor_u64(&c))
		       : NULL;
	return attr || file->attr_count > 1 ? attr : &file->attrs[0];
}

/*
 * Returns whether the event is perf record --off-cpu's (tools/perf/util/bpf_off_cpu.c). A sample's
 * period is the time in ns that the thread waited before the sample.
 */
static bool is_off_cpu(const struct perf_attr *attr)
{
	return attr && attr->attr.type == PERF_TYPE_SOFTWARE &&
	       attr->attr.config == PERF_COUNT_SW_BPF_OUTPUT && attr->name &&
	       strcmp(attr->name, OFF_CPU_EVENT) == 0;
}

/*
 * Since perf 6.16, a BPF program writes the sample of a wait when the thread runs again. The
 * kernel's fields describe the thread that ran before. RAW has pid, tid, period and callchain of
 * the thread that waited (tools/perf/util/evsel.c, __set_offcpu_sample()).
 */
static void read_off_cpu(struct perf_sample *sample)
{
	struct cursor c = cursor_over(sample->raw.bytes, sample->raw.size);
	int32_t pid = (int32_t)cursor_u32(&c), tid = (int32_t)cursor_u32(&c);
	uint64_t period = cursor_u64(&c), callers = cursor_u64(&c);

	if (c.short_)
		return;
	sample->pid = pid;
	sample->tid = tid;
	sample->period = period;
	cursor_u64(&c); /* PERF_CONTEXT_USER */
	sample->ip = callers > 1 ? cursor_u64(&c) : 0;
}

int perf_sample_read(const struct perf_file *file, const struct perf_record *record,
		     struct perf_sample *sample)
{
	struct cursor c = cursor_over(record->payload, record->size);
	uint64_t type;

	*sample = (struct perf_sample){
		.attr = attr_of_sample(file, record), .pid = -1, .tid = -1, .cpu = -1
	};
	if (!sample->attr)
		return -1;
	type = sample->attr->attr.sample_type;
	read_head(sample, &c, type);
	if (type & PERF_SAMPLE_READ)
		skip_read(&c, sample->attr->attr.read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		skip_words(&c, cursor_u64(&c));
	if (type & PERF_SAMPLE_RAW)
		sample->raw = take_sized(&c, cursor_u32(&c));
	if (type & PERF_SAMPLE_BRANCH_STACK)
		skip_branches(&c, sample->attr->attr.branch_sample_type);
	read_tail(sample, &c, &sample->attr->attr);
	if (type & PERF_SAMPLE_RAW && is_off_cpu(sample->attr))
		read_off_cpu(sample);
	return c.short_ ? -1 : 0;
}

/* ---- sample_id trailers -------------------------------------------------- */

/* The fields of struct sample_id (perf_event.h) before IDENTIFIER. */
#define ID_FIELDS                                                                                  \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |             \
	 PERF_SAMPLE_CPU)

static size_t trailer_size(uint64_t sample_type)
{
	return 8 * bit_count(sample_type & (ID_FIELDS | PERF_SAMPLE_IDENTIFIER));
}

static struct perf_sample_id id_of(const struct perf_sample *sample)
{
	return (struct perf_sample_id){ sample->pid, sample->tid, sample->cpu, sample->time,
					sample->id };
}

/* The fields are ordered like a sample's first fields, except that IDENTIFIER is last. */
static struct perf_sample_id read_trailer(const uint8_t *bytes, uint64_t sample_type)
{
	struct perf_sample sample = { .pid = -1, .tid = -1, .cpu = -1 };
	struct cursor c = cursor_over(bytes, trailer_size(sample_type));

	read_head(&sample, &c, sample_type & ID_FIELDS);
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		sample.id = cursor_u64(&c);
	return id_of(&sample);
}

/*
 * Returns the distance of the id from the end of a record in words, or 0 if absent: IDENTIFIER is
 * the last word, ID is before STREAM_ID and CPU. perf requires the same distance for all events of
 * a file (tools/perf/util/evlist.c, evlist__valid_sample_type).
 */
static size_t id_position(uint64_t sample_type)
{
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		return 1;
	if (!(sample_type & PERF_SAMPLE_ID))
		return 0;
	return 1 + bit_count(sample_type & (PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU));
}

/* Returns the attribute of a kernel record; the first attribute if the id is unknown. */
static const struct perf_attr *attr_of_trailer(const struct perf_file *file, const uint8_t *end,
					       size_t size)
{
	const struct perf_attr *attr = NULL;
	size_t position;
	uint64_t id;

	if (!file->attr_count)
		return NULL;
	position = id_position(file->attrs[0].attr.sample_type) * sizeof(id);
	if (position && position <= size) {
		memcpy(&id, end - position, sizeof(id));
		attr = perf_file_borrow_attr(file, id);
	}
	return attr ? attr : &file->attrs[0];
}

bool perf_record_time_can_be(const struct perf_file *file, const struct perf_record *record,
			     struct diag *diag)
{
	if (record->id.time <= INT64_MAX)
		return true;
	if (record->type == PERF_RECORD_SAMPLE && is_off_cpu(attr_of_sample(file, record)))
		diag_warn(diag, "off-cpu-totals",
			  "samples of " OFF_CPU_EVENT " are totals of perf record --off-cpu, which "
			  "have no time, and are left out");
	else
		diag_warn(diag, "time-impossible",
			  "the record of type %u at offset 0x%llx is left out: impossible time "
			  "%llu ns",
			  record->type, (unsigned long long)record->offset,
			  (unsigned long long)record->id.time);
	return false;
}

void perf_sample_split_id(const struct perf_file *file, struct perf_record *record)
{
	const uint8_t *end = record->payload + record->size;
	const struct perf_attr *attr;
	size_t size;

	record->id = (struct perf_sample_id){ .pid = -1, .tid = -1, .cpu = -1 };
	if (record->type >= PERF_USER_HEADER_ATTR)
		return;
	if (record->type == PERF_RECORD_SAMPLE) {
		struct perf_sample sample = { .attr = attr_of_sample(file, record) };
		struct cursor c = cursor_over(record->payload, record->size);

		if (sample.attr) {
			sample.pid = sample.tid = sample.cpu = -1;
			read_head(&sample, &c, sample.attr->attr.sample_type);
			if (!c.short_)
				record->id = id_of(&sample);
		}
		return;
	}
	attr = attr_of_trailer(file, end, record->size);
	if (!attr || !attr->attr.sample_id_all)
		return;
	size = trailer_size(attr->attr.sample_type);
	if (size > record->size)
		return;
	record->id = read_trailer(end - size, attr->attr.sample_type);
	record->size -= size;
}
