/* SPDX-License-Identifier: MIT */
/* Code before SYSCALL instructions; the bytes are objdump's. */
#include "decoder/code/syscall_number.h"

#include <string.h>

#include "tests/support/unit.h"

#define CODE(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

static const struct {
	const char *name;
	int32_t number;
	size_t at; /* offset of the SYSCALL */
	const uint8_t *code;
	size_t size;
} cases[] = {
	/* endbr64; mov $0xc,%eax; syscall; ret */
	{ "a stub", 12, 9, CODE(0xf3, 0x0f, 0x1e, 0xfa, 0xb8, 12, 0, 0, 0, 0x0f, 0x05, 0xc3) },
	/* mov $0x101,%eax; mov %rcx,%r10; mov $0xffffff9c,%edi; lea 8(%rsp),%rdx; syscall */
	{ "arguments after the number", 257, 18,
	  CODE(0xb8, 1, 1, 0, 0, 0x49, 0x89, 0xca, 0xbf, 0x9c, 0xff, 0xff, 0xff, 0x48, 0x8d, 0x54,
	       0x24, 8, 0x0f, 0x05) },
	/* xor %eax,%eax; syscall */
	{ "zero by xor", 0, 2, CODE(0x31, 0xc0, 0x0f, 0x05) },
	/* mov $0xca,%rax; syscall */
	{ "64 bits of it", 202, 7, CODE(0x48, 0xc7, 0xc0, 202, 0, 0, 0, 0x0f, 0x05) },
	/* mov $1,%eax; test %edi,%edi; jne .+5; syscall; ret */
	{ "a jump that is not taken", 1, 9,
	  CODE(0xb8, 1, 0, 0, 0, 0x85, 0xff, 0x75, 5, 0x0f, 0x05, 0xc3) },
	/* syscall; mov $0xe7,%eax; syscall: of both, the second */
	{ "the last of two", 231, 7, CODE(0x0f, 0x05, 0xb8, 231, 0, 0, 0, 0x0f, 0x05) },
	/* mov %rdi,%rax; syscall */
	{ "an argument", SYSCALL_UNKNOWN, 3, CODE(0x48, 0x89, 0xf8, 0x0f, 0x05) },
	/* mov $8,%r8d; mov %r8,%rax; syscall: a register with REX */
	{ "through another register", 8, 9,
	  CODE(0x41, 0xb8, 8, 0, 0, 0, 0x4c, 0x89, 0xc0, 0x0f, 0x05) },
	/* mov %rdi,%rax; syscall; jmp .-5: the loop comes back with other arguments */
	{ "an argument in a loop", SYSCALL_UNKNOWN, 3,
	  CODE(0x48, 0x89, 0xf8, 0x0f, 0x05, 0xeb, 0xf9) },
	/* mov $1,%eax; rdsspq %rax; syscall */
	{ "a shadow stack's pointer", SYSCALL_UNKNOWN, 10,
	  CODE(0xb8, 1, 0, 0, 0, 0xf3, 0x48, 0x0f, 0x1e, 0xc8, 0x0f, 0x05) },
	/* mov $1,%eax; mov %edi,%eax; syscall */
	{ "a number that is written over", SYSCALL_UNKNOWN, 7,
	  CODE(0xb8, 1, 0, 0, 0, 0x89, 0xf8, 0x0f, 0x05) },
	/* mov $1,%eax; mov $2,%ah; syscall */
	{ "a part of it", SYSCALL_UNKNOWN, 7, CODE(0xb8, 1, 0, 0, 0, 0xb4, 2, 0x0f, 0x05) },
	/* mov $1,%eax; call .+0; syscall */
	{ "a call", SYSCALL_UNKNOWN, 10, CODE(0xb8, 1, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0x0f, 0x05) },
	/* mov $1,%eax; jmp 1f; mov $2,%eax; 1: syscall */
	{ "a jump to it", SYSCALL_UNKNOWN, 12,
	  CODE(0xb8, 1, 0, 0, 0, 0xeb, 5, 0xb8, 2, 0, 0, 0, 0x0f, 0x05) },
	/* 1: mov $1,%eax; syscall; cmp $-4,%rax; je 1b: anew from the number on */
	{ "a loop with it", 1, 5,
	  CODE(0xb8, 1, 0, 0, 0, 0x0f, 0x05, 0x48, 0x83, 0xf8, 0xfc, 0x74, 0xf3) },
	/* mov $1,%eax; 1: syscall; cmp $-4,%rax; je 1b: with its result */
	{ "a loop after it", SYSCALL_UNKNOWN, 5,
	  CODE(0xb8, 1, 0, 0, 0, 0x0f, 0x05, 0x48, 0x83, 0xf8, 0xfc, 0x74, 0xf8) },
	/* mov $1,%ebp; 1: mov %ebp,%eax; syscall; cmp $-4,%rax; je 1b: kept through the loop */
	{ "a number from before the loop", 1, 7,
	  CODE(0xbd, 1, 0, 0, 0, 0x89, 0xe8, 0x0f, 0x05, 0x48, 0x83, 0xf8, 0xfc, 0x74, 0xf6) },
	/* mov $1,%ebp; 1: mov %ebp,%eax; syscall; inc %ebp; jmp 1b */
	{ "a number that the loop counts", SYSCALL_UNKNOWN, 7,
	  CODE(0xbd, 1, 0, 0, 0, 0x89, 0xe8, 0x0f, 0x05, 0xff, 0xc5, 0xeb, 0xf8) },
	/* mov $231,%edx; jmp 1f; 2: hlt; 1: mov %edx,%eax; syscall; jmp 2b: _exit() of glibc */
	{ "a loop that is entered in the middle", 231, 10,
	  CODE(0xba, 231, 0, 0, 0, 0xeb, 1, 0xf4, 0x89, 0xd0, 0x0f, 0x05, 0xeb, 0xf9) },
	/* mov $12,%esi; mov %esi,%eax; syscall; mov %esi,%eax; syscall */
	{ "after another system call", 12, 11,
	  CODE(0xbe, 12, 0, 0, 0, 0x89, 0xf0, 0x0f, 0x05, 0x89, 0xf0, 0x0f, 0x05) },
	/* mov $12,%ecx; syscall; mov %ecx,%eax; syscall: RCX has the return address */
	{ "in a register that a system call writes", SYSCALL_UNKNOWN, 9,
	  CODE(0xb9, 12, 0, 0, 0, 0x0f, 0x05, 0x89, 0xc8, 0x0f, 0x05) },
	/* mov $1,%eax; test %edi,%edi; je 1f; mov $1,%eax; 1: syscall */
	{ "the same by both ways", 1, 14,
	  CODE(0xb8, 1, 0, 0, 0, 0x85, 0xff, 0x74, 5, 0xb8, 1, 0, 0, 0, 0x0f, 0x05) },
	/* mov $1,%eax; ret; data16 nopw; syscall: nothing leads there */
	{ "padding in front", SYSCALL_UNKNOWN, 12,
	  CODE(0xb8, 1, 0, 0, 0, 0xc3, 0x66, 0x0f, 0x1f, 0x44, 0, 0, 0x0f, 0x05) },
	/* mov $1,%eax; jmp 2f; 1: ret; nop; mov $2,%ebx; 2: syscall: a landing pad falls to it */
	{ "also from what nothing is seen to lead to", SYSCALL_UNKNOWN, 14,
	  CODE(0xb8, 1, 0, 0, 0, 0xeb, 7, 0xc3, 0x90, 0xbb, 2, 0, 0, 0, 0x0f, 0x05) },
	/* mov $1,%eax; test %edi,%edi; je .+3 (into the movabs); movabs $0x9090b0..,%rcx; syscall
	 */
	{ "a jump into an instruction", SYSCALL_UNKNOWN, 19,
	  CODE(0xb8, 1, 0, 0, 0, 0x85, 0xff, 0x74, 2, 0x48, 0xb9, 0xb0, 2, 0x90, 0x90, 0x90, 0x90,
	       0x90, 0x90, 0x0f, 0x05) },
	/* mov $1,%ebp; 1: mov %ebp,%eax; syscall; test %edi,%edi; je 1b; mov $2,%ebp; jmp 1b */
	{ "one of two loops has another number", SYSCALL_UNKNOWN, 7,
	  CODE(0xbd, 1, 0, 0, 0, 0x89, 0xe8, 0x0f, 0x05, 0x85, 0xff, 0x74, 0xf8, 0xbd, 2, 0, 0, 0,
	       0xeb, 0xf1) },
	/* mov $2,%ebp; test %edi,%edi; je 2f; mov $1,%ebp; 1: mov %ebp,%eax; syscall; 2: jne 1b */
	{ "another number from the middle of a loop", SYSCALL_UNKNOWN, 16,
	  CODE(0xbd, 2, 0, 0, 0, 0x85, 0xff, 0x74, 9, 0xbd, 1, 0, 0, 0, 0x89, 0xe8, 0x0f, 0x05,
	       0x75, 0xfa) },
	/* mov $1,%ebp; 1: mov %ebp,%eax; syscall; 2: nop; jne 1b; mov $2,%ebp; jmp 2b */
	{ "another number from a loop that overlaps", SYSCALL_UNKNOWN, 7,
	  CODE(0xbd, 1, 0, 0, 0, 0x89, 0xe8, 0x0f, 0x05, 0x90, 0x75, 0xf9, 0xbd, 2, 0, 0, 0, 0xeb,
	       0xf6) },
	/* mov $1,%ebp; 1: mov %ebp,%eax; syscall; je 2f; jmp 1b; inc %ecx; nop; 2: jmp 1b */
	{ "a loop with what nothing is seen to lead to", SYSCALL_UNKNOWN, 7,
	  CODE(0xbd, 1, 0, 0, 0, 0x89, 0xe8, 0x0f, 0x05, 0x74, 5, 0xeb, 0xf8, 0xff, 0xc1, 0x90,
	       0xeb, 0xf3) },
	/* mov $1,%eax; jmp 2f; 1: dec %ebx; jne 1b; 2: syscall */
	{ "what nothing is seen to lead to, with a loop", SYSCALL_UNKNOWN, 11,
	  CODE(0xb8, 1, 0, 0, 0, 0xeb, 4, 0xff, 0xcb, 0x75, 0xfc, 0x0f, 0x05) },
	/* mov $1,%eax; movabs $0x9090...b0,%rcx; syscall; jne .-10 (into the movabs) */
	{ "a jump back into an instruction", SYSCALL_UNKNOWN, 15,
	  CODE(0xb8, 1, 0, 0, 0, 0x48, 0xb9, 0xb0, 2, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x0f,
	       0x05, 0x75, 0xf4) },
	/* mov $1,%eax; syscall; jmp *%rdi */
	{ "a jump to anywhere", SYSCALL_UNKNOWN, 5,
	  CODE(0xb8, 1, 0, 0, 0, 0x0f, 0x05, 0xff, 0xe7) },
	/* mov $1,%eax; 2 bytes that are no instruction */
	{ "no code", SYSCALL_UNKNOWN, 7, CODE(0xb8, 1, 0, 0, 0, 0x06, 0x06, 0x0f, 0x05) },
	/* In the middle of an instruction: movabs $0x50f..., %rcx */
	{ "inside of another", SYSCALL_UNKNOWN, 7,
	  CODE(0xb8, 1, 0, 0, 0, 0x48, 0xb9, 0x0f, 0x05, 0, 0, 0, 0, 0, 0) },
	{ "the function's end", SYSCALL_UNKNOWN, 9, CODE(0xb8, 1, 0, 0, 0) },
	{ "nothing before it", SYSCALL_UNKNOWN, 0, CODE(0x0f, 0x05) },
};

