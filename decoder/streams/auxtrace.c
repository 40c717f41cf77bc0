/* SPDX-License-Identifier: MIT */
/* Read the parameters of Intel PT and list the AUX streams of a recording. */
#include "decoder/streams/auxtrace.h"

#include "decoder/history.h"

#define MAX_SHIFT         63 /* largest shift of a 64-bit word */
#define MTC_FREQ_BITS     4 /* MTCFreq (SDM volume 3, "IA32_RTIT_CTL MSR"): log2 of the MTC period */
#define AUXTRACE_INTEL_PT 1 /* enum auxtrace_type (tools/perf/util/auxtrace.h) */

/* The records of a file with trace data. */
struct piece_list {
	/* One AUXTRACE record (struct perf_record_auxtrace) with its position. */
	struct piece_record {
		struct aux_piece piece;
		uint32_t queue;
		int32_t tid, cpu;
		size_t order;  /* in the file */
		uint64_t cut;  /* bytes missing from the file */
		uint64_t time; /* ns: of a sample; 0: an AUXTRACE record, sorted by `order` */
	} * records;           /* owned */
	size_t count, room;
	/* Positions that AUX records report, each once for its CPU and once for its thread. */
	struct aux_cut *cuts; /* owned; sorted, borrowed from the arena */
	size_t cut_count, cut_room;
	bool samples;     /* the pieces are samples */
	bool overwritten; /* an AUX record has the overwrite flag: snapshots */
};

/* ---- Parameters ---------------------------------------------------------- */

/* The priv[] words in the order of INTEL_PT_PMU_TYPE ... (tools/perf/util/intel-pt.h). */
static void read_info_words(struct pt_info *info, struct cursor *c, struct arena *arena)
{
	uint64_t filter_length;
	const uint8_t *filter;

	info->pmu_type = cursor_u64(c);
	info->time_shift = cursor_u64(c);
	info->time_mult = cursor_u64(c);
	info->time_zero = cursor_u64(c);
	if (!cursor_u64(c)) /* cap_user_time_zero */
		info->time_mult = 0;
	info->tsc_bit = cursor_u64(c);
	info->noretcomp_bit = cursor_u64(c);
	cursor_u64(c); /* have_sched_switch */
	info->snapshot_mode = cursor_u64(c);
	info->per_cpu_mmaps = cursor_u64(c);
	info->mtc_bit = cursor_u64(c);
	info->mtc_freq_bits = cursor_u64(c);
	info->tsc_ctc_ratio_n = cursor_u64(c);
	info->tsc_ctc_ratio_d = cursor_u64(c);
	info->cyc_bit = cursor_u64(c);
	info->max_nonturbo_ratio = cursor_u64(c);
	filter_length = cursor_u64(c);
	if (!filter_length || filter_length > cursor_left(c))
		return;
	filter = cursor_take(c, filter_length);
	info->filter = arena_text(arena, (const char *)filter,
				  strnlen((const char *)filter, filter_length));
}

static int refuse_type(uint32_t type, struct error *err)
{
	static const char *const names[] = { NULL,        NULL,
					     "Intel BTS", "ARM CoreSight",
					     "ARM SPE",   "s390 sampling" };

	if (type < COUNT_OF(names) && names[type])
		return error_set(err, ERROR_UNSUPPORTED,
				 "holds %s trace data, and only Intel PT can be read", names[type]);
	return error_set(err, ERROR_UNSUPPORTED,
			 "holds trace data of type %u, and only Intel PT (type 1) can be read",
			 type);
}

static int read_info(struct auxtrace *auxtrace, const struct perf_record *record, struct error *err)
{
	struct cursor c = cursor_over(record->payload, record->size);
	uint32_t type = cursor_u32(&c);
	uint64_t mtc; /* the field's mask in attr.config */

	cursor_u32(&c); /* alignment */
	if (type != AUXTRACE_INTEL_PT)
		return refuse_type(type, err);
	read_info_words(&auxtrace->info, &c, &auxtrace->arena);
	mtc = auxtrace->info.mtc_freq_bits;
	if (auxtrace->info.time_shift > MAX_SHIFT ||
	    (mtc && mtc >> __builtin_ctzll(mtc) >> MTC_FREQ_BITS))
		return error_set_at(err, record->offset, "the clock parameters are damaged");
	return 0;
}

