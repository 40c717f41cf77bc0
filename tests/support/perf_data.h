/* SPDX-License-Identifier: MIT */
/*
 * Writes perf.data files for tests, record by record.
 *
 * Independent of the reader: the layouts are from linux/perf_event.h (kernel records) and from
 * perf's tools/perf/Documentation/perf.data-file-format.txt, util/event.h, util/header.h,
 * util/auxtrace.h and util/intel-pt.h.  perf itself can read the output.  Everything is kept in
 * memory until perf_data_finish() or perf_data_write(); all arguments are copied.
 *
 *	struct perf_data data;
 *
 *	perf_data_init(&data);
 *	perf_data_add_pt_event(&data, 8, 0x300e601);
 *	perf_data_add_pt_info(&data, &pt);
 *	perf_data_stamp(&data, (struct perf_data_stamp){ .time = 100, .pid = 5, .tid = 5 });
 *	perf_data_add_comm(&data, 0, 5, 5, "prog");
 *	bytes = perf_data_finish(&data, &size);
 */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PERF_DATA_EVENTS   8
#define PERF_DATA_FEATURES 64
#define PERF_DATA_IDS      4 /* counters per event: one per CPU */

/* Bytes that grow; owned. */
struct perf_data_buffer {
	uint8_t *bytes;
	size_t size, room;
};

struct perf_data_event {
	struct perf_event_attr attr;
	const char *name;    /* in EVENT_DESC; borrowed until the file is finished; NULL: "" */
	uint64_t first_id;   /* its counters are first_id .. first_id + PERF_DATA_IDS - 1 */
	uint32_t attr_bytes; /* attr.size in the file; one for all: the first event's */
};

/* The sample_id trailer of the following records. */
struct perf_data_stamp {
	uint64_t time; /* ns */
	int32_t pid, tid, cpu;
	unsigned event; /* the records' event */
};

/* priv[] of AUXTRACE_INFO in its order (util/intel-pt.h, INTEL_PT_PMU_TYPE ...). */
struct perf_data_pt_info {
	uint64_t pmu_type;
	uint64_t time_shift, time_mult, time_zero, cap_user_time_zero;
	uint64_t tsc_bit, noretcomp_bit;
	uint64_t have_sched_switch, snapshot_mode, per_cpu_mmaps;
	uint64_t mtc_bit, mtc_freq_bits, tsc_ctc_ratio_n, tsc_ctc_ratio_d;
	uint64_t cyc_bit, max_nonturbo_ratio;
};

struct perf_data_mmap {
	int32_t pid, tid;
	uint64_t address, length, file_offset;
	const char *path;
	const uint8_t *build_id; /* NULL: device and inode instead; only in MMAP2 */
	uint8_t build_id_size;
	uint32_t prot;  /* only in MMAP2 */
	uint32_t major; /* of the device; only in MMAP2 without build_id */
	uint64_t inode; /* the same */
	bool shared;    /* MAP_SHARED, else MAP_PRIVATE; only in MMAP2 */
};

struct perf_data_aux {
	uint64_t aux_offset, reference;
	uint32_t queue;
	int32_t tid, cpu; /* -1: a buffer per CPU, or per thread */
	const void *bytes;
	size_t size;
};

struct perf_data {
	struct perf_data_event events[PERF_DATA_EVENTS];
	unsigned event_count;
	struct perf_data_stamp stamp;
	struct perf_data_buffer records;
	struct perf_data_buffer
		aux_index; /* of AUXTRACE: pairs of offset in `records`, record size */
	struct perf_data_buffer features[PERF_DATA_FEATURES];
	bool unfinished; /* set it for the file of a killed perf: data size 0, no features */
};

void perf_data_init(struct perf_data *data);

/* Idempotent, also on zeroed memory. */
void perf_data_release(struct perf_data *data);

/* ---- Events: before the records that belong to them ---------------------- */

