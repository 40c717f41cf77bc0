/* SPDX-License-Identifier: MIT */
/* Memory of mapped files: release it, and avoid it for holes. Memory in huge pages. */
#include "base/pages.h"

#include <sys/mman.h>
#include <unistd.h>

void pages_give_back(const uint8_t *bytes, size_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = ((uintptr_t)bytes + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)bytes + size) & ~(page - 1);

	if (begin < end)
		madvise((void *)begin, end - begin, MADV_DONTNEED);
}

/* Upper bound of the fault-around window (do_fault_around()), aligned to its size. */
#define FAULT_SIZE ((uintptr_t)2 << 20)

void pages_give_back_around(const uint8_t *bytes, size_t size, size_t before, size_t after)
{
	uintptr_t begin = (uintptr_t)bytes, end = begin + size;
	uintptr_t more_before = begin % FAULT_SIZE, more_after = -end % FAULT_SIZE;

	begin -= MIN(more_before, before);
	end += MIN(more_after, after);
	pages_give_back((const uint8_t *)begin, end - begin);
}

/* Smaller holes stay; a process may have only 65,530 mappings. */
#define HOLE_MIN  ((off_t)2 << 20)
#define HOLES_MAX 1000

static bool map_hole(uint8_t *bytes, off_t begin, off_t end)
{
	off_t page = sysconf(_SC_PAGESIZE);
	void *mapped;

	begin = (begin + page - 1) & ~(page - 1);
	end &= ~(page - 1);
	if (end - begin < HOLE_MIN)
		return true;
	mapped = mmap(bytes + begin, (size_t)(end - begin), PROT_READ,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	if (mapped == MAP_FAILED)
		return false;
	/* One huge page of zeros serves all of it. */
	madvise(mapped, (size_t)(end - begin), MADV_HUGEPAGE);
	return true;
}

int pages_map_holes(int fd, uint8_t *bytes, size_t size)
{
	off_t kept = lseek(fd, 0, SEEK_CUR), begin = 0, end = 0;
	bool mapped = true;

	for (int i = 0; i < HOLES_MAX && mapped && (size_t)end < size; i++) {
		begin = lseek(fd, end, SEEK_HOLE);
		if (begin < 0 || (size_t)begin >= size)
			break;
		end = lseek(fd, begin, SEEK_DATA);
		if (end < 0 || (size_t)end > size) /* up to the end */
			end = (off_t)size;
		mapped = map_hole(bytes, begin, end);
	}
	lseek(fd, kept, SEEK_SET);
	return mapped ? 0 : -1;
}

#define HUGE_PAGE ((size_t)2 << 20)

void *pages_alloc(size_t size)
{
	uint8_t *mapped = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t before = -(uintptr_t)mapped & (HUGE_PAGE - 1);

	if (mapped == MAP_FAILED)
		alloc_fail(size);
	if (before)
		munmap(mapped, before);
	munmap(mapped + before + size, HUGE_PAGE - before);
	madvise(mapped + before, size, MADV_HUGEPAGE);
	return mapped + before;
}

void pages_free(void *memory, size_t size)
{
	if (memory)
		munmap(memory, size);
}
