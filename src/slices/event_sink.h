/* SPDX-License-Identifier: MIT */
/*
 * The interface between producers and targets of events that are not slices of calls: CPU events,
 * hits, perf's records, overlays.  A target writes an output, or stores the events (event_store.h).
 *
 * A track is a thread, or has ids of its own above all threads'.  Its events come in any order of
 * time, except that its slices nest, and each begin precedes its end.
 */
#pragma once

#include "base/cursor.h"
#include "base/tables/name.h"

/* Arguments of one event: FTF's limit. */
#define EVENT_ARGS_MAX 15

/* Bytes of texts that a record of an event copies. */
#define EVENT_TEXTS 3000

enum track_event_kind {
	TRACK_PROCESS, /* a process has `name` */
	TRACK_THREAD,  /* a track has `name`; an empty one shows the track's process */
	TRACK_INSTANT,
	TRACK_COUNTER,     /* each argument is a value; `id` and name: a counter of the process */
	TRACK_BEGIN,       /* of a slice */
	TRACK_END,         /* of the track's innermost open slice, with more arguments of it */
	TRACK_WHOLE,       /* a slice that lasts until `end` */
	TRACK_ASYNC_BEGIN, /* slices that do not nest; `id` is the slice's in its process */
	TRACK_ASYNC_END,
	TRACK_FLOW_BEGIN, /* an arrow `id` between the slices that are open */
	TRACK_FLOW_STEP,
	TRACK_FLOW_END,
	TRACK_SWITCH, /* a CPU switches to the thread of `track` */
	TRACK_WAKEUP, /* the thread of `track` can run again */
	TRACK_EVENT_KINDS
};

/* The reason why a thread leaves its CPU. */
enum event_thread_state { EVENT_THREAD_BLOCKED, EVENT_THREAD_PREEMPTED, EVENT_THREAD_DEAD };

enum event_arg_type {
	EVENT_ARG_INT32,
	EVENT_ARG_INT64,
	EVENT_ARG_POINTER, /* shown in hexadecimal */
	EVENT_ARG_REAL,
	EVENT_ARG_TEXT
};

struct event_arg {
	struct text_view name;
	enum event_arg_type type;
	union {
		int64_t number; /* INT32, INT64 */
		uint64_t pointer;
		double real;
		struct text_view text;
	};
};

struct event_track {
	uint64_t pid, tid;
};

/* All pointers are borrowed for the call. */
struct track_event {
	enum track_event_kind kind;
	/* Its texts are seldom repeated: a target should not store each text once. */
	bool once;
	bool continued; /* a begin, in a part of the output: the slice began in an earlier part */
	uint64_t time;  /* ns */
	struct event_track track;
	union {
		uint64_t id;
		uint64_t end; /* ns */
		uint64_t cpu; /* of a switch or a wakeup */
	};
	struct text_view category, name; /* an end has none */
	/* Of a switch or a wakeup: */
	struct {
		struct event_track other; /* thread that leaves; or waker, tid 0: unknown */
		int32_t priority;         /* of the thread of `track`; tid 0: unused */
		enum event_thread_state state;
	} change;
	const struct event_arg *args;
	size_t arg_count; /* at most EVENT_ARGS_MAX */
};

struct event_sink {
	void (*event)(struct event_sink *sink, const struct track_event *event);
	void *context;    /* the implementation's context; borrowed */
	uint64_t last_id; /* of processes and tracks that are no threads */
};

/* Returns the view of a NUL-terminated text; NULL is empty. */
static inline struct text_view text_view_of(const char *text)
{
	return (struct text_view){ text, text ? strlen(text) : 0 };
}

/* The same for a name; NULL is empty. */
static inline struct text_view name_view(const struct name *name)
{
	return name ? (struct text_view){ name->text, name->length }
		    : (struct text_view){ NULL, 0 };
}

/* Returns the name with a text, which is made at first use. */
static inline const struct name *view_intern(struct name_table *names, struct text_view text)
{
	return name_intern(names, text.length ? text.at : "", text.length);
}

static inline void event_sink_emit(struct event_sink *sink, const struct track_event *event)
{
	sink->event(sink, event);
}

/* Name a process or a track. */
void event_sink_name_process(struct event_sink *sink, uint64_t pid, const char *name);
void event_sink_name_track(struct event_sink *sink, struct event_track track, const char *name);

/* Returns the pid of a new process: a group of tracks. */
uint64_t event_sink_new_process(struct event_sink *sink, const char *name);

/* Returns a new track of a process. */
struct event_track event_sink_new_track(struct event_sink *sink, uint64_t pid, const char *name);

/* ---- An event with its arguments ------------------------------------------- */

/* Must not move: `event` points to `args`. */
struct event_record {
	struct event_sink *sink;  /* borrowed */
	struct track_event event; /* the caller may set all fields but the arguments */
	struct event_arg args[EVENT_ARGS_MAX];
	size_t used;
	char texts[EVENT_TEXTS];
};

/* Start an event without arguments at `time` (ns). Texts, NULL or borrowed, last until the emit. */
void event_record_init(struct event_record *record, struct event_sink *sink,
		       struct event_track track, const char *category, const char *name,
		       uint64_t time);

/* Copy a text into the record, cut to its room. Returns the copy. */
const char *event_record_copy(struct event_record *record, const char *text);

/* Add an argument; at most EVENT_ARGS_MAX. Names and texts are borrowed until the emit. */
void event_record_add_int32(struct event_record *record, const char *name, int32_t value);
void event_record_add_number(struct event_record *record, const char *name, int64_t value);
void event_record_add_address(struct event_record *record, const char *name, uint64_t value);
void event_record_add_double(struct event_record *record, const char *name, double value);
void event_record_add_text(struct event_record *record, const char *name, const char *value);

/* Add a text argument of `length` bytes. */
void event_record_add_part(struct event_record *record, const char *name, const char *value,
			   size_t length);

/* Emit the event, which stays. */
void event_record_emit(struct event_record *record, enum track_event_kind kind);
