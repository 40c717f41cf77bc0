/* SPDX-License-Identifier: MIT */
/* Read packets with libipt's packet decoder, and the packets that libipt does not know. */
#include "decoder/aux/pt_packet_read.h"

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
	/* Do not use packet->size: libipt 2.1 reads a cut CYC and its OVF as an OVF. */
	pt_pkt_get_offset(decoder, &next);
	/* libipt 2.0.5 does not check for the byte that erratum SKZ84 adds after a TMA. */
	if (next > (uint64_t)(config->end - config->begin))
		return -pte_eos;
	/* libipt handles SKD007 since 2.1. */
	if (packet->type == ppt_cyc && pt_packet_cut_by_ovf(&config->errata, bytes)) {
		packet->payload.cyc.value = bytes[0] >> 3;
		packet->size = 1;
		next = *at + 1;
	}
	/* libipt 2.0 reads HW from bit 3; it is bit 7 (struct perf_synth_intel_pwre of perf). */
	if (packet->type == ppt_pwre)
		packet->payload.pwre.hw = bytes[2] >> 7;
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

/*
 * Source: Intel's specification updates, as libipt 2.2 lists them by family and model
 * (pt_cpu_errata(), November 2025; libipt 2.1.3 notes that SKL014 is fixed since Sapphire Rapids
 * and Alder Lake). Like libipt, this table assumes that new CPUs keep the errata of their
 * predecessors: the workaround for an erratum that a CPU does not have only changes damaged traces.
 * perf has no table; it handles one more erratum of one CPU, below.
 *
 * Both kinds of core of a hybrid CPU have the same model. libipt lists their errata together; here
 * each kind has the errata of CPUs with only this kind: Atoms (6/122 to 6/221) have APL11, others
 * BDM70 and SKD022.
 */
enum errata_set {
	BROADWELL,
	SKYLAKE,
	SKYLAKE_X,
	ICE_LAKE,
	GOLDEN_COVE,
	SAPPHIRE_RAPIDS,
	GOLDMONT,
	GOLDMONT_PLUS,
	HYBRID, /* GOLDEN_COVE and GOLDMONT_PLUS, by core */
};

static const struct pt_errata sets[] = {
	[BROADWELL] = { .bdm70 = 1, .bdm64 = 1 },
	[SKYLAKE] = { .bdm70 = 1, .skd007 = 1, .skd022 = 1, .skd010 = 1, .skl014 = 1, .skl168 = 1 },
	[SKYLAKE_X] = { .bdm70 = 1, .skl014 = 1, .skd022 = 1, .skz84 = 1 },
	[ICE_LAKE] = { .bdm70 = 1, .skl014 = 1, .skd022 = 1 },
	[GOLDEN_COVE] = { .bdm70 = 1, .skd022 = 1 },
	[SAPPHIRE_RAPIDS] = { .bdm70 = 1, .skd022 = 1, .skz84 = 1 },
	[GOLDMONT] = { .apl12 = 1, .apl11 = 1 },
	[GOLDMONT_PLUS] = { .apl11 = 1 },
	[HYBRID] = { .bdm70 = 1, .skd022 = 1, .apl11 = 1 },
};

/* clang-format off */
static const struct {
	uint8_t family, model;
	uint8_t set; /* enum errata_set */
} cpus[] = {
	{ 6, 0x3d, BROADWELL }, { 6, 0x47, BROADWELL }, { 6, 0x4f, BROADWELL },
	{ 6, 0x56, BROADWELL },
	{ 6, 0x4e, SKYLAKE }, { 6, 0x5e, SKYLAKE },
	{ 6, 0x8e, SKYLAKE }, { 6, 0x9e, SKYLAKE }, /* Kaby Lake, Coffee Lake */
	{ 6, 0xa5, SKYLAKE }, { 6, 0xa6, SKYLAKE }, /* Comet Lake */
	{ 6, 0x55, SKYLAKE_X },
	{ 6, 0x6a, SKYLAKE_X }, { 6, 0x6c, SKYLAKE_X }, /* Ice Lake servers */
	{ 6, 0x66, ICE_LAKE }, /* Cannon Lake */
	{ 6, 0x7d, ICE_LAKE }, { 6, 0x7e, ICE_LAKE },
	{ 6, 0x8c, ICE_LAKE }, { 6, 0x8d, ICE_LAKE }, /* Tiger Lake */
	{ 6, 0xa7, ICE_LAKE }, { 6, 0xa8, ICE_LAKE }, /* Rocket Lake */
	{ 6, 0x8f, SAPPHIRE_RAPIDS },
	{ 6, 0xcf, SAPPHIRE_RAPIDS }, /* Emerald Rapids */
	{ 6, 0xad, SAPPHIRE_RAPIDS }, { 6, 0xae, SAPPHIRE_RAPIDS }, /* Granite Rapids */
	{ 19, 0x01, SAPPHIRE_RAPIDS }, /* Diamond Rapids */
	{ 6, 0x5c, GOLDMONT }, { 6, 0x5f, GOLDMONT },
	{ 6, 0x7a, GOLDMONT_PLUS },
	/* Tremont: */
	{ 6, 0x86, GOLDMONT_PLUS }, { 6, 0x96, GOLDMONT_PLUS }, { 6, 0x9c, GOLDMONT_PLUS },
	{ 6, 0xaf, GOLDMONT_PLUS }, { 6, 0xb6, GOLDMONT_PLUS }, /* Sierra Forest, Grand Ridge */
	{ 6, 0xdd, GOLDMONT_PLUS }, /* Clearwater Forest */
	{ 6, 0x97, HYBRID }, { 6, 0x9a, HYBRID }, /* Alder Lake */
	{ 6, 0xb7, HYBRID }, { 6, 0xba, HYBRID }, { 6, 0xbf, HYBRID }, /* Raptor Lake */
	{ 6, 0xaa, HYBRID }, { 6, 0xac, HYBRID }, /* Meteor Lake */
	{ 6, 0xb5, HYBRID }, { 6, 0xc5, HYBRID }, { 6, 0xc6, HYBRID }, /* Arrow Lake */
	{ 6, 0xbd, HYBRID }, /* Lunar Lake */
	{ 6, 0xcc, HYBRID }, { 6, 0xd5, HYBRID }, /* Panther Lake, Wildcat Lake */
	{ 18, 0x01, HYBRID }, { 18, 0x03, HYBRID }, /* Nova Lake */
};
/* clang-format on */

struct pt_errata pt_errata_of(uint32_t family, uint32_t model, enum core_kind core)
{
	for (size_t i = 0; i < COUNT_OF(cpus); i++) {
		enum errata_set set = cpus[i].set;

		if (cpus[i].family != family || cpus[i].model != model)
			continue;
		if (set == HYBRID && core == CORE_PERFORMANCE)
			set = GOLDEN_COVE;
		else if (set == HYBRID && core == CORE_EFFICIENT)
			set = GOLDMONT_PLUS;
		return sets[set];
	}
	return (struct pt_errata){ 0 };
}

bool pt_errata_fup_has_next_ip(const struct pt_cpu *cpu)
{
	return cpu->vendor == pcv_intel && cpu->family == 6 && cpu->model == 0x5c;
}
