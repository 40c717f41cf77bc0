/* SPDX-License-Identifier: MIT */
#include "format_slices.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "slice_args.h"
#include "track.h"

struct slice {
	uint64_t begin, end, ip;     /* ns, ns, address entered */
	const struct symbol *symbol; /* NULL: an instant */
	const struct name *caller;   /* "file:line"; NULL: unknown */
	struct slice_cost cost;
	uint64_t folded, folded_time; /* see struct span_sink */
	char *text;                  /* of an instant; owned */
	const struct track *track;
	uint32_t depth, order;
	unsigned flags;              /* enum span_flags */
	bool finished;
};

static size_t add(struct slice_list *list, struct track *track, uint64_t time)
{
	struct slice *slice;

	list->slices = alloc_grow(list->slices, &list->room, list->count + 1,
				  sizeof(*list->slices));
	slice = &list->slices[list->count];
	*slice = (struct slice){
		.begin = time,
		.end = time,
		.track = track,
		.depth = (uint32_t)track->open_count,
		.order = (uint32_t)list->count,
	};
	return list->count++;
}

static void begin(const struct span_sink *sink, void *context, uint64_t time,
		  const struct symbol *symbol, uint64_t ip, unsigned flags)
{
	struct slice_list *list = sink->context;
	struct track *track = context;
	size_t at = add(list, track, time);

	list->slices[at].symbol = symbol;
	list->slices[at].ip = ip;
	list->slices[at].flags = flags;
	if (list->level == OPTION_ARGS_FULL) {
		struct span_detail detail = slice_costs_begin(&track->costs);

		list->slices[at].caller =
			call_sites_find(&list->sites, detail.caller, detail.caller_offset);
	}
	track->open = alloc_grow(track->open, &track->open_room, track->open_count + 1,
				 sizeof(*track->open));
	track->open[track->open_count++] = at;
}

static void end(const struct span_sink *sink, void *context, uint64_t time,
		const struct symbol *symbol)
{
	struct slice_list *list = sink->context;
	struct track *track = context;
	struct slice *slice;

	(void)symbol;
	if (!track->open_count)
		return;
	slice = &list->slices[track->open[--track->open_count]];
	slice->end = time;
	slice->finished = true;
	if (list->level == OPTION_ARGS_FULL)
		slice->cost = slice_costs_end(&track->costs);
	slice->folded = track->folded;
	slice->folded_time = track->folded_time;
	track->folded = track->folded_time = 0;
}

static void complete(const struct span_sink *sink, void *context, uint64_t begin_time,
		     uint64_t end_time, const struct symbol *symbol, unsigned flags)
{
	begin(sink, context, begin_time, symbol, 0, flags);
	end(sink, context, end_time, symbol);
}

static void instant(const struct span_sink *sink, void *context, uint64_t time, const char *text)
{
	struct slice_list *list = sink->context;
	size_t at = add(list, context, time);

	list->slices[at].text = strdup(text);
	if (!list->slices[at].text)
		alloc_fail(strlen(text));
	list->slices[at].finished = true;
}

static void segment_end(const struct span_sink *sink, void *context)
{
	(void)sink;
	(void)context;
}

static void detail(const struct span_sink *sink, void *context, const struct span_detail *detail)
{
	struct track *track = context;

	(void)sink;
	slice_costs_detail(&track->costs, detail);
}

static void folded(const struct span_sink *sink, void *context, uint64_t count, uint64_t time)
{
	struct track *track = context;

	(void)sink;
	track->folded = count;
	track->folded_time = time;
}

void slice_list_init(struct slice_list *list, struct name_table *names, enum option_args level)
{
	*list = (struct slice_list){ .level = level, .sites = { .names = names } };
}

