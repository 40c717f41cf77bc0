/* SPDX-License-Identifier: MIT */
/* Feed slices made by hand to the formats that answer, and run all tests of these. */
#include "tests/unit/src/answers.h"

struct name_table names;
struct symbol symbols[16];
size_t symbol_count;
static const struct name library_name = { .text = "lib.so" };
static struct dso library_file = { .short_name = &library_name };
struct dso *const library = &library_file;
struct track main_thread, other_thread;
struct callstack_machine machine;
struct options options;
const struct slice_sink *sink;
bool reworded;
const struct dso *recorded;

void setup(void)
{
	static const char *patterns[] = { "f*" };

	name_table_init(&names);
	symbol_count = 0;
	now = 0;
	reworded = false;
	recorded = NULL;
	main_thread = (struct track){ .tid = 7, .index = 0, .thread_name = "main" };
	other_thread = (struct track){ .tid = 8, .index = 1, .thread_name = "other" };
	machine = (struct callstack_machine){ .times = TIMES_MEASURED };
	options = (struct options){ .select.symbols = { patterns, 1, 1 } };
}

void teardown(void)
{
	name_table_release(&names);
}

static enum symbol_special special_of(const char *label)
{
	return strncmp(label, "[syscall", 8) == 0          ? SPECIAL_SYSCALL
	       : strncmp(label, "[lost", 5) == 0           ? SPECIAL_GAP
	       : strcmp(label, "[untraced: off CPU]") == 0 ? SPECIAL_OFF_CPU
	       : strcmp(label, "[untraced]") == 0          ? SPECIAL_UNTRACED
							   : SPECIAL_OTHER;
}

const struct symbol *symbol_of(const char *label)
{
	char other[64], call[32];
	const struct name *name;

	snprintf(other, sizeof(other), "%zu%s", strlen(label), *label == '[' ? "" : label);
	name = name_intern_text(&names, reworded && *label == '[' ? other : label);
	for (size_t i = 0; i < symbol_count; i++) {
		if (symbols[i].name == name)
			return &symbols[i];
	}
	symbols[symbol_count] =
		(struct symbol){ .name = name,
				 .linkage = name,
				 .kind = *label == '[' ? SYMBOL_SPECIAL : SYMBOL_FUNCTION,
				 .special = (uint8_t)special_of(label),
				 .dso = strncmp(label, "lib", 3) == 0 ? library : NULL };
	if (sscanf(label, "[syscall: %31[a-z]", call) == 1)
		symbols[symbol_count].linkage = name_intern_text(&names, call);
	return &symbols[symbol_count++];
}

void edge(struct track *track, struct slice_event event, uint64_t insns)
{
	slice_sink_emit(sink, track, &event,
			&(struct slice_detail){ .insns = insns, .cycles = 3 * insns });
}

void begin(const char *name, uint64_t time, uint64_t insns)
{
	edge(&main_thread,
	     (struct slice_event){ .time = time, .symbol = symbol_of(name), .kind = SLICE_BEGIN },
	     insns);
}

void begin_with(const char *name, uint64_t time, uint16_t flags)
{
	edge(&main_thread,
	     (struct slice_event){
		     .time = time, .symbol = symbol_of(name), .kind = SLICE_BEGIN, .flags = flags },
	     0);
}

void end(uint64_t time, uint64_t insns)
{
	edge(&main_thread, (struct slice_event){ .time = time, .kind = SLICE_END }, insns);
}

void cut(uint64_t time)
{
	edge(&main_thread,
	     (struct slice_event){ .time = time, .kind = SLICE_END, .flags = SLICE_CUT }, 0);
}

void call(const char *name, uint64_t time, uint64_t duration)
{
	begin(name, time, 0);
	end(time + duration, 0);
}

void call_of_other(const char *name, uint64_t time, uint64_t duration)
{
	edge(&other_thread,
	     (struct slice_event){ .time = time, .symbol = symbol_of(name), .kind = SLICE_BEGIN },
	     0);
	edge(&other_thread, (struct slice_event){ .time = time + duration, .kind = SLICE_END }, 0);
}

