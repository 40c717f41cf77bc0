/* SPDX-License-Identifier: MIT */
#include "tests/unit/src/event_recording.h"

#include <intel-pt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct perf_data data;
struct pt_packets packets;
char place[64];
char records[ROOM], slices[ROOM], messages[ROOM];
int status;

void run(char *text, const char *format, ...)
{
	char command[1000];
	va_list list;
	FILE *out;
	size_t size;

	va_start(list, format);
	vsnprintf(command, sizeof(command), format, list);
	va_end(list);
	out = popen(command, "r");
	ck_assert_ptr_nonnull(out);
	size = fread(text, 1, ROOM - 1, out);
	text[size] = 0;
	status = pclose(out) >> 8;
}

void begin(void)
{
	pt_packets_init(&packets);
	sample_begin(&data);
	pt_packets_psb(&packets, SAMPLE_START, 0);
	pt_packets_pge(&packets, SAMPLE_MAIN);
}

static const char *build_place(void)
{
	return getenv("top_builddir");
}

void save(void)
{
	strcpy(place, "/tmp/side_recording.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(place));
	snprintf(records, sizeof(records), "%s/perf.data", place);
	sample_add_trace(&data, &packets);
	perf_data_write(&data, records);
	snprintf(records, sizeof(records), "%s/sample", place);
	tiny_elf_write(&sample_elf, records);
	perf_data_release(&data);
	pt_packets_release(&packets);
}

void convert(const char *setting, const char *options)
{
	const char *build = build_place();

	run(messages, "%s %s/%s --args=line %s --symfs=%s %s/perf.data -o %s/out.ftf 2>&1", setting,
	    build, *setting ? "tests/support/ptrace2ftf-segments" : "ptrace2ftf", options, place,
	    place, place);
	ck_assert_msg(status == 0 || status == 2, "%s", messages);
	run(records, "%s/ftfdump %s/out.ftf 2>&1", build, place);
	ck_assert_msg(status == 0, "%s", records);
	run(slices, "%s/ftfdump --slices %s/out.ftf 2>&1", build, place);
	ck_assert_msg(status == 0, "%s", slices);
}

void finish(const char *options)
{
	save();
	convert("", options);
}

void clean(void)
{
	char none[ROOM];

	if (place[0])
		run(none, "rm -rf %s", place);
}

unsigned count(const char *text, const char *first, const char *second)
{
	unsigned found = 0;

	for (const char *at = text; (at = strstr(at, first)); at += strcspn(at, "\n")) {
		const char *line_end = at + strcspn(at, "\n"), *other = strstr(at, second);

		found += other && other < line_end;
	}
	return found;
}

void add_ratio(uint8_t ratio)
{
	struct pt_packet packet = { .type = ppt_cbr };

	packet.payload.cbr.ratio = ratio;
	pt_packets_add(&packets, &packet);
}

void add_ptwrite(uint64_t value, uint64_t ip)
{
	struct pt_packet packet = { .type = ppt_ptw };

	packet.payload.ptw.payload = value;
	packet.payload.ptw.plc = 1;
	packet.payload.ptw.ip = ip != 0;
	pt_packets_add(&packets, &packet);
	if (ip)
		pt_packets_fup(&packets, ip);
}

void add_sleep(uint8_t state, uint8_t hints, uint64_t ip)
{
	struct pt_packet wait = { .type = ppt_mwait }, sleep = { .type = ppt_pwre },
			 stop = { .type = ppt_exstop };

	wait.payload.mwait.hints = hints;
	wait.payload.mwait.ext = 1;
	pt_packets_add(&packets, &wait);
	sleep.payload.pwre.state = state;
	sleep.payload.pwre.sub_state = 1;
	pt_packets_add(&packets, &sleep);
	stop.payload.exstop.ip = ip != 0;
	pt_packets_add(&packets, &stop);
	if (ip)
		pt_packets_fup(&packets, ip);
}

void add_wake(uint8_t last, uint8_t deepest)
{
	struct pt_packet wake = { .type = ppt_pwrx };

	wake.payload.pwrx.last = last;
	wake.payload.pwrx.deepest = deepest;
	wake.payload.pwrx.interrupt = 1;
	pt_packets_add(&packets, &wake);
}

void add_transaction(bool in, bool aborted, uint64_t ip)
{
	struct pt_packet packet = { .type = ppt_mode };

	packet.payload.mode.leaf = pt_mol_tsx;
	packet.payload.mode.bits.tsx.intx = in;
	packet.payload.mode.bits.tsx.abrt = aborted;
	pt_packets_add(&packets, &packet);
	if (ip)
		pt_packets_fup(&packets, ip);
}

void stamp(uint64_t time, int32_t tid, int32_t cpu)
{
	perf_data_stamp(&data, (struct perf_data_stamp){
				       .time = time, .pid = tid, .tid = tid, .cpu = cpu });
}

void add_switch(uint64_t time, int32_t from, int32_t to, bool preempted)
{
	uint32_t next[2] = { (uint32_t)to, (uint32_t)to };

	stamp(time, from, 0);
	perf_data_add_record(&data, PERF_RECORD_SWITCH_CPU_WIDE,
			     PERF_RECORD_MISC_SWITCH_OUT |
				     (preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0),
			     next, sizeof(next));
}

/* CFE: 02, 13, type with the IP bit, vector.  EVD: 02, 53, type, 8 bytes. */
void add_control(uint8_t type, uint8_t vector, bool has_ip)
{
	const uint8_t bytes[] = { 0x02, 0x13, (uint8_t)(type | (has_ip ? 0x80 : 0)), vector };

	pt_packets_raw(&packets, bytes, sizeof(bytes));
}

void add_data(uint8_t type, uint64_t value)
{
	uint8_t bytes[11] = { 0x02, 0x53, type };

	memcpy(bytes + 3, &value, sizeof(value));
	pt_packets_raw(&packets, bytes, sizeof(bytes));
}

void add_trigger(uint8_t triggers, uint8_t flags, uint16_t instructions)
{
	const uint8_t bytes[] = { 0xd9, flags, triggers, (uint8_t)instructions,
				  (uint8_t)(instructions >> 8) };

	pt_packets_raw(&packets, bytes, flags & TRIG_ICNTV ? 5 : 3);
}

void add_paging(uint64_t cr3, bool guest)
{
	struct pt_packet packet = { .type = ppt_pip };

	packet.payload.pip.cr3 = cr3;
	packet.payload.pip.nr = guest;
	pt_packets_add(&packets, &packet);
}

void add_sample(uint64_t time, int32_t tid, uint64_t ip)
{
	const uint64_t words[] = { 1100, ip,     (uint64_t)(uint32_t)tid << 32 | (uint32_t)tid,
				   time, 0xdada, 0,
				   4000 };

	perf_data_add_user_record(&data, PERF_RECORD_SAMPLE, words, sizeof(words));
}

void begin_with_cycles(void)
{
	struct perf_data_event cycles = {
		.attr = {
			.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				       PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU |
				       PERF_SAMPLE_PERIOD,
			.sample_id_all = 1,
		},
		.name = "cycles:u",
		.first_id = 1100,
		.attr_bytes = sizeof(struct perf_event_attr),
	};

	begin();
	perf_data_add_event(&data, &cycles);
	add_sample(1000042, SAMPLE_PID, SAMPLE_WORK + 3);
	add_sample(1000043, 0, 0);
}
