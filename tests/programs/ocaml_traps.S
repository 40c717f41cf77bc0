/* SPDX-License-Identifier: MIT */
/*
 * Exceptions as OCaml's native compiler makes them on amd64: r14 points to the
 * innermost handler, each a pair of words on the stack (the outer one, where to
 * continue).  Which calls have a handler cannot be seen in the branches, only
 * from the notes: caml_search calls itself, and every other call installs one.
 */

#ifdef SCANNED /* OCaml 4.10 and later, without notes: r14 points to the domain's state */
#define TOP 0x10(%r14)
#define caml_raise caml_raise_exn
#else
#define TOP %r14
#endif
	.text

	/* caml_raise: r14's handler continues. */
	.globl caml_raise
	.type caml_raise, @function
caml_raise:
	movq	TOP, %rsp
	popq	TOP
	ret
	.size caml_raise, . - caml_raise

	/* caml_search(rdi: depth left, rsi: how often to raise again) */
	.globl caml_search
	.type caml_search, @function
caml_search:
	subq	$8, %rsp
	testq	%rdi, %rdi
	jz	3f
	testq	$1, %rdi
	jz	2f
	leaq	.Lhandler(%rip), %r11
	pushq	%r11
.Lpush:
	pushq	TOP
	movq	%rsp, TOP
	decq	%rdi
	call	caml_search
	popq	TOP
.Lpop:
	addq	$8, %rsp
	addq	$8, %rsp
	ret
.Lhandler:
	testq	%rsi, %rsi
	jz	1f
	decq	%rsi
	call	caml_raise
1:	call	caml_leaf
	addq	$8, %rsp
	ret
2:	decq	%rdi
	call	caml_search
	call	caml_leaf
	addq	$8, %rsp
	ret
3:	call	caml_leaf
	/* raise_notrace: without a call. */
	movq	TOP, %rsp
	popq	TOP
	popq	%r11
	jmp	*%r11
	.size caml_search, . - caml_search

	.globl caml_leaf
	.type caml_leaf, @function
caml_leaf:
	movl	$100, %eax
1:	decl	%eax
	jnz	1b
	ret
	.size caml_leaf, . - caml_leaf

	.globl main
	.type main, @function
main:
	pushq	%rbx
	pushq	%r12
	pushq	%r14
	movl	$20, %ebx
#ifdef SCANNED
	leaq	state(%rip), %r14
#endif
1:	movq	%rbx, %rdi
	movq	%rbx, %rsi
	shrq	$2, %rsi
	orq	$1, %rdi
	/* The first handler of caml_search is the outermost one. */
	call	caml_search
	call	caml_leaf
	decl	%ebx
	jnz	1b
	popq	%r14
	popq	%r12
	popq	%rbx
	xorl	%eax, %eax
	ret
	.size main, . - main

#ifdef SCANNED
	.local state
	.comm state, 64, 16
#else
	.section .note.ocaml_eh, "?", "note"
	.balign	4
	.4byte	2f - 1f, 4f - 3f, 1
1:	.asciz	"OCaml"
2:	.balign	4
3:	.8byte	_.stapsdt.base
	.8byte	.Lhandler, 0
	.8byte	.Lpush, 0
	.8byte	.Lpop, 0
4:	.balign	4

	.section .stapsdt.base, "aG", "progbits", .stapsdt.base, comdat
	.weak	_.stapsdt.base
	.hidden	_.stapsdt.base
_.stapsdt.base:
	.space	1
	.size	_.stapsdt.base, 1
#endif
	.section .note.GNU-stack, "", @progbits
