/* SPDX-License-Identifier: MIT */
/*
 * The guest's kernel: processes with their own address spaces, a preempting timer, faults, system
 * calls, an idle task, and code that changes at run time.  Names equal Linux's where possible,
 * since decoders look for some of them (__switch_to).
 *
 * The recorder outside sees registers, so functions named ptsys_* and perf_* have as arguments what
 * Linux would report to perf.
 */
#include <stdint.h>

#include "abi.h"

#define BASE  0xffffffff80000000ull
#define PAGE  4096ull
#define TASKS 5
/* The address of the first CPU's entry trampoline in Linux 4.15 to 4.19: in its cpu_entry_area. */
#define TRAMPOLINE 0xfffffe0000006000ull
#define USER_CR3   0x1000ull /* the user's page tables follow the kernel's */
#define APIC       (BASE + 0x40000000ull)
#define APIC_PLACE 0xfee00000ull
#define POOL_PAGES 512
#ifdef __clang__ /* has no copies, and no noipa */
#define REPORT __attribute__((noinline, used))
#else
#define REPORT __attribute__((noipa, used))
#endif

enum { PTE_PRESENT = 1, PTE_WRITE = 2, PTE_USER = 4 };
enum { KERNEL_CODE = 0x08, USER_DATA = 0x23, USER_CODE = 0x2b, TSS_SEGMENT = 0x30 };
enum { MSR_STAR = 0xc0000081, MSR_LSTAR, MSR_SYSCALL_MASK = 0xc0000084 };
enum { FLAG_IF = 0x200 };
enum { PIC1 = 0x20, PIC2 = 0xa0, PIT = 0x40, END_OF_INTERRUPT = 0x20 };
enum {
	VECTOR_NMI = 2,
	VECTOR_INT3 = 3,
	VECTOR_UD = 6,
	VECTOR_DF = 8,
	VECTOR_PF = 14,
	VECTOR_TIMER = 32,
	VECTOR_IPI = 65
};
/* Registers and commands of the local APIC (SDM volume 3, "APIC"). */
enum {
	APIC_EOI = 0xb0,
	APIC_SPURIOUS = 0xf0,
	APIC_COMMAND = 0x300,
	APIC_LINT0 = 0x350,
	APIC_LINT1 = 0x360
};
enum {
	APIC_ON = 0x1ff,
	APIC_EXTINT = 0x700,
	APIC_NMI = 0x400,
	APIC_ASSERT = 0x4000,
	APIC_SELF = 0x40000
};
enum { IST_PF = 1, IST_NMI, IST_DF, IST_STACKS };
/* Ticks of 1.19 MHz between two timer interrupts: about 7,000 instructions of 16 ns. */
#define TIMER_PERIOD 133

enum task_state { TASK_NONE, TASK_READY, TASK_SLEEPS, TASK_DEAD };

struct task {
	uint64_t sp; /* first: __switch_to_asm depends on it */
	uint64_t cr3;
	uint64_t wake;
	uint64_t state;
	int64_t pid;
	uint8_t stack[8192] __attribute__((aligned(16)));
};

struct registers {
	uint64_t general[15];
	uint64_t error, ip, cs, flags, sp, ss;
};

extern uint64_t gdt[], boot_top[];
extern uint8_t tss[104], user_image[], user_image_end[];
extern void pvh_start(void), ret_from_fork(void);
extern uint8_t *const static_key_site;
extern void asm_exc_int3(void), asm_exc_invalid_op(void), asm_exc_page_fault(void),
	asm_sysvec_timer(void), asm_sysvec_ipi(void), asm_exc_nmi(void), asm_exc_double_fault(void),
	asm_exc_other(void), cause_double_fault(void), _entry_trampoline(void);
extern void __switch_to_asm(struct task *previous, struct task *next);
extern void copy_user(void *to, const void *from, uint64_t size);

static struct task tasks[TASKS]; /* the first is idle */
static struct task *current = tasks;
static uint64_t jiffies, need_resched, alive, traced;
static uint8_t pool[POOL_PAGES][PAGE] __attribute__((aligned(8192)));
static uint8_t ist_stacks[IST_STACKS][4096] __attribute__((aligned(16)));
static uint64_t nmis, ipis;
static uint64_t pool_used;
static struct {
	uint16_t low, segment, kind, middle;
	uint32_t high, zero;
} idt[256];

