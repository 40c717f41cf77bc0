/* SPDX-License-Identifier: MIT */
/*
 * Kernel code that changes or is generated at run time: TEXT_POKE records (linux/perf_event.h), the
 * feature BPF_PROG_INFO (struct perf_bpil and struct bpf_prog_info), and modules.  Expected
 * branches follow from the code that is mapped at the time.
 */
#include <limits.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "decoder/code/code_image.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/streams/auxtrace.h"
#include "decoder/streams/pt_streams.h"
#include "src/resolve/code_files.h"
#include "tests/support/sample.h"
#include "tests/support/unit.h"

#define KERNEL     UINT64_C(0xffffffff81000000)
#define HOOK       (KERNEL + 0x20)
#define BETWEEN    (KERNEL + 0x30)              /* a ret that is never changed */
#define SLOT       UINT64_C(0xffffffffa0000000) /* of a kprobe, outside kcore */
#define BPF        UINT64_C(0xffffffffc0100000)
#define FEATURE    25
#define EVENTS_MAX 32
#define BPIL_FIXED 16 /* info_len, data_len, arrays */

static const uint8_t nop5[] = { 0x0f, 0x1f, 0x44, 0, 0 };
static const uint8_t call_hook[] = { 0xe8, 0x1b, 0, 0, 0 };

/* nop5 or call HOOK; ret; at HOOK and BETWEEN: ret */
static uint8_t kernel_bytes[0x40];

static struct perf_data data;
static struct pt_packets packets;
static struct diag diag;
static struct branch_event events[EVENTS_MAX];
static size_t event_count;
static struct pt_stream_stats stats;
static struct perf_file file;
static struct timeline *timeline;
static struct kernel_files kernel;
static struct name_table names;
static struct dso_store *store;
static struct resolver resolver;
static char modules[PATH_MAX]; /* folder of one.ko and two.ko */
static const char *build_id_cache;

static void setup(void)
{
	const char *top = getenv("top_builddir");

	snprintf(modules, sizeof(modules), "%s/tests/unit/src/modules", top);
	timeline = NULL;
	store = NULL;
	build_id_cache = NULL;
	memset(kernel_bytes, 0x90, sizeof(kernel_bytes));
	memcpy(kernel_bytes, nop5, sizeof(nop5));
	kernel_bytes[5] = kernel_bytes[0x20] = kernel_bytes[0x30] = 0xc3;
	event_count = 0;
	sample_begin(&data);
	data.events[0].attr.exclude_kernel = 0;
	pt_packets_init(&packets);
	diag_init(&diag);
}

static void teardown(void)
{
	kernel_files_release(&kernel);
	resolver_release(&resolver);
	dso_store_close(store);
	name_table_release(&names);
	timeline_close(timeline);
	perf_file_close(&file);
	perf_data_release(&data);
	pt_packets_release(&packets);
	diag_release(&diag);
}

static void stamp(uint64_t time)
{
	perf_data_stamp(&data, (struct perf_data_stamp){ .time = SAMPLE_START + time });
}

struct change {
	uint64_t address;
	const uint8_t *old_bytes, *new_bytes;
	uint16_t old_size, new_size;
};

static void poke(uint64_t time, const struct change *change)
{
	uint8_t payload[64] = { 0 };

	memcpy(payload, &change->address, 8);
	memcpy(payload + 8, &change->old_size, 2);
	memcpy(payload + 10, &change->new_size, 2);
	if (change->old_size)
		memcpy(payload + 12, change->old_bytes, change->old_size);
	if (change->new_size)
		memcpy(payload + 12 + change->old_size, change->new_bytes, change->new_size);
	stamp(time);
	perf_data_add_record(&data, PERF_RECORD_TEXT_POKE, 0, payload,
			     12u + change->old_size + change->new_size);
}

static void add_ksymbol(uint64_t time, uint64_t address, uint32_t size)
{
	struct {
		uint64_t address;
		uint32_t size;
		uint16_t type, flags;
		char name[16];
	} symbol = { address, size, 1, 0, "bpf_prog_1_x" };

	stamp(time);
	perf_data_add_record(&data, PERF_RECORD_KSYMBOL, 0, &symbol, sizeof(symbol));
}

static struct byte_view find_nothing(void *context, const struct mapped_file *mapped)
{
	(void)context;
	(void)mapped;
	return (struct byte_view){ 0 };
}

