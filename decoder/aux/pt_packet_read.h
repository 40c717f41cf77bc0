/* SPDX-License-Identifier: MIT */
/*
 * Reads packets one after another: the packets that libipt knows, the ones that it does not
 * know, and the ones that an erratum damaged.  For readers that do not follow the flow; the
 * fast engine reads some kinds of packets itself.
 */
#ifndef DECODER_AUX_PT_PACKET_READ_H
#define DECODER_AUX_PT_PACKET_READ_H

#include <intel-pt.h>

#include "decoder/aux/auxtrace.h"
#include "decoder/cpu_event.h"

/* Set up libipt for the trace of a CPU (-1: of a thread), but its bytes. */
void pt_packet_config(struct pt_config *config, const struct pt_info *info, int32_t cpu);

/* Returns whether an OVF cuts a CYC after its first byte (SKD007): two CYCs in a row make no sense.
 */
static inline bool pt_packet_cut_by_ovf(const struct pt_errata *errata, const uint8_t *bytes)
{
	return bytes[1] == 0x02 && bytes[2] == 0xf3 && errata->skd007;
}

/*
 * Returns the ip of a packet whose ip is not suppressed, after the packet with `last` (SDM volume
 * 3, "IP Compression").  `low` has the packet's bytes lowest; bytes above them are ignored.
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
 * Read the packet at *at of config's bytes, which AUX_WINDOW_PADDING more bytes must
 * follow, with its libipt decoder.  Moves *at past it.  Returns libipt's status.
 */
int pt_packet_by_libipt(struct pt_packet_decoder *decoder, const struct pt_config *config,
			size_t *at, struct pt_packet *packet);

/*
 * The same for all packets; one unknown to libipt (extended_packet_read()) becomes a ppt_mnt.
 * *bip_size: 0 at first; kept from packet to packet.  Returns false at the end and at damage.
 */
bool pt_packet_read(struct pt_packet_decoder *decoder, const struct pt_config *config, size_t *at,
		    unsigned *bip_size, struct pt_packet *packet);

/*
 * Returns the errata of an Intel CPU, by CPUID's display family and model.  `core` is the kind of
 * core of a hybrid CPU that wrote the trace; if unknown, the errata of both kinds apply.  A CPU
 * that is not in the table has no errata.  The table is our own because libipt 2.0.5 of Debian 12
 * knows no CPU since 2022.
 */
struct pt_errata pt_errata_of(uint32_t family, uint32_t model, enum core_kind core);

/*
 * Returns whether a FUP may have the ip after an indirect branch or far transfer instead of its
 * own.  Source: perf (tools/perf/util/intel-pt.c, INTEL_PT_FUP_WITH_NLIP); libipt knows nothing of
 * it, and struct pt_errata has no bit for it.
 */
bool pt_errata_fup_has_next_ip(const struct pt_cpu *cpu);

/*
 * Packets that libipt 2.0 does not know: of event trace (CFE, EVD), of PEBS records in the trace
 * (BBP, BIP, BEP), and of trigger tracing (TRIG). Source: SDM volume 3, "Intel Processor Trace",
 * packet definitions; TRIG as libipt 2.2's struct pt_packet_trig has it.
 */

enum extended_type {
	EXTENDED_CFE,
	EXTENDED_EVD,
	EXTENDED_BBP,
	EXTENDED_BIP, /* between BBP and BEP only, where TNTs look the same */
	EXTENDED_BEP,
	EXTENDED_TRIG,
};

struct extended_packet {
	enum extended_type type;
	bool has_ip;   /* of CFE, BEP, TRIG: a FUP of its own follows */
	bool of_far;   /* of CFE: the FUP of a far transfer follows, if tracing is on */
	uint16_t kind; /* of CFE, EVD, BBP: its type field; of BIP: its id; of TRIG: instructions */
	uint64_t value; /* CFE: vector; EVD: payload; BBP: bytes of its items' values; TRIG:
			   TRIG_* of cpu_event.h */
};

/*
 * Read the packet at `bytes`, `size` of which are present.  `bip_size`: bytes of a BIP's value; 0:
 * not between BBP and BEP. Returns the packet's size; 0 if it is another packet, or incomplete.
 */
size_t extended_packet_read(struct extended_packet *packet, const uint8_t *bytes, size_t size,
			    unsigned bip_size);

/* Between BBP and BEP: the blocks of a record of PEBS. */
struct pebs_block {
	unsigned bip_size; /* bytes of a BIP's value; 0: not between BBP and BEP */
	uint8_t type;      /* of the block */
	bool fresh;        /* nothing of the record was read */
};

/* Follow a BBP, BIP or BEP.  Returns its event, or CPU_EVENT_NONE. */
struct cpu_event_data pebs_block_follow(struct pebs_block *block,
					const struct extended_packet *packet);

#endif
