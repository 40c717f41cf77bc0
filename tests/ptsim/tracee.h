/* SPDX-License-Identifier: MIT */
/*
 * A traced thread, one instruction at a time, by ptrace(2).
 *
 * Every call acts on one stopped thread, or reports why it is not stopped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

enum tracee_event {
	TRACEE_RUNNING, /* not stopped: waits in the kernel */
	TRACEE_STEPPED, /* one instruction was executed */
	TRACEE_HANDLER, /* a signal handler was entered, nothing executed */
	TRACEE_SIGNAL,  /* a signal is to be delivered, nothing executed */
	TRACEE_CLONED,  /* before the delivery of a signal, nothing executed */
	TRACEE_EXECED,  /* it created another task and is still in its system call */
	TRACEE_ENDED,
	TRACEE_GONE, /* no such thread: its exec made it the leader */
};

struct tracee_stop {
	enum tracee_event event;
	int signal;  /* TRACEE_SIGNAL */
	pid_t child; /* TRACEE_CLONED: the new task; TRACEE_EXECED: its former tid */
};

/*
 * Start the program, and stop it after its exec.  Unless `as_is`, its environment is always the
 * same, and so are its addresses if personality(2) is allowed.  Returns its pid, -1 if it cannot
 * run.
 */
pid_t tracee_start(char *const *command, bool as_is);

/* After an exec: replace the kernel's random bytes for the program (AT_RANDOM) by known ones. */
void tracee_set_random(pid_t tid);

/* Execute one instruction, after delivering `signal` unless it is 0. */
void tracee_step(pid_t tid, int signal);

/*
 * Returns the thread's event.  Without `wait` it may be TRACEE_RUNNING; with it too, if a signal
 * interrupts the wait for a dead leader: the kernel reports a leader only after all other threads
 * were waited for, so that a wait for the leader alone would never end.  `delivered`: the last step
 * delivered a signal.
 */
struct tracee_stop tracee_poll(pid_t tid, bool wait, bool delivered);

/*
 * Let it run to a breakpoint at `address`, where an instruction begins that it is sure to reach,
 * and wait until it stops.  `known` is the code there; NULL: not known.  Returns false, with
 * nothing executed, if none can be set there; *stop is TRACEE_STEPPED at the breakpoint, with rip
 * at `address` + 1.
 */
bool tracee_run_to(pid_t tid, uint64_t address, const long *known, struct tracee_stop *stop);

/* Returns whether a thread that has not stopped uses a CPU or waits for one. */
bool tracee_runs(pid_t tid);

/* Read the registers of a stopped thread; false if it is gone. */
bool tracee_registers(pid_t tid, struct user_regs_struct *registers);
bool tracee_set_registers(pid_t tid, const struct user_regs_struct *registers);

/* Returns how many of `size` bytes at the address were read. */
size_t tracee_read(pid_t tid, uint64_t address, uint8_t *bytes, size_t size);

/* Read or write `size` bytes of data, at most 8; false if impossible. */
bool tracee_read_word(pid_t tid, uint64_t address, uint64_t *word, size_t size);
bool tracee_write_word(pid_t tid, uint64_t address, uint64_t word, size_t size);
