/* SPDX-License-Identifier: MIT */
/* The tracks of memtrace (overlays.h): allocations, promotions and collections. */
#include <stdarg.h>

#include "base/tables/hash.h"
#include "src/formats/ftf/event_record.h"
#include "src/overlays/overlays.h"

#define NAME_ROOM 64
#define NS_PER_US 1000

/* Bytes of a stack's text: a record has 32760 bytes, and its other arguments are short. */
#define STACK_MAX    24000
#define FUNCTION_MAX 1000 /* bytes of the function's name */

/* Bytes of each text of the description: a record has four of them. */
#define INFO_TEXT_MAX 4000

/* ns over which the allocation rate is computed. */
#define RATE_WINDOW UINT64_C(10000000)

/* Bits of a block's number in the id of its arrows; the upper bits identify the file. */
#define OBJECT_BITS 40

#define ALLOC_ARGS 8

struct memtrace_trace {
	struct overlays *overlays; /* borrowed, as the next two */
	const struct overlay_clock *clock;
	struct memtrace *memtrace;
	int32_t pid;
	bool lives;        /* an async slice for each block's life */
	uint64_t first_id; /* first id of arrows */
	struct domain_track {
		uint16_t domain;
		uint32_t tid;
		struct ftf_thread thread;
		uint64_t now; /* ns, trace */
	} * tracks;           /* owned */
	size_t track_count, track_room;
	struct ftf_thread counters;
	uint64_t now; /* ns, trace: of counters */
	/* A sampled block that was not collected yet. */
	struct live_block {
		uint64_t object;
		double bytes;         /* estimated, of all blocks that the sample represents */
		struct ftf_name name; /* the function that allocated it */
		UT_hash_handle hh;
	} * live; /* hash */
	double live_bytes, window_bytes;
	uint64_t window; /* begin of the rate's window */
	struct ftf_name category, live_name, rate_name, bytes_name, rate_unit;
	struct ftf_name promote, collect, object, block;
};

/* ---- Tracks and times ---------------------------------------------------- */

static struct domain_track *track_of(struct memtrace_trace *trace, uint16_t domain)
{
	struct domain_track *track;
	char name[NAME_ROOM];

	for (size_t i = trace->track_count; i-- > 0;)
		if (trace->tracks[i].domain == domain)
			return &trace->tracks[i];
	track = ARRAY_ADD(trace->tracks, trace->track_count, trace->track_room);
	*track = (struct domain_track){ .domain = domain };
	snprintf(name, sizeof(name), "memtrace domain %u", domain);
	track->thread = overlays_track(trace->overlays, trace->pid, name, &track->tid);
	return track;
}

static void advance(struct memtrace_trace *trace, struct domain_track *track,
		    const struct memtrace_event *event)
{
	uint64_t wall = (trace->memtrace->info.start_time + event->time) * NS_PER_US;
	uint64_t time = overlay_clock_time(trace->clock, wall);

	track->now = MAX(track->now, time);
	trace->now = MAX(trace->now, time);
}

/* ---- Counters ------------------------------------------------------------ */

static void emit_counter(struct memtrace_trace *trace, struct ftf_name name, struct ftf_name unit,
			 double value, uint64_t time)
{
	struct ftf_arg arg = ftf_arg_double(unit, value);
	struct ftf_event event = { .thread = trace->counters,
				   .category = trace->category,
				   .name = name,
				   .time = time,
				   .args = &arg,
				   .arg_count = 1 };

	ftf_counter(trace->overlays->writer, &event, 0);
}

/* Emit the rate of a finished window, and rate 0 for the empty windows after it. */
static void finish_window(struct memtrace_trace *trace)
{
	const double per_second = 1e9 / (double)RATE_WINDOW;

	if (!trace->window)
		trace->window = trace->now;
	if (trace->now - trace->window < RATE_WINDOW)
		return;
	emit_counter(trace, trace->rate_name, trace->rate_unit, trace->window_bytes * per_second,
		     trace->window);
	trace->window_bytes = 0;
	trace->window += RATE_WINDOW;
	if (trace->now - trace->window >= RATE_WINDOW) {
		emit_counter(trace, trace->rate_name, trace->rate_unit, 0, trace->window);
		trace->window += (trace->now - trace->window) / RATE_WINDOW * RATE_WINDOW;
	}
}

