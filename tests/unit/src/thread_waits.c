/* SPDX-License-Identifier: MIT */
/* Which thread ended a wait, by the branches of all threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/branch_event.h"
#include "decoder/history.h"
#include "src/costs/executed_code.h"
#include "src/formats/answers/slow_causes.h"
#include "symbols/dso/dso_store.h"
#include "tests/support/unit.h"

/* Threads A, B and C of a process, D of another one; each on a CPU of its own. */
static const struct thread threads[] = {
	{ .pid = 10, .tid = 1, .index = 0 },
	{ .pid = 10, .tid = 2, .index = 1 },
	{ .pid = 10, .tid = 3, .index = 2 },
	{ .pid = 20, .tid = 4, .index = 3 },
};

static struct name_table names;
static struct dso program, library;
static struct symbol symbols[40];
static size_t symbol_count;

/* Functions of one letter are the program's. */
static struct symbol *function(const char *text)
{
	const struct name *name = name_intern_text(&names, text);
	size_t i = 0;

	while (i < symbol_count && symbols[i].name != name)
		i++;
	if (i == symbol_count)
		symbols[symbol_count++] = (struct symbol){ .name = name,
							   .linkage = name,
							   .dso = text[1] ? &library : &program,
							   .start = 0x1000 * (i + 1) };
	ck_assert_uint_lt(symbol_count, COUNT_OF(symbols));
	return &symbols[i];
}

/* Returns the symbol of a system call; "?": an unknown one. */
static const struct symbol *system_call(const char *text)
{
	char name[40];
	struct symbol *symbol;

	snprintf(name, sizeof(name), "[syscall: %s]", text);
	symbol = function(name);
	if (*text != '?')
		symbol->linkage = name_intern_text(&names, text);
	return symbol;
}

/* Functions of the C library make the system call of their name, or futex(). */
const struct symbol *__wrap_syscall_symbols_find(struct syscall_symbols *all,
						 const struct syscall_chain *chain, bool in_kernel);
const struct symbol *__wrap_syscall_symbols_find(struct syscall_symbols *all,
						 const struct syscall_chain *chain, bool in_kernel)
{
	static const char *const calls[] = { "read", "write", "close", "nanosleep" };
	const char *name = chain->calls[0].function->name->text;

	(void)all;
	(void)in_kernel;
	for (size_t i = 0; i < COUNT_OF(calls); i++)
		if (strcmp(name, calls[i]) == 0)
			return system_call(name);
	return system_call("futex");
}

/* A thread resumes behind a system call. */
struct insn __wrap_executed_insn_at(const struct dso *dso, uint64_t vaddr);
struct insn __wrap_executed_insn_at(const struct dso *dso, uint64_t vaddr)
{
	(void)dso;
	return (struct insn){ .kind = vaddr % 0x1000 == 5 ? BRANCH_SYSCALL : BRANCH_NONE };
}

/* ---- The log ------------------------------------------------------------- */

struct stack {
	struct symbol *functions[16];
	size_t count;
};

/*
 * Add "B150>g": thread B calls g at 150 ns; "<" returns, "!" makes a system call, "." resumes after
 * one.  "%1" at the end: on CPU 1.  A thread begins in its program's function f.
 */
static void add_event(struct thread_log *log, struct stack stacks[4], const char *word)
{
	size_t number = (size_t)(*word - 'A');
	struct stack *stack = &stacks[number];
	struct branch_event event = { .thread = &threads[number], .cpu = (int32_t)number };
	struct location_pair places = { 0 };
	char name[32] = "", kind = 0;
	int cpu = (int)number;

	ck_assert_int_ge(
		sscanf(word + 1, "%" SCNu64 "%c%31[^%]%%%d", &event.time, &kind, name, &cpu), 2);
	if (strchr(word, '%'))
		cpu = atoi(strchr(word, '%') + 1);
	event.cpu = cpu;
	if (!stack->count)
		stack->functions[stack->count++] = function("f");
	places.from =
		(struct location){ .symbol = stack->functions[stack->count - 1], .offset = 5 };
	if (kind == '>') {
		event.kind = BRANCH_CALL;
		stack->functions[stack->count++] = function(name);
		places.to.symbol = function(name);
	} else if (kind == '<') {
		event.kind = BRANCH_RETURN;
		places.to.symbol = stack->functions[--stack->count - 1];
	} else if (kind == '!') {
		event.kind = BRANCH_SYSCALL;
	} else {
		places.to = places.from;
		places.to.offset = 7;
		places.from = (struct location){ 0 };
	}
	thread_log_add(log, &event, &places);
}

