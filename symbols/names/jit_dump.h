/* SPDX-License-Identifier: MIT */
/*
 * jitdump files: a JIT compiler's description of the code that it writes, for perf, with the bytes
 * of the code (tools/perf/Documentation/jitdump-specification.txt, tools/perf/util/jitdump.h).
 * Version 1, little-endian.
 */
#pragma once

#include "base/cursor.h"

struct jit_dump {
	struct cursor rest;
	const uint8_t *bytes;   /* borrowed: the whole file */
	uint64_t made;          /* when the compiler began the file, by the records' clock */
	bool tsc_times;         /* flag: the times are TSC ticks, else ns; may be wrong */
	struct jit_load *loads; /* owned; hash by code index, for code that moves */
	struct cursor lines;    /* lines of the code that is written next, at lines_of */
	uint64_t lines_of;
};

/* Code that was written, or moved. */
struct jit_code {
	uint64_t time;       /* ticks or ns of the compiler's clock */
	uint64_t address;    /* ip of the code since `time` */
	uint64_t offset;     /* bytes from the start of the file to its bytes */
	uint64_t size;       /* bytes; at least 1 */
	const char *name;    /* NUL-terminated, borrowed from the file */
	bool moved;          /* the JIT moved this code (JIT_CODE_MOVE) */
	struct cursor lines; /* for jit_dump_next_line() */
	const char *file;    /* file of the line read last; NULL: no line */
};

/* Returns whether a path is that of a jitdump: "jit-PID.dump" in any directory. */
bool jit_dump_is_path(const char *path);

/* Read the header; `bytes` is borrowed.  Returns false if it is not a readable jitdump. */
bool jit_dump_init(struct jit_dump *dump, const uint8_t *bytes, size_t size);

/* Returns true and fills *code, false after the last one.  Damage ends the file. */
bool jit_dump_next(struct jit_dump *dump, struct jit_code *code);

/*
 * Returns true and fills *line and the ip at which its code begins, false after the last one. The
 * file is code->file.
 */
bool jit_dump_next_line(struct jit_code *code, uint64_t *ip, uint32_t *line);

void jit_dump_release(struct jit_dump *dump);
