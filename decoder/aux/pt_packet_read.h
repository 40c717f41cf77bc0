/* SPDX-License-Identifier: MIT */
/*
 * Reads packets one by one, including packets that libipt does not know or that an erratum damaged.
 * For readers that do not follow the flow; the fast engine reads some kinds of packets itself.
 */
#pragma once

#include <intel-pt.h>

#include "decoder/aux/pt_info.h"
#include "decoder/cpu_event.h"

/* Set up libipt for the trace of a CPU (-1: of a thread), except for the bytes. */
void pt_packet_config(struct pt_config *config, const struct pt_info *info, int32_t cpu);

/* Returns whether an OVF cuts a CYC after its first byte (SKD007): a CYC never follows a CYC. */
static inline bool pt_packet_cut_by_ovf(const struct pt_errata *errata, const uint8_t *bytes)
{
	return bytes[1] == 0x02 && bytes[2] == 0xf3 && errata->skd007;
}

/*
 * Returns the ip of a packet whose ip is not suppressed; `last` is the previous packet's (SDM
 * volume 3, "IP Compression"). The low bytes of `low` are the packet's; higher bytes are ignored.
 */
static inline uint64_t pt_packet_full_ip(uint64_t last, unsigned compression, uint64_t low)
{
	static const uint64_t by_packet[] = {
		[pt_ipc_update_16] = UINT64_C(0xffff),
		[pt_ipc_update_32] = UINT64_C(0xffffffff),
		[pt_ipc_update_48] = UINT64_C(0xffffffffffff),
		[pt_ipc_full] = UINT64_MAX,
	};

	if (compression == pt_ipc_sext_48)
		return (uint64_t)((int64_t)(low << 16) >> 16);
	return last ^ ((last ^ low) & by_packet[compression]);
}

/*
 * Read the packet at *at of config's bytes with their libipt decoder, and move *at past it.
 * AUX_WINDOW_PADDING more bytes must follow config's. Returns libipt's status.
 */
int pt_packet_by_libipt(struct pt_packet_decoder *decoder, const struct pt_config *config,
			size_t *at, struct pt_packet *packet);

/*
 * The same for all packets; a packet unknown to libipt (extended_packet_read()) becomes a ppt_mnt.
 * *bip_size: initially 0, kept between packets. Returns false at the end and at damage.
 */
bool pt_packet_read(struct pt_packet_decoder *decoder, const struct pt_config *config, size_t *at,
		    unsigned *bip_size, struct pt_packet *packet);

/*
 * Returns the errata of an Intel CPU, by CPUID's display family and model. `core` is the kind of
 * core of a hybrid CPU that wrote the trace; if unknown, the errata of both kinds apply. A CPU that
 * is not in the table has no errata. This replaces libipt's table because libipt 2.0.5 of Debian 12
 * lacks CPUs since 2022.
 */
struct pt_errata pt_errata_of(uint32_t family, uint32_t model, enum core_kind core);

/*
 * Returns whether a FUP can have the ip after an indirect branch or far transfer instead of the
 * instruction's ip. Source: perf (tools/perf/util/intel-pt.c, INTEL_PT_FUP_WITH_NLIP); libipt and
 * struct pt_errata lack this erratum.
 */
bool pt_errata_fup_has_next_ip(const struct pt_cpu *cpu);

/*
 * Packets that libipt 2.0 does not know: event trace (CFE, EVD), PEBS records in the trace (BBP,
 * BIP, BEP), and trigger tracing (TRIG). Source: SDM volume 3, "Intel Processor Trace", packet
 * definitions; TRIG: libipt 2.2's struct pt_packet_trig.
 */

enum extended_type {
	EXTENDED_CFE,
	EXTENDED_EVD,
	EXTENDED_BBP,
	EXTENDED_BIP, /* only between BBP and BEP, where TNTs look the same */
	EXTENDED_BEP,
	EXTENDED_TRIG,
};

struct extended_packet {
	enum extended_type type;
	bool has_ip;    /* CFE, BEP, TRIG: its FUP follows */
	bool of_far;    /* CFE: the FUP of a far transfer follows if tracing is on */
	uint16_t kind;  /* CFE, EVD, BBP: type field; BIP: id; TRIG: instructions */
	uint64_t value; /* CFE: vector; EVD: payload; BBP: bytes per item value; TRIG: TRIG_* of
			 * cpu_event.h */
};

/*
 * Read the packet at `bytes`, of which `size` are present. `bip_size`: bytes of a BIP's value; 0:
 * not between BBP and BEP. Returns the packet's size; 0 if the packet is of another kind or
 * incomplete.
 */
size_t extended_packet_read(struct extended_packet *packet, const uint8_t *bytes, size_t size,
			    unsigned bip_size);

/* State between BBP and BEP: the blocks of a PEBS record. */
struct pebs_block {
	unsigned bip_size; /* bytes of a BIP's value; 0: not between BBP and BEP */
	uint8_t type;      /* type of the block */
	bool fresh;        /* no item of the record was read */
};

/* Follow a BBP, BIP or BEP. Returns its event, if any, or CPU_EVENT_NONE. */
struct cpu_event_data pebs_block_follow(struct pebs_block *block,
					const struct extended_packet *packet);
