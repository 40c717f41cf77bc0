/* SPDX-License-Identifier: MIT */
/* Open all overlays of a run, and print or write them. */
#include "src/overlays/overlays.h"

/*
 * --format=events: overlays as text, in the lines of the formats' own readers (OCaml's
 * Runtime_events, memtrace's dump_trace).
 */

/* ---- Runtime events ------------------------------------------------------ */

/* Print a text as OCaml's %S does. */
static void print_quoted(const char *text, FILE *out)
{
	fputc('"', out);
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		static const char letters[] = "\n\t\r\b\"\\", names[] = "ntrb\"\\";
		const char *letter = strchr(letters, *at);

		if (letter)
			fprintf(out, "\\%c", names[letter - letters]);
		else if (*at < ' ' || *at > '~')
			fprintf(out, "\\%03d", *at);
		else
			fputc(*at, out);
	}
	fputc('"', out);
}

static void print_runtime(const struct runtime_events *file, const struct runtime_event *event,
			  FILE *out)
{
	static const char *const kinds[] = { "lifecycle", "phase", "phase", "counter" };
	bool has_name = event->kind <= RUNTIME_COUNTER;
	const char *name = has_name ? runtime_event_name(file, event->kind, event->id) : NULL;

	for (size_t i = 0; i + 8 <= event->payload_size; i += 8)
		fprintf(out, "%s%" PRIu64, i ? "," : " - ",
			*(const uint64_t *)(const void *)(event->payload + i));
	if (!has_name)
		return;
	if (name)
		fprintf(out, " %s", name);
	else
		fprintf(out, " %s_%u", kinds[event->kind], event->id);
	if (event->kind == RUNTIME_COUNTER || (event->kind == RUNTIME_LIFECYCLE && event->value))
		fprintf(out, " %" PRId64, event->value);
	else
		fputs(event->kind == RUNTIME_LIFECYCLE ? " none" : " -", out);
}

static void print_user(const struct runtime_events *file, const struct runtime_event *event,
		       FILE *out)
{
	char name[128];

	runtime_events_user_name(file, event->id, name);
	fputc(' ', out);
	print_quoted(name, out);
	if (event->kind == RUNTIME_USER_INT)
		fprintf(out, " %" PRId64, event->value);
	else if (event->kind != RUNTIME_USER_CUSTOM)
		fprintf(out, " -");
	else
		fprintf(out, " %zu:", event->payload_size);
	for (size_t i = 0; i < event->payload_size; i++)
		fprintf(out, "%02x", event->payload[i]);
}

/* Ring by ring, `RING TIME_NS KIND NAME VALUE`. */
static void print_events(const struct runtime_events *file, FILE *out)
{
	static const char *const kinds[] = {
		[RUNTIME_LIFECYCLE] = "lifecycle",
		[RUNTIME_BEGIN] = "begin",
		[RUNTIME_END] = "end",
		[RUNTIME_COUNTER] = "counter",
		[RUNTIME_ALLOC] = "alloc",
		[RUNTIME_USER_UNIT] = "user_unit",
		[RUNTIME_USER_INT] = "user_int",
		[RUNTIME_USER_SPAN_BEGIN] = "user_span_begin",
		[RUNTIME_USER_SPAN_END] = "user_span_end",
		[RUNTIME_USER_CUSTOM] = "user_custom",
	};
	struct runtime_ring ring;
	struct runtime_event event;

	for (uint32_t i = 0; i < file->rings; i++) {
		runtime_ring_start(&ring, file, i);
		while (runtime_ring_next(&ring, &event)) {
			if (event.kind == RUNTIME_LOST) {
				fprintf(out, "%u - lost - %" PRId64 "\n", i, event.value);
				continue;
			}
			fprintf(out, "%u %" PRIu64 " %s", i, event.time, kinds[event.kind]);
			if (event.kind >= RUNTIME_USER_UNIT)
				print_user(file, &event, out);
			else
				print_runtime(file, &event, out);
			fputc('\n', out);
		}
	}
}