/* Returns the bytes that a block's samples represent. */
static double estimated_bytes(const struct memtrace_trace *trace,
			      const struct memtrace_event *event)
{
	const struct memtrace_info *info = &trace->memtrace->info;
	const double most = 1e18; /* for damaged files: more does not fit int64_t */
	double bytes;

	if (!(info->sample_rate > 0))
		return 0;
	bytes = (double)event->samples / info->sample_rate * info->word_size / 8;
	/* Most rates are not binary fractions: a sample of 1e-5 would be 799,999 bytes. */
	return bytes < most ? (double)(int64_t)(bytes + 0.5) : most;
}

static struct live_block *add_live(struct memtrace_trace *trace, const struct memtrace_event *event)
{
	struct live_block *block;

	HASH_FIND_OR_ADD(trace->live, object, &event->object, block);
	block->bytes = estimated_bytes(trace, event);
	trace->live_bytes += block->bytes;
	trace->window_bytes += block->bytes;
	return block;
}

/* ---- Allocations --------------------------------------------------------- */

/* Append to the text of a stack, cut to the room.  Returns the new length. */
__attribute__((format(printf, 3, 4))) static size_t append(char text[STACK_MAX + 1], size_t used,
							   const char *format, ...)
{
	va_list args;

	va_start(args, format);
	used += (size_t)vsnprintf(text + used, STACK_MAX + 1 - used, format, args);
	va_end(args);
	return MIN(used, STACK_MAX);
}

/*
 * Print the whole stack, innermost frame first, cut to the room.  Frames are "function
 * (file:line:begin-end)", or the code of an unknown location.  Returns the length.
 */
static size_t print_stack(const struct memtrace_trace *trace, const struct memtrace_event *event,
			  char text[STACK_MAX + 1])
{
	size_t used = 0, count;

	for (size_t i = event->backtrace_length; i-- > 0 && used < STACK_MAX;) {
		const struct memtrace_location *locations = memtrace_locations_borrow(
			&trace->memtrace->locations, event->backtrace[i], &count);

		if (used)
			used = append(text, used, " <- ");
		if (!count)
			used = append(text, used, "$%" PRId64,
				      memtrace_code_number(event->backtrace[i]));
		for (size_t inlined = count; inlined-- > 0;)
			used = append(text, used, "%s (%s:%u:%u-%u)%s", locations[inlined].function,
				      locations[inlined].file, locations[inlined].line,
				      locations[inlined].begin, locations[inlined].end,
				      inlined ? " <- " : "");
	}
	return used;
}

/* Returns the innermost location; NULL: unknown. */
static const struct memtrace_location *find_top(const struct memtrace_trace *trace,
						const struct memtrace_event *event)
{
	const struct memtrace_location *locations;
	size_t count;

	if (!event->backtrace_length)
		return NULL;
	locations = memtrace_locations_borrow(
		&trace->memtrace->locations, event->backtrace[event->backtrace_length - 1], &count);
	return count ? &locations[count - 1] : NULL;
}

/*
 * Begin an allocation's slice with inline strings: string references to all different stacks would
 * take more memory than the input.
 */
static void write_begin(struct memtrace_trace *trace, const struct domain_track *track,
			const char *name, struct ftf_low_arg *args, size_t count)
{
	static const char category[] = "memtrace";
	struct ftf_low *low = ftf_low_borrow(trace->overlays->writer);
	size_t length = strnlen(name, FUNCTION_MAX);
	struct ftf_low_event event = { .type = FTF_DURATION_BEGIN,
				       .category = FTF_INLINE(sizeof(category) - 1),
				       .name = FTF_INLINE(length) };

	for (size_t i = 0; i < count; i++) {
		args[i].name = FTF_INLINE(strlen(args[i].name_text));
		if (args[i].type == FTF_STRING)
			args[i].string = FTF_INLINE(strlen(args[i].string_text));
		event.shape = ftf_shape_add(event.shape, args[i].type);
		event.text_words +=
			ftf_reference_words(args[i].name) + ftf_reference_words(args[i].string);
	}
	ftf_low_start(low, ftf_low_event_header(&event), event.shape);
	ftf_low_word(low, track->now);
	ftf_low_word(low, (uint32_t)MAX(0, trace->pid));
	ftf_low_word(low, track->tid);
	ftf_low_text(low, category, sizeof(category) - 1);
	ftf_low_text(low, name, length);
	for (size_t i = 0; i < count; i++)
		ftf_low_arg(low, &args[i]);
	ftf_low_finish(low);
}

