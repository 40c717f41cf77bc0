/* SPDX-License-Identifier: MIT */
/* An FTF event with its arguments, for rare events: each looks up its texts. */
#pragma once

#include "base/common.h"
#include "writer/ftf.h"

#define EVENT_RECORD_ARGS FTF_ARGS_MAX

/* Must not move: `event` points to `args`. */
struct event_record {
	struct ftf_writer *writer; /* borrowed */
	struct ftf_event event;    /* for ftf_begin(), ftf_instant()...; the caller sets its
				    * track */
	struct ftf_arg args[EVENT_RECORD_ARGS];
};

/* Start an event without arguments at `time` (ns); an end's category and name may be NULL. */
void event_record_init(struct event_record *record, struct ftf_writer *writer, const char *category,
		       const char *name, uint64_t time);

/* Add an argument; at most EVENT_RECORD_ARGS. */
void event_record_add(struct event_record *record, struct ftf_arg arg);
void event_record_add_number(struct event_record *record, const char *name, int64_t value);
void event_record_add_address(struct event_record *record, const char *name, uint64_t value);
void event_record_add_double(struct event_record *record, const char *name, double value);
void event_record_add_text(struct event_record *record, const char *name, const char *value);

/* Add a text argument of `length` bytes. */
void event_record_add_part(struct event_record *record, const char *name, const char *value,
			   size_t length);
