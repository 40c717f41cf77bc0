/* SPDX-License-Identifier: MIT */
#include "tests/ptsys/guest.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "symbols/symbol.h"
#include "tests/ptsys/guest_files.h"

#define FIRST_TSC  UINT64_C(50000000000)
#define HALT_TICKS 5000
/* As in the guest's kernel.c. */
#define TRAMPOLINE      UINT64_C(0xfffffe0000006000)
#define TRAMPOLINE_SIZE 4096
/* perf_event_text_poke() passes the bytes in two registers. */
#define POKE_MAX 8

static uint64_t random_below(struct guest *guest, uint64_t limit)
{
	uint64_t x = guest->random; /* xorshift64*, Vigna */

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	guest->random = x;
	return (x * UINT64_C(0x2545f4914f6cdd1d) >> 16) % limit;
}

static struct clock_point moment_of(const struct guest *guest)
{
	return (struct clock_point){ .tsc = guest->tsc, .pid = guest->tid, .tid = guest->tid };
}

static uint64_t now(const struct guest *guest)
{
	return side_band_time(guest->tsc);
}

static size_t read_code(void *context, uint64_t address, uint8_t *bytes, size_t size)
{
	const struct guest *guest = context;
	const struct mapping *map = mappings_find(&guest->mappings, address);
	size_t count;

	if (!map)
		return 0;
	count = map->end - address < size ? map->end - address : size;
	if (map == &guest->maps[MAP_USER])
		memcpy(bytes, guest->user.bytes + map->offset + (address - map->begin), count);
	else
		memcpy(bytes,
		       guest->memory + (map->offset - guest->maps[MAP_KERNEL].offset) +
			       (address - map->begin),
		       count);
	return count;
}

static const struct symbol *symbol_at(struct guest *guest, uint64_t ip, bool *entry)
{
	uint64_t offset;
	const struct symbol *symbol = truth_symbol(&guest->truth, &guest->mappings, ip, &offset);

	*entry = offset == 0;
	return symbol;
}

static struct guest_stack *stack_of(struct guest *guest)
{
	return &guest->stacks[guest->tid % 1000 % GUEST_TASKS];
}

static struct guest_frame frame_at(struct guest *guest, uint64_t ip, uint64_t sp, bool entry)
{
	bool start;

	return (struct guest_frame){ .sp = sp,
				     .begin = now(guest),
				     .symbol = symbol_at(guest, ip, &start),
				     .entry = entry };
}

static void push(struct guest *guest, uint64_t ip, uint64_t sp, bool entry)
{
	struct guest_frame frame = frame_at(guest, ip, sp, entry);

	guest_stack_push(stack_of(guest), &frame);
}

/* A function that ran before the trace: its start and instruction count are unknown. */
static void push_older(struct guest *guest, uint64_t ip, uint64_t sp, bool entry)
{
	struct guest_frame frame = frame_at(guest, ip, sp, entry);

	frame.hidden = true;
	guest_stack_push(stack_of(guest), &frame);
}

/* ---- Branches ------------------------------------------------------------ */

static const char *kind_of(struct guest *guest, const struct code_insn *insn)
{
	static const char *const names[] = {
		[FLOW_COND] = "jcc",
		[FLOW_JUMP] = "jmp",
		[FLOW_JUMP_INDIRECT] = "ijmp",
		[FLOW_CALL] = "call",
		[FLOW_CALL_INDIRECT] = "icall",
		[FLOW_RETURN] = "ret",
		[FLOW_SYSCALL] = "syscall",
	};
	uint8_t bytes[3] = { 0 };

	if (insn->flow != FLOW_FAR)
		return names[insn->flow];
	read_code(guest, insn->ip, bytes, sizeof(bytes));
	if (bytes[0] == 0xcc)
		return "int";
	return bytes[1] == 0x0f ? "sysret" : "iret";
}

static void write_packets(struct guest *guest, const struct code_insn *insn, uint64_t to)
{
	uint64_t next = insn->ip + insn->length;

	switch (insn->flow) {
	case FLOW_COND:
		pt_output_decision(&guest->out, guest->tsc, to != next);
		break;
	case FLOW_CALL:
		if (to != next)
			pt_output_call(&guest->out, next);
		break;
	case FLOW_CALL_INDIRECT:
		pt_output_call(&guest->out, next);
		pt_output_target(&guest->out, guest->tsc, to);
		break;
	case FLOW_JUMP:
		break;
	case FLOW_RETURN:
		pt_output_return(&guest->out, guest->tsc, to);
		break;
	default:
		pt_output_target(&guest->out, guest->tsc, to);
		break;
	}
}

