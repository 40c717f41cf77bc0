/* SPDX-License-Identifier: MIT */
#include "decoder/code/stack_effect.h"

#include <check.h>

#include "tests/support/unit.h"

#define CODE(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

static const struct {
	const char *name;
	enum stack_switch effect;
	uint64_t offset;
	const uint8_t *code;
	size_t size;
} cases[] = {
	/* lea -0x38(%rsp),%rsp; mov %rsp,%rax; mov %rdi,%rsp; mov 0x38(%rsp),%r8;
	 * mov 8(%rsp),%r12; lea 0x40(%rsp),%rsp; jmp *%r8 */
	{ "boost's jump_fcontext", STACK_LEFT_BY_JUMP, 26,
	  CODE(0x48, 0x8d, 0x64, 0x24, 0xc8, 0x48, 0x89, 0xe0, 0x48, 0x89, 0xfc, 0x4c, 0x8b, 0x44,
	       0x24, 0x38, 0x4c, 0x8b, 0x64, 0x24, 0x08, 0x48, 0x8d, 0x64, 0x24, 0x40, 0x41, 0xff,
	       0xe0) },
	/* mov %rsp,(%rsi); mov (%rdi),%rsp; pop %rax; mov 8(%rdi),%rbp; jmp *%rax */
	{ "libco's co_swap", STACK_LEFT_BY_JUMP, 11,
	  CODE(0x48, 0x89, 0x26, 0x48, 0x8b, 0x27, 0x58, 0x48, 0x8b, 0x6f, 0x08, 0xff, 0xe0) },
	/* mov (%rbx),%rsp; mov 0x20(%rbx),%rax; mov 8(%rbx),%rbx; jmp *%rbx */
	{ "Go's gogo", STACK_DROPPED_BY_JUMP, 11,
	  CODE(0x48, 0x8b, 0x23, 0x48, 0x8b, 0x43, 0x20, 0x48, 0x8b, 0x5b, 0x08, 0xff, 0xe3) },
	/* lea 8(%rsp),%rbx; mov %rbx,0x38(%r14); mov 0x38(%rsi),%rsp; push %rax; call *%r12;
	 * pop %rax; jmp . */
	{ "Go's mcall", STACK_LEFT_BY_CALL, 14,
	  CODE(0x48, 0x8d, 0x5c, 0x24, 0x08, 0x49, 0x89, 0x5e, 0x38, 0x48, 0x8b, 0x66, 0x38, 0x50,
	       0x41, 0xff, 0xd4, 0x58, 0xeb, 0xfe) },
	/* mov %rsp,0x38(%r14); mov 0x38(%rdx),%rsp; call *%rdi; mov 0x38(%rax),%rsp; ret */
	{ "Go's systemstack, which comes back", STACK_STAYS, 8,
	  CODE(0x49, 0x89, 0x66, 0x38, 0x48, 0x8b, 0x62, 0x38, 0xff, 0xd7, 0x48, 0x8b, 0x60, 0x38,
	       0xc3) },
	/* mov %rsp,%rbp; mov %rdi,%rsp; call *%rsi; leave; ret */
	{ "a call on another stack, which comes back", STACK_STAYS, 6,
	  CODE(0x48, 0x89, 0xe5, 0x48, 0x89, 0xfc, 0xff, 0xd6, 0xc9, 0xc3) },
	/* mov %rax,%rsp; call *%rsi; jmp . */
	{ "a call on the stack that a function returned", STACK_STAYS, 3,
	  CODE(0x48, 0x89, 0xc4, 0xff, 0xd6, 0xeb, 0xfe) },
	/* mov %rsp,%r13; and $-16,%rsp; mov %r13,%rsp; jmp *%r12 */
	{ "a stack pointer kept in a register", STACK_STAYS, 10,
	  CODE(0x49, 0x89, 0xe5, 0x48, 0x83, 0xe4, 0xf0, 0x4c, 0x89, 0xec, 0x41, 0xff, 0xe4) },
	/* push %rbp; mov %rsp,%rbp; sub %rax,%rsp; leave; jmp *%rdx */
	{ "a frame taken down by leave", STACK_STAYS, 8,
	  CODE(0x55, 0x48, 0x89, 0xe5, 0x48, 0x29, 0xc4, 0xc9, 0xff, 0xe2) },
	/* mov %rdi,%rsp; lea -8(%r10),%rsp; jmp *%rdx */
	{ "a frame taken down by lea", STACK_STAYS, 7,
	  CODE(0x48, 0x89, 0xfc, 0x49, 0x8d, 0x62, 0xf8, 0xff, 0xe2) },
	/* mov %rdi,%rsp; ret; nop; jmp *%rdx */
	{ "a load in other code", STACK_STAYS, 5, CODE(0x48, 0x89, 0xfc, 0xc3, 0x90, 0xff, 0xe2) },
	/* push %rbp; xchg %rsp,(%rdi); pop %rbp; jmp *%rdx */
	{ "an exchange", STACK_LEFT_BY_JUMP, 5, CODE(0x55, 0x48, 0x87, 0x27, 0x5d, 0xff, 0xe2) },
	/* pop %rsp; jmp *(%rsp) */
	{ "a pop", STACK_DROPPED_BY_JUMP, 1, CODE(0x5c, 0xff, 0x24, 0x24) },
	/* mov %rdi,%rsp; jmp . */
	{ "a jump by its own address", STACK_STAYS, 3, CODE(0x48, 0x89, 0xfc, 0xeb, 0xfe) },
	/* mov %edi,%esp; jmp *%rdx: zeroes the upper half */
	{ "half a stack pointer", STACK_STAYS, 2, CODE(0x89, 0xfc, 0xff, 0xe2) },
	{ "code that ends within the jump", STACK_STAYS, 3, CODE(0x48, 0x89, 0xfc, 0xff) },
	{ "a place within an instruction", STACK_STAYS, 4,
	  CODE(0x48, 0x89, 0xfc, 0x41, 0xff, 0xe0) },
};

START_TEST(the_code_shows_who_leaves_the_stack)
{
	ck_assert_msg(stack_switch_at(cases[_i].code, cases[_i].size, cases[_i].offset) ==
			      cases[_i].effect,
		      "%s", cases[_i].name);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stack_switch");
	TCase *all = tcase_create("all");

	tcase_add_loop_test(all, the_code_shows_who_leaves_the_stack, 0,
			    sizeof(cases) / sizeof(cases[0]));
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
