/* SPDX-License-Identifier: MIT */
/* Derive the clocks and kinds of core from the parameters of Intel PT. */
#include "decoder/aux/pt_info.h"

enum core_kind pt_info_core(const struct pt_info *info, int32_t cpu)
{
	const char *at = info->performance_cpus;
	unsigned long first, last;
	char *end;

	if (!at || cpu < 0)
		return CORE_UNKNOWN;
	while (*at >= '0' && *at <= '9') {
		first = last = strtoul(at, &end, 10);
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if ((unsigned long)cpu >= first && (unsigned long)cpu <= last)
			return CORE_PERFORMANCE;
		at = *end == ',' ? end + 1 : end;
	}
	return CORE_EFFICIENT;
}

struct tsc_clock pt_info_tsc_clock(const struct pt_info *info)
{
	return (struct tsc_clock){ info->time_zero, (uint32_t)info->time_mult,
				   (uint16_t)info->time_shift };
}

struct clock_rates pt_info_rates(const struct pt_info *info)
{
	struct clock_rates rates = {
		.ratio_n = (uint32_t)info->tsc_ctc_ratio_n,
		.ratio_d = (uint32_t)info->tsc_ctc_ratio_d,
		.max_ratio = (uint8_t)info->max_nonturbo_ratio,
	};

	if (info->config & info->mtc_bit && info->mtc_freq_bits)
		rates.mtc_shift = (uint8_t)((info->config & info->mtc_freq_bits) >>
					    __builtin_ctzll(info->mtc_freq_bits));
	return rates;
}

uint64_t pt_info_mtc_period(const struct pt_info *info)
{
	if (!(info->config & info->mtc_bit) || !info->tsc_ctc_ratio_d)
		return 0;
	return (UINT64_C(1) << pt_info_rates(info).mtc_shift) * info->tsc_ctc_ratio_n /
	       info->tsc_ctc_ratio_d;
}
