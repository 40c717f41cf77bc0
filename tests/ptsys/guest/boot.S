/* SPDX-License-Identifier: MIT */
/*
 * The guest's start and its entry code: from QEMU's PVH entry (32-bit, no paging) to
 * 64-bit code in the kernel's half, and the ways in and out of user code.
 */
#define BASE 0xffffffff80000000
#define P(symbol) ((symbol) - BASE)

	/* XEN_ELFNOTE_PHYS32_ENTRY: where the loader enters (Xen's elfnote.h). */
	.section .note.Xen, "a", @note
	.long 4, 8, 18
	.asciz "Xen"
	.quad P(pvh_start)

	.section .head.text, "ax"
	.globl _text
_text:
	.code32
	.globl pvh_start
pvh_start:
	cld
	movl $P(boot_stack_end), %esp
	/* 1 GiB of physical memory, in 2 MiB pages, at 0 and at BASE. */
	movl $P(boot_pages), %edi
	movl $0x83, %eax
	movl $512, %ecx
1:	movl %eax, (%edi)
	movl $0, 4(%edi)
	addl $0x200000, %eax
	addl $8, %edi
	loop 1b
	movl $P(boot_pages) + 3, P(boot_low)
	movl $P(boot_pages) + 3, P(boot_high) + 510 * 8
	movl $P(boot_low) + 3, P(boot_top)
	movl $P(boot_high) + 3, P(boot_top) + 511 * 8
	movl $0x20, %eax		/* CR4.PAE */
	movl %eax, %cr4
	movl $P(boot_top), %eax
	movl %eax, %cr3
	movl $0xc0000080, %ecx		/* EFER: SCE, LME */
	rdmsr
	orl $0x101, %eax
	wrmsr
	movl %cr0, %eax
	orl $0x80010001, %eax		/* PG, WP, PE */
	movl %eax, %cr0
	lgdt P(boot_gdt_low)
	ljmp $8, $P(1f)
	.code64
1:	movabsq $2f, %rax
	jmp *%rax
2:	lgdt gdt_pointer
	movw $0x10, %ax
	movw %ax, %ds
	movw %ax, %es
	movw %ax, %ss
	xorl %eax, %eax
	movw %ax, %fs
	movw %ax, %gs
	movq $boot_stack_end, %rsp
	xorl %ebp, %ebp
	call start_kernel
1:	hlt
	jmp 1b
	.size pvh_start, . - pvh_start
	.type pvh_start, @function

	.text
.macro FUNCTION name
	.globl \name
	.type \name, @function
\name:
.endm
.macro END name
	.size \name, . - \name
.endm

.macro PUSH_ALL
	pushq %rax
	pushq %rbx
	pushq %rcx
	pushq %rdx
	pushq %rsi
	pushq %rdi
	pushq %rbp
	pushq %r8
	pushq %r9
	pushq %r10
	pushq %r11
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
.endm
.macro POP_ALL
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %r11
	popq %r10
	popq %r9
	popq %r8
	popq %rbp
	popq %rdi
	popq %rsi
	popq %rdx
	popq %rcx
	popq %rbx
	popq %rax
.endm

/* With and without an error code from the CPU; `handler` gets the registers. */
.macro TRAP name handler error
FUNCTION \name
	.if \error == 0
	pushq $0
	.endif
	PUSH_ALL
	cld
	movq %rsp, %rdi
	call \handler
	jmp trap_return
END \name
.endm

TRAP asm_exc_int3 exc_int3 0
TRAP asm_exc_invalid_op exc_invalid_op 0
TRAP asm_sysvec_timer sysvec_timer 0
TRAP asm_sysvec_ipi sysvec_ipi 0
TRAP asm_exc_other exc_other 0

FUNCTION trap_return
	movq %rsp, %rdi
	call exit_to_user_mode
	POP_ALL
	addq $8, %rsp
	iretq
END trap_return

/* Handlers with stacks of their own (IST), on which no task switches. */
.macro IST_TRAP name handler error
FUNCTION \name
	.if \error == 0
	pushq $0
	.endif
	PUSH_ALL
	cld
	movq %rsp, %rdi
	call \handler
	POP_ALL
	addq $8, %rsp
	iretq
END \name
.endm

