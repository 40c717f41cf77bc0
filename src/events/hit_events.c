/* SPDX-License-Identifier: MIT */
/* Read hits of recordings and of text. */
#include <ctype.h>

#include "src/events/event_output.h"
#include "src/perf_script/perf_script_line.h"

/* ---- Of a recording ------------------------------------------------------ */

/* magic_trace_stop_indicator(start, value): `start` is of the time stamp counter, or 0. */
static void find_passed(const struct event_output_input *input, const struct hit *hit,
			struct shown_hit *shown)
{
	static const char stop[] = "magic_trace_stop_indicator";
	struct tsc_clock clock = pt_info_tsc_clock(input->info);
	uint64_t start, value; /* OCaml passes n as 2 * n + 1 */

	if (!shown->function || strcmp(shown->function->linkage->text, stop) != 0 ||
	    !hit_register(hit, HIT_RDI, &start) || !hit_register(hit, HIT_RSI, &value))
		return;
	shown->has_passed = true;
	shown->passed_value = (int64_t)value >> 1;
	if ((int64_t)start >> 1 > 0)
		shown->passed_time = tsc_clock_ns(&clock, start >> 1);
}

void hit_events_show(const struct event_output_input *input, struct hit_output *output)
{
	const struct hits *hits = &input->timeline->hits;

	for (size_t i = 0; i < hits->count; i++) {
		const struct thread *thread = NULL;
		struct hit hit;

		if (!hits_read(hits, output->like ? hits->count - 1 - i : i, &hit))
			continue;
		if (hit.sample.tid >= 0)
			thread = timeline_borrow_thread(input->timeline, hit.sample.tid,
							hit.sample.time);
		if (event_filter_has(input->filter, thread, hit.sample.time) &&
		    event_filter_has_cpu(input->filter, hit.sample.cpu, hit.sample.time)) {
			const struct perf_sample *sample = &hit.sample;
			struct shown_hit shown = {
				.time = sample->time,
				.pid = sample->pid,
				.tid = sample->tid,
				.ip = hit.ip,
				.function_ip = hit.function,
			};
			struct hit_args args;
			char room[32];

			shown.event = hits_event_name(hits, sample->attr, room);
			shown.location =
				event_location_find(input->resolver, thread, sample->time, hit.ip);
			shown.function = event_location_find(input->resolver, thread, sample->time,
							     hit.function)
						 .symbol;
			find_passed(input, &hit, &shown);
			hits_list_args(hits, &hit, &args);
			shown.args = args.list;
			shown.arg_count = args.count;
			hit_output_add(output, &shown);
		}
	}
}

/* ---- Of text ------------------------------------------------------------- */

static size_t name_length(const char *at)
{
	size_t length = 0;

	while (isalnum((unsigned char)at[length]) || at[length] == '_')
		length++;
	return length;
}

/* Returns the end of a value: the blank before the next "NAME=" that is not in quotes. */
static char *value_end(char *at)
{
	bool quoted = false;

	for (; *at; at++) {
		quoted ^= *at == '"';
		if (*at == ' ' && !quoted && name_length(at + 1) &&
		    at[1 + name_length(at + 1)] == '=')
			break;
	}
	return at;
}

/* Numbers have perf's form; all else is text. */
static void read_value(struct hit_arg *arg, char *text, size_t length)
{
	bool hex = starts_with(text, "0x");
	char *end;

	arg->type = hex ? HIT_HEX : *text == '-' ? HIT_SIGNED : HIT_UNSIGNED;
	arg->number = *text == '-' ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 0);
	if (isdigit((unsigned char)text[*text == '-']) && end == text + length)
		return;
	arg->type = *text == '{' ? HIT_ARRAY : HIT_TEXT;
	if (length >= 2 && *text == '"' && text[length - 1] == '"') {
		text++;
		length -= 2;
	}
	arg->text = text;
	arg->length = length;
}

/* Names get a NUL in the text.  "argc=1 name=\"a b\"". */
static void read_values(struct hit_args *values, char *at)
{
	while (*at && values->count < HIT_ARGS_MAX) {
		struct hit_arg *arg = &values->list[values->count++];
		size_t length = name_length(at);
		char *end;

		if (!length || at[length] != '=' || values->count == HIT_ARGS_MAX) {
			*arg = (struct hit_arg){ "arguments", HIT_TEXT, 0, at, strlen(at) };
			return;
		}
		*arg = (struct hit_arg){ .name = at, .text = "" };
		at[length] = 0;
		at += length + 1;
		end = value_end(at);
		length = (size_t)(end - at);
		if (*end)
			*end++ = 0;
		read_value(arg, at, length);
		at = end;
	}
}

/* Read "(4010)", or the function of a return, "(4010 <- 4090)".  Returns the rest. */
static char *skip_address(char *at, struct shown_hit *shown)
{
	char *end = *at == '(' ? strchr(at, ')') : NULL;

	if (!end)
		return at;
	shown->function_ip = strtoull(at + 1, NULL, 16);
	if (shown->function_ip != shown->ip)
		shown->function = NULL;
	end++;
	return end + strspn(end, " ");
}

void hit_events_show_line(const struct perf_line *line, const struct location *location,
			  struct hit_output *output)
{
	char *event = ALLOC_CHECKED(strndup(line->event.at, line->event.length));
	char *fields = ALLOC_CHECKED(strndup(line->arguments.at, line->arguments.length));
	struct hit_args values;
	struct shown_hit shown = {
		.time = line->time,
		.pid = line->pid,
		.tid = line->tid,
		.event = event,
		.ip = line->from.ip,
		.location = *location,
		.function = location->symbol,
		.function_ip = line->from.ip,
		.args = values.list,
	};

	values.count = 0;
	if (line->addr && line->addr != line->from.ip)
		values.list[values.count++] = (struct hit_arg){
			.name = "data_address", .type = HIT_HEX, .number = line->addr, .text = ""
		};
	read_values(&values, skip_address(fields, &shown));
	shown.arg_count = values.count;
	hit_output_add(output, &shown);
	free(event);
	free(fields);
}
