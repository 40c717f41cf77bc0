/* SPDX-License-Identifier: MIT */
/* Functions with labels inside, which are in the symbol table.  main() calls each ten times. */
	.text

	/* A label within the function, where its system call returns: glibc 2.41's __syscall_cancel_arch. */
	.globl sized
	.type sized, @function
sized:
	movl	$39, %eax		/* getpid */
	syscall
	.globl after_syscall
after_syscall:
	nop
	ret
	.size sized, . - sized

	/* A function without a size, with hidden labels: musl's __syscall_cp_asm. */
	.globl typed
	.type typed, @function
typed:
	movl	$39, %eax
	syscall
	.globl hidden_after_syscall
	.hidden hidden_after_syscall
hidden_after_syscall:
	movl	$3, %ecx
local_loop:
	decl	%ecx
	jnz	local_loop
	ret

	/* A function without a type, whose label begins with its name: NASM's local labels. */
	.globl dotted
dotted:
	movl	$3, %ecx
"dotted.loop":
	decl	%ecx
	jnz	"dotted.loop"
	call	"dotted.helper"
	ret
	/* A label that is called is a function. */
"dotted.helper":
	nop
	ret

	/* A label after it may be another function, which is jumped to. */
	.globl untyped
untyped:
	nop
	jmp	follows
	nop
	.globl follows
follows:
	nop
	ret

	/* So may a hidden label whose section is not that of the function before it. */
	.section first_text, "ax", @progbits
	.globl last_of_section
	.type last_of_section, @function
last_of_section:
	nop
	jmp	next_section
	.section second_text, "ax", @progbits
next_section:
	nop
	ret

	.text
	.globl main
	.type main, @function
main:
	pushq	%rbx
	movl	$10, %ebx
1:	call	sized
	call	typed
	call	dotted
	call	untyped
	call	last_of_section
	decl	%ebx
	jnz	1b
	xorl	%eax, %eax
	popq	%rbx
	ret
	.size main, . - main
	.section .note.GNU-stack,"",@progbits
