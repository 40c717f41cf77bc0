/* SPDX-License-Identifier: MIT */
/*
 * The address filter of a recording (perf record --filter), as AUXTRACE_INFO has it: "filter
 * ADDRESS/SIZE[@FILE]" and "stop ADDRESS/SIZE[@FILE]", separated by commas or spaces.  With FILE
 * the address is an offset in it (tools/perf/util/auxtrace.c, parse_action()).
 *
 * Where a direct branch leaves the filter, its TIP.PGD may lack the ip (erratum SKL014): then only
 * the filter shows which branch it was. perf decides so, too.
 */
#ifndef DECODER_CODE_ADDRESS_FILTER_H
#define DECODER_CODE_ADDRESS_FILTER_H

#include "base/common.h"

struct address_space;

/* CPUs have up to four; more in a file are ignored. */
#define FILTER_RANGES 16

struct address_filter {
	struct filter_range {
		uint64_t begin, size;
		const char
			*path; /* borrowed, of path_length bytes; NULL: addresses of the kernel */
		size_t path_length;
		bool stops; /* tracing ends in it */
	} ranges[FILTER_RANGES];
	size_t count;
};

/* The text is borrowed; NULL: no filter.  Other words than these two are ignored. */
void address_filter_init(struct address_filter *filter, const char *text);

/* Returns whether tracing ends at ip: outside of all filters, or in a stop. */
bool address_filter_ends_at(const struct address_filter *filter, const struct address_space *space,
			    uint64_t ip);

#endif