/* ---- Hooks for the recorder -------------------------------------------------- */

static void spend_time(void)
{
	for (int i = 0; i < 600; i++)
		asm volatile("pause");
}

/* The first timing packet comes before it ends, as in any other trace. */
REPORT void ptsys_trace_start(void)
{
	spend_time();
}
REPORT void ptsys_trace_stop(void)
{
	asm volatile("");
}
REPORT void perf_event_task_sched_out(int64_t previous, int64_t next)
{
	asm volatile("" ::"r"(previous), "r"(next));
}

REPORT void perf_event_task_sched_in(int64_t previous, int64_t next)
{
	asm volatile("" ::"r"(previous), "r"(next));
}

REPORT void perf_event_exit_task(int64_t pid)
{
	asm volatile("" ::"r"(pid));
}
/* The bytes as numbers, the first byte lowest. */
REPORT void perf_event_text_poke(uint64_t address, uint64_t size, uint64_t old_bytes,
				 uint64_t new_bytes)
{
	asm volatile("" ::"r"(address), "r"(size), "r"(old_bytes), "r"(new_bytes));
}

/* ---- The machine --------------------------------------------------------- */

static void out_byte(uint16_t port, uint8_t value)
{
	asm volatile("outb %0, %1" ::"a"(value), "Nd"(port));
}

static void write_msr(uint32_t number, uint64_t value)
{
	asm volatile("wrmsr" ::"c"(number), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)));
}

static void write_cr3(uint64_t value)
{
	asm volatile("mov %0, %%cr3" ::"r"(value) : "memory");
}

static void set_gate(unsigned vector, void (*handler)(void), unsigned kind)
{
	uint64_t ip = (uint64_t)handler;

	idt[vector].low = (uint16_t)ip;
	idt[vector].segment = KERNEL_CODE;
	idt[vector].kind = (uint16_t)(kind << 8);
	idt[vector].middle = (uint16_t)(ip >> 16);
	idt[vector].high = (uint32_t)(ip >> 32);
}

static void set_stack_gate(unsigned vector, void (*handler)(void), uint16_t stack)
{
	set_gate(vector, handler, 0x8e);
	idt[vector].kind |= stack;
	*(uint64_t *)(tss + 28 + 8 * stack) = (uint64_t)(ist_stacks[stack] + sizeof(ist_stacks[0]));
}

static void set_kernel_stack(struct task *task)
{
	*(uint64_t *)(tss + 4) = (uint64_t)(task->stack + sizeof(task->stack));
}

static void start_cpu(void)
{
	struct {
		uint16_t size;
		uint64_t base;
	} __attribute__((packed)) pointer = { sizeof(idt) - 1, (uint64_t)idt };
	uint64_t base = (uint64_t)tss;

	for (unsigned i = 0; i < 256; i++)
		set_gate(i, asm_exc_other, 0x8e);
	set_gate(VECTOR_INT3, asm_exc_int3, 0xee);
	set_gate(VECTOR_UD, asm_exc_invalid_op, 0x8e);
	set_gate(VECTOR_TIMER, asm_sysvec_timer, 0x8e);
	set_gate(VECTOR_IPI, asm_sysvec_ipi, 0x8e);
	set_stack_gate(VECTOR_PF, asm_exc_page_fault, IST_PF);
	set_stack_gate(VECTOR_NMI, asm_exc_nmi, IST_NMI);
	set_stack_gate(VECTOR_DF, asm_exc_double_fault, IST_DF);
	asm volatile("lidt %0" ::"m"(pointer));
	gdt[6] = 0x0000890000000067ull | (base & 0xffffff) << 16 | (base >> 24 & 0xff) << 56;
	gdt[7] = base >> 32;
	asm volatile("ltr %w0" ::"r"(TSS_SEGMENT));
	write_msr(MSR_STAR, (uint64_t)0x18 << 48 | (uint64_t)KERNEL_CODE << 32);
	write_msr(MSR_LSTAR, TRAMPOLINE);
	write_msr(MSR_SYSCALL_MASK, FLAG_IF);
}