/*
 * Read the clock of PERF_RECORD_TIME_CONV: struct perf_record_time_conv of perf's event.h. perf
 * 5.10 added the fields up to the flag; older versions write the record only with a valid clock.
 */
static void read_time_conv(struct pt_info *clock, const struct perf_record *record)
{
	struct cursor c = cursor_over(record->payload, record->size);
	struct pt_info read = { 0 };

	read.time_shift = cursor_u64(&c);
	read.time_mult = cursor_u64(&c);
	read.time_zero = cursor_u64(&c);
	if (c.short_ || read.time_shift > MAX_SHIFT)
		return;
	cursor_u64(&c);                        /* time_cycles */
	cursor_u64(&c);                        /* time_mask */
	if (cursor_left(&c) && !cursor_u8(&c)) /* cap_user_time_zero */
		return;
	*clock = read;
}

static void read_event(struct pt_info *info, const struct perf_file *file)
{
	for (size_t i = 0; i < file->attr_count; i++) {
		const struct perf_event_attr *attr = &file->attrs[i].attr;

		if (attr->type != info->pmu_type)
			continue;
		info->config = attr->config;
		info->exclude_user = attr->exclude_user;
		info->exclude_kernel = attr->exclude_kernel;
		return;
	}
}

/* ---- Streams ------------------------------------------------------------- */

static struct piece_record *add_record(struct piece_list *list)
{
	struct piece_record *added = ARRAY_ADD(list->records, list->count, list->room);

	*added = (struct piece_record){ .order = list->count };
	return added;
}

/* Identify the buffer by CPU or thread: samples have no queue number. */
static void add_sample(struct piece_list *list, const struct perf_file *file,
		       const struct perf_record *record, const struct pt_info *info)
{
	struct tsc_clock clock = pt_info_tsc_clock(info);
	struct perf_sample sample;
	struct piece_record *added;

	if (perf_sample_read(file, record, &sample) < 0 || !sample.aux.size)
		return;
	added = add_record(list);
	added->tid = sample.tid;
	added->cpu = info->per_cpu_mmaps ? sample.cpu : -1;
	added->queue = (uint32_t)(added->cpu == -1 ? added->tid : added->cpu);
	added->time = sample.time;
	added->piece.bytes = sample.aux.bytes;
	added->piece.size = sample.aux.size;
	added->piece.before = record->offset;
	added->piece.reference = tsc_clock_tsc(&clock, sample.time);
	added->piece.file_offset =
		record->offset + 8 + (size_t)(sample.aux.bytes - record->payload);
	list->samples = true;
}

static void add_cut(struct piece_list *list, const struct perf_record *record,
		    const struct pt_info *info)
{
	struct perf_aux aux;
	struct aux_cut cut;

	if (perf_record_read_aux(record, &aux) < 0)
		return;
	list->overwritten |= (aux.flags & PERF_AUX_FLAG_OVERWRITE) != 0;
	cut = (struct aux_cut){
		.owner = owner_of_cpu(record->id.cpu),
		.at = aux.offset + aux.size,
		.time = record->id.time,
		.whole = !(aux.flags & PERF_AUX_FLAG_TRUNCATED),
	};
	if (cut.whole && !(info->config & info->cyc_bit))
		return;
	*ARRAY_ADD(list->cuts, list->cut_count, list->cut_room) = cut;
	cut.owner = owner_of_thread(record->id.tid);
	*ARRAY_ADD(list->cuts, list->cut_count, list->cut_room) = cut;
}

/* Samples can be in several files: compare times before positions. */
COMPARE_BY_THREE(compare_queues, struct piece_record, queue, time, order)

COMPARE_BY_THREE(compare_cuts, struct aux_cut, owner, at, time)

