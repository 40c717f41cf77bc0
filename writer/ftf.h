/* SPDX-License-Identifier: MIT */
/*
 * libftf: writes the Fuchsia trace format (FTF, "FXT"), which Perfetto opens.
 *
 * Source of all facts on the format: fuchsia.dev, "Fuchsia trace format", which also names the
 * records and references below.  libftf(3) describes Perfetto's treatment of each record.
 *
 * Two faces:
 *
 * - The high face (struct ftf_writer) takes any number of names, processes and threads, and assigns
 *   the format's few string and thread references to them in turn.  Nothing allocates per event.
 * - The low face (struct ftf_low, at the end) writes records whose references
 *   the caller assigns: two 64-bit stores for an event without arguments.
 *
 * Errors are sticky, as in stdio: functions that emit return nothing; after the first error nothing
 * is written, and closing reports the error.  A lack of memory is such an error.  A writer is used
 * by one thread at a time.
 */
#ifndef WRITER_FTF_H
#define WRITER_FTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "libftf cannot be built for big-endian machines: it stores little-endian words as they are"
#endif

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- The format's numbers ------------------------------------------------ */

#define FTF_ARGS_MAX          15    /* arguments of one record: 4 bits */
#define FTF_RECORD_WORDS_MAX  4095  /* 12 bits */
#define FTF_STRING_MAX        31999 /* bytes of a string, as in Jane Street's tracing */
#define FTF_STRING_REFERENCES 32767 /* 15 bits; 0 is the empty string */
#define FTF_THREAD_REFERENCES 255   /* 8 bits; 0: the record contains the ids */

/* "Argument Types". */
enum ftf_arg_type {
	FTF_NULL = 0,
	FTF_INT32 = 1,
	FTF_UINT32 = 2,
	FTF_INT64 = 3,
	FTF_UINT64 = 4,
	FTF_DOUBLE = 5,
	FTF_STRING = 6,
	FTF_POINTER = 7,
	FTF_KOID = 8, /* a kernel object's id: of a process or thread */
	FTF_BOOL = 9,
};

/* "Event Record", event types. */
enum ftf_event_type {
	FTF_INSTANT = 0,
	FTF_COUNTER = 1,
	FTF_DURATION_BEGIN = 2,
	FTF_DURATION_END = 3,
	FTF_DURATION_COMPLETE = 4,
	FTF_ASYNC_BEGIN = 5,
	FTF_ASYNC_INSTANT = 6,
	FTF_ASYNC_END = 7,
	FTF_FLOW_BEGIN = 8,
	FTF_FLOW_STEP = 9,
	FTF_FLOW_END = 10,
};

/* "Record Types". */
enum ftf_record_type {
	FTF_RECORD_METADATA = 0,
	FTF_RECORD_INITIALIZATION = 1,
	FTF_RECORD_STRING = 2,
	FTF_RECORD_THREAD = 3,
	FTF_RECORD_EVENT = 4,
	FTF_RECORD_BLOB = 5,
	FTF_RECORD_USERSPACE_OBJECT = 6,
	FTF_RECORD_KERNEL_OBJECT = 7,
	FTF_RECORD_SCHEDULING = 8,
	FTF_RECORD_LOG = 9,
};

/* "Kernel Object Record": the types that trace viewers know; others are allowed. */
enum ftf_object_type {
	FTF_OBJECT_PROCESS = 1,
	FTF_OBJECT_THREAD = 2,
};

/* "BLOB Record", types. */
enum ftf_blob_type {
	FTF_BLOB_DATA = 1,
	FTF_BLOB_LAST_BRANCH = 2,
	FTF_BLOB_PERFETTO = 3, /* a piece of a trace in Perfetto's own format */
};

/* "Thread States": in which state a thread leaves its CPU. */
enum ftf_thread_state {
	FTF_STATE_NEW = 0,
	FTF_STATE_RUNNING = 1, /* preempted */
	FTF_STATE_SUSPENDED = 2,
	FTF_STATE_BLOCKED = 3,
	FTF_STATE_DYING = 4,
	FTF_STATE_DEAD = 5,
};

