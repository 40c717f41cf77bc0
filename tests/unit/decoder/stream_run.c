/* SPDX-License-Identifier: MIT */
/* Write, open and decode the recording of a test of the engines. */
#include "tests/unit/decoder/stream_run.h"

struct stream_run run;

static struct byte_view find_code(void *context, const struct mapped_file *file)
{
	/* uprobe_trampoline_entry of arch/x86/kernel/uprobes.c */
	static const uint8_t page[0x1000] = {
		0x51, 0x41, 0x53, 0x50, 0x48, 0xc7, 0xc0, 0x50, 0x01,
		0,    0,    0x0f, 0x05, 0x58, 0x41, 0x5b, 0x59, 0xc3
	};

	(void)context;
	if (strcmp(file->path, "[uprobes-trampoline]") == 0)
		return (struct byte_view){ page, sizeof(page) };
	if (strcmp(file->path, SAMPLE_PATH) != 0)
		return (struct byte_view){ 0 };
	if (run.far_bytes)
		return (struct byte_view){ run.far_bytes, FAR + run.program_size };
	return (struct byte_view){ run.program_bytes, run.program_size };
}

void begin(int engine)
{
	memset(&run, 0, sizeof(run));
	run.engine = (enum pt_engine)engine;
	run.padded = engine == PT_ENGINE_FAST;
	run.program_bytes = tiny_elf_bytes(&sample_elf, &run.program_size);
	sample_begin(&run.data);
	pt_packets_init(&run.packets);
	diag_init(&run.diag);
}

/* The sample's function work, by its offset in the file. */
static bool find_work(void *context, const struct mapped_file *file, uint64_t offset,
		      uint64_t *begin_offset, uint64_t *end_offset)
{
	(void)context;
	(void)file;
	*begin_offset = SAMPLE_WORK - SAMPLE_CODE + TINY_ELF_CODE_OFFSET + (offset & FAR);
	*end_offset = *begin_offset + (run.work_size ? run.work_size : 8);
	return offset >= *begin_offset && offset < *end_offset;
}

/* Pieces of equal size. */
static bool find_piece(void *context, const struct mapped_file *file, uint64_t offset,
		       uint64_t *begin_offset, uint64_t *end_offset)
{
	(void)context;
	(void)file;
	*begin_offset = offset - offset % run.piece_size;
	*end_offset = *begin_offset + run.piece_size;
	return true;
}

static struct pt_stream_input stream_input(const void *input, size_t index)
{
	(void)index;
	return *(const struct pt_stream_input *)input;
}

/* Decoding begins with the request for the first event. */
static void decode_merged(const struct pt_stream_input *input)
{
	const struct branch_event *events;
	struct pt_streams streams = { .input = stream_input, .context = input, .count = 1 };
	size_t count;

	ck_assert_int_eq(pt_streams_open(&streams, NULL), 0);
	ck_assert_uint_eq(pt_streams_stats(&streams, 0)->bytes_decoded, 0);
	ck_assert_uint_eq(pt_streams_stats(&streams, 0)->events, 0);
	while ((count = pt_streams_next(&streams, &events)))
		for (size_t i = 0; i < count && run.count < EVENTS_MAX; i++)
			run.events[run.count++] = events[i];
	ck_assert(!pt_streams_wait(&streams));
	run.stats = *pt_streams_stats(&streams, 0);
	pt_streams_close(&streams);
}

/* Some differ, so that their order shows. */
static struct pt_stream_input one_of_many(const void *input, size_t index)
{
	struct pt_stream_input one = *(const struct pt_stream_input *)input;

	one.skip_local_jumps = index % 3 == 1;
	one.cycles = index % 7 == 2;
	return one;
}