static void start_timer(void)
{
	out_byte(PIC1, 0x11);
	out_byte(PIC2, 0x11);
	out_byte(PIC1 + 1, VECTOR_TIMER);
	out_byte(PIC2 + 1, VECTOR_TIMER + 8);
	out_byte(PIC1 + 1, 4);
	out_byte(PIC2 + 1, 2);
	out_byte(PIC1 + 1, 1);
	out_byte(PIC2 + 1, 1);
	out_byte(PIC1 + 1, 0xfe); /* the timer only */
	out_byte(PIC2 + 1, 0xff);
	out_byte(PIT + 3, 0x34);
	out_byte(PIT, TIMER_PERIOD & 0xff);
	out_byte(PIT, TIMER_PERIOD >> 8);
}

/* ---- Memory -------------------------------------------------------------- */

static uint64_t physical(const void *address)
{
	return (uint64_t)address - BASE;
}

static void *alloc_page(void)
{
	uint64_t *page = (uint64_t *)pool[pool_used++ % POOL_PAGES];

#pragma GCC unroll 16
	for (unsigned i = 0; i < PAGE / 8; i++)
		page[i] = 0;
	return page;
}

/* Returns two pages, of which the first has an even number. */
static uint64_t *alloc_tables(void)
{
	uint64_t *tables;

	pool_used += pool_used % 2;
	tables = alloc_page();
	alloc_page();
	return tables;
}

static uint64_t *table_below(uint64_t *entry)
{
	if (!(*entry & PTE_PRESENT))
		*entry = physical(alloc_page()) | PTE_PRESENT | PTE_WRITE | PTE_USER;
	return (uint64_t *)((*entry & ~(PAGE - 1)) + BASE);
}

static void map_page(uint64_t cr3, uint64_t address, uint64_t target, uint64_t flags)
{
	uint64_t *table = (uint64_t *)(cr3 + BASE);

	for (int shift = 39; shift > 12; shift -= 9)
		table = table_below(&table[address >> shift & 511]);
	table[address >> 12 & 511] = target | flags;
}

static void map_entry_trampoline(void)
{
	map_page(physical(boot_top), TRAMPOLINE, physical(_entry_trampoline), PTE_PRESENT);
}

static void apic_write(unsigned number, uint32_t value)
{
	*(volatile uint32_t *)(APIC + number) = value;
}

static void start_apic(void)
{
	uint64_t *high = (uint64_t *)((boot_top[511] & ~(PAGE - 1)) + BASE), *pages = alloc_page();

	pages[0] = APIC_PLACE | 0x93; /* 2 MiB, not cached */
	high[511] = physical(pages) | PTE_PRESENT | PTE_WRITE;
	apic_write(APIC_SPURIOUS, APIC_ON);
	apic_write(APIC_LINT0, APIC_EXTINT);
	apic_write(APIC_LINT1, APIC_NMI);
}

__attribute__((noinline)) static void send_ipi(uint32_t what)
{
	apic_write(APIC_COMMAND + 0x10, 0);
	apic_write(APIC_COMMAND, what | APIC_ASSERT);
}

/* ---- Tasks --------------------------------------------------------------- */

REPORT struct task *__switch_to(struct task *previous, struct task *next)
{
	set_kernel_stack(next);
	current = next;
	return previous;
}

void schedule_tail(void)
{
	perf_event_task_sched_in(0, current->pid);
}

static void switch_mm(struct task *previous, struct task *next)
{
	/* Idle runs in any address space, as in Linux. */
	if (next->cr3 && next->cr3 != previous->cr3)
		write_cr3(next->cr3);
}

__attribute__((noinline)) static struct task *pick_next_task(void)
{
	struct task *task = current;

	do {
		task = task + 1 == tasks + TASKS ? tasks + 1 : task + 1;
		if (task->state == TASK_READY)
			return task;
	} while (task != current && (current != tasks || task != tasks + TASKS - 1));
	return current->state == TASK_READY && current != tasks ? current : tasks;
}

__attribute__((noinline)) static void context_switch(struct task *previous, struct task *next)
{
	perf_event_task_sched_out(previous->pid, next->pid);
	switch_mm(previous, next);
	__switch_to_asm(previous, next);
	perf_event_task_sched_in(previous->pid, current->pid);
}

__attribute__((noinline)) static void schedule(void)
{
	struct task *previous = current, *next = pick_next_task();

	need_resched = 0;
	if (next != previous)
		context_switch(previous, next);
}

void exit_to_user_mode(struct registers *registers)
{
	if ((registers->cs & 3) && need_resched)
		schedule();
}

