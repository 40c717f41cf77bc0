/* SPDX-License-Identifier: MIT */
/*
 * Heap memory; lack of memory ends the run.
 *
 * For sizes that the program itself chose.  Check a size that comes from a file against the file's
 * own size first.
 */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Report that memory ran out and exit with status 1; size 0: unknown.  Does not return. */
void alloc_fail(size_t size) __attribute__((noreturn));

/*
 * Called once by alloc_fail() before its message, so that the temporary file can be removed; also
 * from a signal handler (base/io/interrupt.h). A library's does not return.
 */
extern void (*alloc_fail_hook)(void);

/* Returns `size` bytes, owned by the caller; never NULL.  Has malloc()'s type, for libraries. */
void *alloc_bytes(size_t size);

/*
 * The pointer that a library call returns.  Libraries return NULL for damage and for a lack of
 * memory; the latter, for which malloc() sets errno, ends the run.
 */
#define ALLOC_CHECKED(call) (errno = 0, alloc_checked(call))

/* For ALLOC_CHECKED() only. */
void *alloc_checked(void *result);

/*
 * End the run if a call of a library failed for lack of memory.  The caller sets errno to 0
 * before the call.
 */
void alloc_check(void);

/* Returns a printed text, owned by the caller. */
char *alloc_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns a stream that prints to `text`, within the block: char *text; FILE *out =
 * OPEN_TEXT(text). */
#define OPEN_TEXT(text) ALLOC_CHECKED(open_memstream(&(text), &(size_t){ 0 }))

/* Close a stream of OPEN_TEXT(), and ensure that its text exists, owned by the caller. */
void alloc_close_text(FILE *stream, char *const *text);

/* Returns count * size zeroed bytes, owned by the caller; never NULL. */
void *alloc_zeroed(size_t count, size_t size);

/* The slow path of alloc_grow(): there is not enough room. */
void *alloc_more(void *array, size_t *room, size_t need, size_t size);

/*
 * Grow `array` (owned by the caller, may be NULL) so that it holds at least
 * `need` elements of `size` bytes; *room is its capacity in elements.
 * Returns the array, perhaps moved; grows by doubling; never NULL if need > 0.
 */
static inline void *alloc_grow(void *array, size_t *room, size_t need, size_t size)
{
	return need <= *room ? array : alloc_more(array, room, need, size);
}

/* As alloc_grow(), with the new room zeroed; the array must only be grown by this function. */
static inline void *alloc_grow_zeroed(void *array, size_t *room, size_t need, size_t size)
{
	size_t old = *room;

	if (need <= old)
		return array;
	array = alloc_more(array, room, need, size);
	memset((char *)array + old * size, 0, (*room - old) * size);
	return array;
}

/* Grow an array, as alloc_grow(); `array` and `room` are lvalues, evaluated several times. */
#define ARRAY_GROW(array, room, need)                                                              \
	((void)((array) = alloc_grow((array), &(room), (need), sizeof(*(array)))))

/* As ARRAY_GROW(), with the new room zeroed; the array must only be grown by this macro. */
#define ARRAY_GROW_ZEROED(array, room, need)                                                       \
	((void)((array) = alloc_grow_zeroed((array), &(room), (need), sizeof(*(array)))))

/*
 * Append to a growing array; `array`, `count` and `room` are lvalues, evaluated several
 * times.  Points to the new element, which is not initialised:
 *
 *     *ARRAY_ADD(list->items, list->count, list->room) = (struct item){ ... };
 */
#define ARRAY_ADD(array, count, room)                                                              \
	((array) = alloc_grow((array), &(room), (count) + 1, sizeof(*(array))), &(array)[(count)++])
