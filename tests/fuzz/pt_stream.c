/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as Intel PT, over any bytes as code:
 *
 *	1 byte   of flags, see below
 *	1 byte   half the size of the code, which is at SAMPLE_CODE; 0: the sample's own
 *	...      the code
 *	...      the trace
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/common.h"
#include "decoder/code/code_image.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/streams/auxtrace.h"
#include "decoder/streams/pt_streams.h"
#include "decoder/timeline/timeline.h"
#include "tests/fuzz/memory_file.h"
#include "tests/support/sample.h"

enum flags {
	FLAG_LIBIPT = 1,
	FLAG_SKIP_LOCAL_JUMPS = 2,
	FLAG_CLOCKS = 4,  /* MTC and CYC packets carry the time, too */
	FLAG_KERNEL = 8,  /* the code is kernel code as well */
	FLAG_PIECES = 16, /* two pieces that follow each other */
	FLAG_APART = 32,  /* two, and trace is missing between them; both: the buffer was full */
	FLAG_FUNCTIONS = 64,
	FLAG_SIDE = 128, /* side events, too */
};

#define FILE_SIZE     (2 * TINY_ELF_CODE_OFFSET)
#define KERNEL_CODE   UINT64_C(0xffffffff81000000)
#define FUNCTION_SIZE 32u
#define TRACE_MAPPED  4096u /* shorter ones have no whole page */

/* The recording, which stays as it is, and the code, which does not. */
static struct {
	struct perf_file file;
	struct timeline *timeline;
	struct auxtrace auxtrace;
	uint8_t bytes[FILE_SIZE];
	struct memory_file code, trace;
	const char *path;
	struct diag diag;
} world;

static void open_world(void)
{
	static struct memory_file recording;
	struct perf_data data;
	uint8_t *bytes;
	size_t size;

	if (world.timeline)
		return;
	diag_init(&world.diag);
	sample_begin(&data);
	perf_data_add_auxtrace(
		&data, &(struct perf_data_aux){ .tid = -1, .bytes = "12345678", .size = 8 });
	bytes = perf_data_finish(&data, &size);
	if (perf_file_open(&world.file, memory_file_set(&recording, bytes, size), &world.diag,
			   NULL) < 0 ||
	    auxtrace_init(&world.auxtrace, &world.file, NULL) < 0)
		abort();
	world.timeline = timeline_open(&world.file, NULL, 0, &world.diag);
	free(bytes);
	perf_data_release(&data);
}

static struct byte_view find_code(void *context, const struct mapped_file *file)
{
	(void)context;
	(void)file;
	return (struct byte_view){ world.bytes, sizeof(world.bytes) };
}

static bool find_function(void *context, const struct mapped_file *file, uint64_t offset,
			  uint64_t *begin, uint64_t *end)
{
	(void)context;
	(void)file;
	*begin = offset & ~(uint64_t)(FUNCTION_SIZE - 1);
	*end = *begin + FUNCTION_SIZE;
	return true;
}

/* Copy the code from the input.  Returns how many bytes it took. */
static size_t set_code(const uint8_t *bytes, size_t size, size_t code_size)
{
	memset(world.bytes, 0, sizeof(world.bytes));
	if (code_size > size)
		code_size = size;
	if (code_size)
		memcpy(world.bytes + TINY_ELF_CODE_OFFSET, bytes, code_size);
	else
		memcpy(world.bytes + TINY_ELF_CODE_OFFSET, sample_elf.code, sample_elf.code_size);
	world.path = memory_file_set(&world.code, world.bytes, sizeof(world.bytes));
	return code_size;
}

static struct pt_info info_of(unsigned flags)
{
	struct pt_info info = world.auxtrace.info;

	if (!(flags & FLAG_CLOCKS))
		return info;
	info.mtc_bit = 0x200;
	info.mtc_freq_bits = 0x3c000;
	info.cyc_bit = 2;
	info.tsc_ctc_ratio_n = 168;
	info.tsc_ctc_ratio_d = 2;
	info.config |= info.mtc_bit | info.cyc_bit | 0xc000;
	return info;
}

/* Executed code, in any order, and whether a flow limit was reached. */
struct code_seen {
	struct code_counter counter; /* first */
	uint64_t hash, count;
	bool limited;
};

static void see_code(struct code_counter *counter, const struct code_count *counts, size_t count)
{
	struct code_seen *seen = (struct code_seen *)counter;

	for (size_t i = 0; i < count; i++) {
		const struct code_count *code = &counts[i];
		uint64_t hash = ((code->begin * FIBONACCI_FACTOR ^ code->last) * FIBONACCI_FACTOR ^
				 code->to) *
				FIBONACCI_FACTOR;

		seen->hash += (hash | 1) * code->count + (hash ^ 2) * code->taken;
		seen->count += code->count;
	}
}

