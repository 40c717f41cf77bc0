/* SPDX-License-Identifier: MIT */
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
