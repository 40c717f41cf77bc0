/* SPDX-License-Identifier: MIT */
/* Straight code by breakpoints, and branches from the registers. */
#include "tests/ptsim/block.h"

#include <sys/mman.h>

/* Most instructions that run at once. */
#define BLOCK_MAX 64

/* SDM volume 1, "EFLAGS Register". */
enum { FLAG_CARRY = 1, FLAG_PARITY = 4, FLAG_ZERO = 0x40, FLAG_SIGN = 0x80, FLAG_OVERFLOW = 0x800 };

/* The program may change its writable memory unnoticed. */
static bool is_kept(const struct task *task, uint64_t ip)
{
	const struct mapping *map = mappings_find(&task->process->maps, ip);

	return map && !(map->prot & PROT_WRITE);
}

struct code_insn block_insn(struct task *task, uint64_t ip)
{
	struct process *process = task->process;

	/* Any other thread of the process, even the leader, may have ended. */
	process->reader = task->tid;
	code_set_mode(&process->code, task_is_32_bit(task));
	return code_at(&process->code, ip, is_kept(task, ip));
}

/* ---- Straight code ------------------------------------------------------- */

/*
 * Read the instructions that follow task->insn without a branch, and the one after them.  Returns
 * their count, at most `limit`.
 */
static unsigned read_block(struct task *task, unsigned limit, struct code_insn *insns)
{
	unsigned count = 0;

	insns[0] = task->insn;
	while (count < limit && insns[count].length && insns[count].straight &&
	       is_kept(task, insns[count].ip)) {
		const struct code_insn *last = &insns[count++];

		insns[count] = block_insn(task, last->ip + last->length);
	}
	return count;
}

/* Add instructions to the recording until one begins at `end`. */
static unsigned record_block(struct machine *machine, struct task *task,
			     const struct code_insn *insns, unsigned count, uint64_t end)
{
	unsigned i;

	for (i = 0; i < count && insns[i].ip != end; i++) {
		task->insn = insns[i];
		task->registers.rip = insns[i].ip;
		if (i)
			machine_boundary(machine, task);
		machine_executed(machine, task, insns[i].ip + insns[i].length, task->registers.rsp);
	}
	return i;
}

unsigned block_run(struct machine *machine, struct task *task, unsigned limit,
		   struct tracee_stop *stop)
{
	struct code_insn insns[BLOCK_MAX + 1];
	unsigned count = read_block(task, limit < BLOCK_MAX ? limit : BLOCK_MAX, insns), executed;
	struct user_regs_struct now;
	uint64_t end;

	if (!count)
		return 0;
	count = machine_undisturbed(machine, task, count);
	end = insns[count].ip;
	if (task->moved && !tracee_set_registers(task->tid, &task->registers))
		return 0;
	task->moved = false;
	if (!tracee_run_to(task->tid, end,
			   insns[count].has_word && is_kept(task, end) ? &insns[count].word : NULL,
			   stop))
		return 0;
	if (stop->event == TRACEE_ENDED || stop->event == TRACEE_EXECED)
		return count;
	if (!tracee_registers(task->tid, &now)) {
		stop->event = TRACEE_RUNNING; /* killed: its end is reported later */
		return count;
	}
	if (stop->event == TRACEE_STEPPED && now.rip == end + 1) {
		now.rip = end;
		task->moved = true;
	}
	executed = record_block(machine, task, insns, count, now.rip);
	task->registers = now;
	if (stop->event != TRACEE_STEPPED && executed)
		machine_boundary(machine, task);
	return executed ? executed : 1;
}

/* ---- Branches ------------------------------------------------------------ */

static bool is_set(unsigned long long flags, unsigned mask)
{
	return (flags & mask) != 0;
}

/* SDM volume 2, "Jcc": the low bit of the opcode negates. */
static bool holds(int8_t condition, unsigned long long flags)
{
	bool less = is_set(flags, FLAG_SIGN) != is_set(flags, FLAG_OVERFLOW);
	bool result = false;

	switch (condition >> 1) {
	case 0:
		result = is_set(flags, FLAG_OVERFLOW);
		break;
	case 1:
		result = is_set(flags, FLAG_CARRY);
		break;
	case 2:
		result = is_set(flags, FLAG_ZERO);
		break;
	case 3:
		result = is_set(flags, FLAG_CARRY | FLAG_ZERO);
		break;
	case 4:
		result = is_set(flags, FLAG_SIGN);
		break;
	case 5:
		result = is_set(flags, FLAG_PARITY);
		break;
	case 6:
		result = less;
		break;
	case 7:
		result = less || is_set(flags, FLAG_ZERO);
		break;
	}
	return result != (condition & 1);
}

static uint64_t register_value(const struct user_regs_struct *registers, int8_t number)
{
	const unsigned long long values[] = {
		registers->rax, registers->rcx, registers->rdx, registers->rbx,
		registers->rsp, registers->rbp, registers->rsi, registers->rdi,
		registers->r8,  registers->r9,  registers->r10, registers->r11,
		registers->r12, registers->r13, registers->r14, registers->r15,
	};

	return number < 0 ? 0 : values[number];
}

/* Returns an address in the task's mode. */
static uint64_t in_mode(const struct task *task, uint64_t address)
{
	return task_is_32_bit(task) ? (uint32_t)address : address;
}

static bool read_word(const struct task *task, uint64_t address, uint64_t *word)
{
	*word = 0;
	return tracee_read_word(task->tid, in_mode(task, address), word, task_word(task));
}

static uint64_t memory_address(const struct user_regs_struct *registers,
			       const struct code_target *target)
{
	return target->value + register_value(registers, target->base) +
	       register_value(registers, target->index) * target->scale;
}

/* Returns false if the target is unknown. */
static bool find_target(const struct task *task, uint64_t *to)
{
	const struct user_regs_struct *registers = &task->registers;
	const struct code_target *target = &task->insn.target;

	switch (target->kind) {
	case TARGET_DIRECT:
		*to = target->value;
		return true;
	case TARGET_REGISTER:
		*to = register_value(registers, target->base);
		return true;
	case TARGET_MEMORY:
		return read_word(task, memory_address(registers, target), to);
	case TARGET_STACK:
		return read_word(task, registers->rsp, to);
	}
	return false;
}

bool block_data(struct task *task, uint64_t *address)
{
	struct code_insn insn = block_insn(task, task->registers.rip);

	*address = memory_address(&task->registers, &insn.data);
	return insn.data.kind == TARGET_MEMORY;
}

bool block_branch(struct machine *machine, struct task *task)
{
	uint64_t next = task->insn.ip + task->insn.length, sp = task->registers.rsp, to;
	unsigned word = task_word(task);

	if (!find_target(task, &to))
		return false;
	to = in_mode(task, to);
	switch (task->insn.flow) {
	case FLOW_COND:
		if (task->insn.condition < 0)
			return false;
		if (!holds(task->insn.condition, task->registers.eflags))
			to = next;
		break;
	case FLOW_CALL:
	case FLOW_CALL_INDIRECT:
		sp -= word;
		if (!tracee_write_word(task->tid, sp, next, word))
			return false;
		break;
	case FLOW_RETURN:
		sp += word;
		break;
	}
	machine_executed(machine, task, to, sp);
	task->registers.rip = to;
	task->registers.rsp = sp;
	task->moved = true;
	return true;
}
