/* SPDX-License-Identifier: MIT */
/*
 * --format=histogram: how long the calls of the functions of --symbol take: a block for each
 * function, with four buckets to an octave, and the first call of each bucket as an example.
 *
 * Quantiles are exact to one part in 128 (struct durations).  If times are unknown, calls are
 * counted by their instructions.
 */

#include "src/formats/answers/chosen_calls.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/json_print.h"
#include "src/formats/text/time_note.h"
#include "src/slices/durations.h"

/* An octave has 2^BUCKET_BITS buckets; 2^63 ns are in the last one. */
#define BUCKET_BITS 2
#define BUCKETS     (((64 - BUCKET_BITS) << BUCKET_BITS) + (1 << BUCKET_BITS))

#define BAR_MOST 40

struct function_calls {
	const struct name *name; /* borrowed; set at the end */
	uint32_t number;         /* number of the function */
	uint64_t total;          /* outermost calls: ns, or instructions, as in `durations` */
	uint64_t cut;            /* calls that took longer than their counted time */
	struct durations durations;
	struct bucket {
		uint64_t count, cut;
		uint64_t begin, duration;    /* ns: of the example */
		const struct track *example; /* borrowed */
	} buckets[BUCKETS];
};

struct histogram_output {
	struct format_output output; /* first */
	struct chosen_calls chosen;
	struct function_calls **functions; /* owned, as the elements; sorted by finish() */
	size_t count, room;
	struct function_calls **by_number; /* owned; by number of the function, or NULL */
	size_t number_room;
	json_t *answer; /* owned: the functions, after finish() */
};

/* The order in which calls of several threads end depends on the decoder threads. */
static bool is_earlier(const struct chosen_call *call, const struct bucket *bucket)
{
	if (!bucket->count || call->begin != bucket->begin)
		return !bucket->count || call->begin < bucket->begin;
	return call->track->index < bucket->example->index;
}

static void count_call(void *context, const struct chosen_call *call)
{
	struct histogram_output *histogram = context;
	uint64_t amount = histogram->output.machine->by_insns ? call->insns : call->duration;
	bool cut = !call->begin_seen || !call->end_seen;
	struct function_calls *function;
	struct bucket *bucket;

	ARRAY_GROW_ZEROED(histogram->by_number, histogram->number_room, (size_t)call->function + 1);
	function = histogram->by_number[call->function];
	if (!function) {
		function = histogram->by_number[call->function] =
			alloc_zeroed(1, sizeof(*function));
		function->number = call->function;
		*ARRAY_ADD(histogram->functions, histogram->count, histogram->room) = function;
	}
	function->total += call->outermost ? amount : 0;
	function->cut += cut;
	durations_add(&function->durations, amount);
	bucket = &function->buckets[log_class(amount, BUCKET_BITS)];
	if (is_earlier(call, bucket)) {
		bucket->begin = call->begin;
		bucket->duration = call->duration;
		bucket->example = call->track;
	}
	bucket->count++;
	bucket->cut += cut;
}

static void open_histogram(struct format_output *output, const struct format_request *request)
{
	struct histogram_output *histogram = (struct histogram_output *)output;

	chosen_calls_init(&histogram->chosen, &request->options->select, count_call, histogram);
	histogram->chosen.names = request->names;
	output->slices = &histogram->chosen.tree.slices;
	output->sink = histogram->chosen.sink;
}

/* ---- The answer ---------------------------------------------------------- */

static json_t *bucket_json(const struct bucket *bucket, unsigned number, bool by_insns)
{
	json_t *object = json_pack("{sI sI sI sI si}", "calls", json_value_of(bucket->count), "cut",
				   json_value_of(bucket->cut), "example_begin_ns",
				   json_value_of(bucket->begin), "example_duration_ns",
				   json_value_of(bucket->duration), "example_tid",
				   (int)bucket->example->tid);

	amount_set(object, "from", by_insns, log_class_begin(number, BUCKET_BITS));
	return object;
}

static json_t *function_json(const struct function_calls *function, bool by_insns)
{
	/* In millionths. */
	static const struct {
		const char *text;
		uint32_t millionths;
	} quantiles[] = {
		{ "median", 500000 }, { "p90", 900000 }, { "p99", 990000 }, { "p99.9", 999000 }
	};
	const struct durations *all = &function->durations;
	json_t *buckets = json_array(), *object;

	for (unsigned i = 0; i < BUCKETS; i++)
		if (function->buckets[i].count)
			json_array_append_new(buckets,
					      bucket_json(&function->buckets[i], i, by_insns));
	object = json_pack("{so sI sI so}", "function", json_name(function->name), "calls",
			   json_value_of(all->count), "cut", json_value_of(function->cut),
			   "buckets", buckets);
	amount_set(object, "total", by_insns, function->total);
	amount_set(object, "min", by_insns, all->min);
	amount_set(object, "max", by_insns, all->max);
	for (size_t i = 0; i < COUNT_OF(quantiles); i++)
		amount_set(object, quantiles[i].text, by_insns,
			   durations_quantile(all, quantiles[i].millionths));
	return object;
}