static void open_kernel(const struct kernel_files_options *wanted)
{
	struct kernel_files_options options = *wanted;
	struct dso_store_options store_options = { .find.symfs = build_id_cache ?: modules };
	char path[PERF_DATA_PATH];

	perf_data_write_temporary(&data, path);
	ck_assert_int_eq(perf_file_open(&file, path, &diag, NULL), 0);
	unlink(path);
	timeline = timeline_open(&file, NULL, 0, &diag);
	name_table_init(&names);
	store = dso_store_open(&store_options, &names, &diag);
	kernel_files_identify(&file, timeline, store);
	resolver_init(&resolver, timeline, store, &names);
	options.resolver = &resolver;
	kernel_files_init(&kernel, &options, &file, timeline, &diag);
	dso_store_offer_kallsyms(store, kernel.kallsyms);
}

static void decode(enum pt_engine engine)
{
	struct code_source source = { .find = find_nothing, .kernel = kernel_files_code(&kernel) };
	struct branch_event event;
	struct pt_stream *stream;
	struct auxtrace auxtrace;

	ck_assert_int_eq(auxtrace_init(&auxtrace, &file, NULL), 0);
	stream = pt_stream_open(&(struct pt_stream_input){ .info = &auxtrace.info,
							   .aux = &auxtrace.streams[0],
							   .history = &timeline->history,
							   .code = &source,
							   .diag = &diag,
							   .engine = engine },
				NULL);
	while (pt_stream_next(stream, &event)) {
		if (event_count < EVENTS_MAX)
			events[event_count++] = event;
	}
	stats = *pt_stream_stats(stream);
	pt_stream_close(stream);
	auxtrace_release(&auxtrace);
}

/* The packets so far, with the kernel as in kcore. */
static void finish(enum pt_engine engine)
{
	struct tiny_elf elf = { .address = KERNEL,
				.code = kernel_bytes,
				.code_size = sizeof(kernel_bytes) };
	char kcore[] = "/tmp/ptrace2ftf-XXXXXX";
	int fd = mkstemp(kcore);

	ck_assert_int_ge(fd, 0);
	close(fd);
	tiny_elf_write(&elf, kcore);
	sample_add_trace(&data, &packets);
	open_kernel(&(struct kernel_files_options){ .kcore = kcore });
	decode(engine);
	unlink(kcore);
	ck_assert_uint_eq(stats.bytes_decoded + stats.bytes_skipped + stats.bytes_lost,
			  stats.bytes_total);
}

static void expect(size_t index, enum branch_kind kind, uint64_t from, uint64_t to)
{
	ck_assert_uint_lt(index, event_count);
	ck_assert_uint_eq(events[index].kind, kind);
	ck_assert_uint_eq(events[index].from, from);
	ck_assert_uint_eq(events[index].to, to);
}

/* ---- TEXT_POKE ----------------------------------------------------------- */

/*
 * Off until 1000, on until 3000, then off.  kcore has the state before or at another time: the
 * records decide.
 */
