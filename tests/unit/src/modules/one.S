/* SPDX-License-Identifier: MIT */
/* A kernel module as the compiler leaves it: calls in all directions, in sections of their own. */
	.text
	.globl one
	.type one, @function
one:	call __fentry__		/* 0: the kernel makes it a nop */
	call cold		/* 5 */
	call kernel_function	/* 10 */
	call not_there		/* 15 */
	ret
	.size one, . - one

	.section .text.unlikely, "ax"
	.balign 16
	.type cold, @function
cold:	ret
	.size cold, . - cold

	.section .init.text, "ax"
	.globl init_module
	.type init_module, @function
init_module:
	jmp one
	.size init_module, . - init_module
	.section .note.GNU-stack, "", @progbits
