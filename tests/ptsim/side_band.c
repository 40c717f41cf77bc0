/* SPDX-License-Identifier: MIT */
#include "tests/ptsim/side_band.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "tests/support/tracing_data.h"

/* The intel_pt PMU has any number from 6 on; perf finds it in AUXTRACE_INFO. */
#define PMU_TYPE 8

/* 2.5 GHz: a tick is 0.4 ns (perf_event.h: time = zero + (tsc * mult >> shift)). */
#define TIME_SHIFT 31
#define TIME_MULT  UINT64_C(858993459)
#define TIME_ZERO  UINT64_C(1000000)

/* perf.data features (util/header.h, HEADER_*). */
enum {
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE,
	FEATURE_VERSION,
	FEATURE_ARCH,
	FEATURE_NRCPUS,
	FEATURE_CPUDESC,
	FEATURE_CPUID,
	FEATURE_SAMPLE_TIME = 21,
	FEATURE_CLOCK_DATA = 29
};

/* perf's own records (util/event.h). */
enum {
	RECORD_ID_INDEX = 69,
	RECORD_THREAD_MAP = 73,
	RECORD_TIME_CONV = 79,
	RECORD_FINISHED_INIT = 82
};

/* The PT event's config (format folder of the intel_pt PMU). */
enum {
	CONFIG_PT = 1,
	CONFIG_CYC = 1 << 1,
	CONFIG_MTC = 1 << 9,
	CONFIG_TSC = 1 << 10,
	CONFIG_NORETCOMP = 1 << 11,
	CONFIG_BRANCH = 1 << 13,
	CONFIG_MTC_PERIOD = 14,
	CONFIG_PSB_PERIOD = 24
};

enum { EVENT_PT, EVENT_SWITCHES, EVENT_TASKS, EVENT_WAKINGS };

/* As tracefs of Linux 6.1 has it. */
#define WAKING_ID       318
#define WAKING_FIRST_ID 1300
static const char waking_format[] =
	"name: sched_waking\nID: 318\nformat:\n" TRACING_COMMON
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"comm=%s pid=%d target_cpu=%03d\", REC->comm, REC->pid, REC->target_cpu\n";

struct build_ids {
	struct build_ids *next;
	char path[512];
	uint8_t id[BUILD_ID_MAX];
	uint8_t size;
	bool listed;
};

uint64_t side_band_time(uint64_t tsc)
{
	return TIME_ZERO + (uint64_t)((unsigned __int128)tsc * TIME_MULT >> TIME_SHIFT);
}

static uint64_t config_of(const struct pt_output_options *pt)
{
	uint64_t config = CONFIG_PT | CONFIG_BRANCH;
	unsigned psb = 0;

	while (psb < 15 && UINT64_C(2048) << psb < pt->psb_bytes)
		psb++;
	config |= pt->cyc ? CONFIG_CYC : 0;
	config |= pt->mtc ? CONFIG_MTC : 0;
	config |= pt->tsc ? CONFIG_TSC : 0;
	config |= pt->ret_compression ? 0 : CONFIG_NORETCOMP;
	return config | (uint64_t)pt->mtc_period << CONFIG_MTC_PERIOD |
	       (uint64_t)psb << CONFIG_PSB_PERIOD;
}

static void add_events(struct side_band *side)
{
	bool cpus = !side->options.per_thread;
	struct perf_data_event dummy = {
		.attr = {
			.type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_DUMMY,
			.sample_period = 1,
			.sample_id_all = 1,
			.exclude_kernel = 1,
		},
		.attr_bytes = sizeof(struct perf_event_attr),
	};

	perf_data_add_pt_event(&side->data, PMU_TYPE, config_of(&side->options.pt));
	side->data.events[EVENT_PT].attr.inherit = cpus;
	if (side->options.kernel) {
		side->data.events[EVENT_PT].attr.exclude_kernel = 0;
		side->data.events[EVENT_PT].name = "intel_pt//";
	}
	dummy.attr.sample_type = side->data.events[EVENT_PT].attr.sample_type;
	dummy.attr.context_switch = 1;
	dummy.name = "dummy:u";
	dummy.first_id = 1100;
	perf_data_add_event(&side->data, &dummy);
	dummy.attr.context_switch = 0;
	dummy.attr.mmap = dummy.attr.mmap2 = dummy.attr.comm = dummy.attr.comm_exec = 1;
	dummy.attr.task = 1;
	dummy.attr.build_id = !side->options.map_inodes;
	dummy.attr.text_poke = side->options.kernel;
	dummy.first_id = 1200;
	perf_data_add_event(&side->data, &dummy);
}