START_TEST(code_is_what_it_was_at_the_time)
{
	enum pt_engine engine = _i & 1 ? PT_ENGINE_LIBIPT : PT_ENGINE_FAST;

	if (_i & 2)
		memcpy(kernel_bytes, call_hook, sizeof(call_hook));
	poke(1000, &(struct change){ KERNEL, nop5, call_hook, 5, 5 });
	poke(3000, &(struct change){ KERNEL, call_hook, nop5, 5, 5 });
	pt_packets_psb(&packets, SAMPLE_START, 0);
	pt_packets_pge(&packets, KERNEL);
	pt_packets_tip(&packets, BETWEEN);
	pt_packets_tsc(&packets, SAMPLE_START + 2000);
	pt_packets_tip(&packets, KERNEL);
	pt_packets_tip(&packets, KERNEL + 5);
	pt_packets_tip(&packets, BETWEEN);
	pt_packets_tsc(&packets, SAMPLE_START + 4000);
	pt_packets_tip(&packets, KERNEL);
	pt_packets_pgd(&packets, 0);
	finish(engine);
	ck_assert_uint_eq(event_count, 8);
	expect(1, BRANCH_RETURN, KERNEL + 5, BETWEEN);
	expect(2, BRANCH_RETURN, BETWEEN, KERNEL);
	expect(3, BRANCH_CALL, KERNEL, HOOK);
	expect(4, BRANCH_RETURN, HOOK, KERNEL + 5);
	expect(5, BRANCH_RETURN, KERNEL + 5, BETWEEN);
	expect(6, BRANCH_RETURN, BETWEEN, KERNEL);
	expect(7, BRANCH_RETURN, KERNEL + 5, 0);
	ck_assert_uint_eq(stats.bytes_lost, 0);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

/*
 * kernel/kprobes.c: an instruction's slot appears without old bytes and disappears without new
 * ones.
 */
START_TEST(code_where_the_kernel_had_none_is_code)
{
	static const uint8_t jump_back[] = { 0x90, 0xc3 };

	poke(0, &(struct change){ SLOT, NULL, jump_back, 0, 2 });
	poke(5000, &(struct change){ SLOT, jump_back, NULL, 2, 0 });
	pt_packets_psb(&packets, SAMPLE_START + 100, 0);
	pt_packets_pge(&packets, KERNEL);
	pt_packets_tip(&packets, SLOT);
	pt_packets_tip(&packets, KERNEL + 5);
	pt_packets_pgd(&packets, 0);
	finish(_i ? PT_ENGINE_LIBIPT : PT_ENGINE_FAST);
	ck_assert_uint_eq(event_count, 4);
	expect(1, BRANCH_RETURN, KERNEL + 5, SLOT);
	expect(2, BRANCH_RETURN, SLOT + 1, KERNEL + 5);
}
END_TEST

/* A worker may take an earlier stretch of the trace after a later one. */
START_TEST(going_back_in_time_puts_old_bytes_back)
{
	const struct kernel_code *code;
	const uint8_t *bytes;
	struct kernel_text text;

	poke(1000, &(struct change){ SLOT, NULL, call_hook, 0, 5 });
	poke(2000, &(struct change){ SLOT, call_hook, nop5, 5, 5 });
	open_kernel(&(struct kernel_files_options){ 0 });
	code = kernel_files_code(&kernel);
	ck_assert_ptr_nonnull(kernel_code_find(code, SLOT, &bytes));
	kernel_text_init(&text, code);
	ck_assert(kernel_text_advance(&text, SAMPLE_START + 2000));
	ck_assert_mem_eq(kernel_text_bytes(&text, bytes), nop5, 5);
	ck_assert(kernel_text_advance(&text, SAMPLE_START + 1999));
	ck_assert_mem_eq(kernel_text_bytes(&text, bytes), call_hook, 5);
	ck_assert(!kernel_text_advance(&text, SAMPLE_START + 1500));
	kernel_text_release(&text);
}
END_TEST

/* For a kprobe's slot older than the recording, only its end is recorded. */
START_TEST(code_that_goes_was_there_before)
{
	const uint8_t *bytes;
	struct kernel_text text;

	poke(5000, &(struct change){ SLOT, call_hook, NULL, 5, 0 });
	open_kernel(&(struct kernel_files_options){ 0 });
	ck_assert_ptr_nonnull(kernel_code_find(kernel_files_code(&kernel), SLOT + 4, &bytes));
	kernel_text_init(&text, kernel_files_code(&kernel));
	ck_assert_mem_eq(kernel_text_bytes(&text, bytes), call_hook, 5);
	kernel_text_release(&text);
}
END_TEST

/* An instruction may be in both. */
START_TEST(places_that_touch_are_one_range)
{
	const struct kernel_segment *range;
	const uint8_t *bytes;

	poke(1000, &(struct change){ SLOT + 2, NULL, call_hook + 2, 0, 3 });
	poke(2000, &(struct change){ SLOT, NULL, call_hook, 0, 2 });
	open_kernel(&(struct kernel_files_options){ 0 });
	range = kernel_code_find(kernel_files_code(&kernel), SLOT, &bytes);
	ck_assert_ptr_nonnull(range);
	ck_assert_uint_eq(range->begin, SLOT);
	ck_assert_uint_eq(range->end, SLOT + 5);
}
END_TEST

START_TEST(of_changes_at_one_time_the_last_one_holds)
{
	const uint8_t *bytes;
	struct kernel_text text;

	poke(1000, &(struct change){ SLOT, NULL, call_hook, 0, 5 });
	poke(1000, &(struct change){ SLOT, call_hook, nop5, 5, 5 });
	open_kernel(&(struct kernel_files_options){ 0 });
	ck_assert_ptr_nonnull(kernel_code_find(kernel_files_code(&kernel), SLOT, &bytes));
	kernel_text_init(&text, kernel_files_code(&kernel));
	kernel_text_advance(&text, SAMPLE_START + 1000);
	ck_assert_mem_eq(kernel_text_bytes(&text, bytes), nop5, 5);
	kernel_text_release(&text);
}
END_TEST

/* A record that claims more bytes than it has, and a range that wraps around. */
START_TEST(damaged_changes_cost_only_themselves)
{
	static const uint8_t nops[] = { 0x90, 0x90, 0x90, 0x90 };
	uint8_t cut[16] = { [3] = 0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	stamp(10);
	perf_data_add_record(&data, PERF_RECORD_TEXT_POKE, 0, cut, sizeof(cut));
	poke(20, &(struct change){ UINT64_MAX - 1, nops, nops, 4, 4 });
	pt_packets_psb(&packets, SAMPLE_START + 100, 0);
	pt_packets_pge(&packets, KERNEL);
	pt_packets_tip(&packets, KERNEL);
	pt_packets_pgd(&packets, 0);
	finish(PT_ENGINE_FAST);
	ck_assert_uint_eq(event_count, 3);
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	ck_assert_ptr_nonnull(strstr(diag.first->text, "damaged"));
}
END_TEST

/* ---- BPF programs -------------------------------------------------------- */

struct program {
	uint64_t addresses[2];
	uint32_t lengths[2];
	uint32_t functions;
	uint8_t code[16];
};

/* Write one entry of the feature; returns its size. */
static size_t write_program(uint8_t *to, const struct program *program)
{
	struct bpf_prog_info info = {
		.jited_prog_len = sizeof(program->code),
		.jited_prog_insns = offsetof(struct program, code),
		.nr_jited_ksyms = program->functions,
		.nr_jited_func_lens = program->functions,
		.jited_ksyms = offsetof(struct program, addresses),
		.jited_func_lens = offsetof(struct program, lengths),
	};
	uint32_t head[4] = { sizeof(info), sizeof(*program), 0, 0 };

	memcpy(to, head, sizeof(head));
	memcpy(to + BPIL_FIXED, &info, sizeof(info));
	memcpy(to + BPIL_FIXED + sizeof(info), program, sizeof(*program));
	return BPIL_FIXED + sizeof(info) + sizeof(*program);
}

/* Calls its own second function; the other program replaces it later. */
static const struct program first = {
	.addresses = { BPF, BPF + 8 },
	.lengths = { 8, 8 },
	.functions = 2,
	.code = { 0xe8, 3, 0, 0, 0, 0xc3, 0x90, 0x90, 0x90, 0xc3 },
};
static const struct program second = {
	.addresses = { BPF },
	.lengths = { 4 },
	.functions = 1,
	.code = { 0x90, 0x90, 0xc3 },
};

static size_t write_programs(uint8_t *section)
{
	uint32_t count = 2;
	size_t size = sizeof(count);

	memcpy(section, &count, sizeof(count));
	size += write_program(section + size, &first);
	return size + write_program(section + size, &second);
}

START_TEST(bpf_programs_are_code_while_they_are_registered)
{
	uint8_t section[1024];

	perf_data_set_feature(&data, FEATURE, section, write_programs(section));
	add_ksymbol(500, BPF, 8);
	add_ksymbol(500, BPF + 8, 8);
	add_ksymbol(3000, BPF, 4);
	pt_packets_psb(&packets, SAMPLE_START, 0);
	pt_packets_pge(&packets, KERNEL);
	pt_packets_tip(&packets, BPF); /* earlier than its record: times are approximate */
	pt_packets_tip(&packets, BPF + 5);
	pt_packets_tip(&packets, KERNEL);
	pt_packets_tsc(&packets, SAMPLE_START + 2000); /* the other program's size differs */
	pt_packets_tip(&packets, BPF);
	pt_packets_tip(&packets, BPF + 5);
	pt_packets_tip(&packets, KERNEL);
	pt_packets_tsc(&packets, SAMPLE_START + 4000);
	pt_packets_tip(&packets, BPF);
	pt_packets_tip(&packets, KERNEL);
	pt_packets_pgd(&packets, 0);
	finish(_i ? PT_ENGINE_LIBIPT : PT_ENGINE_FAST);
	for (size_t i = 0; i < 8; i += 4) {
		expect(i + 1, BRANCH_RETURN, KERNEL + 5, BPF);
		expect(i + 2, BRANCH_CALL, BPF, BPF + 8);
		expect(i + 3, BRANCH_RETURN, BPF + 9, BPF + 5);
		expect(i + 4, BRANCH_RETURN, BPF + 5, KERNEL);
	}
	expect(9, BRANCH_RETURN, KERNEL + 5, BPF);
	expect(10, BRANCH_RETURN, BPF + 2, KERNEL);
	ck_assert_uint_eq(event_count, 12);
}
END_TEST

static unsigned count_functions(const uint8_t *bytes, size_t size)
{
	struct perf_file only = { 0 };
	struct bpf_function function = { 0 };
	unsigned count = 0, sum = 0;

	only.features.sections[FEATURE] = (struct byte_view){ bytes, size };
	while (bpf_programs_next(&only, &function)) {
		for (uint32_t i = 0; i < function.size; i++)
			sum += function.bytes[i]; /* for the sanitizers */
		count++;
	}
	return sum ? count : 0;
}

START_TEST(a_cut_or_wrong_section_gives_what_is_whole)
{
	uint8_t section[1024];
	size_t size = write_programs(section);

	ck_assert_uint_eq(count_functions(section, size), 3);
	for (size_t cut = 0; cut < size; cut++) {
		uint8_t *bytes = alloc_zeroed(cut + 1, 1);

		memcpy(bytes, section, cut);
		ck_assert_uint_le(count_functions(bytes, cut), 2);
		free(bytes);
	}
	for (size_t at = 0; at < size; at++) {
		uint8_t *bytes = alloc_zeroed(size, 1);

		memcpy(bytes, section, size);
		bytes[at] = 0xff;
		count_functions(bytes, size);
		free(bytes);
	}
}
END_TEST

/* ---- Modules ------------------------------------------------------------- */

#define LINKED   UINT64_C(0xffffffff80000000) /* vmlinux; it runs at KERNEL */
#define ONE      UINT64_C(0xffffffffc0200000)
#define COLD     (ONE + 32) /* .text has 21 bytes */
#define TWO      UINT64_C(0xffffffffc0300000)
#define FUNCTION 0x20 /* of vmlinux: ret */

static void map_kernel(uint64_t begin, uint64_t size, uint64_t file_offset, const char *path)
{
	struct perf_data_mmap map = { .pid = -1,
				      .address = begin,
				      .length = size,
				      .file_offset = file_offset,
				      .path = path };

	perf_data_add_mmap(&data, PERF_RECORD_MISC_KERNEL, &map);
}

static void expect_name(uint64_t ip, const char *name)
{
	const struct thread *const *threads = timeline->threads.threads;
	struct location location;

	location = resolver_find(&resolver, threads[0]->process->epochs[0].space, ip);
	ck_assert_ptr_nonnull(location.symbol);
	ck_assert_str_eq(location.symbol->name->text, name);
}

/* Extensions as in the kernel's Makefile.modinst; NULL: not packed. */
static const char *const packers[] = {
	NULL,
	"xz --check=crc32 --lzma2=dict=1MiB -c",
	"zstd -T0 -q -c",
	"gzip -n -c",
};
static const char *const endings[] = { "", ".xz", ".zst", ".gz" };

/*
 * Make a folder of the two packed modules, and set `modules` to it.  Returns false without this
 * packer.
 */
static bool pack_modules(unsigned packing, char place[sizeof("/tmp/ptrace2ftf-XXXXXX")])
{
	static const char *const both[] = { "one", "two" };
	char command[2 * PATH_MAX];
	bool packed = true;

	strcpy(place, "/tmp/ptrace2ftf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(place));
	for (unsigned i = 0; i < 2; i++) {
		snprintf(command, sizeof(command), "%s %s/%s.ko >%s/%s.ko%s",
			 packers[packing] ? packers[packing] : "cat", modules, both[i], place,
			 both[i], endings[packing]);
		packed = packed && system(command) == 0;
	}
	snprintf(modules, sizeof(modules), "%s", place);
	return packed;
}

static void remove_place(const char *place)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "rm -r %s", place);
	ck_assert_int_eq(system(command), 0);
}

static void map_module(uint64_t begin, uint64_t size, const char *name, unsigned packing)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/lib/modules/6.1.0/kernel/%s.ko%s", name, endings[packing]);
	map_kernel(begin, size, 0, path);
}

