/* SPDX-License-Identifier: MIT */
/*
 * Sums the executions of code in files from the decoder's counts by address
 * (decoder/code/code_counts.h). Memory grows with distinct code.
 *
 * To count only the code inside some calls, which are known at the end (--within), the branches of
 * all threads wait in a log. Code is then counted between the branches that begin and end a call.
 */
#pragma once

#include "base/tables/id_index.h"
#include "decoder/code/code_counts.h"
#include "decoder/code/insn.h"
#include "src/slices/slice_sink.h"

struct code_source;
struct dso;
struct resolver;

enum stretch_kind {
	STRETCH_RAN,     /* executed code */
	STRETCH_STOPPED, /* the same, ended by an interrupt before the instruction at `last` */
	/* From `begin` to `last`: */
	STRETCH_JUMP,   /* direct or indirect jump within a file */
	STRETCH_CALL,   /* direct call */
	STRETCH_BRANCH, /* branch between functions; begin 0: in another file */
};

struct code_stretch {
	const struct dso *dso; /* borrowed */
	uint64_t begin, last;  /* ELF virtual addresses of instructions */
	uint64_t count;
	uint64_t taken; /* executions in which a conditional jump went to its target */
	enum stretch_kind kind;
	enum branch_kind branch; /* the instruction at `last`, or the branch itself */
};

static inline bool stretch_is_code(const struct code_stretch *stretch)
{
	return stretch->kind <= STRETCH_STOPPED;
}

/* Returns the executions of a stretch that continue with the following instruction. */
static inline uint64_t stretch_passes(const struct code_stretch *stretch)
{
	bool passes = stretch->branch == BRANCH_NONE || stretch->branch == BRANCH_COND;

	return passes && stretch->kind == STRETCH_RAN ? stretch->count - stretch->taken : 0;
}

struct executed_code {
	struct code_counter counter; /* first: give this to the decoder */
	struct code_log *log;        /* owned; NULL: the decoder counts all code */
	bool branches;               /* also count branches between functions */
	bool replayed;               /* log nested calls, too; set it before the log */
	struct resolver *resolver;   /* borrowed: set it before the first count, as the next */
	const struct code_source *source;
	/* By known branch, numbered from the first, and kind: */
	const struct known_branch *known; /* borrowed: set it with `resolver`; may be NULL */
	uint64_t *known_counts;           /* owned */
	size_t known_room;
	struct code_stretch *stretches; /* owned */
	size_t count, room;
	struct id_index index; /* the stretches' numbers + 1, by hash */
	/* Code of a file around the last address, or the address alone. */
	struct mapped_code {
		const struct address_space *space; /* borrowed, as the next */
		const struct dso *dso;             /* NULL: no file */
		uint64_t begin, size;              /* ips */
		uint64_t distance;                 /* from an ip to its ELF virtual address */
	} mapped;
};

void executed_code_init(struct executed_code *code);

void executed_code_release(struct executed_code *code);

/* Count the calls, returns and jumps between functions of a batch of events. */
void executed_code_count(struct executed_code *code, const struct branch_event *events,
			 size_t count);

/*
 * Log branches instead, which must include jumps within functions. Sets *sink (borrows the code),
 * which receives the calls to count, and passes them to the former *sink, unless that is zeroed.
 * The counts of a call include the branch that enters it, but not the branch that leaves it.
 */
void executed_code_log_calls(struct executed_code *code, struct slice_sink *sink);

/* Log a branch or gap. Returns its number, for struct slice_detail. */
uint64_t executed_code_log(struct executed_code *code, const struct branch_event *event);

/* Code of a thread up to a branch or gap, with that. */
struct logged_code {
	struct code_count *piece; /* borrowed; `begin` 0: unknown; `to` of a gap: enum gap_reason */
	uint32_t thread;          /* its number, from 0 */
	int32_t pid, tid;
	uint64_t time, end; /* ns: of the thread's branch before, or `end`; of this branch */
	size_t depth;       /* open calls in the code; without `replayed` at most 1 */
	size_t depth_after; /* open calls after the branch */
};

/* Returns false to end. */
typedef bool logged_code_fn(void *context, const struct logged_code *logged);

/* After the last event and slice, once: pass the log on in the order of the branches. */
void executed_code_replay(struct executed_code *code, logged_code_fn *pass, void *context);

/* After the last event and slice: convert counts to stretches. */
void executed_code_finish(struct executed_code *code);

/* Add counted code that begins at an ELF virtual address of a file (borrowed). */
void executed_code_add(struct executed_code *code, const struct dso *dso, uint64_t vaddr,
		       const struct code_count *counted);

/* Returns the instruction at an ELF virtual address of a file; length 0: unknown. */
struct insn executed_insn_at(const struct dso *dso, uint64_t vaddr);

struct executed_insn {
	const struct dso *dso; /* borrowed */
	uint64_t vaddr;        /* ELF virtual address */
	uint64_t count;        /* executions */
	uint64_t taken;        /* executions in which a conditional jump went to its target */
	uint8_t length;        /* bytes */
	uint8_t kind;          /* enum branch_kind */
};

/*
 * After the last count: call `add` for each executed instruction, by file and address. Omits
 * instructions whose bytes are unknown.
 */
void executed_code_list(const struct executed_code *code,
			void (*add)(void *context, const struct executed_insn *insn),
			void *context);
