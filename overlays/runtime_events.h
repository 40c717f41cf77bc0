/* SPDX-License-Identifier: MIT */
/*
 * Reads the rings of OCaml's runtime events: the file PID.events that a program of OCaml 5 keeps
 * mapped while it runs; the program may have ended.
 *
 * The caller maps the file; nothing here does I/O.  The program may still write to the mapping:
 * each event is copied, and returned only if the ring's head shows that it was not overwritten
 * meanwhile.  A damaged ring yields the messages before the damage and the longest run of sound
 * messages that reaches the tail.  In a copy made while the program wrote, messages newer than the
 * copied tail may have overwritten the oldest ones: they are skipped.
 *
 * Source: runtime/runtime_events.c and caml/runtime_events.h of OCaml 5.0 to 5.4.  Times are ns of
 * the system's monotonic clock; within a ring they do not go back.  A ring belongs to a domain's
 * slot: successive domains may share it.
 */
#pragma once

#include "base/cursor.h"
#include "base/diag.h"

enum runtime_phases {
	RUNTIME_PHASES_5_0 = 1, /* OCaml 5.0, 5.1, 5.2 */
	RUNTIME_PHASES_5_3,     /* OCaml 5.3 and later */
};

enum runtime_lifecycle {
	RUNTIME_RING_START = 0,
	RUNTIME_RING_RESUME = 3,
	RUNTIME_DOMAIN_SPAWN = 6,
	RUNTIME_DOMAIN_TERMINATE = 7,
};

enum runtime_counter {
	RUNTIME_MINOR_PROMOTED = 4,  /* bytes of one minor collection */
	RUNTIME_MINOR_ALLOCATED = 5, /* bytes between two minor collections */
	RUNTIME_COUNTER_5_3 = 17,    /* the first counter that only OCaml 5.3 and later have */
};

/* The number of the phase "minor" in each table: the phase in which minor_promoted is counted. */
#define RUNTIME_MINOR_5_0 10
#define RUNTIME_MINOR_5_3 11

/* The first phase number that only the table of 5.3 has. */
#define RUNTIME_PHASE_ONLY_5_3 44

/*
 * Returns the unit of a counter's value, "work" also if the number is unknown; NULL: an occurrence,
 * whose value is 1 or the requested amount.
 */
const char *runtime_counter_unit(unsigned counter);

enum runtime_event_kind {
	RUNTIME_LIFECYCLE = 0, /* id: enum runtime_lifecycle; value: a pid, or 0 */
	RUNTIME_BEGIN,         /* id: a phase */
	RUNTIME_END,
	RUNTIME_COUNTER,   /* id: enum runtime_counter; value */
	RUNTIME_ALLOC,     /* payload: 20 counts of blocks by size, 8 bytes each */
	RUNTIME_USER_UNIT, /* events of the program: id is its number in the table of names */
	RUNTIME_USER_INT,  /* value: the low 32 bits of the program's number, signed */
	RUNTIME_USER_SPAN_BEGIN,
	RUNTIME_USER_SPAN_END,
	RUNTIME_USER_CUSTOM, /* payload: bytes as the program made them */
	RUNTIME_LOST,        /* value: words of the ring overwritten unread; no time */
};

struct runtime_event {
	uint64_t time; /* ns, CLOCK_MONOTONIC */
	uint32_t ring;
	uint16_t id;
	uint8_t kind; /* enum runtime_event_kind */
	int64_t value;
	const uint8_t *payload; /* borrowed until the next call; may be NULL */
	size_t payload_size;    /* bytes */
};

struct runtime_events {
	const uint8_t *bytes; /* borrowed: the mapped file */
	size_t size;
	uint32_t rings; /* the maximum; most are unused */
	uint64_t ring_header_size, ring_words, headers_offset, data_offset;
	uint64_t names_offset;          /* 0: OCaml 5.0, which has no events of the program */
	uint8_t phases;                 /* enum runtime_phases; may be set after open */
	bool phases_guessed;            /* no event shows the right table */
	uint64_t first_time, last_time; /* ns: of all rings at open; 0: no event */
	int32_t pid; /* pid in the first start of a ring or domain; -1: the rings lost it */
};

/* One ring being read.  Zeroed is a ring without events. */
struct runtime_ring {
	const struct runtime_events *file; /* borrowed */
	uint32_t index;
	uint64_t at, end;       /* words since the ring's start; `end` as it was at the start */
	uint64_t lost;          /* words not yet reported as RUNTIME_LOST */
	uint64_t gap, gap_end;  /* damaged words, with sound ones after them; equal if undamaged */
	bool damaged;           /* a part is left out */
	uint64_t message[1023]; /* the copy of the latest event */
};

/*
 * Check the header of a mapped file (borrowed until the last use) and find out which table of
 * phases it uses.  Warns about rings beyond the end of the file, and about damaged rings.  Returns
 * 0; -1 with err filled: not a runtime events file, or of another version.
 */
int runtime_events_open(struct runtime_events *file, const uint8_t *bytes, size_t size,
			struct diag *diag, struct error *err);

/* Begin to read ring `index`, which is below file->rings. */
void runtime_ring_start(struct runtime_ring *ring, const struct runtime_events *file,
			uint32_t index);

/* Read the next event, in the order of writing.  Returns 1; 0 after the last sound message. */
int runtime_ring_next(struct runtime_ring *ring, struct runtime_event *event);

/*
 * Copy the name of the program's event `id`, with a NUL at its end: any bytes, cut at 127.  An
 * event without a name in the file is called "event ID".  Returns its length.
 */
size_t runtime_events_user_name(const struct runtime_events *file, unsigned id, char name[128]);

/*
 * Returns the name of a phase (kind RUNTIME_BEGIN or RUNTIME_END), which depends on the file's
 * OCaml version, or of a lifecycle event or counter; NULL if the number is unknown.
 */
const char *runtime_event_name(const struct runtime_events *file, enum runtime_event_kind kind,
			       unsigned id);

/*
 * The payloads of well-known custom events of OCaml programs.
 *
 * The program's own code writes the bytes of a custom event, and the file has no description of
 * them, so only events with known names can be read: those of Eio
 * (lib_eio/runtime_events/eio_runtime_events.ml) and of ocaml-trace (src/runtime-events).
 */

enum runtime_custom_kind {
	RUNTIME_CUSTOM_OTHER = 0,  /* an instant; the fields that are known */
	RUNTIME_CUSTOM_SPAN_BEGIN, /* the slice is `text` */
	RUNTIME_CUSTOM_SPAN_END,
	RUNTIME_CUSTOM_COUNTER, /* `text` names it; its value is the only field */
};

struct runtime_custom {
	enum runtime_custom_kind kind;
	struct text_view text; /* borrowed from the payload; `at` may be NULL */
	size_t count;
	struct runtime_field {
		const char *name, *word; /* word NULL: a number */
		bool is_real;
		uint64_t bits; /* bits of an int64_t or, if `is_real`, of a double */
	} fields[2];
};

/* Returns whether the name is known and the payload long enough; if not, *custom is zeroed. */
bool runtime_custom_read(struct runtime_custom *custom, const char *name, const uint8_t *payload,
			 size_t size);
