/* SPDX-License-Identifier: MIT */
/* Parse packets that libipt 2.0 does not know: CFE, EVD, BBP, BIP, BEP, TRIG. */
#include "decoder/aux/pt_packet_read.h"

#include "base/cursor.h"

#define OPCODE_EXTENDED 0x02
#define HAS_IP          0x80 /* in BEP's second byte, CFE's third */
#define BIP_MASK        0x07 /* in a BIP's first byte; the id of the value is above */
#define BIP_ID_SHIFT    3
#define OPCODE_BIP      0x04
#define BBP_SIZE_4      0x80 /* in BBP's third byte: 4-byte values, else 8-byte */
#define OPCODE_TRIG     0xd9
#define TRIG_HAS_ICNT   0x40 /* in TRIG's second byte, as is HAS_IP */
#define TRIG_HAS_MORE   0x20
#define BBP_TYPE        0x1f
#define CFE_TYPE        0x1f
#define EVD_TYPE        0x3f

/* Second bytes of the packets. */
enum extended_opcode {
	OPCODE_CFE = 0x13,
	OPCODE_BEP = 0x33,
	OPCODE_EVD = 0x53,
	OPCODE_BBP = 0x63,
};

/* Other events are instructions, or begin or end in untraced code. */
static bool has_fup_of_far_transfer(uint8_t type)
{
	return type == CONTROL_INTERRUPT || type == CONTROL_SMI || type == CONTROL_INIT ||
	       type == CONTROL_VMEXIT || type == CONTROL_VMEXIT_INTERRUPT ||
	       type == CONTROL_USER_INTERRUPT || type == CONTROL_SOFTWARE_INTERRUPT;
}

/* Returns whether the opcode is known; the rest of the packet may be missing. */
static bool read_extended(struct extended_packet *packet, struct cursor *c)
{
	uint8_t opcode = cursor_u8(c);

	packet->has_ip = opcode & HAS_IP;
	if (opcode == OPCODE_EVD) {
		packet->type = EXTENDED_EVD;
		packet->kind = cursor_u8(c) & EVD_TYPE;
		packet->value = cursor_u64(c);
	} else if (opcode == OPCODE_BBP) {
		packet->type = EXTENDED_BBP;
		packet->kind = cursor_u8(c);
		packet->value = packet->kind & BBP_SIZE_4 ? 4 : 8;
		packet->kind &= BBP_TYPE;
	} else if ((opcode & ~HAS_IP) == OPCODE_BEP) {
		packet->type = EXTENDED_BEP;
	} else if (opcode == OPCODE_CFE) {
		uint8_t type = cursor_u8(c);

		packet->type = EXTENDED_CFE;
		packet->has_ip = type & HAS_IP;
		packet->kind = type & CFE_TYPE;
		packet->of_far = !packet->has_ip && has_fup_of_far_transfer(type & CFE_TYPE);
		packet->value = cursor_u8(c);
	} else {
		return false;
	}
	return true;
}

size_t extended_packet_read(struct extended_packet *packet, const uint8_t *bytes, size_t size,
			    unsigned bip_size)
{
	struct cursor c = cursor_over(bytes, size);
	uint8_t opcode = cursor_u8(&c);
	bool known = false;

	*packet = (struct extended_packet){ 0 };
	if (bip_size && (opcode & BIP_MASK) == OPCODE_BIP) {
		packet->type = EXTENDED_BIP;
		packet->kind = opcode >> BIP_ID_SHIFT;
		packet->value = cursor_number(&c, bip_size);
		known = true;
	} else if (opcode == OPCODE_EXTENDED) {
		known = read_extended(packet, &c);
	} else if (opcode == OPCODE_TRIG) {
		uint8_t flags = cursor_u8(&c);

		packet->type = EXTENDED_TRIG;
		packet->has_ip = flags & HAS_IP;
		packet->value = cursor_u8(&c);
		packet->value |= flags & TRIG_HAS_MORE ? TRIG_MULTIPLE : 0;
		packet->value |= flags & TRIG_HAS_ICNT ? TRIG_COUNTED : 0;
		packet->kind = flags & TRIG_HAS_ICNT ? cursor_u16(&c) : 0;
		known = true;
	}
	return known && !c.short_ ? (size_t)(c.at - bytes) : 0;
}

struct cpu_event_data pebs_block_follow(struct pebs_block *block,
					const struct extended_packet *packet)
{
	struct cpu_event_data event = { .kind = CPU_EVENT_NONE };

	if (packet->type == EXTENDED_BBP) {
		block->fresh |= !block->bip_size;
		block->bip_size = (unsigned)packet->value;
		block->type = (uint8_t)packet->kind;
		return event;
	}
	event.extra = block->fresh || !block->bip_size ? PEBS_FIRST : 0;
	block->fresh = false;
	if (packet->type == EXTENDED_BIP) {
		event.kind = CPU_EVENT_PEBS_ITEM;
		event.value = packet->value;
		event.extra |= PEBS_EXTRA(block->type, packet->kind);
	} else {
		event.kind = CPU_EVENT_PEBS;
		block->bip_size = 0;
	}
	return event;
}
