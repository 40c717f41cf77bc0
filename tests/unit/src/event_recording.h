/* SPDX-License-Identifier: MIT */
/*
 * An artificial recording, with a processor's events besides branches, converted by the whole
 * program and read back by ftfdump.  One at a time: a test begins one, adds packets and records,
 * and finishes it.
 *
 * The sample's clock: 1 ns a tick, so 25 bus clocks are 1000 MHz.
 */
#pragma once

#include "tests/support/sample.h"
#include "tests/support/unit.h"

#define ROOM 100000

extern struct perf_data data;
extern struct pt_packets packets;
extern char place[64]; /* a directory with perf.data, the sample and out.ftf */
extern char records[ROOM], slices[ROOM], messages[ROOM]; /* of ftfdump and of the program */
extern int status;                                       /* of the last command */

/* Run a command and read its output. */
__attribute__((format(printf, 2, 3))) void run(char *text, const char *format, ...);

/* The trace begins in main, at SAMPLE_START. */
void begin(void);

/* The same with an event of cycles and two samples. */
void begin_with_cycles(void);

/* Write the files. */
void save(void);

/* Convert them; `setting`: of the environment, for the program that cuts streams; or "". */
void convert(const char *setting, const char *options);

/* Both. */
void finish(const char *options);

/* Remove the files. */
void clean(void);

/* Returns how many lines of a text have both strings. */
unsigned count(const char *text, const char *first, const char *second);

#define EXPECT(number, text, first, second)                                                        \
	ck_assert_msg(count(text, first, second) == (unsigned)(number),                            \
		      "%u of %s %s in:\n%.3000s", count(text, first, second), first, second, text)

/* Flags of a TRIG packet: with TRIG_IP a FUP follows, with TRIG_ICNTV `instructions` counts. */
#define TRIG_IP    0x80
#define TRIG_ICNTV 0x40
#define TRIG_MULT  0x20

/* Packets; ip 0: without a FUP. */
void add_ratio(uint8_t ratio);
void add_ptwrite(uint64_t value, uint64_t ip);
/* MWAIT, PWRE and EXSTOP; states are MWAIT's encodings. */
void add_sleep(uint8_t state, uint8_t hints, uint64_t ip);
/* PWRX. */
void add_wake(uint8_t last, uint8_t deepest);
void add_transaction(bool in, bool aborted, uint64_t ip);
void add_control(uint8_t type, uint8_t vector, bool has_ip);
void add_data(uint8_t type, uint64_t value);
void add_trigger(uint8_t triggers, uint8_t flags, uint16_t instructions); /* TRIG_* below */
void add_paging(uint64_t cr3, bool guest);

/* The stamp of the following records. */
void stamp(uint64_t time, int32_t tid, int32_t cpu);

/* The stamp's thread leaves and `to` comes (linux/perf_event.h, PERF_RECORD_SWITCH_CPU_WIDE). */
void add_switch(uint64_t time, int32_t from, int32_t to, bool preempted);

/* A sample of an event besides Intel PT, with fields as in linux/perf_event.h. */
void add_sample(uint64_t time, int32_t tid, uint64_t ip);
