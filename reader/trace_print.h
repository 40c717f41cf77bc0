/* SPDX-License-Identifier: MIT */
/* Text for one record.  Control characters and backslashes in it are shown as \xNN. */
#pragma once

#include "reader/trace_reader.h"

extern const char *const trace_kind_texts[TRACE_KINDS];  /* "string", "event", ... */
extern const char *const trace_event_texts[EVENT_TYPES]; /* "begin", "end", ... */

void trace_print_text(FILE *out, const struct text_view *text);

/* Print " NAME=VALUE" for each argument: pointers in hexadecimal, doubles with 17 digits. */
void trace_print_args(FILE *out, const struct trace_record *record);

/* Print one line: offset, kind, fields, and the problem if there is one. */
void trace_print_record(FILE *out, const struct trace_record *record);

/* Print "process PID NAME ARGS" or "thread TID NAME ARGS" if the record names one. */
void trace_print_name(FILE *out, const struct trace_record *record);

/*
 * Builds the slices of a trace's duration events, and checks that they are sound: balanced per
 * thread, with times that go back only at begins of slices that have ended; and that Perfetto shows
 * them all: at most 512 open at a time (it drops deeper slices and then closes the wrong ones), no
 * slice partly in a complete event (trace_processor's SliceTracker).
 */

struct trace_slices {
	struct slice_thread *threads; /* owned; hash by pid and tid */
	struct read_slice *slices;    /* owned; only if `keep` */
	size_t count, room;
	bool keep;      /* for trace_slices_print() */
	uint64_t total; /* slices begun */
	size_t events;  /* begins, ends and complete events */
	size_t deepest; /* most slices open on one thread */
};

/* Take the next record.  A record that is unsound gets a problem or refusal. */
void trace_slices_add(struct trace_slices *slices, struct trace_record *record);

/* Returns 0; -1 with err filled: a slice of some thread never ends. */
int trace_slices_finish(struct trace_slices *slices, struct error *err);

/*
 * Print one line per slice: `pid/tid depth begin_ns end_ns name key=value...`, sorted by pid, tid
 * and begin, each slice before those in it; process and thread ids as Perfetto keeps them, in 32
 * bits.  An end's arguments are added to its begin's, as in Perfetto.
 */
void trace_slices_print(struct trace_slices *slices, FILE *out);

void trace_slices_release(struct trace_slices *slices);
