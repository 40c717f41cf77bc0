/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "src/overlays/overlay_trace.h"

#define NAME_ROOM 64
#define NS_PER_US 1000

/* Text of a stack: an event's record holds 32760 bytes, and the rest of it needs little. */
#define STACK_MAX    24000
#define FUNCTION_MAX 1000 /* bytes of the function's name */

/* The allocation rate is that of so many ns. */
#define RATE_WINDOW UINT64_C(10000000)

/* Numbers of one file's blocks stay apart from another's. */
#define OBJECT_BITS 40

#define ALLOC_ARGS 7

struct domain_track {
	uint16_t domain;
	uint32_t tid;
	struct ftf_thread thread;
	uint64_t now; /* ns, trace */
};

/* A sampled block that was not collected up to now. */
struct live_block {
	uint64_t object;
	double bytes; /* that it stands for */
	UT_hash_handle hh;
};

struct memtrace_view {
	struct overlay_trace *trace;
	const struct overlay_clock *clock;
	struct memtrace *memtrace;
	int32_t pid;
	bool lives;                  /* an async slice for each block's life */
	uint64_t first_id;           /* of arrows */
	struct domain_track *tracks; /* owned */
	size_t track_count, track_room;
	struct ftf_thread counters;
	uint64_t now;            /* ns, trace: of counters */
	struct live_block *live; /* hash */
	double live_bytes, window_bytes;
	uint64_t window; /* begin of the rate's window */
	struct ftf_name category, live_name, rate_name, bytes_name, rate_unit;
	struct ftf_name promote, collect, object, block;
};

/* ---- Tracks and times ---------------------------------------------------- */

static struct domain_track *track_of(struct memtrace_view *view, uint16_t domain)
{
	struct domain_track *track;
	char name[NAME_ROOM];

	for (size_t i = view->track_count; i-- > 0;)
		if (view->tracks[i].domain == domain)
			return &view->tracks[i];
	view->tracks = alloc_grow(view->tracks, &view->track_room, view->track_count + 1,
				  sizeof(*view->tracks));
	track = &view->tracks[view->track_count++];
	*track = (struct domain_track){ .domain = domain };
	snprintf(name, sizeof(name), "memtrace domain %u", domain);
	track->thread = overlay_trace_track(view->trace, view->pid, name, &track->tid);
	return track;
}

static void advance(struct memtrace_view *view, struct domain_track *track,
		    const struct memtrace_event *event)
{
	uint64_t wall = (view->memtrace->info.start_time + event->time) * NS_PER_US;
	uint64_t time = overlay_clock_time(view->clock, wall);

	if (time > track->now)
		track->now = time;
	if (time > view->now)
		view->now = time;
}

/* ---- Counters ------------------------------------------------------------ */

static void emit_counter(struct memtrace_view *view, struct ftf_name name, struct ftf_name unit,
			 double value, uint64_t time)
{
	struct ftf_arg arg = ftf_arg_double(unit, value);
	struct ftf_event event = { .thread = view->counters,
				   .category = view->category,
				   .name = name,
				   .time = time,
				   .args = &arg,
				   .arg_count = 1 };

	ftf_counter(view->trace->writer, &event, 0);
}

/* A window of the rate is over: tell it, and that nothing was allocated in those after it. */
static void roll_window(struct memtrace_view *view)
{
	const double per_second = 1e9 / (double)RATE_WINDOW;

	if (!view->window)
		view->window = view->now;
	if (view->now - view->window < RATE_WINDOW)
		return;
	emit_counter(view, view->rate_name, view->rate_unit, view->window_bytes * per_second,
		     view->window);
	view->window_bytes = 0;
	view->window += RATE_WINDOW;
	if (view->now - view->window >= RATE_WINDOW) {
		emit_counter(view, view->rate_name, view->rate_unit, 0, view->window);
		view->window += (view->now - view->window) / RATE_WINDOW * RATE_WINDOW;
	}
}

/* Returns the bytes that the samples of a block stand for. */
static double estimated_bytes(const struct memtrace_view *view, const struct memtrace_event *event)
{
	const struct memtrace_info *info = &view->memtrace->info;
	const double most = 1e18; /* that a damaged file may claim: it stays an integer */
	double bytes;

	if (!(info->sample_rate > 0))
		return 0;
	bytes = (double)event->samples / info->sample_rate * info->word_size / 8;
	return bytes < most ? bytes : most;
}

static void add_live(struct memtrace_view *view, const struct memtrace_event *event)
{
	struct live_block *block;

	HASH_FIND(hh, view->live, &event->object, sizeof(event->object), block);
	if (block)
		return;
	block = alloc_zeroed(1, sizeof(*block));
	block->object = event->object;
	block->bytes = estimated_bytes(view, event);
	HASH_ADD(hh, view->live, object, sizeof(block->object), block);
	view->live_bytes += block->bytes;
	view->window_bytes += block->bytes;
}

