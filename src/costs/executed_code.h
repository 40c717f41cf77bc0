/* SPDX-License-Identifier: MIT */
/*
 * Sums the executions of code in files, which the decoder counts by address
 * (decoder/code/code_counts.h).  Memory grows with the distinct code.
 */
#ifndef SRC_COSTS_EXECUTED_CODE_H
#define SRC_COSTS_EXECUTED_CODE_H

#include "base/tables/id_index.h"
#include "decoder/branch_event.h"
#include "decoder/code/code_counts.h"

struct dso;
struct resolver;

/* How a stretch of code ended; or a branch, from `begin` to `last`. */
enum stretch_kind {
	LEFT_OTHER,
	LEFT_TAKEN,  /* by a conditional jump */
	LEFT_BEFORE, /* by an interrupt, before the instruction at `last` */
	JUMPED,      /* directly, or indirectly, within a file */
	CALLED,      /* directly */
};

struct code_stretch {
	const struct dso *dso; /* borrowed */
	uint64_t begin, last;  /* ELF virtual addresses of instructions */
	uint64_t count;
	enum stretch_kind kind;
};

static inline bool stretch_is_code(const struct code_stretch *stretch)
{
	return stretch->kind <= LEFT_BEFORE;
}

struct executed_code {
	struct code_counter counter;    /* first: give this to the decoder */
	struct resolver *resolver;      /* borrowed: set it before counts come */
	struct code_stretch *stretches; /* owned */
	size_t count, room;
	struct id_index index; /* of the stretches' numbers + 1 */
};

void executed_code_init(struct executed_code *code);

/* Release the memory.  Idempotent, also on zeroed memory. */
void executed_code_release(struct executed_code *code);

/* Add counted code, which begins at an ELF virtual address of a file (borrowed). */
void executed_code_add(struct executed_code *code, const struct dso *dso, uint64_t vaddr,
		       const struct code_count *counted);

/* An instruction that was executed. */
struct executed_insn {
	const struct dso *dso; /* borrowed */
	uint64_t vaddr;        /* ELF virtual address */
	uint64_t count;        /* executions */
	uint64_t taken;        /* of these, by a conditional jump to its target */
	uint8_t length;        /* bytes */
	uint8_t kind;          /* enum branch_kind, */
	bool back;             /* to a lower address */
};

/*
 * All counts have come: call `add` for each instruction that was executed, by file and address.
 * Where the bytes of the code are not known, instructions are missing.
 */
void executed_code_list(const struct executed_code *code,
			void (*add)(void *context, const struct executed_insn *insn),
			void *context);

#endif
