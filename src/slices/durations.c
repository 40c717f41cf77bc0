/* SPDX-License-Identifier: MIT */
/* A histogram of durations whose buckets have a limited relative width. */
#include "src/slices/durations.h"

#define STEPS DURATION_STEPS

void durations_replace(struct durations *durations, uint64_t ns, uint64_t by)
{
	size_t bucket = log_class(ns, DURATION_BITS);

	durations_add(durations, by);
	durations->blocks[bucket / STEPS][bucket % STEPS]--;
	durations->count--;
	durations->max = 0;
}

void durations_replace_all(struct durations *durations, const struct durations *those,
			   const struct durations *by)
{
	for (size_t i = 0; i < DURATION_BLOCKS; i++) {
		const uint64_t *less = those->blocks[i], *more = by->blocks[i];
		uint64_t **block = &durations->blocks[i];

		if (more && !*block)
			*block = alloc_zeroed(STEPS, sizeof(**block));
		for (size_t j = 0; j < STEPS && (less || more); j++)
			(*block)[j] += (more ? more[j] : 0) - (less ? less[j] : 0);
	}
	durations->max = MAX(durations->max, by->max);
}

uint64_t durations_quantile(const struct durations *durations, uint32_t millionths)
{
	/* Round up. Cannot overflow for a count of real events. */
	uint64_t rank = (durations->count * millionths + 999999) / 1000000, seen = 0;

	for (uint32_t i = 0; i < DURATION_BUCKETS; i++) {
		if (durations->blocks[i / STEPS])
			seen += durations->blocks[i / STEPS][i % STEPS];
		if (seen && seen >= rank) {
			uint64_t begin = log_class_begin(i, DURATION_BITS);

			return MAX(begin, durations->min);
		}
	}
	return 0;
}

void durations_percentiles(const struct durations *durations, uint64_t values[101])
{
	uint64_t seen = 0;
	unsigned next = 0;

	memset(values, 0, 101 * sizeof(*values));
	for (uint32_t i = 0; i < DURATION_BUCKETS && next <= 100; i++) {
		if (!durations->blocks[i / STEPS]) {
			i |= STEPS - 1;
			continue;
		}
		seen += durations->blocks[i / STEPS][i % STEPS];
		while (seen && next <= 100 && 100 * seen >= next * durations->count)
			values[next++] = MAX(log_class_begin(i, DURATION_BITS), durations->min);
	}
}

uint64_t durations_longer(const struct durations *durations, uint64_t ns)
{
	uint64_t longer = 0;

	for (size_t i = log_class(ns, DURATION_BITS) + 1; i < DURATION_BUCKETS; i++)
		if (!durations->blocks[i / STEPS])
			i |= STEPS - 1;
		else
			longer += durations->blocks[i / STEPS][i % STEPS];
	return longer;
}

double durations_excess(const struct durations *durations, uint64_t ns, uint64_t than)
{
	double excess = 0;

	for (uint32_t i = log_class(ns, DURATION_BITS) + 1; i < DURATION_BUCKETS; i++)
		if (!durations->blocks[i / STEPS])
			i |= STEPS - 1;
		else if (durations->blocks[i / STEPS][i % STEPS])
			excess += (double)durations->blocks[i / STEPS][i % STEPS] *
				  (double)(log_class_begin(i, DURATION_BITS) - than);
	return excess;
}

void durations_copy(struct durations *to, const struct durations *from)
{
	*to = *from;
	for (size_t i = 0; i < DURATION_BLOCKS; i++)
		if (from->blocks[i])
			to->blocks[i] = memcpy(alloc_zeroed(STEPS, sizeof(**to->blocks)),
					       from->blocks[i], STEPS * sizeof(**to->blocks));
}

void durations_release(struct durations *durations)
{
	for (size_t i = 0; i < DURATION_BLOCKS; i++)
		free(durations->blocks[i]);
	*durations = (struct durations){ 0 };
}