static void add_wakings(struct side_band *side)
{
	const char *const formats[] = { waking_format };
	struct perf_data_buffer bytes =
		tracing_data(&(struct tracing_system){ "sched", formats, 1 }, 1);
	struct perf_data_event event = {
		.attr = {
			.type = PERF_TYPE_TRACEPOINT,
			.config = WAKING_ID,
			.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				       PERF_SAMPLE_CPU | PERF_SAMPLE_RAW,
			.sample_period = 1,
			.sample_id_all = 1,
		},
		.name = "sched:sched_waking",
		.first_id = WAKING_FIRST_ID,
		.attr_bytes = sizeof(struct perf_event_attr),
	};

	perf_data_add_event(&side->data, &event);
	perf_data_set_feature(&side->data, FEATURE_TRACING_DATA, bytes.bytes, bytes.size);
	free(bytes.bytes);
}

/* util/header.c, write_clock_data(): version, clock, the wall clock, and this clock at that time.
 */
static void add_wall(struct side_band *side)
{
	struct {
		uint32_t version, clock;
		uint64_t wall, time;
	} data = { 1, CLOCK_MONOTONIC, side->options.wall, 0 };

	if (side->options.wall)
		perf_data_set_feature(&side->data, FEATURE_CLOCK_DATA, &data, sizeof(data));
}

/* util/header.c, process of NRCPUS: available, online. */
static void add_features(struct side_band *side)
{
	uint32_t cpus[2] = { (uint32_t)side->options.cpus, (uint32_t)side->options.cpus };
	struct utsname kernel;
	size_t count = 0;
	const char **words;

	perf_data_set_text(&side->data, FEATURE_HOSTNAME,
			   side->options.host ? side->options.host : "ptsim");
	add_wall(side);
	/* The programs' vDSO is this kernel's. */
	uname(&kernel);
	perf_data_set_text(&side->data, FEATURE_OSRELEASE, kernel.release);
	perf_data_set_text(&side->data, FEATURE_VERSION, "6.1.0");
	perf_data_set_text(&side->data, FEATURE_ARCH, "x86_64");
	perf_data_set_feature(&side->data, FEATURE_NRCPUS, cpus, sizeof(cpus));
	perf_data_set_text(&side->data, FEATURE_CPUDESC, "ptsim, a simulated processor");
	perf_data_set_text(&side->data, FEATURE_CPUID, "GenuineIntel,6,85,7");
	while (side->options.command[count])
		count++;
	words = alloc_zeroed(count + 4, sizeof(*words));
	memcpy(words, (const char *[]){ "ptsim", "record", "--" }, 3 * sizeof(*words));
	memcpy(words + 3, side->options.command, count * sizeof(*words));
	perf_data_set_command_line(&side->data, words);
	free(words);
}

static void add_clock(struct side_band *side)
{
	const struct pt_output_options *pt = &side->options.pt;
	struct perf_data_pt_info info = {
		.pmu_type = PMU_TYPE,
		.cap_user_time_zero = !side->options.no_clock,
		.tsc_bit = CONFIG_TSC,
		.noretcomp_bit = CONFIG_NORETCOMP,
		/* 3: switches of all tasks are recorded (util/intel-pt.c). */
		.have_sched_switch = side->options.per_thread ? 0 : 3,
		.snapshot_mode = side->options.snapshot,
		.per_cpu_mmaps = !side->options.per_thread,
		.mtc_bit = CONFIG_MTC,
		.mtc_freq_bits = UINT64_C(15) << CONFIG_MTC_PERIOD,
		.tsc_ctc_ratio_n = 2 * PT_TSC_PER_CTC,
		.tsc_ctc_ratio_d = 2,
		.cyc_bit = CONFIG_CYC,
		.max_nonturbo_ratio = PT_MAX_NONTURBO_RATIO,
	};
	uint64_t conversion[] = { TIME_SHIFT, TIME_MULT, TIME_ZERO };

	(void)pt;
	if (!side->options.no_clock) {
		info.time_shift = TIME_SHIFT;
		info.time_mult = TIME_MULT;
		info.time_zero = TIME_ZERO;
		perf_data_add_user_record(&side->data, RECORD_TIME_CONV, conversion,
					  sizeof(conversion));
	}
	perf_data_add_pt_info(&side->data, &info, NULL);
}

/* util/event.h, struct perf_record_id_index: count, then id, idx, cpu, tid of each counter. */
static void add_id_index(struct side_band *side)
{
	uint64_t words[1 + 4 * (EVENT_WAKINGS + 1) * PERF_DATA_IDS] = { 0 };
	size_t count = 0;

	for (unsigned event = 0; event < side->data.event_count; event++) {
		for (unsigned cpu = 0; cpu < PERF_DATA_IDS; cpu++) {
			uint64_t *entry = &words[1 + 4 * count++];

			entry[0] = side->data.events[event].first_id + cpu;
			entry[1] = cpu;
			entry[2] = side->options.per_thread ? UINT64_MAX : cpu;
			entry[3] = side->options.per_thread ? 0 : UINT64_MAX;
		}
	}
	words[0] = count;
	perf_data_add_user_record(&side->data, RECORD_ID_INDEX, words,
				  (1 + 4 * count) * sizeof(*words));
}

