/* SPDX-License-Identifier: MIT */
/*
 * Writes Intel PT packets for tests, through libipt's own encoder.  Packet names are the SDM's
 * (volume 3, "Intel Processor Trace", packets).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct pt_encoder;

#define PT_PACKETS_ROOM 65536

struct pt_packets {
	uint8_t bytes[PT_PACKETS_ROOM]; /* the first pt_packets_size() are written */
	struct pt_encoder *encoder;     /* owned */
};

/* Any failure stops the test program.  The struct points to itself: do not move it. */
void pt_packets_init(struct pt_packets *packets);
void pt_packets_release(struct pt_packets *packets);
size_t pt_packets_size(const struct pt_packets *packets);

/* PSB, TSC, CBR, MODE.Exec (64 bit), FUP of ip unless it is 0, PSBEND. */
void pt_packets_psb(struct pt_packets *packets, uint64_t tsc, uint64_t ip);

void pt_packets_tsc(struct pt_packets *packets, uint64_t tsc);

/* Branch decisions, first to last: "tnt" (t taken, n not), at most 47. */
void pt_packets_tnt(struct pt_packets *packets, const char *decisions);

/* Targets of 8 bytes; 0 is a suppressed IP. */
void pt_packets_tip(struct pt_packets *packets, uint64_t ip);
void pt_packets_pge(struct pt_packets *packets, uint64_t ip);
void pt_packets_pgd(struct pt_packets *packets, uint64_t ip);
void pt_packets_fup(struct pt_packets *packets, uint64_t ip);
void pt_packets_ovf(struct pt_packets *packets);

struct pt_packet;

/* Any packet of libipt. */
void pt_packets_add(struct pt_packets *packets, const struct pt_packet *packet);

/* Raw bytes, for packets unknown to libipt. */
void pt_packets_raw(struct pt_packets *packets, const void *bytes, size_t size);