/* ---- Errors and destinations --------------------------------------------- */

struct ftf_error {
	int system;     /* errno, or 0 */
	char text[400]; /* one line, no newline at its end; empty: no error */
};

/* A destination other than a file: it gets pieces of at least 64 KiB, except for the last. */
struct ftf_destination {
	/* Returns 0, or an errno: then nothing more is written. */
	int (*write)(void *context, const void *bytes, size_t size);
	void *context; /* borrowed until the trace is closed */
};

/* ---- The high face: opening and closing ---------------------------------- */

struct ftf_writer;

/*
 * The clock of a trace.  Zeroed: nanoseconds from any origin.  With a base, base_ticks was at
 * base_time on the wall clock.  The words for both are an extension by Jane Street's "tracing"
 * library, whose tools show absolute times; Perfetto skips them, and rounds ticks that are not
 * nanoseconds.
 */
struct ftf_clock {
	uint64_t ticks_per_second;      /* 0: 10^9 */
	bool has_base;                  /* else the next two are unknown, and not written */
	uint64_t base_ticks, base_time; /* base_time: ns since 1970 */
};

struct ftf_options {
	const char *provider; /* its name */
	struct ftf_clock clock;
	bool appended;         /* no magic number: for the end of another trace */
	uint64_t first_new_id; /* ftf_id_new()'s first result; 0: FTF_FIRST_NEW_ID */
};

/* Returns the clock of ftf_tsc(), with a base; measures its frequency to 10^-6, in 20 ms. */
struct ftf_clock ftf_tsc_clock(void);

/* Returns this CPU's time stamp counter; on a CPU without one, ns of CLOCK_MONOTONIC. */
uint64_t ftf_tsc(void);

/*
 * Start a trace in the file `path`, "-" for standard output: the magic number, one provider, and
 * the clock.  If the path ends in .gz or .zst, the trace is compressed, in the caller's thread.
 * The bytes go to a temporary file in the same folder, which ftf_close() renames to `path`; pipes
 * and devices are written directly.  Returns the writer, owned by the caller until ftf_close() or
 * ftf_abandon(); NULL with err (may be NULL) filled, and then nothing was created.
 */
struct ftf_writer *ftf_open(const char *path, const struct ftf_options *options,
			    struct ftf_error *err);

/* As ftf_open(), into the caller's own destination; NULL only if there is no memory. */
struct ftf_writer *ftf_open_destination(const struct ftf_destination *to,
					const struct ftf_options *options, struct ftf_error *err);

/*
 * Write the rest, rename the file to its path, release the writer.  Returns 0; -1 with err (may be
 * NULL) filled: the first error, and a file of ftf_open() is removed.
 */
int ftf_close(struct ftf_writer *writer, struct ftf_error *err);

/* Release the writer and leave no file.  NULL is allowed. */
void ftf_abandon(struct ftf_writer *writer);

/* Write the buffered bytes now, as a piece of any size.  A file keeps its temporary name. */
void ftf_flush(struct ftf_writer *writer);

/*
 * From now on, write to another destination, without the magic number and the strings that the
 * first destination got: for one trace in pieces.  A sticky error for a writer of ftf_open().
 */
void ftf_set_destination(struct ftf_writer *writer, const struct ftf_destination *to);

/* Returns the text of the first error, borrowed; NULL without errors so far. */
const char *ftf_failure(const struct ftf_writer *writer);

/* If strict, wrong use of the library aborts with a message instead of being a sticky error. */
void ftf_set_strict(struct ftf_writer *writer, bool strict);

/* Returns the number of event records written. */
uint64_t ftf_events(const struct ftf_writer *writer);

/* ---- Names --------------------------------------------------------------- */

/* A string of one writer; zeroed: the empty string. */
struct ftf_name {
	uint32_t id; /* dense: 1, 2, 3, ... */
};

