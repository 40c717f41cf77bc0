/* SPDX-License-Identifier: MIT */
/*
 * The formats of tracepoints in a recording's TRACING_DATA (written by
 * tools/perf/util/trace-event-info.c): texts of tracefs's "format" files
 * (Documentation/trace/events.rst), with the position of each field in a sample's raw data.
 */
#pragma once

#include "decoder/perf_data/perf_file.h"

/* Location of a field's bytes. */
enum tracepoint_storage {
	TRACEPOINT_HERE = 0, /* `size` bytes at `offset` */
	TRACEPOINT_DATA_LOC, /* a u32: the low half is an offset, the high half a size */
	TRACEPOINT_REL_LOC,  /* the same, with an offset from the end of the u32 */
};

struct tracepoint_field {
	const char *name; /* not NUL-terminated; borrowed from the format */
	size_t name_length;
	uint32_t offset, size; /* bytes in the sample's raw data; size 0: absent */
	bool is_signed;
	bool is_text;   /* an array of char */
	uint32_t count; /* elements of an array; 0: not an array */
	enum tracepoint_storage storage;
};

/* Receives a format's text (owned by the reader) and its system, such as "sched". */
typedef void tracepoint_format_reader(void *context, const char *system, const char *format);

/* Pass all formats of the file to `read`, in the file's order. */
void tracepoint_formats_read(const struct perf_file *file, tracepoint_format_reader *read,
			     void *context);

/*
 * Read the name and the number (perf_event_attr.config) of a format's event: "name: sched_switch
 * ID: 314". Returns false if one is missing. Truncates names to 63 bytes.
 */
bool tracepoint_format_event(const char *format, char name[64], uint64_t *id);

/* Returns whether the file has an event with this number. */
bool tracepoint_is_recorded(const struct perf_file *file, uint64_t id);

/* Returns `size` bytes at `offset` of a sample's raw data; NULL if the data is shorter. */
const uint8_t *tracepoint_bytes(struct byte_view raw, size_t offset, size_t size);

/* Read a number of tracepoint_bytes(). Returns false, with `*value` unchanged, if it is missing. */
bool tracepoint_number(struct byte_view raw, size_t offset, size_t size, bool is_signed,
		       uint64_t *value);

/*
 * Find the next field in the text, starting at `at`:
 * "	field:pid_t next_pid;	offset:56;	size:4;	signed:1;"; arrays are
 * "char next_comm[16];" or "u16 list[];", data elsewhere "__data_loc char[] name;".
 * Returns the position at which the search continues, or NULL at the end.
 */
const char *tracepoint_format_next(const char *at, struct tracepoint_field *field);

/*
 * The scheduler's tracepoints: a thread begins to run (sched_switch) or is woken (sched_waking,
 * sched_wakeup, sched_wakeup_new). Without their formats, these are ordinary samples.
 */

enum sched_kind {
	SCHED_NONE = 0,
	SCHED_SWITCH,
	SCHED_WAKING, /* on the waker's CPU; SCHED_WAKEUP follows on the target CPU */
	SCHED_WAKEUP,
	SCHED_WAKEUP_NEW, /* first wakeup of a thread; without SCHED_WAKING */
	SCHED_KINDS,
};

/* Bytes of a thread's name (TASK_COMM_LEN), which may lack a NUL. */
#define SCHED_NAME_SIZE 16

/* The fields that are used. */
enum sched_member {
	SCHED_TID,
	SCHED_NAME,
	SCHED_STATE,
	SCHED_CPU,
	SCHED_PRIORITY,
	SCHED_FLAGS,
	SCHED_MEMBERS
};

/* Flags of the context (enum trace_flag_type of linux/trace_events.h). */
#define SCHED_IN_HARDIRQ 0x08
#define SCHED_IN_SOFTIRQ 0x10

struct sched_points {
	struct {
		bool recorded; /* an event of the recording has this format */
		uint64_t id;   /* perf_event_attr.config of its event */
		struct sched_field {
			uint32_t offset, size; /* bytes in the sample's raw data; size 0: absent */
		} fields[SCHED_MEMBERS];
	} formats[SCHED_KINDS];
};

struct sched_point {
	enum sched_kind kind;
	int32_t tid;    /* the thread that begins to run, or was woken */
	int32_t cpu;    /* target CPU of the woken thread; -1: not recorded */
	bool runnable;  /* SCHED_SWITCH: the previous thread was still runnable */
	bool dead;      /* SCHED_SWITCH: the previous thread has ended */
	uint64_t flags; /* SCHED_IN_*, and others */
	bool has_priority;
	int32_t priority; /* that of `tid`: below 100 for real-time threads, up to 139 for others */
	const char
		*name; /* name of `tid`: SCHED_NAME_SIZE bytes of the sample; NULL: not recorded */
};

/* Find the formats of the scheduler's events in the file. */
void sched_points_init(struct sched_points *points, const struct perf_file *file);

/*
 * Read a sample's tracepoint. Returns its kind; SCHED_NONE for other events and if it is too short.
 */
enum sched_kind sched_points_read(const struct sched_points *points,
				  const struct perf_sample *sample, struct sched_point *point);