struct span_sink slice_list_sink(struct slice_list *list)
{
	return (struct span_sink){
		.detail = list->level == OPTION_ARGS_FULL ? detail : NULL,
		.begin = begin,
		.end = end,
		.complete = complete,
		.folded = folded,
		.instant = instant,
		.segment_end = segment_end,
		.context = list,
	};
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare(const void *left, const void *right)
{
	const struct slice *a = left, *b = right;

	if (a->track != b->track) {
		if (a->track->pid != b->track->pid)
			return a->track->pid < b->track->pid ? -1 : 1;
		if (a->track->tid != b->track->tid)
			return a->track->tid < b->track->tid ? -1 : 1;
		return compare_numbers(a->track->index, b->track->index);
	}
	if (a->begin != b->begin)
		return compare_numbers(a->begin, b->begin);
	if (a->depth != b->depth)
		return compare_numbers(a->depth, b->depth);
	return compare_numbers(a->order, b->order);
}

static void print_text(const char *text, size_t length, FILE *out)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x20 || c == 0x7f || c == '\\')
			fprintf(out, "\\x%02x", c);
		else
			putc(c, out);
	}
}

static void print_name_arg(const char *key, const struct name *value, FILE *out)
{
	if (!value)
		return;
	fprintf(out, " %s=", key);
	print_text(value->text, value->length, out);
}

static void print_cost(struct slice_cost cost, FILE *out)
{
	double ipc = slice_cost_ipc(cost);

	if (cost.insns)
		fprintf(out, " insns=%" PRIu64, cost.insns);
	if (cost.cycles)
		fprintf(out, " cycles=%" PRIu64, cost.cycles);
	if (ipc > 0)
		fprintf(out, " ipc=%.15g", ipc);
}

static void print_event(const struct span_event *event, FILE *out)
{
	for (int i = 0; event && i < SLICE_EVENT_VALUES; i++) {
		if (event->known >> i & 1)
			fprintf(out, " %s=0x%" PRIx64, slice_event_value_name(i), event->values[i]);
	}
}

static void print_args(const struct slice *slice, FILE *out)
{
	struct slice_args args = slice_args_of(slice->symbol, slice->ip, slice->flags);

	fprintf(out, " %s=0x%" PRIx64, args.is_value ? "value" : "address", args.address);
	if (args.line)
		fprintf(out, " line=%" PRIu32, args.line);
	if (args.column)
		fprintf(out, " col=%" PRIu32, args.column);
	print_name_arg("symbol", args.symbol, out);
	print_name_arg("file", args.file, out);
	if (args.vector >= 0)
		fprintf(out, " vector=%d", args.vector);
	print_event(args.event, out);
	if (args.inferred_start)
		fputs(" inferred_start_time=true", out);
	if (slice->symbol->inlined)
		fputs(" category=inlined", out);
	print_name_arg("caller", slice->caller, out);
	print_cost(slice->cost, out);
	if (slice->folded)
		fprintf(out, " folded=%" PRIu64 " folded_time=%" PRIu64, slice->folded,
			slice->folded_time);
}

static void print_slice(const struct slice_list *list, const struct slice *slice, FILE *out)
{
	fprintf(out, "%d/%d %" PRIu32 " %" PRIu64 " %" PRIu64 " ", slice->track->pid,
		slice->track->tid, slice->depth, slice->begin, slice->end);
	if (slice->symbol) {
		print_text(slice->symbol->name->text, slice->symbol->name->length, out);
		if (list->level != OPTION_ARGS_NONE)
			print_args(slice, out);
	} else {
		print_text(slice->text, strlen(slice->text), out);
	}
	putc('\n', out);
}

void slice_list_print(struct slice_list *list, FILE *out)
{
	if (list->count)
		qsort(list->slices, list->count, sizeof(*list->slices), compare);
	for (size_t i = 0; i < list->count; i++) {
		if (list->slices[i].finished)
			print_slice(list, &list->slices[i], out);
	}
}

void slice_list_release(struct slice_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->slices[i].text);
	free(list->slices);
	call_sites_release(&list->sites);
	*list = (struct slice_list){ 0 };
}