/*
 * Returns the name with these bytes, made at first use (copied, hashed).  Text
 * longer than FTF_STRING_MAX is cut between two characters of UTF-8 when it is
 * written.  The number of names is not limited.
 */
struct ftf_name ftf_name(struct ftf_writer *writer, const char *text, size_t length);

/* As ftf_name(), for NUL-terminated text; NULL gives the empty string. */
struct ftf_name ftf_text(struct ftf_writer *writer, const char *text);

/*
 * Returns a new name whose text stays the caller's and must live as long as the writer.  Nothing is
 * looked up: call it once per text.
 */
struct ftf_name ftf_name_borrow(struct ftf_writer *writer, const char *text, size_t length);

/*
 * Returns the text of a name, borrowed as long as the writer, and its length (may be NULL):
 * not NUL-terminated if it was borrowed from the caller.
 */
const char *ftf_name_text(struct ftf_writer *writer, struct ftf_name name, size_t *length);

/* ---- Processes and threads ----------------------------------------------- */

/* A thread of one writer; zeroed: process 0, thread 0. */
struct ftf_thread {
	uint32_t id; /* dense: 1, 2, 3, ... */
};

/* Default of ftf_options.first_new_id: above Linux's 2^22. */
#define FTF_FIRST_NEW_ID UINT64_C(10000000)

/* Returns the id for a new process or thread; ids ascend. */
uint64_t ftf_id_new(struct ftf_writer *writer);

/* Returns the thread with these ids, made at first use.  Perfetto keeps 32 bits of each. */
struct ftf_thread ftf_thread(struct ftf_writer *writer, uint64_t pid, uint64_t tid);

/*
 * Name a process or thread: "Kernel Object Record"; for the thread with the
 * argument "process" that Perfetto needs.  Perfetto shows the last name given.
 */
void ftf_process_name(struct ftf_writer *writer, uint64_t pid, struct ftf_name name);
void ftf_thread_name(struct ftf_writer *writer, struct ftf_thread thread, struct ftf_name name);

/* Returns the id of a new process of that name: a group of tracks. */
uint64_t ftf_process_new(struct ftf_writer *writer, struct ftf_name name);

/* Returns a new thread of that name in process `pid`: a track below the earlier ones. */
struct ftf_thread ftf_thread_new(struct ftf_writer *writer, uint64_t pid, struct ftf_name name);

/* ---- Arguments ----------------------------------------------------------- */

struct ftf_arg {
	struct ftf_name name; /* without '.', '[' and ']', which Perfetto takes for structure */
	enum ftf_arg_type type;
	union {
		int64_t integer;        /* INT32, INT64 */
		uint64_t word;          /* UINT32, UINT64, POINTER, KOID, BOOL */
		double real;            /* DOUBLE */
		struct ftf_name string; /* STRING */
	} value;
};

/* Returns an argument of any type but DOUBLE and STRING; FTF_NULL takes no value. */
static inline struct ftf_arg ftf_arg_word(struct ftf_name name, enum ftf_arg_type type,
					  uint64_t value)
{
	struct ftf_arg arg;

	arg.name = name;
	arg.type = type;
	arg.value.word = value;
	return arg;
}

static inline struct ftf_arg ftf_arg_int32(struct ftf_name name, int32_t value)
{
	return ftf_arg_word(name, FTF_INT32, (uint64_t)(int64_t)value);
}

static inline struct ftf_arg ftf_arg_int64(struct ftf_name name, int64_t value)
{
	return ftf_arg_word(name, FTF_INT64, (uint64_t)value);
}

/* Perfetto shows it in hexadecimal. */
static inline struct ftf_arg ftf_arg_pointer(struct ftf_name name, uint64_t value)
{
	return ftf_arg_word(name, FTF_POINTER, value);
}

static inline struct ftf_arg ftf_arg_double(struct ftf_name name, double value)
{
	struct ftf_arg arg = ftf_arg_word(name, FTF_DOUBLE, 0);

	arg.value.real = value;
	return arg;
}

