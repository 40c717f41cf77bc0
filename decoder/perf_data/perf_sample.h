/* SPDX-License-Identifier: MIT */
/*
 * PERF_RECORD_SAMPLE as plain values (linux/perf_event.h, at that record; newer
 * fields from the kernel's own header), and the sample_id trailers of other records.  The
 * attribute of the event determines the fields of both.
 */
#ifndef DECODER_PERF_DATA_PERF_SAMPLE_H
#define DECODER_PERF_DATA_PERF_SAMPLE_H

#include "decoder/perf_data/perf_types.h"

struct perf_sample {
	const struct perf_attr *attr;     /* of the event; borrowed */
	int32_t pid, tid, cpu;            /* -1: not in the sample */
	uint64_t time;                    /* ns; 0: not in the sample */
	uint64_t ip, address, id, period; /* 0: not in the sample */
	/*
	 * Registers of user code, and of the interrupted code: an unaligned word for each bit of
	 * sample_regs_user and sample_regs_intr (asm/perf_regs.h), the lowest first.
	 */
	const uint8_t *user_registers, *registers; /* NULL: not in the sample */
	struct byte_view raw; /* of tracepoints and synthesised events; padding at its end */
	struct byte_view aux; /* trace data before the sample */
};

/*
 * Read a sample.
 * Returns 0; -1 if its event is unknown or it is too short for the event's fields.
 */
int perf_sample_read(const struct perf_file *file, const struct perf_record *record,
		     struct perf_sample *sample);

/*
 * Split the sample_id trailer off a kernel record, and read it into record->id; of a sample, read
 * the same fields; records of perf itself have no trailer.
 */
void perf_sample_split_id(const struct perf_file *file, struct perf_record *record);

/*
 * Returns whether the time of the record (record->id) can be one of perf's clock; otherwise there
 * is a warning.  The kernel's clocks are signed 64-bit ns since the boot or the epoch.  perf
 * writes ~0 << 32 where it has totals and no time (OFF_CPU_TIMESTAMP, perf 5.19 to 6.18).
 */
bool perf_record_time_can_be(const struct perf_file *file, const struct perf_record *record,
			     struct diag *diag);

#endif