/* Without kcore: vmlinux, linked for another address, and modules that call it and each other. */
START_TEST(modules_are_laid_out_and_relocated_as_the_kernel_does)
{
	static const struct tiny_symbol symbols[] = {
		{ "_text", LINKED, 1, 0x12 },
		{ "kernel_function", LINKED + FUNCTION, 1, 0x12 },
	};
	struct tiny_elf elf = { .address = LINKED,
				.code = kernel_bytes,
				.code_size = sizeof(kernel_bytes),
				.symbols = symbols,
				.symbol_count = 2 };
	char vmlinux[] = "/tmp/ptrace2ftf-XXXXXX", place[sizeof(vmlinux)];
	unsigned packing = (unsigned)_i / 2;

	if (!pack_modules(packing, place)) {
		remove_place(place);
		return;
	}
	close(mkstemp(vmlinux));
	tiny_elf_write(&elf, vmlinux);
	stamp(0);
	map_kernel(KERNEL, 0x1000, KERNEL, "[kernel.kallsyms]_text");
	map_module(ONE, 0x1000, "one", packing);
	map_module(TWO, 0x1000, "two", packing);
	pt_packets_psb(&packets, SAMPLE_START, 0);
	pt_packets_pge(&packets, TWO);
	pt_packets_tnt(&packets, "tt");
	pt_packets_tip(&packets, KERNEL + FUNCTION);
	pt_packets_pgd(&packets, 0);
	sample_add_trace(&data, &packets);
	open_kernel(&(struct kernel_files_options){ .vmlinux = vmlinux });
	decode(_i % 2 ? PT_ENGINE_LIBIPT : PT_ENGINE_FAST);
	unlink(vmlinux);
	expect(1, BRANCH_JUMP, TWO, ONE);
	expect(2, BRANCH_CALL, ONE + 5, COLD);
	expect(3, BRANCH_RETURN, COLD, ONE + 10);
	expect(4, BRANCH_CALL, ONE + 10, KERNEL + FUNCTION);
	expect(5, BRANCH_RETURN, KERNEL + FUNCTION, ONE + 15);
	/* not_there's address is unknown: a gap. */
	expect(6, BRANCH_CALL, ONE + 15, KERNEL_MODULE_HOLE);
	expect(7, BRANCH_GAP, KERNEL_MODULE_HOLE, 0);
	ck_assert_uint_eq(events[7].gap, GAP_NO_CODE);
	expect_name(ONE + 12, "one");
	expect_name(COLD, "cold");
	expect_name(TWO, "two");
	expect_name(KERNEL + FUNCTION, "kernel_function");
	remove_place(place);
}
END_TEST