static void write_alloc(struct memtrace_trace *trace, const struct domain_track *track,
			const struct memtrace_event *event)
{
	static const char *const sources[] = { "minor", "major", "external" };
	const struct memtrace_location *top = find_top(trace, event);
	char stack[STACK_MAX + 1], at[STACK_MAX / 8];
	struct ftf_low_arg args[ALLOC_ARGS] = {
		{ FTF_INT64, .name_text = "object", .word = event->object },
		{ FTF_INT64, .name_text = "words", .word = event->words },
		{ FTF_INT64, .name_text = "samples", .word = event->samples },
		{ FTF_INT64, .name_text = "estimated_bytes",
		  .word = (uint64_t)estimated_bytes(trace, event) },
		{ FTF_INT64, .name_text = "common_prefix", .word = event->common },
		{ FTF_STRING, .name_text = "source", .string_text = sources[event->source] },
	};
	size_t count = ALLOC_ARGS - 2;

	if (top) {
		snprintf(at, sizeof(at), "%s:%u:%u-%u", top->file, top->line, top->begin, top->end);
		args[count++] = (struct ftf_low_arg){ FTF_STRING, .name_text = "allocated_at",
						      .string_text = at };
	}
	if (print_stack(trace, event, stack))
		args[count++] = (struct ftf_low_arg){ FTF_STRING, .name_text = "stack",
						      .string_text = stack };
	write_begin(trace, track, top ? top->function : "alloc", args, count);
}

/* ---- Events -------------------------------------------------------------- */

/* Returns the id of a block's arrows and life. */
static uint64_t event_id(const struct memtrace_trace *trace, const struct memtrace_event *event)
{
	return trace->first_id + (event->object & ((UINT64_C(1) << OBJECT_BITS) - 1));
}

/* Write an event as a slice without length: arrows begin and end in slices. */
static void write_event(struct memtrace_trace *trace, const struct domain_track *track,
			const struct memtrace_event *event)
{
	static const enum ftf_event_type flows[] = { [MEMTRACE_ALLOC] = FTF_FLOW_BEGIN,
						     [MEMTRACE_PROMOTE] = FTF_FLOW_STEP,
						     [MEMTRACE_COLLECT] = FTF_FLOW_END };
	struct ftf_writer *writer = trace->overlays->writer;
	struct ftf_arg object = ftf_arg_int64(trace->object, (int64_t)event->object);
	const struct ftf_event end = { .thread = track->thread, .time = track->now };
	struct ftf_event slice = end, flow;

	slice.category = trace->category;
	flow = slice;
	flow.name = trace->block;
	slice.name = event->kind == MEMTRACE_PROMOTE ? trace->promote : trace->collect;
	slice.args = &object;
	slice.arg_count = 1;
	if (event->kind == MEMTRACE_ALLOC)
		write_alloc(trace, track, event);
	else
		ftf_begin(writer, &slice);
	ftf_any_event(writer, flows[event->kind], &flow, event_id(trace, event));
	ftf_end(writer, &end);
	trace->overlays->slices++;
}

/*
 * Begin or end the slice of a block's life, by the name of the function that allocated it: Perfetto
 * shows async slices by name, not below a process.
 */
static void write_life(struct memtrace_trace *trace, const struct domain_track *track,
		       const struct memtrace_event *event, struct live_block *block)
{
	struct ftf_writer *writer = trace->overlays->writer;
	bool begins = event->kind == MEMTRACE_ALLOC;
	const struct memtrace_location *top = begins ? find_top(trace, event) : NULL;
	struct ftf_event life = { .thread = track->thread,
				  .category = trace->category,
				  .time = track->now };

	if (begins)
		block->name =
			top ? ftf_name(writer, top->function, strnlen(top->function, FUNCTION_MAX))
			    : trace->block;
	life.name = block->name;
	ftf_any_event(writer, begins ? FTF_ASYNC_BEGIN : FTF_ASYNC_END, &life,
		      event_id(trace, event));
}

