/* SPDX-License-Identifier: MIT */
/* Find the kernel's code by address. */
#include "decoder/code/kernel_code.h"

#include "base/tables/lower_bound.h"

static const struct kernel_segment *segment_at(const struct kernel_segment *segments, size_t count,
					       uint64_t ip)
{
	size_t at = LOWER_BOUND(i, count, segments[i].end <= ip);

	return at < count && segments[at].begin <= ip ? &segments[at] : NULL;
}

const struct kernel_segment *kernel_code_find(const struct kernel_code *kernel, uint64_t ip,
					      const uint8_t **bytes)
{
	const struct kernel_segment *segment = segment_at(kernel->segments, kernel->count, ip);

	*bytes = NULL;
	if (segment) {
		*bytes = kernel->file.bytes + segment->file_offset;
		return segment;
	}
	segment = segment_at(kernel->runtime_segments, kernel->runtime_count, ip);
	if (segment)
		*bytes = kernel->runtime_bytes + segment->file_offset;
	return segment;
}
