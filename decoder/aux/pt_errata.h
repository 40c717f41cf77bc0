/* SPDX-License-Identifier: MIT */
/*
 * The errata of Intel PT by CPU.  We keep our own table because distributions ship libraries
 * that are older than the CPUs: libipt 2.0.5 of Debian 12 knows no CPU since 2022.
 */
#ifndef DECODER_AUX_PT_ERRATA_H
#define DECODER_AUX_PT_ERRATA_H

#include <intel-pt.h>

#include "decoder/aux/auxtrace.h"

/*
 * Returns the errata of an Intel CPU, by CPUID's display family and model.  `core` is the kind
 * of core of a hybrid CPU that wrote the trace; if unknown, the errata of both kinds apply.  A
 * CPU that is not in the table has no errata.
 */
struct pt_errata pt_errata_of(uint32_t family, uint32_t model, enum core_kind core);

/*
 * Returns whether a FUP may have the ip after an indirect branch or far transfer instead of its
 * own.  Source: perf (tools/perf/util/intel-pt.c, INTEL_PT_FUP_WITH_NLIP); libipt knows nothing of
 * it, and struct pt_errata has no bit for it.
 */
bool pt_errata_fup_has_next_ip(const struct pt_cpu *cpu);

#endif
