/* SPDX-License-Identifier: MIT */
/*
 * --format=histogram: how long the calls of the functions of --symbol take: a block for each
 * function, with four buckets to an octave, and of each bucket the first call as an example.
 *
 * Quantiles are exact to one part in 128 (struct durations).
 */

#include "base/tables/name.h"
#include "src/callstack/callstack.h"
#include "src/formats/answers/chosen_calls.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/short_time.h"
#include "src/formats/text/time_note.h"
#include "src/options/options.h"
#include "src/slices/durations.h"

/* Buckets of an octave: 4. */
#define BUCKET_BITS 2

/* 2^63 ns are in the last one. */
#define BUCKETS (((64 - BUCKET_BITS) << BUCKET_BITS) + (1 << BUCKET_BITS))

#define BAR_MOST 40

struct bucket {
	uint64_t count;
	uint64_t begin, duration;    /* ns: of the example */
	const struct track *example; /* borrowed */
};

struct function_calls {
	const struct name *name; /* borrowed */
	uint64_t total;          /* ns of all calls */
	uint64_t cut;            /* calls that took longer than they are counted */
	struct durations durations;
	struct bucket buckets[BUCKETS];
};

struct histogram_output {
	struct format_output output; /* first */
	struct chosen_calls chosen;
	struct function_calls **functions; /* owned, and each; by id of the name; NULL: none */
	size_t room;
	struct function_calls **sorted; /* owned: the first `count`, by total time */
	size_t count;
};

/* The order in which calls of several threads end depends on the threads that decode. */
static bool is_earlier(const struct chosen_call *call, const struct bucket *bucket)
{
	if (!bucket->count || call->begin != bucket->begin)
		return !bucket->count || call->begin < bucket->begin;
	return call->track->index < bucket->example->index;
}

static void count_call(void *context, const struct chosen_call *call)
{
	struct histogram_output *histogram = context;
	const struct name *name = call->symbol->name;
	struct function_calls *function;
	struct bucket *bucket;

	histogram->functions = alloc_grow_zeroed(histogram->functions, &histogram->room,
						 (size_t)name->id + 1, sizeof(function));
	if (!histogram->functions[name->id]) {
		histogram->functions[name->id] = alloc_zeroed(1, sizeof(*function));
		histogram->functions[name->id]->name = name;
		histogram->count++;
	}
	function = histogram->functions[name->id];
	function->total += call->duration;
	function->cut += !call->begin_seen || !call->end_seen;
	durations_add(&function->durations, call->duration);
	bucket = &function->buckets[log_class(call->duration, BUCKET_BITS)];
	if (is_earlier(call, bucket)) {
		bucket->begin = call->begin;
		bucket->duration = call->duration;
		bucket->example = call->track;
	}
	bucket->count++;
}

static struct format_output *open_histogram(const struct format_request *request, struct error *err)
{
	struct histogram_output *histogram = alloc_zeroed(1, sizeof(*histogram));

	(void)err;
	chosen_calls_init(&histogram->chosen, &request->options->select, count_call, histogram);
	histogram->output.text = request->text;
	histogram->output.slices = &histogram->chosen.slices;
	histogram->output.sink = histogram->chosen.sink;
	return &histogram->output;
}

/* ---- Text ---------------------------------------------------------------- */

/* The quantiles that are shown, in millionths. */
static const struct {
	const char *text;
	uint32_t millionths;
} quantiles[] = { { "median", 500000 }, { "p90", 900000 }, { "p99", 990000 }, { "p99.9", 999000 } };

static const char *time_text(char text[SHORT_TIME_SIZE], uint64_t ns)
{
	short_time(text, (int64_t)ns);
	return text;
}

static void print_bar(uint64_t count, uint64_t most, FILE *out)
{
	int length = (int)((count * BAR_MOST + most - 1) / most);

	for (int i = 0; i < BAR_MOST; i++)
		putc(i < length ? '#' : ' ', out);
}

/* A part of the trace that is decoded by itself has other times, by about so much, ns. */
static uint64_t margin_of(uint64_t resolution)
{
	return resolution ? resolution + 10000 : 10000000;
}

/* An example is ready for --time and --tid. */
static void print_bucket(const struct function_calls *function, unsigned number, uint64_t most,
			 uint64_t margin, FILE *out)
{
	const struct bucket *bucket = &function->buckets[number];
	uint64_t begin = bucket->begin > margin ? bucket->begin - margin : 0;
	uint64_t end = bucket->begin + bucket->duration + margin;
	char from[SHORT_TIME_SIZE];

	fprintf(out, "%10s %10" PRIu64 " %5.1f%% ",
		time_text(from, log_class_begin(number, BUCKET_BITS)), bucket->count,
		100 * (double)bucket->count / (double)function->durations.count);
	print_bar(bucket->count, most, out);
	fprintf(out,
		" --time=%" PRIu64 ".%09" PRIu64 ",%" PRIu64 ".%09" PRIu64 " --tid=%" PRId32 "\n",
		begin / 1000000000, begin % 1000000000, end / 1000000000, end % 1000000000,
		bucket->example->tid);
}