static void add_event(struct memtrace_trace *trace, const struct memtrace_event *event)
{
	struct domain_track *track = track_of(trace, event->domain);
	struct live_block *block;
	bool first = !track->now;

	advance(trace, track, event);
	if (first)
		overlays_show_clock(trace->overlays, track->thread, track->now, trace->clock);
	finish_window(trace);
	write_event(trace, track, event);
	if (event->kind == MEMTRACE_PROMOTE)
		return;
	HASH_FIND(hh, trace->live, &event->object, sizeof(event->object), block);
	if (!block && event->kind == MEMTRACE_ALLOC)
		block = add_live(trace, event);
	if (block && trace->lives)
		write_life(trace, track, event, block);
	if (block && event->kind == MEMTRACE_COLLECT) {
		trace->live_bytes -= block->bytes;
		HASH_DEL(trace->live, block);
		free(block);
	}
	emit_counter(trace, trace->live_name, trace->bytes_name, trace->live_bytes, trace->now);
}

static void intern_names(struct memtrace_trace *trace)
{
	struct ftf_writer *writer = trace->overlays->writer;

	trace->category = ftf_text(writer, "memtrace");
	trace->live_name = ftf_text(writer, "sampled live memory");
	trace->rate_name = ftf_text(writer, "estimated allocation rate");
	trace->bytes_name = ftf_text(writer, "bytes");
	trace->rate_unit = ftf_text(writer, "bytes_per_second");
	trace->promote = ftf_text(writer, "promote");
	trace->collect = ftf_text(writer, "collect");
	trace->object = ftf_text(writer, "object");
	trace->block = ftf_text(writer, "block");
	/* Counters belong to the process; their thread shows nothing. */
	trace->counters = ftf_thread(writer, (uint32_t)MAX(0, trace->pid), ftf_id_new(writer));
}

/* Show memtrace's description where its first domain's track begins. */
static void write_info(struct memtrace_trace *trace)
{
	const struct memtrace_info *info = &trace->memtrace->info;
	struct domain_track *track = track_of(trace, info->initial_domain);
	struct ftf_writer *writer = trace->overlays->writer;
	struct event_record record;

	event_record_init(&record, writer, "memtrace", "memtrace",
			  overlay_clock_time(trace->clock, info->start_time * NS_PER_US));
	event_record_add_part(&record, "executable_name", info->executable,
			      strnlen(info->executable, INFO_TEXT_MAX));
	event_record_add_part(&record, "host_name", info->host, strnlen(info->host, INFO_TEXT_MAX));
	event_record_add_part(&record, "ocaml_runtime_params", info->parameters,
			      strnlen(info->parameters, INFO_TEXT_MAX));
	event_record_add_part(&record, "context", info->context,
			      strnlen(info->context, INFO_TEXT_MAX));
	event_record_add_number(&record, "pid", (int64_t)info->pid);
	event_record_add_number(&record, "initial_domain", info->initial_domain);
	event_record_add_double(&record, "sample_rate", info->sample_rate);
	event_record_add_number(&record, "word_size", info->word_size);
	record.event.thread = track->thread;
	ftf_instant(writer, &record.event);
}

void overlay_trace_memtrace(struct overlays *overlays, struct overlay_input *input,
			    const struct overlay_clock *clock)
{
	struct memtrace_trace trace = { .overlays = overlays,
					.clock = clock,
					.memtrace = &input->memtrace,
					.pid = input->pid,
					.lives = input->lives,
					.first_id = overlays->next_id };
	struct live_block *block;
	struct memtrace_event event;

	overlays->next_id += UINT64_C(1) << OBJECT_BITS;
	intern_names(&trace);
	write_info(&trace);
	while (memtrace_next(&input->memtrace, &event) && !overlays_are_full(overlays))
		add_event(&trace, &event);
	HASH_FREE_ALL(trace.live, block);
	free(trace.tracks);
}