static const char columns[] = "{from:>10a} {calls:10} {share=calls:6p} ";

/* Print a bucket, with its example as options --time and --tid. */
static void print_bucket(const struct format_output *output, const json_t *bucket, uint64_t calls,
			 uint64_t most)
{
	uint64_t resolution = output->machine->resolution;
	/* ns by which separate decoding of a part of the trace may shift its times. */
	uint64_t margin = resolution ? resolution + 10000 : 10000000;
	uint64_t begin = json_value_count(bucket, "example_begin_ns");
	uint64_t end = begin + json_value_count(bucket, "example_duration_ns") + margin;
	char bar[BAR_MOST + 1] = "";

	begin -= MIN(begin, margin);
	memset(bar, '#', (json_value_count(bucket, "calls") * BAR_MOST + most - 1) / most);
	json_print(output->text, bucket, calls, columns);
	fprintf(output->text, "%-*s --time=" SECONDS_FORMAT "," SECONDS_FORMAT, BAR_MOST, bar,
		SECONDS_OF(begin), SECONDS_OF(end));
	json_print(output->text, bucket, 0, " --tid={example_tid}\n");
}

static void print_function(const struct format_output *output,
			   const struct function_calls *function, const json_t *object)
{
	const char *unit = amount_unit(output->machine->by_insns);
	const json_t *buckets = json_object_get(object, "buckets"), *bucket;
	json_int_t most = 1;
	FILE *out = output->text;
	size_t i;

	json_array_foreach(buckets, i, bucket) most = MAX(json_value_number(bucket, "calls"), most);
	escaped_printf(out, *unit ? "%s  (in%s)\n" : "%s\n", function->name->text, unit);
	json_print(out, NULL, 0, columns);
	fprintf(out, "%-*s example\n", BAR_MOST, "");
	json_array_foreach(buckets, i, bucket)
		print_bucket(output, bucket, function->durations.count, (uint64_t)most);
	json_print(
		out, object, 0,
		"calls {calls}, total {total:a}, min {min:a}, median {median:a}, p90 {p90:a}, "
		"p99 {p99:a}, p99.9 {p99.9:a}, max {max:a}\n{cut?}{cut} of them began before the "
		"trace, or end after it or where it is missing: they took at least so long "
		"(>)\n{?}\n");
}

COMPARE_WITH(compare_totals, struct function_calls *,
	     COMPARE((*b)->total, (*a)->total) ?: strcmp((*a)->name->text, (*b)->name->text))

static void print_histogram(struct format_output *output)
{
	struct histogram_output *histogram = (struct histogram_output *)output;

	function_choice_warn(&histogram->chosen.choice, histogram->chosen.count,
			     output->machine->diag);
	for (size_t i = 0; i < histogram->count; i++)
		histogram->functions[i]->name =
			chosen_calls_label(&histogram->chosen, histogram->functions[i]->number);
	SORT(histogram->functions, histogram->count, compare_totals);
	histogram->answer = json_array();
	for (size_t i = 0; i < histogram->count; i++) {
		json_t *object = function_json(histogram->functions[i], output->machine->by_insns);

		print_function(output, histogram->functions[i], object);
		json_array_append_new(histogram->answer, object);
	}
	if (histogram->count)
		time_note_print(output->machine, output->text);
}

static json_t *answer_histogram(const struct format_output *output)
{
	json_t *answer = json_pack("{ss sO}", "format", "histogram", "functions",
				   ((const struct histogram_output *)output)->answer);

	time_note_add(answer, output->machine);
	return answer;
}

static void release_histogram(struct format_output *output)
{
	struct histogram_output *histogram = (struct histogram_output *)output;

	for (size_t i = 0; i < histogram->count; i++) {
		durations_release(&histogram->functions[i]->durations);
		free(histogram->functions[i]);
	}
	free(histogram->functions);
	free(histogram->by_number);
	json_decref(histogram->answer);
	chosen_calls_release(&histogram->chosen);
}

const struct output_format format_histogram = {
	.name = "histogram",
	.lines = true,
	.slices = SLICES_SORTED,
	.chooses_calls = true,
	.size = sizeof(struct histogram_output),
	.open = open_histogram,
	.finish = print_histogram,
	.answer = answer_histogram,
	.release = release_histogram,
};