static inline struct ftf_arg ftf_arg_string(struct ftf_name name, struct ftf_name value)
{
	struct ftf_arg arg = ftf_arg_word(name, FTF_STRING, 0);

	arg.value.string = value;
	return arg;
}

/* ---- Events -------------------------------------------------------------- */

/*
 * The fields of all events.  Perfetto sorts by time, and keeps equal times in the order of the
 * file.  A thread's durations must be in program order, with at most 512 open at a time: the caller
 * ensures both.
 */
struct ftf_event {
	struct ftf_thread thread;
	struct ftf_name category; /* may be zeroed */
	struct ftf_name name;
	uint64_t time;              /* ticks of the options' clock; by default ns */
	const struct ftf_arg *args; /* borrowed for the call; NULL if arg_count is 0 */
	size_t arg_count;           /* at most FTF_ARGS_MAX, or a sticky error */
};

/* Write an event of any type.  `tail`: its id, or the end of a complete event; else unused. */
void ftf_any_event(struct ftf_writer *writer, enum ftf_event_type type,
		   const struct ftf_event *event, uint64_t tail);

/* A mark at one time. */
void ftf_instant(struct ftf_writer *writer, const struct ftf_event *event);

/*
 * A sample of counters: one track per process, event name, argument name and
 * `id`.  At least one argument, all of them numbers, or a sticky error.
 */
void ftf_counter(struct ftf_writer *writer, const struct ftf_event *event, uint64_t id);

/* A slice begins, inside of the thread's open ones. */
void ftf_begin(struct ftf_writer *writer, const struct ftf_event *event);

/* The thread's innermost open slice ends; the arguments are added to the slice's. */
void ftf_end(struct ftf_writer *writer, const struct ftf_event *event);

/*
 * A whole slice [event->time, end), ticks.  An end before the beginning is a sticky error.
 * Perfetto drops it if it partly overlaps another slice, or follows an inner slice that begins at
 * the same time.
 */
void ftf_complete(struct ftf_writer *writer, const struct ftf_event *event, uint64_t end);

/*
 * The encoded begin of a slice, without its time and thread: a template for further slices of the
 * same category, name and arguments.  Zeroed, it is empty.
 */
#define FTF_TEMPLATE_WORDS 12
struct ftf_template {
	uint64_t words[FTF_TEMPLATE_WORDS];
	uint32_t count; /* words; 0: empty */
};

/*
 * Write a slice, as ftf_complete() does if `end` (ticks) is later than its time, else as
 * ftf_begin() does; and fill `made`, for either kind of slice, without the last `own` arguments,
 * which belong to this slice only and contain no text.  A record that is long, or contains text,
 * makes no template: then `made` is empty.
 */
void ftf_make_template(struct ftf_writer *writer, const struct ftf_event *event, uint64_t end,
		       size_t own, struct ftf_template *made);

/* A record of a thread: a slice made from a template, or an end. */
struct ftf_templated {
	const struct ftf_template
		*from; /* not empty; NULL: the thread's innermost open slice ends */
	uint64_t time; /* ticks */
	uint64_t end;  /* ticks: of a whole slice, later than its time; else 0 */
};

/*
 * More arguments of a record, encoded: the word of ftf_arg_head(), with the value in its upper half
 * (types of 32 bits and BOOL) or in another word.
 */
#define FTF_OWN_WORDS 10
struct ftf_own_args {
	const uint64_t *words;      /* borrowed for the call; FTF_OWN_WORDS of them are read */
	uint32_t word_count, count; /* words in use, arguments */
};

/*
 * Returns the first word of encoded arguments, of any type but STRING; 0: the name has no reference
 * yet, so write the arguments with an event.
 */
uint64_t ftf_arg_head(struct ftf_writer *writer, enum ftf_arg_type type, struct ftf_name name);

/*
 * Write `count` records, for about an eighth of what ftf_begin(), ftf_complete() and ftf_end()
 * cost.  The templates are of the same writer.  Returns whether they were written (with `count` 0,
 * whether they could be).  `own`: one for each record, or NULL.  They cannot be written before the
 * thread's first record, nor after too many names or threads have changed references: then write
 * them as events.
 */
