/* SPDX-License-Identifier: MIT */
/*
 * Instructions of each kind after cpuid, which hypervisors emulate.  With an argument also a system call.
 */
	.text
	.globl called
	.type called, @function
called:
	xorl	%eax, %eax
	cpuid
	ret
	.size called, . - called

	.globl main
	.type main, @function
main:
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	movl	%edi, %r13d
	movl	$100, %r12d
again:
	xorl	%eax, %eax
	cpuid
	cpuid
	nop
	movl	$1, %ecx
	xorl	%eax, %eax
	cpuid
	jmp	1f
	nop
1:	xorl	%eax, %eax
	cpuid
	call	called
	cmpl	$2, %r13d
	movl	$39, %eax		/* a leaf without data, whose number becomes that of a system call */
	jb	2f
	cpuid
	syscall
2:	leaq	3f(%rip), %rsi
	xorl	%eax, %eax
	cpuid
	jmp	*%rsi
	nop
3:	decl	%r12d
	movl	$0, %eax
	jz	4f
	cpuid
	jmp	again
4:	popq	%r13
	popq	%r12
	popq	%rbx
	ret
	.size main, . - main
	.section .note.GNU-stack,"",@progbits