static void add_task(struct task *task, int64_t pid)
{
	uint64_t *top = (uint64_t *)(task->stack + sizeof(task->stack));
	uint64_t *tables = alloc_tables();

	tables[511] = boot_top[511];
	tables[TRAMPOLINE >> 39 & 511] = boot_top[TRAMPOLINE >> 39 & 511];
	task->cr3 = physical(tables);
	task->pid = pid;
	task->state = TASK_READY;
	for (uint8_t *page = user_image; page < user_image_end; page += PAGE)
		map_page(task->cr3, USER_TEXT + (uint64_t)(page - user_image), physical(page),
			 PTE_PRESENT | PTE_USER);
#pragma GCC unroll 16
	for (unsigned i = 0; i < PAGE / 8; i++)
		tables[PAGE / 8 + i] = tables[i];
	*--top = USER_DATA;
	*--top = USER_STACK - 8;
	*--top = FLAG_IF | 2;
	*--top = USER_CODE;
	*--top = USER_TEXT;
	*--top = (uint64_t)ret_from_fork;
	*--top = 0;                        /* rbp */
	*--top = 0;                        /* rbx */
	*--top = (uint64_t)(task - tasks); /* r12: the program's argument */
	*--top = 0;
	*--top = 0;
	*--top = 0;
	task->sp = (uint64_t)top;
	alive++;
}

/* ---- Interrupts and faults ----------------------------------------------- */

__attribute__((noinline)) static void wake_up(struct task *task)
{
	task->state = TASK_READY;
	need_resched = 1;
}

static void tick_handler(struct registers *registers)
{
	jiffies++;
	for (struct task *task = tasks + 1; task < tasks + TASKS; task++) {
		if (task->state == TASK_SLEEPS && task->wake <= jiffies)
			wake_up(task);
	}
	if (registers->cs & 3)
		need_resched = 1;
}

/* Nested interrupts, and in the inner one an NMI. */
__attribute__((noinline)) static void take_others(void)
{
	send_ipi(APIC_SELF | VECTOR_IPI);
	asm volatile("sti; nop; cli");
}

void sysvec_ipi(struct registers *registers)
{
	(void)registers;
	apic_write(APIC_EOI, 0);
	if (++ipis % 2)
		send_ipi(APIC_NMI);
}

__attribute__((noinline)) static uint64_t count_nmi(uint64_t count)
{
	return count + 1;
}

void exc_nmi(struct registers *registers)
{
	(void)registers;
	nmis = count_nmi(nmis);
}

void exc_double_fault(struct registers *registers)
{
	registers->ip += 3; /* the length of mov (%rax), %rax */
	registers->sp = registers->general[11];
}

static void (*volatile interrupt_handler)(struct registers *registers) = tick_handler;

void sysvec_timer(struct registers *registers)
{
	out_byte(PIC1, END_OF_INTERRUPT);
	interrupt_handler(registers);
	if (jiffies % 4 == 0)
		take_others();
}

void exc_int3(struct registers *registers)
{
	registers->general[14] = registers->ip;
}

void exc_invalid_op(struct registers *registers)
{
	registers->ip += 2; /* the length of ud2 */
}

void exc_page_fault(struct registers *registers)
{
	uint64_t address;

	(void)registers;
	asm volatile("mov %%cr2, %0" : "=r"(address));
	map_page(current->cr3, address & ~(PAGE - 1), physical(alloc_page()),
		 PTE_PRESENT | PTE_WRITE | PTE_USER);
	if (address >> 12 & 1)
		send_ipi(APIC_NMI);
}

void exc_other(struct registers *registers)
{
	(void)registers;
	out_byte(0xf4, 1); /* ends QEMU: the guest has a bug */
}

/* ---- Code that changes ------------------------------------------------------- */

/* Like Linux's static keys and ftrace calls: five bytes, a nop or a call. */
#define SITE_SIZE 5
static const uint8_t nop5[8] = { 0x0f, 0x1f, 0x44, 0, 0 };

REPORT void trace_hook(void)
{
	traced++;
}

static uint64_t load_bytes(const uint8_t *bytes)
{
	uint64_t value = 0;

	for (int i = SITE_SIZE - 1; i >= 0; i--)
		value = value << 8 | bytes[i];
	return value;
}

