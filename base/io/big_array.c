/* SPDX-License-Identifier: MIT */
/* Arrays in memory or in a mapped file. */
#include "base/io/big_array.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io/temp_file.h"
#include "base/pages.h"

/* Returns the file's first `bytes`, with disk space reserved; NULL if the disk is full. */
static void *map_file(int fd, size_t bytes)
{
	void *items;

	/* Without reserved space, a full disk would cause SIGBUS instead of an error. */
	if (posix_fallocate(fd, 0, (off_t)bytes) != 0)
		return NULL;
	items = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return items == MAP_FAILED ? NULL : items;
}

/* Copy in steps and release the pages of both arrays, because memory may be too small for both. */
static void move_items(uint8_t *to, const uint8_t *from, size_t size)
{
	const size_t step = (size_t)4 << 20;

	for (size_t at = 0; at < size; at += step) {
		size_t part = MIN(size - at, step);

		memcpy(to + at, from + at, part);
		pages_give_back(from + at, part);
		pages_give_back(to + at, part);
	}
}

static bool move_to_file(struct big_array *array, size_t used, size_t bytes)
{
	struct temp_file file;
	void *items = temp_file_open(&file, NULL) < 0 ? NULL : map_file(file.fd, bytes);

	if (!items) {
		temp_file_close(&file);
		return false;
	}
	temp_files_take(bytes);
	move_items(items, array->items, used);
	free(array->items);
	array->items = items;
	array->mapped = bytes;
	array->fd = file.fd;
	return true;
}

static bool grow_file(struct big_array *array, size_t bytes)
{
	void *items;

	if (posix_fallocate(array->fd, 0, (off_t)bytes) != 0)
		return false;
	items = mremap(array->items, array->mapped, bytes, MREMAP_MAYMOVE);
	if (items == MAP_FAILED)
		return false;
	temp_files_take(bytes - array->mapped);
	array->items = items;
	array->mapped = bytes;
	return true;
}

static void close_file(struct big_array *array)
{
	munmap(array->items, array->mapped);
	close(array->fd);
	temp_files_give(array->mapped);
}

/* Growth in bytes when the budget is spent: for the rest of what was read. */
#define GROWTH_LEAST ((size_t)64 << 10)

/* Returns the bytes of a file of `wanted` bytes, at least `need`, within the budget if possible. */
static size_t limit_file(const struct big_array *array, size_t need, size_t wanted)
{
	size_t most = array->mapped + MAX(temp_files_room(), GROWTH_LEAST);

	return MAX(need, MIN(wanted, most));
}

void big_array_grow(struct big_array *array, size_t need, size_t size, size_t most)
{
	size_t used = array->room * size, room = array->room ? 2 * array->room : 64;
	bool in_file;

	if (need <= array->room)
		return;
	room = MAX(room, need);
	in_file = array->mapped || (room * size > most && !array->stays);
	if (in_file)
		room = limit_file(array, need * size, room * size) / size;
	if (array->mapped) {
		array->stays = !grow_file(array, room * size);
		if (array->stays) {
			void *items = alloc_zeroed(1, room * size);

			memcpy(items, array->items, used);
			close_file(array);
			array->items = items;
			array->mapped = 0;
			array->fd = -1;
		}
		array->room = room;
	} else if (in_file) {
		array->stays = !move_to_file(array, used, room * size);
		if (!array->stays)
			array->room = room;
	}
	array->items =
		array->mapped ? array->items : alloc_grow(array->items, &array->room, need, size);
}

void big_array_rest(const struct big_array *array, size_t begin, size_t end, size_t size)
{
	if (array->mapped)
		pages_give_back((const uint8_t *)array->items + begin * size, (end - begin) * size);
}

void big_array_release(struct big_array *array)
{
	if (array->mapped)
		close_file(array);
	else
		free(array->items);
	*array = (struct big_array){ .fd = -1 };
}
