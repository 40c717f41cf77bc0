/* SPDX-License-Identifier: MIT */
/*
 * Reads a program's inlined calls while its DWARF package, or the file that dwz shares, is damaged
 * in every byte and cut at every length:
 *   damage-package PROGRAM PACKAGE < addresses
 * Addresses are hexadecimal ELF virtual ones.  The package is restored afterwards.  Prints how
 * often all, some or none of the calls were found, and how often with a warning.  Exits with 1 if a
 * cut file lost something without a warning, memory grew beyond 64 MiB, or the whole package gave
 * nothing.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/dso/dso_store.h"
#include "symbols/files/elf_file.h"

#define ADDRESSES_MAX 1000
/* KiB, as ru_maxrss.  The sanitizer keeps what was freed. */
#ifdef __SANITIZE_ADDRESS__
#define MEMORY_MAX (1 << 20)
#else
#define MEMORY_MAX (64 << 10)
#endif

static const char *program, *package;
static uint64_t addresses[ADDRESSES_MAX];
static size_t address_count;
static unsigned whole, wholes, parts, nothings, warnings, silent;

static void read_addresses(void)
{
	struct elf_file elf;
	char text[64];

	if (elf_file_open(&elf, program, NULL) != 0)
		exit(1);
	while (address_count < ADDRESSES_MAX && fgets(text, sizeof(text), stdin)) {
		uint64_t vaddr = strtoull(text, NULL, 16);
		const struct code_range *code = elf_file_code_at_vaddr(&elf, vaddr);

		if (code)
			addresses[address_count++] = vaddr - code->vaddr + code->offset;
	}
	elf_file_close(&elf);
}

/* Returns how many addresses are in inlined calls; *warned gets whether a warning was given. */
static unsigned count_inlined(bool *warned)
{
	struct dso_store_options options = { .find.build_id_cache = "/nonexistent" };
	struct name_table names;
	struct inlined_code code;
	struct dso_store *store;
	struct diag diag;
	struct dso *dso;
	unsigned count = 0;

	name_table_init(&names);
	diag_init(&diag);
	store = dso_store_open(&options, &names, &diag);
	dso = dso_store_borrow(store, program, NULL, 0);
	for (size_t i = 0; i < address_count; i++)
		count += dso_find_inlined(dso, addresses[i], &code) && code.innermost;
	*warned = diag_kinds(&diag) > 0;
	dso_store_close(store);
	diag_release(&diag);
	name_table_release(&names);
	return count;
}

static void look(void)
{
	bool warned;
	unsigned count = count_inlined(&warned);

	wholes += count == whole;
	nothings += count == 0;
	parts += count > 0 && count < whole;
	warnings += warned;
	silent += count < whole && !warned;
}

static void change_bytes(int fd, const uint8_t *bytes, size_t size)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };

	for (size_t i = 0; i < size; i++) {
		for (unsigned v = i % 3; v < sizeof(values); v += 3) {
			if (values[v] == bytes[i] || pwrite(fd, &values[v], 1, (off_t)i) != 1)
				continue;
			look();
		}
		if (pwrite(fd, &bytes[i], 1, (off_t)i) != 1)
			exit(1);
	}
}

/* Cut data are missing, with a warning, unless their section is not read. */
static unsigned cut(int fd, const uint8_t *bytes, size_t size)
{
	silent = 0;
	for (size_t length = 0; length < size; length += 1 + size / 500) {
		if (ftruncate(fd, (off_t)length) != 0)
			exit(1);
		look();
		if (pwrite(fd, bytes, size, 0) != (ssize_t)size)
			exit(1);
	}
	return silent;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	unsigned silent_cuts;
	struct stat status;
	uint8_t *bytes;
	bool warned;
	int fd;

	if (argc != 3)
		return 1;
	program = argv[1];
	package = argv[2];
	fd = open(package, O_RDWR);
	if (fd < 0 || fstat(fd, &status) != 0)
		return 1;
	bytes = malloc((size_t)status.st_size);
	if (pread(fd, bytes, (size_t)status.st_size, 0) != status.st_size)
		return 1;
	read_addresses();
	whole = count_inlined(&warned);
	silent_cuts = cut(fd, bytes, (size_t)status.st_size);
	change_bytes(fd, bytes, (size_t)status.st_size);
	getrusage(RUSAGE_SELF, &usage);
	printf("%u inlined; all found %u times, some %u, none %u; warned %u; cut and silent %u; %ld KiB\n",
	       whole, wholes, parts, nothings, warnings, silent_cuts, usage.ru_maxrss);
	free(bytes);
	close(fd);
	return !whole || warned || silent_cuts || usage.ru_maxrss > MEMORY_MAX;
}