/* Pieces of one queue stay in file order: perf writes them as the buffer fills. */
static void make_stream(struct auxtrace *auxtrace, struct aux_stream *stream,
			const struct piece_record *records, size_t count,
			const struct piece_list *list)
{
	struct aux_piece *pieces = alloc_zeroed(count, sizeof(*pieces));
	struct aux_piece_list joined = { 0 };

	stream->cpu = records[0].cpu;
	stream->tid = records[0].cpu == -1 ? records[0].tid : -1;
	stream->copies = auxtrace->info.snapshot_mode || list->samples || list->overwritten;
	for (size_t i = 0; i < count; i++)
		pieces[i] = records[i].piece;
	if (stream->copies) {
		aux_pieces_join_copies(&joined, pieces, count);
	} else {
		const struct aux_cut *cuts = list->cuts;
		int64_t owner = stream->tid == -1 ? owner_of_cpu(stream->cpu)
						  : owner_of_thread(stream->tid);
		size_t first = LOWER_BOUND(i, list->cut_count, cuts[i].owner < owner);

		stream->cuts = cuts + first;
		stream->cut_count = LOWER_BOUND(i, list->cut_count, cuts[i].owner <= owner) - first;
		aux_pieces_join(&joined, pieces, count, stream->cuts, stream->cut_count);
	}
	for (size_t i = 0; i < joined.count; i++) {
		joined.pieces[i].begin = stream->size;
		stream->size += joined.pieces[i].size;
	}
	stream->pieces =
		arena_copy(&auxtrace->arena, joined.pieces, joined.count * sizeof(*joined.pieces));
	stream->piece_count = joined.count;
	stream->repeated = joined.repeated;
	stream->end_missing = records[count - 1].cut;
	stream->missing = joined.missing + stream->end_missing;
	aux_pieces_release(&joined);
	free(pieces);
}

COMPARE_WITH(compare_owners, struct aux_stream *,
	     COMPARE((*a)->cpu, (*b)->cpu) ?: COMPARE((*a)->tid, (*b)->tid) ?: COMPARE(*a, *b))

static void make_streams(struct auxtrace *auxtrace, struct piece_list *list)
{
	struct aux_stream *streams;
	size_t begin = 0;
	struct aux_cut *own = list->cuts;
	struct aux_stream **sorted;

	/* Sort the cuts, and move them to the arena, where streams of one owner share them. */
	SORT(own, list->cut_count, compare_cuts);
	list->cuts = arena_copy(&auxtrace->arena, own, list->cut_count * sizeof(*own));
	free(own);
	if (!list->count)
		return;
	SORT(list->records, list->count, compare_queues);
	streams = arena_alloc(&auxtrace->arena, list->count * sizeof(*streams));
	for (size_t i = 1; i <= list->count; i++) {
		if (i < list->count && list->records[i].queue == list->records[begin].queue)
			continue;
		make_stream(auxtrace, &streams[auxtrace->stream_count++], &list->records[begin],
			    i - begin, list);
		begin = i;
	}
	/* Report a buffer's losses once, even if a file has the same buffer repeatedly. */
	sorted = alloc_zeroed(auxtrace->stream_count, sizeof(struct aux_stream *));
	for (size_t i = 0; i < auxtrace->stream_count; i++)
		sorted[i] = &streams[i];
	SORT(sorted, auxtrace->stream_count, compare_owners);
	for (size_t i = 1; i < auxtrace->stream_count; i++)
		sorted[i]->again = sorted[i]->cpu == sorted[i - 1]->cpu &&
				   sorted[i]->tid == sorted[i - 1]->tid;
	free(sorted);
	auxtrace->streams = streams;
}

/* The ids that perf gives to events which it makes of a trace: some base plus this. */
#define SYNTHESIZED_IDS 1000000000

