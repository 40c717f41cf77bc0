/* SPDX-License-Identifier: MIT */
/*
 * The guest from the recorder's view: one CPU that executes instructions, and its trace, side band
 * and truth, which are written together, so that the three agree.
 */
#pragma once

#include "symbols/files/elf_file.h"
#include "tests/ptsim/code.h"
#include "tests/ptsim/truth.h"
#include "tests/ptsys/guest_stack.h"
#include "tests/ptsys/qemu_log.h"

/* The kernel, the user program, and the kernel's entry trampoline at its second address. */
enum guest_map { MAP_KERNEL, MAP_USER, MAP_TRAMPOLINE, GUEST_MAPS };

/* The number of the guest's tasks. */
#define GUEST_TASKS 5

/* Functions of the guest's kernel at whose first instruction the recorder acts. */
enum guest_place {
	PLACE_START,
	PLACE_STOP,
	PLACE_SCHED_OUT,
	PLACE_SCHED_IN,
	PLACE_EXIT,
	PLACE_POKE,
	PLACE_SWITCH,
	PLACE_FORK,
	PLACE_KERNEL,
	PLACES
};

struct guest_options {
	struct side_band_options side;
	const char *kernel, *user; /* ELF files */
	bool until_poke;           /* end the trace at the kernel's first code change */
	const char *output;        /* folder, as made by perf record --kcore */
	const char *truth;         /* folder for the truth */
};

struct guest {
	const struct guest_options *options;
	struct elf_file kernel, user;
	uint8_t *memory; /* owned; the kernel's current code */
	struct mapping maps[GUEST_MAPS];
	struct mappings mappings;
	struct code code;
	uint64_t places[PLACES];
	struct side_band side;
	struct pt_output out;
	struct truth truth;
	struct guest_stack stacks[GUEST_TASKS];

	uint64_t tsc, random, begin; /* `begin`: TSC at the start */
	int32_t tid, next_tid;
	bool traced;
	bool exited;  /* the thread does not run again after its switch */
	bool pending; /* the instruction of `state` may have been executed */
	bool vector;  /* an interrupt or a fault came before the instruction at `ip` */
	uint64_t ip;
	struct cpu_state state;
	uint64_t insns, pokes, vectors, switches;
};

/* Returns 0, or -1 after a message on stderr. */
int guest_open(struct guest *guest, const struct guest_options *options);

/* Take one event of the log. */
void guest_take(struct guest *guest, const struct qemu_log *log);

/* Write the recording.  Returns 0, or -1 after a message on stderr. */
int guest_write(struct guest *guest);
void guest_release(struct guest *guest);
