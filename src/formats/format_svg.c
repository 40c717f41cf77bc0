/* SPDX-License-Identifier: MIT */
/*
 * --format=svg: a picture of one thread: time to the right, callees below their
 * callers.
 *
 * The picture has the size of a screen for any trace: slices narrower than half a
 * pixel are drawn together with their neighbours, and slices deeper than 64 levels are
 * only counted.  A slice of two pixels or more has a tooltip with its name and time.
 */

#include "base/utf8.h"
#include "src/formats/stored_output.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/short_time.h"
#include "src/slices/track.h"

/* Pixels. */
#define WIDTH     1200.0
#define MARGIN    10.0
#define ROW       17.0
#define TOP       56.0
#define CHARACTER 6.1 /* of the labels' font */
#define NARROW    0.5 /* narrower slices are drawn with their neighbours */
#define LABEL_MIN 3   /* characters */
#define POINTABLE 2.0 /* width of slices that have a tooltip */

#define ROWS    64u
#define COLOURS 8u

struct picture {
	FILE *out;
	uint64_t begin; /* ns */
	double scale;   /* pixels per ns */
	struct open_slice {
		const struct symbol *symbol;
		uint64_t begin;
		unsigned flags;
	} open[ROWS];
	/* Slices of a row that are too narrow to be drawn on their own. */
	struct crowd {
		double from, to; /* pixels */
		uint64_t count;  /* 0 if absent */
	} crowds[ROWS];
	size_t depth, deepest; /* levels, drawn or not */
	uint64_t hidden;       /* slices that are not drawn */
};

/* ---- Text ---------------------------------------------------------------- */

/*
 * Print at most `room` characters, with an ellipsis if cut; '?' for characters that XML
 * forbids.
 */
static void print_text(const char *text, size_t length, size_t room, FILE *out)
{
	size_t size, shown = 0;

	for (size_t i = 0; i < length; i += size, shown++) {
		unsigned char c = (unsigned char)text[i];

		size = utf8_character(text + i, length - i);
		if (shown + 1 == room && i + (size ? size : 1) < length) {
			fputs("\u2026", out);
			return;
		}
		if (!size || c < 0x20 || c == 0x7f)
			putc('?', out);
		else if (c == '<')
			fputs("&lt;", out);
		else if (c == '&')
			fputs("&amp;", out);
		else
			fwrite(text + i, 1, size, out);
		size += !size;
	}
}

static void print_svg_name(const struct symbol *symbol, size_t room, FILE *out)
{
	print_text(symbol->name->text, symbol->name->length, room, out);
}

/* ---- Slices -------------------------------------------------------------- */

static double x_of(const struct picture *picture, uint64_t time)
{
	return MARGIN + (double)(time - picture->begin) * picture->scale;
}

static double y_of(size_t row)
{
	return TOP + (double)row * ROW;
}

/* A function has one colour; other slices are grey, and losses red. */
static void print_class(const struct open_slice *slice, FILE *out)
{
	uint32_t hash = 2166136261u; /* FNV-1a */
	const struct name *name = slice->symbol->name;

	for (uint32_t i = 0; i < name->length; i++)
		hash = (hash ^ (unsigned char)name->text[i]) * 16777619u;
	if (strncmp(name->text, "[lost", 5) == 0)
		fputs("lost", out);
	else if (name->text[0] == '[')
		fputs("other", out);
	else
		fprintf(out, "c%u%s", (hash >> 16) % COLOURS,
			slice->flags & SLICE_INFERRED_START ? " inferred" : "");
}

static void draw_crowd(struct picture *picture, size_t row)
{
	struct crowd *crowd = &picture->crowds[row];

	if (crowd->count)
		fprintf(picture->out,
			"<rect class=\"many\" x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"16\">"
			"<title>%" PRIu64 " slices</title></rect>\n",
			crowd->from, y_of(row),
			crowd->to - crowd->from < NARROW ? NARROW : crowd->to - crowd->from,
			crowd->count);
	crowd->count = 0;
}

static void draw_narrow(struct picture *picture, size_t row, double from, double to)
{
	struct crowd *crowd = &picture->crowds[row];

	if (crowd->count && from - crowd->to > NARROW)
		draw_crowd(picture, row);
	if (!crowd->count)
		crowd->from = from;
	crowd->to = to;
	crowd->count++;
}

