/* SPDX-License-Identifier: MIT */
/*
 * Writes memtrace's files for tests: all kinds of events, versions 1 to 3, any number of domains.
 *
 * Independent of the reader; the layout is from memtrace's src/memtrace.tsdl, src/trace.ml,
 * src/backtrace_codec.ml and src/location_codec.ml.  Misuse aborts.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CTF_DOMAINS   4
#define CTF_BACKTRACE 64

struct ctf_buffer {
	uint8_t *bytes; /* owned */
	size_t size, room;
};

struct ctf_domain;

struct ctf_file {
	struct ctf_buffer out;
	unsigned version;
	uint64_t pid, start;                     /* us since 1970 */
	struct ctf_domain *domains[CTF_DOMAINS]; /* owned; created on first use */
};

/* A function at a code location. */
struct ctf_location {
	const char *file, *function;
	unsigned line, begin, end;
};

struct ctf_alloc {
	uint64_t time; /* us since 1970 */
	uint64_t words, samples;
	unsigned source;           /* 0 minor, 1 major, 2 external */
	const uint64_t *backtrace; /* codes, outermost first; at most CTF_BACKTRACE */
	size_t length;
};

/* Start a file with its info packet. */
void ctf_init(struct ctf_file *file, unsigned version, double rate, uint64_t pid, uint64_t start);

/* Idempotent. */
void ctf_release(struct ctf_file *file);

/* Write a code's location in the domain's next packet of locations. */
void ctf_locate(struct ctf_file *file, unsigned domain, uint64_t code,
		const struct ctf_location *locations, size_t count);

/* Returns the object's number. */
uint64_t ctf_alloc(struct ctf_file *file, unsigned domain, const struct ctf_alloc *alloc);

/* code 3: promoted; 4: collected. */
void ctf_object(struct ctf_file *file, unsigned domain, unsigned code, uint64_t time,
		uint64_t object);

/* End the domain's current packet; packets are small, like memtrace's. */
void ctf_flush(struct ctf_file *file, unsigned domain);
