/* SPDX-License-Identifier: MIT */
/*
 * Executes a traced program faster than by single steps, with the same recording.
 *
 * A step costs two context switches and a debug exception.  So code without branches runs to a
 * breakpoint at its end, and is added to the recording afterwards; the branch there is computed
 * from the registers.
 *
 * This executes 230,000 instructions a second, five times as many as by steps (a static program of
 * 56,108 instructions and 7,516 branches).  Thus there are some 30,000 breakpoints a second, of the
 * 35,000 stops that ptrace(2) makes of a program that does nothing else, and the kernel takes nine
 * tenths of the time: only fewer stops are faster.  PTRACE_SINGLEBLOCK stops as often, at each
 * branch, and in a virtual machine without BTF (SDM: IA32_DEBUGCTL) at each instruction: a loop
 * took 480,606 stops by either request.
 */
#pragma once

#include "tests/ptsim/machine.h"

/* Returns the instruction at an address, of length 0 if there is none. */
struct code_insn block_insn(struct task *task, uint64_t ip);

/*
 * Execute up to `limit` branch-free instructions after the first one's boundary.  Returns their
 * count, 0 if they must be stepped.  Unless *stop is TRACEE_STEPPED the program stopped for another
 * reason: `task` is where it did, after the boundary of the next instruction.
 */
unsigned block_run(struct machine *machine, struct task *task, unsigned limit,
		   struct tracee_stop *stop);

/*
 * Execute the branch task->insn in the task's registers, which the thread gets when it runs next.
 * Returns false if it must be stepped.
 */
bool block_branch(struct machine *machine, struct task *task);

/* Returns whether the next instruction reads or writes data at an address that is known. */
bool block_data(struct task *task, uint64_t *address);