bool ftf_write_templates(struct ftf_writer *writer, struct ftf_thread thread,
			 const struct ftf_templated *records, const struct ftf_own_args *own,
			 size_t count);

/* Slices that belong to no thread, matched by `id`. */
void ftf_async_begin(struct ftf_writer *writer, const struct ftf_event *event, uint64_t id);
void ftf_async_instant(struct ftf_writer *writer, const struct ftf_event *event, uint64_t id);
void ftf_async_end(struct ftf_writer *writer, const struct ftf_event *event, uint64_t id);

/*
 * An arrow between slices: each event binds to the innermost open slice of its thread, so write it
 * after that slice's begin and before its end.
 */
void ftf_flow_begin(struct ftf_writer *writer, const struct ftf_event *event, uint64_t id);
void ftf_flow_step(struct ftf_writer *writer, const struct ftf_event *event, uint64_t id);
void ftf_flow_end(struct ftf_writer *writer, const struct ftf_event *event, uint64_t id);

/* ---- Scheduling ---------------------------------------------------------- */

/* The weight of the idle thread, which gets no slice in Perfetto. */
#define FTF_IDLE_WEIGHT INT32_MIN

/* A CPU switches from one thread to another: "Context Switch Record". */
struct ftf_switch {
	uint64_t time; /* ticks */
	uint16_t cpu;
	enum ftf_thread_state state; /* state of the outgoing thread */
	/* Perfetto knows their processes from ftf_thread_name(). */
	uint64_t out_tid, in_tid;
	/* The arguments outgoing_weight and incoming_weight, left out if 0. */
	int32_t out_weight, in_weight;
};

void ftf_context_switch(struct ftf_writer *writer, const struct ftf_switch *change);

/* A thread can run again: "Thread Wakeup Record". */
struct ftf_wakeup {
	uint64_t time; /* ticks */
	uint16_t cpu;
	uint64_t tid;
	uint64_t waker_tid; /* the argument waker, left out if 0 */
	int32_t weight;     /* the argument weight, left out if 0 */
};

void ftf_thread_wakeup(struct ftf_writer *writer, const struct ftf_wakeup *wakeup);

/* ---- Other records ------------------------------------------------------- */

/* A line of a log.  Text longer than FTF_STRING_MAX is cut.  Perfetto ignores it. */
void ftf_log(struct ftf_writer *writer, struct ftf_thread thread, uint64_t time, const char *text);

struct ftf_blob {
	enum ftf_blob_type type;
	struct ftf_name name; /* pieces of the same name belong together */
	const void *bytes;    /* borrowed for the call */
	size_t size;          /* at most FTF_STRING_MAX, or a sticky error */
};

/* Any bytes.  Perfetto reads blobs of type FTF_BLOB_PERFETTO. */
void ftf_blob(struct ftf_writer *writer, const struct ftf_blob *blob);

/* The description of a kernel object. */
struct ftf_object {
	uint64_t id; /* koid */
	struct ftf_name name;
	const struct ftf_arg *args; /* borrowed for the call */
	size_t arg_count;
};

/* `type`: enum ftf_object_type or any other. */
void ftf_kernel_object(struct ftf_writer *writer, uint8_t type, const struct ftf_object *object);

/* ---- The low face -------------------------------------------------------- */

/*
 * Start a record with its whole header, fill it in order, and finish it.  The header declares the
 * record's words, and a shape its arguments, so that one check of the buffer per record suffices
 * and no record is split between two pieces.  Words or arguments that differ from the declaration
 * (too many, too few, another type) are a sticky error.
 */
struct ftf_low {
	uint64_t *at;     /* where the next word goes */
	uint64_t *full;   /* from here on the buffer is flushed before the next record */
	uint64_t *start;  /* start of the record being filled */
	uint64_t *end;    /* end of the record being filled; may be NULL */
	uint64_t shape;   /* shape of the arguments still to come */
	uint64_t *buffer; /* owned */
	uint64_t written; /* bytes that the destination got */
	struct ftf_destination to;
	struct ftf_error err;
	bool strict; /* wrong use aborts */
};

