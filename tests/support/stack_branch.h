/* SPDX-License-Identifier: MIT */
/* A branch for a call-stack machine, as one struct for tests. */
#pragma once

#include "src/callstack/callstack.h"

struct stack_branch {
	struct branch_event event;
	struct location from, to;
	struct branch_notes notes;
	bool has_notes;
};

static inline void stack_branch_feed(struct callstack *stack, const struct stack_branch *branch)
{
	struct location_pair locations = location_pair_of(&branch->from, &branch->to, NULL);
	struct resolved_branch resolved = { &branch->event, &locations };

	callstack_feed(stack, &resolved, branch->has_notes ? &branch->notes : NULL);
}