/* A recording of ONE alone; expects a message about its file. */
static void expect_said(const char *kind)
{
	pt_packets_psb(&packets, SAMPLE_START, 0);
	pt_packets_pge(&packets, ONE);
	pt_packets_tnt(&packets, "t");
	sample_add_trace(&data, &packets);
	open_kernel(&(struct kernel_files_options){ 0 });
	decode(PT_ENGINE_FAST);
	expect(1, BRANCH_GAP, ONE, 0);
	ck_assert_uint_eq(diag_kinds(&diag), 1);
	ck_assert_str_eq(diag.first->kind, kind);
	ck_assert_ptr_nonnull(strstr(diag.first->text, "one.ko"));
}

/* The id of the packed module: tests/unit/src/local.mk gives it another one. */
START_TEST(a_module_of_another_build_is_not_used_packed_or_not)
{
	static const uint8_t id[20] = { 1, 2, 3 };
	char place[sizeof("/tmp/ptrace2ftf-XXXXXX")], path[PATH_MAX];

	if (pack_modules((unsigned)_i, place)) {
		stamp(0);
		snprintf(path, sizeof(path), "/lib/modules/6.1.0/kernel/one.ko%s", endings[_i]);
		map_module(ONE, 0x1000, "one", (unsigned)_i);
		perf_data_add_build_id(&data, PERF_RECORD_MISC_KERNEL, path, id, sizeof(id));
		expect_said("build-id-mismatch");
	}
	remove_place(place);
}
END_TEST

