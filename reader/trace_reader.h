/* SPDX-License-Identifier: MIT */
/*
 * Reads a Fuchsia trace record by record, strictly.
 *
 * Follows the format's specification (fuchsia.dev, "Fuchsia trace format"), and shares no code with
 * the writer, so that each tests the other.  A record that violates the specification carries a
 * problem; reading ends only at a record whose size cannot be right.  The format may be extended
 * ("Extension points"): this reader skips unknown parts by their size, and counts them by name.
 */
#pragma once

#include "base/cursor.h"

/*
 * The bytes of a trace file from front to back: plain, gzip (also several members) or zstd,
 * recognised by their first bytes, as in Perfetto, not by the file's name.  Holds about 2 MiB,
 * whatever the size of the file.
 */
struct trace_input {
	FILE *file;      /* owned; NULL: closed */
	uint8_t *packed; /* owned: bytes of the file */
	size_t packed_used, packed_at;
	struct z_stream_s *gzip;  /* owned; NULL: not gzip */
	struct ZSTD_DCtx_s *zstd; /* owned; NULL: not zstd */
	bool inside;              /* a gzip member or zstd frame has not ended */
	uint8_t *bytes;           /* owned: bytes of the trace */
	size_t used, at;
	bool ended; /* nothing comes after `used` */
};

/* Open a file, "-" for standard input.  Returns 0; -1 with err filled. */
int trace_input_open(struct trace_input *input, const char *path, struct error *err);

/*
 * View the next bytes, valid until the next call: `size` (at most 64 KiB) or more, or all that are
 * left.  Moves past no byte.  Returns 0; -1 with err filled.
 */
int trace_input_peek(struct trace_input *input, size_t size, struct byte_view *view,
		     struct error *err);

void trace_input_close(struct trace_input *input);

/* "Record Types", with a kind for each subtype. */
enum trace_kind {
	TRACE_MAGIC,
	TRACE_PROVIDER_INFO,
	TRACE_PROVIDER_SECTION,
	TRACE_PROVIDER_EVENT,
	TRACE_INITIALIZATION,
	TRACE_STRING,
	TRACE_THREAD,
	TRACE_EVENT,
	TRACE_BLOB,
	TRACE_USERSPACE_OBJECT,
	TRACE_KERNEL_OBJECT,
	TRACE_CONTEXT_SWITCH,
	TRACE_THREAD_WAKEUP,
	TRACE_LEGACY_CONTEXT_SWITCH,
	TRACE_LOG,
	TRACE_LARGE_RECORD,
	TRACE_UNKNOWN,
	TRACE_KINDS
};

/* "Event Record", types. */
enum trace_event {
	EVENT_INSTANT,
	EVENT_COUNTER,
	EVENT_BEGIN,
	EVENT_END,
	EVENT_COMPLETE,
	EVENT_ASYNC_BEGIN,
	EVENT_ASYNC_INSTANT,
	EVENT_ASYNC_END,
	EVENT_FLOW_BEGIN,
	EVENT_FLOW_STEP,
	EVENT_FLOW_END,
	EVENT_TYPES
};

/* "Argument Types". */
enum trace_arg_type {
	ARG_NULL,
	ARG_INT32,
	ARG_UINT32,
	ARG_INT64,
	ARG_UINT64,
	ARG_DOUBLE,
	ARG_STRING,
	ARG_POINTER,
	ARG_KOID,
	ARG_BOOL,
	ARG_TYPES /* this and above: not known, and without a value */
};

/* Parts of the format that this reader does not know, by the field with the unknown number. */
enum trace_unknown {
	UNKNOWN_RECORD_TYPE,
	UNKNOWN_METADATA_TYPE,
	UNKNOWN_TRACE_INFO,
	UNKNOWN_PROVIDER_EVENT,
	UNKNOWN_EVENT_TYPE,
	UNKNOWN_ARGUMENT_TYPE,
	UNKNOWN_SCHEDULING_TYPE,
	UNKNOWN_THREAD_STATE,
	UNKNOWN_TYPES,                    /* the above: numbers of four bits */
	UNKNOWN_PROVIDER = UNKNOWN_TYPES, /* a section of a provider without information */
	UNKNOWN_WORDS,                    /* after the data of a record or argument */
	UNKNOWN_KINDS
};

#define UNKNOWN_NUMBERS 16

struct trace_ids {
	uint64_t pid, tid;
};

#define TRACE_ARGS_MAX 15

/* Strings are valid until the next record is read. */
struct trace_record {
	uint64_t offset; /* bytes from the start of the (unpacked) trace */
	size_t words;
	enum trace_kind kind;
	unsigned type;   /* type of an event, blob, kernel object or provider event */
	uint64_t number; /* reference of a string or thread; provider; CPU; ticks a second */
	uint64_t base_ticks, base_time; /* an initialization: the tick at base_time, in ns since
					   1970; both 0 if unknown */
	struct trace_ids thread;        /* an event's or log's; the outgoing one of a switch */
	struct trace_ids other;         /* the incoming thread */
	unsigned state;                 /* state of the outgoing thread */
	unsigned out_priority, in_priority;
	uint64_t time, id; /* ticks; id: koid, pointer, counter, async, flow, or end time */
	struct text_view category, name; /* name: also a string's, log's or provider's text */
	struct text_view bytes;          /* a blob's bytes */
	size_t arg_count;
	char problem[160]; /* or "" */
	char refusal[160]; /* why Perfetto drops it, or cannot show it; or "" */
	char unknown[80];  /* the first unknown part; or "" */
	struct trace_arg {
		enum trace_arg_type type;
		struct text_view name, string;
		uint64_t word; /* sign-extended for INT32; the bits of a DOUBLE */
	} args[TRACE_ARGS_MAX];
};

struct trace_reader {
	struct trace_input input;
	uint64_t offset;                                  /* offset of the next record */
	struct trace_provider *providers;                 /* owned; hash by id */
	struct trace_provider *current;                   /* borrowed; NULL if unknown */
	uint64_t held;                                    /* bytes of strings in all tables */
	uint64_t unknown[UNKNOWN_KINDS][UNKNOWN_NUMBERS]; /* [0]: without a number */
};

/* Open a trace.  Returns 0; -1 with err filled. */
int trace_reader_open(struct trace_reader *reader, const char *path, struct error *err);

/* Returns 0 if the trace begins with the magic number; -1 with err filled, with its likely kind. */
int trace_reader_check_magic(struct trace_reader *reader, struct error *err);

/* Read the next record.  Returns 1; 0 at the end; -1 with err filled: reading must stop. */
int trace_reader_next(struct trace_reader *reader, struct trace_record *record, struct error *err);

/* "record type", "argument type", ... */
extern const char *const trace_unknown_texts[UNKNOWN_KINDS];

/* Note a problem; the first one of a record counts. */
__attribute__((format(printf, 2, 3))) void trace_complain(struct trace_record *record,
							  const char *format, ...);

/* Note why Perfetto drops the record, or shows something else; the first reason counts. */
void trace_refuse(struct trace_record *record, const char *text);

void trace_reader_close(struct trace_reader *reader);
