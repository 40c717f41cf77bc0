/* SPDX-License-Identifier: MIT */
/*
 * Reads memtrace's files: sampled allocations of an OCaml program, each with
 * its backtrace, and the promotion or collection of the blocks.
 *
 * The format is a profile of CTF in little-endian packets of at most 32 KiB, versions 1 to 3
 * (memtrace's src/memtrace.tsdl and src/trace.ml).  The caller maps the file.  Damage costs the
 * rest of its packet; later backtraces of that domain are unknown, since each builds upon the
 * previous one.
 *
 * Times are microseconds of the system's wall clock, given as the program's
 * start and the time since.
 */
#pragma once

#include "base/cursor.h"
#include "base/diag.h"
#include "base/tables/hash.h"

/*
 * Decodes the source locations in memtrace's backtraces.
 *
 * A code is a position in the program's code; its locations are the functions inlined there,
 * innermost last.  File and function names are coded by move-to-front lists: one of 31 files per
 * domain, and one of 31 functions per file.  Source: memtrace's src/location_codec.ml; memtrace's
 * own format description is src/memtrace.tsdl.
 */

struct memtrace_location {
	const char *file, *function; /* any bytes; owned by the table */
	uint32_t line;               /* at most 1048575, which means "or more" */
	uint16_t begin, end;         /* columns: at most 255 and 1023, "or more" */
};

#define MEMTRACE_LIST_LENGTH 31

/* A domain's list of files, each with the list of its functions. */
struct memtrace_names {
	struct memtrace_name {
		const char *name;                 /* NULL: an empty slot */
		struct memtrace_names *functions; /* functions of a file; borrowed from an arena */
	} names[MEMTRACE_LIST_LENGTH];            /* latest first */
};

/* Move an entry to the front, with a name.  A new file keeps the evicted file's functions. */
struct memtrace_name *memtrace_names_use(struct memtrace_names *list, size_t at, const char *name);

/* Returns a copy of the text up to the next NUL; NULL, with a short cursor, without a NUL. */
const char *memtrace_text_read(struct arena *arena, struct cursor *in);

/* Zeroed but for `arena`, it is empty. */
struct memtrace_locations {
	struct arena *arena; /* borrowed */
	struct memtrace_code {
		uint64_t code;
		const struct memtrace_location *locations; /* owned by the arena */
		size_t count;
		UT_hash_handle hh;
	} * by_code; /* owned: hash */
};

/*
 * Read one location event after its header, with the lists of its domain; *code gets its code.
 * Returns 0; 1 if the code already has other locations, which it keeps; -1 if the event is damaged:
 * the lists must not be used again.
 */
int memtrace_locations_read(struct memtrace_locations *table, struct memtrace_names *files,
			    struct cursor *in, uint64_t *code);

/* Returns the number that memtrace's own tools print for a code: OCaml's integer of 63 bits. */
static inline int64_t memtrace_code_number(uint64_t code)
{
	return (int64_t)(code << 1) >> 1;
}

/* Returns the locations of a code, outermost first, borrowed; *count is 0 if unknown. */
const struct memtrace_location *memtrace_locations_borrow(const struct memtrace_locations *table,
							  uint64_t code, size_t *count);

/*
 * memtrace's encoding of backtraces: each is a prefix of the previous one and references to a cache
 * of locations, in which every slot predicts the next.
 *
 * One codec per domain; its state lasts from packet to packet.  Source:
 * memtrace's src/backtrace_codec.ml.
 */

#define MEMTRACE_CACHE_SIZE 16384

#define MEMTRACE_NO_SLOT 0xFFFF /* in a packet's header: no check */

struct memtrace_codec {
	uint64_t *codes;       /* owned; MEMTRACE_CACHE_SIZE codes */
	uint16_t *predictions; /* owned; the slot that followed last time */
	uint64_t *backtrace;   /* owned: the latest, outermost caller first */
	size_t length, room;
	bool cut; /* a backtrace was longer than the limit */
};

/* Make an empty cache. */
void memtrace_codec_init(struct memtrace_codec *codec);

void memtrace_codec_release(struct memtrace_codec *codec);