/*
 * When Linux reports a change, an int3 already keeps all CPUs from the old code. The new code
 * follows another round of interrupts to all CPUs: a few us, so that approximate times suffice.
 */
__attribute__((noinline)) static void text_poke_sync(void)
{
	spend_time();
}

__attribute__((noinline)) static void text_poke(uint8_t *address, const uint8_t *bytes)
{
	text_poke_sync();
	perf_event_text_poke((uint64_t)address, SITE_SIZE, load_bytes(address), load_bytes(bytes));
	for (int i = 0; i < SITE_SIZE; i++)
		((volatile uint8_t *)address)[i] = bytes[i];
	text_poke_sync();
}

__attribute__((noinline)) static void static_key_set(uint64_t on)
{
	uint8_t *site = static_key_site, call[8] = { 0xe8 };
	int32_t distance = (int32_t)((uint64_t)trace_hook - ((uint64_t)site + SITE_SIZE));

	for (int i = 0; i < 4; i++)
		call[1 + i] = (uint8_t)((uint32_t)distance >> 8 * i);
	text_poke(site, on ? call : nop5);
}

/* ---- System calls -------------------------------------------------------- */

static int64_t sys_exit(uint64_t a, uint64_t b)
{
	(void)a, (void)b;
	asm volatile("cli");
	perf_event_exit_task(current->pid);
	current->state = TASK_DEAD;
	alive--;
	schedule();
	return 0;
}

static int64_t sys_yield(uint64_t a, uint64_t b)
{
	(void)a, (void)b;
	asm volatile("cli");
	schedule();
	return 0;
}

static int64_t sys_sleep(uint64_t ticks, uint64_t b)
{
	(void)b;
	asm volatile("cli");
	current->wake = jiffies + ticks;
	current->state = TASK_SLEEPS;
	schedule();
	return 0;
}

static int64_t sys_sum(uint64_t address, uint64_t size)
{
	uint8_t bytes[128];
	int64_t sum = 0;

	copy_user(bytes, (const void *)address, size & 127);
	for (uint64_t i = 0; i < (size & 127); i++)
		sum += bytes[i];
	return sum;
}

static int64_t sys_trace(uint64_t on, uint64_t b)
{
	(void)b;
	static_key_set(on);
	return 0;
}

static int64_t sys_nmi(uint64_t a, uint64_t b)
{
	(void)a, (void)b;
	send_ipi(APIC_NMI);
	return (int64_t)nmis;
}

static int64_t sys_double_fault(uint64_t a, uint64_t b)
{
	(void)a, (void)b;
	cause_double_fault();
	return 0;
}

static int64_t (*volatile const sys_call_table[])(uint64_t, uint64_t) = {
	[SYS_EXIT] = sys_exit,
	[SYS_YIELD] = sys_yield,
	[SYS_SLEEP] = sys_sleep,
	[SYS_SUM] = sys_sum,
	[SYS_TRACE] = sys_trace,
	[SYS_NMI] = sys_nmi,
	[SYS_DOUBLE_FAULT] = sys_double_fault,
};

int64_t do_syscall_64(uint64_t number, uint64_t a, uint64_t b)
{
	int64_t result = -1;

	asm volatile("1: .byte 0x0f, 0x1f, 0x44, 0, 0\n"
		     ".pushsection .rodata\n"
		     "static_key_site: .quad 1b\n"
		     ".popsection"
		     : "+D"(number), "+S"(a), "+d"(b)
		     :
		     : "rax", "rcx", "r8", "r9", "r10", "r11", "memory");
	asm volatile("sti");
	if (number < SYS_CALLS)
		result = sys_call_table[number](a, b);
	asm volatile("cli");
	if (need_resched)
		schedule();
	return result;
}

/* ---- Start and end ------------------------------------------------------- */

static void idle(void)
{
	while (alive) {
		asm volatile("sti; hlt; cli");
		if (need_resched)
			schedule();
	}
}

__attribute__((noreturn)) void start_kernel(void)
{
	start_cpu();
	map_entry_trampoline();
	start_apic();
	start_timer();
	tasks[0].state = TASK_READY;
	for (int i = 1; i < TASKS - 1; i++)
		add_task(&tasks[i], 1000 + i);
	set_kernel_stack(&tasks[0]);
	ptsys_trace_start();
	schedule();
	idle();
	ptsys_trace_stop();
	for (;;)
		out_byte(0xf4, 0);
}
