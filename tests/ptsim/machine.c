/* SPDX-License-Identifier: MIT */
#include "tests/ptsim/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/alloc.h"
#include "symbols/names/syscall_names.h"
#include "symbols/symbol.h"
#include "tests/ptsim/block.h"
#include "tests/ptsim/repeat.h"

/* A CPU starts some time after its clock. */
#define FIRST_TSC     UINT64_C(50000000000)
#define SWITCH_TICKS  5000
#define KERNEL_TICKS  4000
#define MISS_TICKS    200
#define TICKS_OF_2_NS 5

static uint64_t next_random(uint64_t *state, uint64_t limit)
{
	uint64_t x = *state; /* xorshift64*, Vigna */

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return limit ? (x * UINT64_C(0x2545f4914f6cdd1d) >> 16) % limit : 0;
}

uint64_t machine_random(struct machine *machine, uint64_t limit)
{
	return next_random(&machine->random, limit);
}

static struct buffer *add_buffer(struct machine *machine, int32_t pid, int32_t tid, int cpu)
{
	struct buffer *buffer = alloc_zeroed(1, sizeof(*buffer));

	pt_output_init(&buffer->out, &machine->options->side.pt);
	buffer->pid = pid;
	buffer->tid = tid;
	buffer->cpu = cpu;
	buffer->queue = machine->buffer_count++;
	buffer->next = machine->buffers;
	machine->buffers = buffer;
	return buffer;
}

int machine_init(struct machine *machine, const struct recorder_options *options)
{
	*machine = (struct machine){ .options = options, .last_id = 1000 };
	machine->random = options->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	for (int i = 0; i < options->side.cpus; i++) {
		machine->cpus[i].number = i;
		machine->cpus[i].tsc = FIRST_TSC + options->seed % 1000000 * 1000;
	}
	side_band_init(&machine->side, &options->side);
	return truth_open(&machine->truth, options->truth);
}

/* perf's reads have this size. */
#define PIECE ((size_t)1 << 18)

/*
 * Returns how many of `size` bytes the next piece has.  A packet may straddle two pieces, but perf
 * 6.1 drops it as bad if a look-ahead has already opened the second one.  So a piece ends before a
 * PSB, except in a repeated recording, which is not for perf.
 */
static size_t piece_size(const struct machine *machine, const uint8_t *bytes, size_t size)
{
	static const uint8_t psb[16] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
					 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };

	if (size <= PIECE)
		return size;
	if (!machine->options->repeat_bytes)
		for (size_t end = PIECE - sizeof(psb); end > 0; end--)
			if (!memcmp(bytes + end, psb, sizeof(psb)))
				return end;
	return PIECE;
}

static void write_pieces(struct machine *machine, const struct buffer *buffer, const uint8_t *bytes,
			 size_t total)
{
	struct clock_point now = { .pid = buffer->pid, .tid = buffer->tid, .cpu = buffer->cpu };
	size_t size;

	for (size_t begin = 0; begin < total; begin += size) {
		size = piece_size(machine, bytes + begin, total - begin);
		side_band_buffer(&machine->side, &now, buffer->queue, bytes + begin, begin, size,
				 buffer->reference);
	}
}

static void write_repeated(struct machine *machine, struct buffer *buffer)
{
	uint64_t duration = machine->cpus[0].tsc - buffer->reference;
	size_t once = pt_output_size(&buffer->out), size;
	uint8_t *bytes =
		repeat_trace(buffer->out.bytes, once, duration, machine->options->repeat_apart,
			     machine->options->repeat_bytes, &size);

	write_pieces(machine, buffer, bytes, size);
	free(bytes);
}

/* A snapshot is the ring buffer's last content, in one piece. */
static void write_snapshot(struct machine *machine, struct buffer *buffer)
{
	struct clock_point now = { .pid = buffer->pid, .tid = buffer->tid, .cpu = buffer->cpu };
	uint64_t end = pt_output_size(&buffer->out), kept = machine->options->snapshot_size;
	uint64_t begin = end > kept ? end - kept : 0;

	side_band_buffer(&machine->side, &now, buffer->queue, buffer->out.bytes + begin, begin,
			 end - begin, buffer->reference);
}

