/* SPDX-License-Identifier: MIT */
/*
 * --format=calls: what a call-stack machine finds, as text, in its own
 * order, in the form of magic-trace's tests:
 *
 *	-> %8s BEGIN name
 *	-> %8s END   name
 *
 * The time is that since the run's first event, in ns, us, ms, s, m, h or d with up
 * to three decimals.  A slice whose start was inferred is "name [inferred start
 * time]"; a whole slice is a BEGIN and an END; an instant is a BEGIN and an END
 * without a time.  Before them come the lines of the input that caused them: those of
 * perf script, or the branches from one symbol to another as --format=branches prints them.
 */
#include "base/alloc.h"
#include "decoder/branch_event.h"
#include "src/callstack/callstack.h"
#include "src/formats/format_branches.h"
#include "src/formats/output_format.h"
#include "src/formats/short_time.h"

/* Returns the time of the run's first event, ns; 0 before it. */
static uint64_t base_of(const struct format_output *calls)
{
	return calls->machine ? calls->machine->base_time : 0;
}

static void print(const struct slice_sink *sink, uint64_t time, const char *what,
		  const struct symbol *symbol, unsigned flags)
{
	const struct format_output *calls = sink->context;
	uint64_t base = base_of(calls);
	char text[SHORT_TIME_SIZE];

	short_time(text, (int64_t)(time - base));
	fprintf(calls->text, "-> %8s %-5s ", text, what);
	fwrite(symbol->name->text, 1, symbol->name->length, calls->text);
	fputs(flags & SLICE_INFERRED_START ? " [inferred start time]\n" : "\n", calls->text);
}

static void calls_begin(const struct slice_sink *sink, void *track, uint64_t time,
			const struct symbol *symbol, uint64_t ip, unsigned flags)
{
	(void)track;
	(void)ip;
	print(sink, time, "BEGIN", symbol, flags);
}

static void calls_end(const struct slice_sink *sink, void *track, uint64_t time,
		      const struct symbol *symbol)
{
	(void)track;
	print(sink, time, "END", symbol, 0);
}

static void calls_complete(const struct slice_sink *sink, void *track, uint64_t begin_time,
			   uint64_t end_time, const struct symbol *symbol, unsigned flags)
{
	(void)track;
	print(sink, begin_time, "BEGIN", symbol, flags);
	print(sink, end_time, "END", symbol, 0);
}

static void calls_instant(const struct slice_sink *sink, void *track, uint64_t time,
			  const char *text)
{
	const struct format_output *calls = sink->context;
	uint64_t base = base_of(calls);
	char when[SHORT_TIME_SIZE];

	(void)track;
	short_time(when, (int64_t)(time - base));
	fprintf(calls->text, "-> %8s BEGIN %s\n", when, text);
	fprintf(calls->text, "-> %8s END   %s\n", "", text);
}

static void calls_segment_end(const struct slice_sink *sink, void *track)
{
	(void)sink;
	(void)track;
}

static struct format_output *open_calls(const struct format_request *request, struct error *err)
{
	struct format_output *calls = alloc_zeroed(1, sizeof(*calls));

	(void)err;
	calls->text = request->text;
	calls->sink = (struct slice_sink){
		.begin = calls_begin,
		.end = calls_end,
		.complete = calls_complete,
		.instant = calls_instant,
		.segment_end = calls_segment_end,
		.context = calls,
	};
	return calls;
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
	fwrite(line, 1, length, output->text);
	putc('\n', output->text);
}

static void print_input_end(struct format_output *output, bool newer)
{
	fputs(newer ? "INPUT TRACE STREAM ENDED, any lines printed below this were deferred\n"
		    : "END\n",
	      output->text);
}

const struct output_format format_calls = {
	.name = "calls",
	.slices = SLICES_AS_FOUND,
	.open = open_calls,
	.branch = print_branch,
	.input_line = print_input_line,
	.input_end = print_input_end,
};
