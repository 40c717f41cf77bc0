/* SPDX-License-Identifier: MIT */
#include "tests/ptsim/recorder.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/ptsim/block.h"

/*
 * A thread that has not stopped after this many looks, and does not run, waits in its system call.
 */
#define LOOKS 60

/* The kernel's results of a system call that a signal interrupted (linux/errno.h). */
enum { ERESTARTSYS = 512, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK = 516 };

static void read_comm(pid_t tid, char name[16])
{
	char path[64];
	FILE *file;

	name[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/comm", tid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(name, 16, file))
		name[strcspn(name, "\n")] = '\0';
	fclose(file);
}

/* Returns a number of /proc/TID/status, 0 if it is missing. */
static int32_t read_status(pid_t tid, const char *key)
{
	char path[64], line[256];
	int32_t value = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, key, strlen(key)) == 0)
			value = (int32_t)strtol(line + strlen(key), NULL, 10);
	}
	fclose(file);
	return value;
}

static void write_comm(struct machine *machine, struct task *task, bool exec)
{
	struct clock_point now = machine_now(machine, task);
	char name[16];

	read_comm(task->tid, name);
	side_band_comm(&machine->side, &now, name, exec);
}

/* ---- Changes of a task ------------------------------------------------------- */

static void copy_mappings(struct process *child, const struct process *parent)
{
	struct mappings *to = &child->maps;

	if (child == parent)
		return;
	mappings_release(to);
	mappings_read(to, child->pid);
}

static void add_child(struct machine *machine, struct task *parent, pid_t tid)
{
	struct clock_point now = machine_now(machine, parent);
	struct process *process = machine_process(machine, read_status(tid, "Tgid:"));
	struct task *child = machine_add_task(machine, tid, process);

	if (process != parent->process) {
		process->parent = parent->process->id;
		true_thread_copy(&child->truth, &parent->truth, side_band_time(now.tsc));
	}
	copy_mappings(process, parent->process);
	child->state = TASK_NEW;
	child->tsc = now.tsc;
	child->last_cpu = parent->last_cpu;
	side_band_fork(&machine->side, &now, process->id, child->id);
}

static void begin_program(struct machine *machine, struct task *task)
{
	if (!machine->options->as_is)
		tracee_set_random(task->tid);
	write_comm(machine, task, true);
	machine_forget_stack(machine, task);
	memset(task->process->touched, 0, sizeof(task->process->touched));
	machine_map(machine, task, true);
}

static void end_task(struct machine *machine, struct task *task)
{
	struct process *process = task->process;
	struct clock_point now;

	if (task->buffer && machine->cpus[task->last_cpu].task == task)
		machine_interrupt(machine, task);
	now = machine_now(machine, task);
	machine_forget_stack(machine, task);
	/* With repetition, it runs on after its end. */
	if (!machine->options->repeat_bytes)
		side_band_exit(&machine->side, &now,
			       process->parent ? process->parent : process->id);
	task->state = TASK_ENDED;
}

/* Returns the 64-bit number of the i386 call, if after_syscall() needs it (unistd_32.h). */
static long from_i386(long number)
{
	switch (number) {
	case 90:  /* mmap */
	case 192: /* mmap2 */
		return SYS_mmap;
	case 91:
		return SYS_munmap;
	case 163:
		return SYS_mremap;
	case 125:
		return SYS_mprotect;
	case 380:
		return SYS_pkey_mprotect;
	case 117: /* ipc: also shmat and shmdt */
	case 397:
	case 398:
		return SYS_shmat;
	case 172:
		return SYS_prctl;
	case 119: /* sigreturn */
	case 173:
		return SYS_rt_sigreturn;
	default:
		return -1;
	}
}

/* Memory and names change only in system calls. */
static void after_syscall(struct machine *machine, struct task *task, long number)
{
	switch (task_is_32_bit(task) ? from_i386(number) : number) {
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mremap:
	case SYS_mprotect:
	case SYS_pkey_mprotect:
	case SYS_shmat:
	case SYS_shmdt:
		machine_map(machine, task, false);
		break;
	case SYS_prctl:
		write_comm(machine, task, false);
		break;
	case SYS_rt_sigreturn:
		task->sigreturn = true;
		break;
	}
}

