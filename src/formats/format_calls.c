/* SPDX-License-Identifier: MIT */
#include "src/formats/format_calls.h"

#include <string.h>

struct time_unit {
	int64_t ns;
	const char *name;
};

static const struct time_unit units[] = {
	{ INT64_C(86400000000000), "d" },
	{ INT64_C(3600000000000), "h" },
	{ INT64_C(60000000000), "m" },
	{ 1000000000, "s" },
	{ 1000000, "ms" },
	{ 1000, "us" },
	{ 1, "ns" },
};

/* Returns the largest unit that is not more than the time. */
static const struct time_unit *unit_of(int64_t ns)
{
	const struct time_unit *unit = units;
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	while (unit->ns > 1 && size < (uint64_t)unit->ns)
		unit++;
	return unit;
}

static void strip_zeros(char *text)
{
	size_t length = strlen(text);

	while (length > 0 && text[length - 1] == '0')
		text[--length] = 0;
	if (length > 0 && text[length - 1] == '.')
		text[--length] = 0;
}

/* "1000" becomes "1_000", as OCaml's libraries print: only rounding gives so many digits. */
static void group_thousands(char *text)
{
	char *begin = text + (*text == '-');
	size_t digits = strspn(begin, "0123456789");

	for (; digits > 3; digits -= 3) {
		char *at = begin + digits - 3;

		memmove(at + 1, at, strlen(at) + 1);
		*at = '_';
	}
}

void format_calls_time(char text[FORMAT_CALLS_TIME_SIZE], int64_t ns)
{
	const struct time_unit *unit = unit_of(ns);

	/* At most 106,752 days: fewer than 16 characters. */
	snprintf(text, FORMAT_CALLS_TIME_SIZE, "%.3f", (double)ns / (double)unit->ns);
	strip_zeros(text);
	group_thousands(text);
	strcat(text, unit->name);
}

static void print(const struct slice_sink *sink, uint64_t time, const char *what,
		  const struct symbol *symbol, unsigned flags)
{
	const struct format_calls *calls = sink->context;
	uint64_t base = calls->machine ? calls->machine->base_time : 0;
	char text[FORMAT_CALLS_TIME_SIZE];

	format_calls_time(text, (int64_t)(time - base));
	fprintf(calls->out, "-> %8s %-5s ", text, what);
	fwrite(symbol->name->text, 1, symbol->name->length, calls->out);
	fputs(flags & SLICE_INFERRED_START ? " [inferred start time]\n" : "\n", calls->out);
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
	const struct format_calls *calls = sink->context;
	uint64_t base = calls->machine ? calls->machine->base_time : 0;
	char when[FORMAT_CALLS_TIME_SIZE];

	(void)track;
	format_calls_time(when, (int64_t)(time - base));
	fprintf(calls->out, "-> %8s BEGIN %s\n", when, text);
	fprintf(calls->out, "-> %8s END   %s\n", "", text);
}

static void calls_segment_end(const struct slice_sink *sink, void *track)
{
	(void)sink;
	(void)track;
}

void format_calls_init(struct format_calls *calls, FILE *out)
{
	calls->sink = (struct slice_sink){
		.begin = calls_begin,
		.end = calls_end,
		.complete = calls_complete,
		.instant = calls_instant,
		.segment_end = calls_segment_end,
		.context = calls,
	};
	calls->machine = NULL;
	calls->out = out;
}

void format_calls_echo(void *context, const char *line, size_t length)
{
	const struct format_calls *calls = context;

	fwrite(line, 1, length, calls->out);
	putc('\n', calls->out);
}

void format_calls_input_end(void *context, bool newer)
{
	const struct format_calls *calls = context;

	fputs(newer ? "INPUT TRACE STREAM ENDED, any lines printed below this were deferred\n"
		    : "END\n",
	      calls->out);
}
