/* SPDX-License-Identifier: MIT */
/* The table of errata by CPU. */
#include "decoder/aux/pt_errata.h"

/*
 * Sources: Intel's specification updates, as libipt 2.2 has them by family and model
 * (pt_cpu_errata(), of November 2025; its 2.1.3 of 2025 notes that SKL014 is fixed since
 * Sapphire Rapids and Alder Lake).  libipt assumes that new CPUs keep the errata of the ones
 * before them, and so does this table: to undo an erratum that a CPU does not have changes
 * no trace without damage.  perf has no table: it knows one more erratum of one CPU, below.
 *
 * Both kinds of core of a hybrid CPU have one model.  libipt lists their errata together; here
 * each kind has those of the CPUs that have this kind only: APL11 is an erratum of Atoms
 * (6/122 to 6/221), BDM70 and SKD022 are of the others.
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
	{ 6, 0x6a, SKYLAKE_X }, { 6, 0x6c, SKYLAKE_X }, /* Ice Lake of servers */
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
	for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
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
