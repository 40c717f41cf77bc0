/* SPDX-License-Identifier: MIT */
/*
 * mapped FILE OFFSET CODE...: maps a page of a file that is not ELF at an offset, and calls the
 * functions at offsets of the page 20 times each.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	int fd = argc < 4 ? -1 : open(argv[1], O_RDONLY), sum = 0;
	uint8_t *page;

	if (fd < 0)
		return 64;
	page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
		    (off_t)strtoul(argv[2], NULL, 0));
	if (page == MAP_FAILED)
		return 1;
	for (int n = 0; n < 20; n++)
		for (int i = 3; i < argc; i++)
			sum += ((int (*)(int))(uintptr_t)(page + strtoul(argv[i], NULL, 0)))(n);
	printf("%p %d\n", (void *)page, sum);
	return 0;
}
