/* SPDX-License-Identifier: MIT */
/*
 * Calls that only push an address, returns that are jumps, jumps that are calls, replaced return
 * addresses, and jumps into active functions.  main() calls each function ten times.
 */
	.macro function name
	.globl \name
	.type \name, @function
\name:
	.endm
	.macro end name
	.size \name, . - \name
	.endm
	/* Never executed: it traps speculation. */
	.macro trap
	pause
	lfence
	jmp	. - 5
	.endm

	.data
	.balign 8
kept:	.quad 0
next:	.quad 0
table:	.quad leaf
saved:	.fill 3, 8, 0
	.text

	function leaf
	movl	$3, %eax
	ret
	end leaf

	/* ---- Calls that only push an address ---- */

	/* A return that the CPU cannot predict from its call (gcc -mfunction-return=thunk-inline). */
	function returns_inline
	call	leaf
	call	1f
	trap
1:	leaq	8(%rsp), %rsp
	ret
	end returns_inline

	function returns_inline_by_add
	call	leaf
	call	1f
	trap
1:	addq	$8, %rsp
	ret
	end returns_inline_by_add

	/* An indirect call (gcc -mindirect-branch=thunk-inline). */
	function calls_inline
	pushq	%rbx
	leaq	leaf(%rip), %rbx
	jmp	3f
2:	call	1f
	trap
1:	movq	%rbx, (%rsp)
	ret
3:	call	2b
	popq	%rbx
	ret
	end calls_inline

	/* An indirect tail call of the same kind, of an address in memory. */
	function jumps_inline
	call	1f
	trap
1:	pushq	%rax
	movq	table(%rip), %rax
	movq	%rax, 8(%rsp)
	popq	%rax
	ret
	end jumps_inline

	/* Fill the return stack buffer (Linux: __FILL_RETURN_BUFFER), in a loop and without one. */
	function fills_by_loop
	movl	$8, %ecx
1:	call	2f
	trap
2:	call	3f
	trap
3:	decl	%ecx
	jnz	1b
	addq	$16 * 8, %rsp
	call	leaf
	ret
	end fills_by_loop

	function fills_straight
	.rept 16
	call	1f
	int3
1:
	.endr
	addq	$16 * 8, %rsp
	call	leaf
	ret
	end fills_straight

	/* A call that gets its own address, and a call with data after it. */
	function reads_its_address
	call	1f
1:	popq	%rax
	call	2f
	.asciz	"data"
2:	movq	%rax, %rcx
	popq	%rax
	call	leaf
	ret
	end reads_its_address

	/* A real call within a function. */
	function calls_within
	call	1f
	call	1f
	ret
1:	subq	$8, %rsp
	call	leaf
	addq	$8, %rsp
	ret
	end calls_within

	/* ---- Returns that are jumps ---- */

	function returns_to_leaf
	leaq	leaf(%rip), %rax
	pushq	%rax
	ret
	end returns_to_leaf

	function returns_to_memory
	pushq	table(%rip)
	ret
	end returns_to_memory

	/* Within a function: a table of code, entered by returns. */
	function returns_within
	leaq	1f(%rip), %rax
	pushq	%rax
	ret
	nop
1:	call	leaf
	ret
	end returns_within

	/* A body of several retpolines. */
	function body
	movq	%r11, (%rsp)
	ret
	end body
	function by_body
	leaq	leaf(%rip), %r11
	call	body
	int3
	end by_body

	/* A body in each call of a recursive function. */
	function recurses
	pushq	%rbx
	testl	%edi, %edi
	jne	2f
	leaq	leaf(%rip), %r11
	jmp	1f
0:	call	3f
4:	pause
	jmp	4b
3:	movq	%r11, (%rsp)
	ret
1:	call	0b
	popq	%rbx
	ret
2:	decl	%edi
	call	recurses
	popq	%rbx
	ret
	end recurses

	function calls_recursive
	movl	$3, %edi
	call	recurses
	ret
	end calls_recursive

	/* ---- Jumps and returns that are calls ---- */

	function pushes_and_returns
	leaq	1f(%rip), %rax
	pushq	%rax
	leaq	leaf(%rip), %rcx
	pushq	%rcx
	ret
1:	ret
	end pushes_and_returns

	function pushes_and_jumps
	subq	$8, %rsp
	leaq	leaf(%rip), %rax
	leaq	1f(%rip), %rcx
	pushq	%rcx
	jmp	*%rax
1:	addq	$8, %rsp
	ret
	end pushes_and_jumps

	function pushes_and_jumps_there
	leaq	1f(%rip), %rcx
	pushq	%rcx
	jmp	leaf
	nop
