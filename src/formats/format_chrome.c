/* SPDX-License-Identifier: MIT */
/*
 * --format=chrome: JSON of the Trace Event Format ("Trace Event Format", Google), read by Perfetto,
 * Firefox Profiler, speedscope, Tracy and others. Slices are complete events (X), which all of
 * these show with name and arguments; outer slices precede inner ones. Times are microseconds since
 * the first slice or event, with three decimals, or six if begins and ends within one ns need an
 * order. Other events follow: slices as begins (B) and ends (E), because both have arguments.
 */

#include "src/formats/slice_list.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/event_text.h"

struct chrome_output {
	struct slice_list list; /* first */
	bool any;               /* an event was written */
};

static char *put_event(struct chrome_output *chrome, char *at, const struct track *track,
		       char phase)
{
	if (chrome->any)
		*at++ = ',';
	chrome->any = true;
	at = stpcpy(at, "\n{\"ph\":\"");
	*at++ = phase;
	at = digits_signed(stpcpy(at, "\",\"pid\":"), track->pid);
	return digits_signed(stpcpy(at, ",\"tid\":"), track->tid);
}

/* ---- Times --------------------------------------------------------------- */

/* Returns the ps that a rank adds to a time. put_micros() can add fewer than the first step. */
static int rank_ps(unsigned rank)
{
	return rank ? (int)rank + 2 : 0;
}

/*
 * Write microseconds. Readers multiply them by 1000, and some then truncate: sets a ps if they
 * would lose a ns.
 */
static char *put_micros(char *at, uint64_t ns, int *ps)
{
	/* The quotient is rounded once, like strtod()'s result. */
	if (!*ps && (uint64_t)((double)ns / 1000 * 1000) != ns)
		*ps = 1;
	at = digits_decimal(at, ns / 1000);
	*at++ = '.';
	at = digits_fixed(at, ns % 1000, 3);
	return *ps ? digits_fixed(at, (uint64_t)*ps, 3) : at;
}

/* ---- The format ---------------------------------------------------------- */

static void print_track_name(struct chrome_output *chrome, const struct track *track,
			     const char *kind, const char *name)
{
	FILE *out = chrome->list.output.text;
	char text[32 + 2 * DIGITS_MOST];

	if (!name)
		return;
	*put_event(chrome, text, track, 'M') = 0;
	fputs(text, out);
	text_printf(out, json_text_print, ",\"name\":%s,\"args\":{\"name\":%s}}", kind, name);
}

static void print_chrome_slice(struct slice_list *list, struct track *track,
			       const struct listed_slice *slice, uint64_t number)
{
	struct chrome_output *chrome = (struct chrome_output *)list;
	const struct name *name = listed_name(slice), *category;
	struct line line;
	char *at;
	int ps = rank_ps(slice->begin_rank), end_ps = rank_ps(slice->end_rank);

	(void)number;
	if (!track->announced) {
		print_track_name(chrome, track, "process_name", track->process_name);
		print_track_name(chrome, track, "thread_name", track->thread_name);
	}
	track->announced = true;
	line.out = list->output.text;
	at = put_event(chrome, line.text, track, slice->symbol ? 'X' : 'i');
	/*
	 * Readers sort by time, and add time and duration as floating point numbers. So begins and
	 * ends within one ns are a few ps apart, in their order.
	 */
	at = put_micros(stpcpy(at, ",\"ts\":"), slice->begin - list->first, &ps);
	if (slice->symbol) {
		end_ps = MAX(0, end_ps - ps);
		at = put_micros(stpcpy(at, ",\"dur\":"), slice->end - slice->begin, &end_ps);
	}
	at = line_json_name(&line, stpcpy(at, ",\"name\":"), name);
	if (!slice->symbol) {
		at = stpcpy(at, ",\"s\":\"t\""); /* scope: thread */
	} else {
		category = slice_category(slice->symbol);
		if (category && strncmp(name->text, category->text, category->length) != 0)
			at = line_json_name(&line, stpcpy(at, ",\"cat\":"), category);
		at = slice_list_args(list, slice, &line, at, true);
	}
	*at++ = '}';
	line_end(&line, at);
}

/* ---- Other events ---------------------------------------------------------- */

static void print_text_field(const char *key, struct text_view text, FILE *out)
{
	if (!text.length)
		return;
	fprintf(out, ",\"%s\":", key);
	json_text_print(text.at, text.length, out);
}

static void print_chrome_event(struct slice_list *list, const struct track_event *event)
{
	static const char phases[TRACK_EVENT_KINDS] = {
		[TRACK_INSTANT] = 'i',    [TRACK_COUNTER] = 'C',     [TRACK_BEGIN] = 'B',
		[TRACK_END] = 'E',        [TRACK_ASYNC_BEGIN] = 'b', [TRACK_ASYNC_END] = 'e',
		[TRACK_FLOW_BEGIN] = 's', [TRACK_FLOW_STEP] = 't',   [TRACK_FLOW_END] = 'f',
	};
	const struct track track = { .pid = (int32_t)event->track.pid,
				     .tid = (int32_t)event->track.tid };
	struct chrome_output *chrome = (struct chrome_output *)list;
	bool is_counter = event->kind == TRACK_COUNTER;
	FILE *out = list->output.text;
	char text[64 + 3 * DIGITS_MOST];
	int ps = 0;
	char *at = put_event(chrome, text, &track, phases[event->kind]);

	*put_micros(stpcpy(at, ",\"ts\":"), event->time - list->first, &ps) = 0;
	fputs(text, out);
	print_text_field("name", event->name, out);
	print_text_field("cat", event->category, out);
	if (event->kind == TRACK_INSTANT)
		fputs(",\"s\":\"t\"", out); /* scope: thread */
	else if ((is_counter && event->id) || event->kind > TRACK_WHOLE)
		fprintf(out, ",\"id\":\"%" PRIu64 "\"", event->id);
	if (event->kind == TRACK_FLOW_END)
		fputs(",\"bp\":\"e\"", out); /* at the slice around it, not the next one */
	if (event->arg_count && (is_counter || list->level != OPTION_ARGS_NONE)) {
		fputs(",\"args\":", out);
		event_args_print(event, true, out);
	}
	putc('}', out);
}

static void print_chrome_events(struct chrome_output *chrome)
{
	for (const struct stored_track *at = chrome->list.events.tracks; at; at = at->hh.next) {
		const struct track track = stored_track_describe(at);

		print_track_name(chrome, &track, "process_name", track.process_name);
		print_track_name(chrome, &track, "thread_name", track.thread_name);
	}
	slice_list_print_events(&chrome->list, print_chrome_event);
}

static void open_chrome(struct format_output *output, const struct format_request *request)
{
	slice_list_open(output, request);
	slice_list_take_events(output, request);
}

static void print_chrome(struct format_output *output)
{
	slice_list_sort_events((struct slice_list *)output);
	fprintf(output->text,
		"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"first_%s\":\"%" PRIu64
		"\"},\"traceEvents\":[",
		digits_work_unit() ?: "ns", ((struct slice_list *)output)->first);
	slice_list_print((struct slice_list *)output, print_chrome_slice);
	print_chrome_events((struct chrome_output *)output);
	fputs("\n]}\n", output->text);
}

const struct output_format format_chrome = {
	.name = "chrome",
	.suffix = "json",
	.for_programs = true,
	.slices = SLICES_SORTED,
	.cpu_events = true,
	.size = sizeof(struct chrome_output),
	.open = open_chrome,
	.finish = print_chrome,
	.release = slice_list_release,
};