static void print_rect(const struct picture *picture, size_t row, double from, double width)
{
	fputs("<rect class=\"", picture->out);
	print_class(&picture->open[row], picture->out);
	fprintf(picture->out, "\" x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"16\"/>", from,
		y_of(row), width > 1 ? width - 0.3 : width);
}

static void draw_wide(const struct picture *picture, size_t row, uint64_t end)
{
	const struct open_slice *slice = &picture->open[row];
	double from = x_of(picture, slice->begin), width = x_of(picture, end) - from;
	size_t room = (size_t)((width - 4) / CHARACTER > 0 ? (width - 4) / CHARACTER : 0);
	char took[SHORT_TIME_SIZE], since[SHORT_TIME_SIZE];

	if (width < POINTABLE) {
		print_rect(picture, row, from, width);
		putc('\n', picture->out);
		return;
	}
	short_time(took, (int64_t)(end - slice->begin));
	short_time(since, (int64_t)(slice->begin - picture->begin));
	fputs("<g><title>", picture->out);
	print_svg_name(slice->symbol, SIZE_MAX, picture->out);
	fprintf(picture->out, "\n%s, from %s%s</title>", took, since,
		slice->flags & SLICE_INFERRED_START ? ", the call was not seen" : "");
	print_rect(picture, row, from, width);
	if (room >= LABEL_MIN) {
		fprintf(picture->out, "<text x=\"%.1f\" y=\"%.0f\">", from + 2, y_of(row) + 12);
		print_svg_name(slice->symbol, room, picture->out);
		fputs("</text>", picture->out);
	}
	fputs("</g>\n", picture->out);
}

static void begin_drawn(struct picture *picture, const struct slice_event *event)
{
	if (picture->depth < ROWS)
		picture->open[picture->depth] =
			(struct open_slice){ event->symbol, event->time, event->flags };
	else
		picture->hidden++;
	picture->depth++;
}

static void end_drawn(struct picture *picture, uint64_t time)
{
	size_t row = --picture->depth;
	double from, to;

	if (row >= ROWS)
		return;
	from = x_of(picture, picture->open[row].begin);
	to = x_of(picture, time);
	if (to - from < NARROW)
		draw_narrow(picture, row, from, to);
	else
		draw_wide(picture, row, time);
}

static void draw_instant(const struct picture *picture, const struct slice_event *event)
{
	double x = x_of(picture, event->time);

	fprintf(picture->out, "<path class=\"mark\" d=\"M%.1f %.0fl4 -6h-8z\"><title>", x, TOP);
	print_text(event->text, strlen(event->text), SIZE_MAX, picture->out);
	fputs("</title></path>\n", picture->out);
}

static void draw_events(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	(void)track;
	for (size_t i = 0; i < batch->count; i++) {
		const struct slice_event *event = &batch->events[i];

		if (event->kind == SLICE_BEGIN)
			begin_drawn(sink->context, event);
		else if (event->kind == SLICE_END)
			end_drawn(sink->context, event->time);
		else
			draw_instant(sink->context, event);
	}
}

/* ---- The picture --------------------------------------------------------- */

static void measure_events(const struct slice_sink *sink, void *track,
			   const struct slice_batch *batch)
{
	struct picture *picture = sink->context;

	(void)track;
	for (size_t i = 0; i < batch->count; i++) {
		picture->depth += batch->events[i].kind == SLICE_BEGIN;
		picture->depth -= batch->events[i].kind == SLICE_END;
		if (picture->depth > picture->deepest)
			picture->deepest = picture->depth;
	}
}

static size_t deepest_of(const struct slice_store *store, size_t index)
{
	struct picture picture = { 0 };
	const struct slice_sink sink = { .events = measure_events, .context = &picture };

	slice_store_replay_track(store, index, &sink);
	return picture.deepest;
}

static void print_head(double height, FILE *out)
{
	static const char *const colours[COLOURS] = { "#f4b183", "#ffd966", "#a9d18e", "#9dc3e6",
						      "#f8cbad", "#c5b3e6", "#ffe699", "#b4d8d0" };

	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		"viewBox=\"0 0 %.0f %.0f\">\n<style>text{font:10px monospace}"
		".title{font:bold 13px sans-serif}.axis{fill:#666}.grid{stroke:#ddd}"
		".many{fill:#999}.other{fill:#d9d9d9}.lost{fill:#e06666}.mark{fill:#c00}"
		".inferred{stroke:#777;stroke-width:.5;stroke-dasharray:3 2}",
		WIDTH + 2 * MARGIN, height, WIDTH + 2 * MARGIN, height);
	for (unsigned i = 0; i < COLOURS; i++)
		fprintf(out, ".c%u{fill:%s}", i, colours[i]);
	fputs("</style>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n", out);
}

