/* SPDX-License-Identifier: MIT */
/* --format=events: print overlays as text. */
#include "src/overlays/overlay_print.h"

#include <inttypes.h>
#include <string.h>

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

static void print_name(const char *name, const char *what, unsigned id, FILE *out)
{
	if (name)
		fprintf(out, " %s", name);
	else
		fprintf(out, " %s_%u", what, id);
}

static void print_buckets(const struct runtime_event *event, FILE *out)
{
	for (size_t i = 0; i + 8 <= event->payload_size; i += 8) {
		uint64_t count;

		memcpy(&count, event->payload + i, sizeof(count));
		fprintf(out, "%s%" PRIu64, i ? "," : " - ", count);
	}
}

static void print_bytes(const struct runtime_event *event, FILE *out)
{
	fprintf(out, " %zu:", event->payload_size);
	for (size_t i = 0; i < event->payload_size; i++)
		fprintf(out, "%02x", event->payload[i]);
}

static void print_runtime(const struct runtime_events *file, const struct runtime_event *event,
			  FILE *out)
{
	switch (event->kind) {
	case RUNTIME_LIFECYCLE:
		print_name(runtime_lifecycle_name(event->id), "lifecycle", event->id, out);
		if (event->value)
			fprintf(out, " %" PRId64, event->value);
		else
			fprintf(out, " none");
		break;
	case RUNTIME_BEGIN:
	case RUNTIME_END:
		print_name(runtime_events_phase_name(file, event->id), "phase", event->id, out);
		fprintf(out, " -");
		break;
	case RUNTIME_COUNTER:
		print_name(runtime_counter_name(event->id), "counter", event->id, out);
		fprintf(out, " %" PRId64, event->value);
		break;
	default:
		print_buckets(event, out);
		break;
	}
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
	else if (event->kind == RUNTIME_USER_CUSTOM)
		print_bytes(event, out);
	else
		fprintf(out, " -");
}

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
		if (!runtime_ring_start(&ring, file, i))
			continue;
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

static void print_place(const struct memtrace *trace, uint64_t code, FILE *out)
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
		print_place(trace, event->backtrace[i], out);
}

static void print_info_text(const char *name, const char *text, FILE *out)
{
	fprintf(out, "# %s ", name);
	print_quoted(text, out);
	fputc('\n', out);
}

/* memtrace's description, as comments: memtrace's own dump_trace prints events only. */
static void print_info(const struct memtrace_info *info, FILE *out)
{
	print_info_text("executable_name", info->executable, out);
	print_info_text("host_name", info->host, out);
	print_info_text("ocaml_runtime_params", info->parameters, out);
	print_info_text("context", info->context, out);
	fprintf(out, "# pid %" PRIu64 "\n# initial_domain %u\n", info->pid, info->initial_domain);
	fprintf(out, "# start_time %" PRIu64 "\n", info->start_time);
	fprintf(out, "# sample_rate %.17g\n# word_size %u\n", info->sample_rate, info->word_size);
}

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

void overlay_print(struct overlay_input *input, FILE *out)
{
	if (input->kind == OVERLAY_RUNTIME_EVENTS)
		print_events(&input->events, out);
	else
		print_memtrace(&input->memtrace, out);
}
