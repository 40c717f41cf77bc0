/* SPDX-License-Identifier: MIT */
/*
 * PERF_RECORD_SAMPLE as plain values (linux/perf_event.h, at that record; newer
 * fields from the kernel's own header).  Which fields a sample has, its event's
 * attribute says.
 */
#ifndef DECODER_PERF_DATA_PERF_SAMPLE_H
#define DECODER_PERF_DATA_PERF_SAMPLE_H

#include <stdint.h>

#include "decoder/perf_data/perf_file.h"

struct perf_sample {
	const struct perf_attr *attr;     /* of the event; borrowed */
	int32_t pid, tid, cpu;            /* -1: not told */
	uint64_t time;                    /* ns; 0: not told */
	uint64_t ip, address, id, period; /* 0: not told */
	struct perf_bytes raw; /* of tracepoints and synthesised events; padding at its end */
	struct perf_bytes aux; /* trace data before the sample */
};

/*
 * Read a sample.
 * Returns 0; -1 if its event is not known or it is too short for what the event
 * says.
 */
int perf_sample_read(const struct perf_file *file, const struct perf_record *record,
		     struct perf_sample *sample);

#endif
