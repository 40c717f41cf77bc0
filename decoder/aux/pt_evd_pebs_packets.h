/* SPDX-License-Identifier: MIT */
/*
 * Packets that libipt 2.0 does not know: of event trace (CFE, EVD), of PEBS
 * records in the trace (BBP, BIP, BEP), and of trigger tracing (TRIG).
 * Source: SDM volume 3, "Intel Processor Trace", packet definitions; TRIG as libipt 2.2's
 * struct pt_packet_trig has it.
 */
#ifndef DECODER_AUX_PT_EVD_PEBS_PACKETS_H
#define DECODER_AUX_PT_EVD_PEBS_PACKETS_H

#include "decoder/cpu_event.h"

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
