/* SPDX-License-Identifier: MIT */
#include "symbols/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

static int map_file(struct elf_file *file, const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	void *bytes;

	if (fd < 0)
		return error_set_system(err, errno, "%s: cannot open", path);
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) {
		close(fd);
		return error_set(err, ERROR_FORMAT, "%s: is not a file with contents", path);
	}
	/* libelf wants to be allowed to write; a private mapping keeps the file as it is. */
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return error_set_system(err, errno, "%s: cannot map", path);
	file->bytes = bytes;
	file->size = (size_t)status.st_size;
	file->mapped = true;
	return 0;
}

static void read_segments(struct elf_file *file)
{
	size_t count = 0;

	if (elf_getphdrnum(file->elf, &count) < 0 || count > file->size / sizeof(Elf32_Phdr))
		return;
	file->segments = alloc_zeroed(count, sizeof(*file->segments));
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(file->elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		file->segments[file->segment_count++] = (struct elf_segment){
			header.p_offset, header.p_filesz, header.p_vaddr
		};
	}
}

static int read_headers(struct elf_file *file, struct error *err)
{
	const void *id;
	ssize_t size;

	elf_version(EV_CURRENT);
	file->elf = elf_memory((char *)file->bytes, file->size);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF)
		return error_set(err, ERROR_FORMAT, "is not an ELF file");
	read_segments(file);
	size = dwelf_elf_gnu_build_id(file->elf, &id);
	if (size > 0) {
		file->build_id = id;
		file->build_id_size = (size_t)size;
	}
	return 0;
}

int elf_file_open(struct elf_file *file, const char *path, struct error *err)
{
	*file = (struct elf_file){ 0 };
	if (map_file(file, path, err) < 0)
		return -1;
	if (read_headers(file, err) < 0)
		return error_prefix(err, "%s", path);
	return 0;
}

int elf_file_view(struct elf_file *file, uint8_t *bytes, size_t size, struct error *err)
{
	*file = (struct elf_file){ .bytes = bytes, .size = size };
	return read_headers(file, err);
}

void elf_file_close(struct elf_file *file)
{
	elf_end(file->elf);
	if (file->mapped)
		munmap(file->bytes, file->size);
	free(file->segments);
	*file = (struct elf_file){ 0 };
}

int elf_file_vaddr(const struct elf_file *file, uint64_t offset, uint64_t *vaddr)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (offset >= segment->offset && offset - segment->offset < segment->size) {
			*vaddr = segment->vaddr + (offset - segment->offset);
			return 0;
		}
	}
	return -1;
}