static void jump(struct guest *guest, uint64_t to, uint64_t sp)
{
	struct guest_stack *stack = stack_of(guest);
	bool entry;
	const struct symbol *symbol = symbol_at(guest, to, &entry);

	/* The stack pointer already belongs to the next thread. */
	if (to == guest->places[PLACE_SWITCH])
		sp = stack->frames[stack->count - 1].sp;
	if (to == guest->places[PLACE_FORK])
		push(guest, to, sp, true);
	else if (entry)
		guest_stack_jump(stack, now(guest), sp, symbol);
}

static void move_stack(struct guest *guest, const struct code_insn *insn,
		       const struct cpu_state *state)
{
	struct guest_stack *stack = stack_of(guest);
	uint64_t to = state->ip;

	switch (insn->flow) {
	case FLOW_CALL:
	case FLOW_CALL_INDIRECT:
		push(guest, to, state->sp, false);
		break;
	case FLOW_RETURN:
		guest_stack_return(stack, now(guest), state->sp);
		jump(guest, to, state->sp);
		break;
	case FLOW_SYSCALL:
		push(guest, to, state->sp, true);
		break;
	case FLOW_FAR:
		if (strcmp(kind_of(guest, insn), "int") == 0)
			push(guest, to, state->sp, true);
		else
			guest_stack_leave(stack, now(guest));
		break;
	default:
		jump(guest, to, state->sp);
		break;
	}
}

static void transfer(struct guest *guest, const struct code_insn *insn,
		     const struct cpu_state *state)
{
	struct clock_point moment = moment_of(guest);
	bool taken = state->ip != insn->ip + insn->length;

	write_packets(guest, insn, state->ip);
	if (insn->flow == FLOW_COND && !taken)
		return;
	truth_branch(&guest->truth, &moment, kind_of(guest, insn), insn->ip, state->ip);
	if (insn->flow != FLOW_CALL || taken)
		move_stack(guest, insn, state);
}

/* The pending instruction was executed; `state` is the CPU's state after it. */
static void executed(struct guest *guest, const struct cpu_state *state)
{
	struct code_insn insn = code_at(&guest->code, guest->state.ip, true);
	uint8_t opcode = 0;

	guest->pending = false;
	guest->insns++;
	if (insn.flow != FLOW_NONE || state->ip != insn.ip)
		stack_of(guest)->insns++; /* a rep repeats in place */
	read_code(guest, insn.ip, &opcode, 1);
	guest->tsc += random_below(guest, 32) ? 1 : random_below(guest, 64);
	if (opcode == 0xf4) {
		pt_output_sleep(&guest->out, guest->tsc, HALT_TICKS);
		guest->tsc += HALT_TICKS;
	}
	pt_output_tick(&guest->out, guest->tsc);
	if (insn.flow != FLOW_NONE)
		transfer(guest, &insn, state);
}

static void vector(struct guest *guest, const struct cpu_state *state)
{
	struct clock_point moment = moment_of(guest);

	guest->vector = false;
	guest->vectors++;
	pt_output_vector(&guest->out, guest->tsc, guest->ip, state->ip);
	truth_branch(&guest->truth, &moment, "hwint", guest->ip, state->ip);
	push(guest, state->ip, state->sp, true);
}

/* ---- Hooks --------------------------------------------------------------- */

static void start(struct guest *guest, const struct cpu_state *state)
{
	struct clock_point moment = moment_of(guest);

	guest->traced = true;
	guest->out.cr3 = state->cr3;
	side_band_trace_start(&guest->side, &moment);
	pt_output_start(&guest->out, guest->tsc, PT_MAX_NONTURBO_RATIO);
	pt_output_enable(&guest->out, guest->tsc, state->ip);
	truth_branch(&guest->truth, &moment, "resume", 0, state->ip);
	push_older(guest, guest->places[PLACE_KERNEL], UINT64_MAX, false);
	push_older(guest, state->ip, state->sp, false);
}

static void stop(struct guest *guest)
{
	struct clock_point moment = moment_of(guest);

	guest->traced = guest->pending = false;
	pt_output_stop(&guest->out);
	side_band_aux(&guest->side, &moment, 0, pt_output_size(&guest->out), 0);
	for (size_t i = 0; i < GUEST_TASKS; i++)
		guest_stack_end(&guest->stacks[i], now(guest));
}