/*
 * Start a trace with only the magic number; with nothing if `appended`, to continue another trace.
 * Returns 0; -1 if there is no memory, which is a sticky error, too.
 */
int ftf_low_init(struct ftf_low *low, const struct ftf_destination *to, bool appended);

/* Write the buffer.  Inside of a record: a sticky error, and the record is dropped. */
void ftf_low_flush(struct ftf_low *low);

/* Flush, and from here on write to another destination.  Inside of a record: a sticky error. */
void ftf_low_set_destination(struct ftf_low *low, const struct ftf_destination *to);

/*
 * Pass whole records on; `size` is a multiple of 8, or it is a sticky error.  References are
 * unchanged: the caller must ensure that they mean the same here.
 */
void ftf_low_records(struct ftf_low *low, const void *records, size_t size);

/*
 * Flush and release the buffer.  Idempotent, also on zeroed memory.  Later writes are lost and are
 * an error, which another ftf_low_close() returns.  Returns 0; -1 with err (may be NULL) filled.
 */
int ftf_low_close(struct ftf_low *low, struct ftf_error *err);

/* Returns the low face of a writer, for records without references of the caller's own. */
struct ftf_low *ftf_low_borrow(struct ftf_writer *writer);

/* Record a wrong use of the library, if it is the first error.  Aborts if low->strict. */
void ftf_low_misuse(struct ftf_low *low, const char *text);

/* A string reference to text of `length` bytes that the record itself contains. */
#define FTF_INLINE(length) ((uint16_t)(0x8000 | (length)))

static inline size_t ftf_words(size_t bytes)
{
	return (bytes + 7) / 8;
}

/* Returns the words that a string reference adds to its record. */
static inline size_t ftf_reference_words(uint16_t reference)
{
	return reference & 0x8000 ? ftf_words(reference & 0x7fff) : 0;
}

/* Returns the words of an argument without its inline strings. */
static inline size_t ftf_type_words(enum ftf_arg_type type)
{
	const uint64_t wide = 1 << FTF_INT64 | 1 << FTF_UINT64 | 1 << FTF_DOUBLE |
			      1 << FTF_POINTER | 1 << FTF_KOID;

	return 1 + (wide >> (type & 15) & 1);
}

/* The shape of more than FTF_ARGS_MAX arguments, or of unknown types: no record has it. */
#define FTF_SHAPE_INVALID UINT64_MAX

/*
 * The arguments of a record, declared: 4 bits of type each, from the lowest bit up, their number in
 * the top 4 bits; 0 without arguments.  Returns the shape with one more argument, or
 * FTF_SHAPE_INVALID.
 */
static inline uint64_t ftf_shape_add(uint64_t shape, enum ftf_arg_type type)
{
	if (shape >> 60 == FTF_ARGS_MAX || type > FTF_BOOL)
		return FTF_SHAPE_INVALID;
	return (shape | (uint64_t)type << 4 * (shape >> 60)) + (UINT64_C(1) << 60);
}

/* Returns the words of all arguments without inline strings. */
static inline size_t ftf_shape_words(uint64_t shape)
{
	size_t words = 0;

	for (uint64_t left = shape >> 60; left; left--, shape >>= 4)
		words += ftf_type_words((enum ftf_arg_type)(shape & 15));
	return words;
}

/* Returns the header of a record without its own fields; 0: it has too many words. */
static inline uint64_t ftf_low_header(enum ftf_record_type type, size_t words)
{
	return words <= FTF_RECORD_WORDS_MAX ? (uint64_t)type | (uint64_t)words << 4 : 0;
}

struct ftf_low_event {
	enum ftf_event_type type;
	uint8_t thread;          /* reference; 0: two words of ids follow the time */
	uint16_t category, name; /* references, or FTF_INLINE() */
	uint64_t shape;          /* shape of the arguments */
	size_t text_words;       /* words of inline strings in the arguments */
};