/* More streams than are open at once give what they give if they are. */
static void decode_many(const struct pt_stream_input *input)
{
	enum { MANY = 5000 };
	static struct pt_stream *open[MANY];
	struct pt_streams streams = { .input = one_of_many, .context = input, .count = MANY };
	const struct branch_event *events, *wanted = NULL;
	struct branch_merge merge;
	size_t count, left = 0;

	for (size_t i = 0; i < MANY; i++) {
		struct pt_stream_input one = one_of_many(input, i);

		open[i] = pt_stream_open(&one, NULL);
	}
	branch_merge_init(&merge, open, MANY, false);
	ck_assert_int_eq(pt_streams_open(&streams, NULL), 0);
	ck_assert_uint_lt(streams.open_count, MANY);
	for (; (count = pt_streams_next(&streams, &events)); run.count += count) {
		for (size_t i = 0; i < count; i++, wanted++, left--) {
			if (!left)
				left = branch_merge_next(&merge, &wanted);
			ck_assert_uint_gt(left, 0);
			ck_assert_uint_eq(events[i].time, wanted->time);
			ck_assert_uint_eq(events[i].kind, wanted->kind);
			ck_assert_uint_eq(events[i].from, wanted->from);
			ck_assert_uint_eq(events[i].to, wanted->to);
		}
	}
	ck_assert_uint_eq(left, 0);
	ck_assert_uint_eq(branch_merge_next(&merge, &wanted), 0);
	for (size_t i = 0; i < MANY; i++) {
		ck_assert_uint_eq(pt_streams_stats(&streams, i)->events,
				  pt_stream_stats(open[i])->events);
		pt_stream_close(open[i]);
	}
	branch_merge_release(&merge);
	pt_streams_close(&streams);
}

static void add_counts(struct code_counter *counter, const struct code_count *counts, size_t count)
{
	(void)counter;
	for (size_t i = 0; i < count; i++)
		if (run.code_count < EVENTS_MAX)
			run.code[run.code_count++] = counts[i];
}

/* The program begins with main. */
static bool is_entry(void *context, const struct mapped_file *file, uint64_t offset)
{
	(void)context;
	return strcmp(file->path, SAMPLE_PATH) == 0 && offset == TINY_ELF_CODE_OFFSET;
}

static void decode(const struct auxtrace *auxtrace, const struct timeline *timeline)
{
	struct code_source source = { .find = find_code,
				      .find_function = find_work,
				      .is_entry = is_entry,
				      .kernel = run.kernel,
				      .find_piece = run.piece_size ? find_piece : NULL };
	struct code_counter counter = { add_counts };
	struct pt_stream_input input = {
		.info = &auxtrace->info,
		.aux = &auxtrace->streams[0],
		.history = &timeline->history,
		.code = &source,
		.branches = known_branches_open(), /* as for a trace of calls */
		.diag = &run.diag,
		.engine = run.engine,
		.skip_local_jumps = run.skip,
		.cycles = run.cycles,
		.cpu_events = run.cpu_events,
		.counter = run.counts ? &counter : NULL,
		.pieces = run.piece_size,
		.switch_ip = run.switch_ip,
		.begin = run.begin,
		.end = run.end,
		.count_jumps = run.period,
		.period = run.period,
		.sums_cycles = run.period,
	};
	struct pt_stream *stream;

	if (run.merged || run.many) {
		run.many ? decode_many(&input) : decode_merged(&input);
		known_branches_close(input.branches);
		return;
	}
	stream = pt_stream_open(&input, NULL);
	ck_assert_ptr_nonnull(stream);
	for (;;) {
		if (run.before_event)
			run.before_event(stream);
		if (!pt_stream_next(stream, &run.last))
			break;
		if (run.count == EVENTS_MAX)
			continue;
		run.tids[run.count] = run.last.thread ? run.last.thread->tid : -1;
		run.events[run.count++] = run.last;
	}
	if (run.last.thread)
		run.tid = run.last.thread->tid;
	run.stats = *pt_stream_stats(stream);
	pt_stream_flush(stream);
	pt_stream_close(stream);
	known_branches_close(input.branches);
}

static void add_trace(void)
{
	static const uint8_t padding[128];

	if (run.has_pieces)
		return;
	if (run.padded)
		pt_packets_raw(&run.packets, padding, sizeof(padding));
	if (!run.in_pieces) {
		sample_add_trace(&run.data, &run.packets);
		return;
	}
	for (size_t at = 0; at < pt_packets_size(&run.packets); at += 8) {
		struct perf_data_aux aux = { .aux_offset = at,
					     .reference = SAMPLE_START,
					     .tid = -1,
					     .bytes = run.packets.bytes + at,
					     .size = 8 };

		perf_data_add_auxtrace(&run.data, &aux);
	}
}

