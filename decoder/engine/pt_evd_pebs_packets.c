/* SPDX-License-Identifier: MIT */
#include "decoder/engine/pt_evd_pebs_packets.h"

#include "base/cursor.h"

#define OPCODE_EXTENDED 0x02
#define HAS_IP          0x80 /* of BEP's second byte, of CFE's third */
#define ITEM_MASK       0x07 /* of a BIP's first byte; the type of the value is above it */
#define ITEM_OPCODE     0x04
#define BLOCK_SIZE_4    0x80 /* of BBP's third byte: values of 4 bytes; otherwise 8 */
#define CONTROL_TYPE    0x1f
#define DATA_TYPE       0x3f

/* Second bytes of the packets. */
enum newer_opcode {
	OPCODE_CFE = 0x13,
	OPCODE_BEP = 0x33,
	OPCODE_EVD = 0x53,
	OPCODE_BBP = 0x63,
};

/* Returns whether the opcode is one of these; the rest of the packet may be missing. */
static bool read_extended(struct newer_packet *packet, struct cursor *c)
{
	uint8_t opcode = cursor_u8(c);

	packet->has_ip = opcode & HAS_IP;
	if (opcode == OPCODE_EVD) {
		packet->type = NEWER_DATA;
		packet->kind = cursor_u8(c) & DATA_TYPE;
		packet->value = cursor_u64(c);
	} else if (opcode == OPCODE_BBP) {
		packet->type = NEWER_BLOCK_BEGIN;
		packet->value = cursor_u8(c) & BLOCK_SIZE_4 ? 4 : 8;
	} else if ((opcode & ~HAS_IP) == OPCODE_BEP) {
		packet->type = NEWER_BLOCK_END;
	} else if (opcode == OPCODE_CFE) {
		uint8_t type = cursor_u8(c);

		packet->type = NEWER_CONTROL;
		packet->has_ip = type & HAS_IP;
		packet->kind = type & CONTROL_TYPE;
		packet->value = cursor_u8(c);
	} else {
		return false;
	}
	return true;
}

size_t newer_packet_read(struct newer_packet *packet, const uint8_t *bytes, size_t size,
			 unsigned item_size)
{
	struct cursor c = cursor_over(bytes, size);
	uint8_t opcode = cursor_u8(&c);
	bool known = false;

	*packet = (struct newer_packet){ 0 };
	if (item_size && (opcode & ITEM_MASK) == ITEM_OPCODE) {
		packet->type = NEWER_BLOCK_ITEM;
		packet->value = cursor_number(&c, item_size);
		known = true;
	} else if (opcode == OPCODE_EXTENDED) {
		known = read_extended(packet, &c);
	}
	return known && !c.short_ ? (size_t)(c.at - bytes) : 0;
}
