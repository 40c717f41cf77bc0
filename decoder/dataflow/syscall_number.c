/* SPDX-License-Identifier: MIT */
/*
 * Data-flow analysis of one function: passes over its code in the order of addresses, until what is
 * known where jumps lead does not change any more.
 */
#include "decoder/dataflow/syscall_number.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "decoder/dataflow/known_values.h"

/* So many jumps to code further on are followed at once, and so many loops. */
#define TARGETS_MOST 32
#define LOOPS_MOST   32

/* If what is known changes in so many passes, nothing is. */
#define PASSES_MOST 4

/* What is known where a jump leads. */
struct target {
	size_t to; /* offset */
	struct known_values values;
};

/* Of each offset: nothing leads back to it, or too many jumps; else 1 + the index of a loop. */
enum { LOOP_NONE = 0, LOOP_UNKNOWN = LOOPS_MOST + 1 };

struct loop {
	struct known_values values; /* what all jumps back to it have in common */
	bool reached;               /* by one of them */
};

struct analysis {
	const struct syscall_code *code;
	size_t at;
	uint8_t *loop_at; /* owned */
	struct loop loops[LOOPS_MOST];
	unsigned loop_count;
	/* One pass, from the function's begin to its end: */
	struct target targets[TARGETS_MOST];
	size_t count;
	size_t nearest; /* the lowest `to`, SIZE_MAX: none */
	struct known_values now;
	bool reached;            /* the code at hand, by the instruction before it */
	bool changed;            /* what is known of a loop */
	bool first;              /* pass of several: what loops come back with is not known yet */
	struct known_values end; /* at `at`, if it was reached */
	bool ended;
};

static struct insn insn_at(const struct analysis *analysis, size_t offset)
{
	return insn_decode(analysis->code->bytes + offset, analysis->code->size - offset,
			   analysis->code->mode);
}

/* Sets the offset that a direct jump leads to.  Returns false if it is not in the function. */
static bool find_target(const struct analysis *analysis, size_t offset, const struct insn *insn,
			size_t *to)
{
	int64_t target = (int64_t)(offset + insn->length) + insn->distance;

	*to = (size_t)target;
	return (insn->kind == BRANCH_JUMP || insn->kind == BRANCH_COND) && target >= 0 &&
	       (uint64_t)target < analysis->code->size;
}

static void mark_loop(struct analysis *analysis, size_t to)
{
	if (analysis->loop_at[to])
		return;
	analysis->loop_at[to] =
		analysis->loop_count < LOOPS_MOST ? (uint8_t)++analysis->loop_count : LOOP_UNKNOWN;
}

/*
 * Note where jumps lead back to.  Returns false if jumps may lead anywhere, or there is no code up
 * to `at`.
 */
static bool mark_loops(struct analysis *analysis)
{
	struct insn insn;

	for (size_t offset = 0, to; offset < analysis->code->size; offset += insn.length) {
		insn = insn_at(analysis, offset);
		if (!insn.length)
			return offset > analysis->at; /* data behind the code */
		if (insn.indirect && (insn.kind == BRANCH_JUMP || insn.kind == BRANCH_COND))
			return false;
		if (find_target(analysis, offset, &insn, &to) && to <= offset)
			mark_loop(analysis, to);
	}
	return true;
}

/* ---- Jumps --------------------------------------------------------------- */

static void jump_back(struct analysis *analysis, size_t to)
{
	unsigned index = analysis->loop_at[to];
	struct loop *loop = &analysis->loops[index - 1];

	if (index == LOOP_UNKNOWN)
		return;
	if (loop->reached) {
		analysis->changed |= known_values_merge(&loop->values, &analysis->now);
	} else {
		loop->values = analysis->now;
		loop->reached = analysis->changed = true;
	}
}

static void jump_ahead(struct analysis *analysis, size_t to)
{
	if (analysis->count == TARGETS_MOST) {
		analysis->loop_at[to] = LOOP_UNKNOWN;
		return;
	}
	analysis->targets[analysis->count].to = to;
	analysis->targets[analysis->count++].values = analysis->now;
	if (to < analysis->nearest)
		analysis->nearest = to;
}

/* A jump leads to the code at hand. */
static void join(struct analysis *analysis, const struct known_values *values)
{
	if (analysis->reached)
		known_values_merge(&analysis->now, values);
	else
		analysis->now = *values;
	analysis->reached = true;
}

/*
 * Join the jumps that lead to an offset.  Returns false if one leads in front of it, into the
 * instruction there.
 */