void add_piece(uint64_t aux_offset, size_t from, size_t size)
{
	struct perf_data_aux aux = { .aux_offset = aux_offset,
				     .reference = SAMPLE_START,
				     .tid = -1,
				     .bytes = run.packets.bytes + from,
				     .size = size };

	perf_data_add_auxtrace(&run.data, &aux);
	run.has_pieces = true;
}

void finish(void)
{
	struct auxtrace auxtrace;
	struct timeline *timeline;
	struct perf_file file;

	add_trace();
	perf_data_write_temporary(&run.data, run.recording);
	ck_assert_int_eq(perf_file_open(&file, run.recording, &run.diag, NULL), 0);
	ck_assert_int_eq(auxtrace_init(&auxtrace, &file, NULL), 0);
	timeline = timeline_open(&file, NULL, 0, &run.diag);
	decode(&auxtrace, timeline);
	timeline_close(timeline);
	auxtrace_release(&auxtrace);
	perf_file_close(&file);
	unlink(run.recording);
	free(run.program_bytes);
	perf_data_release(&run.data);
	pt_packets_release(&run.packets);
}

void expect(size_t index, enum branch_kind kind, uint64_t from, uint64_t to)
{
	ck_assert_uint_lt(index, run.count);
	ck_assert_uint_eq(run.events[index].kind, kind);
	ck_assert_uint_eq(run.events[index].from, from);
	ck_assert_uint_eq(run.events[index].to, to);
}

void stamp(uint64_t time)
{
	perf_data_stamp(&run.data, (struct perf_data_stamp){
					   .time = time, .pid = SAMPLE_PID, .tid = SAMPLE_PID });
}

void expect_all_bytes_counted(void)
{
	ck_assert_uint_eq(run.stats.bytes_decoded + run.stats.bytes_skipped + run.stats.bytes_lost,
			  run.stats.bytes_total);
}

static const uint8_t kernel_bytes[0x70] = {
	[0x00] = 0xe8, 0x1b, 0x00, 0x00, 0x00, /* call KERNEL_SYS */
	0x48,          0x0f, 0x07,             /* sysretq */
	[0x20] = 0xc3,                         /* ret */
	[0x40] = 0x90,                         /* nop */
	0x48,          0xcf,                   /* iretq */
	[0x50] = 0x0f, 0x1f, 0x44, 0x00, 0x00, /* nop */
	0xc3,                                  /* ret */
};

void add_kernel(char path[PERF_DATA_PATH])
{
	static struct kernel_segment segment = { KERNEL, KERNEL + sizeof(kernel_bytes), 0 };
	static struct kernel_code kernel;
	int fd;

	strcpy(path, "/tmp/ptrace2ftf-XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, kernel_bytes, sizeof(kernel_bytes)), sizeof(kernel_bytes));
	close(fd);
	kernel = (struct kernel_code){ .file = { path, kernel_bytes, sizeof(kernel_bytes) },
				       .segments = &segment,
				       .count = 1 };
	run.kernel = &kernel;
	run.data.events[0].attr.exclude_kernel = 0;
}

void add_mapping(uint64_t begin, uint64_t length, uint64_t moved)
{
	struct perf_data_mmap map = {
		.pid = SAMPLE_PID,
		.tid = SAMPLE_PID,
		.address = begin + moved,
		.length = length,
		.file_offset = TINY_ELF_CODE_OFFSET + begin - SAMPLE_CODE,
		.path = SAMPLE_PATH,
		.prot = 5,
	};

	perf_data_add_mmap2(&run.data, 0, &map);
}

void expect_gap_at(uint64_t ip)
{
	ck_assert_uint_eq(run.last.kind, BRANCH_GAP);
	ck_assert_uint_eq(run.last.gap, GAP_NO_CODE);
	ck_assert_uint_eq(run.last.from, ip);
}

void write_program(const uint8_t *bytes, size_t size)
{

	memcpy(run.program_bytes + TINY_ELF_CODE_OFFSET, bytes, size);
}
