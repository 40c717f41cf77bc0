/* SPDX-License-Identifier: MIT */
/*
 * The slowest calls as a table (--slowest, --slow), or for the report only, if each of
 * them gets a trace of its own (src/slow/slow_traces.c).
 */

#include "src/callstack/callstack.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/json_value.h"
#include "src/formats/text/short_time.h"
#include "src/formats/text/time_note.h"
#include "src/options/options.h"
#include "src/slow/slow_calls.h"
#include "symbols/dso/dso_store.h"

struct slowest_output {
	struct format_output output; /* first */
	struct slow_calls calls;
};

static struct format_output *open_slowest(const struct format_request *request, struct error *err)
{
	struct slowest_output *slowest = alloc_zeroed(1, sizeof(*slowest));

	(void)err;
	slow_calls_init(&slowest->calls, request->options, &slowest->output.machine);
	slowest->output.text = request->text;
	slowest->output.slices = &slowest->calls.chosen.tree.slices;
	slowest->output.sink = slowest->calls.chosen.sink;
	return &slowest->output;
}

static const char *thread_name(const struct chosen_call *call)
{
	return call->track->thread_name ? call->track->thread_name : "";
}

static bool is_whole(const struct chosen_call *call)
{
	return call->begin_seen && call->end_seen;
}

static void print_call(size_t rank, const struct chosen_call *call, int width, FILE *out)
{
	char duration[SHORT_TIME_SIZE], untraced[SHORT_TIME_SIZE];

	fprintf(out, "%4zu %1s%9s %5" PRIu64 ".%09" PRIu64 " %10" PRIu64 " %9s  ", rank,
		is_whole(call) ? "" : ">", short_time(duration, (int64_t)call->duration),
		call->begin / 1000000000, call->begin % 1000000000, call->insns,
		short_time(untraced, (int64_t)call->untraced));
	escaped_text_print(thread_name(call), strlen(thread_name(call)), out);
	fprintf(out, "/%-*" PRId32 "  ", width - (int)strlen(thread_name(call)) - 1,
		call->track->tid);
	escaped_text_print(call->symbol->name->text, call->symbol->name->length, out);
	putc('\n', out);
}

static void print_table(const struct slow_calls *calls, FILE *out)
{
	int width = (int)strlen("thread");

	for (size_t i = 0; i < calls->count; i++) {
		const struct chosen_call *call = &calls->calls[i];
		int used = (int)strlen(thread_name(call)) +
			   snprintf(NULL, 0, "/%" PRId32, call->track->tid);

		width = used > width ? used : width;
	}
	fprintf(out, "%4s  %9s %15s %10s %9s  %-*s  %s\n", "rank", "time", "begin", "insns",
		"untraced", width, "thread", "function");
	for (size_t i = 0; i < calls->count; i++)
		print_call(i + 1, &calls->calls[i], width, out);
}

static void print_totals(const struct slow_calls *calls, FILE *out)
{
	const struct durations *all = &calls->durations;
	char median[SHORT_TIME_SIZE], p99[SHORT_TIME_SIZE], most[SHORT_TIME_SIZE];

	fprintf(out, "\n%" PRIu64 " calls: median %s, p99 %s, longest %s\n", all->count,
		short_time(median, (int64_t)durations_percentile(all, 50)),
		short_time(p99, (int64_t)durations_percentile(all, 99)),
		short_time(most, (int64_t)all->max));
	if (!calls->choice.has_bound)
		return;
	fprintf(out, "%" PRIu64 " took longer than %s", calls->slower,
		short_time(most, (int64_t)calls->bound));
	if (calls->slower > calls->count)
		fprintf(out, "; these are the slowest: --slowest=N shows more");
	putc('\n', out);
}

/* Notes on the table's limits. */
static void print_limits(const struct slow_calls *calls, const struct callstack_machine *machine,
			 FILE *out)
{
	size_t cut = 0;

	for (size_t i = 0; i < calls->count; i++)
		cut += !is_whole(&calls->calls[i]);
	if (cut)
		fputs("> the begin or the return was not traced: it took at least so long\n", out);
	time_note_print(machine, out);
}

static int print_slowest(struct format_output *output, struct error *err)
{
	struct slowest_output *slowest = (struct slowest_output *)output;
	struct slow_calls *calls = &slowest->calls;
	FILE *out = output->text;

	(void)err;
	slow_calls_finish(calls, output->machine->diag);
	if (!out)
		return 0;
	print_table(calls, out);
	if (calls->durations.count) {
		print_totals(calls, out);
		print_limits(calls, output->machine, out);
	}
	return 0;
}

/* ---- The answer for --json ----------------------------------------------- */

static json_t *call_json(const struct chosen_call *call)
{
	const struct symbol *symbol = call->symbol;
	const struct track *track = call->track;

	return json_pack("{so so so so si si sI sI sI sI sb sb}", "function",
			 json_text_or_null(symbol->name->text), "dso",
			 json_text_or_null(symbol->dso ? dso_path(symbol->dso) : NULL), "process",
			 json_text_or_null(track->process_name), "thread",
			 json_text_or_null(track->thread_name), "pid", (int)track->pid, "tid",
			 (int)track->tid, "begin_ns", json_value_of(call->begin), "duration_ns",
			 json_value_of(call->duration), "insns", json_value_of(call->insns),
			 "untraced_ns", json_value_of(call->untraced), "begin_seen",
			 (int)call->begin_seen, "end_seen", (int)call->end_seen);
}

static json_t *answer_slowest(const struct format_output *output)
{
	const struct slow_calls *calls = &((const struct slowest_output *)output)->calls;
	const struct durations *all = &calls->durations;
	json_t *list = json_array(), *object;

	for (size_t i = 0; i < calls->count; i++)
		json_array_append_new(list, call_json(&calls->calls[i]));
	object = json_pack("{ss sI sI sI sI so}", "format", "slowest", "calls",
			   json_value_of(all->count), "median_ns",
			   json_value_of(durations_percentile(all, 50)), "p99_ns",
			   json_value_of(durations_percentile(all, 99)), "longest_ns",
			   json_value_of(all->max), "list", list);
	time_note_add(object, output->machine);
	json_object_set_new(object, "bound_ns",
			    calls->choice.has_bound ? json_integer(json_value_of(calls->bound))
						    : json_null());
	json_object_set_new(object, "slower",
			    calls->choice.has_bound ? json_integer(json_value_of(calls->slower))
						    : json_null());
	return object;
}

static void release_slowest(struct format_output *output)
{
	slow_calls_release(&((struct slowest_output *)output)->calls);
}

const struct output_format format_slowest = {
	.name = "slowest",
	.suffix = "txt",
	.lines = true,
	.slices = SLICES_SORTED,
	.chooses_calls = true,
	.open = open_slowest,
	.finish = print_slowest,
	.answer = answer_slowest,
	.release = release_slowest,
};

const struct output_format format_slowest_unprinted = {
	.name = "slowest",
	.default_output = DEFAULT_NONE,
	.slices = SLICES_SORTED,
	.chooses_calls = true,
	.open = open_slowest,
	.finish = print_slowest,
	.answer = answer_slowest,
	.release = release_slowest,
};
