/* SPDX-License-Identifier: MIT */
/* How much code is searched for numbers of system calls (base/budget.h). */
#include "src/callstack/precise/special_symbols.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/diag.h"
#include "symbols/dso/dso_store.h"
#include "tests/support/tiny_elf.h"
#include "tests/support/unit.h"

/* mov $12,%eax; syscall: brk() */
static const uint8_t site[] = { 0xb8, 12, 0, 0, 0, 0x0f, 0x05 };

#define SYSCALL_AT 5
#define ADDRESS    UINT64_C(0x401000)

static char path[64];
static struct name_table names;
static struct diag diag;
static struct dso_store *store;
static struct symbol unknown;
static struct syscall_symbols symbols;

/* A program of one function of this size that consists of system calls. */
static void open_program(size_t size)
{
	const struct dso_store_options options = { 0 };
	struct tiny_symbol function = { "f", ADDRESS, size, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) };
	uint8_t *code = malloc(size);
	int fd;

	ck_assert_ptr_nonnull(code);
	memset(code, 0x90, size);
	for (size_t at = 0; at + sizeof(site) <= size; at += sizeof(site))
		memcpy(code + at, site, sizeof(site));
	strcpy(path, "/tmp/syscall_symbols.XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	tiny_elf_write(&(struct tiny_elf){ ADDRESS, code, size, &function, 1, 0, 0 }, path);
	free(code);
	name_table_init(&names);
	diag_init(&diag);
	store = dso_store_open(&options, &names, &diag);
	syscall_symbols_init(&symbols, &names, &unknown);
}

static void close_program(void)
{
	syscall_symbols_release(&symbols);
	dso_store_close(store);
	diag_release(&diag);
	name_table_release(&names);
	unlink(path);
}

/* Returns whether the system call is named. */
static bool is_named(size_t number)
{
	const size_t at = number * sizeof(site) + SYSCALL_AT;
	struct dso *dso = dso_store_borrow(store, path, NULL, 0);
	struct syscall_chain chain = { .count = 1 };
	const struct symbol *found;

	chain.calls[0].function =
		dso_borrow_symbol(dso, TINY_ELF_CODE_OFFSET + at, &chain.calls[0].offset);
	ck_assert_ptr_nonnull(chain.calls[0].function);
	found = syscall_symbols_find(&symbols, &chain, false);
	if (found == &unknown)
		return false;
	ck_assert_str_eq(found->name->text, "[syscall: brk]");
	return true;
}

START_TEST(functions_are_looked_at_up_to_a_size)
{
	open_program(SYSCALL_CODE_MOST);
	ck_assert(is_named(0));
	close_program();
	open_program(SYSCALL_CODE_MOST + 1);
	ck_assert(!is_named(0));
	close_program();
}
END_TEST

START_TEST(the_code_of_a_run_is_looked_at_up_to_a_size)
{
	size_t most = SYSCALL_CODE_TOTAL / SYSCALL_CODE_MOST;

	open_program(SYSCALL_CODE_MOST);
	for (size_t i = 0; i < most; i++)
		ck_assert(is_named(i));
	ck_assert(!is_named(most));
	/* The last result is kept. */
	ck_assert(is_named(most - 1));
	close_program();
}
END_TEST

/* Each site of a trace is looked at once, however often it runs, and in any order. */
START_TEST(sites_that_take_turns_are_named_for_ever)
{
	const size_t size = SYSCALL_CODE_MOST / 8, sites = 1000;

	ck_assert_uint_le(sites * size, SYSCALL_CODE_TOTAL);
	open_program(size);
	for (size_t i = 0; i < 3 * sites; i++)
		ck_assert(is_named(i % sites));
	close_program();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("syscall_symbols");
	TCase *all = tcase_create("syscall_symbols");

	tcase_add_test(all, functions_are_looked_at_up_to_a_size);
	tcase_add_test(all, the_code_of_a_run_is_looked_at_up_to_a_size);
	tcase_add_test(all, sites_that_take_turns_are_named_for_ever);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
