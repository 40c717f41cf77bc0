/* SPDX-License-Identifier: MIT */
/*
 * The address filter of a recording (perf record --filter) in AUXTRACE_INFO: "filter
 * ADDRESS/SIZE[@FILE]" and "stop ADDRESS/SIZE[@FILE]", separated by commas or spaces. With FILE,
 * the address is an offset in the file (tools/perf/util/auxtrace.c, parse_action()).
 *
 * If a direct branch leaves the filter, its TIP.PGD can lack the ip (erratum SKL014). Then the
 * filter alone identifies the branch, as in perf.
 */
#pragma once

#include "base/common.h"

struct address_space;

/* CPUs have up to four; further ranges in a file are ignored. */
#define FILTER_RANGES 16

struct address_filter {
	struct filter_range {
		uint64_t begin, size;
		const char
			*path; /* borrowed, of path_length bytes; NULL: addresses of the kernel */
		size_t path_length;
		bool stops; /* tracing ends in the range */
	} ranges[FILTER_RANGES];
	size_t count;
};

/* `text` is borrowed; NULL: no filter. Words except "filter" and "stop" are ignored. */
void address_filter_init(struct address_filter *filter, const char *text);

/* Returns whether tracing ends at ip: outside of all filters, or in a stop. */
bool address_filter_ends_at(const struct address_filter *filter, const struct address_space *space,
			    uint64_t ip);