/* perf inject --itrace removes the trace, and adds events (intel_pt_synth_events() of perf). */
static int refuse_missing(const struct perf_file *file, struct error *err)
{
	for (size_t i = 0; i < file->attr_count; i++) {
		const struct perf_attr *attr = &file->attrs[i];
		struct cursor ids = cursor_over(attr->ids, attr->id_count * sizeof(uint64_t));

		if (attr->attr.type != PERF_TYPE_TRACEPOINT && cursor_u64(&ids) >= SYNTHESIZED_IDS)
			return error_set(err, ERROR_UNSUPPORTED,
					 "has no trace any more: perf inject --itrace replaced it "
					 "by events made of it; give the recording before that");
	}
	return error_set(err, ERROR_FORMAT,
			 "holds no Intel PT; record with: perf record -e intel_pt//u");
}

static int read_records(struct auxtrace *auxtrace, const struct perf_file *file,
			struct piece_list *list, struct error *err)
{
	struct pt_info clock = { 0 };
	struct perf_record record;
	uint64_t position = 0;
	bool found = false;

	while (perf_file_next(file, &position, &record, NULL)) {
		if (record.type == PERF_USER_AUXTRACE_INFO) {
			if (read_info(auxtrace, &record, err) < 0)
				return -1;
			read_event(&auxtrace->info, file);
			found = true;
		} else if (record.type == PERF_USER_TIME_CONV) {
			read_time_conv(&clock, &record);
		} else if (record.type == PERF_USER_AUXTRACE) {
			struct cursor c = cursor_over(record.payload, record.size);
			struct piece_record *added = add_record(list);

			added->cut = cursor_u64(&c) - record.aux.size;
			added->piece.bytes = record.aux.bytes;
			added->piece.size = record.aux.size;
			added->piece.before = record.offset;
			added->piece.after = record.aux_after;
			added->piece.aux_offset = cursor_u64(&c);
			added->piece.reference = cursor_u64(&c);
			added->queue = cursor_u32(&c);
			added->tid = (int32_t)cursor_u32(&c);
			added->cpu = (int32_t)cursor_u32(&c);
			added->piece.file_offset = record.offset + 8 + record.size;
		} else if (record.type == PERF_RECORD_AUX) {
			add_cut(list, &record, &auxtrace->info);
		} else if (record.type == PERF_RECORD_SAMPLE) {
			add_sample(list, file, &record, &auxtrace->info);
		}
	}
	/* Prefer the clock of the parameters, because it is the trace's. */
	if (!auxtrace->info.time_mult) {
		auxtrace->info.time_shift = clock.time_shift;
		auxtrace->info.time_mult = clock.time_mult;
		auxtrace->info.time_zero = clock.time_zero;
	}
	return found ? 0 : refuse_missing(file, err);
}

int auxtrace_init(struct auxtrace *auxtrace, const struct perf_file *file, struct error *err)
{
	const char *cpus = file->features.performance_cpus;
	struct piece_list list = { 0 };
	int status;

	*auxtrace = (struct auxtrace){ 0 };
	status = read_records(auxtrace, file, &list, err);
	if (status == 0) {
		static const char vendor[] = "GenuineIntel,";

		make_streams(auxtrace, &list);
		if (file->features.cpuid &&
		    strncmp(file->features.cpuid, vendor, sizeof(vendor) - 1) == 0) {
			auxtrace->info.cpu_is_intel =
				sscanf(file->features.cpuid + sizeof(vendor) - 1, "%u,%u,%u",
				       &auxtrace->info.cpu_family, &auxtrace->info.cpu_model,
				       &auxtrace->info.cpu_stepping) == 3;
		}
		if (cpus)
			auxtrace->info.performance_cpus =
				arena_text(&auxtrace->arena, cpus, strlen(cpus));
		/* The kernel gives no clock if it finds the TSC unstable: no packet has a time. */
		if (!auxtrace->info.time_mult)
			auxtrace->info.config &= ~(auxtrace->info.tsc_bit | auxtrace->info.mtc_bit);
	}
	if (status < 0)
		free(list.cuts);
	free(list.records);
	return status;
}

void auxtrace_release(struct auxtrace *auxtrace)
{
	arena_release(&auxtrace->arena);
	*auxtrace = (struct auxtrace){ 0 };
}