static void write_buffer(struct machine *machine, struct buffer *buffer)
{
	size_t size = pt_output_size(&buffer->out);

	if (machine->options->repeat_bytes)
		write_repeated(machine, buffer);
	else if (machine->options->snapshot_size)
		write_snapshot(machine, buffer);
	else
		write_pieces(machine, buffer, buffer->out.bytes, size);
}

int machine_write(struct machine *machine)
{
	for (struct buffer *buffer = machine->buffers; buffer; buffer = buffer->next)
		write_buffer(machine, buffer);
	if (side_band_write(&machine->side, machine->options->output) != 0) {
		truth_close(&machine->truth);
		return -1;
	}
	return truth_close(&machine->truth);
}

void machine_release(struct machine *machine)
{
	while (machine->buffers) {
		struct buffer *buffer = machine->buffers;

		machine->buffers = buffer->next;
		pt_output_release(&buffer->out);
		free(buffer);
	}
	while (machine->tasks) {
		struct task *task = machine->tasks;

		machine->tasks = task->next;
		true_thread_release(&task->truth);
		free(task);
	}
	while (machine->processes) {
		struct process *process = machine->processes;

		machine->processes = process->next;
		code_release(&process->code);
		mappings_release(&process->maps);
		free(process);
	}
	side_band_release(&machine->side);
}

static size_t read_code(void *context, uint64_t address, uint8_t *bytes, size_t size)
{
	const struct process *process = context;

	return tracee_read(process->reader, address, bytes, size);
}

/* Processes and threads are numbered in order, unless they keep their own ids. */
static int32_t next_id(struct machine *machine, pid_t tid)
{
	return machine->options->as_is ? tid : ++machine->last_id;
}

struct process *machine_process(struct machine *machine, int32_t pid)
{
	struct process *process = machine->processes;

	while (process && process->pid != pid)
		process = process->next;
	if (process)
		return process;
	process = alloc_zeroed(1, sizeof(*process));
	process->pid = pid;
	process->id = next_id(machine, pid);
	code_init(&process->code, read_code, process);
	process->next = machine->processes;
	machine->processes = process;
	return process;
}

struct task *machine_add_task(struct machine *machine, pid_t tid, struct process *process)
{
	struct task *task = alloc_zeroed(1, sizeof(*task));

	task->tid = tid;
	task->id = tid == process->pid ? process->id : next_id(machine, tid);
	task->process = process;
	task->next = machine->tasks;
	machine->tasks = task;
	true_thread_init(&task->truth, &machine->truth.slices, process->id, task->id);
	return task;
}

struct clock_point machine_now(const struct machine *machine, const struct task *task)
{
	const struct cpu *cpu = &machine->cpus[task->last_cpu];

	return (struct clock_point){
		.tsc = cpu->task == task || cpu->tsc > task->tsc ? cpu->tsc : task->tsc,
		.pid = task->process->id,
		.tid = task->id,
		.cpu = task->last_cpu,
	};
}

static void pass(struct cpu *cpu, uint64_t ticks)
{
	cpu->tsc += ticks;
	if (cpu->task)
		pt_output_tick(&cpu->task->buffer->out, cpu->tsc);
}

/* Time passes for a task in the kernel, on a CPU or off it. */
static void spend(struct machine *machine, struct task *task, uint64_t ticks)
{
	struct cpu *cpu = &machine->cpus[task->last_cpu];

	if (cpu->task == task)
		pass(cpu, ticks);
	else
		task->tsc = machine_now(machine, task).tsc + ticks;
}

/* ---- Missing trace ---------------------------------------------------------- */

