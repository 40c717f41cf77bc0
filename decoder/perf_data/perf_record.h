/* SPDX-License-Identifier: MIT */
/*
 * A recording's events and records, and typed views of the sideband records.
 *
 * Texts and build ids are views of the file.  Sources: linux/perf_event.h (enum perf_event_type)
 * for the kernel's records, tools/perf/util/event.h for perf's own.
 */
#pragma once

#include <linux/perf_event.h>

#include "base/cursor.h"
#include "base/diag.h"

/* Records that perf itself writes (tools/perf/lib/include/perf/event.h). */
enum perf_user_record {
	PERF_USER_HEADER_ATTR = 64,
	PERF_USER_HEADER_EVENT_TYPE = 65,
	PERF_USER_HEADER_TRACING_DATA = 66,
	PERF_USER_HEADER_BUILD_ID = 67,
	PERF_USER_FINISHED_ROUND = 68,
	PERF_USER_ID_INDEX = 69,
	PERF_USER_AUXTRACE_INFO = 70,
	PERF_USER_AUXTRACE = 71,
	PERF_USER_AUXTRACE_ERROR = 72,
	PERF_USER_THREAD_MAP = 73,
	PERF_USER_CPU_MAP = 74,
	PERF_USER_STAT_CONFIG = 75,
	PERF_USER_STAT = 76,
	PERF_USER_STAT_ROUND = 77,
	PERF_USER_EVENT_UPDATE = 78,
	PERF_USER_TIME_CONV = 79,
	PERF_USER_HEADER_FEATURE = 80,
	PERF_USER_COMPRESSED = 81,
	PERF_USER_FINISHED_INIT = 82,
	PERF_USER_COMPRESSED2 = 83,
	PERF_USER_BPF_METADATA = 84,
	PERF_USER_SCHEDSTAT_CPU = 85,
	PERF_USER_SCHEDSTAT_DOMAIN = 86,
	PERF_USER_END, /* one more than the last */
};

/*
 * Record of `ptrace2ftf pack`: a 64-bit size, and after the record as many bytes of files: each
 * with its recorded path, a NUL, its 64-bit size, its bytes.
 */
#define PERF_USER_PACKED 0x50434b

/* PERF_RECORD_AUX_OUTPUT_HW_ID, in the headers since Linux 5.16. */
#define RECORD_AUX_OUTPUT_HW_ID 21

/* Feature sections used here (tools/perf/util/header.h, enum HEADER_*). */
enum perf_feature {
	PERF_FEATURE_TRACING_DATA = 1,
	PERF_FEATURE_BUILD_ID = 2,
	PERF_FEATURE_HOSTNAME = 3,
	PERF_FEATURE_OSRELEASE = 4,
	PERF_FEATURE_VERSION = 5,
	PERF_FEATURE_NRCPUS = 7,
	PERF_FEATURE_CPUDESC = 8,
	PERF_FEATURE_CPUID = 9,
	PERF_FEATURE_CMDLINE = 11,
	PERF_FEATURE_EVENT_DESC = 12,
	PERF_FEATURE_SAMPLE_TIME = 21,
	PERF_FEATURE_BPF_PROG_INFO = 25,
	PERF_FEATURE_CLOCK_DATA = 29,
	PERF_FEATURE_HYBRID_TOPOLOGY = 30,
	PERF_FEATURE_PACKED = 63, /* the files of PERF_USER_PACKED */
	PERF_FEATURE_COUNT = 64,  /* sections with higher numbers are dropped */
};

/* perf_event_attr.aux_action, since Linux 6.13; older headers call it __reserved_3. */
enum perf_aux_action {
	AUX_ACTION_START_PAUSED = 1, /* Intel PT starts paused */
	AUX_ACTION_PAUSE = 2,        /* each sample of an event in its group pauses Intel PT */
	AUX_ACTION_RESUME = 4,
};

