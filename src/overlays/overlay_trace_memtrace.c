/* SPDX-License-Identifier: MIT */
/* memtrace as an overlay: allocations, promotions and collections. */
#include <stdarg.h>

#include "base/tables/hash.h"
#include "src/overlays/overlay_importer.h"

#define NAME_ROOM 64
#define NS_PER_US 1000
#define CATEGORY  "memtrace"

/* Bytes of a stack's text: a record has 32760 bytes, and its other arguments are short. */
#define STACK_MAX    24000
#define FUNCTION_MAX 1000 /* bytes of the function's name */

/* Bytes of each text of the description: a record has four of them. */
#define INFO_TEXT_MAX 4000

/* ns over which the allocation rate is computed. */
#define RATE_WINDOW UINT64_C(10000000)

/* Bits of a block's number in the id of its arrows; the upper bits identify the file. */
#define OBJECT_BITS 40

struct memtrace_trace {
	struct overlay_sink *out; /* borrowed, as the next two */
	const struct overlay_clock *clock;
	struct memtrace *memtrace;
	int32_t pid;
	bool lives;        /* an async slice for each block's life */
	uint64_t first_id; /* first id of arrows */
	struct domain_track {
		uint16_t domain;
		struct event_track track;
		uint64_t now; /* ns, trace */
	} * tracks;           /* owned */
	size_t track_count, track_room;
	struct event_track counters;
	uint64_t now; /* ns, trace: of counters */
	/* A sampled block that was not collected yet. */
	struct live_block {
		uint64_t object;
		double bytes;            /* estimated, of all blocks that the sample represents */
		const struct name *name; /* the function that allocated it */
		UT_hash_handle hh;
	} * live; /* hash */
	double live_bytes, window_bytes;
	uint64_t window; /* begin of the rate's window */
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
	track->track = overlay_sink_track(trace->out, trace->pid, name);
	return track;
}

/* ---- Counters ------------------------------------------------------------ */

static void emit_counter(struct memtrace_trace *trace, const char *name, const char *unit,
			 double value, uint64_t time)
{
	struct event_record record;

	event_record_init(&record, trace->out->sink, trace->counters, CATEGORY, name, time);
	event_record_add_double(&record, unit, value);
	event_record_emit(&record, TRACK_COUNTER);
}

static void emit_rate(struct memtrace_trace *trace, double bytes)
{
	emit_counter(trace, "estimated allocation rate", "bytes_per_second", bytes, trace->window);
}