/* Returns whether events of the type end in an extra word: an id, or the end of a slice. */
static inline bool ftf_has_tail(enum ftf_event_type type)
{
	return type == FTF_COUNTER || type >= FTF_DURATION_COMPLETE;
}

/* Returns the header of an event, for any number of events; 0: too many words or arguments. */
static inline uint64_t ftf_low_event_header(const struct ftf_low_event *event)
{
	size_t words = (event->thread ? 2u : 4u) + ftf_reference_words(event->category) +
		       ftf_reference_words(event->name) + ftf_shape_words(event->shape) +
		       event->text_words + ftf_has_tail(event->type);
	uint64_t header = ftf_low_header(FTF_RECORD_EVENT, words);

	return header && event->shape != FTF_SHAPE_INVALID
		       ? header | (uint64_t)event->type << 16 | (event->shape >> 60) << 20 |
				 (uint64_t)event->thread << 24 | (uint64_t)event->category << 32 |
				 (uint64_t)event->name << 48
		       : 0;
}

/*
 * Returns an event's header with another name (reference, or FTF_INLINE()), whose text
 * follows the category's; 0: it has too many words.
 */
static inline uint64_t ftf_low_set_name(uint64_t header, uint16_t name)
{
	size_t words = (header >> 4 & 0xfff) - ftf_reference_words((uint16_t)(header >> 48)) +
		       ftf_reference_words(name);
	uint64_t others = header & ~(UINT64_C(0xfff) << 4 | UINT64_C(0xffff) << 48);

	return words <= FTF_RECORD_WORDS_MAX ? others | (uint64_t)words << 4 | (uint64_t)name << 48
					     : 0;
}

/*
 * Returns whether the header is of an instant, or a duration's begin or end, of two words: without
 * ids, arguments and text of its own.
 */
static inline bool ftf_low_is_pair(uint64_t header)
{
	const uint64_t inline_names = UINT64_C(0x8000) << 32 | UINT64_C(0x8000) << 48;
	const unsigned types =
		1u << FTF_INSTANT | 1u << FTF_DURATION_BEGIN | 1u << FTF_DURATION_END;

	return (header & (inline_names | 0xf0ffff)) == (FTF_RECORD_EVENT | 2 << 4) &&
	       (header >> 24 & 0xff) && (types >> (header >> 16 & 15) & 1);
}

/* An event of two words: ftf_low_is_pair(header), or a sticky error. */
static inline void ftf_low_pair(struct ftf_low *low, uint64_t header, uint64_t time)
{
	uint64_t *at;

	if (__builtin_expect(!ftf_low_is_pair(header), 0)) {
		ftf_low_misuse(low, "a header is not that of an event of two words");
		return;
	}
	if (__builtin_expect(low->at >= low->full, 0))
		ftf_low_flush(low);
	at = low->at;
	at[0] = header;
	at[1] = time;
	low->at = at + 2;
}

/* Start a record whose arguments will be of `shape`. */
static inline void ftf_low_start(struct ftf_low *low, uint64_t header, uint64_t shape)
{
	size_t words = header >> 4 & 0xfff;

	if (__builtin_expect(low->at >= low->full, 0))
		ftf_low_flush(low);
	if (__builtin_expect(!words || low->end, 0)) {
		ftf_low_misuse(low, words ? "a record is started inside of another"
				    : shape == FTF_SHAPE_INVALID
					    ? "a record has more than 15 arguments"
					    : "a record has 0 or more than 4095 words");
		words = 1;
		low->at = low->end ? low->start : low->at;
	}
	low->start = low->at;
	low->end = low->at + words;
	low->shape = shape;
	*low->at++ = header;
}

/* Put one word of the record: a time, an id. */
static inline void ftf_low_word(struct ftf_low *low, uint64_t word)
{
	if (__builtin_expect(low->at >= low->end, 0))
		ftf_low_misuse(low, "a record gets more words than declared");
	else
		*low->at++ = word;
}