static bool take_targets(struct analysis *analysis, size_t offset)
{
	bool whole = true;

	analysis->nearest = SIZE_MAX;
	for (size_t i = analysis->count; i-- > 0;) {
		struct target *target = &analysis->targets[i];

		if (target->to > offset) {
			if (target->to < analysis->nearest)
				analysis->nearest = target->to;
			continue;
		}
		if (target->to == offset)
			join(analysis, &target->values);
		else
			whole = false;
		*target = analysis->targets[--analysis->count];
	}
	return whole;
}

/* ---- Code ---------------------------------------------------------------- */

/* Returns whether an instruction does nothing: assemblers fill up with them behind jumps. */
static bool is_padding(const struct analysis *analysis, size_t offset, size_t length)
{
	const uint8_t *bytes = analysis->code->bytes + offset, *end = bytes + length;

	while (bytes < end && (*bytes == 0x66 || *bytes == 0x2e))
		bytes++;
	return bytes < end &&
	       (*bytes == 0x90 || (end - bytes > 1 && bytes[0] == 0x0f && bytes[1] == 0x1f));
}

/* Come to the instruction at an offset, the next one after that at `last`. */
static void arrive(struct analysis *analysis, size_t last, size_t offset)
{
	unsigned loop = analysis->loop_at[offset];
	bool known = offset < analysis->nearest || take_targets(analysis, offset);

	for (size_t i = offset; known && i-- > last + 1;)
		known = analysis->loop_at[i] == LOOP_NONE;
	if (!known || loop == LOOP_UNKNOWN) {
		known_values_forget(&analysis->now);
		analysis->reached = true;
	} else if (loop && analysis->loops[loop - 1].reached) {
		join(analysis, &analysis->loops[loop - 1].values);
	}
}

static void step(struct analysis *analysis, size_t offset, const struct insn *insn)
{
	size_t to;

	if (find_target(analysis, offset, insn, &to)) {
		if (to > offset)
			jump_ahead(analysis, to);
		else
			jump_back(analysis, to);
	}
	known_values_step(&analysis->now, analysis->code->bytes + offset, insn,
			  analysis->code->mode);
	analysis->reached = insn->kind != BRANCH_JUMP && insn->kind != BRANCH_RETURN;
}

/* Follow the code from the function's begin to its end. */
static void analyse_once(struct analysis *analysis)
{
	struct insn insn;

	known_values_begin(&analysis->now, analysis->code->mode);
	analysis->reached = true;
	analysis->nearest = SIZE_MAX;
	analysis->count = 0;
	analysis->changed = analysis->ended = false;
	for (size_t offset = 0, last = 0; offset < analysis->code->size; offset += insn.length) {
		arrive(analysis, last, offset);
		last = offset;
		insn = insn_at(analysis, offset);
		if (!insn.length)
			break;
		/*
		 * Nothing leads here, and nothing is known behind a jump: a landing pad, or
		 * another function's jump; in the first pass, perhaps a loop.
		 */
		if (!analysis->reached && !analysis->first &&
		    !is_padding(analysis, offset, insn.length))
			analysis->reached = true;
		if (offset == analysis->at) {
			analysis->end = analysis->now;
			analysis->ended = analysis->reached;
		}
		if (analysis->reached)
			step(analysis, offset, &insn);
	}
}

/* Returns whether it is known what places have at `at`. */
static bool analyse(struct analysis *analysis)
{
	if (!mark_loops(analysis))
		return false;
	for (unsigned pass = 0; pass < PASSES_MOST; pass++) {
		analysis->first = pass == 0 && analysis->loop_count;
		analyse_once(analysis);
		if (!analysis->changed && !analysis->first)
			return analysis->ended;
	}
	return false;
}

struct syscall_number syscall_number_find(const struct syscall_code *code, size_t at,
					  unsigned place)
{
	struct syscall_number found = { SYSCALL_UNKNOWN, SYSCALL_UNKNOWN };
	struct analysis analysis = { .code = code, .at = at };
	struct known_value value = { 0 };

	if (at >= code->size)
		return found;
	analysis.loop_at = alloc_zeroed(code->size, 1);
	if (analyse(&analysis))
		value = known_value_of(&analysis.end, place);
	free(analysis.loop_at);
	if (value.number >= 0 && value.kind == VALUE_CONSTANT)
		found.number = value.number;
	else if (value.kind == VALUE_ARGUMENT)
		found.argument = value.number;
	return found;
}
