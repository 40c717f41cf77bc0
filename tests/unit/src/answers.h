/* SPDX-License-Identifier: MIT */
/* Answers about slices made by hand: what their tests share. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "base/io/output.h"
#include "base/utf8.h"
#include "src/callstack/callstack.h"
#include "src/costs/cost_stacks.h"
#include "src/formats/answers/chosen_calls.h"
#include "src/formats/answers/slow_causes.h"
#include "src/formats/output_format.h"
#include "src/options/options.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_feed.h"

extern struct name_table names;
extern struct symbol symbols[16];
extern size_t symbol_count;
extern struct dso *const library; /* has a short name only */
extern struct track main_thread, other_thread;
extern struct callstack_machine machine;
extern struct options options;
extern const struct slice_sink *sink;
extern const struct dso *recorded; /* the program; NULL: unknown */
extern bool reworded;              /* special symbols have other names than those in these tests */

void setup(void);
void teardown(void);

/* "[...]" is no function; "[syscall: NAME]" has the kernel's name. */
const struct symbol *symbol_of(const char *label);

void edge(struct track *track, struct slice_event event, uint64_t insns);
void begin(const char *name, uint64_t time, uint64_t insns);
void begin_with(const char *name, uint64_t time, uint16_t flags);
void end(uint64_t time, uint64_t insns);
void cut(uint64_t time);

/* A call without callees and instructions. */
void call(const char *name, uint64_t time, uint64_t duration);

void call_of_other(const char *name, uint64_t time, uint64_t duration);

/* The open output, and its text. */
extern char *text;
extern size_t size;
extern struct format_output *output;
extern struct output file; /* unlimited */

void open_format(const struct output_format *format);

/* Returns the output since open_format(). */
void finish_format(const struct output_format *format);

void close_format(const struct output_format *format);

void expect(const char *part);

void follow_slow(size_t most);

uint32_t slow_function(const char *name);

void make_answer(const char *function);

/* "CALLS CAUSE > LEAF EXTRA: LINE, LINE, ... rest EXTRA" of a cluster. */
void expect_cluster(size_t number, const char *expected);

void release_slow(size_t count);

void enter(const char *name);
void leave(void);
void spend(const char *name, uint64_t ns);

/* Slow calls of functions, and answers about them. */
extern struct slow_calls slow_calls;
extern struct slow_answer answers[3];

/* Calls on a clock; an instruction takes 1 ns. */
extern uint64_t now;

/* Add the tests of a file. */
void add_call_tests(TCase *all);
void add_cause_tests(TCase *all);
void add_page_tests(TCase *all);
void add_part_tests(TCase *all);
void add_why_tests(TCase *all);
void add_format_tests(TCase *all);