static void remove_live(struct memtrace_view *view, uint64_t object)
{
	struct live_block *block;

	HASH_FIND(hh, view->live, &object, sizeof(object), block);
	if (!block)
		return;
	view->live_bytes -= block->bytes;
	HASH_DEL(view->live, block);
	free(block);
}

/* ---- Allocations --------------------------------------------------------- */

/* Append text as far as it fits.  Returns the new length. */
static size_t append(char *text, size_t used, size_t room, const char *more)
{
	size_t length = strlen(more);

	if (length > room - used)
		length = room - used;
	memcpy(text + used, more, length);
	return used + length;
}

/* One frame as "function (file:line)", or the place's code if nothing is known of it. */
static size_t append_frame(char *text, size_t used, const struct memtrace_location *location,
			   uint64_t code)
{
	char number[NAME_ROOM];

	if (!location) {
		snprintf(number, sizeof(number), "$%" PRId64, (int64_t)(code << 1) >> 1);
		return append(text, used, STACK_MAX, number);
	}
	used = append(text, used, STACK_MAX, location->function);
	used = append(text, used, STACK_MAX, " (");
	used = append(text, used, STACK_MAX, location->file);
	snprintf(number, sizeof(number), ":%u)", location->line);
	return append(text, used, STACK_MAX, number);
}

/* The whole stack, innermost frame first; what does not fit is cut.  Returns its length. */
static size_t stack_text(const struct memtrace_view *view, const struct memtrace_event *event,
			 char text[STACK_MAX])
{
	size_t used = 0, count;

	for (size_t i = event->backtrace_length; i-- > 0 && used < STACK_MAX;) {
		const struct memtrace_location *locations = memtrace_locations_borrow(
			&view->memtrace->locations, event->backtrace[i], &count);

		if (used)
			used = append(text, used, STACK_MAX, " <- ");
		if (!count)
			used = append_frame(text, used, NULL, event->backtrace[i]);
		for (size_t inlined = count; inlined-- > 0;) {
			used = append_frame(text, used, &locations[inlined], 0);
			if (inlined)
				used = append(text, used, STACK_MAX, " <- ");
		}
	}
	return used;
}

/* Returns the innermost function known by name; NULL: none. */
static const struct memtrace_location *top_of(const struct memtrace_view *view,
					      const struct memtrace_event *event)
{
	const struct memtrace_location *locations;
	size_t count;

	if (!event->backtrace_length)
		return NULL;
	locations = memtrace_locations_borrow(
		&view->memtrace->locations, event->backtrace[event->backtrace_length - 1], &count);
	return count ? &locations[count - 1] : NULL;
}

static struct ftf_low_arg text_arg(const char *name, const char *text, size_t length)
{
	return (struct ftf_low_arg){ .type = FTF_STRING,
				     .name = FTF_INLINE(strlen(name)),
				     .name_text = name,
				     .string = FTF_INLINE(length),
				     .string_text = text };
}

static struct ftf_low_arg number_arg(const char *name, int64_t number)
{
	return (struct ftf_low_arg){ .type = FTF_INT64,
				     .name = FTF_INLINE(strlen(name)),
				     .name_text = name,
				     .word = (uint64_t)number };
}

/*
 * Begin an allocation's slice with all texts in the record itself: stacks are
 * of so many kinds that keeping them as the trace's strings would take more
 * memory than the input.
 */
static void put_begin(struct memtrace_view *view, const struct domain_track *track,
		      const char *name, const struct ftf_low_arg *args, size_t count)
{
	static const char category[] = "memtrace";
	struct ftf_low *low = ftf_low_borrow(view->trace->writer);
	size_t length = strnlen(name, FUNCTION_MAX);
	struct ftf_low_event event = { .type = FTF_DURATION_BEGIN,
				       .category = FTF_INLINE(sizeof(category) - 1),
				       .name = FTF_INLINE(length) };

	for (size_t i = 0; i < count; i++) {
		event.shape = ftf_shape_add(event.shape, args[i].type);
		event.text_words +=
			ftf_reference_words(args[i].name) + ftf_reference_words(args[i].string);
	}
	ftf_low_start(low, ftf_low_event_header(&event), event.shape);
	ftf_low_word(low, track->now);
	ftf_low_word(low, (uint32_t)(view->pid < 0 ? 0 : view->pid));
	ftf_low_word(low, track->tid);
	ftf_low_text(low, category, sizeof(category) - 1);
	ftf_low_text(low, name, length);
	for (size_t i = 0; i < count; i++)
		ftf_low_arg(low, &args[i]);
	ftf_low_finish(low);
}