void side_band_init(struct side_band *side, const struct side_band_options *options)
{
	*side = (struct side_band){ .options = *options };
	perf_data_init(&side->data);
	add_events(side);
	if (options->wakings)
		add_wakings(side);
	add_features(side);
	add_clock(side);
	add_id_index(side);
}

void side_band_release(struct side_band *side)
{
	while (side->ids) {
		struct build_ids *next = side->ids->next;

		free(side->ids);
		side->ids = next;
	}
	perf_data_release(&side->data);
}

static void stamp(struct side_band *side, const struct clock_point *now, unsigned event)
{
	perf_data_stamp(&side->data, (struct perf_data_stamp){
					     .time = side_band_time(now->tsc),
					     .pid = now->pid,
					     .tid = now->tid,
					     .cpu = now->cpu,
					     .event = event,
				     });
}

void side_band_comm(struct side_band *side, const struct clock_point *now, const char *name,
		    bool exec)
{
	stamp(side, now, EVENT_TASKS);
	perf_data_add_comm(&side->data, exec ? PERF_RECORD_MISC_COMM_EXEC : 0, now->pid, now->tid,
			   name);
}

static struct build_ids *find_build_id(struct side_band *side, const char *path)
{
	struct build_ids *entry;

	for (entry = side->ids; entry; entry = entry->next) {
		if (strcmp(entry->path, path) == 0)
			return entry;
	}
	entry = alloc_zeroed(1, sizeof(*entry));
	snprintf(entry->path, sizeof(entry->path), "%s", path);
	entry->size = (uint8_t)build_id_read(path, entry->id);
	entry->next = side->ids;
	side->ids = entry;
	return entry;
}

#define MAP_PAGE 4096

void side_band_mapped(struct side_band *side, const struct clock_point *now,
		      const struct mapping *map)
{
	struct build_ids *id = find_build_id(side, map->path);
	struct perf_data_mmap record = {
		.pid = now->pid,
		.tid = now->tid,
		.address = map->begin,
		.length = map->end - map->begin,
		.file_offset = map->offset,
		.path = map->path,
		.prot = map->prot,
		.major = map->major,
		.inode = map->inode,
	};

	if (!side->options.map_inodes && id->size) {
		record.build_id = id->id;
		record.build_id_size = id->size;
	}
	if (id->size && !id->listed)
		perf_data_add_build_id(&side->data, PERF_RECORD_MISC_USER, map->path, id->id,
				       id->size);
	id->listed = true;
	/* Only files: mlock(2) does not split the vDSO, and perf reads its mappings from 0. */
	do {
		if (side->options.map_pages && map->path[0] == '/' && record.length > MAP_PAGE)
			record.length = MAP_PAGE;
		stamp(side, now, EVENT_TASKS);
		perf_data_add_mmap2(&side->data, PERF_RECORD_MISC_USER, &record);
		record.address += record.length;
		record.file_offset += record.length;
	} while (record.address < map->end);
}

/* linux/perf_event.h, PERF_RECORD_FORK and EXIT: pid, ppid, tid, ptid, time. */
static void add_task(struct side_band *side, uint32_t type, const int32_t ids[4], uint64_t tsc)
{
	uint32_t words[6];
	uint64_t time = side_band_time(tsc);

	memcpy(words, ids, 4 * sizeof(*words));
	memcpy(words + 4, &time, sizeof(time));
	perf_data_add_record(&side->data, type, 0, words, sizeof(words));
}

void side_band_fork(struct side_band *side, const struct clock_point *now, int32_t pid, int32_t tid)
{
	stamp(side, now, EVENT_TASKS);
	add_task(side, PERF_RECORD_FORK, (const int32_t[]){ pid, now->pid, tid, now->tid },
		 now->tsc);
}

void side_band_exit(struct side_band *side, const struct clock_point *now, int32_t parent)
{
	stamp(side, now, EVENT_TASKS);
	add_task(side, PERF_RECORD_EXIT, (const int32_t[]){ now->pid, parent, now->tid, parent },
		 now->tsc);
}

void side_band_switch(struct side_band *side, const struct clock_point *from,
		      const struct clock_point *to)
{
	if (side->options.per_thread)
		return;
	stamp(side, from, EVENT_SWITCHES);
	perf_data_add_switch(&side->data, true, to->pid, to->tid);
	stamp(side, to, EVENT_SWITCHES);
	perf_data_add_switch(&side->data, false, from->pid, from->tid);
}