1:	ret
	end pushes_and_jumps_there

	/* ---- Return addresses that are replaced ---- */

	function exit_stub
	pushq	%rax
	call	leaf
	popq	%rax
	jmp	*kept(%rip)
	end exit_stub

	function entry_stub
	movq	8(%rsp), %rax
	movq	%rax, kept(%rip)
	leaq	exit_stub(%rip), %rax
	movq	%rax, 8(%rsp)
	ret
	end entry_stub

	function traced
	call	entry_stub
	call	leaf
	ret
	end traced

	/* The trampoline makes room for the address and returns to it. */
	function exit_by_return
	pushq	%rax
	pushq	%rax
	call	leaf
	popq	%rax
	movq	kept(%rip), %rcx
	movq	%rcx, (%rsp)
	ret
	end exit_by_return

	function hooked
	movq	(%rsp), %rax
	movq	%rax, kept(%rip)
	leaq	exit_by_return(%rip), %rax
	movq	%rax, (%rsp)
	call	leaf
	ret
	end hooked

	/* Two functions of one frame were traced: the trampoline returns to itself. */
	function exit_twice
	pushq	%rax
	pushq	%rax
	call	leaf
	popq	%rax
	movq	next(%rip), %rcx
	movq	kept(%rip), %rdx
	movq	%rdx, next(%rip)
	movq	%rcx, (%rsp)
	ret
	end exit_twice

	function hooked_twice
	movq	(%rsp), %rax
	movq	%rax, kept(%rip)
	leaq	exit_twice(%rip), %rax
	movq	%rax, (%rsp)
	movq	%rax, next(%rip)
	call	leaf
	ret
	end hooked_twice

	/* ---- setjmp() and longjmp() of other names ---- */

	function keep
	movq	%rbx, saved(%rip)
	leaq	8(%rsp), %rdx
	movq	%rdx, 8 + saved(%rip)
	movq	(%rsp), %rdx
	movq	%rdx, 16 + saved(%rip)
	xorl	%eax, %eax
	ret
	end keep

	function go_back
	movq	saved(%rip), %rbx
	movq	8 + saved(%rip), %rsp
	movl	$1, %eax
	jmp	*16 + saved(%rip)
	end go_back

	function descends
	pushq	%rbx
	movl	%edi, %ebx
	cmpl	$2, %edi
	jne	1f
	call	keep
	testl	%eax, %eax
	jnz	2f
1:	call	leaf
	leal	-1(%rbx), %edi
	testl	%edi, %edi
	jz	3f
	call	descends
	popq	%rbx
	ret
3:	call	go_back
2:	call	leaf
	popq	%rbx
	ret
	end descends

	function jumps_back
	movl	$4, %edi
	subq	$8, %rsp
	call	descends
	addq	$8, %rsp
	ret
	end jumps_back

	/* ---- Jumps into the body of a function that is active ---- */

	/* A callback: the stub jumps into the body, which returns to the stub's caller. */
	function interpreter
	subq	$8, %rsp
	call	calls_back
	call	gives_up
2:	call	leaf
	addq	$8, %rsp
	ret
1:	subq	$8, %rsp
	call	leaf
	addq	$8, %rsp
	ret
	end interpreter

	function callback_stub
	movb	$1, %al
	pushq	%rbp
	leaq	1b(%rip), %rcx
	popq	%rbp
	jmp	*%rcx
	end callback_stub

	function calls_back
	subq	$8, %rsp
	call	callback_stub
	call	leaf
	addq	$8, %rsp
	ret
	end calls_back

	/* The same jump after frames were removed. */
	function gives_up_stub
	addq	$24, %rsp
	jmp	2b
	end gives_up_stub

	function gives_up
	subq	$8, %rsp
	call	gives_up_stub
	end gives_up

	function all
	call	returns_inline
	call	returns_inline_by_add
	call	calls_inline
	call	jumps_inline
	call	fills_by_loop
	call	fills_straight
	call	reads_its_address
	call	calls_within
	call	returns_to_leaf
	call	returns_to_memory
	call	returns_within
	call	by_body
	call	calls_recursive
	call	pushes_and_returns
	call	pushes_and_jumps
	call	pushes_and_jumps_there
	call	traced
	call	leaf
	call	hooked
	call	hooked_twice
	call	jumps_back
	call	interpreter
	ret
	end all

	function main
	pushq	%rbx
	movl	$10, %ebx
1:	call	all
	decl	%ebx
	jnz	1b
	xorl	%eax, %eax
	popq	%rbx
	ret
	end main
	.section .note.GNU-stack, "", @progbits
