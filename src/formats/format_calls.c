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

static void print_call_events(const struct slice_sink *sink, void *track,
			      const struct slice_batch *batch)
{
	const struct format_output *calls = sink->context;
	/* With --clock, times count from the thread's first event. */
	uint64_t base = calls->machine && !digits_work_unit() ? calls->machine->base_time : 0;
	struct line line;

	(void)track;
	line.out = calls->text;
	for (const struct slice_event *event = batch->events; event < batch->events + batch->count;
	     event++) {
		char *at = stpcpy(line.text, "-> ");

		at = digits_right(at, digits_time(at, (int64_t)(event->time - base)), 8);
		if (event->kind == SLICE_INSTANT) {
			at = line_end(&line, stpcpy(at, " BEGIN "));
			escaped_text_print(event->text, strlen(event->text), line.out);
			at = line_end(&line, stpcpy(at, "\n->          END   "));
			escaped_text_print(event->text, strlen(event->text), line.out);
			putc_unlocked('\n', line.out);
			continue;
		}
		at = stpcpy(at, event->kind == SLICE_BEGIN ? " BEGIN " : " END   ");
		at = line_name(&line, at, event->symbol->name);
		if (event->flags & SLICE_INFERRED_START)
			at = stpcpy(at, " [inferred start time]");
		*at++ = '\n';
		line_end(&line, at);
	}
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