static void begin_alloc(struct memtrace_view *view, const struct domain_track *track,
			const struct memtrace_event *event)
{
	static const char *const sources[] = { "minor", "major", "external" };
	const struct memtrace_location *top = top_of(view, event);
	struct ftf_low_arg args[ALLOC_ARGS];
	char stack[STACK_MAX], at[STACK_MAX / 8];
	size_t count = 0, stack_length = stack_text(view, event, stack);

	args[count++] = number_arg("object", (int64_t)event->object);
	args[count++] = number_arg("words", (int64_t)event->words);
	args[count++] = number_arg("samples", (int64_t)event->samples);
	args[count++] = number_arg("estimated_bytes", (int64_t)estimated_bytes(view, event));
	args[count++] = text_arg("source", sources[event->source], strlen(sources[event->source]));
	if (top) {
		snprintf(at, sizeof(at), "%s:%u:%u", top->file, top->line, top->begin);
		args[count++] = text_arg("allocated_at", at, strlen(at));
	}
	if (stack_length)
		args[count++] = text_arg("stack", stack, stack_length);
	put_begin(view, track, top ? top->function : "alloc", args, count);
}

/* ---- Events -------------------------------------------------------------- */

static void begin_other(struct memtrace_view *view, const struct domain_track *track,
			const struct memtrace_event *event)
{
	struct ftf_arg arg = ftf_arg_int64(view->object, (int64_t)event->object);
	struct ftf_event slice = {
		.thread = track->thread,
		.category = view->category,
		.name = event->kind == MEMTRACE_PROMOTE ? view->promote : view->collect,
		.time = track->now,
		.args = &arg,
		.arg_count = 1,
	};

	ftf_begin(view->trace->writer, &slice);
}

/* Arrows begin and end within slices, so each event is one, of no length. */
static void put_event(struct memtrace_view *view, const struct domain_track *track,
		      const struct memtrace_event *event)
{
	struct ftf_writer *writer = view->trace->writer;
	uint64_t id = view->first_id + (event->object & ((UINT64_C(1) << OBJECT_BITS) - 1));
	struct ftf_event end = { .thread = track->thread, .time = track->now };
	struct ftf_event flow = end;

	flow.category = view->category;
	flow.name = view->block;
	if (event->kind == MEMTRACE_ALLOC)
		begin_alloc(view, track, event);
	else
		begin_other(view, track, event);
	if (event->kind == MEMTRACE_ALLOC)
		ftf_flow_begin(writer, &flow, id);
	else if (event->kind == MEMTRACE_PROMOTE)
		ftf_flow_step(writer, &flow, id);
	else
		ftf_flow_end(writer, &flow, id);
	ftf_end(writer, &end);
	if (view->lives && event->kind == MEMTRACE_ALLOC)
		ftf_async_begin(writer, &flow, id);
	if (view->lives && event->kind == MEMTRACE_COLLECT)
		ftf_async_end(writer, &flow, id);
	view->trace->slices++;
}

static void handle(struct memtrace_view *view, const struct memtrace_event *event)
{
	struct domain_track *track = track_of(view, event->domain);
	bool first = !track->now;

	advance(view, track, event);
	if (first)
		overlay_trace_clock(view->trace, track->thread, track->now, view->clock);
	roll_window(view);
	put_event(view, track, event);
	if (event->kind == MEMTRACE_PROMOTE)
		return;
	if (event->kind == MEMTRACE_ALLOC)
		add_live(view, event);
	else
		remove_live(view, event->object);
	emit_counter(view, view->live_name, view->bytes_name, view->live_bytes, view->now);
}

static void name_all(struct memtrace_view *view)
{
	struct ftf_writer *writer = view->trace->writer;

	view->category = ftf_text(writer, "memtrace");
	view->live_name = ftf_text(writer, "sampled live memory");
	view->rate_name = ftf_text(writer, "estimated allocation rate");
	view->bytes_name = ftf_text(writer, "bytes");
	view->rate_unit = ftf_text(writer, "bytes_per_second");
	view->promote = ftf_text(writer, "promote");
	view->collect = ftf_text(writer, "collect");
	view->object = ftf_text(writer, "object");
	view->block = ftf_text(writer, "block");
	/* Counters belong to the process; their thread shows nothing. */
	view->counters = ftf_thread(writer, (uint32_t)(view->pid < 0 ? 0 : view->pid),
				    view->trace->next_tid++);
}

void overlay_trace_memtrace(struct overlay_trace *trace, struct overlay_input *input,
			    const struct overlay_clock *clock)
{
	struct memtrace_view view = { .trace = trace,
				      .clock = clock,
				      .memtrace = &input->memtrace,
				      .pid = input->pid,
				      .lives = input->lives,
				      .first_id = trace->next_id };
	struct live_block *block, *next;
	struct memtrace_event event;

	trace->next_id += UINT64_C(1) << OBJECT_BITS;
	name_all(&view);
	while (memtrace_next(&input->memtrace, &event))
		handle(&view, &event);
	HASH_ITER(hh, view.live, block, next)
	{
		HASH_DEL(view.live, block);
		free(block);
	}
	free(view.tracks);
}
