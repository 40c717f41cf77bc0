/* SPDX-License-Identifier: MIT */
/* The profiles' messages, decoded by protobuf-c. */
#include <unistd.h>

#include "base/io/output.h"
#include "src/costs/cost_stacks.h"
#include "src/formats/output_format.h"
#include "src/formats/pprof/profile.pb-c.h"
#include "src/options/options.h"
#include "src/slices/track.h"
#include "symbols/dso/dso_store.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_feed.h"

static struct name_table names;
static struct options options;
static struct format_output *format;
static struct output output;
static char path[] = "pprof-XXXXXX";
static struct track thread = { .thread_name = "main" };
static struct symbol f, g;
static Perftools__Profiles__Profile *profile;
static const struct dso *program; /* NULL: unknown */

static void open_profile(uint64_t wall_base)
{
	struct error err = { 0 };
	int fd;

	ck_assert_int_eq(chdir(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp"), 0);
	strcpy(path, "pprof-XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(output_open(&output, path, &err), 0);
	format = output_format_open(&format_pprof,
				    &(struct format_request){ .options = &options,
							      .output = &output,
							      .names = &names,
							      .facts = { .wall_base = wall_base,
									 .program = program } });
}

static void setup(void)
{
	options = (struct options){ .format = &format_pprof };
	name_table_init(&names);
	f = g = (struct symbol){ 0 };
	f.name = name_intern_text(&names, "f()");
	f.linkage = name_intern_text(&names, "_Z1fv");
	g.name = g.linkage = name_intern_text(&names, "g");
}

static void teardown(void)
{
	if (profile)
		perftools__profiles__profile__free_unpacked(profile, NULL);
	profile = NULL;
	output_format_close(&format_pprof, format);
	name_table_release(&names);
}

static uint64_t cycles; /* of an instruction */

static void edge_from(const struct symbol *symbol, uint64_t time, uint64_t insns,
		      const struct symbol *caller, uint64_t offset)
{
	slice_sink_emit(&format->sink, &thread,
			&(struct slice_event){ .time = time,
					       .symbol = symbol,
					       .kind = symbol ? SLICE_BEGIN : SLICE_END },
			&(struct slice_detail){ .insns = insns,
						.cycles = cycles * insns,
						.caller = caller,
						.caller_offset = offset });
}

static void edge(const struct symbol *symbol, uint64_t time, uint64_t insns)
{
	edge_from(symbol, time, insns, NULL, 0);
}

static void write_profile(void)
{
	static uint8_t bytes[1 << 20];
	struct error err = { 0 };
	FILE *in;

	format_pprof.finish(format);
	ck_assert_int_eq(format->err.kind, ERROR_NONE);
	ck_assert_int_eq(output_close(&output, &err), 0);
	in = fopen(path, "rb");
	ck_assert_ptr_nonnull(in);
	profile = perftools__profiles__profile__unpack(NULL, fread(bytes, 1, sizeof(bytes), in),
						       bytes);
	fclose(in);
	unlink(path);
	ck_assert_ptr_nonnull(profile);
}

static const char *text_at(int64_t index)
{
	ck_assert_uint_lt((uint64_t)index, profile->n_string_table);
	return profile->string_table[index];
}

/* Returns the function of a sample's location. */
static const Perftools__Profiles__Function *function_of(uint64_t id)
{
	for (size_t i = 0; i < profile->n_location; i++) {
		if (profile->location[i]->id != id)
			continue;
		for (size_t j = 0; j < profile->n_function; j++)
			if (profile->function[j]->id == profile->location[i]->line[0]->function_id)
				return profile->function[j];
	}
	ck_abort_msg("location %d has no function", (int)id);
}

/* f 10..40, with g 15..25 in it, and an empty call of g: calls, instructions and self time. */
START_TEST(a_sample_has_the_own_costs_of_a_stack)
{
	const Perftools__Profiles__Sample *of_f, *of_g;

	open_profile(1000);
	edge(&f, 10, 100);
	edge(&g, 15, 110);
	edge(NULL, 25, 117);
	edge(&g, 30, 117);
	edge(NULL, 30, 117);
	edge(NULL, 40, 120);
	write_profile();
	ck_assert_int_eq(profile->time_nanos, 1010);
	ck_assert_int_eq(profile->duration_nanos, 30);
	ck_assert_uint_eq(profile->n_sample_type, 3); /* no cycles */
	ck_assert_str_eq(text_at(profile->sample_type[1]->type), "instructions");
	ck_assert_str_eq(text_at(profile->sample_type[2]->unit), "nanoseconds");
	ck_assert_str_eq(text_at(0), "");
	ck_assert_uint_eq(profile->n_sample, 2);
	of_f = profile->sample[0];
	of_g = profile->sample[1];
	ck_assert_uint_eq(of_f->n_location_id, 1);
	ck_assert_uint_eq(of_g->n_location_id, 2);
	ck_assert_str_eq(text_at(function_of(of_g->location_id[0])->name), "g");
	ck_assert_uint_eq(of_g->location_id[1], of_f->location_id[0]);
	ck_assert_str_eq(text_at(function_of(of_f->location_id[0])->name), "f()");
	ck_assert_str_eq(text_at(function_of(of_f->location_id[0])->system_name), "_Z1fv");
	ck_assert_int_eq(of_f->value[0], 1);
	ck_assert_int_eq(of_f->value[1], 13); /* from its start */
	ck_assert_int_eq(of_f->value[2], 20);
	ck_assert_int_eq(of_g->value[0], 2);
	ck_assert_int_eq(of_g->value[1], 7);
	ck_assert_int_eq(of_g->value[2], 10);
	ck_assert_str_eq(text_at(of_g->label[0]->key), "thread");
	ck_assert_str_eq(text_at(of_g->label[0]->str), "main");
	ck_assert_uint_eq(profile->n_mapping, 0);
}
END_TEST

START_TEST(a_stack_without_costs_has_its_calls)
{
	open_profile(UINT64_MAX);
	edge(&g, 10, 0);
	edge(NULL, 10, 0);
	write_profile();
	ck_assert_int_eq(profile->time_nanos, 0);
	ck_assert_uint_eq(profile->n_sample, 1);
	ck_assert_uint_eq(profile->n_sample_type, 2);
	ck_assert_int_eq(profile->sample[0]->value[0], 1);
	ck_assert_int_eq(profile->sample[0]->value[1], 0);
}
END_TEST

/* ---- Code with addresses and lines ------------------------------------------------- */

/* f is at 0x1100 of the program, g at 0x2200 of a library; a line has 16 bytes. */
static struct dso files[2];
static uint64_t inlined_at; /* address of an inlined call; 0: none */
static struct code_range ranges[2] = {
	{ .offset = 0x1234, .size = 0x800, .vaddr = 0x1234 },
	{ .offset = 0x1000, .size = 0x1000, .vaddr = 0x2000 },
};

const struct inlined_call *__wrap_dso_inlined_at(struct dso *dso, uint64_t vaddr);
struct source_line __wrap_dso_line(const struct symbol *symbol, uint64_t offset);
struct source_line __wrap_dso_symbol_line(const struct symbol *symbol);
const struct symbol *__wrap_dso_borrow_symbol_at(struct dso *dso, uint64_t vaddr);
const uint8_t *__wrap_dso_borrow_code(const struct dso *dso, uint64_t vaddr, size_t *left);

const struct inlined_call *__wrap_dso_inlined_at(struct dso *dso, uint64_t vaddr)
{
	static struct symbol inlined;
	static const struct inlined_call call = { &inlined, NULL, { 0 } };

	(void)dso;
	inlined.name = inlined.linkage = name_intern_text(&names, "inlined");
	inlined.inlined = &call;
	inlined.dso = &files[0];
	inlined.start = f.start;
	return inlined_at && vaddr == inlined_at ? &call : NULL;
}

struct source_line __wrap_dso_line(const struct symbol *symbol, uint64_t offset)
{
	return (struct source_line){ name_intern_text(&names, symbol == &f ? "f.c" : "g.c"),
				     100 + (uint32_t)offset / 16, 0 };
}

struct source_line __wrap_dso_symbol_line(const struct symbol *symbol)
{
	return __wrap_dso_line(symbol, 0);
}

const struct symbol *__wrap_dso_borrow_symbol_at(struct dso *dso, uint64_t vaddr)
{
	(void)vaddr;
	return dso == &files[0] ? &f : &g;
}

const uint8_t *__wrap_dso_borrow_code(const struct dso *dso, uint64_t vaddr, size_t *left)
{
	static const uint8_t ret = 0xc3;

	(void)dso;
	(void)vaddr;
	*left = 1;
	return &ret;
}

static void ran(int file, uint64_t vaddr, uint64_t count)
{
	executed_code_add(
		format->code, &files[file], vaddr,
		&(struct code_count){
			.begin = vaddr, .last = vaddr, .count = count, .kind = BRANCH_RETURN });
}

static void make_files(void)
{
	memset(files, 0, sizeof(files));
	for (int i = 0; i < 2; i++) {
		files[i].path = i ? "/lib/b.so" : "/bin/prog";
		files[i].short_name = name_intern_text(&names, i ? "b.so" : "prog");
		files[i].elf.code = &ranges[i];
		files[i].elf.code_count = 1;
		files[i].hh.key = (void *)files[i].path; /* dso_compare() reads it */
		files[i].hh.keylen = (unsigned)strlen(files[i].path);
	}
	memcpy(files[1].build_id, "\x01\xab", 2);
	files[1].build_id_size = 2;
	f.dso = &files[0];
	f.start = 0x1100;
	g.dso = &files[1];
	g.start = 0x2200;
}

static const Perftools__Profiles__Location *location_of(uint64_t id)
{
	for (size_t i = 0; i < profile->n_location; i++)
		if (profile->location[i]->id == id)
			return profile->location[i];
	ck_abort_msg("location %d is missing", (int)id);
}

/*
 * f executes 40 instructions, 10 of them at 0x1110 and 10 at 0x1120, where it calls g, whose 5 are
 * at 0x2210.
 */
static void run_code(void)
{
	make_files();
	open_profile(1000);
	edge(&f, 10, 0);
	edge_from(&g, 50, 30, &f, 0x20);
	edge(NULL, 55, 35);
	edge(NULL, 65, 45);
	ran(0, 0x1110, 10);
	ran(0, 0x1120, 10);
	ran(1, 0x2210, 5);
	write_profile();
}

/* Returns the sums of the samples whose innermost place is at an address. */
static struct sample_sums {
	int64_t values[4];
	size_t count, depth;
	const Perftools__Profiles__Sample *last;
} sums_at(uint64_t address)
{
	struct sample_sums sums = { .count = 0 };

	for (size_t i = 0; i < profile->n_sample; i++) {
		const Perftools__Profiles__Sample *sample = profile->sample[i];

		if (location_of(sample->location_id[0])->address != address)
			continue;
		sums.count++;
		sums.depth = sample->n_location_id;
		sums.last = sample;
		for (size_t k = 0; k < sample->n_value; k++)
			sums.values[k] += sample->value[k];
	}
	return sums;
}

#define SECOND (UINT64_C(1) << 32) /* addresses of the second file */

START_TEST(samples_are_of_instructions)
{
	static const struct {
		uint64_t address;
		size_t depth;
		int64_t calls, insns, ns, line;
		const char *function;
	} rows[] = { { 0, 1, 1, 20, 25, 100, "f()" }, /* at unknown addresses */
		     { 0x1110, 1, 0, 10, 12, 101, "f()" },
		     { 0x1120, 1, 0, 10, 13, 102, "f()" },
		     { SECOND + 0x2210, 2, 1, 5, 5, 101, "g" } };
	int64_t ns = 0;

	program = _i ? &files[0] : NULL;
	run_code();
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct sample_sums sums = sums_at(rows[i].address);
		const Perftools__Profiles__Location *location;

		ck_assert_uint_eq(sums.count, 1);
		ck_assert_uint_eq(sums.depth, rows[i].depth);
		ck_assert_int_eq(sums.values[0], rows[i].calls);
		ck_assert_int_eq(sums.values[1], rows[i].insns);
		/* 50 ns of f are divided by executions, and rounded. */
		ck_assert_int_le(llabs((long long)(sums.values[2] - rows[i].ns)), 1);
		ns += sums.values[2];
		location = location_of(sums.last->location_id[0]);
		ck_assert_uint_eq(location->n_line, 1);
		ck_assert_int_eq(location->line[0]->line, rows[i].line);
		ck_assert_str_eq(text_at(function_of(location->id)->name), rows[i].function);
		ck_assert_str_eq(text_at(function_of(location->id)->filename),
				 i < 3 ? "f.c" : "g.c");
		ck_assert_int_eq(function_of(location->id)->start_line, 100);
	}
	ck_assert_int_eq(ns, 55);
	/* g was called from f's line 102. */
	ck_assert_uint_eq(location_of(sums_at(SECOND + 0x2210).last->location_id[1])->address,
			  0x1120);
	ck_assert_uint_eq(profile->n_sample, 4);
	program = NULL;
}
END_TEST

/* Files are pages of memory; those of the second one are elsewhere. */
START_TEST(files_have_mappings)
{
	const Perftools__Profiles__Mapping *first, *second;

	program = &files[0];
	run_code();
	ck_assert_uint_eq(profile->n_mapping, 2);
	first = profile->mapping[0];
	second = profile->mapping[1];
	ck_assert_uint_eq(first->id, 1);
	ck_assert_str_eq(text_at(first->filename), "/bin/prog");
	ck_assert_str_eq(text_at(first->build_id), "");
	ck_assert_uint_eq(first->memory_start, 0x1000);
	ck_assert_uint_eq(first->memory_limit, 0x2000);
	ck_assert_uint_eq(first->file_offset, 0x1000);
	ck_assert(first->has_functions && first->has_filenames && first->has_line_numbers);
	ck_assert_uint_eq(second->id, 2);
	ck_assert_str_eq(text_at(second->filename), "/lib/b.so");
	ck_assert_str_eq(text_at(second->build_id), "01ab");
	ck_assert_uint_eq(second->memory_start, SECOND + 0x2000);
	ck_assert_uint_eq(second->memory_limit, SECOND + 0x3000);
	ck_assert_uint_eq(second->file_offset, 0x1000);
	for (size_t i = 0; i < profile->n_location; i++) {
		const Perftools__Profiles__Location *location = profile->location[i];
		bool of_g = strcmp(text_at(function_of(location->id)->name), "g") == 0;

		ck_assert_uint_eq(location->mapping_id, of_g ? 2 : 1);
		ck_assert_int_eq(location->address >= SECOND, of_g && location->address);
	}
	program = NULL;
}
END_TEST

/* The program is first, whatever ran first; a program that did not run is no file. */
START_TEST(the_program_is_the_first_file)
{
	struct dso other = { .path = "/bin/other" };

	make_files();
	program = _i == 0 ? &files[1] : _i == 1 ? &files[0] : &other;
	open_profile(1000);
	edge(&f, 10, 0);
	edge(NULL, 20, 10);
	edge(&g, 20, 10);
	edge(NULL, 30, 20);
	write_profile();
	ck_assert_uint_eq(profile->n_mapping, 2);
	ck_assert_str_eq(text_at(profile->mapping[0]->filename), _i ? "/bin/prog" : "/lib/b.so");
	program = NULL;
}
END_TEST

/* Values that the trace has; --clock counts one of them, and no time. */
START_TEST(values_are_those_that_the_trace_has)
{
	static const struct {
		uint64_t insns, cycles;
		enum thread_clock clock;
		const char *types, *shown;
		bool time;
	} rows[] = {
		{ 0, 0, 0, "calls/count time/nanoseconds ", "time", true },
		{ 9, 0, 0, "calls/count instructions/count time/nanoseconds ", "time", true },
		{ 9, 2, 0, "calls/count instructions/count cycles/count time/nanoseconds ", "time",
		  true },
		{ 9, 2, CLOCK_INSNS, "calls/count instructions/count cycles/count ", "instructions",
		  false },
		{ 9, 2, CLOCK_CYCLES, "calls/count instructions/count cycles/count ", "cycles",
		  false },
	};
	const int64_t expected[] = { 1, (int64_t)rows[_i].insns,
				     (int64_t)(rows[_i].insns * rows[_i].cycles), 30 };
	char types[200] = "";
	size_t value = 0;

	cycles = rows[_i].cycles;
	options.clock = rows[_i].clock;
	open_profile(1000);
	edge(&g, 10, 0);
	edge(NULL, 40, rows[_i].insns);
	write_profile();
	for (size_t i = 0; i < profile->n_sample_type; i++)
		sprintf(types + strlen(types), "%s/%s ", text_at(profile->sample_type[i]->type),
			text_at(profile->sample_type[i]->unit));
	ck_assert_str_eq(types, rows[_i].types);
	ck_assert_str_eq(text_at(profile->default_sample_type), rows[_i].shown);
	ck_assert_uint_eq(profile->n_sample, 1);
	ck_assert_uint_eq(profile->sample[0]->n_value, profile->n_sample_type);
	for (int i = 0; i < 4; i++)
		if (strstr(types, (const char *[]){ "calls", "instr", "cycles", "time" }[i]))
			ck_assert_int_eq(profile->sample[0]->value[value++], expected[i]);
	ck_assert_int_eq(profile->duration_nanos, rows[_i].time ? 30 : 0);
	ck_assert_int_eq(profile->time_nanos, rows[_i].time ? 1010 : 0);
	ck_assert_uint_eq(profile->n_comment, 1);
	ck_assert_uint_gt(strlen(text_at(profile->comment[0])), 10);
	cycles = 0;
}
END_TEST

/* Up to the limit of the file; what references them follows. */
START_TEST(samples_end_at_the_limit)
{
	open_profile(1000);
	output_limit(&output, 150, false);
	for (uint64_t i = 0; i < 30; i++) {
		edge(i % 2 ? &f : &g, 10 * i, 10 * i);
		for (uint64_t k = 0; k < i; k++)
			edge(i % 3 ? &g : &f, 10 * i + 1, 10 * i + 1);
		for (uint64_t k = 0; k <= i; k++)
			edge(NULL, 10 * i + 5, 10 * i + 5);
	}
	write_profile();
	ck_assert(output.cut);
	ck_assert_uint_gt(profile->n_sample, 0);
	ck_assert_uint_lt(profile->n_sample, 20);
	ck_assert_uint_eq(profile->n_function, 2);
}
END_TEST

/* In a function of more than 4,096 instructions, those of a line share the first one's address. */
START_TEST(instructions_of_large_functions_are_joined)
{
	static const struct {
		uint64_t count, left_out, inlined; /* numbers of instructions */
		bool twice;                        /* f is in two stacks */
		size_t samples;
	} rows[] = {
		{ 4096, 0, 0, false, 4096 },
		{ 4097, 0, 0, false, 257 }, /* lines of 16 bytes */
		{ 2048, 0, 0, true, 2 * 2048 },
		{ 2049, 0, 0, true, 2 * 129 },
		/* Code that did not run, and an inlined call, are between others. */
		{ 4098, 20, 0, false, 258 },
		{ 4097, 0, 20, false, 259 },
	};
	uint64_t executed = rows[_i].count - (rows[_i].left_out ? 1 : 0);
	int64_t insns = 0, ns = 0;

	make_files();
	inlined_at = rows[_i].inlined ? 0x1100 + rows[_i].inlined : 0;
	open_profile(1000);
	edge(&f, 0, 0);
	edge(NULL, 7000, executed);
	if (rows[_i].twice) {
		edge(&g, 7000, executed);
		edge(&f, 7000, executed);
		edge(NULL, 14000, 2 * executed);
		edge(NULL, 14000, 2 * executed);
	}
	for (uint64_t i = 0; i < rows[_i].count; i++)
		if (!rows[_i].left_out || i != rows[_i].left_out)
			ran(0, 0x1100 + i, rows[_i].twice ? 2 : 1);
	write_profile();
	ck_assert_uint_eq(profile->n_sample, rows[_i].samples + rows[_i].twice);
	for (size_t i = 0; i < profile->n_sample; i++) {
		insns += profile->sample[i]->value[1];
		ns += profile->sample[i]->value[2];
	}
	ck_assert_int_eq(insns, (int64_t)executed * (rows[_i].twice ? 2 : 1));
	ck_assert_int_eq(ns, rows[_i].twice ? 14000 : 7000);
	inlined_at = 0;
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pprof");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_sample_has_the_own_costs_of_a_stack);
	tcase_add_test(all, a_stack_without_costs_has_its_calls);
	tcase_add_loop_test(all, samples_are_of_instructions, 0, 2);
	tcase_add_test(all, files_have_mappings);
	tcase_add_loop_test(all, the_program_is_the_first_file, 0, 3);
	tcase_add_loop_test(all, values_are_those_that_the_trace_has, 0, 5);
	tcase_add_test(all, samples_end_at_the_limit);
	tcase_add_loop_test(all, instructions_of_large_functions_are_joined, 0, 6);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
