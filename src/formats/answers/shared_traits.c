/* SPDX-License-Identifier: MIT */
/* Find what slow calls share, and usual calls do not. */
#include <math.h>

#include "src/formats/answers/slow_causes.h"

/* Minimum number of slow calls, and of sampled usual ones. */
#define SLOW_LEAST  3
#define USUAL_LEAST 8
/* Minimum share of the slow calls, and limit of the share of the usual ones. */
#define SLOW_SHARE  0.9
#define USUAL_SHARE 0.5
/* Probability, at most, that the slow calls share something by chance. */
#define CHANCE_MOST 0.001

/* Returns 1 + the function that called; 0: unknown. */
static uint32_t caller_of(const struct slow_answer *answer, const struct slow_call *call)
{
	const struct slow_calls *calls = answer->calls;
	uint32_t caller = calls->tree.nodes[call->path].caller;

	return caller ? calls->paths[caller].function + 1 : 0;
}

/* Returns the value of a trait; 0: unknown. */
static uint64_t value_of(const struct slow_answer *answer, enum trait trait,
			 const struct slow_call *call)
{
	switch (trait) {
	case TRAIT_CALLER:
		return caller_of(answer, call);
	case TRAIT_SITE:
		return answer->calls->sink.details || !caller_of(answer, call) ? 0 : call->site;
	case TRAIT_THREAD:
		return (uint64_t)call->track->index + 1;
	case TRAIT_CPU:
		return (uint64_t)timeline_cpu_at(answer->timeline, call->track->tid, call->begin) +
		       1;
	default:
		return answer->calls->by_insns || answer->of->recursive ? 0 : call->since;
	}
}

COMPARE_WITH(compare_values, uint64_t, COMPARE(*a, *b))

/* Returns how many of the ascending values are equal to one or, `above`, not less. */
static double count_equal(const uint64_t *values, size_t count, uint64_t value, bool above)
{
	size_t end = above ? count : LOWER_BOUND(i, count, values[i] <= value);

	return (double)(end - LOWER_BOUND(j, count, values[j] < value));
}

/* Fill what values of slow calls, ascending, share.  Returns whether that is clear. */
static bool is_shared(const uint64_t *slow, size_t slow_count, const uint64_t *usual,
		      size_t usual_count, struct shared_trait *shared)
{
	bool pause = shared->trait == TRAIT_PAUSE;
	/* If most values are equal, the median is; nine tenths are not below the first tenth. */
	uint64_t value = slow[slow_count / (pause ? 10 : 2)];
	double same = count_equal(slow, slow_count, value, pause), count = (double)slow_count;
	double others = count_equal(usual, usual_count, value, pause);
	double p = (others + 1) / ((double)usual_count + 1);

	shared->value = value;
	shared->same = same;
	shared->share = others / (double)usual_count;
	shared->usual = usual[usual_count / 2];
	shared->usual_calls = usual_count;
	/*
	 * The product bounds the probability that so many calls share the value by chance: sets of
	 * calls, times the probability of each.  A pause must also be twice the usual one.
	 */
	return value && same >= SLOW_SHARE * count && shared->share < USUAL_SHARE &&
	       pow(count, count - same) * pow(p, same - 1) <= CHANCE_MOST &&
	       (!pause || value >= 2 * shared->usual);
}

bool shared_trait_find(const struct slow_answer *answer, const struct slow_cluster *cluster,
		       struct shared_trait *shared)
{
	uint64_t *slow, usual[SAMPLES_MOST];

	if (cluster->count < SLOW_LEAST)
		return false;
	slow = alloc_zeroed(cluster->count, sizeof(*slow));
	*shared = (struct shared_trait){ .share = 1 };
	for (enum trait trait = 0; trait < TRAITS; trait++) {
		struct shared_trait found = { .trait = trait,
					      .sampled = answer->of->sample_bits > 0 };
		size_t count = 0;

		for (size_t i = 0; i < cluster->count; i++)
			slow[i] = value_of(answer, trait, cluster->calls[i]);
		for (size_t i = 0; i < answer->of->sample_count; i++) {
			const struct slow_call *call = &answer->of->samples[i];

			usual[count] = value_of(answer, trait, call);
			count += call->amount <= answer->bound && usual[count];
		}
		SORT(slow, cluster->count, compare_values);
		SORT(usual, count, compare_values);
		if (count < USUAL_LEAST || !is_shared(slow, cluster->count, usual, count, &found) ||
		    (trait == TRAIT_PAUSE && (cluster->wait.hop_count || cluster->alike ||
					      (double)found.value < cluster->extra)))
			continue;
		/* A call site is more than a caller. */
		if (found.share < shared->share ||
		    (trait == TRAIT_SITE && found.share == shared->share))
			*shared = found;
	}
	free(slow);
	for (size_t i = 0; shared->share < 1 && !shared->call; i++)
		if (value_of(answer, shared->trait, cluster->calls[i]) == shared->value)
			shared->call = cluster->calls[i];
	return shared->share < 1;
}
