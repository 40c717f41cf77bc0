/* SPDX-License-Identifier: MIT */
/* The shape of a function's durations: what makes a call a slow one. */
#include "src/formats/answers/slow_causes.h"

/* Percent: the least share of each of two kinds of calls. */
#define KIND_LEAST 10
/* Minimum ratio of the amounts on both sides of a step between two kinds. */
#define KIND_STEP 1.5
/* Share of the excess of the slower kind by which the calls of the tail are the slow ones. */
#define TAIL_SHARE 0.25
/* Minimum calls of a trend, and growth of its medians: by quarter, and in all. */
#define TREND_CALLS 40
#define TREND_STEP  1.1
#define TREND_LEAST 1.5

COMPARE_WITH(compare_amounts, uint64_t, COMPARE(*a, *b))

/* Returns whether the medians of the quarters grow. */
static bool has_trend(const struct slow_calls *calls, const struct slow_function *of,
		      double quarters[4])
{
	if (of->durations.count < TREND_CALLS)
		return false;
	/* Fill the medians of the quarters of the sample, which has four calls or more. */
	for (size_t i = 0; i < 4; i++) {
		size_t begin = of->sample_count * i / 4;
		size_t count = of->sample_count * (i + 1) / 4 - begin;
		uint64_t sorted[SAMPLES_MOST];

		for (size_t j = 0; j < count; j++)
			sorted[j] = of->samples[begin + j].amount;
		SORT(sorted, count, compare_amounts);
		quarters[i] = (double)sorted[count / 2];
	}
	for (size_t i = 1; i < 4; i++)
		if (quarters[i] < TREND_STEP * quarters[i - 1] ||
		    quarters[i] <= quarters[i - 1] + (double)calls->resolution)
			return false;
	return quarters[3] >= TREND_LEAST * quarters[0];
}

/*
 * Returns the percentile below the largest step between two kinds of calls, which spans a quarter
 * of the range of most calls; 0: they are of one kind.
 */
static unsigned find_step(const struct slow_calls *calls, const uint64_t values[101])
{
	uint64_t largest = MAX((values[95] - values[5]) / 4, 2 * calls->resolution);
	unsigned found = 0;

	for (unsigned i = KIND_LEAST; i < 100 - KIND_LEAST; i++) {
		uint64_t step = values[i + 1] - values[i];

		if (step <= largest || (double)values[i + 1] < KIND_STEP * (double)values[i])
			continue;
		largest = step;
		found = i;
	}
	return found;
}

void call_split_find(const struct slow_calls *calls, const struct slow_function *of,
		     struct call_split *split)
{
	const struct durations *all = &of->durations;
	uint64_t values[101], tail;
	double excess;
	unsigned step;
	uint64_t bound;

	durations_percentiles(all, values);
	/* If more than a twentieth of the calls is slow, the 95th percentile is one of them. */
	bound = 2 * values[75];
	tail = values[95] <= 2 * bound || bound > 4 * values[50] ? 2 * values[95] : bound;
	*split = (struct call_split){ .bound = MAX(tail, values[50] + calls->resolution),
				      .base = values[50] };
	if (has_trend(calls, of, split->quarters)) {
		split->shape = SHAPE_TREND;
		split->bound = values[75];
		split->base = (uint64_t)split->quarters[0];
		return;
	}
	step = all->count >= TAIL_CALLS_LEAST ? find_step(calls, values) : 0;
	if (!step)
		return;
	/* A few calls that are much slower are the question if they have much of the time. */
	excess = durations_excess(all, values[step], values[step / 2]);
	if (durations_excess(all, split->bound, values[50]) > TAIL_SHARE * excess)
		return;
	split->shape = SHAPE_KINDS;
	split->bound = values[step] + (values[step + 1] - values[step]) / 2;
	split->base = values[step / 2];
	split->high = values[(step + 101) / 2];
}

COMPARE_WITH(compare_numbers, uint64_t, COMPARE(*a, *b))

uint64_t slow_calls_period(const struct slow_call *const *slow, size_t count)
{
	uint64_t *numbers = alloc_zeroed(count + 1, sizeof(*numbers)), period;
	size_t equal = 0;

	for (size_t i = 0; i < count; i++)
		numbers[i] = slow[i]->number;
	SORT(numbers, count, compare_numbers);
	for (size_t i = 0; i + 1 < count; i++)
		numbers[i] = numbers[i + 1] - numbers[i];
	SORT(numbers, count - (count > 0), compare_numbers);
	period = numbers[count / 2];
	for (size_t i = 0; i + 1 < count; i++)
		equal += numbers[i] == period;
	free(numbers);
	return count >= PERIOD_LEAST && period > 1 && 5 * equal >= 4 * (count - 1) ? period : 0;
}