static void begin_missing(struct machine *machine, struct task *task, bool lost)
{
	const struct recorder_options *options = machine->options;
	struct clock_point now = machine_now(machine, task);
	struct buffer *buffer = task->buffer;

	if (lost)
		machine_interrupt(machine, task);
	buffer->lost = lost;
	buffer->missing = 1 + (unsigned)machine_random(machine, lost ? options->lose_length
								     : options->overflow_length);
	truth_branch(&machine->truth, &now, lost ? "lost" : "ovf", task->registers.rip, 0);
	if (!lost) {
		pt_output_overflow(&buffer->out);
		return;
	}
	side_band_aux(&machine->side, &now, buffer->reported,
		      pt_output_size(&buffer->out) - buffer->reported, PERF_AUX_FLAG_TRUNCATED);
	side_band_lost(&machine->side, &now, 1);
	buffer->reported = buffer->out.size;
	buffer->out.muted = true;
	machine_enter(machine, task);
}

/* `in_user`: at the next instruction; otherwise user code is entered later, or never. */
static void end_missing(struct machine *machine, struct task *task, bool in_user)
{
	struct clock_point now = machine_now(machine, task);
	struct buffer *buffer = task->buffer;
	uint64_t ip = in_user ? task->registers.rip : 0;

	if (!buffer->missing)
		return;
	buffer->missing = 0;
	buffer->out.muted = false;
	truth_branch(&machine->truth, &now, buffer->lost ? "lostend" : "ovfend", 0,
		     buffer->lost ? 0 : ip);
	if (!buffer->lost) {
		pt_output_recover(&buffer->out, now.tsc, ip);
		return;
	}
	side_band_trace_start(&machine->side, &now);
	pt_output_start(&buffer->out, now.tsc, buffer->out.ratio);
	if (!in_user)
		return;
	pt_output_enable(&buffer->out, now.tsc, ip);
	truth_branch(&machine->truth, &now, "resume", 0, ip);
}

/* ---- Scheduling -------------------------------------------------------------- */

static void stop_task(struct machine *machine, struct cpu *cpu)
{
	uint64_t flags = machine->options->snapshot_size ? PERF_AUX_FLAG_OVERWRITE : 0;
	struct task *task = cpu->task;
	struct clock_point now = machine_now(machine, task);
	struct buffer *buffer = task->buffer;

	end_missing(machine, task, false);
	pt_output_stop(&buffer->out);
	side_band_aux(&machine->side, &now, buffer->reported,
		      pt_output_size(&buffer->out) - buffer->reported, flags);
	buffer->reported = buffer->out.size;
	true_thread_leave_cpu(&task->truth);
	task->tsc = cpu->tsc;
	task->at_boundary = false;
	if (task->state == TASK_RUNNING)
		task->state = TASK_READY;
}

static struct buffer *buffer_for(struct machine *machine, struct cpu *cpu, struct task *task)
{
	struct buffer **own = machine->options->side.per_thread ? &task->buffer : &cpu->buffer;

	if (!*own) {
		*own = add_buffer(machine, task->process->id, task->id, cpu->number);
		(*own)->reference = cpu->tsc;
	}
	return *own;
}

static void start_task(struct machine *machine, struct cpu *cpu, struct task *task)
{
	static const unsigned ratios[] = { 25, 20, 32, 36 };
	struct clock_point now;

	task->state = TASK_RUNNING;
	cpu->quantum = machine->options->quantum;
	task->last_cpu = cpu->number;
	task->buffer = buffer_for(machine, cpu, task);
	now = machine_now(machine, task);
	side_band_trace_start(&machine->side, &now);
	pt_output_start(&task->buffer->out, cpu->tsc, ratios[machine_random(machine, 4)]);
}

