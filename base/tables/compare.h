/* SPDX-License-Identifier: MIT */
/* The order of two numbers, for qsort(3) and its like. */
#ifndef BASE_TABLES_COMPARE_H
#define BASE_TABLES_COMPARE_H

/*
 * -1, 0 or 1 if a is less than, equal to or greater than b.  To compare by several keys:
 *
 *     return COMPARE(a->time, b->time) ?: COMPARE(a->order, b->order);
 */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

#endif