/* Emit the rate of a finished window, and rate 0 for the empty windows after it. */
static void finish_window(struct memtrace_trace *trace)
{
	const double per_second = 1e9 / (double)RATE_WINDOW;

	if (!trace->window)
		trace->window = trace->now;
	if (trace->now - trace->window < RATE_WINDOW)
		return;
	emit_rate(trace, trace->window_bytes * per_second);
	trace->window_bytes = 0;
	trace->window += RATE_WINDOW;
	if (trace->now - trace->window >= RATE_WINDOW) {
		emit_rate(trace, 0);
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

/* Returns the function of a location, or `other` of NULL, cut to its room. */
static struct text_view function_of(const struct memtrace_location *location, const char *other)
{
	const char *name = location ? location->function : other;

	return (struct text_view){ name, strnlen(name, FUNCTION_MAX) };
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

/* Begin an allocation's slice; most stacks differ. */
static void write_alloc(struct memtrace_trace *trace, const struct domain_track *track,
			const struct memtrace_event *event)
{
	static const char *const sources[] = { "minor", "major", "external" };
	const struct memtrace_location *top = find_top(trace, event);
	char stack[STACK_MAX + 1], at[STACK_MAX / 8];
	struct event_record record;
	size_t used = 0, count;

	event_record_init(&record, trace->out->sink, track->track, CATEGORY, NULL, track->now);
	record.event.name = function_of(top, "alloc");
	record.event.once = true;
	event_record_add_number(&record, "object", (int64_t)event->object);
	event_record_add_number(&record, "words", (int64_t)event->words);
	event_record_add_number(&record, "samples", (int64_t)event->samples);
	event_record_add_number(&record, "estimated_bytes", (int64_t)estimated_bytes(trace, event));
	event_record_add_number(&record, "common_prefix", (int64_t)event->common);
	event_record_add_text(&record, "source", sources[event->source]);
	if (top) {
		snprintf(at, sizeof(at), "%s:%u:%u-%u", top->file, top->line, top->begin, top->end);
		event_record_add_text(&record, "allocated_at", at);
	}
	/*
	 * Print the whole stack, innermost frame first, cut to the room. Frames are "function
	 * (file:line:begin-end)", or the code of an unknown location.
	 */
	for (size_t i = event->backtrace_length; i-- > 0 && used < STACK_MAX;) {
		const struct memtrace_location *locations = memtrace_locations_borrow(
			&trace->memtrace->locations, event->backtrace[i], &count);

		if (used)
			used = append(stack, used, " <- ");
		if (!count)
			used = append(stack, used, "$%" PRId64,
				      memtrace_code_number(event->backtrace[i]));
		for (size_t inlined = count; inlined-- > 0;)
			used = append(stack, used, "%s (%s:%u:%u-%u)%s",
				      locations[inlined].function, locations[inlined].file,
				      locations[inlined].line, locations[inlined].begin,
				      locations[inlined].end, inlined ? " <- " : "");
	}
	if (used)
		event_record_add_text(&record, "stack", stack);
	event_record_emit(&record, TRACK_BEGIN);
}

/* ---- Events -------------------------------------------------------------- */

/* Returns the id of a block's arrows and life. */
static uint64_t event_id(const struct memtrace_trace *trace, const struct memtrace_event *event)
{
	return trace->first_id + (event->object & ((UINT64_C(1) << OBJECT_BITS) - 1));
}

/*
 * Begin or end the slice of a block's life, by the name of the function that allocated it: Perfetto
 * shows async slices by name, not below a process.
 */
static void write_life(struct memtrace_trace *trace, const struct domain_track *track,
		       const struct memtrace_event *event, struct live_block *block)
{
	struct overlay_sink *out = trace->out;
	bool begins = event->kind == MEMTRACE_ALLOC;
	struct event_record life;
	struct text_view name;

	if (begins) {
		name = function_of(find_top(trace, event), "block");
		block->name = name_intern(&out->names, name.at, name.length);
	}
	event_record_init(&life, out->sink, track->track, CATEGORY, block->name->text, track->now);
	life.event.id = event_id(trace, event);
	event_record_emit(&life, begins ? TRACK_ASYNC_BEGIN : TRACK_ASYNC_END);
}

static void add_event(struct memtrace_trace *trace, const struct memtrace_event *event)
{
	struct domain_track *track = track_of(trace, event->domain);
	struct live_block *block;
	bool first = !track->now;
	uint64_t wall = (trace->memtrace->info.start_time + event->time) * NS_PER_US;
	uint64_t time = overlay_clock_time(trace->clock, wall);
	static const enum track_event_kind flows[] = { [MEMTRACE_ALLOC] = TRACK_FLOW_BEGIN,
						       [MEMTRACE_PROMOTE] = TRACK_FLOW_STEP,
						       [MEMTRACE_COLLECT] = TRACK_FLOW_END };
	struct event_sink *sink;
	const char *name;
	struct event_record record;

	track->now = MAX(track->now, time);
	trace->now = MAX(trace->now, time);
	if (first)
		overlay_sink_show_clock(trace->out, track->track, track->now, trace->clock);
	finish_window(trace);
	/* Write an event as a slice without length: arrows begin and end in slices. */
	sink = trace->out->sink;
	name = event->kind == MEMTRACE_PROMOTE ? "promote" : "collect";
	if (event->kind == MEMTRACE_ALLOC) {
		write_alloc(trace, track, event);
	} else {
		event_record_init(&record, sink, track->track, CATEGORY, name, track->now);
		event_record_add_number(&record, "object", (int64_t)event->object);
		event_record_emit(&record, TRACK_BEGIN);
	}
	event_record_init(&record, sink, track->track, CATEGORY, "block", track->now);
	record.event.id = event_id(trace, event);
	event_record_emit(&record, flows[event->kind]);
	event_record_init(&record, sink, track->track, NULL, NULL, track->now);
	event_record_emit(&record, TRACK_END);
	trace->out->slices++;
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
	emit_counter(trace, "sampled live memory", "bytes", trace->live_bytes, trace->now);
}

static void write_memtrace(struct overlay_sink *out, struct overlay_input *input,
			   const struct overlay_clock *clock)
{
	struct memtrace_trace trace = { .out = out,
					.clock = clock,
					.memtrace = &input->memtrace,
					.pid = input->pid,
					.lives = input->lives,
					.first_id = out->next_id };
	struct live_block *block;
	struct memtrace_event event;
	const struct memtrace_info *info;
	struct domain_track *track;
	struct event_record record;

	out->next_id += UINT64_C(1) << OBJECT_BITS;
	/* Counters belong to the process; their thread shows nothing. */
	trace.counters = (struct event_track){ (uint32_t)MAX(0, input->pid), ++out->sink->last_id };
	/* Show memtrace's description where its first domain's track begins. */
	info = &trace.memtrace->info;
	track = track_of(&trace, info->initial_domain);
	event_record_init(&record, trace.out->sink, track->track, CATEGORY, "memtrace",
			  overlay_clock_time(trace.clock, info->start_time * NS_PER_US));
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
	event_record_emit(&record, TRACK_INSTANT);
	while (memtrace_next(&input->memtrace, &event) && !overlay_sink_full(out))
		add_event(&trace, &event);
	HASH_FREE_ALL(trace.live, block);
	free(trace.tracks);
}

/* ---- The file ------------------------------------------------------------ */

static bool read_word(struct overlay_input *input, const char *word)
{
	bool lives = strcmp(word, "lives") == 0;

	input->lives |= lives;
	return lives;
}

/* The time of the last event takes a separate reader. */
static int open_memtrace(struct overlay_input *input, struct diag *diag, struct error *err)
{
	struct memtrace_event event;
	struct memtrace trace;

	if (memtrace_open(&input->memtrace, input->bytes, input->size, diag, err) < 0)
		return -1;
	if (input->pid < 0 && input->memtrace.info.pid <= INT32_MAX)
		input->pid = (int32_t)input->memtrace.info.pid;
	input->first_time = input->last_time = input->memtrace.info.start_time * NS_PER_US;
	memtrace_open(&trace, input->bytes, input->size, NULL, NULL);
	while (memtrace_next(&trace, &event))
		input->last_time =
			MAX(input->last_time, input->first_time + event.time * NS_PER_US);
	memtrace_close(&trace);
	return 0;
}

/* ---- Text ---------------------------------------------------------------- */

/* In the file's order, `TIME_US OBJECT KIND ...`, times since the trace's start. */
static void print_memtrace(struct overlay_input *input, FILE *out)
{
	struct memtrace *trace = &input->memtrace;
	struct memtrace_event event;
	const char *const texts[][2] = { { "executable_name", trace->info.executable },
					 { "host_name", trace->info.host },
					 { "ocaml_runtime_params", trace->info.parameters },
					 { "context", trace->info.context } };

	/* memtrace's description, as comments: memtrace's own dump_trace prints events only. */
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		fprintf(out, "# %s ", texts[i][0]);
		overlay_print_quoted(texts[i][1], out);
		fputc('\n', out);
	}
	fprintf(out, "# pid %" PRIu64 "\n# initial_domain %u\n", trace->info.pid,
		trace->info.initial_domain);
	fprintf(out, "# start_time %" PRIu64 "\n", trace->info.start_time);
	fprintf(out, "# sample_rate %.17g\n# word_size %u\n", trace->info.sample_rate,
		trace->info.word_size);
	while (memtrace_next(trace, &event)) {
		fprintf(out, "%010" PRIu64 " %010" PRId64 " ", event.time, (int64_t)event.object);
		if (event.kind == MEMTRACE_ALLOC) {
			static const char *const sources[] = { "alloc", "alloc_major",
							       "alloc_ext" };

			fprintf(out, "%s %" PRId64 " len=%" PRId64 " dom=%u % 4" PRId64 ":",
				sources[event.source], (int64_t)event.samples, (int64_t)event.words,
				event.domain, (int64_t)event.common);
			if (event.unknown_backtrace)
				fprintf(out, " ?");
			for (size_t i = 0; i < event.backtrace_length; i++) {
				uint64_t code = event.backtrace[i];
				size_t count;
				const struct memtrace_location *locations =
					memtrace_locations_borrow(&trace->locations, code, &count);

				if (!count)
					fprintf(out, " $%" PRId64, memtrace_code_number(code));
				for (size_t j = 0; j < count; j++)
					fprintf(out, " %s@%s:%u:%u-%u", locations[j].function,
						locations[j].file, locations[j].line,
						locations[j].begin, locations[j].end);
			}
		} else {
			fputs(event.kind == MEMTRACE_PROMOTE ? "promote" : "collect", out);
		}
		fputc('\n', out);
	}
}

const struct overlay_importer overlay_memtrace = {
	.wall_clock = true,
	.read_word = read_word,
	.open = open_memtrace,
	.print = print_memtrace,
	.write = write_memtrace,
};
