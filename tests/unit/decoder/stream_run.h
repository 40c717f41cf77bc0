/* SPDX-License-Identifier: MIT */
/* One stream of the sample program, decoded from packets that a test writes. */
#pragma once

#include <intel-pt.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decoder/code/code_image.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/streams/auxtrace.h"
#include "decoder/streams/pt_streams.h"
#include "decoder/timeline/timeline.h"
#include "tests/support/sample.h"
#include "tests/support/unit.h"

#define EVENTS_MAX 4096

/* Offset in a file: the usual offsets fit in 32 bits. */
#define FAR (UINT64_C(1) << 32)

/* An open recording and one stream's events. */
struct stream_run {
	struct perf_data data;
	struct pt_packets packets;
	char recording[PERF_DATA_PATH];
	uint8_t *program_bytes;
	size_t program_size;
	size_t work_size;   /* 0: the sample's */
	size_t piece_size;  /* bytes of code with equal inlined calls; 0: unknown */
	uint8_t *far_bytes; /* instead: a file with the program at FAR; NULL: none */
	struct branch_event events[EVENTS_MAX]; /* the first ones */
	int32_t tids[EVENTS_MAX];
	struct branch_event last;
	void (*before_event)(struct pt_stream *stream); /* called before each event; or NULL */
	size_t count;
	struct pt_stream_stats stats;
	struct diag diag;
	int32_t tid; /* of the last event */
	enum pt_engine engine;
	bool skip;   /* leave out local jumps */
	bool cycles; /* emit cycles */
	bool cpu_events;
	bool counts; /* count executions of code: */
	struct code_count code[EVENTS_MAX];
	size_t code_count;
	bool merged;                      /* decode by pt_streams */
	bool many;                        /* decode thousands of such streams */
	const struct kernel_code *kernel; /* NULL: none */
	uint64_t switch_ip;               /* in it; 0: unknown */
	uint64_t begin, end;              /* ns: the selected time; end 0: all */
	uint64_t period;                  /* ns: count jumps that are left out; 0: do not */
	bool has_pieces;                  /* the trace is already added */
	bool in_pieces;                   /* write the trace in pieces of eight bytes */
	bool padded; /* padding follows the trace: its last packets are read in the fast way */
};

extern struct stream_run run;

/* `engine` is of enum pt_engine: every test runs with each. */
void begin(int engine);
/* Put `size` written bytes, from `from` on, into the recording. */
void add_piece(uint64_t aux_offset, size_t from, size_t size);
/* Decode the written packets into `run`. */
void finish(void);

/* The event at an index of `run.events` has these values. */
void expect(size_t index, enum branch_kind kind, uint64_t from, uint64_t to);

/* Give the records that follow a time and the thread of the sample. */
void stamp(uint64_t time);

void expect_all_bytes_counted(void);

#define KERNEL       UINT64_C(0xffffffff81000000)
#define KERNEL_SYS   (KERNEL + 0x20)
#define KERNEL_FAULT (KERNEL + 0x40)
#define KERNEL_NOP   (KERNEL + 0x50) /* of 5 bytes */

/* Pass a copy of kernel memory, by address, to the decoder. */
void add_kernel(char path[PERF_DATA_PATH]);

/* Map a part of the sample's code again. */
void add_mapping(uint64_t begin, uint64_t length, uint64_t moved);

/* The last event is a gap for lack of code at an address. */
void expect_gap_at(uint64_t ip);

#define MOVED      UINT64_C(0x100000)
#define MOVED_MORE UINT64_C(0x200000)

/* Replace the beginning of the code of the program. */
void write_program(const uint8_t *bytes, size_t size);