struct perf_record {
	uint32_t type; /* enum perf_event_type or perf_user_record */
	uint16_t misc;
	const uint8_t *payload; /* after the 8-byte header, without the sample_id trailer */
	size_t size;            /* bytes of payload */
	struct byte_view aux;   /* AUXTRACE, TRACING_DATA, PACKED: the data after the record */
	size_t aux_after;       /* AUXTRACE: minimum bytes of the mapping after the data */
	/* The sample_id trailer of a record; absent fields are -1 and 0. */
	struct perf_sample_id {
		int32_t pid, tid, cpu;
		uint64_t time; /* ns; 0: unknown */
		uint64_t id;
	} id;
	uint64_t offset; /* offset of the record in its file, or in the unpacked data */
};

struct perf_file {
	const char *path; /* path of the first input, borrowed */
	/* An input of a recording in several files (perf_file_append()). */
	struct perf_origin {
		const char *path;       /* borrowed */
		struct byte_view bytes; /* the file, or the first file of a directory */
		/* ns: times of its records; `begin` is UINT64_MAX: unknown. */
		uint64_t begin, end;
		const uint8_t *clock; /* conversion of TSC to time; NULL: unknown */
	} * origins;                  /* owned: the inputs, if there are several */
	size_t origin_count, origin_room;
	uint64_t size;              /* bytes of all mappings */
	uint64_t written_ns;        /* ns since 1970: mtime of the first input; 0: a pipe */
	struct byte_view *mappings; /* owned array of owned mappings */
	size_t mapping_count, mapping_room;
	/* A range of a mapped file with successive records. */
	struct perf_part {
		const uint8_t *bytes; /* the whole file; a mapping of perf_file.mappings */
		uint64_t begin, end;  /* range of the records in the file */
		uint64_t base;        /* position of the first record (perf_file_next()) */
		uint64_t begin_time;  /* ns: time of records without one; see perf_file_append() */
	} * parts;                    /* owned */
	size_t part_count, part_room;
	const char *folder; /* path of the (first) input if it is a directory, else NULL */
	/* One event of the recording and the ids of its counters. */
	struct perf_attr {
		struct perf_event_attr attr; /* fields that the file's version lacks are 0 */
		uint32_t aux_action;         /* enum perf_aux_action */
		const uint8_t *ids;          /* id_count little-endian 8-byte ids, unaligned */
		size_t id_count;
		const char *name; /* from EVENT_DESC; NULL: unknown */
	} * attrs;                /* owned */
	size_t attr_count, attr_room;
	struct perf_attr_id *by_id; /* owned, sorted: the attribute of each id */
	size_t id_count;            /* ids of all attributes */
	/* Feature sections as plain values; absent values are NULL or 0. */
	struct perf_features {
		struct byte_view sections[PERF_FEATURE_COUNT]; /* raw, as in the file */
		const char *hostname, *os_release, *version, *cpu_description, *cpuid;
		const char *command_line;     /* words joined by blanks */
		const char *performance_cpus; /* CPUs by HYBRID_TOPOLOGY: a list as "0-7,16" */
		uint32_t cpus_available;
		uint64_t first_sample_time, last_sample_time; /* ns, perf's clock */
		bool has_clock_data;
		uint64_t clock_wall_ns, clock_ns; /* the same instant in both clocks */
	} features;                               /* features of the first input */
	struct byte_view *build_ids; /* owned: all inputs' BUILD_ID sections and records */
	size_t build_id_count, build_id_room;
	bool unfinished; /* perf was killed: the data extends to the end of the file */
	bool unproven;   /* an appended input lacks evidence (perf_file_append()) */
	struct arena arena;
};

/*
 * Path prefix of a file's pages that a process changed in memory, of which a core has the bytes:
 * what to add to the file's offsets for those of the core, modulo 2^64 (hexadecimal), and the
 * file's path follow. No record has this path: a hostile one is read as "//anon".
 */
#define PERF_MMAP_PRIVATE "//private/"

/*
 * PERF_RECORD_MMAP and MMAP2; or code from a JIT compiler's dump file, as if the file were mapped
 * at `time`.
 */