/* linux/perf_event.h, PERF_RECORD_SAMPLE. */
void side_band_waking(struct side_band *side, const struct clock_point *now, int32_t tid)
{
	struct {
		uint64_t id;
		int32_t pid, tid;
		uint64_t time;
		int32_t cpu, zero;
		uint32_t size;
		uint16_t type;
		uint8_t flags, preempt_count;
		int32_t common_pid;
		char comm[16];
		int32_t woken, prio, target_cpu;
	} sample = {
		.id = WAKING_FIRST_ID + (uint64_t)now->cpu,
		.pid = now->pid,
		.tid = now->tid,
		.time = side_band_time(now->tsc),
		.cpu = now->cpu,
		.size = 36,
		.type = WAKING_ID,
		.common_pid = now->tid,
		.comm = "woken",
		.woken = tid,
		.prio = 120,
		.target_cpu = now->cpu,
	};

	if (side->options.wakings)
		perf_data_add_user_record(&side->data, PERF_RECORD_SAMPLE, &sample, sizeof(sample));
}

void side_band_switched(struct side_band *side, const struct clock_point *now, bool out,
			int32_t pid, int32_t tid)
{
	stamp(side, now, EVENT_SWITCHES);
	perf_data_add_switch(&side->data, out, pid, tid);
}

void side_band_kernel(struct side_band *side, uint64_t text, uint64_t size)
{
	struct perf_data_mmap record = {
		.pid = -1,
		.address = text,
		.length = size,
		.file_offset = text,
		.path = "[kernel.kallsyms]_text",
	};

	perf_data_add_mmap(&side->data, PERF_RECORD_MISC_KERNEL, &record);
}

void side_band_trampoline(struct side_band *side, uint64_t address, uint64_t size, uint64_t text)
{
	struct perf_data_mmap record = {
		.pid = -1,
		.address = address,
		.length = size,
		.file_offset = text,
		.path = "__entry_SYSCALL_64_trampoline",
	};

	perf_data_add_mmap(&side->data, PERF_RECORD_MISC_KERNEL, &record);
}

/* linux/perf_event.h, PERF_RECORD_TEXT_POKE: addr, old_len, new_len, old bytes, new bytes. */
void side_band_poke(struct side_band *side, const struct clock_point *now, uint64_t address,
		    struct poke_bytes bytes)
{
	uint8_t payload[12 + 2 * 64] = { 0 };

	memcpy(payload, &address, 8);
	memcpy(payload + 8, &bytes.size, 2);
	memcpy(payload + 10, &bytes.size, 2);
	memcpy(payload + 12, bytes.old_bytes, bytes.size);
	memcpy(payload + 12 + bytes.size, bytes.new_bytes, bytes.size);
	stamp(side, now, EVENT_TASKS);
	perf_data_add_record(&side->data, PERF_RECORD_TEXT_POKE, 0, payload,
			     12 + 2 * (size_t)bytes.size);
}

void side_band_trace_start(struct side_band *side, const struct clock_point *now)
{
	stamp(side, now, EVENT_PT);
	perf_data_add_itrace_start(&side->data, now->pid, now->tid);
}

void side_band_aux(struct side_band *side, const struct clock_point *now, uint64_t offset,
		   uint64_t size, uint64_t flags)
{
	if (!size && !flags)
		return;
	stamp(side, now, EVENT_PT);
	perf_data_add_aux_event(&side->data, offset, size, flags);
}

void side_band_lost(struct side_band *side, const struct clock_point *now, uint64_t records)
{
	stamp(side, now, EVENT_TASKS);
	perf_data_add_lost(&side->data, records);
}

void side_band_buffer(struct side_band *side, const struct clock_point *now, unsigned queue,
		      const uint8_t *bytes, uint64_t offset, uint64_t size, uint64_t reference)
{
	struct perf_data_aux aux = {
		.aux_offset = offset,
		.reference = reference,
		.queue = queue,
		.tid = now->tid,
		.cpu = side->options.per_thread ? -1 : now->cpu,
		.bytes = bytes,
		.size = size,
	};

	perf_data_add_auxtrace(&side->data, &aux);
}

int side_band_write(struct side_band *side, const char *path)
{
	size_t size;
	uint8_t *bytes = perf_data_finish(&side->data, &size);
	FILE *out = fopen(path, "we");
	bool whole = out && fwrite(bytes, 1, size, out) == size;

	if (out && fclose(out) != 0)
		whole = false;
	if (!whole)
		fprintf(stderr, "ptsim: cannot write %s: %m\n", path);
	free(bytes);
	return whole ? 0 : -1;
}
