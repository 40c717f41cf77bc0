/* SPDX-License-Identifier: MIT */
/* The profiles' messages, decoded by protobuf-c. */
#include <unistd.h>

#include "base/io/output.h"
#include "src/formats/output_format.h"
#include "src/formats/pprof/profile.pb-c.h"
#include "src/options/options.h"
#include "src/slices/track.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_feed.h"

static struct name_table names;
static const struct options options;
static struct format_output *format;
static struct output output;
static char path[] = "pprof-XXXXXX";
static struct track thread = { .thread_name = "main" };
static struct symbol f, g;
static Perftools__Profiles__Profile *profile;

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
							      .facts.wall_base = wall_base });
}

static void setup(void)
{
	name_table_init(&names);
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

static void edge(const struct symbol *symbol, uint64_t time, uint64_t insns)
{
	slice_sink_emit(&format->sink, &thread,
			&(struct slice_event){ .time = time,
					       .symbol = symbol,
					       .kind = symbol ? SLICE_BEGIN : SLICE_END },
			&(struct slice_detail){ .insns = insns });
}

static void write_profile(void)
{
	static uint8_t bytes[4096];
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

int main(void)
{
	Suite *suite = suite_create("pprof");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_sample_has_the_own_costs_of_a_stack);
	tcase_add_test(all, a_stack_without_costs_has_its_calls);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
