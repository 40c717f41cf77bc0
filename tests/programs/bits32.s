# SPDX-License-Identifier: MIT
# 32-bit code without a C library: arguments on the stack that the callee pops, the address of
# code by a call and a pop, calls through memory and registers, a switch, recursion, a signal
# handler and its return, system calls by int $0x80 and by the vdso.  Writes its vdso.
	.globl	_start
	.type	_start, @function
_start:
	mov	%esp, %ebp
	mov	(%ebp), %eax
	lea	8(%ebp,%eax,4), %esi	# the environment
1:	lodsl
	test	%eax, %eax
	jnz	1b
2:	lodsl				# the auxiliary vector (elf.h)
	mov	%eax, %ebx
	lodsl
	cmp	$32, %ebx		# AT_SYSINFO
	jne	3f
	mov	%eax, vsyscall
3:	cmp	$33, %ebx		# AT_SYSINFO_EHDR
	jne	4f
	mov	%eax, vdso
4:	test	%ebx, %ebx
	jnz	2b
	push	$5
	push	$7
	call	pops_its_arguments
	push	$12
	call	recursive
	add	$4, %esp
	call	here
	mov	$handler, %eax
	mov	%eax, action
	mov	$67, %eax		# sigaction(SIGUSR1)
	mov	$10, %ebx
	mov	$action, %ecx
	xor	%edx, %edx
	int	$0x80
	mov	$20, %eax		# getpid()
	int	$0x80
	mov	%eax, %ebx
	mov	$37, %eax		# kill()
	mov	$10, %ecx
	int	$0x80
	mov	$40, %edi
5:	call	by_vdso
	mov	%edi, %eax
	and	$3, %eax
	call	chooses
	dec	%edi
	jnz	5b
	call	writes
	mov	$1, %eax		# exit(0)
	xor	%ebx, %ebx
	int	$0x80
	.size	_start, . - _start

	.type	pops_its_arguments, @function
pops_its_arguments:
	push	%ebp
	mov	%esp, %ebp
	mov	8(%ebp), %eax
	add	12(%ebp), %eax
	leave
	ret	$8
	.size	pops_its_arguments, . - pops_its_arguments

	.type	recursive, @function
recursive:
	mov	4(%esp), %eax
	test	%eax, %eax
	jz	1f
	dec	%eax
	push	%eax
	mov	$recursive, %ecx
	call	*%ecx
	pop	%ecx
1:	ret
	.size	recursive, . - recursive

	.type	here, @function
here:
	call	1f
1:	pop	%ebx
	call	thunk
	jmp	leaf			# a tail call
	.size	here, . - here

	.type	thunk, @function
thunk:
	mov	(%esp), %ebx
	ret
	.size	thunk, . - thunk

	.type	leaf, @function
leaf:
	nop
	ret
	.size	leaf, . - leaf

	.type	handler, @function
handler:
	call	leaf
	ret				# to the vdso, which calls sigreturn
	.size	handler, . - handler

	.type	by_vdso, @function
by_vdso:
	mov	$20, %eax		# getpid()
	call	*vsyscall
	ret
	.size	by_vdso, . - by_vdso

	.type	chooses, @function
chooses:
	jmp	*cases(,%eax,4)
1:	push	$1
	push	$2
	call	pops_its_arguments
	ret
2:	call	leaf
	ret
3:	jmp	leaf
4:	ret
	.size	chooses, . - chooses

	.type	writes, @function
writes:
	mov	$4, %eax		# write(1): two pages, as the vdso has
	mov	$1, %ebx
	mov	vdso, %ecx
	mov	$8192, %edx
	int	$0x80
	ret
	.size	writes, . - writes

	.section .rodata
cases:	.long	1b, 2b, 3b, 4b
	.data
action:	.long	0, 0, 0, 0
vsyscall: .long	0
vdso:	.long	0
	.section .note.GNU-stack, "", @progbits
