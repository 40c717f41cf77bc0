/* SPDX-License-Identifier: MIT */
#include "tests/support/sample.h"

#include <elf.h>
#include <stdlib.h>

static const uint8_t code[0x60] = {
	[0x00] = 0xe8, 0x1b, 0x00, 0x00, 0x00, /* call work */
	0xe8,          0x16, 0x00, 0x00, 0x00, /* call work */
	0x0f,          0x05,                   /* syscall */
	0xf4,                                  /* hlt */
	[0x20] = 0xe8, 0x1b, 0x00, 0x00, 0x00, /* call leaf */
	0x75,          0xf9,                   /* jne work */
	0xc3,                                  /* ret */
	[0x40] = 0xc3,                         /* ret */
	[0x50] = 0xeb, 0xfe,                   /* jmp to itself */
};

#define FUNCTION ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)

static const struct tiny_symbol symbols[] = {
	{ "main", SAMPLE_MAIN, 0x0d, FUNCTION },
	{ "work", SAMPLE_WORK, 0x08, FUNCTION },
	{ "leaf", SAMPLE_LEAF, 0x01, FUNCTION },
	{ "circle", SAMPLE_CIRCLE, 0x02, FUNCTION },
};

const struct tiny_elf sample_elf = { SAMPLE_CODE, code, sizeof(code), symbols, 4, 0, 0 };

void sample_begin(struct perf_data *data)
{
	static const struct perf_data_pt_info info = {
		.pmu_type = SAMPLE_PMU,
		.time_mult = 1,
		.cap_user_time_zero = 1,
		.tsc_bit = 0x400,
		.noretcomp_bit = 0x800,

		.per_cpu_mmaps = 1,
		.max_nonturbo_ratio = 25,
	};
	static const struct perf_data_mmap map = {
		.pid = SAMPLE_PID,
		.tid = SAMPLE_PID,
		.address = SAMPLE_CODE,
		.length = 0x1000,
		.file_offset = TINY_ELF_CODE_OFFSET,
		.path = SAMPLE_PATH,
		.prot = 5,
	};

	perf_data_init(data);
	perf_data_add_pt_event(data, SAMPLE_PMU, 0x2401);
	data->events[0].attr.exclude_kernel = 1;
	perf_data_set_text(data, 9, "GenuineIntel,6,85,7");
	perf_data_add_pt_info(data, &info, NULL);
	perf_data_stamp(data, (struct perf_data_stamp){
				      .time = 100, .pid = SAMPLE_PID, .tid = SAMPLE_PID });
	perf_data_add_comm(data, PERF_RECORD_MISC_COMM_EXEC, SAMPLE_PID, SAMPLE_PID, "sample");
	perf_data_add_mmap2(data, 0, &map);
	perf_data_add_itrace_start(data, SAMPLE_PID, SAMPLE_PID);
}

/* work(): three times call leaf and ret (t), then jne: taken twice (t), then not (n), ret (t). */
static void trace_work(struct pt_packets *packets, uint64_t tsc)
{
	pt_packets_tnt(packets, "tt");
	pt_packets_tsc(packets, tsc + 100);
	pt_packets_tnt(packets, "tt");
	pt_packets_tsc(packets, tsc + 200);
	pt_packets_tnt(packets, "tnt");
}

void sample_trace(struct pt_packets *packets)
{
	pt_packets_psb(packets, SAMPLE_START, 0);
	pt_packets_pge(packets, SAMPLE_MAIN);
	pt_packets_tsc(packets, SAMPLE_START + 50);
	trace_work(packets, SAMPLE_START + 50);
	pt_packets_tsc(packets, SAMPLE_START + 400);
	trace_work(packets, SAMPLE_START + 400);
	pt_packets_tsc(packets, SAMPLE_START + 700);
	pt_packets_pgd(packets, 0);
}

void sample_add_trace(struct perf_data *data, const struct pt_packets *packets)
{
	struct perf_data_aux aux = {
		.reference = SAMPLE_START,
		.tid = -1,
		.bytes = packets->bytes,
		.size = pt_packets_size(packets),
	};

	perf_data_add_auxtrace(data, &aux);
}