/* The call returns how many of the threads that wait for a futex it woke. */
static void write_wakings(struct machine *machine, const struct task *task,
			  const struct user_regs_struct *result)
{
	const struct user_regs_struct *call = &task->registers;
	struct clock_point now = machine_now(machine, task);
	int operation = (int)call->rsi & FUTEX_CMD_MASK;
	long woken = (long)result->rax;

	if (call->rax != SYS_futex || task_is_32_bit(task) ||
	    (operation != FUTEX_WAKE && operation != FUTEX_WAKE_BITSET))
		return;
	for (struct task *other = machine->tasks; other && woken > 0; other = other->next)
		if (other != task && other->state == TASK_WAITING &&
		    other->process == task->process && other->registers.rax == SYS_futex &&
		    other->registers.rdi == call->rdi) {
			side_band_waking(&machine->side, &now, other->id);
			woken--;
		}
}

static bool is_stop(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

static bool restarts(const struct user_regs_struct *registers)
{
	long result = (long)registers->rax;

	return (long)registers->orig_rax >= 0 &&
	       (result == -ERESTARTSYS || result == -ERESTARTNOINTR || result == -ERESTARTNOHAND ||
		result == -ERESTART_RESTARTBLOCK);
}

static bool left_user(const struct task *task)
{
	return task->insn.flow == FLOW_SYSCALL || task->insn.flow == FLOW_FAR;
}

/* At most this many instructions run by one step. */
#define LOST_TRAPS 8

/*
 * Returns how many instructions a step to `ip` executed before its last one, or -1 if it cannot
 * have come there.  A hypervisor may lose the trap after an instruction that it emulates: on AMD,
 * the step over cpuid executes the next instruction, too.
 */
static int lost_traps(struct task *task, uint64_t ip)
{
	struct code_insn insn = task->insn;

	for (int count = 0; count < LOST_TRAPS; count++) {
		uint64_t next = insn.ip + insn.length;

		if (insn.flow == FLOW_SYSCALL || insn.flow == FLOW_FAR)
			return -1;
		if (insn.flow != FLOW_NONE)
			return insn.target.kind != TARGET_DIRECT || ip == insn.target.value ||
					       (insn.flow == FLOW_COND && ip == next)
				       ? count
				       : -1;
		if (ip == next || ip == insn.ip) /* a rep repeats in place */
			return count;
		insn = block_insn(task, next);
	}
	return -1;
}

/* Record the instructions that a step executed, up to its last one. */
static void take_lost_traps(struct machine *machine, struct task *task,
			    const struct user_regs_struct *now)
{
	for (int left = lost_traps(task, now->rip); left > 0; left--) {
		uint64_t next = task->insn.ip + task->insn.length;

		machine_executed(machine, task, next, now->rsp);
		task->registers = *now;
		task->registers.rip = next;
		machine_boundary(machine, task);
		task->insn = block_insn(task, next);
	}
}

static void take_step(struct machine *machine, struct task *task, struct user_regs_struct *now)
{
	if (left_user(task)) {
		long number = (long)task->registers.rax;

		write_wakings(machine, task, now);
		task->registers = *now;
		after_syscall(machine, task, number);
		return;
	}
	take_lost_traps(machine, task, now);
	machine_executed(machine, task, now->rip, now->rsp);
	task->registers = *now;
}

static void take_signal(struct machine *machine, struct task *task,
			const struct user_regs_struct *now, int signal)
{
	machine_interrupt(machine, task);
	task->registers = *now;
	task->signal = is_stop(signal) ? 0 : signal;
}

static struct tracee_stop poll_often(const struct machine *machine, const struct task *task,
				     unsigned looks, bool delivered)
{
	struct timespec moment = { .tv_nsec = 20000 };
	struct tracee_stop stop = tracee_poll(task->tid, false, delivered);

	for (unsigned i = 1; stop.event == TRACEE_RUNNING && !*machine->options->stop &&
			     (i < looks || tracee_runs(task->tid));
	     i++) {
		if (i < looks / 2)
			sched_yield();
		else
			nanosleep(&moment, NULL);
		stop = tracee_poll(task->tid, false, delivered);
	}
	return stop;
}

static bool take_stop(struct machine *machine, struct task *task, struct tracee_stop stop);

/*
 * Evaluate the last step; `looks`: how often to poll, 0: until the task stops.  Returns whether the
 * task is stopped and alive.
 */
static bool look(struct machine *machine, struct task *task, unsigned looks, bool delivered)
{
	if (looks)
		return take_stop(machine, task, poll_often(machine, task, looks, delivered));
	return take_stop(machine, task, tracee_poll(task->tid, true, delivered));
}

/* A thread of the task's process ran exec: the kernel ended the leader and took its tid. */
static void end_leader(struct machine *machine, struct task *leader)
{
	struct cpu *cpu = &machine->cpus[leader->last_cpu];

	leader->process->execed = true;
	end_task(machine, leader);
	if (cpu->task == leader)
		machine_switch(machine, cpu, NULL);
}

/*
 * The task's tid is gone.  If it ran exec, its thread now has the leader's tid (execve(2)), which
 * the task gets when it runs.  Returns whether it can run.
 */
static bool find_exec(struct machine *machine, struct task *task)
{
	struct process *process = task->process;
	struct task *leader = machine->tasks;

	while (leader && (leader->tid != process->pid || leader == task))
		leader = leader->next;
	if (leader && leader->state != TASK_ENDED)
		take_stop(machine, leader, tracee_poll(leader->tid, true, false));
	if (!process->execed) {
		end_task(machine, task);
		return false;
	}
	process->execed = false;
	task->becomes_leader = true;
	return true;
}

static bool take_stop(struct machine *machine, struct task *task, struct tracee_stop stop)
{
	struct user_regs_struct registers;

	switch (stop.event) {
	case TRACEE_RUNNING:
		task->state = TASK_WAITING;
		return false;
	case TRACEE_CLONED:
		add_child(machine, task, stop.child);
		tracee_step(task->tid, 0);
		return look(machine, task, LOOKS, false);
	case TRACEE_GONE:
		return find_exec(machine, task);
	case TRACEE_EXECED:
		if (stop.child != task->tid) {
			end_leader(machine, task);
			return false;
		}
		begin_program(machine, task);
		tracee_step(task->tid, 0);
		return look(machine, task, LOOKS, false);
	case TRACEE_ENDED:
		end_task(machine, task);
		return false;
	default:
		break;
	}
	if (!tracee_registers(task->tid, &registers)) {
		task->state = TASK_WAITING; /* killed: its end is reported later */
		return false;
	}
	if (stop.event == TRACEE_SIGNAL) {
		take_signal(machine, task, &registers, stop.signal);
	} else if (stop.event == TRACEE_HANDLER) {
		task->registers = registers;
		task->handler = true;
	} else {
		take_step(machine, task, &registers);
	}
	return true;
}

/* ---- Clocks -------------------------------------------------------------- */

static struct task *next_ready(struct machine *machine)
{
	struct task *best = NULL;

	for (struct task *task = machine->tasks; task; task = task->next) {
		if (task->state == TASK_READY && (!best || task->tsc < best->tsc))
			best = task;
	}
	return best;
}

/* Returns the TSC at which a CPU can run a task next; UINT64_MAX: all tasks wait. */
static uint64_t next_time(struct machine *machine, const struct cpu *cpu)
{
	const struct task *ready;

	if (cpu->task)
		return cpu->tsc;
	ready = next_ready(machine);
	return ready ? MAX(cpu->tsc, ready->tsc) : UINT64_MAX;
}

/* Returns whether a task sleeps that must wake before `tsc`: its thread has yet to end its sleep.
 */
static bool oversleeps(const struct machine *machine, uint64_t tsc)
{
	for (const struct task *task = machine->tasks; task; task = task->next)
		if (task->state == TASK_WAITING && task->sleeps_until && task->sleeps_until <= tsc)
			return true;
	return false;
}

/* Returns whether no task can run before a CPU's time. */
static bool is_first(struct machine *machine, const struct cpu *cpu)
{
	for (int i = 0; i < machine->options->side.cpus; i++)
		if (next_time(machine, &machine->cpus[i]) < cpu->tsc)
			return false;
	return !oversleeps(machine, cpu->tsc);
}

/* ---- One instruction ----------------------------------------------------- */

#define CPUID 0xa20f /* its code */

/* The thread gets the task's registers, and executes one instruction. */
static void step_thread(const struct machine *machine, struct task *task)
{
	if (task->moved)
		tracee_set_registers(task->tid, &task->registers);
	task->moved = false;
	tracee_step(task->tid, 0);
	if (!machine->options->lose_traps || (task->insn.word & 0xffff) != CPUID)
		return;
	tracee_poll(task->tid, true, false);
	tracee_step(task->tid, 0);
}

/* Returns whether the task can continue. */
static bool finish_step(struct machine *machine, struct task *task, bool delivered)
{
	bool kernel = left_user(task);
	bool stopped;

	if (kernel)
		task->state = TASK_WAITING;
	stopped = look(machine, task, kernel ? LOOKS : 0, delivered);
	if (stopped)
		task->state = TASK_RUNNING;
	return stopped;
}

/* The task's thread has run exec, and has the leader's tid. */
static bool become_leader(struct machine *machine, struct task *task)
{
	machine_forget_stack(machine, task);
	true_thread_release(&task->truth);
	task->becomes_leader = false;
	task->tid = task->process->pid;
	task->id = task->process->id;
	true_thread_init(&task->truth, &machine->truth.slices, task->id, task->id);
	begin_program(machine, task);
	tracee_step(task->tid, 0);
	return finish_step(machine, task, false);
}

/* The next stop shows whether the signal has a handler: otherwise an instruction has run. */
static bool deliver(struct machine *machine, struct task *task)
{
	struct tracee_stop stop;

	if (restarts(&task->registers))
		task->registers.rip -= 2; /* the length of syscall */
	task->insn = block_insn(task, task->registers.rip);
	tracee_step(task->tid, task->signal);
	task->signal = 0;
	stop = poll_often(machine, task, LOOKS, true);
	if (stop.event == TRACEE_HANDLER || stop.event == TRACEE_ENDED ||
	    stop.event == TRACEE_GONE || stop.event == TRACEE_SIGNAL)
		return take_stop(machine, task, stop);
	machine_boundary(machine, task);
	if (left_user(task)) {
		machine_leave(machine, task);
		task->state = TASK_WAITING;
	}
	if (!take_stop(machine, task, stop))
		return false;
	task->state = TASK_RUNNING;
	return true;
}

static bool ends_process(const struct task *task)
{
	return left_user(task) && (long)task->registers.rax == SYS_exit_group;
}

/*
 * Execute instructions, *count of them, at most `limit`.  A thread that stopped in a system call is
 * stepped, because the kernel may still change its registers.  Returns whether it can continue.
 */
static bool step(struct machine *machine, struct task *task, unsigned limit, unsigned *count)
{
	uint64_t before = machine->instructions;
	struct tracee_stop stop;
	bool runs;

	*count = 1;
	if (task->becomes_leader)
		return become_leader(machine, task);
	if (task->signal)
		return deliver(machine, task);
	if (!task->at_boundary)
		machine_boundary(machine, task);
	task->at_boundary = !is_first(machine, &machine->cpus[task->last_cpu]);
	if (task->at_boundary) { /* after an interrupt */
		*count = 0;
		return true;
	}
	task->insn = block_insn(task, task->registers.rip);
	if ((long)task->registers.orig_rax < 0 && !machine->options->single_step) {
		*count = block_run(machine, task, limit, &stop);
		if (*count)
			return stop.event == TRACEE_STEPPED || take_stop(machine, task, stop);
		*count = 1;
		if (block_branch(machine, task))
			return true;
	}
	if (left_user(task))
		machine_leave(machine, task);
	if (machine->options->code && ends_process(task))
		code_file_add(&machine->code, task->process->pid);
	step_thread(machine, task);
	if (task->sleeps_until) {
		task->state = TASK_WAITING;
		return false;
	}
	runs = finish_step(machine, task, false);
	/* More than one, if traps were lost; a system call does not count. */
	if (machine->instructions > before)
		*count = MIN((unsigned)(machine->instructions - before), limit);
	return runs;
}

/* ---- Scheduling -------------------------------------------------------------- */

/*
 * Limit of instructions that a CPU runs before the other CPUs run again. System calls and locked
 * instructions are executed in the exact order of the clocks; plain stores of one thread can be
 * seen by another one up to this many instructions early.
 */
#define STRIDE 32

/* A waiting task becomes ready: at the end of its sleep, or by the last system call. */
static void wake(struct machine *machine, struct task *task)
{
	uint64_t time = machine->latest;

	if (task->sleeps_until && !task->signal)
		time = task->sleeps_until;
	task->sleeps_until = 0;
	task->tsc = MAX(task->tsc, time);
	task->state = TASK_READY;
}

/* A thread that was woken may need a CPU, which other programs use, to come to its stop. */
static void look_at(struct machine *machine, struct task *task)
{
	struct tracee_stop stop = poll_often(machine, task, 1, false);

	if (stop.event == TRACEE_RUNNING)
		return;
	if (task->state == TASK_NEW && stop.event == TRACEE_SIGNAL) {
		tracee_registers(task->tid, &task->registers);
		wake(machine, task);
		if (!task->process->maps.count)
			mappings_read(&task->process->maps, task->tid);
		return;
	}
	if (take_stop(machine, task, stop))
		wake(machine, task);
}

/* Returns how many tasks have not ended. */
static unsigned look_at_waiting(struct machine *machine)
{
	unsigned alive = 0;

	for (struct task *task = machine->tasks; task; task = task->next) {
		if (task->state == TASK_NEW || task->state == TASK_WAITING)
			look_at(machine, task);
		alive += task->state != TASK_ENDED;
	}
	return alive;
}

/* Returns the CPU that runs next; NULL: all tasks wait. */
static struct cpu *next_cpu(struct machine *machine)
{
	struct cpu *best = NULL;

	for (int i = 0; i < machine->options->side.cpus; i++) {
		struct cpu *cpu = &machine->cpus[i];
		uint64_t at = next_time(machine, cpu);

		if (at != UINT64_MAX && (!best || at < next_time(machine, best)))
			best = cpu;
	}
	return best;
}

static bool enough(const struct machine *machine)
{
	return *machine->options->stop || (machine->options->instructions &&
					   machine->instructions >= machine->options->instructions);
}

/* Returns how many of `count` instructions may still run. */
static unsigned allowed(const struct machine *machine, unsigned count)
{
	uint64_t rest = machine->options->instructions - machine->instructions;

	return machine->options->instructions && rest < count ? (unsigned)rest : count;
}

/*
 * Run the CPU's task while the CPU's clock is the earliest, up to a system call, the end of its
 * quantum, or its own end.
 */
static void run_task(struct machine *machine, struct cpu *cpu)
{
	struct task *task = cpu->task, *ready;
	unsigned most = machine->options->side.cpus > 1 ? STRIDE : UINT_MAX, count;
	bool left = false;

	while (cpu->quantum && !left && !enough(machine) && is_first(machine, cpu)) {
		if (!step(machine, task, allowed(machine, MIN(cpu->quantum, most)), &count)) {
			machine->latest = cpu->tsc;
			machine_switch(machine, cpu, NULL);
			return;
		}
		cpu->quantum -= count;
		left = count && left_user(task);
	}
	machine->latest = cpu->tsc;
	if (cpu->quantum)
		return;
	cpu->quantum = machine->options->quantum;
	ready = next_ready(machine);
	if (ready && ready->tsc <= cpu->tsc) {
		machine_interrupt(machine, task);
		machine_switch(machine, cpu, NULL);
	}
}

static void run_all(struct machine *machine)
{
	struct timespec moment = { .tv_nsec = 100000 };

	while (look_at_waiting(machine) && !enough(machine)) {
		struct cpu *cpu = next_cpu(machine);

		if (!cpu || oversleeps(machine, next_time(machine, cpu))) {
			nanosleep(&moment, NULL);
			continue;
		}
		if (!cpu->task)
			machine_switch(machine, cpu, next_ready(machine));
		run_task(machine, cpu);
		if (machine->options->code && cpu->task)
			code_file_add(&machine->code, cpu->task->process->pid);
	}
}

/* Report the state of each task that has not ended. */
static void report_late(const struct machine *machine)
{
	fprintf(stderr, "ptsim: cannot record %s: it does not end within the time limit\n",
		machine->options->side.command[0]);
	for (const struct task *task = machine->tasks; task; task = task->next) {
		char name[16];

		if (task->state == TASK_ENDED)
			continue;
		read_comm(task->tid, name);
		fprintf(stderr, "ptsim: thread %d of %d (%s) %s at %#llx, system call %lld\n",
			task->tid, task->process->pid, name,
			task->state == TASK_WAITING || task->state == TASK_NEW ? "is waited for"
									       : "runs",
			task->registers.rip, task->registers.orig_rax);
	}
}

static void stop_all(struct machine *machine)
{
	for (int i = 0; i < machine->options->side.cpus; i++) {
		struct cpu *cpu = &machine->cpus[i];

		if (!cpu->task)
			continue;
		machine_interrupt(machine, cpu->task);
		machine_switch(machine, cpu, NULL);
	}
	for (struct task *task = machine->tasks; task; task = task->next) {
		if (task->state == TASK_ENDED)
			continue;
		if (machine->options->code && task->tid == task->process->pid)
			code_file_add(&machine->code, task->tid);
		kill(task->tid, SIGKILL);
		machine_forget_stack(machine, task);
	}
}

static void report(const struct machine *machine, double seconds)
{
	uint64_t bytes = 0;

	for (const struct buffer *buffer = machine->buffers; buffer; buffer = buffer->next)
		bytes += buffer->out.size;
	fprintf(stderr,
		"ptsim: %llu instructions, %llu branches, %llu bytes of trace, "
		"%.0f instructions a second",
		(unsigned long long)machine->instructions, (unsigned long long)machine->truth.count,
		(unsigned long long)bytes, (double)machine->instructions / seconds);
	if (machine->oddities)
		fprintf(stderr, ", %llu odd steps", (unsigned long long)machine->oddities);
	fputc('\n', stderr);
}

static double seconds_since(const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

int recorder_run(const struct recorder_options *options)
{
	struct machine machine;
	struct timespec begin;
	struct task *task;
	int status = -1;
	pid_t pid;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	if (machine_init(&machine, options) != 0)
		return -1;
	if (options->code)
		code_file_begin(&machine.code, options->output);
	pid = tracee_start(options->side.command, options->as_is);
	if (pid > 0) {
		task = machine_add_task(&machine, pid, machine_process(&machine, pid));
		task->tsc = machine.cpus[0].tsc;
		tracee_registers(pid, &task->registers);
		begin_program(&machine, task);
		/* The exec's own system call ends with a step. */
		tracee_step(pid, 0);
		task->state = TASK_WAITING;
		task->insn.flow = FLOW_SYSCALL;
		run_all(&machine);
		if (*options->stop == SIGALRM)
			report_late(&machine);
		stop_all(&machine);
		status = machine_write(&machine);
		if (options->single_step && machine.oddities) {
			fprintf(stderr,
				"ptsim: cannot record %s by single steps: a step executed "
				"several instructions; leave out --single-step\n",
				options->side.command[0]);
			status = -1;
		}
		if (options->code) {
			code_file_retire(options->output, 0);
			code_file_end(&machine.code);
		}
		report(&machine, seconds_since(&begin));
	}
	machine_release(&machine);
	return status;
}