static struct code_seen run(struct pt_stream_input *input)
{
	struct code_seen seen = { .counter.add = see_code };
	struct pt_stream *stream;
	const struct pt_stream_stats *stats;
	struct branch_event event;
	uint64_t last = 0;

	input->counter = &seen.counter;
	stream = pt_stream_open(input, NULL);
	if (!stream)
		return seen;
	while (pt_stream_next(stream, &event)) {
		if (event.time < last)
			abort();
		/* A thread's side event may precede branches. */
		if (event.kind != BRANCH_CPU_EVENT)
			last = event.time;
	}
	stats = pt_stream_stats(stream);
	if (stats->bytes_total != stats->bytes_decoded + stats->bytes_skipped + stats->bytes_lost)
		abort();
	seen.limited = stats->gaps[GAP_ENDLESS] > 0;
	pt_stream_flush(stream);
	pt_stream_close(stream);
	return seen;
}

/* Code counts as often where jumps within functions are events as where they are left out. */
static void compare_counts(struct pt_stream_input *input)
{
	struct code_seen all, skipped;

	input->skip_local_jumps = false;
	all = run(input);
	input->skip_local_jumps = true;
	skipped = run(input);
	if (!all.limited && !skipped.limited &&
	    (all.hash != skipped.hash || all.count != skipped.count))
		abort();
}

static void decode(unsigned flags, const uint8_t *trace, size_t size)
{
	struct kernel_segment segment = { KERNEL_CODE, KERNEL_CODE + TINY_ELF_CODE_OFFSET,
					  TINY_ELF_CODE_OFFSET };
	struct kernel_code kernel = { .file = { world.path, world.bytes, sizeof(world.bytes) },
				      .segments = &segment,
				      .count = 1 };
	struct code_source source = { .find = find_code,
				      .find_function =
					      flags & FLAG_FUNCTIONS ? find_function : NULL,
				      .kernel = flags & FLAG_KERNEL ? &kernel : NULL };
	size_t half = flags & (FLAG_PIECES | FLAG_APART) ? size / 2 : size;
	struct aux_piece pieces[2] = {
		{ .bytes = trace, .size = half, .reference = SAMPLE_START },
		{ .bytes = trace + half,
		  .size = size - half,
		  .begin = half,
		  .aux_offset = half,
		  .reference = SAMPLE_START,
		  .file_offset = half,
		  .apart = flags & FLAG_APART,
		  .resumes = flags & FLAG_APART && flags & FLAG_PIECES,
		  .resume_time = SAMPLE_START },
	};
	struct aux_stream aux = {
		.tid = -1, .pieces = pieces, .piece_count = size > half ? 2 : 1, .size = size
	};
	struct pt_info info = info_of(flags);
	struct pt_stream_input input = {
		.info = &info,
		.aux = &aux,
		.history = &world.timeline->history,
		.code = &source,
		.diag = &world.diag,
		.engine = flags & FLAG_LIBIPT ? PT_ENGINE_LIBIPT : PT_ENGINE_FAST,
		.skip_local_jumps = flags & FLAG_SKIP_LOCAL_JUMPS,
		.switch_ip = flags & FLAG_KERNEL ? KERNEL_CODE + FUNCTION_SIZE : 0,
		.cpu_events = flags & FLAG_SIDE,
	};

	run(&input);
	if (input.skip_local_jumps && input.engine == PT_ENGINE_FAST)
		compare_counts(&input);
}

/* The decoder releases read pages of a trace, so it must be in a file, as in a recording. */
static void decode_mapped(unsigned flags, const uint8_t *trace, size_t size)
{
	void *mapped;

	if (size < TRACE_MAPPED) {
		decode(flags, trace, size);
		return;
	}
	memory_file_set(&world.trace, trace, size);
	mapped = mmap(NULL, size, PROT_READ, MAP_PRIVATE, world.trace.fd, 0);
	if (mapped == MAP_FAILED)
		abort();
	decode(flags, mapped, size);
	munmap(mapped, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	size_t code;

	if (size < 3)
		return 0;
	open_world();
	code = set_code(bytes + 2, size - 2, (size_t)2 * bytes[1]);
	decode_mapped(bytes[0], bytes + 2 + code, size - 2 - code);
	diag_release(&world.diag);
	return 0;
}