struct perf_mmap {
	uint64_t time; /* ns, perf's clock */
	int32_t pid;   /* -1: the kernel */
	bool executable;
	bool writable;        /* MMAP2 only */
	bool kernel;          /* kernel code, visible to all processes */
	bool guest;           /* code of a virtual machine */
	uint64_t begin, end;  /* ip range [begin, end); cut at 2^64 - 1 */
	uint64_t file_offset; /* offset in the file that is mapped at `begin` */
	const char *path;
	uint32_t major, minor;   /* MMAP2: the file's device; major 0: btrfs, overlayfs, NFS, ... */
	uint64_t inode;          /* MMAP2; 0: no file, or the build id is there instead */
	bool private;            /* MMAP2 only: MAP_PRIVATE, so writes stay in the process */
	const uint8_t *build_id; /* NULL if the record lacks it */
	size_t build_id_size;    /* bytes, at most BUILD_ID_MAX */
};

/* PERF_RECORD_AUX. */
struct perf_aux {
	uint64_t offset, size; /* in the AUX buffer's byte count */
	uint64_t flags;        /* PERF_AUX_FLAG_* */
};

/*
 * PERF_RECORD_KSYMBOL: registration or removal of code that the kernel generated at run time: a BPF
 * program, a trampoline of ftrace or kprobes.
 */
struct kernel_symbol {
	uint64_t time;       /* ns; 0: registered before the recording began */
	uint64_t begin, end; /* ip range [begin, end); cut at 2^64 - 1 */
	const char *name;    /* any bytes */
	bool gone;           /* true: removed; false: registered */
};

/* Returns the bytes of the record's fields. */
static inline struct cursor perf_record_fields(const struct perf_record *record)
{
	return cursor_over(record->payload, record->size);
}

/* Each returns 0; -1 if the record is too short or its text lacks a NUL. */
int perf_record_read_mmap(const struct perf_record *record, struct perf_mmap *mmap);
int perf_record_read_aux(const struct perf_record *record, struct perf_aux *aux);

/*
 * Returns the number of lost records of a PERF_RECORD_LOST, or of lost samples of a
 * PERF_RECORD_LOST_SAMPLES; 0 if the record is too short.
 */
uint64_t perf_record_lost_count(const struct perf_record *record);

/* Returns whether the kernel or perf writes records of this type. */
bool perf_record_is_known(uint32_t type);

/*
 * PERF_RECORD_SAMPLE as plain values (its description in linux/perf_event.h), and the sample_id
 * trailers of other records. The event's attribute determines the fields of both.
 */

struct perf_sample {
	const struct perf_attr *attr;     /* the event's attribute; borrowed */
	int32_t pid, tid, cpu;            /* -1: not in the sample */
	uint64_t time;                    /* ns; 0: not in the sample */
	uint64_t ip, address, id, period; /* 0: not in the sample */
	/*
	 * Registers of user code, and of the interrupted code: an unaligned word for each bit of
	 * sample_regs_user and sample_regs_intr (asm/perf_regs.h), lowest bit first.
	 */
	const uint8_t *user_registers, *registers; /* NULL: not in the sample */
	struct byte_view raw; /* tracepoints and synthesized events; padded at its end */
	struct byte_view aux; /* trace data before the sample */
};

/*
 * Read a sample. Returns 0; -1 if the event is unknown or the record is too short for its fields.
 */
int perf_sample_read(const struct perf_file *file, const struct perf_record *record,
		     struct perf_sample *sample);

/*
 * Split the sample_id trailer off a kernel record, and read it into record->id. Reads the same
 * fields of a sample. Records of perf itself have no trailer.
 */
void perf_sample_split_id(const struct perf_file *file, struct perf_record *record);

/*
 * Returns whether record->id.time can be a time of perf's clock; otherwise warns. The kernel's
 * clocks are signed 64-bit ns since boot or the epoch. perf writes ~0 << 32 for totals without a
 * time (OFF_CPU_TIMESTAMP, perf 5.19 to 6.18).
 */
bool perf_record_time_can_be(const struct perf_file *file, const struct perf_record *record,
			     struct diag *diag);
