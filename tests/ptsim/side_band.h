/* SPDX-License-Identifier: MIT */
/*
 * perf record's output besides the trace: tasks, mappings, switches.
 *
 * Records have the simulated machine's time and the ids of their task; they must be added in the
 * order of time.
 */
#pragma once

#include "tests/ptsim/mappings.h"
#include "tests/ptsim/pt_output.h"
#include "tests/support/perf_data.h"

struct side_band_options {
	bool per_thread;  /* a buffer per thread, not per CPU */
	bool snapshot;    /* the buffers are rings */
	bool no_clock;    /* no relation of the TSC to perf's clock */
	bool map_pages;   /* an MMAP2 for each page, as after mlock(2) of every second one */
	bool map_inodes;  /* MMAP2 with device and inode, not with the build id */
	bool kernel;      /* the kernel is recorded too */
	bool wakings;     /* the tracepoint sched_waking is recorded too */
	const char *host; /* NULL: ptsim */
	uint64_t wall;    /* ns since 1970 at the time 0; 0: not recorded */
	int cpus;
	struct pt_output_options pt;
	char *const *command;
};

struct side_band {
	struct side_band_options options;
	struct perf_data data;
	struct build_ids *ids; /* owned; of mapped files */
};

/* A record's task, CPU and time. */
struct clock_point {
	uint64_t tsc;
	int32_t pid, tid; /* 0: idle */
	int cpu;
};

/* The synthetic clock's time of a TSC value on perf's clock, in ns. */
uint64_t side_band_time(uint64_t tsc);

void side_band_init(struct side_band *side, const struct side_band_options *options);
void side_band_release(struct side_band *side);

void side_band_comm(struct side_band *side, const struct clock_point *now, const char *name,
		    bool exec);
void side_band_mapped(struct side_band *side, const struct clock_point *now,
		      const struct mapping *map);

/* `now` is the new task; the cpu is its parent's. */
void side_band_fork(struct side_band *side, const struct clock_point *now, int32_t pid,
		    int32_t tid);
void side_band_exit(struct side_band *side, const struct clock_point *now, int32_t parent);

/* The CPU changes from one task to another; pid 0 is idle.  Not written with per_thread. */
void side_band_switch(struct side_band *side, const struct clock_point *from,
		      const struct clock_point *to);

/* The thread of `now` wakes another one.  Written with `wakings`. */
void side_band_waking(struct side_band *side, const struct clock_point *now, int32_t tid);

/* One half of a switch: the thread of `now` leaves for another (`out`), or follows it. */
void side_band_switched(struct side_band *side, const struct clock_point *now, bool out,
			int32_t pid, int32_t tid);

/* The kernel's mapping, [kernel.kallsyms]_text, of `size` bytes. */
void side_band_kernel(struct side_band *side, uint64_t text, uint64_t size);

struct poke_bytes {
	const void *old_bytes, *new_bytes;
	uint16_t size;
};

/*
 * Its entry trampoline, at `text` in its code, also mapped at another address (perf's
 * machine__create_extra_kernel_map()).
 */
void side_band_trampoline(struct side_band *side, uint64_t address, uint64_t size, uint64_t text);

/* The kernel changes its code next. */
void side_band_poke(struct side_band *side, const struct clock_point *now, uint64_t address,
		    struct poke_bytes bytes);
void side_band_trace_start(struct side_band *side, const struct clock_point *now);

/* `size` bytes were written to the buffer; flags as in PERF_AUX_FLAG_*. */
void side_band_aux(struct side_band *side, const struct clock_point *now, uint64_t offset,
		   uint64_t size, uint64_t flags);
void side_band_lost(struct side_band *side, const struct clock_point *now, uint64_t records);

/* A finished buffer: the last `size` bytes at out->bytes, of the task or CPU in `now`. */
void side_band_buffer(struct side_band *side, const struct clock_point *now, unsigned queue,
		      const uint8_t *bytes, uint64_t offset, uint64_t size, uint64_t reference);

/* Returns 0, or -1 after a message on stderr. */
int side_band_write(struct side_band *side, const char *path);
