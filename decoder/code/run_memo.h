/* SPDX-License-Identifier: MIT */
/*
 * A memo of runs: maps (basic block, next TNT bits) or (basic block, target of a TIP) to the next
 * block, and to the branches on the way that are events.
 *
 * The key lacks the address of the code's mapping and the calls to which returns return, so
 * followers of a run compare these. The table has a fixed size; new runs replace old ones.
 */
#pragma once

#include "base/tables/direct_cache.h"

struct basic_block;
struct known_branch;

/* Maximum TNT bits and branches of a run. */
#define RUN_BITS     15
#define RUN_BRANCHES 31

/* Maximum jumps of a run, so that its counts can be added without a check. */
#define RUN_JUMPS 255

/* All runs are forgotten when their branches would need more: 4 MiB. */
#define RUN_MEMO_BRANCHES ((size_t)1 << 17)

/* What a branch does to the stack of return addresses. */
enum run_stack {
	RUN_STACK_KEEPS,
	RUN_STACK_PUSHES, /* `call` */
	RUN_STACK_POPS,
	RUN_STACK_RISES, /* + N: the call, and calls in it, end in the run; depth N */
};

/*
 * A branch of a run, or the end of its first bit or TIP (memo->ends), with `all` and `early` of the
 * branch that ends there, if one does.
 */
struct run_branch {
	union {
		struct known_branch *known; /* borrowed; never NULL */
		uint64_t end;               /* ip */
	};
	union {
		struct basic_block *call; /* pushed or returned to; else NULL */
		struct {
			uint32_t before; /* branches up to the end */
			uint32_t jumps;  /* jumps up to the end */
		};
	};
	uint32_t insns; /* since the previous branch */
	uint32_t all;   /* struct branch_event's */
	uint8_t stack;  /* enum run_stack */
	uint8_t length; /* bytes of the instruction */
	bool early;     /* before the first TNT bit, or the TIP */
	uint32_t to;    /* CFG node */
};

struct run {
	uint64_t id;      /* 0: empty */
	uint64_t target;  /* its TIP's, or its return address if another run has the bits alone */
	uint64_t begin;   /* address of the code's region */
	uint64_t steps;   /* packed_counts.h */
	uint64_t bytes;   /* the last packet that had only this run, shifted to the top */
	uint32_t to;      /* CFG node; 0: unknown */
	uint32_t first;   /* index of its first branch */
	uint32_t rest;    /* instructions after its last branch */
	uint16_t next[2]; /* for the owner: indexes of runs that may follow */
	uint32_t returns; /* by index, returns by a bit from calls before the run */
	uint8_t count;    /* branches */
	uint8_t jumps;    /* as in `steps` */
	uint8_t shift;    /* shift of `bytes` */
	bool moves;       /* the run ends in another mapping */
};

/* Returns whether the packet of a run, which has 3 to 8 bytes, is a TIP. */
static inline bool run_is_to_tip(const struct run *run)
{
	return run->shift <= 64 - 8 * 3;
}

struct run_memo {
	struct direct_cache table;   /* entries are struct run */
	struct run_branch *branches; /* owned */
	size_t branch_count, branch_room;
	bool ends; /* for the owner: after a run's branches there is one for its first bit's end */
};

/* Allocate a table for a trace of `size` bytes. */
void run_memo_init(struct run_memo *memo, uint64_t size);

void run_memo_release(struct run_memo *memo);

/* Empty the table. */
void run_memo_forget(struct run_memo *memo);

/* Returns the key of a CFG node and the first bits of `bits` (tnt_bits.h), at most RUN_BITS. */
static inline uint64_t run_id(uint32_t node, uint64_t bits)
{
	return (uint64_t)node << (RUN_BITS + 1) | bits >> (63 - RUN_BITS) |
	       (bits << (RUN_BITS + 1) != 0);
}

/* Returns both parts of a key. */
static inline uint32_t run_id_node(uint64_t id)
{
	return (uint32_t)(id >> (RUN_BITS + 1));
}

static inline uint64_t run_id_bits(uint64_t id)
{
	return id << (63 - RUN_BITS);
}

/* Slots in which a run can be, filled in this order: two neighbours, and two elsewhere. */
#define RUN_SLOTS 4u

static inline struct run *run_slot(const struct run_memo *memo, uint64_t id, uint64_t target,
				   unsigned i)
{
	struct run *runs = memo->table.slots;
	uint64_t key = id + target;

	return &runs[direct_cache_index(&memo->table, i & 2 ? key << 12 : key) ^ (i & 1)];
}

/* Returns the run of a key, for the target of a TIP, a return address or 0; or NULL. */
static inline struct run *run_memo_find(const struct run_memo *memo, uint64_t id, uint64_t target)
{
	struct run *run = run_slot(memo, id, target, 0);

	for (unsigned i = 1; run->id != id || run->target != target; i++) {
		if (!run->id || i == RUN_SLOTS)
			return NULL;
		run = run_slot(memo, id, target, i);
	}
	return run;
}

/* Returns whether all runs are forgotten when this one is kept. */
static inline bool run_memo_full(const struct run_memo *memo, const struct run *run)
{
	return memo->branch_count + run->count + memo->ends > RUN_MEMO_BRANCHES;
}

/* Returns the slot for a run of this key: an empty one, or that of the run which it replaces. */
struct run *run_memo_room(const struct run_memo *memo, uint64_t id, uint64_t target);

/* Keep a run with its branches. */
void run_memo_keep(struct run_memo *memo, const struct run *run, const struct run_branch *branches);