/* Cut, three bytes wrong, 4 MiB of zeros in a small file (not unpacked completely), a program. */
START_TEST(a_packed_file_that_is_damaged_or_no_module_is_named_and_left_out)
{
	static const char *const damages[] = {
		"truncate -s 300 \"$file\"",
		"printf '\\377\\377\\377' | dd of=\"$file\" bs=1 seek=40 conv=notrunc status=none",
		"head -c 4194304 /dev/zero | $pack >\"$file\"",
		"$pack </bin/true >\"$file\"",
	};
	unsigned packing = 1 + (unsigned)_i % 3;
	char place[sizeof("/tmp/ptrace2ftf-XXXXXX")], command[PATH_MAX];

	if (pack_modules(packing, place)) {
		snprintf(command, sizeof(command), "file=%s/one.ko%s; pack='%s'; %s", place,
			 endings[packing], packers[packing], damages[_i / 3]);
		ck_assert_int_eq(system(command), 0);
		stamp(0);
		map_module(ONE, 0x1000, "one", packing);
		expect_said("elf-unreadable");
		ck_assert_ptr_nonnull(strstr(diag.first->text, _i / 3 < 3 ? "cannot be unpacked"
									  : "not a kernel module"));
	}
	remove_place(place);
}
END_TEST

/* A mapping smaller than the code: another build. */
START_TEST(a_module_that_does_not_fit_is_named_and_left_out)
{
	stamp(0);
	map_kernel(ONE, 8, 0, "/lib/modules/6.1.0/kernel/one.ko");
	expect_said("module-unusable");
}
END_TEST