void machine_switch(struct machine *machine, struct cpu *cpu, struct task *next)
{
	struct clock_point from = { cpu->tsc, 0, 0, cpu->number }, to = from;

	if (cpu->task) {
		/* It still is in user code if another thread ended it. */
		machine_interrupt(machine, cpu->task);
		from = machine_now(machine, cpu->task);
		stop_task(machine, cpu);
	}
	cpu->task = NULL;
	if (next && next->tsc > cpu->tsc)
		cpu->tsc = next->tsc;
	cpu->tsc += SWITCH_TICKS;
	from.tsc = to.tsc = cpu->tsc;
	if (next) {
		to.pid = next->process->id;
		to.tid = next->id;
	}
	side_band_switch(&machine->side, &from, &to);
	cpu->tsc += SWITCH_TICKS;
	cpu->task = next;
	if (next)
		start_task(machine, cpu, next);
}

/* ---- User code and the kernel -------------------------------------------- */

static struct true_step step_to(struct machine *machine, struct task *task, enum flow flow,
				uint64_t from, uint64_t to, uint64_t sp)
{
	struct clock_point now = machine_now(machine, task);
	uint64_t offset;
	struct true_step step = {
		.flow = flow,
		.time = side_band_time(now.tsc),
		.from = from,
		.to = to,
		.sp = sp,
		.bits32 = task_is_32_bit(task),
		.symbol = truth_symbol(&machine->truth, &task->process->maps, to, &offset),
	};

	step.entry = offset == 0;
	return step;
}

static void resume_stack(struct machine *machine, struct task *task)
{
	struct true_step step =
		step_to(machine, task, FLOW_NONE, 0, task->registers.rip, task->registers.rsp);

	if (task->handler)
		true_thread_handle(&task->truth, &step);
	else
		true_thread_resume(&task->truth, &step, task->sigreturn);
	task->handler = task->sigreturn = false;
}

void machine_enter(struct machine *machine, struct task *task)
{
	struct clock_point now = machine_now(machine, task);

	if (task->in_user)
		return;
	task->in_user = true;
	task->buffer->out.bits32 = task_is_32_bit(task);
	pt_output_enable(&task->buffer->out, now.tsc, task->registers.rip);
	truth_branch(&machine->truth, &now, "resume", 0, task->registers.rip);
	resume_stack(machine, task);
}

/*
 * Returns how long a system call sleeps, in ticks: the clock is synthetic, so the host's sleep does
 * not count.  A sleep up to a time (TIMER_ABSTIME) is by the host's clock: 0.
 */