#define EDI      7
#define ON_STACK SYSCALL_STACK
#define ESI      6
#define CANCEL                                                                                     \
	0x53, 0x80, 0x3d, 1, 0, 0, 0, 0, 0x75, 18, 0x41, 0x51, 0x41, 0x50, 0x48, 0x8b, 0x74, 0x24, \
		0x20, 0xe8, 0, 0, 0, 0, 0x59, 0x5e, 0x5b, 0xc3, 0x90, 0x48, 0x8b, 0x44, 0x24,      \
		0x10, 0x0f, 0x05

static const struct {
	const char *name;
	int32_t number, argument;
	unsigned number_register;
	size_t at; /* offset of the SYSCALL, or of a CALL */
	enum insn_mode mode;
	const uint8_t *code;
	size_t size;
} passed[] = {
	/* mov %rdi,%rax; syscall */
	{ "an argument", SYSCALL_UNKNOWN, EDI, SYSCALL_EAX, 3, INSN_MODE_64,
	  CODE(0x48, 0x89, 0xf8, 0x0f, 0x05) },
	{ "nothing before it", SYSCALL_UNKNOWN, SYSCALL_EAX, SYSCALL_EAX, 0, INSN_MODE_64,
	  CODE(0x0f, 0x05) },
	/* mov %esp,%eax; syscall */
	{ "the stack pointer", SYSCALL_UNKNOWN, SYSCALL_UNKNOWN, SYSCALL_EAX, 2, INSN_MODE_64,
	  CODE(0x89, 0xe0, 0x0f, 0x05) },
	/* syscall() of glibc: endbr64; mov %rdi,%rax; mov %rsi,%rdi; mov %rdx,%rsi; mov %rcx,%rdx;
	 * mov %r8,%r10; mov %r9,%r8; mov 8(%rsp),%r9; syscall; cmp $-4095,%rax; jae .+2; ret; nop
	 */
	{ "an argument that is moved on", SYSCALL_UNKNOWN, EDI, SYSCALL_EAX, 27, INSN_MODE_64,
	  CODE(0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0x48, 0x89, 0xd6, 0x48,
	       0x89, 0xca, 0x4d, 0x89, 0xc2, 0x4d, 0x89, 0xc8, 0x4c, 0x8b, 0x4c, 0x24, 0x08, 0x0f,
	       0x05, 0x48, 0x3d, 1, 0xf0, 0xff, 0xff, 0x73, 1, 0xc3, 0x90) },
	/* mov $186,%edi; xor %eax,%eax; call */
	{ "a number for a function", 186, SYSCALL_UNKNOWN, EDI, 7, INSN_MODE_64,
	  CODE(0xbf, 186, 0, 0, 0, 0x31, 0xc0, 0xe8, 0, 0, 0, 0) },
	/* mov $186,%edi; mov $1,%bh; call: EBX is written, perhaps EDI, too */
	{ "a byte's register without REX", SYSCALL_UNKNOWN, SYSCALL_UNKNOWN, EDI, 7, INSN_MODE_64,
	  CODE(0xbf, 186, 0, 0, 0, 0xb7, 1, 0xe8, 0, 0, 0, 0) },
	/* mov $186,%edi; call; call: the first may have changed it */
	{ "a call between", SYSCALL_UNKNOWN, SYSCALL_UNKNOWN, EDI, 10, INSN_MODE_64,
	  CODE(0xbf, 186, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0) },
	/* xbegin .+12: an abort writes EAX */
	{ "a transaction's begin", SYSCALL_UNKNOWN, SYSCALL_UNKNOWN, SYSCALL_EAX, 6, INSN_MODE_64,
	  CODE(0xc7, 0xf8, 12, 0, 0, 0, 0x0f, 0x05) },
	/* __internal_syscall_cancel() of glibc 2.41: push %rbx; cmpb $0,1(%rip); jne 2f; push %r9;
	 * push %r8; mov 0x20(%rsp),%rsi; call; pop %rcx; pop %rsi; pop %rbx; ret; nop; 2: mov
	 * 0x10(%rsp),%rax; syscall */
	{ "an argument on the stack, passed on in a register", SYSCALL_UNKNOWN, ON_STACK, ESI, 19,
	  INSN_MODE_64, CODE(CANCEL) },
	{ "an argument on the stack", SYSCALL_UNKNOWN, ON_STACK, SYSCALL_EAX, 34, INSN_MODE_64,
	  CODE(CANCEL) },
	/* __syscall_cancel(): sub $0x10,%rsp; push 0x18(%rsp); call */
	{ "an argument on the stack, passed on there", SYSCALL_UNKNOWN, ON_STACK, ON_STACK, 8,
	  INSN_MODE_64, CODE(0x48, 0x83, 0xec, 0x10, 0xff, 0x74, 0x24, 0x18, 0xe8, 0, 0, 0, 0) },
	/* sub $8,%rsp; mov 0x18(%rsp),%rax; syscall */
	{ "the second one on the stack", SYSCALL_UNKNOWN, ON_STACK + 1, SYSCALL_EAX, 9,
	  INSN_MODE_64, CODE(0x48, 0x83, 0xec, 8, 0x48, 0x8b, 0x44, 0x24, 0x18, 0x0f, 0x05) },
	/* mov (%rsp),%rax; syscall */
	{ "the return address", SYSCALL_UNKNOWN, SYSCALL_UNKNOWN, SYSCALL_EAX, 4, INSN_MODE_64,
	  CODE(0x48, 0x8b, 0x04, 0x24, 0x0f, 0x05) },
	/* clock_nanosleep(): sub $0x10,%rsp; push $0xe6; xor %r9d,%r9d; call */
	{ "a number on the stack", 230, SYSCALL_UNKNOWN, ON_STACK, 12, INSN_MODE_64,
	  CODE(0x48, 0x83, 0xec, 0x10, 0x68, 230, 0, 0, 0, 0x45, 0x31, 0xc9, 0xe8, 0, 0, 0, 0) },
	/* push $0; xor %ecx,%ecx; call */
	{ "a small number on the stack", 0, SYSCALL_UNKNOWN, ON_STACK, 4, INSN_MODE_64,
	  CODE(0x6a, 0, 0x31, 0xc9, 0xe8, 0, 0, 0, 0) },
	/* sub $8,%rsp; movq $7,(%rsp); call */
	{ "a number that is stored", 7, SYSCALL_UNKNOWN, ON_STACK, 12, INSN_MODE_64,
	  CODE(0x48, 0x83, 0xec, 8, 0x48, 0xc7, 0x04, 0x24, 7, 0, 0, 0, 0xe8, 0, 0, 0, 0) },
	/* push $7; mov %edi,4(%rsp); call */
	{ "half of it written over", SYSCALL_UNKNOWN, SYSCALL_UNKNOWN, ON_STACK, 6, INSN_MODE_64,
	  CODE(0x6a, 7, 0x89, 0x7c, 0x24, 4, 0xe8, 0, 0, 0, 0) },
	/* push $7; mov %rdi,8(%rsp); call */
	{ "another word written", 7, SYSCALL_UNKNOWN, ON_STACK, 7, INSN_MODE_64,
	  CODE(0x6a, 7, 0x48, 0x89, 0x7c, 0x24, 8, 0xe8, 0, 0, 0, 0) },
	/* push $7; mov %rdi,(%rsi); call */
	{ "perhaps written over", SYSCALL_UNKNOWN, SYSCALL_UNKNOWN, ON_STACK, 5, INSN_MODE_64,
	  CODE(0x6a, 7, 0x48, 0x89, 0x3e, 0xe8, 0, 0, 0, 0) },
	/* push $7; mov %rdi,1(%rip); call */
	{ "data written", 7, SYSCALL_UNKNOWN, ON_STACK, 9, INSN_MODE_64,
	  CODE(0x6a, 7, 0x48, 0x89, 0x3d, 1, 0, 0, 0, 0xe8, 0, 0, 0, 0) },
	/* push $7; push %rdi; movaps %xmm0,-8(%rsp): a vector that reaches to it; pop %rdi; call */
	{ "written by a vector", SYSCALL_UNKNOWN, SYSCALL_UNKNOWN, ON_STACK, 9, INSN_MODE_64,
	  CODE(0x6a, 7, 0x57, 0x0f, 0x29, 0x44, 0x24, 0xf8, 0x5f, 0xe8, 0, 0, 0, 0) },
	/* push $7; and $-16,%rsp; call */
	{ "an aligned stack", SYSCALL_UNKNOWN, SYSCALL_UNKNOWN, ON_STACK, 6, INSN_MODE_64,
	  CODE(0x6a, 7, 0x48, 0x83, 0xe4, 0xf0, 0xe8, 0, 0, 0, 0) },
	/* push $7; pushw $8: of 16 bits; call */
	{ "a short push", SYSCALL_UNKNOWN, SYSCALL_UNKNOWN, ON_STACK, 5, INSN_MODE_64,
	  CODE(0x6a, 7, 0x66, 0x6a, 8, 0xe8, 0, 0, 0, 0) },
	/* push $7; pop %rdi; call */
	{ "a number that is popped", 7, SYSCALL_UNKNOWN, EDI, 3, INSN_MODE_64,
	  CODE(0x6a, 7, 0x5f, 0xe8, 0, 0, 0, 0) },
	/* test %edi,%edi; je 1f; push $7; 1: push $8; call: one more or less below it */
	{ "on stacks of two heights", 8, SYSCALL_UNKNOWN, ON_STACK, 8, INSN_MODE_64,
	  CODE(0x85, 0xff, 0x74, 2, 0x6a, 7, 0x6a, 8, 0xe8, 0, 0, 0, 0) },
	/* 32-bit code: push $7; int $0x80 */
	{ "the stack of 32-bit code", SYSCALL_UNKNOWN, SYSCALL_UNKNOWN, ON_STACK, 2, INSN_MODE_32,
	  CODE(0x6a, 7, 0xcd, 0x80) },
	/* 32-bit code: mov $20,%eax; int $0x80 */
	{ "an old call", 20, SYSCALL_UNKNOWN, SYSCALL_EAX, 5, INSN_MODE_32,
	  CODE(0xb8, 20, 0, 0, 0, 0xcd, 0x80) },
	/* mov $20,%eax; dec %eax; int $0x80: no REX */
	{ "one less", SYSCALL_UNKNOWN, SYSCALL_UNKNOWN, SYSCALL_EAX, 6, INSN_MODE_32,
	  CODE(0xb8, 20, 0, 0, 0, 0x48, 0xcd, 0x80) },
	/* mov $20,%eax; dec %ecx; mov %ecx,%ebx; int $0x80 */
	{ "another one less", 20, SYSCALL_UNKNOWN, SYSCALL_EAX, 8, INSN_MODE_32,
	  CODE(0xb8, 20, 0, 0, 0, 0x49, 0x89, 0xcb, 0xcd, 0x80) },
	/* __kernel_vsyscall: push %ecx; push %edx; push %ebp; mov %esp,%ebp; sysenter */
	{ "i386's vdso", SYSCALL_UNKNOWN, SYSCALL_EAX, SYSCALL_EAX, 5, INSN_MODE_32,
	  CODE(0x51, 0x52, 0x55, 0x89, 0xe5, 0x0f, 0x34) },
};