/* "B 100 f g held blocked=read; ": the thread, ns, its path. */
static void print_hops(const struct thread_wait *wait, char *text)
{
	for (size_t i = 0; i < wait->hop_count; i++) {
		const struct thread_hop *hop = &wait->hops[i];

		text += sprintf(text, "%c %" PRIu64, (char)('A' + hop->thread->index), hop->ns);
		for (size_t k = 0; k < hop->path_count; k++)
			text += sprintf(text, " %s", hop->path[k]->name->text);
		if (hop->held)
			text += sprintf(text, " held");
		if (hop->blocked)
			text += sprintf(text, " blocked=%s", hop->blocked->linkage->text);
		if (hop->instead)
			text += sprintf(text, " instead=%c", (char)('A' + hop->instead->index));
		text += sprintf(text, "; ");
	}
}

#define LOCKS(time) "A10>pthread_mutex_lock A11>lll_lock_wait A" time "! "

/* A waits from 100 to 205 ns. */
static const struct {
	const char *call, *log, *hops;
} waits[] = {
	/* A lock that B has had since before, and releases at 200. */
	{ "futex",
	  "B20>pthread_mutex_lock B30< " LOCKS(
		  "100") "B120>g B190< B195>pthread_mutex_unlock B196>lll_lock_wake B200! B201. A205.",
	  "B 100 f g held; " },
	/* g has less than half of f's time. */
	{ "futex",
	  LOCKS("100") "B150>g B190< B195>pthread_mutex_unlock B196>lll_lock_wake B200! A205.",
	  "B 100 f held; " },
	/* C takes it meanwhile, so it had another lock; B had this one, whoever comes last. */
	{ "futex",
	  LOCKS("100") "C120>pthread_mutex_lock C121< B168>pthread_mutex_unlock B169>lll_lock_wake "
		       "B170! B171. B172< C180>pthread_mutex_unlock C181>lll_lock_wake C190! A205.",
	  "B 70 f held; " },
	{ "futex",
	  LOCKS("100") "C120>pthread_mutex_lock C121< C180>pthread_mutex_unlock C181>lll_lock_wake "
		       "C190! A205.",
	  "C 90 f; " },
	{ "futex",
	  LOCKS("100") "C120>pthread_mutex_lock C121< C130>pthread_mutex_unlock C131< "
		       "C180>pthread_mutex_unlock C181>lll_lock_wake C190! A205.",
	  "C 90 f held; " },
	/* A thread that waits for a lock itself ends no wait. */
	{ "futex", LOCKS("100") "B150>pthread_mutex_lock B151>lll_lock_wait B160! A205.", "" },
	/* A signal ends the wait for a condition; a release of a lock does not. */
	{ "futex",
	  "A10>pthread_cond_wait A100! B140>pthread_cond_signal B150! B151. B152< "
	  "C180>pthread_mutex_unlock C190! A205.",
	  "B 50 f; " },
	{ "futex", "A10>pthread_cond_wait A100! B140>pthread_cond_broadcast B150! A205.",
	  "B 50 f; " },
	{ "futex", "A10>pthread_cond_wait A100! C180>pthread_mutex_unlock C190! A205.", "" },
	{ "futex", "A10>sem_wait A100! B140>sem_post B150! C180>pthread_cond_signal C190! A205.",
	  "B 50 f; " },
	{ "futex", "A10>barrier_wait A100! B140>barrier_wait B150! C180>sem_post C190! A205.",
	  "B 50 f; " },
	/* Of unknown code, the place with the fewest calls. */
	{ "futex",
	  "A10>futex_a A100! B115>futex_b B120! B121. B140! B141. B160! C140>futex_c C150! C151. "
	  "A205.",
	  "C 50 f; " },
	{ "futex", "A10>futex_a A100! B115>futex_b B120! C140>futex_c C150! A205.", "C 50 f; " },
	/* A signal that woke another thread ended no other wait. */
	{ "futex",
	  "C90>pthread_cond_wait C95! A98>pthread_cond_wait A100! B140>pthread_cond_signal B150! "
	  "B151. B152< C160. C161< C170>pthread_cond_signal C175! A205.",
	  "C 75 f pthread_cond_wait; B 50 f; " },
	{ "futex",
	  "C90>pthread_cond_wait C95! A98>pthread_cond_wait A100! B140>pthread_cond_signal B150! "
	  "B151. B152< C160. C161< B165>pthread_cond_signal B170! A205.",
	  "B 70 f; " },
	/* Of two that woke no other thread, the first one. */
	{ "futex",
	  "A98>pthread_cond_wait A100! B140>pthread_cond_signal B150! C180>pthread_cond_signal "
	  "C190! A205.",
	  "B 50 f; " },
	/* B was woken before the wait began, and ran late: it was not blocked. */
	{ "futex",
	  "B10>pthread_cond_wait B20! A90>pthread_cond_signal A95! A96. A97< A98>pthread_cond_wait "
	  "A100! B170. B171< B190>pthread_cond_signal B195! A205.",
	  "B 95 f pthread_cond_wait; " },
	/* The other end of a pipe, within the wait, in the same process. */
	{ "read", "A10>read A100! B140>write B150! C180>sem_post C190! A205.", "B 50 f; " },
	{ "write", "A10>write A100! B140>read B150! C180>write C190! A205.", "B 50 f; " },
	{ "read", "A10>read A100! B140>close B150! A205.", "B 50 f; " },
	{ "read", "A10>read A100! B90>write B100! B101. A205.", "" },
	{ "read", "A10>read A100! B90>write B101! A205.", "B 1 f write; " },
	{ "read", "A10>read A100! B140>write B205! A205.", "B 105 f write; " },
	{ "read", "A10>read A100! B140>write B206! A206.", "" },
	{ "read", "A10>read A100! D140>write D150! A205.", "" },
	{ "nanosleep", "A10>nanosleep A100! B140>write B150! A205.", "" },
	{ "?", "A10>x A100! B140>write B150! A205.", "B 50 f; " },
	/* B waited itself for most of the time: in a read, which C's write ended, or nobody. */
	{ "futex",
	  LOCKS("100") "B105>read B110! C160>h C170>write C175! B180. B181< "
		       "B195>pthread_mutex_unlock B196>lll_lock_wake B200! A205.",
	  "B 100 f read held; C 65 f; " },
	{ "futex",
	  LOCKS("100") "B105>read B110! B180. B181< B195>pthread_mutex_unlock B196>lll_lock_wake "
		       "B200! A205.",
	  "B 100 f read held blocked=read; " },
	{ "futex",
	  LOCKS("100") "B105>read B110! C120>write C125! B150. B151< "
		       "B195>pthread_mutex_unlock B196>lll_lock_wake B200! A205.",
	  "B 100 f held; " },
	/* C ran on B's CPU, for a third of the time, while B did not wait. */
	{ "futex",
	  LOCKS("100") "B105>g C110>h%1 C190<%1 B191< B195>pthread_mutex_unlock "
		       "B196>lll_lock_wake B200! A205.",
	  "B 100 f g held instead=C; " },
	{ "futex",
	  LOCKS("100") "B105>g C110>h%1 C130<%1 B191< B195>pthread_mutex_unlock "
		       "B196>lll_lock_wake B200! A205.",
	  "B 100 f g held; " },
	{ "futex",
	  LOCKS("100") "B105>read B106! C110>h%1 C150<%1 B151. B152< B195>pthread_mutex_unlock "
		       "B196>lll_lock_wake B200! A205.",
	  "B 100 f held; " },
};