/* ---- memtrace ------------------------------------------------------------ */

static void print_locations(const struct memtrace *trace, uint64_t code, FILE *out)
{
	size_t count;
	const struct memtrace_location *locations =
		memtrace_locations_borrow(&trace->locations, code, &count);

	if (!count)
		fprintf(out, " $%" PRId64, memtrace_code_number(code));
	for (size_t i = 0; i < count; i++)
		fprintf(out, " %s@%s:%u:%u-%u", locations[i].function, locations[i].file,
			locations[i].line, locations[i].begin, locations[i].end);
}

static void print_alloc(const struct memtrace *trace, const struct memtrace_event *event, FILE *out)
{
	static const char *const sources[] = { "alloc", "alloc_major", "alloc_ext" };

	fprintf(out, "%s %" PRId64 " len=%" PRId64 " dom=%u % 4" PRId64 ":", sources[event->source],
		(int64_t)event->samples, (int64_t)event->words, event->domain,
		(int64_t)event->common);
	if (event->unknown_backtrace)
		fprintf(out, " ?");
	for (size_t i = 0; i < event->backtrace_length; i++)
		print_locations(trace, event->backtrace[i], out);
}

/* memtrace's description, as comments: memtrace's own dump_trace prints events only. */
static void print_info(const struct memtrace_info *info, FILE *out)
{
	const char *const texts[][2] = { { "executable_name", info->executable },
					 { "host_name", info->host },
					 { "ocaml_runtime_params", info->parameters },
					 { "context", info->context } };

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		fprintf(out, "# %s ", texts[i][0]);
		print_quoted(texts[i][1], out);
		fputc('\n', out);
	}
	fprintf(out, "# pid %" PRIu64 "\n# initial_domain %u\n", info->pid, info->initial_domain);
	fprintf(out, "# start_time %" PRIu64 "\n", info->start_time);
	fprintf(out, "# sample_rate %.17g\n# word_size %u\n", info->sample_rate, info->word_size);
}

/* In the file's order, `TIME_US OBJECT KIND ...`, times since the trace's start. */
static void print_memtrace(struct memtrace *trace, FILE *out)
{
	struct memtrace_event event;

	print_info(&trace->info, out);
	while (memtrace_next(trace, &event)) {
		fprintf(out, "%010" PRIu64 " %010" PRId64 " ", event.time, (int64_t)event.object);
		if (event.kind == MEMTRACE_ALLOC)
			print_alloc(trace, &event, out);
		else
			fputs(event.kind == MEMTRACE_PROMOTE ? "promote" : "collect", out);
		fputc('\n', out);
	}
}

/* ---- Tracks -------------------------------------------------------------- */

bool overlays_are_full(struct overlays *overlays)
{
	overlays->output->cut |= output_full(overlays->output);
	return overlays->output->cut;
}

struct event_track overlays_track(struct overlays *overlays, int32_t pid, const char *name)
{
	return event_sink_new_track(overlays->sink, (uint32_t)MAX(0, pid), name);
}

void overlays_show_clock(struct overlays *overlays, struct event_track track, uint64_t time,
			 const struct overlay_clock *clock)
{
	struct event_record record;

	event_record_init(&record, overlays->sink, track, "clock", "clock of this overlay", time);
	event_record_add_text(&record, "method", overlay_clock_methods[clock->method]);
	event_record_add_number(&record, "offset_ns", clock->offset);
	event_record_add_number(&record, "uncertainty_ns", (int64_t)clock->uncertainty);
	if (clock->method == OVERLAY_CLOCK_OWN)
		record.event.arg_count = 1;
	event_record_emit(&record, TRACK_INSTANT);
}

/* ---- All overlays -------------------------------------------------------- */

/* Limit of lines in a file of clocks; a longer file is something else. */
#define SYNC_LINES 10000

