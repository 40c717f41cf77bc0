/* SPDX-License-Identifier: MIT */
/*
 * The log of QEMU 7.2 to 10.0 for each instruction with -accel tcg,one-insn-per-tb=on, before 8.1
 * -singlestep, and -d exec,cpu,int,nochain (util/log.c, target/i386/cpu-dump.c, seg_helper.c).
 *
 * Unlike that version's plug-in interface, it has all registers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct cpu_state {
	uint64_t ip, sp, cr3;
	uint64_t di, si, dx, cx; /* a function's first arguments */
};

enum log_event {
	LOG_END,
	LOG_STATE,   /* the registers before an instruction */
	LOG_VECTOR,  /* an interrupt or a fault, before the instruction at `ip` */
	LOG_STOPPED, /* the last logged instruction was not executed */
};

struct qemu_log {
	FILE *in; /* borrowed */
	enum log_event event;
	struct cpu_state state; /* of LOG_STATE */
	uint64_t ip, sp;        /* of LOG_VECTOR: of the interrupted code */
	unsigned vector;
	bool by_insn; /* of LOG_VECTOR: by an instruction such as int3 */
};

/* Read and return the next event. */
enum log_event qemu_log_next(struct qemu_log *log);
