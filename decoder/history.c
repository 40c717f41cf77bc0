/* SPDX-License-Identifier: MIT */
/* Look up mappings, context switches and losses. */
#include "decoder/history.h"

static const struct mapping *find_mapping(const struct address_space *space, uint64_t ip)
{
	size_t low = LOWER_BOUND(i, space->count, space->mappings[i].end <= ip);

	if (low == space->count || space->mappings[low].begin > ip)
		return NULL;
	return &space->mappings[low];
}

const struct mapping *address_space_borrow_mapping(const struct address_space *space, uint64_t ip)
{
	const struct mapping *mapping = space ? find_mapping(space, ip) : NULL;

	return mapping || !space || !space->kernel ? mapping : find_mapping(space->kernel, ip);
}

const struct cpu_switch *history_switches(const struct history *history, int32_t cpu, size_t *count)
{
	const struct cpu_switch *switches = history->switches;
	size_t first = LOWER_BOUND(i, history->switch_count, switches[i].cpu < cpu);

	*count = LOWER_BOUND(i, history->switch_count, switches[i].cpu <= cpu) - first;
	return *count ? &switches[first] : NULL;
}

const struct loss *history_losses(const struct history *history, int32_t cpu, int32_t tid,
				  size_t *count)
{
	int64_t owner = tid == -1 ? owner_of_cpu(cpu) : owner_of_thread(tid);
	const struct loss *losses = history->losses;
	size_t first = LOWER_BOUND(i, history->loss_count, losses[i].owner < owner);

	*count = LOWER_BOUND(i, history->loss_count, losses[i].owner <= owner) - first;
	return *count ? &losses[first] : NULL;
}