static void print_title(const struct track_summary *summary, FILE *out)
{
	const struct track *track = summary->track;
	const char *name = track->thread_name ? track->thread_name : "thread";
	char took[SHORT_TIME_SIZE];

	short_time(took, (int64_t)(summary->end - summary->begin));
	fprintf(out, "<text class=\"title\" x=\"%.0f\" y=\"18\">", MARGIN);
	print_text(name, strlen(name), 60, out);
	fprintf(out,
		" (process %d, thread %d): %" PRIu64 " slices in %s from %" PRIu64 ".%09" PRIu64
		" s</text>\n",
		track->pid, track->tid, summary->slices, took, summary->begin / 1000000000,
		summary->begin % 1000000000);
}

/* Lines at 1, 2 or 5 times a power of ten, about a hundred pixels apart. */
static void print_axis(const struct picture *picture, uint64_t took, double height)
{
	double step = 1;
	char label[SHORT_TIME_SIZE];

	while (step * picture->scale < 100) {
		if (step * 2 * picture->scale >= 100)
			step *= 2;
		else if (step * 5 * picture->scale >= 100)
			step *= 5;
		else
			step *= 10;
	}
	for (uint64_t i = 0; i <= took / (uint64_t)step; i++) {
		uint64_t at = i * (uint64_t)step;
		double x = x_of(picture, picture->begin + at);

		short_time(label, (int64_t)at);
		fprintf(picture->out,
			"<path class=\"grid\" d=\"M%.1f 40V%.0f\"/><text class=\"axis\" x=\"%.1f\" "
			"y=\"37\">%s</text>\n",
			x, height - 20, x, label);
	}
}

static void print_foot(const struct picture *picture, double height)
{
	if (picture->hidden)
		fprintf(picture->out,
			"<text class=\"axis\" x=\"%.0f\" y=\"%.0f\">%" PRIu64
			" slices on %zu deeper levels are not drawn</text>\n",
			MARGIN, height - 6, picture->hidden, picture->deepest - ROWS);
	fputs("</svg>\n", picture->out);
}

static void print_thread(const struct slice_store *store, size_t index, FILE *out)
{
	struct track_summary summary = slice_store_summary(store, index);
	uint64_t took = summary.end > summary.begin ? summary.end - summary.begin : 1;
	struct picture picture = { .out = out,
				   .begin = summary.begin,
				   .scale = WIDTH / (double)took };
	const struct slice_sink sink = { .events = draw_events, .context = &picture };
	size_t rows = picture.deepest = deepest_of(store, index);
	double height = y_of(rows < ROWS ? rows : ROWS) + 26;

	print_head(height, out);
	print_title(&summary, out);
	print_axis(&picture, took, height);
	slice_store_replay_track(store, index, &sink);
	for (size_t row = 0; row < ROWS; row++)
		draw_crowd(&picture, row);
	print_foot(&picture, height);
}

static int print_svg(struct format_output *output, struct error *err)
{
	struct stored_output *stored = (struct stored_output *)output;
	const struct slice_store *store = &stored->store;
	size_t busiest = 0, count;

	if (slice_store_end(&stored->store, err) < 0)
		return -1;
	count = slice_store_tracks(store);
	for (size_t i = 1; i < count; i++) {
		if (slice_store_summary(store, i).slices >
		    slice_store_summary(store, busiest).slices)
			busiest = i;
	}
	if (count && slice_store_summary(store, busiest).slices) {
		print_thread(store, busiest, output->text);
		return 0;
	}
	print_head(60, output->text);
	fputs("<text class=\"title\" x=\"10\" y=\"18\">no slices</text>\n</svg>\n", output->text);
	return 0;
}

const struct output_format format_svg = {
	.name = "svg",
	.slices = SLICES_SORTED,
	.open = stored_output_open,
	.finish = print_svg,
	.release = stored_output_release,
};