static void switch_out(struct guest *guest, const struct cpu_state *state)
{
	struct clock_point from = moment_of(guest);

	guest->next_tid = (int32_t)state->si;
	side_band_switched(&guest->side, &from, true, guest->next_tid, guest->next_tid);
}

static void switch_in(struct guest *guest, const struct cpu_state *state)
{
	struct clock_point to = moment_of(guest);

	side_band_switched(&guest->side, &to, false, (int32_t)state->di, (int32_t)state->di);
}

/*
 * From here, the next thread runs.  A new one leaves here as if it had entered, and returns to
 * ret_from_fork(), which begins then.
 */
static void switch_thread(struct guest *guest, const struct cpu_state *state)
{
	if (guest->exited)
		guest_stack_end(stack_of(guest), now(guest));
	guest->exited = false;
	guest->tid = guest->next_tid;
	guest->switches++;
	if (stack_of(guest)->count)
		return;
	push_older(guest, guest->maps[MAP_USER].begin, UINT64_MAX, false);
	push_older(guest, state->ip, state->sp, false);
}

static void poke(struct guest *guest, const struct cpu_state *state)
{
	struct clock_point moment = moment_of(guest);
	uint64_t size = state->si < POKE_MAX ? state->si : POKE_MAX;

	side_band_poke(&guest->side, &moment, state->di,
		       (struct poke_bytes){ .size = (uint16_t)size,
					    .old_bytes = &state->dx,
					    .new_bytes = &state->cx });
	memcpy(guest->memory + (state->di - guest->maps[MAP_KERNEL].begin), &state->cx, size);
	code_forget(&guest->code);
	guest->pokes++;
}

static void visit(struct guest *guest, const struct cpu_state *state)
{
	struct clock_point moment = moment_of(guest);
	unsigned place = 0;

	while (place < PLACES && guest->places[place] != state->ip)
		place++;
	switch (place) {
	case PLACE_STOP:
		stop(guest);
		break;
	case PLACE_SCHED_OUT:
		switch_out(guest, state);
		break;
	case PLACE_SCHED_IN:
		switch_in(guest, state);
		break;
	case PLACE_EXIT:
		side_band_exit(&guest->side, &moment, 0);
		guest->exited = true;
		break;
	case PLACE_POKE:
		if (guest->options->until_poke)
			stop(guest);
		else
			poke(guest, state);
		break;
	case PLACE_SWITCH:
		switch_thread(guest, state);
		break;
	}
}

/* ---- The log ------------------------------------------------------------- */

static void take_state(struct guest *guest, const struct cpu_state *state)
{
	if (!guest->traced) {
		if (state->ip == guest->places[PLACE_START])
			start(guest, state);
	} else if (guest->vector) {
		vector(guest, state);
	} else if (guest->pending) {
		executed(guest, state);
	}
	if (!guest->traced)
		return;
	if (state->cr3 != guest->out.cr3)
		pt_output_paging(&guest->out, guest->tsc, state->cr3);
	visit(guest, state);
	if (!guest->traced)
		return;
	pt_output_boundary(&guest->out, guest->tsc, state->ip);
	guest->state = *state;
	guest->pending = true;
}

static void take_vector(struct guest *guest, const struct qemu_log *log)
{
	struct cpu_state there = guest->state;

	if (!guest->traced || log->by_insn)
		return;
	there.ip = log->ip;
	there.sp = log->sp;
	/* A fault before the instruction, or an interrupt after it. */
	if (guest->pending && guest->state.ip != log->ip)
		executed(guest, &there);
	guest->pending = false;
	guest->vector = true;
	guest->ip = log->ip;
}

void guest_take(struct guest *guest, const struct qemu_log *log)
{
	if (log->event == LOG_STATE)
		take_state(guest, &log->state);
	else if (log->event == LOG_VECTOR)
		take_vector(guest, log);
	else if (log->event == LOG_STOPPED)
		guest->pending = false;
}

/* ---- Start and end ------------------------------------------------------- */

static void write_tasks(struct guest *guest)
{
	struct clock_point moment = moment_of(guest);

	for (int32_t tid = 1001; tid < 1000 + GUEST_TASKS - 1; tid++) {
		char name[16];

		moment.pid = moment.tid = tid;
		snprintf(name, sizeof(name), "guest-%d", tid - 1000);
		side_band_comm(&guest->side, &moment, name, false);
		side_band_mapped(&guest->side, &moment, &guest->maps[MAP_USER]);
	}
}

