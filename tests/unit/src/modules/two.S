/* SPDX-License-Identifier: MIT */
/* A module that calls another one. */
	.section .init.text, "ax"
	nop
	.text
	.globl two
	.type two, @function
two:	jmp one
	.size two, . - two
	.section .note.GNU-stack, "", @progbits