static void begin_log(struct thread_log *log, struct stack stacks[4], const char *words)
{
	char *copy = strdup(words), *rest;

	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		add_event(log, stacks, word);
	free(copy);
}

/* Returns the threads for which A waited until 205 ns. */
static const char *find_hops(struct thread_log *log, const char *call)
{
	static char text[400];
	struct thread_wait wait = { .call = system_call(call) };

	*text = '\0';
	thread_wait_find(&wait, &(struct wait_search){ .log = log, .dso = &program }, 1, 100, 205);
	print_hops(&wait, text);
	thread_log_release(log);
	return text;
}

/* C calls until the log would be full: calls that are long enough stay, and so do locks. */
START_TEST(short_calls_do_not_fill_the_log)
{
	struct thread_log log = { .least = 2 };
	struct stack stacks[4] = { 0 };
	size_t before;

	name_table_init(&names);
	symbol_count = 0;
	begin_log(&log, stacks, "B90>g " LOCKS("100") "C120>g C122<");
	before = log.count;
	begin_log(&log, stacks, "C130>g C131>pthread_mutex_lock C131< C131<");
	ck_assert_uint_gt(log.count, before);
	before = log.count;
	for (int i = 0; i < THREAD_LOG_MOST; i++)
		begin_log(&log, stacks, "C140>g C140>h C141< C141<");
	ck_assert_uint_eq(log.count, before);
	begin_log(&log, stacks, "B190< B195>pthread_mutex_unlock B196>lll_lock_wake B200! A205.");
	ck_assert_str_eq(find_hops(&log, "futex"), "B 100 f g held; ");
	name_table_release(&names);
}
END_TEST

