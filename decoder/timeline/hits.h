/* SPDX-License-Identifier: MIT */
/*
 * Hits: samples of a program that reached a chosen address. Sources are breakpoints (perf record -e
 * mem:ADDR:x, PERF_TYPE_BREAKPOINT) and probes: tracepoints of perf probe, whose format has the
 * field __probe_ip or, for a return, __probe_func (kernel/trace/trace_probe.h, FIELD_STRING_IP,
 * FIELD_STRING_FUNC).
 *
 * A hit has the recorded values: fields of the probe, and registers (perf record --user-regs,
 * --intr-regs).
 */
#pragma once

#include "decoder/perf_data/perf_record.h"

/* Maximum values of a hit: MAX_TRACE_ARGS of kernel/trace/trace_probe.h, and registers. */
#define HIT_ARGS_MAX 160

/* Maximum bytes of all arrays' texts of a hit. */
#define HIT_TEXT_MAX 4096

/* The hits of a recording.  Zeroed memory is empty. */
struct hits {
	const struct perf_file *file; /* borrowed */
	/* Owned; formats by attribute, empty for breakpoints, NULL for others; NULL: no hits. */
	const struct probe_format **probes;
	/* Time and position of a record. */
	struct record_position {
		uint64_t time, position; /* ns; of perf_file_next() */
	} * positions;                   /* owned; when complete, sorted by time, then position */
	size_t count, room;
	struct arena arena;
};

struct hit {
	struct perf_sample sample;
	uint64_t ip;       /* address of the hit; 0: unknown */
	uint64_t function; /* an address in its function: `ip`, or a return's source */
};

enum hit_type { HIT_SIGNED, HIT_UNSIGNED, HIT_HEX, HIT_TEXT, HIT_ARRAY };

struct hit_args {
	struct hit_arg {
		const char *name; /* letters, digits and '_' */
		enum hit_type type;
		uint64_t number;  /* SIGNED: an int64_t */
		const char *text; /* TEXT, and ARRAY "{1,2}"; not NUL-terminated */
		size_t length;
	} list[HIT_ARGS_MAX];
	size_t count;
	char text[HIT_TEXT_MAX];
	size_t text_used;
};

/* Find the events of hits; `file` is borrowed until release. */
void hits_init(struct hits *hits, const struct perf_file *file);

/* Note a sample, at a position of perf_file_next(), if it is a hit and has a time. */
void hits_note(struct hits *hits, const struct perf_record *sample, uint64_t position);

void hits_release(struct hits *hits);

/* Returns whether an attribute of the file is an event of hits. */
bool hits_are_of(const struct hits *hits, const struct perf_attr *attr);

/* Returns the name of an event, borrowed from the file; else "event N", written to `room`. */
const char *hits_event_name(const struct hits *hits, const struct perf_attr *attr, char room[32]);

/* Read a hit by its index; `hit` borrows from the file.  Returns false if it cannot be read. */
bool hits_read(const struct hits *hits, size_t index, struct hit *hit);

/*
 * List the values recorded with a hit: the address of a data breakpoint; a probe's arguments, in
 * hexadecimal where perf prints hexadecimal; registers, argument registers first (System V ABI).
 * `args` borrows from both, and omits values beyond its room.
 */
void hits_list_args(const struct hits *hits, const struct hit *hit, struct hit_args *args);

/* Registers (enum perf_event_x86_regs of asm/perf_regs.h). */
enum hit_register { HIT_RSI = 4, HIT_RDI = 5 };

/* Returns whether a register was recorded with a hit, and its value. */
bool hit_register(const struct hit *hit, unsigned number, uint64_t *value);
