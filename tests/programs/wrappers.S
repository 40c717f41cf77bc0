/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of _setjmp() that take their return address from the stack, so that longjmp() returns to
 * their code on their caller's stack, as musl's sigsetjmp(). Argument: a jmp_buf, then 16 bytes.
 */
	.macro function name
	.globl \name
	.type \name, @function
\name:
	.endm
	.macro end name
	.size \name, . - \name
	.endm
	.equ	ADDRESS, 200
	.equ	RBX, 208

	.text
	function wrapper_tail
	movl	%esi, %eax
	ret
	end wrapper_tail

	function wrap_jumps
	testq	%rdi, %rdi
	je	1f
	popq	ADDRESS(%rdi)
	movq	%rbx, RBX(%rdi)
	movq	%rdi, %rbx
	call	_setjmp
	pushq	ADDRESS(%rbx)
	movl	%eax, %esi
	movq	RBX(%rbx), %rbx
	jmp	wrapper_tail
1:	ret
	end wrap_jumps

	function wrap_returns
	popq	%rdx
	movq	%rdx, ADDRESS(%rdi)
	movq	%rbx, RBX(%rdi)
	movq	%rdi, %rbx
	call	_setjmp
	movq	ADDRESS(%rbx), %rdx
	movq	RBX(%rbx), %rbx
	pushq	%rdx
	ret
	end wrap_returns

	function wrap_goes
	popq	ADDRESS(%rdi)
	movq	%rbx, RBX(%rdi)
	movq	%rdi, %rbx
	call	_setjmp
	movq	ADDRESS(%rbx), %rdx
	movq	RBX(%rbx), %rbx
	jmp	*%rdx
	end wrap_goes

	.section .note.GNU-stack, "", @progbits
