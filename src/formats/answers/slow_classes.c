/* SPDX-License-Identifier: MIT */
/* Take classes from the slowest one on. */
#include "src/formats/answers/slow_classes.h"

static int compare_classes(const void *left, const void *right)
{
	const struct class_count *a = left, *b = right;

	return a->number > b->number ? -1 : a->number < b->number;
}

uint32_t slow_classes_find(struct class_count *classes, size_t count,
			   const struct slow_choice *slow)
{
	uint32_t percentile = slow->has_bound ? slow->percentile : SLOW_DEFAULT, lowest = 0;
	uint64_t calls = 0, taken = 0, most;

	if (count)
		qsort(classes, count, sizeof(*classes), compare_classes);
	if (slow->has_bound && !slow->percentile)
		return 1; /* see call_paths.h */
	for (size_t i = 0; i < count; i++)
		calls += classes[i].calls;
	most = (uint64_t)((double)calls * (1000000 - percentile) / 1e6 + 0.5);
	for (size_t i = 0; i < count && (!i || taken + classes[i].calls <= most); i++) {
		taken += classes[i].calls;
		lowest = classes[i].number;
	}
	return lowest;
}
