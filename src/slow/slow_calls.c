/* SPDX-License-Identifier: MIT */
/* A heap of the slowest calls. */
#include "src/slow/slow_calls.h"

#include "base/tables/heap.h"

/* Equal durations are in the order of time, then of threads: the same for any input order. */
static bool is_slower(const bool *by_insns, const struct chosen_call *a,
		      const struct chosen_call *b)
{
	if (*by_insns && a->insns != b->insns)
		return a->insns > b->insns;
	if (a->duration != b->duration)
		return a->duration > b->duration;
	if (a->begin != b->begin)
		return a->begin < b->begin;
	return a->track->index < b->track->index;
}

static bool is_faster(const bool *by_insns, const struct chosen_call *a,
		      const struct chosen_call *b)
{
	return is_slower(by_insns, b, a);
}

HEAP_DEFINE(calls, struct chosen_call, bool, is_faster)

static void keep_if_slow(void *context, const struct chosen_call *call)
{
	struct slow_calls *calls = context;
	const struct slow_choice *choice = &calls->choice;
	bool by_insns = (*calls->machine)->by_insns;

	durations_add(&calls->durations, call->duration);
	calls->longer += call->duration > choice->longer;
	if (choice->has_bound && !choice->percentile && call->duration <= choice->longer)
		return;
	if (calls->count < slow_choice_most(choice)) {
		calls->calls = alloc_grow(calls->calls, &calls->room, calls->count + 1,
					  sizeof(*calls->calls));
		calls_push(&by_insns, calls->calls, calls->count++, call);
	} else if (is_slower(&by_insns, call, &calls->calls[0])) {
		calls->calls[0] = *call;
		calls_sift_down(&by_insns, calls->calls, calls->count, 0);
	}
}

void slow_calls_init(struct slow_calls *calls, const struct options *options,
		     const struct callstack_machine *const *machine)
{
	*calls = (struct slow_calls){ .machine = machine, .choice = options->slow };
	chosen_calls_init(&calls->chosen, &options->select, keep_if_slow, calls);
}

/* ---- The end ------------------------------------------------------------- */

static int compare_slow(const void *left, const void *right, void *by_insns)
{
	return is_slower(by_insns, left, right) ? -1 : is_slower(by_insns, right, left);
}

static void apply_bound(struct slow_calls *calls)
{
	const struct slow_choice *choice = &calls->choice;
	size_t slow = 0;

	if (!choice->has_bound)
		return;
	calls->bound = choice->longer;
	calls->slower = calls->longer;
	if (!choice->percentile)
		return;
	calls->bound = durations_quantile(&calls->durations, choice->percentile);
	for (size_t i = 0; i < calls->count; i++) {
		if (calls->calls[i].duration > calls->bound)
			calls->calls[slow++] = calls->calls[i];
	}
	calls->slower = durations_longer(&calls->durations, calls->bound);
	if (slow < calls->count || calls->slower < slow)
		calls->slower = slow;
	calls->count = slow;
}

void slow_calls_finish(struct slow_calls *calls, struct diag *diag)
{
	bool by_insns = (*calls->machine)->by_insns;

	if (calls->count)
		qsort_r(calls->calls, calls->count, sizeof(*calls->calls), compare_slow, &by_insns);
	apply_bound(calls);
	chosen_calls_warn(&calls->chosen, diag);
}

void slow_calls_release(struct slow_calls *calls)
{
	free(calls->calls);
	durations_release(&calls->durations);
	chosen_calls_release(&calls->chosen);
	*calls = (struct slow_calls){ 0 };
}