enum memtrace_event_kind { MEMTRACE_ALLOC = 0, MEMTRACE_PROMOTE, MEMTRACE_COLLECT };

enum memtrace_source { MEMTRACE_MINOR = 0, MEMTRACE_MAJOR, MEMTRACE_EXTERNAL };

struct memtrace_event {
	uint64_t time;          /* us since the trace's start */
	uint64_t object;        /* number of the block: unique in the trace */
	uint8_t kind;           /* enum memtrace_event_kind; the members below are for ALLOC */
	uint8_t source;         /* enum memtrace_source */
	bool unknown_backtrace; /* damage before the event affects it */
	uint16_t domain;        /* for all kinds */
	uint64_t words;         /* the block's words, without its header */
	uint64_t samples;       /* number of hits */
	uint64_t common;        /* entries shared with the domain's previous backtrace, as coded */
	const uint64_t *backtrace; /* codes, outermost caller first; borrowed until the next call */
	size_t backtrace_length;
};

struct memtrace_domain;

struct memtrace {
	struct cursor in;                   /* after the current packet */
	struct cursor packet;               /* the rest of the current packet's events */
	const uint8_t *begin;               /* borrowed: the mapped file */
	bool holds_locations, holds_events; /* the read part of the current packet */
	bool packets_lost;                  /* some packets could not be found */
	bool ended;
	uint64_t packet_begin, packet_end; /* us since 1970 */
	uint64_t next_object;
	uint64_t last_object; /* next_object after the packet, from its header */
	uint64_t allocations, unknown_backtraces; /* read so far: all, and without a backtrace */
	struct memtrace_domain *domain;           /* the packet's domain */
	struct memtrace_domain *domains;          /* hash by number */
	size_t domain_limit, backtrace_limit;
	uint16_t version;
	struct memtrace_info {
		double sample_rate; /* samples per word */
		unsigned word_size; /* bits */
		const char *executable, *host, *parameters,
			*context; /* any bytes; owned by the arena */
		uint64_t pid;
		uint16_t initial_domain; /* domain that started memtrace; 0 before version 3 */
		uint64_t start_time;     /* us since 1970-01-01 UTC */
	} info;
	struct memtrace_locations locations;
	struct arena arena;
	struct diag *diag; /* borrowed */
};

/*
 * Read the first packet of a mapped file (borrowed until close).  Returns 0; -1 with err filled:
 * not a memtrace file, or of a later version.  The caller calls memtrace_close() in both cases.
 */
int memtrace_open(struct memtrace *trace, const uint8_t *bytes, size_t size, struct diag *diag,
		  struct error *err);

/*
 * Read the next event, in the order of the file: times of a domain do not go back.  Packets of
 * other processes and damaged packets are skipped and warned about.  Returns 1; 0 at the end.
 */
int memtrace_next(struct memtrace *trace, struct memtrace_event *event);

void memtrace_close(struct memtrace *trace);

/*
 * Writes memtrace files, as memtrace's own encoder does: version 3, packets of at most 32 KiB
 * which span at most 30 s, locations before the backtraces that need them.
 *
 * Domains are multiplexed: an event of another domain ends the current packet, so the file keeps
 * the order of the events.  Sources: memtrace's src/trace.ml, src/backtrace_codec.ml and
 * src/location_codec.ml.
 */

struct memtrace_writer;

/* A destination for the bytes of a file, in order. */
struct memtrace_sink {
	void (*put)(void *context, const void *bytes, size_t size);
	void *context; /* borrowed */
};

/*
 * Begin a file with its description.  `locations`, borrowed until close, must know a code when the
 * packet with its first use ends; an unknown code is written without a location.  Returns the
 * writer, owned by the caller.
 */
struct memtrace_writer *memtrace_writer_open(const struct memtrace_info *info,
					     const struct memtrace_locations *locations,
					     struct memtrace_sink sink);

/*
 * Write an event.  Times of a domain must not go back, nor numbers of its allocations.  `common` is
 * ignored and computed.  A backtrace of more than 4 KiB loses its innermost entries.
 */
void memtrace_writer_put(struct memtrace_writer *writer, const struct memtrace_event *event);

/* End the file and free the writer.  NULL is allowed. */
void memtrace_writer_close(struct memtrace_writer *writer);
