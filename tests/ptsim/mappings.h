/* SPDX-License-Identifier: MIT */
/* The executable mappings of a process, from /proc/PID/maps, and build ids of files. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BUILD_ID_MAX 20

struct mapping {
	uint64_t begin, end, offset;
	uint32_t prot;         /* PROT_* */
	uint32_t major, minor; /* device */
	uint64_t inode;
	char path[512]; /* "//anon" for anonymous memory */
};

struct mappings {
	struct mapping *maps; /* owned */
	size_t count, room;
};

/* Replace the list by the process's mappings; it is empty without such a process. */
void mappings_read(struct mappings *list, pid_t pid);
void mappings_release(struct mappings *list);

/* Returns the mapping that contains the address, NULL without one; borrowed. */
const struct mapping *mappings_find(const struct mappings *list, uint64_t address);

/* Returns whether the list has an equal mapping. */
bool mappings_have(const struct mappings *list, const struct mapping *map);

/* Returns the size of the file's build id in bytes, 0 if it has none. */
size_t build_id_read(const char *path, uint8_t id[BUILD_ID_MAX]);