static void init_recording(struct guest *guest)
{
	guest->tsc = guest->begin = FIRST_TSC;
	guest->random = 88172645463325252;
	side_band_init(&guest->side, &guest->options->side);
	side_band_kernel(&guest->side, guest->maps[MAP_KERNEL].begin,
			 guest->maps[MAP_KERNEL].end - guest->maps[MAP_KERNEL].begin);
	side_band_trampoline(&guest->side, TRAMPOLINE, TRAMPOLINE_SIZE,
			     guest_address(&guest->kernel, "_entry_trampoline"));
	pt_output_init(&guest->out, &guest->options->side.pt);
	write_tasks(guest);
}

/* Its page belongs to the kernel's text, and has a second mapping at the entry of system calls. */
static void map_trampoline(struct guest *guest)
{
	const struct mapping *kernel = &guest->maps[MAP_KERNEL];
	uint64_t address = guest_address(&guest->kernel, "_entry_trampoline");

	guest->maps[MAP_TRAMPOLINE] = *kernel;
	guest->maps[MAP_TRAMPOLINE].begin = TRAMPOLINE;
	guest->maps[MAP_TRAMPOLINE].end = TRAMPOLINE + TRAMPOLINE_SIZE;
	guest->maps[MAP_TRAMPOLINE].offset += address - kernel->begin;
}

int guest_open(struct guest *guest, const struct guest_options *options)
{
	static const char *const names[PLACES] = {
		[PLACE_START] = "ptsys_trace_start",
		[PLACE_STOP] = "ptsys_trace_stop",
		[PLACE_SCHED_OUT] = "perf_event_task_sched_out",
		[PLACE_SCHED_IN] = "perf_event_task_sched_in",
		[PLACE_EXIT] = "perf_event_exit_task",
		[PLACE_POKE] = "perf_event_text_poke",
		[PLACE_SWITCH] = "__switch_to",
		[PLACE_FORK] = "ret_from_fork",
		[PLACE_KERNEL] = "start_kernel",
	};
	int32_t tids[GUEST_TASKS] = { 0, 1001, 1002, 1003, 1004 };

	*guest = (struct guest){ .options = options };
	if (guest_map(&guest->kernel, options->kernel, &guest->maps[MAP_KERNEL]) < 0 ||
	    guest_map(&guest->user, options->user, &guest->maps[MAP_USER]) < 0)
		return -1;
	map_trampoline(guest);
	guest->mappings = (struct mappings){ guest->maps, GUEST_MAPS, GUEST_MAPS };
	for (unsigned i = 0; i < PLACES; i++)
		guest->places[i] = guest_address(&guest->kernel, names[i]);
	guest->memory =
		alloc_zeroed(guest->maps[MAP_KERNEL].end - guest->maps[MAP_KERNEL].begin, 1);
	memcpy(guest->memory, guest->kernel.bytes + guest->maps[MAP_KERNEL].offset,
	       guest->maps[MAP_KERNEL].end - guest->maps[MAP_KERNEL].begin);
	code_init(&guest->code, read_code, guest);
	if (truth_open(&guest->truth, options->truth) < 0)
		return -1;
	for (unsigned i = 0; i < GUEST_TASKS; i++) {
		guest->stacks[i].slices = &guest->truth.slices;
		guest->stacks[i].tid = tids[i];
	}
	init_recording(guest);
	return 0;
}

int guest_write(struct guest *guest)
{
	struct clock_point moment = { .tid = -1 };

	side_band_buffer(&guest->side, &moment, 0, guest->out.bytes, 0, pt_output_size(&guest->out),
			 guest->begin);
	if (guest_write_kernel(&guest->kernel, guest->maps, guest->options->output) < 0 ||
	    side_band_write(&guest->side, guest_path(guest->options->output, "data")) != 0)
		return -1;
	return truth_close(&guest->truth);
}

void guest_release(struct guest *guest)
{
	for (unsigned i = 0; i < GUEST_TASKS; i++)
		guest_stack_release(&guest->stacks[i]);
	side_band_release(&guest->side);
	pt_output_release(&guest->out);
	code_release(&guest->code);
	free(guest->memory);
	elf_file_close(&guest->kernel);
	elf_file_close(&guest->user);
}
