/* SPDX-License-Identifier: MIT */
/*
 * Shows hits (decoder/timeline/hits.h) and counts them: as events on a track for each name, marks
 * "hit FUNCTION" in the group "hits"; as text, a line for each:
 * `PID/TID TIME_NS EVENT 0xIP FUNCTION+0xOFFSET NAME=VALUE...`, texts as in JSON.
 *
 * A hit of magic-trace's function for snapshots has the time and the number that the program passed
 * to it, and lasts since that time (magic-trace's trace_writer.ml, write_hits()).
 */
#pragma once

#include "base/tables/hash.h"
#include "decoder/timeline/hits.h"
#include "src/resolve/location.h"
#include "src/slices/event_sink.h"

/* A hit and its event; all is borrowed for the call. */
struct shown_hit {
	uint64_t time;    /* ns */
	int32_t pid, tid; /* -1: unknown */
	const char *event;
	uint64_t ip;                   /* where it was; 0: unknown */
	struct location location;      /* symbol and place of `ip` */
	const struct symbol *function; /* the function of the hit; NULL: unknown */
	uint64_t function_ip;          /* an address in it */
	bool has_passed;               /* the program passed: */
	uint64_t passed_time;          /* ns; 0 if absent */
	int64_t passed_value;
	const struct hit_arg *args;
	size_t arg_count;
};

/* Zeroed memory only counts. */
struct hit_output {
	struct event_sink *sink; /* borrowed; NULL: emit no tracks */
	FILE *text;              /* borrowed; NULL: print no lines */
	uint64_t begin;          /* ns: of the trace; no hit begins before it */
	bool like;               /* show them as magic-trace does, in time since `begin` */
	uint64_t first;          /* ns: the earliest, or 0 */
	uint64_t group;          /* the process of the tracks; 0 at first */
	uint64_t count, slices;  /* hits; hits shown as slices */
	/* An event and its hits. */
	struct hit_event_shown {
		char *name; /* owned */
		bool has_track;
		struct event_track track;
		uint64_t count, first, last; /* ns: the earliest and the latest */
		UT_hash_handle hh;
	} * events; /* owned: hash by name, in the order of their first hits */
};

/* Show a hit; an event's hits must come in order of time if some have `passed_time`. */
void hit_output_add(struct hit_output *output, const struct shown_hit *hit);

void hit_output_release(struct hit_output *output);
