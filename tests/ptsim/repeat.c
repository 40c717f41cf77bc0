/* SPDX-License-Identifier: MIT */
#include "tests/ptsim/repeat.h"

#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tests/ptsim/pt_output.h"

/* An OVF packet (SDM volume 3, "Overflow (OVF) Packet"). */
static const uint8_t overflow[] = { 0x02, 0xf3 };

/* A TSC packet's time: 7 bytes after the opcode (SDM volume 3, "TSC Packet"). */
#define TSC_BYTES 7

struct places {
	size_t *offsets; /* owned; of TSC packets' times */
	size_t count, room;
};

static struct places find_times(const uint8_t *trace, size_t size)
{
	struct places places = { 0 };
	struct pt_packet_decoder *decoder;
	struct pt_config config;
	struct pt_packet packet;
	uint64_t offset = 0;

	pt_config_init(&config);
	config.begin = (uint8_t *)(uintptr_t)trace;
	config.end = config.begin + size;
	decoder = pt_pkt_alloc_decoder(&config);
	pt_pkt_sync_set(decoder, 0);
	while (pt_pkt_get_offset(decoder, &offset) == 0 &&
	       pt_pkt_next(decoder, &packet, sizeof(packet)) > 0) {
		if (packet.type != ppt_tsc)
			continue;
		places.offsets = alloc_grow(places.offsets, &places.room, places.count + 1,
					    sizeof(*places.offsets));
		places.offsets[places.count++] = offset + 1;
	}
	pt_pkt_free_decoder(decoder);
	return places;
}

static void add_time(uint8_t *bytes, uint64_t ticks)
{
	uint64_t time = 0;

	memcpy(&time, bytes, TSC_BYTES);
	time += ticks;
	memcpy(bytes, &time, TSC_BYTES);
}

uint8_t *repeat_trace(const uint8_t *trace, size_t trace_size, uint64_t duration, bool apart,
		      size_t least, size_t *size)
{
	const uint64_t round = (UINT64_C(1) << 16) * PT_TSC_PER_CTC;
	uint64_t shift = (duration / round + 1) * round;
	size_t between = apart ? sizeof(overflow) : 0;
	size_t copy_size = trace_size + between, copies = least / copy_size + 1;
	struct places places = find_times(trace, trace_size);
	uint8_t *bytes = alloc_zeroed(copies, copy_size);

	for (size_t i = 0; i < copies; i++) {
		uint8_t *copy = bytes + i * copy_size;

		memcpy(copy, trace, trace_size);
		memcpy(copy + trace_size, overflow, between);
		for (size_t k = 0; k < places.count; k++)
			add_time(copy + places.offsets[k], i * shift);
	}
	free(places.offsets);
	*size = copies * copy_size;
	return bytes;
}
