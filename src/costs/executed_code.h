/* SPDX-License-Identifier: MIT */
/*
 * Counts the stretches of code that branches executed: instructions from the target of a branch to
 * the next branch, without interruption.  Nothing is looked up per event; memory grows with the
 * distinct stretches.
 */
#ifndef SRC_COSTS_EXECUTED_CODE_H
#define SRC_COSTS_EXECUTED_CODE_H

#include "decoder/jump_run.h"
#include "src/resolve/location.h"

enum stretch_entry {
	ENTERED_ANEW, /* by a call, or from another file */
	ENTERED_ON, /* the code before it in memory led here: a return, the end of a system call */
	ENTERED_JUMP, /* from `from` */
};

enum stretch_exit {
	LEFT_OTHER,
	LEFT_TAKEN,  /* by a conditional jump */
	LEFT_BEFORE, /* by an interrupt, before the instruction at `last` */
};

struct code_stretch {
	const struct dso *dso; /* borrowed */
	uint64_t from;         /* of the jump to `begin`, or 0 */
	uint64_t begin, last;  /* ELF virtual addresses of instructions */
	uint8_t entry, exit;   /* enum stretch_entry, stretch_exit */
	uint64_t count;
};

struct executed_thread;
struct executed_run;

struct executed_code {
	struct code_stretch *stretches; /* owned */
	size_t count, room;
	struct id_index index;           /* of the stretches' numbers + 1 */
	struct direct_cache cache;       /* owned: of numbers + 1 */
	struct executed_thread *threads; /* owned; by index of the thread */
	size_t thread_room;
	struct executed_run *runs; /* a list, in: */
	struct arena arena;
};

void executed_code_init(struct executed_code *code);

/* Release the memory.  Idempotent, also on zeroed memory. */
void executed_code_release(struct executed_code *code);

/* Count the code that a thread executed up to an event; all is borrowed for the call. */
void executed_code_add(struct executed_code *code, const struct branch_event *event,
		       const struct location *from, const struct location *to);

/* The same of local jumps, which begin `at` a location. */
void executed_code_add_runs(struct executed_code *code, const struct branch_event *event,
			    const struct location *at);

/* All has come: the stretches then include the code of the runs. */
void executed_code_finish(struct executed_code *code);

/* An instruction that was executed. */
struct executed_insn {
	const struct dso *dso; /* borrowed */
	uint64_t vaddr;        /* ELF virtual address */
	uint64_t count;        /* executions */
	uint64_t taken;        /* of these, by a conditional jump to its target */
	uint8_t length;        /* bytes */
	bool conditional;      /* it is a conditional jump, */
	bool back;             /* to a lower address */
};

/*
 * After executed_code_finish(): call `add` for each instruction that was executed, by file and
 * address.  Where the bytes of the code are not known, instructions are missing.
 */
void executed_code_list(const struct executed_code *code,
			void (*add)(void *context, const struct executed_insn *insn),
			void *context);

#endif
