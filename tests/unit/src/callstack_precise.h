/* SPDX-License-Identifier: MIT */
/*
 * Each rule of the precise machine, on artificial functions: "f" is at 0x1000 per letter, calls are
 * 5 bytes long.  Events are 10 ns apart.
 */
#pragma once

#include "base/arena.h"
#include "src/callstack/callstack.h"
#include "src/callstack/precise/callstack_precise_stack.h"
#include "tests/support/stack_branch.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_log.h"

#define BASE UINT64_C(1000000)
/* Calls; capacity grows to at most twice as many. */
#define DEEP 5000

extern struct name_table names;
extern struct diag diag;
extern struct slice_log slices;
extern struct callstack_machine *machine;
extern struct callstack *stack;
extern uint64_t now;

/* This many branches are fed at once; 0: one by one, with empty notes. */
#define AT_ONCE_MOST 8
extern size_t at_once;

extern const struct thread *run_thread; /* of the next branches; NULL: unknown */
extern uint8_t call_length;
extern uint32_t insns; /* up to the next branch */

void setup(void);

/* With a sink that takes many begins and ends at once, like the sorter. */
void setup_edges(void);

void teardown(void);

/* A letter's function; upper case is its PLT stub. */
struct symbol *function(char letter);

struct location at(char letter, uint64_t offset);

void feed_held(void);

void feed_branch(const struct stack_branch *branch);

void finish(void);

void feed(enum branch_kind kind, struct location from, struct location to, unsigned flags);

void call(char from, uint64_t offset, char to);

void ret(char from, char to, uint64_t offset);

void jump(char from, char to, uint64_t offset);

void gap(enum gap_reason reason);

/* Finish and compare all slices with "B 0 f\n..."; this consumes the stack. */
void expect(const char *text);

void expect_depth(size_t depth);

struct location nameless(uint64_t ip);

void show_mark(void);

/* A branch whose effect the code shows; `offset`: struct location_pair's. */
void go_with(enum branch_kind kind, char from, struct location to, enum call_effect effect,
	     uint32_t offset);

void go_by(enum branch_kind kind, char from, struct location to, enum call_effect effect);

/* The same to a function's entry. */
void enter_by(enum branch_kind kind, char from, char to, enum call_effect effect);

void add_call_tests(TCase *tests);
void add_limit_tests(TCase *tests);
void add_exception_tests(TCase *tests);
void add_far_tests(TCase *tests);
void add_tail_tests(TCase *tests);
void add_stack_tests(TCase *tests);
void add_time_tests(TCase *tests);
void add_opaque_tests(TCase *tests);
void add_inlined_tests(TCase *tests);
void add_cost_tests(TCase *tests);
/* These feed in several ways themselves. */
void add_feeding_tests(TCase *tests);
