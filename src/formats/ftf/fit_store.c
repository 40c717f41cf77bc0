/* SPDX-License-Identifier: MIT */
/* Append units, write the earlier ones to the file, and read them. */
#include "src/formats/ftf/fit_store.h"

#include <unistd.h>

/* Units in memory. They fit into a processor's cache, and half of them have just been added. */
#define ROOM ((size_t)1 << 14)

/* Write to the file, if possible. Returns whether all bytes were written. */
static bool write_at(struct fit_store *store, const void *bytes, size_t size, size_t offset)
{
	struct error unused = { 0 };

	if (store->stays || (!store->file->open && temp_file_open(store->file, &unused) < 0))
		return false;
	for (size_t done = 0; done < size;) {
		ssize_t written = pwrite(store->file->fd, (const uint8_t *)bytes + done,
					 size - done, (off_t)(offset + done));

		if (written < 0 && errno != EINTR)
			return false;
		done += written < 0 ? 0 : (size_t)written;
	}
	return true;
}

static int read_at(const struct fit_store *store, void *bytes, size_t size, size_t offset)
{
	for (size_t done = 0; done < size;) {
		ssize_t got = pread(store->file->fd, (uint8_t *)bytes + done, size - done,
				    (off_t)(offset + done));

		if (got == 0)
			errno = EIO;
		if (got == 0 || (got < 0 && errno != EINTR))
			return -1;
		done += got < 0 ? 0 : (size_t)got;
	}
	return 0;
}

int fit_store_read(const struct fit_store *store, size_t at, union fit_unit *to, size_t count)
{
	size_t filed = at < store->filed ? MIN(store->filed - at, count) : 0;

	if (read_at(store, to, filed * sizeof(*to), at * sizeof(*to)) < 0)
		return -1;
	for (; filed < count; filed++)
		to[filed] = store->recent[(at + filed) & store->mask];
	return 0;
}

/* Move all units to memory, with room for twice as many. */
static void leave_file(struct fit_store *store)
{
	size_t end = fit_store_end(store), room = MAX(2 * end, ROOM);
	union fit_unit *all = alloc_bytes(room * sizeof(*all));

	/* A file that can neither be written nor read is as good as no memory. */
	if (fit_store_read(store, 0, all, end) < 0)
		alloc_fail(0);
	free(store->recent);
	store->recent = all;
	store->room = room;
	store->mask = SIZE_MAX;
	store->filed = 0;
	store->stays = true;
}

void fit_store_make_room(struct fit_store *store)
{
	const size_t half = ROOM / 2, size = sizeof(*store->recent);

	if (!store->room) {
		store->recent = alloc_bytes(ROOM * size);
		store->room = ROOM;
		store->mask = ROOM - 1;
	} else if (write_at(store, &store->recent[store->filed & store->mask], half * size,
			    store->filed * size)) {
		store->filed += half;
	} else {
		leave_file(store);
	}
}

void fit_store_set_filed(struct fit_store *store, size_t at, const union fit_unit *from)
{
	size_t offset = at * sizeof(*from) + offsetof(struct slice_event, detail);

	if (write_at(store, &from->event.detail, sizeof(from->event.detail), offset))
		return;
	leave_file(store);
	fit_store_set_rank(store, at, from);
}
