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
/* Minimum ratio of the pause before slow calls to the usual one. */
#define PAUSE_RATIO 2
/* ns: a shorter pause is one only if it is longer than the extra time of a slow call. */
#define PAUSE_LEAST 1000000

struct some_calls {
	const struct slow_call **calls; /* borrowed */
	size_t count;
};

uint32_t slow_call_caller(const struct slow_answer *answer, const struct slow_call *call)
{
	const struct slow_calls *calls = answer->calls;
	uint32_t caller = calls->tree.nodes[call->path].caller;

	return caller ? calls->paths[caller].function + 1 : 0;
}

/* Returns the value of a trait; 0: unknown. */
static uint64_t value_of(const struct slow_answer *answer, const struct timeline *timeline,
			 enum trait trait, const struct slow_call *call)
{
	switch (trait) {
	case TRAIT_CALLER:
		return slow_call_caller(answer, call);
	case TRAIT_SITE:
		return answer->calls->sink.details ? 0 : call->site;
	case TRAIT_THREAD:
		return (uint64_t)call->track->index + 1;
	case TRAIT_CPU:
		return timeline ? (uint64_t)timeline_cpu_at(timeline, call->track->tid,
							    call->begin) +
					  1
				: 0;
	default:
		return answer->calls->by_insns || answer->of->recursive ? 0 : call->since;
	}
}

COMPARE_WITH(compare_values, uint64_t, COMPARE(*a, *b))

/* Returns the values of a trait, ascending; owned by the caller. */
static uint64_t *sort_values(const struct slow_answer *answer, const struct timeline *timeline,
			     enum trait trait, const struct some_calls *of)
{
	uint64_t *values = alloc_zeroed(of->count + 1, sizeof(*values));

	for (size_t i = 0; i < of->count; i++)
		values[i] = value_of(answer, timeline, trait, of->calls[i]);
	SORT(values, of->count, compare_values);
	return values;
}

/* Returns how many values are equal to one; those above are, too, if `above`. */
static double count_equal(const uint64_t *values, size_t count, uint64_t value, bool above)
{
	size_t end = above ? count : LOWER_BOUND(i, count, values[i] <= value);

	return (double)(end - LOWER_BOUND(j, count, values[j] < value));
}

/* Fill what the slow calls share by a trait.  Returns whether it is clear. */
static bool is_shared(const struct slow_cluster *cluster, enum trait trait, const uint64_t *slow,
		      size_t slow_count, const uint64_t *usual, size_t usual_count,
		      struct shared_trait *shared)
{
	bool pause = trait == TRAIT_PAUSE;
	/* If most values are equal, the median is; nine tenths are above the tenth. */
	uint64_t value = slow[pause ? slow_count / 10 : slow_count / 2];
	double same = count_equal(slow, slow_count, value, pause);
	double others = count_equal(usual, usual_count, value, pause);
	double p = (others + 1) / ((double)usual_count + 1), count = (double)slow_count;

	*shared = (struct shared_trait){ .trait = trait,
					 .value = value,
					 .same = same,
					 .share = others / (double)usual_count,
					 .usual = usual[usual_count / 2] };
	/* At most so many sets of calls may share it. */
	if (!value || same < SLOW_SHARE * count || shared->share >= USUAL_SHARE ||
	    pow(count, count - same) * pow(p, same - 1) > CHANCE_MOST)
		return false;
	return !pause || (!cluster->wait.hop_count && !cluster->alike &&
			  value >= PAUSE_RATIO * shared->usual &&
			  (double)value >= MIN(cluster->extra, PAUSE_LEAST));
}

bool shared_trait_find(const struct slow_answer *answer, const struct slow_cluster *cluster,
		       const struct timeline *timeline, struct shared_trait *shared)
{
	const struct slow_call *usual[SAMPLES_MOST];
	struct some_calls slows = { cluster->calls, cluster->count }, usuals = { usual, 0 };

	shared->share = 1;
	for (size_t i = 0; i < answer->of->sample_count; i++)
		if (answer->of->samples[i].amount <= answer->bound)
			usual[usuals.count++] = &answer->of->samples[i];
	for (int i = 0; i < TRAITS && slows.count >= SLOW_LEAST && usuals.count >= USUAL_LEAST;
	     i++) {
		uint64_t *slow = sort_values(answer, timeline, i, &slows);
		uint64_t *others = sort_values(answer, timeline, i, &usuals);
		struct shared_trait found;

		/* A call site is more than a caller. */
		if (is_shared(cluster, i, slow, slows.count, others, usuals.count, &found) &&
		    (found.share < shared->share ||
		     (i == TRAIT_SITE && found.share == shared->share)))
			*shared = found;
		free(slow);
		free(others);
	}
	for (size_t i = 0; shared->share < 1 && i < slows.count; i++)
		if (value_of(answer, timeline, shared->trait, slows.calls[i]) == shared->value)
			shared->call = slows.calls[i];
	return shared->share < 1;
}
