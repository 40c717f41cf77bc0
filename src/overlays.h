/* SPDX-License-Identifier: MIT */
/*
 * All overlays of a run: opened together, printed as text, or put into a
 * trace, alone or beside the call stacks of a recording.
 */
#ifndef SRC_OVERLAYS_H
#define SRC_OVERLAYS_H

#include <stddef.h>

#include "base/diag.h"
#include "base/error.h"
#include "base/name.h"
#include "options.h"
#include "overlay_input.h"

struct overlays {
	struct overlay_input *inputs; /* owned */
	size_t count;
};

/*
 * Open the overlays that the options name.
 * Returns 0; -1 with err filled.  The caller calls overlays_close() in both cases.
 */
int overlays_open(struct overlays *overlays, const struct options *options, struct diag *diag,
		  struct error *err);

/* Idempotent, also on zeroed memory. */
void overlays_close(struct overlays *overlays);

/*
 * A run without a recording: open the overlays and write what the options ask for.
 * Returns 0; -1 with err filled, and no output is left.
 */
int overlays_convert(const struct options *options, struct name_table *names, struct diag *diag,
		     struct error *err);

#endif
