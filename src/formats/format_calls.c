/* SPDX-License-Identifier: MIT */
/*
 * --format=calls: the results of a call-stack machine, as text, in its own
 * order, in the form of magic-trace's tests:
 *
 * 	-> %8s BEGIN name
 * 	-> %8s END   name
 *
 * The time since the run's first event is in ns, us, ms, s, m, h or d with up to three decimals. A
 * slice with an inferred start is "name [inferred start time]"; a whole slice is a BEGIN and an
 * END; an instant is a BEGIN and an END without a time. The input lines that caused them precede:
 * perf script's, or the branches between symbols as in --format=branches.
 */

#include "src/callstack/callstack.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/digits.h"

/* `kind` has five columns and a space. */
static void print_call(const struct format_output *calls, const char *time, const char *kind,
		       const char *text, size_t length)
{
	char head[16 + SHORT_TIME_SIZE] = "-> ", *end = head + 3;

	end = digits_right(end, stpcpy(end, time), 8);
	*end++ = ' ';
	end = stpcpy(end, kind);
	fwrite_unlocked(head, 1, (size_t)(end - head), calls->text);
	escaped_text_print(text, length, calls->text);
}

static void print_call_event(const struct format_output *calls, const struct slice_event *event)
{
	char time[SHORT_TIME_SIZE];

	short_time(time, (int64_t)(event->time - (calls->machine ? calls->machine->base_time : 0)));
	if (event->kind == SLICE_INSTANT) {
		print_call(calls, time, "BEGIN ", event->text, strlen(event->text));
		putc_unlocked('\n', calls->text);
		print_call(calls, "", "END   ", event->text, strlen(event->text));
		putc_unlocked('\n', calls->text);
		return;
	}
	print_call(calls, time, event->kind == SLICE_BEGIN ? "BEGIN " : "END   ",
		   event->symbol->name->text, event->symbol->name->length);
	fputs_unlocked(event->flags & SLICE_INFERRED_START ? " [inferred start time]\n" : "\n",
		       calls->text);
}

static void print_call_events(const struct slice_sink *sink, void *track,
			      const struct slice_batch *batch)
{
	(void)track;
	for (size_t i = 0; i < batch->count; i++)
		print_call_event(sink->context, &batch->events[i]);
}

static void open_calls(struct format_output *output, const struct format_request *request)
{
	(void)request;
	output->sink = (struct slice_sink){
		.events = print_call_events,
		.context = output,
		.immediate = true,
	};
}

static void print_branch(struct format_output *output, const struct branch_event *event,
			 const struct location *from, const struct location *to)
{
	const struct name *left = from->symbol ? from->symbol->name : NULL;
	const struct name *entered = to->symbol ? to->symbol->name : NULL;

	if (event->kind == BRANCH_GAP || left != entered)
		format_branch(output->text, event, from, to);
}

static void print_input_line(struct format_output *output, const char *line, size_t length)
{
	fwrite_unlocked(line, 1, length, output->text);
	putc_unlocked('\n', output->text);
}

static void print_input_end(struct format_output *output, bool newer)
{
	fputs_unlocked(
		newer ? "INPUT TRACE STREAM ENDED, any lines printed below this were deferred\n"
		      : "END\n",
		output->text);
}

const struct output_format format_calls = {
	.name = "calls",
	.lines = true,
	.slices = SLICES_AS_FOUND,
	.size = sizeof(struct format_output),
	.open = open_calls,
	.branch = print_branch,
	.input_line = print_input_line,
	.input_end = print_input_end,
};