static void print_buckets(const struct function_calls *function, uint64_t margin, FILE *out)
{
	unsigned first = log_class(function->durations.min, BUCKET_BITS);
	unsigned last = log_class(function->durations.max, BUCKET_BITS);
	uint64_t most = 1;

	for (unsigned i = first; i <= last; i++)
		most = function->buckets[i].count > most ? function->buckets[i].count : most;
	fprintf(out, "%10s %10s %6s %-*s example\n", "from", "calls", "share", BAR_MOST, "");
	for (unsigned i = first; i <= last; i++) {
		if (function->buckets[i].count)
			print_bucket(function, i, most, margin, out);
	}
}

static void print_function(const struct function_calls *function, uint64_t margin, FILE *out)
{
	const struct durations *all = &function->durations;
	char text[SHORT_TIME_SIZE];

	escaped_text_print(function->name->text, function->name->length, out);
	putc('\n', out);
	print_buckets(function, margin, out);
	fprintf(out, "calls %" PRIu64 ", total %s", all->count, time_text(text, function->total));
	fprintf(out, ", min %s", time_text(text, all->min));
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
		fprintf(out, ", %s %s", quantiles[i].text,
			time_text(text, durations_quantile(all, quantiles[i].millionths)));
	fprintf(out, ", max %s\n", time_text(text, all->max));
	if (function->cut)
		fprintf(out,
			"%" PRIu64 " of them began before the trace, or end behind it or where it "
			"is missing: they took at least so long\n",
			function->cut);
	putc('\n', out);
}

static int compare_totals(const void *left, const void *right)
{
	const struct function_calls *a = *(struct function_calls *const *)left;
	const struct function_calls *b = *(struct function_calls *const *)right;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return strcmp(a->name->text, b->name->text);
}

static void sort_functions(struct histogram_output *histogram)
{
	size_t count = 0;

	histogram->sorted = alloc_zeroed(histogram->count + 1, sizeof(*histogram->sorted));
	for (size_t i = 0; i < histogram->room; i++) {
		if (histogram->functions[i])
			histogram->sorted[count++] = histogram->functions[i];
	}
	qsort(histogram->sorted, count, sizeof(*histogram->sorted), compare_totals);
}

static int print_histogram(struct format_output *output, struct error *err)
{
	struct histogram_output *histogram = (struct histogram_output *)output;
	(void)err;
	chosen_calls_warn(&histogram->chosen, output->machine->diag);
	sort_functions(histogram);
	for (size_t i = 0; i < histogram->count; i++)
		print_function(histogram->sorted[i], margin_of(output->machine->resolution),
			       output->text);
	if (histogram->count)
		time_note_print(output->machine, output->text);
	return 0;
}

/* ---- The answer for --json ------------------------------------------------ */

static json_int_t integer(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (json_int_t)value;
}

static json_t *buckets_json(const struct function_calls *function)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < BUCKETS; i++) {
		const struct bucket *bucket = &function->buckets[i];

		if (bucket->count)
			json_array_append_new(
				list, json_pack("{sI sI sI sI si}", "from_ns",
						integer(log_class_begin(i, BUCKET_BITS)), "calls",
						integer(bucket->count), "example_begin_ns",
						integer(bucket->begin), "example_duration_ns",
						integer(bucket->duration), "example_tid",
						(int)bucket->example->tid));
	}
	return list;
}

static json_t *function_json(const struct function_calls *function)
{
	const struct durations *all = &function->durations;
	json_t *object =
		json_pack("{so sI sI sI sI sI so}", "function",
			  json_any_text(function->name->text, function->name->length), "calls",
			  integer(all->count), "total_ns", integer(function->total), "min_ns",
			  integer(all->min), "max_ns", integer(all->max), "cut",
			  integer(function->cut), "buckets", buckets_json(function));
	char key[16];

	for (size_t i = 0; object && i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
		snprintf(key, sizeof(key), "%s_ns", quantiles[i].text);
		json_object_set_new(
			object, key,
			json_integer(integer(durations_quantile(all, quantiles[i].millionths))));
	}
	return object;
}

static json_t *answer_histogram(const struct format_output *output)
{
	const struct histogram_output *histogram = (const struct histogram_output *)output;
	json_t *list = json_array(), *answer;

	for (size_t i = 0; i < histogram->count; i++)
		json_array_append_new(list, function_json(histogram->sorted[i]));
	answer = json_pack("{ss so}", "format", "histogram", "functions", list);
	time_note_add(answer, output->machine);
	return answer;
}

static void release_histogram(struct format_output *output)
{
	struct histogram_output *histogram = (struct histogram_output *)output;

	for (size_t i = 0; i < histogram->room; i++) {
		if (histogram->functions[i])
			durations_release(&histogram->functions[i]->durations);
		free(histogram->functions[i]);
	}
	free(histogram->functions);
	free(histogram->sorted);
	chosen_calls_release(&histogram->chosen);
}

const struct output_format format_histogram = {
	.name = "histogram",
	.lines = true,
	.slices = SLICES_SORTED,
	.chooses_calls = true,
	.open = open_histogram,
	.finish = print_histogram,
	.answer = answer_histogram,
	.release = release_histogram,
};