/* Read the lines "tsc=N mono=N real=N" of a file.  Returns 0; -1 with err filled. */
static int read_syncs(struct overlays *overlays, const char *path, struct error *err)
{
	FILE *in = file_use_open_stream(path);
	struct overlay_sync sync;
	char line[200];
	size_t room = 0, lines = 0;

	if (!in)
		return error_set_system(err, errno, "%s: cannot open", path);
	while (lines++ < SYNC_LINES && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "tsc=%" SCNu64 " mono=%" SCNd64 " real=%" SCNd64, &sync.tsc,
			   &sync.mono, &sync.real) == 3)
			*ARRAY_ADD(overlays->syncs, overlays->sync_count, room) = sync;
	}
	fclose(in);
	if (lines > SYNC_LINES)
		return error_set(
			err, ERROR_LIMIT,
			"%s: more than %d lines; keep only those of `ptrace2ftf clock-sync`", path,
			SYNC_LINES);
	return overlays->sync_count ? 0
				    : error_set(err, ERROR_FORMAT,
						"%s: has no line of `ptrace2ftf clock-sync`", path);
}

int overlays_open(struct overlays *overlays, const struct options *options, struct diag *diag,
		  struct error *err)
{
	*overlays = (struct overlays){
		.options = options, .diag = diag, .count = options->overlay_count, .next_id = 1
	};
	name_table_init(&overlays->names);
	overlays->inputs = alloc_zeroed(options->overlay_count, sizeof(*overlays->inputs));
	for (size_t i = 0; i < options->overlay_count; i++)
		if (overlay_input_open(&overlays->inputs[i], &options->overlays[i], diag, err) < 0)
			return -1;
	return options->clock_sync ? read_syncs(overlays, options->clock_sync, err) : 0;
}

void overlays_close(struct overlays *overlays)
{
	for (size_t i = 0; i < overlays->count; i++)
		overlay_input_close(&overlays->inputs[i]);
	free(overlays->inputs);
	free(overlays->syncs);
	name_table_release(&overlays->names);
	*overlays = (struct overlays){ 0 };
}

void overlays_print(struct overlays *overlays, FILE *out)
{
	for (size_t i = 0; i < overlays->count; i++) {
		if (overlays->count > 1)
			fprintf(out, "%s# %s\n", i ? "\n" : "", overlays->inputs[i].path);
		if (overlays->inputs[i].kind == OVERLAY_RUNTIME_EVENTS)
			print_events(&overlays->inputs[i].events, out);
		else
			print_memtrace(&overlays->inputs[i].memtrace, out);
	}
}

/* Returns the name of a process's program, from memtrace; without that "ocaml". */
static const char *find_program(const struct overlays *overlays, int32_t pid)
{
	for (size_t i = 0; i < overlays->count; i++) {
		if (overlays->inputs[i].kind != OVERLAY_MEMTRACE || overlays->inputs[i].pid != pid)
			continue;
		return base_name(overlays->inputs[i].memtrace.info.executable);
	}
	return "ocaml";
}

void overlays_write(struct overlays *overlays, struct event_sink *sink, struct output *output,
		    const struct overlay_recording *recording)
{
	overlays->sink = sink;
	overlays->output = output;
	for (size_t i = 0; i < overlays->count; i++) {
		struct overlay_input *input = &overlays->inputs[i];
		struct overlay_clock clock = overlays_match_clock(overlays, i, recording);

		if (!recording && input->pid >= 0)
			event_sink_name_process(sink, (uint32_t)input->pid,
						find_program(overlays, input->pid));
		if (input->kind == OVERLAY_RUNTIME_EVENTS)
			overlay_trace_runtime(overlays, input, &clock);
		else
			overlay_trace_memtrace(overlays, input, &clock);
	}
}

int32_t overlays_highest_id(const struct overlays *overlays)
{
	int32_t highest = 0;

	for (size_t i = 0; i < overlays->count; i++) {
		const struct overlay_input *input = &overlays->inputs[i];

		highest = MAX(highest, input->pid);
		for (size_t k = 0; k < input->tid_count; k++)
			highest = MAX(highest, input->tids[k].tid);
	}
	return highest;
}
