/* SPDX-License-Identifier: MIT */
/*
 * Packets that libipt 2.0 does not know: of event trace (CFE, EVD) and of PEBS
 * records in the trace (BBP, BIP, BEP).
 * Source: SDM volume 3, "Intel Processor Trace", packet definitions.
 */
#ifndef DECODER_ENGINE_PT_EVD_PEBS_PACKETS_H
#define DECODER_ENGINE_PT_EVD_PEBS_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum newer_type {
	NEWER_CONTROL,     /* CFE */
	NEWER_DATA,        /* EVD */
	NEWER_BLOCK_BEGIN, /* BBP */
	NEWER_BLOCK_ITEM,  /* BIP: between BBP and BEP only, where TNTs look the same */
	NEWER_BLOCK_END,   /* BEP */
};

struct newer_packet {
	enum newer_type type;
	bool has_ip;    /* of CFE, BEP: a FUP of its own follows */
	uint8_t kind;   /* of CFE, EVD: its type field */
	uint64_t value; /* CFE: vector; EVD: payload; BBP: bytes of its items' values */
};

/*
 * Read the packet at `bytes`, `size` of which are present. `item_size`: bytes of a BIP's
 * value; 0: not between BBP and BEP. Returns the packet's size; 0 if it is none of these, or
 * incomplete.
 */
size_t newer_packet_read(struct newer_packet *packet, const uint8_t *bytes, size_t size,
			 unsigned item_size);

#endif