IST_TRAP asm_exc_page_fault exc_page_fault 1
IST_TRAP asm_exc_nmi exc_nmi 0
IST_TRAP asm_exc_double_fault exc_double_fault 1

/*
 * A fault (at a non-canonical address) whose frame cannot be pushed either.  The
 * handler continues after it, with the stack pointer in rdx.
 */
FUNCTION cause_double_fault
	cli
	movq %rsp, %rdx
	movabsq $0x8000000000000000, %rax
	movq %rax, %rsp
	movq (%rax), %rax
	sti
	ret
END cause_double_fault

/*
 * The entry of system calls under user page tables, which map little else of
 * the kernel: Linux 4.15 to 4.19 (entry_64.S) map this page once more at
 * another place, and jump from there, by a retpoline in line.
 */
	.section .entry_trampoline, "ax"
	.globl _entry_trampoline
_entry_trampoline:
FUNCTION __entry_SYSCALL_64_trampoline
	movq %rsp, user_sp
	movq %cr3, %rsp
	andq $~0x1000, %rsp
	movq %rsp, %cr3
	movq tss + 4, %rsp
	pushq user_sp
	pushq %rdi
	movq $entry_SYSCALL_64_stage2, %rdi
	call 2f
1:	pause
	lfence
	jmp 1b
2:	movq %rdi, (%rsp)
	ret
END __entry_SYSCALL_64_trampoline

	.text
FUNCTION entry_SYSCALL_64_stage2
	popq %rdi
	jmp entry_SYSCALL_64_after_hwframe
END entry_SYSCALL_64_stage2

FUNCTION entry_SYSCALL_64_after_hwframe
	pushq %r11
	pushq %rcx
	movq %rdx, %rcx
	movq %rsi, %rdx
	movq %rdi, %rsi
	movq %rax, %rdi
	call do_syscall_64
	movq %cr3, %rdx
	orq $0x1000, %rdx
	popq %rcx
	popq %r11
	movq %rdx, %cr3
	popq %rsp
	sysretq
END entry_SYSCALL_64_after_hwframe

/* (previous, next): the kernel's stack changes here, as in Linux. */
FUNCTION __switch_to_asm
	pushq %rbp
	pushq %rbx
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	movq %rsp, (%rdi)
	movq (%rsi), %rsp
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbx
	popq %rbp
	jmp __switch_to
END __switch_to_asm

/* A new task's first code: rbx is a kernel function, or the frame below is its user code's. */
FUNCTION ret_from_fork
	movq %rax, %rdi
	call schedule_tail
	testq %rbx, %rbx
	jz 1f
	sti
	call __x86_indirect_thunk_rbx
1:	movq %r12, %rdi
	iretq
END ret_from_fork

/* Retpolines, and the return thunk that calls are patched to. */
.macro THUNK register
FUNCTION __x86_indirect_thunk_\register
	call 2f
1:	pause
	lfence
	jmp 1b
2:	movq %\register, (%rsp)
	ret
END __x86_indirect_thunk_\register
.endm
.irp register, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15
THUNK \register
.endr

FUNCTION __x86_return_thunk
	ret
	int3
END __x86_return_thunk

/* A user address that may be missing is read here, in the kernel. */
FUNCTION copy_user
	movq %rdx, %rcx
	rep movsb
	ret
END copy_user

	.section .rodata
	.balign 4096
	.globl user_image, user_image_end
user_image:
	.incbin USER_IMAGE
	.balign 4096
user_image_end:

	.data
	.balign 16
	.globl gdt, tss
gdt:	.quad 0
	.quad 0x00af9a000000ffff	/* 08: kernel code */
	.quad 0x00cf92000000ffff	/* 10: kernel data */
	.quad 0
	.quad 0x00cff2000000ffff	/* 20: user data */
	.quad 0x00affa000000ffff	/* 28: user code */
	.quad 0, 0			/* 30: task state segment */
gdt_pointer:
	.word . - gdt - 1
	.quad gdt
boot_gdt_low:
	.word gdt_pointer - gdt - 1
	.long P(gdt)

	.bss
	.balign 4096
boot_top:	.skip 4096
boot_low:	.skip 4096
boot_high:	.skip 4096
boot_pages:	.skip 4096
boot_stack:	.skip 16384
boot_stack_end:
tss:		.skip 104
user_sp:	.skip 8
	.globl boot_top
	.section .note.GNU-stack, "", @progbits
