/* SPDX-License-Identifier: MIT */
/*
 * Typed views of the side-band records.
 *
 * Texts and build ids are views of the file.  Sources: linux/perf_event.h (enum perf_event_type)
 * for the kernel's records, tools/perf/util/event.h for perf's own.
 */
#ifndef DECODER_PERF_DATA_PERF_RECORD_H
#define DECODER_PERF_DATA_PERF_RECORD_H

#include "decoder/perf_data/perf_types.h"

#define BUILD_ID_MAX 20 /* bytes of a build id that a record can hold */

/*
 * PERF_RECORD_MMAP and MMAP2; or code that a JIT compiler wrote, from the compiler's own dump
 * file, as if the file were mapped there from `time` on.
 */
struct perf_mmap {
	uint64_t time; /* ns, perf's clock */
	int32_t pid;   /* -1: the kernel */
	bool executable;
	bool kernel;          /* kernel code, seen by all processes */
	bool guest;           /* of a virtual machine, not of this one */
	uint64_t begin, end;  /* ip range [begin, end); cut at 2^64 - 1 */
	uint64_t file_offset; /* byte in the file that is mapped at `begin` */
	const char *path;
	const uint8_t *build_id; /* NULL if the record lacks it */
	size_t build_id_size;    /* bytes, at most BUILD_ID_MAX */
};

/* PERF_RECORD_AUX. */
struct perf_aux {
	uint64_t offset, size; /* in the AUX buffer's own count of bytes */
	uint64_t flags;        /* PERF_AUX_FLAG_* */
};

/*
 * PERF_RECORD_KSYMBOL: code that the kernel generated at run time was registered or removed: a
 * BPF program, a trampoline of ftrace or kprobes.
 */
struct kernel_symbol {
	uint64_t time;       /* ns; 0: registered before the recording began */
	uint64_t begin, end; /* ip range [begin, end); cut at 2^64 - 1 */
	const char *name;    /* any bytes */
	bool gone;           /* removed, else registered */
};

/*
 * PERF_RECORD_TEXT_POKE: the kernel changed its own code.  From `time` (ns) on, the new bytes
 * are at the address.
 */
struct code_patch {
	uint64_t time;
	uint64_t address;
	const uint8_t *old_bytes, *new_bytes; /* borrowed; either may be empty */
	uint32_t old_size, new_size;
	uint64_t order; /* among patches of one time; for the caller's use */
};

/* Returns the bytes of the record's fields. */
static inline struct cursor perf_record_fields(const struct perf_record *record)
{
	return cursor_over(record->payload, record->size);
}

/* Returns the text at the cursor; NULL (and short) if no NUL ends it within the record. */
static inline const char *perf_record_text(struct cursor *c)
{
	bool ends = memchr(c->at, 0, cursor_left(c));

	c->short_ |= !ends;
	return ends ? (const char *)c->at : NULL;
}

/* Each returns 0; -1 if the record is too short or its text has no end. */
int perf_record_read_mmap(const struct perf_record *record, struct perf_mmap *mmap);
int perf_record_read_aux(const struct perf_record *record, struct perf_aux *aux);

/*
 * Returns the number of lost records of a PERF_RECORD_LOST, or of lost samples of a
 * PERF_RECORD_LOST_SAMPLES; 0 if the record is too short.
 */
uint64_t perf_record_lost_count(const struct perf_record *record);

/* Returns whether the kernel or perf is known to write records of this type. */
bool perf_record_is_known(uint32_t type);

/*
 * PERF_RECORD_SAMPLE as plain values (linux/perf_event.h, at that record; newer
 * fields from the kernel's own header), and the sample_id trailers of other records.  The
 * attribute of the event determines the fields of both.
 */

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
 * Read a sample.  Returns 0; -1 if its event is unknown or it is too short for the event's fields.
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
