/* SPDX-License-Identifier: MIT */
/*
 * The ground truth of a recording.
 *
 * truth.branches: every transfer of control, `ns tsc cpu pid tid kind from to`, in each CPU's
 * order; from and to are hexadecimal, 0 if a recording cannot have them.  Kinds: call icall ret jmp
 * ijmp jcc (taken) far, syscall and async (user code is left), resume (it is entered); ovf ..
 * ovfend and lost .. lostend around code that ran but is not in the recording.
 *
 * truth.slices: the true stacks, in the form of --format=slices, without args.  truth.counts: the
 * same with the number of instructions of each slice.
 */
#pragma once

#include <stdio.h>

#include "base/diag.h"
#include "base/tables/name.h"
#include "symbols/dso/dso_store.h"
#include "tests/ptsim/side_band.h"
#include "tests/ptsim/true_stack.h"

struct truth {
	const char *folder; /* borrowed; NULL: no output */
	FILE *branches;     /* owned */
	struct true_slices slices;
	struct name_table names;
	struct diag diag;
	struct dso_store *store; /* owned */
	uint64_t count;          /* branches */
};

/* Returns 0, or -1 after a message on stderr. */
int truth_open(struct truth *truth, const char *folder);

/* Write the rest.  Returns 0, or -1 after a message on stderr. */
int truth_close(struct truth *truth);

void truth_branch(struct truth *truth, const struct clock_point *now, const char *kind,
		  uint64_t from, uint64_t to);

/* Returns the symbol at a process's address, with its start as file offset in *start. */
const struct symbol *truth_symbol(struct truth *truth, const struct mappings *maps, uint64_t ip,
				  uint64_t *offset);