/* Returns the new event's index. */
unsigned perf_data_add_event(struct perf_data *data, const struct perf_data_event *event);

/*
 * An intel_pt event with sample_id trailers of TID, TIME, CPU and IDENTIFIER.  Returns its index.
 */
unsigned perf_data_add_pt_event(struct perf_data *data, uint32_t pmu_type, uint64_t config);

/* ---- Records ------------------------------------------------------------- */

/* Stamp all following records; initially everything is 0. */
void perf_data_stamp(struct perf_data *data, struct perf_data_stamp stamp);

/* Any kernel record: the payload, padded to 8 bytes, and the trailer. */
void perf_data_add_record(struct perf_data *data, uint32_t type, uint16_t misc, const void *payload,
			  size_t size);

/* Any record of perf itself (type >= 64): no trailer. */
void perf_data_add_user_record(struct perf_data *data, uint32_t type, const void *payload,
			       size_t size);

void perf_data_add_mmap(struct perf_data *data, uint16_t misc, const struct perf_data_mmap *map);
void perf_data_add_mmap2(struct perf_data *data, uint16_t misc, const struct perf_data_mmap *map);
void perf_data_add_comm(struct perf_data *data, uint16_t misc, int32_t pid, int32_t tid,
			const char *name);

/* A fork or exit at the stamp's time; `parent_pid` is also the parent's tid. */
void perf_data_add_fork(struct perf_data *data, int32_t pid, int32_t tid, int32_t parent_pid);
void perf_data_add_exit(struct perf_data *data, int32_t pid, int32_t tid);

/* PERF_RECORD_SWITCH_CPU_WIDE; `out`: the stamp's thread leaves and pid/tid is next. */
void perf_data_add_switch(struct perf_data *data, bool out, int32_t pid, int32_t tid);
void perf_data_add_itrace_start(struct perf_data *data, int32_t pid, int32_t tid);
void perf_data_add_aux_event(struct perf_data *data, uint64_t offset, uint64_t size,
			     uint64_t flags);
void perf_data_add_lost(struct perf_data *data, uint64_t count);

/* AUXTRACE_INFO of Intel PT; filter may be NULL. */
void perf_data_add_pt_info(struct perf_data *data, const struct perf_data_pt_info *info,
			   const char *filter);

/* AUXTRACE followed by the data, padded with zeros to 8 bytes as perf does. */
void perf_data_add_auxtrace(struct perf_data *data, const struct perf_data_aux *aux);

/* ---- Features ------------------------------------------------------------ */

/* A feature by its bytes; a second call for a feature replaces it. */
void perf_data_set_feature(struct perf_data *data, unsigned feature, const void *bytes,
			   size_t size);

/* A feature of one string: HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID. */
void perf_data_set_text(struct perf_data *data, unsigned feature, const char *text);

/* CMDLINE: NULL ends `words`. */
void perf_data_set_command_line(struct perf_data *data, const char *const *words);

/* Another entry of BUILD_ID; misc is its cpu mode; an id has up to 20 bytes. */
void perf_data_add_build_id(struct perf_data *data, uint16_t misc, const char *path,
			    const uint8_t *id, uint8_t size);

/* ---- The file ------------------------------------------------------------ */

/*
 * Build the file, with EVENT_DESC if an event has a name, and AUXTRACE if there are trace data.
 * Returns its `*size` bytes, owned by the caller (free()); more can be added and built afterwards.
 */
uint8_t *perf_data_finish(const struct perf_data *data, size_t *size);

/* Write the file to a path; a failure stops the test program. */
void perf_data_write(const struct perf_data *data, const char *path);

/* Size of the path buffer of perf_data_write_temporary(). */
#define PERF_DATA_PATH 64

/* Write the file to a new file in /tmp, and return its path; the caller unlinks it. */
void perf_data_write_temporary(const struct perf_data *data, char path[PERF_DATA_PATH]);
