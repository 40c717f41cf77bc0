/* SPDX-License-Identifier: MIT */
/* Which classes of calls (call_paths.h) are slow, by the counts of all classes. */
#ifndef SRC_FORMATS_ANSWERS_SLOW_CLASSES_H
#define SRC_FORMATS_ANSWERS_SLOW_CLASSES_H

#include "src/options/slow_choice.h"

/* Percentile without --slow, in millionths. */
#define SLOW_DEFAULT 990000

struct class_count {
	uint32_t number; /* of the class */
	uint64_t calls;
};

/*
 * Returns the lowest class of slow calls: of those above the percentile, as far as whole classes
 * are, but at least of the slowest; or of those that take longer than the bound.  Sorts the
 * classes, that of the longest calls first; without any it is 0.
 */
uint32_t slow_classes_find(struct class_count *classes, size_t count,
			   const struct slow_choice *slow);

#endif