/* ---- Output formats --------------------------------------------------------- */

char *text;
size_t size;
struct format_output *output;
struct output file;

void open_format(const struct output_format *format)
{
	const struct format_request request = {
		.options = &options,
		.output = &file,
		.text = open_memstream(&text, &size),
		.names = &names,
		.facts = { .by_insns = machine.by_insns, .program = recorded },
	};

	output = output_format_open(format, &request);
	output->machine = &machine;
	sink = &output->sink;
}

void finish_format(const struct output_format *format)
{
	format->finish(output);
	ck_assert_int_eq(output->err.kind, ERROR_NONE);
	fflush(output->text);
}

void close_format(const struct output_format *format)
{
	fclose(output->text);
	output_format_close(format, output);
	free(text);
}

void expect(const char *part)
{
	/* Check's messages are at most 4,000 bytes long. */
	ck_assert_msg(strstr(text, part) != NULL, "%s is not in:\n%s", part,
		      text + (strlen(text) > 3000 ? strlen(text) - 3000 : 0));
}

/* ---- Slow calls of functions ------------------------------------------------ */

struct slow_calls slow_calls;
struct slow_answer answers[3];
uint64_t now;

void follow_slow(size_t most)
{
	slow_calls_init(&slow_calls, &options,
			&(struct trace_facts){ .by_insns = machine.by_insns }, most);
	sink = &slow_calls.sink;
}

uint32_t slow_function(const char *name)
{
	for (uint32_t i = 0; i < slow_calls.function_count; i++)
		if (strcmp(slow_calls.functions[i].symbol->name->text, name) == 0)
			return i;
	ck_abort_msg("%s was not called", name);
}

void make_answer(const char *function)
{
	slow_answer_make(&answers[0], &slow_calls, slow_function(function), &options.slow);
}

void expect_cluster(size_t number, const char *expected)
{
	const struct slow_answer *answer = &answers[0];
	const struct slow_cluster *cluster = &answer->clusters[number];
	char found[800];
	double sum = cluster->rest;

	ck_assert_uint_gt(answer->count, number);
	sprintf(found, "%d %s > %s %.0f:", (int)cluster->count,
		slow_calls.functions[cluster->cause].symbol->name->text,
		slow_calls.functions[cluster->leaf].symbol->name->text, cluster->extra);
	for (size_t i = 0; i < cluster->line_count; i++) {
		const struct cause_line *line = &cluster->lines[i];

		sprintf(found + strlen(found), " %u ", line->depth);
		if (line->remainder)
			strcat(found, "rest of ");
		else if (line->first != line->last)
			sprintf(found + strlen(found), "%s-",
				slow_calls.functions[answer->info[line->first].function]
					.symbol->name->text);
		sprintf(found + strlen(found), "%s %.0f,",
			slow_calls.functions[answer->info[line->last].function].symbol->name->text,
			line->extra);
		sum += line->leaf ? line->extra : 0;
	}
	sprintf(found + strlen(found), " rest %.0f", cluster->rest);
	ck_assert_str_eq(found, expected);
	ck_assert_double_eq_tol(sum, cluster->extra, 1e-6 * cluster->extra);
}

void release_slow(size_t count)
{
	for (size_t i = 0; i < count; i++)
		slow_answer_release(&answers[i]);
	slow_calls_release(&slow_calls);
}

void enter(const char *name)
{
	begin(name, now, now);
}

void leave(void)
{
	end(now, now);
}

void spend(const char *name, uint64_t ns)
{
	enter(name);
	now += ns;
	leave();
}

int main(void)
{
	Suite *suite = suite_create("answers");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	add_call_tests(all);
	add_cause_tests(all);
	add_page_tests(all);
	add_part_tests(all);
	add_why_tests(all);
	add_format_tests(all);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