/* Calls of other threads between a call and its system call do not hide what it does. */
START_TEST(a_call_is_known_however_far_it_is)
{
	struct thread_log log = { 0 };
	struct stack stacks[4] = { 0 };

	name_table_init(&names);
	symbol_count = 0;
	begin_log(&log, stacks,
		  "A98>pthread_cond_wait A99>g A100! B110>pthread_mutex_unlock B111>g");
	for (int i = 0; i < 10000; i++)
		begin_log(&log, stacks, "C120>g C121<");
	begin_log(&log, stacks, "B150! A205.");
	ck_assert_str_eq(find_hops(&log, "futex"), "");
	name_table_release(&names);
}
END_TEST

START_TEST(a_wait_is_ended_by_the_thread_whose_call_fits)
{
	struct thread_wait wait = { 0 };
	struct thread_log log = { 0 };
	struct stack stacks[4] = { 0 };
	const struct wait_search search = { .log = &log, .dso = &program };
	char text[400] = "";

	name_table_init(&names);
	symbol_count = 0;
	begin_log(&log, stacks, waits[_i].log);
	wait.call = system_call(waits[_i].call);
	thread_wait_find(&wait, &search, 1, 100, 205);
	print_hops(&wait, text);
	ck_assert_str_eq(text, waits[_i].hops);
	ck_assert_ptr_eq(wait.other, wait.hop_count ? wait.hops[0].thread : NULL);
	thread_log_release(&log);
	name_table_release(&names);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("thread_waits");
	TCase *all = tcase_create("all");

	tcase_add_test(all, short_calls_do_not_fill_the_log);
	tcase_add_test(all, a_call_is_known_however_far_it_is);
	tcase_add_loop_test(all, a_wait_is_ended_by_the_thread_whose_call_fits, 0, COUNT_OF(waits));
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
