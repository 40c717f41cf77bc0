/* SPDX-License-Identifier: MIT */
/* Prints records, one line each. */
#include "reader/trace_print.h"

#include "base/printable.h"

#define OBJECT_PROCESS 1
#define OBJECT_THREAD  2

/* clang-format off */
const char *const trace_kind_texts[TRACE_KINDS] = {
	"magic", "provider", "section", "provider-event", "initialization", "string", "thread",
	"event", "blob", "userspace-object", "kernel-object", "context-switch", "wakeup",
	"legacy-context-switch", "log", "large-record", "unknown"
};
/* clang-format on */

const char *const trace_event_texts[EVENT_TYPES] = {
	"instant",       "counter",   "begin",      "end",       "complete", "async-begin",
	"async-instant", "async-end", "flow-begin", "flow-step", "flow-end",
};

void trace_print_text(FILE *out, const struct text_view *text)
{
	escaped_text_print(text->at, text->length, out);
}

static void print_value(FILE *out, const struct trace_arg *arg)
{
	double real;

	switch (arg->type) {
	case ARG_NULL:
		fputs("null", out);
		return;
	case ARG_INT32:
	case ARG_INT64:
		fprintf(out, "%" PRId64, (int64_t)arg->word);
		return;
	case ARG_DOUBLE:
		memcpy(&real, &arg->word, sizeof(real));
		real_print(real, out);
		return;
	case ARG_STRING:
		trace_print_text(out, &arg->string);
		return;
	case ARG_POINTER:
		fprintf(out, "0x%" PRIx64, arg->word);
		return;
	case ARG_BOOL:
		fputs(arg->word ? "true" : "false", out);
		return;
	default:
		if (arg->type < ARG_TYPES)
			fprintf(out, "%" PRIu64, arg->word);
		else
			putc('?', out);
	}
}

void trace_print_args(FILE *out, const struct trace_record *record)
{
	for (size_t i = 0; i < record->arg_count; i++) {
		putc(' ', out);
		trace_print_text(out, &record->args[i].name);
		putc('=', out);
		print_value(out, &record->args[i]);
	}
}

static void print_quoted(FILE *out, const struct text_view *text)
{
	putc('"', out);
	trace_print_text(out, text);
	putc('"', out);
}

static void print_event(FILE *out, const struct trace_record *record)
{
	if (record->type >= EVENT_TYPES)
		fprintf(out, "event-%u", record->type);
	else
		fputs(trace_event_texts[record->type], out);
	fprintf(out, " %" PRIu64 "/%" PRIu64 " %" PRIu64 " ", record->thread.pid,
		record->thread.tid, record->time);
	if (record->type == EVENT_COMPLETE)
		fprintf(out, "%" PRIu64 " ", record->id);
	print_quoted(out, &record->name);
	if (record->category.length) {
		fputs(" category ", out);
		print_quoted(out, &record->category);
	}
	if (record->type != EVENT_COMPLETE &&
	    (record->type == EVENT_COUNTER || record->type > EVENT_COMPLETE))
		fprintf(out, " id %" PRIu64, record->id);
	trace_print_args(out, record);
}

static void print_switch(FILE *out, const struct trace_record *record)
{
	fprintf(out, "%s cpu %" PRIu64 " %" PRIu64, trace_kind_texts[record->kind], record->number,
		record->time);
	if (record->kind == TRACE_LEGACY_CONTEXT_SWITCH)
		fprintf(out,
			" from %" PRIu64 "/%" PRIu64 " state %u to %" PRIu64 "/%" PRIu64
			" priorities %u %u",
			record->thread.pid, record->thread.tid, record->state, record->other.pid,
			record->other.tid, record->out_priority, record->in_priority);
	else if (record->kind == TRACE_CONTEXT_SWITCH)
		fprintf(out, " from %" PRIu64 " state %u to %" PRIu64, record->thread.tid,
			record->state, record->other.tid);
	else
		fprintf(out, " thread %" PRIu64, record->thread.tid);
	trace_print_args(out, record);
}

/* Print a record without arguments: "KIND NUMBER" and the fields of the kind. */
static void print_plain(FILE *out, const struct trace_record *record)
{
	fputs(trace_kind_texts[record->kind], out);
	switch (record->kind) {
	case TRACE_MAGIC:
	case TRACE_UNKNOWN:
		return;
	case TRACE_THREAD:
		fprintf(out, " %" PRIu64 " %" PRIu64 "/%" PRIu64, record->number,
			record->thread.pid, record->thread.tid);
		return;
	case TRACE_INITIALIZATION:
		fprintf(out, " %" PRIu64, record->number);
		if (record->words >= 4)
			fprintf(out, " base %" PRIu64 " at %" PRIu64, record->base_ticks,
				record->base_time);
		return;
	case TRACE_LARGE_RECORD:
		fprintf(out, " type %u %zu words", record->type, record->words);
		return;
	case TRACE_LOG:
		fprintf(out, " %" PRIu64 "/%" PRIu64 " %" PRIu64 " ", record->thread.pid,
			record->thread.tid, record->time);
		print_quoted(out, &record->name);
		return;
	case TRACE_BLOB:
		fprintf(out, " type %u ", record->type);
		print_quoted(out, &record->name);
		fprintf(out, " %zu bytes", record->bytes.length);
		return;
	default:
		fprintf(out, " %" PRIu64, record->number);
	}
	if (record->kind == TRACE_STRING || record->kind == TRACE_PROVIDER_INFO) {
		putc(' ', out);
		print_quoted(out, &record->name);
	}
}

void trace_print_record(FILE *out, const struct trace_record *record)
{
	fprintf(out, "0x%08" PRIx64 " ", record->offset);
	switch (record->kind) {
	case TRACE_EVENT:
		print_event(out, record);
		break;
	case TRACE_CONTEXT_SWITCH:
	case TRACE_THREAD_WAKEUP:
	case TRACE_LEGACY_CONTEXT_SWITCH:
		print_switch(out, record);
		break;
	case TRACE_KERNEL_OBJECT:
	case TRACE_USERSPACE_OBJECT:
		if (record->kind == TRACE_KERNEL_OBJECT)
			fprintf(out, "kernel-object type %u id %" PRIu64 " ", record->type,
				record->id);
		else
			fprintf(out, "userspace-object process %" PRIu64 " 0x%" PRIx64 " ",
				record->thread.pid, record->id);
		print_quoted(out, &record->name);
		trace_print_args(out, record);
		break;
	default:
		print_plain(out, record);
	}
	if (record->problem[0])
		fprintf(out, " !! %s", record->problem);
	if (record->unknown[0])
		fprintf(out, " ?? %s", record->unknown);
	if (record->refusal[0])
		fprintf(out, " ?! %s", record->refusal);
	putc('\n', out);
}

void trace_print_name(FILE *out, const struct trace_record *record)
{
	if (record->kind != TRACE_KERNEL_OBJECT ||
	    (record->type != OBJECT_PROCESS && record->type != OBJECT_THREAD))
		return;
	fprintf(out, "%s %" PRIu64 " ", record->type == OBJECT_PROCESS ? "process" : "thread",
		record->id);
	trace_print_text(out, &record->name);
	trace_print_args(out, record);
	putc('\n', out);
}
