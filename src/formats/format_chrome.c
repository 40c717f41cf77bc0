/* SPDX-License-Identifier: MIT */
/*
 * --format=chrome: JSON of the Trace Event Format ("Trace Event Format", Google), read by Perfetto,
 * Firefox Profiler, speedscope, Tracy and others. Slices are complete events (X), which all of
 * these show with name and arguments; outer slices precede inner ones. Times are microseconds since
 * the first slice, with three decimals, or six if begins and ends within one ns need an order.
 */

#include "src/formats/slice_list.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/digits.h"

struct chrome_output {
	struct slice_list list; /* first */
	bool any;               /* an event was written */
};

static void open_event(struct chrome_output *chrome, const struct track *track, char phase)
{
	char text[32 + 2 * DIGITS_MOST], *at = text;

	if (chrome->any)
		*at++ = ',';
	chrome->any = true;
	at = stpcpy(at, "\n{\"ph\":\"");
	*at++ = phase;
	at = digits_signed(stpcpy(at, "\",\"pid\":"), track->pid);
	at = digits_signed(stpcpy(at, ",\"tid\":"), track->tid);
	fwrite_unlocked(text, 1, (size_t)(at - text), chrome->list.output.text);
}

/* ---- Times --------------------------------------------------------------- */

/* Returns the ps that a rank adds to a time. print_micros() can add fewer than the first step. */
static int rank_ps(unsigned rank)
{
	return rank ? (int)rank + 2 : 0;
}

/*
 * Print microseconds. Readers multiply them by 1000, and some then truncate: adds a ps if they
 * would lose a ns. Returns the ps.
 */
static int print_micros(const char *key, uint64_t ns, int ps, FILE *out)
{
	char text[16 + 2 * DIGITS_MOST], *at = text;

	/* The quotient is rounded once, like strtod()'s result. */
	if (!ps && (uint64_t)((double)ns / 1000 * 1000) != ns)
		ps = 1;
	*at++ = ',';
	*at++ = '"';
	at = stpcpy(stpcpy(at, key), "\":");
	at = digits_decimal(at, ns / 1000);
	*at++ = '.';
	at = digits_fixed(at, ns % 1000, 3);
	if (ps)
		at = digits_fixed(at, (uint64_t)ps, 3);
	fwrite_unlocked(text, 1, (size_t)(at - text), out);
	return ps;
}

/* ---- Names and arguments ------------------------------------------------- */

static void print_key(const char *before, const char *key, FILE *out)
{
	fputs_unlocked(before, out);
	fputs_unlocked(key, out);
	fputs_unlocked("\":", out);
}

static void print_chrome_text(const char *key, const struct name *text, FILE *out)
{
	print_key(",\"", key, out);
	json_text_print(text->text, text->length, out);
}

static void print_track_name(struct chrome_output *chrome, const struct track *track,
			     const char *kind, const char *name)
{
	FILE *out = chrome->list.output.text;

	if (!name)
		return;
	open_event(chrome, track, 'M');
	fprintf(out, ",\"name\":\"%s\",\"args\":{\"name\":", kind);
	json_text_print(name, strlen(name), out);
	fputs("}}", out);
}

/* ---- The format ---------------------------------------------------------- */

static void print_chrome_slice(struct slice_list *list, struct track *track,
			       const struct listed_slice *slice, uint64_t number)
{
	struct chrome_output *chrome = (struct chrome_output *)list;
	const struct name *name = listed_name(slice), *category;
	struct slice_args args;
	FILE *out = list->output.text;
	int ps;

	(void)number;
	if (!track->announced) {
		print_track_name(chrome, track, "process_name", track->process_name);
		print_track_name(chrome, track, "thread_name", track->thread_name);
	}
	track->announced = true;
	open_event(chrome, track, slice->symbol ? 'X' : 'i');
	/*
	 * Readers sort by time, and add time and duration as floating point numbers. So begins and
	 * ends within one ns are a few ps apart, in their order.
	 */
	ps = print_micros("ts", slice->begin - list->first, rank_ps(slice->begin_rank), out);
	ps = rank_ps(slice->end_rank) - ps;
	if (slice->symbol)
		print_micros("dur", slice->end - slice->begin, MAX(0, ps), out);
	print_chrome_text("name", name, out);
	if (!slice->symbol) {
		fputs_unlocked(",\"s\":\"t\"", out); /* scope: thread */
	} else {
		category = slice_category(slice->symbol);
		if (category && strncmp(name->text, category->text, category->length) != 0)
			print_chrome_text("cat", category, out);
		slice_list_args(list, slice, &args);
		for (size_t i = 0; i < args.count; i++) {
			print_key(i ? ",\"" : ",\"args\":{\"", slice_arg_text(args.list[i].key),
				  out);
			slice_arg_print(&args.list[i], true, out);
		}
		if (args.count)
			putc_unlocked('}', out);
	}
	putc_unlocked('}', out);
}

static int print_chrome(struct format_output *output, struct error *err)
{
	(void)err;
	fprintf(output->text,
		"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"first_ns\":\"%" PRIu64
		"\"},\"traceEvents\":[",
		((struct slice_list *)output)->first);
	slice_list_print((struct slice_list *)output, print_chrome_slice);
	fputs("\n]}\n", output->text);
	return 0;
}

const struct output_format format_chrome = {
	.name = "chrome",
	.suffix = "json",
	.for_programs = true,
	.slices = SLICES_SORTED,
	.size = sizeof(struct chrome_output),
	.open = slice_list_open,
	.finish = print_chrome,
	.release = slice_list_release,
};
