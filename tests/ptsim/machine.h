/* SPDX-License-Identifier: MIT */
/*
 * The simulated machine: CPUs, their tasks, and the trace buffers.
 *
 * Each function is an action of a task, for which it writes packets, side band and truth together,
 * so that the three agree.
 */
#pragma once

#include "src/record/record.h"
#include "tests/ptsim/code.h"
#include "tests/ptsim/recorder.h"
#include "tests/ptsim/tracee.h"
#include "tests/ptsim/truth.h"

#define PAGES_TOUCHED 256
#define DATA_PAGES    4096
#define CACHE_LINES   512 /* of 64 bytes */

/* A process: the data that its threads share. */
struct process {
	struct process *next;
	int32_t pid, id, parent; /* id, parent: as recorded */
	struct code code;
	struct mappings maps;
	pid_t reader;                      /* the stopped thread whose memory is read */
	uint64_t touched[PAGES_TOUCHED];   /* by number: mapped code pages */
	uint64_t touched_data[DATA_PAGES]; /* the same of pages of data */
	uint64_t lines[CACHE_LINES];       /* by number: the data in the cache */
	bool execed;                       /* by a thread, which now has the leader's tid */
};

/* A trace buffer of a CPU, or with options.side.per_thread of a task. */
struct buffer {
	struct buffer *next;
	struct pt_output out;
	int32_t pid, tid;
	int cpu;
	unsigned queue;
	uint64_t reported;  /* bytes that AUX records cover */
	uint64_t reference; /* TSC when it was first used */
	unsigned missing;   /* instructions still to be lost; 0: no loss */
	bool lost;          /* lost by a full buffer, not by an overflow */
};

enum task_state {
	TASK_NEW,     /* created, before its first instruction */
	TASK_READY,   /* waits for a CPU */
	TASK_RUNNING, /* on a CPU */
	TASK_WAITING, /* in the kernel */
	TASK_ENDED,
};

struct task {
	struct task *next;
	struct process *process;
	pid_t tid;
	int32_t id; /* of the thread, as recorded */
	enum task_state state;
	uint64_t tsc;          /* when it last stopped running, or can run again */
	uint64_t sleeps_until; /* TSC: end of the sleep of its system call; 0: not a sleep */
	int last_cpu;
	struct user_regs_struct registers;
	bool moved;              /* the thread does not have these registers yet */
	bool at_boundary;        /* machine_boundary() was called for its next instruction */
	struct code_insn insn;   /* at registers.rip, executed by the step under way */
	bool in_user;            /* user code runs, according to the trace */
	bool handler, sigreturn; /* how user code is entered next */
	int signal;              /* to be delivered */
	bool becomes_leader;     /* by an exec, when it runs next */
	struct buffer *buffer;   /* borrowed; NULL: never ran */
	struct true_thread truth;
};

/* Returns whether the task runs 32-bit code, by its code segment (Linux: __USER32_CS). */
static inline bool task_is_32_bit(const struct task *task)
{
	return task->registers.cs == 0x23;
}

/* Returns the size of a return address. */
static inline unsigned task_word(const struct task *task)
{
	return task_is_32_bit(task) ? 4 : 8;
}

struct cpu {
	int number;
	uint64_t tsc;
	unsigned quantum;      /* instructions left for its task */
	struct task *task;     /* NULL: idle */
	struct buffer *buffer; /* borrowed; NULL with per_thread */
};

#define MACHINE_CPUS PERF_DATA_IDS

struct machine {
	const struct recorder_options *options;
	struct side_band side;
	struct code_file_writer code; /* if options->code */
	struct truth truth;
	struct cpu cpus[MACHINE_CPUS];
	struct task *tasks;        /* owned, ended ones too */
	struct process *processes; /* owned */
	struct buffer *buffers;    /* owned */
	unsigned buffer_count;
	int32_t last_id;
	uint64_t random;
	uint64_t
		latest; /* TSC at the end of the last system call: when threads wake that it woke */
	uint64_t instructions, oddities;
};

/* Returns 0, or -1 after a message on stderr. */
int machine_init(struct machine *machine, const struct recorder_options *options);

/* Write the recording and the truth.  Returns 0, or -1 after a message on stderr. */
int machine_write(struct machine *machine);
void machine_release(struct machine *machine);

/* Returns a random number below `limit`. */
uint64_t machine_random(struct machine *machine, uint64_t limit);

struct process *machine_process(struct machine *machine, int32_t pid);
struct task *machine_add_task(struct machine *machine, pid_t tid, struct process *process);

/* A task's CPU and time, for the side band and the truth. */
struct clock_point machine_now(const struct machine *machine, const struct task *task);

void machine_switch(struct machine *machine, struct cpu *cpu, struct task *next);

/* User code resumes at the task's registers, unless it is running already. */
void machine_enter(struct machine *machine, struct task *task);

/* User code is left by its instruction or between two instructions. */
void machine_leave(struct machine *machine, struct task *task);
void machine_interrupt(struct machine *machine, struct task *task);

/* Called before an instruction in user code: random events. */
void machine_boundary(struct machine *machine, struct task *task);

/*
 * Returns how many instructions, 1 to `limit`, run before the next boundary with a random event,
 * after the first one's boundary.
 */
unsigned machine_undisturbed(const struct machine *machine, const struct task *task,
			     unsigned limit);

/* The task's instruction was executed; the task is now at `to`, with the stack pointer at `sp`. */
void machine_executed(struct machine *machine, struct task *task, uint64_t to, uint64_t sp);

/* The task ended, or an exec dropped its stack. */
void machine_forget_stack(struct machine *machine, struct task *task);

/* Record new mappings; `all`: all are new. */
void machine_map(struct machine *machine, struct task *task, bool all);