static uint64_t sleep_ticks(const struct task *task)
{
	const struct user_regs_struct *now = &task->registers;
	bool plain = now->rax == SYS_nanosleep;
	struct timespec time;

	if (task_is_32_bit(task) || task->insn.flow != FLOW_SYSCALL ||
	    (!plain && (now->rax != SYS_clock_nanosleep || now->rsi)) ||
	    tracee_read(task->tid, plain ? now->rdi : now->rdx, (uint8_t *)&time, sizeof(time)) !=
		    sizeof(time))
		return 0;
	return ((uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec) * TICKS_OF_2_NS / 2;
}

#define SYSCALLS 1024

/*
 * Returns a system call's name by its register, or for a restarted call by the earlier register; it
 * is static.  INT $0x80 and 32-bit code use i386's numbers.
 */
static const char *name_call(const struct task *task)
{
	static char texts[2][SYSCALLS][48];
	const struct user_regs_struct *registers = &task->registers;
	long number = (long)((int32_t)registers->rax < 0 ? registers->orig_rax : registers->rax);
	bool old = task_is_32_bit(task) || task->insn.flow == FLOW_FAR;
	char name[SYSCALL_NAME_MAX];

	if (number < 0 || number >= SYSCALLS || !syscall_name((int32_t)number, old, name))
		return "[syscall]";
	snprintf(texts[old][number], sizeof(texts[old][number]), "[syscall: %s]", name);
	return texts[old][number];
}

void machine_leave(struct machine *machine, struct task *task)
{
	struct clock_point now = machine_now(machine, task);
	uint64_t ticks;

	task->in_user = false;
	pt_output_disable(&task->buffer->out, now.tsc);
	truth_branch(&machine->truth, &now, task->insn.flow == FLOW_FAR ? "far" : "syscall",
		     task->insn.ip, 0);
	task->truth.insns++;
	true_thread_leave(&task->truth, side_band_time(now.tsc), name_call(task));
	spend(machine, task, KERNEL_TICKS / 2 + machine_random(machine, KERNEL_TICKS));
	ticks = sleep_ticks(task);
	if (ticks)
		task->sleeps_until = machine_now(machine, task).tsc + ticks;
}

void machine_interrupt(struct machine *machine, struct task *task)
{
	struct clock_point now = machine_now(machine, task);

	if (!task->in_user)
		return;
	task->in_user = false;
	pt_output_interrupt(&task->buffer->out, now.tsc, task->registers.rip);
	truth_branch(&machine->truth, &now, "async", task->registers.rip, 0);
	true_thread_leave(&task->truth, side_band_time(now.tsc), "[untraced]");
	spend(machine, task, KERNEL_TICKS / 2 + machine_random(machine, KERNEL_TICKS));
}

static bool by_chance(uint64_t *state, unsigned every)
{
	return every && next_random(state, every) == 0;
}

/* Mostly a tick each; sometimes a memory stall. */
static uint64_t random_ticks(uint64_t *state)
{
	return next_random(state, 32) ? 1 : next_random(state, 64);
}

unsigned machine_undisturbed(const struct machine *machine, const struct task *task, unsigned limit)
{
	const struct recorder_options *options = machine->options;
	unsigned missing = task->buffer->missing, count;
	uint64_t state = machine->random;

	for (count = 1; count < limit; count++) {
		random_ticks(&state);
		if (missing == 1)
			break;
		if (missing)
			missing--;
		else if (by_chance(&state, options->interrupt_every) ||
			 by_chance(&state, options->overflow_every) ||
			 by_chance(&state, options->lose_every))
			break;
	}
	return count;
}

/* Returns whether the task touches a code page that its process has not yet mapped. */
static bool faults(struct task *task)
{
	uint64_t page = task->registers.rip >> 12;
	uint64_t *touched = &task->process->touched[page % PAGES_TOUCHED];

	if (*touched == page)
		return false;
	*touched = page;
	return true;
}

/*
 * The next instruction's data: a cache, in which each line has one place, is missed for as long as
 * by DDR4 memory, about 80 ns.  Returns whether it touches a page that is not yet mapped.
 */
static bool touches(struct machine *machine, struct task *task)
{
	uint64_t address, *line, *page;

	if (!machine->options->memory || !block_data(task, &address))
		return false;
	line = &task->process->lines[(address >> 6) % CACHE_LINES];
	page = &task->process->touched_data[(address >> 12) % DATA_PAGES];
	if (*line != address >> 6)
		pass(&machine->cpus[task->last_cpu], MISS_TICKS);
	*line = address >> 6;
	if (*page == address >> 12)
		return false;
	*page = address >> 12;
	return true;
}

void machine_boundary(struct machine *machine, struct task *task)
{
	const struct recorder_options *options = machine->options;
	struct buffer *buffer = task->buffer;

	if (buffer->missing > 1) {
		buffer->missing--;
		machine_enter(machine, task);
		return;
	}
	end_missing(machine, task, task->in_user);
	machine_enter(machine, task);
	if ((options->faults && faults(task)) || touches(machine, task) ||
	    by_chance(&machine->random, options->interrupt_every)) {
		machine_interrupt(machine, task);
		machine_enter(machine, task);
	}
	pt_output_boundary(&buffer->out, machine_now(machine, task).tsc, task->registers.rip);
	if (by_chance(&machine->random, options->overflow_every))
		begin_missing(machine, task, false);
	else if (by_chance(&machine->random, options->lose_every))
		begin_missing(machine, task, true);
}

/* ---- Instructions -------------------------------------------------------- */

static const char *const kind_names[] = {
	[FLOW_COND] = "jcc",
	[FLOW_JUMP] = "jmp",
	[FLOW_JUMP_INDIRECT] = "ijmp",
	[FLOW_CALL] = "call",
	[FLOW_CALL_INDIRECT] = "icall",
	[FLOW_RETURN] = "ret",
};

static void write_packets(struct task *task, uint64_t tsc, uint64_t to, bool taken)
{
	struct pt_output *out = &task->buffer->out;
	uint64_t next = task->insn.ip + task->insn.length;

	switch (task->insn.flow) {
	case FLOW_COND:
		pt_output_decision(out, tsc, taken);
		break;
	case FLOW_CALL:
		/* "call 1f; 1:" only reads the IP and has no return (SDM, RET compression). */
		if (to != next)
			pt_output_call(out, next);
		break;
	case FLOW_CALL_INDIRECT:
		pt_output_call(out, next);
		pt_output_target(out, tsc, to);
		break;
	case FLOW_JUMP_INDIRECT:
		pt_output_target(out, tsc, to);
		break;
	case FLOW_RETURN:
		pt_output_return(out, tsc, to);
		break;
	}
}

#define FLAG_CARRY 1 /* SDM volume 1, "EFLAGS Register" */

static void transfer(struct machine *machine, struct task *task, uint64_t to, uint64_t sp)
{
	const struct code_insn *insn = &task->insn;
	struct clock_point now = machine_now(machine, task);
	bool taken = to != insn->ip + insn->length ||
		     (insn->by_carry && task->registers.eflags & FLAG_CARRY);
	struct true_step step;

	write_packets(task, now.tsc, to, taken);
	if (insn->flow == FLOW_COND && !taken)
		return;
	truth_branch(&machine->truth, &now, kind_names[insn->flow], insn->ip, to);
	if (insn->flow == FLOW_CALL && !taken)
		return;
	step = step_to(machine, task, insn->flow, insn->ip, to, sp);
	true_thread_step(&task->truth, &step);
}

/* A jump to an unexpected address: recorded as an interrupt, and counted. */
static void surprise(struct machine *machine, struct task *task, uint64_t to, uint64_t sp)
{
	machine->oddities++;
	machine_interrupt(machine, task);
	task->registers.rip = to;
	task->registers.rsp = sp;
	machine_enter(machine, task);
}

void machine_executed(struct machine *machine, struct task *task, uint64_t to, uint64_t sp)
{
	const struct code_insn *insn = &task->insn;
	struct cpu *cpu = &machine->cpus[task->last_cpu];

	machine->instructions++;
	if (insn->flow != FLOW_NONE || to != insn->ip)
		task->truth.insns++; /* a rep repeats in place, and counts as one instruction */
	pass(cpu, random_ticks(&machine->random));
	if (insn->flow != FLOW_NONE)
		transfer(machine, task, to, sp);
	else if (to != insn->ip + insn->length && to != insn->ip) /* a rep repeats in place */
		surprise(machine, task, to, sp);
	else if (insn->sets_sp)
		true_thread_load_sp(&task->truth, task->registers.rsp);
}

void machine_forget_stack(struct machine *machine, struct task *task)
{
	true_thread_end(&task->truth, side_band_time(machine_now(machine, task).tsc));
}

/* ---- Mappings ------------------------------------------------------------ */

void machine_map(struct machine *machine, struct task *task, bool all)
{
	struct process *process = task->process;
	struct clock_point now = machine_now(machine, task);
	struct mappings before = process->maps;

	process->maps = (struct mappings){ 0 };
	mappings_read(&process->maps, task->tid);
	for (size_t i = 0; i < process->maps.count; i++) {
		if (all || !mappings_have(&before, &process->maps.maps[i]))
			side_band_mapped(&machine->side, &now, &process->maps.maps[i]);
	}
	mappings_release(&before);
	code_forget(&process->code);
	/*
	 * Decoders know times to an MTC period, so records must be clearly earlier than the code.
	 */
	spend(machine, task, KERNEL_TICKS);
}
