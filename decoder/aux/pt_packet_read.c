/* SPDX-License-Identifier: MIT */
/* Read packets with libipt's packet decoder, and the packets that libipt does not know. */
#include "decoder/aux/pt_packet_read.h"

#include "decoder/aux/pt_errata.h"
#include "decoder/aux/pt_evd_pebs_packets.h"

void pt_packet_config(struct pt_config *config, const struct pt_info *info, int32_t cpu)
{
	struct clock_rates rates = pt_info_rates(info);

	pt_config_init(config);
	if (info->cpu_is_intel) {
		config->cpu.vendor = pcv_intel;
		config->cpu.family = (uint16_t)info->cpu_family;
		config->cpu.model = (uint8_t)info->cpu_model;
		config->cpu.stepping = (uint8_t)info->cpu_stepping;
		config->errata =
			pt_errata_of(info->cpu_family, info->cpu_model, pt_info_core(info, cpu));
	}
	config->mtc_freq = rates.mtc_shift;
	config->nom_freq = rates.max_ratio;
	config->cpuid_0x15_eax = rates.ratio_d;
	config->cpuid_0x15_ebx = rates.ratio_n;
}

int pt_packet_by_libipt(struct pt_packet_decoder *decoder, const struct pt_config *config,
			size_t *at, struct pt_packet *packet)
{
	const uint8_t *bytes = config->begin + *at;
	uint64_t next = 0;
	int status = pt_pkt_sync_set(decoder, *at);

	if (status >= 0)
		status = pt_pkt_next(decoder, packet, sizeof(*packet));
	if (status < 0)
		return status;
	/* Not by packet->size: libipt 2.1 reads a cut CYC and its OVF as an OVF. */
	pt_pkt_get_offset(decoder, &next);
	/* libipt 2.0.5 does not check for the byte that erratum SKZ84 adds after a TMA. */
	if (next > (uint64_t)(config->end - config->begin))
		return -pte_eos;
	/* libipt knows SKD007 from 2.1 on. */
	if (packet->type == ppt_cyc && pt_packet_cut_by_ovf(&config->errata, bytes)) {
		packet->payload.cyc.value = bytes[0] >> 3;
		packet->size = 1;
		next = *at + 1;
	}
	*at = next;
	return status;
}

static unsigned bip_size_after(const struct extended_packet *packet, unsigned bip_size)
{
	if (packet->type == EXTENDED_BBP)
		return (unsigned)packet->value;
	return packet->type == EXTENDED_BIP ? bip_size : 0;
}

bool pt_packet_read(struct pt_packet_decoder *decoder, const struct pt_config *config, size_t *at,
		    unsigned *bip_size, struct pt_packet *packet)
{
	struct extended_packet extended;
	size_t left = (size_t)(config->end - config->begin) - *at;
	size_t size = extended_packet_read(&extended, config->begin + *at, left, *bip_size);

	if (!size) {
		if (pt_packet_by_libipt(decoder, config, at, packet) < 0)
			return false;
		if (packet->type == ppt_psb || packet->type == ppt_ovf)
			*bip_size = 0; /* the BEP was dropped */
		return true;
	}
	*bip_size = bip_size_after(&extended, *bip_size);
	*at += size;
	packet->type = ppt_mnt;
	return true;
}
