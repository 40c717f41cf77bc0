/* SPDX-License-Identifier: MIT */
/* Makes the program of a filter of system calls, and enters it. */
#include "src/sandbox/call_filter.h"

#include <assert.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void add_instruction(struct call_filter *filter, struct sock_filter instruction)
{
	assert(filter->used < CALL_FILTER_MOST);
	filter->code[filter->used++] = instruction;
}

static void emit_instruction(struct call_filter *filter, uint16_t code, uint32_t operand)
{
	add_instruction(filter, (struct sock_filter)BPF_STMT(code, operand));
}

/* If the accumulator is not `value`, skip the next `skip` instructions. */
static void emit_unless_skip(struct call_filter *filter, uint32_t value, uint8_t skip)
{
	add_instruction(filter,
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip));
}

static void emit_load(struct call_filter *filter, size_t offset)
{
	emit_instruction(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

void call_filter_init(struct call_filter *filter)
{
	filter->used = 0;
	/* Refuse calls of other architectures, such as of 32 bits: their numbers differ. */
	emit_load(filter, offsetof(struct seccomp_data, arch));
	emit_unless_skip(filter, AUDIT_ARCH_X86_64, 1);
	/* For another architecture its constant stays loaded, which is no number of a call. */
	emit_load(filter, offsetof(struct seccomp_data, nr));
}

void call_filter_allow(struct call_filter *filter, const uint16_t *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		emit_unless_skip(filter, calls[i], 1);
		emit_instruction(filter, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
}

static void allow_if(struct call_filter *filter, const struct call_condition *condition)
{
	emit_unless_skip(filter, condition->call, 5);
	emit_load(filter,
		  offsetof(struct seccomp_data, args) + condition->argument * sizeof(uint64_t));
	emit_instruction(filter, BPF_ALU | BPF_AND | BPF_K, condition->mask);
	emit_unless_skip(filter, condition->value, 1);
	emit_instruction(filter, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	emit_load(filter, offsetof(struct seccomp_data, nr));
}

void call_filter_allow_if(struct call_filter *filter, const struct call_condition *conditions,
			  size_t count)
{
	for (size_t i = 0; i < count; i++)
		allow_if(filter, &conditions[i]);
}

const char *call_filter_enter(struct call_filter *filter)
{
	struct sock_fprog program = { .filter = filter->code };

	emit_instruction(filter, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
	program.len = filter->used;
	/* SPEC_ALLOW keeps speculation on, for speed; before Linux 4.17 the flag is unknown. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	    (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
		     &program) == 0 ||
	     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0))
		return NULL;
	return "the system has no filters of system calls";
}
