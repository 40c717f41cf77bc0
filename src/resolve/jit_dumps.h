/* SPDX-License-Identifier: MIT */
/*
 * The code that JIT compilers wrote during the recording, from their jitdump files. A recording has
 * such a file as a mapping of its first page (tools/perf/Documentation/jitdump-specification.txt).
 * For processes without a jitdump, the code in an ELF core from their end is used
 * (symbols/files/core_file.h), as if it had been there since it was mapped.
 */
#ifndef SRC_RESOLVE_JIT_DUMPS_H
#define SRC_RESOLVE_JIT_DUMPS_H

#include "base/diag.h"
#include "decoder/clock/tsc_clock.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/timeline/timeline.h"
#include "symbols/dso/dso_store.h"

struct jit_dumps {
	struct perf_mmap *code; /* owned; sorted by time; paths borrowed from the store */
	size_t count, room;
	const struct dso **files; /* owned; the dumps */
	size_t file_count, file_room;
	bool monotonic; /* perf's clock is CLOCK_MONOTONIC (perf record -k mono) */
	bool saved;     /* a core has code of the recording */
};

/*
 * Read the dumps and the core of all processes in the recording. `store` opens the files; `clock`
 * converts TSC ticks to perf's time.
 */
void jit_dumps_read(struct jit_dumps *dumps, const struct perf_file *file, struct dso_store *store,
		    const struct tsc_clock *clock, struct diag *diag);

/* Release the memory.  Idempotent, also on zeroed memory. */
void jit_dumps_release(struct jit_dumps *dumps);

#endif
