/* SPDX-License-Identifier: MIT */
#include "tests/support/pt_packets.h"

#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pt_packets_init(struct pt_packets *packets)
{
	struct pt_config config;

	pt_config_init(&config);
	config.begin = packets->bytes;
	config.end = packets->bytes + sizeof(packets->bytes);
	packets->encoder = pt_alloc_encoder(&config);
	if (!packets->encoder)
		abort();
}

void pt_packets_release(struct pt_packets *packets)
{
	pt_free_encoder(packets->encoder);
	packets->encoder = NULL;
}

size_t pt_packets_size(const struct pt_packets *packets)
{
	uint64_t offset = 0;

	pt_enc_get_offset(packets->encoder, &offset);
	return offset;
}

static void put(struct pt_packets *packets, const struct pt_packet *packet)
{
	int status = pt_enc_next(packets->encoder, packet);

	if (status < 0) {
		fprintf(stderr, "libipt cannot encode: %s\n", pt_errstr(pt_errcode(status)));
		exit(EXIT_FAILURE);
	}
}

static void put_type(struct pt_packets *packets, enum pt_packet_type type)
{
	struct pt_packet packet = { .type = type };

	put(packets, &packet);
}

static void put_ip(struct pt_packets *packets, enum pt_packet_type type, uint64_t ip)
{
	struct pt_packet packet = { .type = type };

	packet.payload.ip.ipc = ip ? pt_ipc_full : pt_ipc_suppressed;
	packet.payload.ip.ip = ip;
	put(packets, &packet);
}

void pt_packets_psb(struct pt_packets *packets, uint64_t tsc, uint64_t ip)
{
	struct pt_packet ratio = { .type = ppt_cbr };
	struct pt_packet mode = { .type = ppt_mode };

	put_type(packets, ppt_psb);
	pt_packets_tsc(packets, tsc);
	ratio.payload.cbr.ratio = 25;
	put(packets, &ratio);
	mode.payload.mode.leaf = pt_mol_exec;
	mode.payload.mode.bits.exec.csl = 1;
	put(packets, &mode);
	if (ip)
		put_ip(packets, ppt_fup, ip);
	put_type(packets, ppt_psbend);
}

void pt_packets_tsc(struct pt_packets *packets, uint64_t tsc)
{
	struct pt_packet packet = { .type = ppt_tsc };

	packet.payload.tsc.tsc = tsc & ((UINT64_C(1) << 56) - 1);
	put(packets, &packet);
}

void pt_packets_tnt(struct pt_packets *packets, const char *decisions)
{
	size_t count = strlen(decisions);
	struct pt_packet packet = { .type = count <= 6 ? ppt_tnt_8 : ppt_tnt_64 };

	packet.payload.tnt.bit_size = (uint8_t)count;
	for (size_t i = 0; i < count; i++)
		packet.payload.tnt.payload =
			packet.payload.tnt.payload << 1 | (decisions[i] == 't');
	put(packets, &packet);
}

void pt_packets_tip(struct pt_packets *packets, uint64_t ip)
{
	put_ip(packets, ppt_tip, ip);
}

void pt_packets_pge(struct pt_packets *packets, uint64_t ip)
{
	put_ip(packets, ppt_tip_pge, ip);
}

void pt_packets_pgd(struct pt_packets *packets, uint64_t ip)
{
	put_ip(packets, ppt_tip_pgd, ip);
}

void pt_packets_fup(struct pt_packets *packets, uint64_t ip)
{
	put_ip(packets, ppt_fup, ip);
}

void pt_packets_ovf(struct pt_packets *packets)
{
	put_type(packets, ppt_ovf);
}

void pt_packets_add(struct pt_packets *packets, const struct pt_packet *packet)
{
	put(packets, packet);
}

void pt_packets_raw(struct pt_packets *packets, const void *bytes, size_t size)
{
	size_t at = pt_packets_size(packets);

	if (size > sizeof(packets->bytes) - at)
		abort();
	memcpy(packets->bytes + at, bytes, size);
	pt_enc_sync_set(packets->encoder, at + size);
}
