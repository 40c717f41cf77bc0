/* SPDX-License-Identifier: MIT */
/* The table of runs. */
#include "decoder/code/run_memo.h"

#define RUNS_BITS       16
#define RUNS_BITS_SHORT 7

/* Minimum bytes of trace for the large table. */
#define SHORT_TRACE (UINT64_C(128) << 10)

_Static_assert(sizeof(struct run) == CACHE_LINE, "a run is one cache line");
_Static_assert(RUNS_BITS <= 16, "an index of a run has 16 bits");
_Static_assert(sizeof(void *) != 8 || sizeof(struct run_branch) == CACHE_LINE / 2,
	       "two branches are one cache line");

void run_memo_init(struct run_memo *memo, uint64_t size)
{
	unsigned bits = size < SHORT_TRACE ? RUNS_BITS_SHORT : RUNS_BITS;

	*memo = (struct run_memo){ 0 };
	direct_cache_init(&memo->table, bits, sizeof(struct run));
	/* Also runs without branches point to them. */
	memo->branches = alloc_grow(NULL, &memo->branch_room, 1, sizeof(*memo->branches));
}

void run_memo_release(struct run_memo *memo)
{
	direct_cache_release(&memo->table);
	free(memo->branches);
	*memo = (struct run_memo){ 0 };
}

void run_memo_forget(struct run_memo *memo)
{
	memset(memo->table.slots, 0, sizeof(struct run) * direct_cache_count(&memo->table));
	memo->branch_count = 0;
}

struct run *run_memo_room(const struct run_memo *memo, uint64_t id, uint64_t target)
{
	for (unsigned i = 0; i < RUN_SLOTS; i++) {
		struct run *run = run_slot(memo, id, target, i);

		if (!run->id || (run->id == id && run->target == target))
			return run;
	}
	return run_slot(memo, id, target, memo->branch_count % RUN_SLOTS);
}

void run_memo_keep(struct run_memo *memo, const struct run *run, const struct run_branch *branches)
{
	struct run *slot;

	if (run_memo_full(memo, run))
		run_memo_forget(memo);
	slot = run_memo_room(memo, run->id, run->target);
	*slot = *run;
	slot->first = (uint32_t)memo->branch_count;
	memo->branch_count += run->count + memo->ends;
	memo->branches = alloc_grow(memo->branches, &memo->branch_room, memo->branch_count,
				    sizeof(*branches));
	memcpy(memo->branches + slot->first, branches,
	       (run->count + memo->ends) * sizeof(*branches));
}
