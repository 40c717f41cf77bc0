/* SPDX-License-Identifier: MIT */
/*
 * Reads memtrace's files: sampled allocations of an OCaml program, each with
 * its backtrace, and the promotion or collection of the blocks.
 *
 * The format is a profile of CTF in little-endian packets of at most 32 KiB,
 * versions 1 to 3 (memtrace's src/memtrace.tsdl and src/trace.ml).  The caller
 * maps the file.  Damage costs the rest of its packet; backtraces of that
 * domain are unknown from then on, since each builds upon the one before.
 *
 * Times are microseconds of the system's wall clock, given as the program's
 * start and what passed since.
 */
#ifndef OVERLAYS_MEMTRACE_H
#define OVERLAYS_MEMTRACE_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/diag.h"
#include "base/error.h"
#include "overlays/memtrace_codec.h"
#include "overlays/memtrace_locations.h"

enum memtrace_event_kind { MEMTRACE_ALLOC = 0, MEMTRACE_PROMOTE, MEMTRACE_COLLECT };

enum memtrace_source { MEMTRACE_MINOR = 0, MEMTRACE_MAJOR, MEMTRACE_EXTERNAL };

struct memtrace_event {
	uint64_t time;             /* us since the trace's start */
	uint64_t object;           /* number of the block: unique in the trace */
	uint8_t kind;              /* enum memtrace_event_kind; what follows is of ALLOC */
	uint8_t source;            /* enum memtrace_source */
	bool unknown_backtrace;    /* damage before the event affects it */
	uint16_t domain;           /* of all kinds */
	uint64_t words;            /* of the block, without its header */
	uint64_t samples;          /* how often it was hit */
	uint64_t common;           /* entries shared with the domain's backtrace before, as coded */
	const uint64_t *backtrace; /* codes, outermost caller first; borrowed until the next call */
	size_t backtrace_length;
};

struct memtrace_info {
	double sample_rate;                                   /* samples per word */
	unsigned word_size;                                   /* bits */
	const char *executable, *host, *parameters, *context; /* any bytes; owned by the arena */
	uint64_t pid;
	uint16_t initial_domain; /* that started memtrace; 0 before version 3 */
	uint64_t start_time;     /* us since 1970-01-01 UTC */
};

struct memtrace_domain;

struct memtrace {
	struct cursor in;                   /* after the current packet */
	struct cursor packet;               /* the rest of the current packet's events */
	const uint8_t *begin;               /* borrowed: the mapped file */
	bool holds_locations, holds_events; /* the current packet, as far as it was read */
	bool packets_lost;                  /* some could not be found */
	bool ended;
	uint64_t packet_begin, packet_end; /* us since 1970 */
	uint64_t next_object;
	uint64_t last_object; /* next_object after the packet, from its header */
	uint64_t allocations, unknown_backtraces; /* read up to now: all, and those without */
	struct memtrace_domain *domain;           /* of the packet */
	struct memtrace_domain *domains;          /* hash by number */
	size_t domain_count, domain_limit, backtrace_limit;
	uint16_t version;
	struct memtrace_info info;
	struct memtrace_locations locations;
	struct arena arena;
	struct diag *diag; /* borrowed */
};

/*
 * Read the first packet of a mapped file (borrowed until close).
 * Returns 0; -1 with err filled: no such file, or of a later version.  The
 * caller calls memtrace_close() in both cases.
 */
int memtrace_open(struct memtrace *trace, const uint8_t *bytes, size_t size, struct diag *diag,
		  struct error *err);

/*
 * Read the next event, in the order of the file: times of a domain do not go
 * back.  Packets of other processes and damaged packets are skipped and
 * warned about.
 * Returns 1; 0 at the end.
 */
int memtrace_next(struct memtrace *trace, struct memtrace_event *event);

/* Idempotent, also on zeroed memory. */
void memtrace_close(struct memtrace *trace);

#endif