START_TEST(the_number_is_that_of_the_code_if_there_is_no_other_way)
{
	const struct syscall_code code = { cases[_i].code, cases[_i].size, INSN_MODE_64 };
	struct syscall_number found = syscall_number_find(&code, cases[_i].at, SYSCALL_EAX);

	ck_assert_msg(found.number == cases[_i].number, "%s: %d", cases[_i].name, found.number);
}
END_TEST

START_TEST(a_number_that_is_passed_on_is_that_of_a_register)
{
	const struct syscall_code code = { passed[_i].code, passed[_i].size, passed[_i].mode };
	struct syscall_number found =
		syscall_number_find(&code, passed[_i].at, passed[_i].number_register);

	ck_assert_msg(found.number == passed[_i].number && found.argument == passed[_i].argument,
		      "%s: %d, argument %d", passed[_i].name, found.number, found.argument);
}
END_TEST

#define CHAIN_MOST 20
#define SYSCALL_OF 12

/*
 * mov $1,%eax; jne far; mov $number,%eax; syscall; ret: from `far`, two jumps lead back and ahead
 * `length` times, and then to the system call.
 */
static int32_t number_after_chain(uint8_t number, unsigned length)
{
	uint8_t code[15 + 4 * CHAIN_MOST] = { 0xb8,   1, 0, 0, 0,    0x75, 0,   0xb8,
					      number, 0, 0, 0, 0x0f, 0x05, 0xc3 };
	const struct syscall_code function = { code, sizeof(code), INSN_MODE_64 };
	const unsigned low = 15, high = low + 2 * length;

	code[6] = (uint8_t)(high - 2 - 7);
	for (unsigned i = 0; i < length; i++) {
		code[low + 2 * i] = code[high + 2 * i] = 0xeb;
		code[low + 2 * i + 1] = (uint8_t)(high - low - 2);
		code[high + 2 * i + 1] = (uint8_t)((i ? low - 2 : SYSCALL_OF) - high - 2);
	}
	return syscall_number_find(&function, SYSCALL_OF, SYSCALL_EAX).number;
}

START_TEST(jumps_back_are_followed_up_to_a_number)
{
	ck_assert_int_eq(number_after_chain(1, 3), 1);
	ck_assert_int_eq(number_after_chain(2, 3), SYSCALL_UNKNOWN);
	ck_assert_int_eq(number_after_chain(1, CHAIN_MOST), SYSCALL_UNKNOWN);
	ck_assert_int_eq(number_after_chain(2, CHAIN_MOST), SYSCALL_UNKNOWN);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("syscall_number");
	TCase *all = tcase_create("syscall_number");

	tcase_add_test(all, jumps_back_are_followed_up_to_a_number);
	tcase_add_loop_test(all, the_number_is_that_of_the_code_if_there_is_no_other_way, 0,
			    sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(all, a_number_that_is_passed_on_is_that_of_a_register, 0,
			    sizeof(passed) / sizeof(passed[0]));
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
