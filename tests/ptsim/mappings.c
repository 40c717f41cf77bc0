/* SPDX-License-Identifier: MIT */
#include "tests/ptsim/mappings.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"

/* proc(5): address perms offset dev inode pathname; only executable mappings are kept. */
static void read_line(struct mappings *list, const char *line)
{
	struct mapping map = { 0 };
	char access[5];

	if (sscanf(line,
		   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64
		   " %511[^\n]",
		   &map.begin, &map.end, access, &map.offset, &map.major, &map.minor, &map.inode,
		   map.path) < 7 ||
	    access[2] != 'x' || strcmp(map.path, "[vsyscall]") == 0)
		return;
	map.prot = (access[0] == 'r' ? PROT_READ : 0) | (access[1] == 'w' ? PROT_WRITE : 0) |
		   PROT_EXEC;
	if (!map.path[0])
		strcpy(map.path, "//anon");
	list->maps = alloc_grow(list->maps, &list->room, list->count + 1, sizeof(*list->maps));
	list->maps[list->count++] = map;
}

void mappings_read(struct mappings *list, pid_t pid)
{
	char path[64], line[1024];
	FILE *file;

	list->count = 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file))
		read_line(list, line);
	fclose(file);
}

void mappings_release(struct mappings *list)
{
	free(list->maps);
	*list = (struct mappings){ 0 };
}

const struct mapping *mappings_find(const struct mappings *list, uint64_t address)
{
	for (size_t i = 0; i < list->count; i++) {
		if (address >= list->maps[i].begin && address < list->maps[i].end)
			return &list->maps[i];
	}
	return NULL;
}

bool mappings_have(const struct mappings *list, const struct mapping *map)
{
	const struct mapping *known = mappings_find(list, map->begin);

	return known && known->begin == map->begin && known->end == map->end &&
	       known->offset == map->offset && known->prot == map->prot &&
	       strcmp(known->path, map->path) == 0;
}

size_t build_id_read(const char *path, uint8_t id[BUILD_ID_MAX])
{
	const void *bits;
	ssize_t size = 0;
	Elf *elf;
	int fd;

	if (path[0] != '/' || path[1] == '/')
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf) {
		size = dwelf_elf_gnu_build_id(elf, &bits);
		if (size > BUILD_ID_MAX)
			size = BUILD_ID_MAX;
		if (size > 0)
			memcpy(id, bits, (size_t)size);
		elf_end(elf);
	}
	close(fd);
	return size > 0 ? (size_t)size : 0;
}