/* ---- The running kernel ---------------------------------------------------- */

/* perf uses the running kernel's symbols by the same facts (dso__load_kernel_sym()). */
START_TEST(the_running_kernel_fits_by_release_build_id_and_address)
{
	static const enum running_kernel expected[] = { RUNNING_BOOT, RUNNING_BUILD, RUNNING_OTHER,
							RUNNING_OTHER };
	uint8_t notes[4096], other[BUILD_ID_MAX] = { 1, 2, 3 };
	FILE *file_of_notes = fopen("/sys/kernel/notes", "re");
	FILE *kallsyms = fopen("/proc/kallsyms", "re");
	char line[200] = "", reference[100], path[200];
	struct utsname running;
	uint64_t address = 0;

	ck_assert_int_eq(uname(&running), 0);
	while (kallsyms && fgets(line, sizeof(line), kallsyms) && !strstr(line, " T _text\n"))
		continue;
	sscanf(line, "%" SCNx64 " %*c %99s", &address, reference);
	/* The first note is the build id: a header of 12 bytes, "GNU". */
	if (!address || !file_of_notes ||
	    fread(notes, 1, sizeof(notes), file_of_notes) < 16 + BUILD_ID_MAX)
		_i += 4; /* nothing can be compared here */
	if (kallsyms)
		fclose(kallsyms);
	if (file_of_notes)
		fclose(file_of_notes);
	if (_i >= 4)
		return;
	snprintf(path, sizeof(path), "[kernel.kallsyms]%s", reference);
	perf_data_set_text(&data, 4, _i == 3 ? "2.6.0" : running.release);
	perf_data_add_build_id(&data, PERF_RECORD_MISC_KERNEL, "[kernel.kallsyms]",
			       _i == 2 ? other : notes + 16, BUILD_ID_MAX);
	stamp(0);
	map_kernel(KERNEL, 0x40, address + (_i == 1 ? 0x200000 : 0), path);
	open_kernel(&(struct kernel_files_options){ 0 });
	ck_assert_int_eq(kernel_files_identify(&file, timeline, store), expected[_i]);
}
END_TEST

/* perf buildid-cache keeps kallsyms by the kernel's build id; modules have other ones. */
START_TEST(names_of_the_kernel_are_found_wherever_the_first_one_is_looked_up)
{
	const uint8_t id[BUILD_ID_MAX] = { 0xab, 0xcd };
	char place[] = "/tmp/ptrace2ftf-XXXXXX", command[600];

	ck_assert_ptr_nonnull(mkdtemp(place));
	snprintf(command, sizeof(command),
		 "cd %s && mkdir -p .build-id/ab/cd%036d && printf "
		 "'%" PRIx64 " T startup\\n%" PRIx64 " t probe\\t[one]\\n' "
		 ">.build-id/ab/cd%036d/kallsyms",
		 place, 0, KERNEL, SLOT, 0);
	ck_assert_int_eq(system(command), 0);
	perf_data_add_build_id(&data, PERF_RECORD_MISC_KERNEL, "[kernel.kallsyms]", id,
			       BUILD_ID_MAX);
	stamp(0);
	map_kernel(KERNEL, 0x40, KERNEL, "[kernel.kallsyms]_text");
	map_kernel(SLOT, 0x1000, 0, "[one]");
	build_id_cache = place;
	open_kernel(&(struct kernel_files_options){ 0 });
	expect_name(_i ? SLOT : KERNEL, _i ? "probe" : "startup");
	expect_name(_i ? KERNEL : SLOT, _i ? "startup" : "probe");
	remove_place(place);
}
END_TEST