/* Put text or other bytes, padded with zeros to whole words. */
static inline void ftf_low_text(struct ftf_low *low, const void *text, size_t length)
{
	size_t words = ftf_words(length);

	if (!words)
		return;
	if (__builtin_expect(!low->end || (ptrdiff_t)words > low->end - low->at, 0)) {
		ftf_low_misuse(low, "a record gets more text than declared");
		return;
	}
	low->at[words - 1] = 0;
	memcpy(low->at, text, length);
	low->at += words;
}

struct ftf_low_arg {
	enum ftf_arg_type type;
	uint16_t name;           /* reference, or FTF_INLINE() */
	uint16_t string;         /* reference to the value of a STRING; else unused */
	uint64_t word;           /* the value of all other types: a double's bits; 0 or 1 */
	const char *name_text;   /* borrowed, if inline */
	const char *string_text; /* borrowed, if inline */
};

/* Put the next argument, which must be of the type that the shape declares. */
static inline void ftf_low_arg(struct ftf_low *low, const struct ftf_low_arg *arg)
{
	uint16_t string = arg->type == FTF_STRING ? arg->string : 0;
	size_t plain = ftf_type_words(arg->type);
	size_t words = plain + ftf_reference_words(arg->name) + ftf_reference_words(string);
	uint64_t head = (uint64_t)arg->type | (uint64_t)words << 4 | (uint64_t)arg->name << 16;

	if (__builtin_expect(!low->end || !(low->shape >> 60) ||
				     (low->shape & 15) != (uint64_t)arg->type ||
				     (ptrdiff_t)words > low->end - low->at,
			     0)) {
		ftf_low_misuse(low, "an argument is not as declared");
		return;
	}
	low->shape = (low->shape << 4 >> 8) | ((low->shape >> 60) - 1) << 60;
	if (arg->type == FTF_STRING)
		head |= (uint64_t)string << 32;
	else if (plain == 1 && arg->type != FTF_NULL)
		head |= arg->word << 32;
	*low->at++ = head;
	if (arg->name & 0x8000)
		ftf_low_text(low, arg->name_text, arg->name & 0x7fff);
	if (string & 0x8000)
		ftf_low_text(low, arg->string_text, string & 0x7fff);
	if (plain == 2)
		*low->at++ = arg->word;
}

/* Finish the record, which must be complete; a complete event must not end before it begins. */
static inline void ftf_low_finish(struct ftf_low *low)
{
	const uint64_t type = FTF_RECORD_EVENT | (uint64_t)FTF_DURATION_COMPLETE << 16;

	if (__builtin_expect(low->at != low->end || low->shape, 0)) {
		ftf_low_misuse(low, "a record gets less than declared");
		low->at = low->end ? low->start : low->at;
	} else if ((*low->start & 0xf000f) == type && low->at[-1] < low->start[1]) {
		ftf_low_misuse(low, "a complete event ends before it begins");
		low->at = low->start;
	}
	low->end = NULL;
}

/*
 * "String Record": from now on `reference` (1..32767) is this text, of at most FTF_STRING_MAX
 * bytes, or a sticky error.  In every trace of Jane Street's tracing, reference 1 is "process":
 * another string for it is an error.
 */
void ftf_low_string(struct ftf_low *low, uint16_t reference, const char *text, size_t length);

/* "Thread Record": from now on `reference` (1..255) is this thread. */
void ftf_low_thread(struct ftf_low *low, uint8_t reference, uint64_t pid, uint64_t tid);

/* "Provider Info Metadata": add and select a provider.  The name is cut after 255 bytes. */
void ftf_low_provider(struct ftf_low *low, uint32_t id, const char *name);

/* "Provider Section Metadata": the next records are from this provider. */
void ftf_low_section(struct ftf_low *low, uint32_t id);

/* "Initialization Record" of the selected provider. */
void ftf_low_initialization(struct ftf_low *low, const struct ftf_clock *clock);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