/* ---- Entry trampolines --------------------------------------------------- */

#define TRAMPOLINE UINT64_C(0xfffffe0000006000)
#define NEXT_CPU   UINT64_C(0x2c000)

/* Each CPU has its own mapping of the same text (perf's machine__create_extra_kernel_maps()). */
START_TEST(code_mapped_a_second_time_is_the_text_that_the_recording_names)
{
	static const struct tiny_symbol symbols[] = { { "_text", LINKED, 1, 0x12 } };
	struct tiny_elf elf = { .address = LINKED,
				.code = kernel_bytes,
				.code_size = sizeof(kernel_bytes),
				.symbols = symbols,
				.symbol_count = 1 };
	char vmlinux[] = "/tmp/ptrace2ftf-XXXXXX";

	close(mkstemp(vmlinux));
	tiny_elf_write(&elf, vmlinux);
	stamp(0);
	map_kernel(KERNEL, 0x40, KERNEL, "[kernel.kallsyms]_text");
	map_kernel(TRAMPOLINE, 0x1000, BETWEEN, "__entry_SYSCALL_64_trampoline");
	map_kernel(TRAMPOLINE + NEXT_CPU, 8, BETWEEN, "__entry_SYSCALL_64_trampoline");
	map_kernel(TRAMPOLINE + 2 * NEXT_CPU, 8, 0x1234, "__entry_SYSCALL_64_trampoline");
	pt_packets_psb(&packets, SAMPLE_START, 0);
	pt_packets_pge(&packets, TRAMPOLINE);
	pt_packets_tip(&packets, TRAMPOLINE + NEXT_CPU);
	pt_packets_tip(&packets, KERNEL);
	pt_packets_tip(&packets, TRAMPOLINE + 2 * NEXT_CPU);
	pt_packets_pgd(&packets, 0);
	sample_add_trace(&data, &packets);
	open_kernel(&(struct kernel_files_options){ .vmlinux = vmlinux });
	decode(_i ? PT_ENGINE_LIBIPT : PT_ENGINE_FAST);
	unlink(vmlinux);
	expect(1, BRANCH_RETURN, TRAMPOLINE, TRAMPOLINE + NEXT_CPU);
	expect(2, BRANCH_RETURN, TRAMPOLINE + NEXT_CPU, KERNEL);
	expect(3, BRANCH_RETURN, KERNEL + 5, TRAMPOLINE + 2 * NEXT_CPU);
	expect(4, BRANCH_GAP, TRAMPOLINE + 2 * NEXT_CPU, 0); /* its text is missing */
	expect_name(TRAMPOLINE, "__entry_SYSCALL_64_trampoline");
	expect_name(TRAMPOLINE + NEXT_CPU, "__entry_SYSCALL_64_trampoline");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kernel_changes");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_loop_test(all, modules_are_laid_out_and_relocated_as_the_kernel_does, 0, 8);
	tcase_add_loop_test(all, a_module_of_another_build_is_not_used_packed_or_not, 0, 4);
	tcase_add_loop_test(all, a_packed_file_that_is_damaged_or_no_module_is_named_and_left_out,
			    0, 12);
	tcase_add_test(all, a_module_that_does_not_fit_is_named_and_left_out);
	tcase_add_loop_test(all, the_running_kernel_fits_by_release_build_id_and_address, 0, 4);
	tcase_add_loop_test(all, names_of_the_kernel_are_found_wherever_the_first_one_is_looked_up,
			    0, 2);
	tcase_add_loop_test(all, code_mapped_a_second_time_is_the_text_that_the_recording_names, 0,
			    2);
	tcase_add_loop_test(all, code_is_what_it_was_at_the_time, 0, 4);
	tcase_add_loop_test(all, code_where_the_kernel_had_none_is_code, 0, 2);
	tcase_add_test(all, going_back_in_time_puts_old_bytes_back);
	tcase_add_test(all, code_that_goes_was_there_before);
	tcase_add_test(all, places_that_touch_are_one_range);
	tcase_add_test(all, of_changes_at_one_time_the_last_one_holds);
	tcase_add_test(all, damaged_changes_cost_only_themselves);
	tcase_add_loop_test(all, bpf_programs_are_code_while_they_are_registered, 0, 2);
	tcase_add_test(all, a_cut_or_wrong_section_gives_what_is_whole);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
