/* SPDX-License-Identifier: MIT */
/* Opens ELF files, also packed ones, and iterates over their sections and symbols. */
#include "symbols/files/elf_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/file_use.h"
#include "symbols/files/unpack.h"

/* Linkers make one executable segment, seldom a few; a file with more was made to be slow. */
#define CODE_RANGES_MAX 256

/* Modules shrink to a third or a fifth; the largest, with debug information, have 100 MiB. */
#define UNPACK_FACTOR 32
#define UNPACKED_MAX  ((size_t)256 << 20)

/* Cut a range to the part inside the file; returns false if it is empty. */
static bool clip_to_file(const struct elf_file *file, uint64_t offset, uint64_t *size)
{
	if (offset >= file->size)
		return false;
	*size = MIN(*size, file->size - offset);
	return *size > 0;
}

static void add_code(struct elf_file *file, size_t *room, struct code_range range)
{
	if (!clip_to_file(file, range.offset, &range.size))
		return;
	if (range.vaddr > UINT64_MAX - range.size || file->code_count == CODE_RANGES_MAX)
		return;
	*ARRAY_ADD(file->code, file->code_count, *room) = range;
}

/* Returns the bytes of notes. */
static uint64_t read_segments(struct elf_file *file, size_t *room)
{
	uint64_t notes = 0;
	GElf_Phdr phdr;

	for (int i = 0; gelf_getphdr(file->elf, i, &phdr); i++) {
		if (phdr.p_type == PT_LOAD && phdr.p_flags & PF_X)
			add_code(file, room,
				 (struct code_range){ phdr.p_offset, phdr.p_filesz, phdr.p_vaddr });
		notes += phdr.p_type == PT_NOTE ? MIN(phdr.p_filesz, file->size) : 0;
	}
	return notes;
}

/*
 * Images written by JIT compilers (perf inject --jit before Linux 6.2) have no program headers:
 * there the sections show where code is.
 */
static void read_code_sections(struct elf_file *file, size_t *room)
{
	struct elf_section section = { 0 };

	while (elf_section_next(file->elf, &section)) {
		const GElf_Shdr *shdr = &section.header;

		if (shdr->sh_type == SHT_PROGBITS && shdr->sh_flags & SHF_EXECINSTR)
			add_code(file, room,
				 (struct code_range){ shdr->sh_offset, shdr->sh_size,
						      shdr->sh_addr });
	}
}

/*
 * libdw reads the notes of each section or, without sections, of each segment.  Together they are
 * longer than the file only if they overlap, which makes their number the square of its size.
 */
static void read_build_id(struct elf_file *file, uint64_t segments)
{
	struct elf_section section = { 0 };
	uint64_t sections = 0;
	const void *id;
	ssize_t size;

	while (elf_section_next(file->elf, &section))
		if (section.header.sh_type == SHT_NOTE)
			sections += MIN(section.header.sh_size, file->size);
	if (MAX(sections, segments) > file->size)
		return;
	size = dwelf_elf_gnu_build_id(file->elf, &id);
	if (size <= 0 || size > ELF_BUILD_ID_MAX)
		return;
	memcpy(file->build_id, id, (size_t)size);
	file->build_id_size = (size_t)size;
}

static int parse(struct elf_file *file, struct error *err)
{
	size_t room = 0, segments = 0;
	uint64_t notes;

	elf_version(EV_CURRENT);
	file->elf = ALLOC_CHECKED(elf_memory((char *)file->bytes, file->size));
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF) {
		elf_file_close(file);
		return error_set(err, ERROR_FORMAT, "not an ELF file");
	}
	notes = read_segments(file, &room);
	if (elf_getphdrnum(file->elf, &segments) == 0 && segments == 0)
		read_code_sections(file, &room);
	read_build_id(file, notes);
	gelf_getehdr(file->elf, &file->header);
	return 0;
}

static uint64_t time_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

static int map_file(struct elf_file *file, int fd, struct error *err)
{
	struct stat status;
	void *bytes;

	if (fstat(fd, &status) != 0)
		return error_set_system(err, errno, "cannot read");
	if (!S_ISREG(status.st_mode))
		return error_set_system(err, ENOENT, "not a regular file");
	if (status.st_size == 0)
		return error_set(err, ERROR_FORMAT, "empty file");
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return error_set_system(err, errno, "cannot map");
	file->identity = (struct file_identity){ status.st_dev, status.st_ino };
	file->changed_ns = time_ns(&status.st_ctim);
	file->written_ns = time_ns(&status.st_mtim);
	file->bytes = bytes;
	file->size = (size_t)status.st_size;
	file->mapped = true;
	return 0;
}

int elf_file_map(struct elf_file *file, const char *path, struct error *err)
{
	struct stat status;
	int fd, failed;

	*file = (struct elf_file){ 0 };
	if (stat(path, &status) != 0)
		return error_set_system(err, errno, "cannot open");
	if (!S_ISREG(status.st_mode))
		return error_set_system(err, ENOENT, "not a regular file");
	fd = file_use_open_at_once(path);
	if (fd < 0)
		return error_set_system(err, errno, "cannot open");
	failed = map_file(file, fd, err);
	close(fd);
	return failed;
}

/* Only the kernel loads packed files, as modules: other programs map the packed bytes. */
static int parse_packed(struct elf_file *file, struct error *err)
{
	size_t size, most = file->size < UNPACKED_MAX / UNPACK_FACTOR ? file->size * UNPACK_FACTOR
								      : UNPACKED_MAX;
	uint8_t *bytes = unpack_bytes((struct byte_view){ file->bytes, file->size }, most, &size);
	struct file_identity identity = file->identity;

	elf_file_close(file);
	if (!bytes)
		return error_set(err, ERROR_FORMAT, "cannot be unpacked");
	if (elf_file_open_bytes(file, bytes, size, err) < 0)
		return -1;
	file->identity = identity;
	if (file->header.e_type == ET_REL)
		return 0;
	elf_file_close(file);
	return error_set(err, ERROR_FORMAT, "a packed file that is not a kernel module");
}

int elf_file_open(struct elf_file *file, const char *path, struct error *err)
{
	if (elf_file_map(file, path, err) < 0)
		return -1;
	return unpack_is_packed(file->bytes, file->size) ? parse_packed(file, err)
							 : parse(file, err);
}

int elf_file_open_bytes(struct elf_file *file, uint8_t *bytes, size_t size, struct error *err)
{
	*file = (struct elf_file){ .bytes = bytes, .size = size };
	return parse(file, err);
}

void elf_file_close(struct elf_file *file)
{
	if (file->elf)
		elf_end(file->elf);
	if (file->mapped)
		munmap(file->bytes, file->size);
	else
		free(file->bytes);
	free(file->code);
	*file = (struct elf_file){ 0 };
}

const struct code_range *elf_file_code_at(const struct elf_file *file, uint64_t offset)
{
	for (size_t i = 0; i < file->code_count; i++)
		if (offset - file->code[i].offset < file->code[i].size)
			return &file->code[i];
	return NULL;
}

const uint8_t *elf_file_section_bytes(const struct elf_file *file, const GElf_Shdr *section)
{
	if (section->sh_type == SHT_NOBITS || section->sh_size == 0)
		return NULL;
	if (section->sh_offset > file->size || section->sh_size > file->size - section->sh_offset)
		return NULL;
	return file->bytes + section->sh_offset;
}

struct elf_part elf_file_section(const struct elf_file *file, const char *name)
{
	struct elf_part part = { 0 };
	struct elf_section section;

	if (!elf_section_find(file->elf, name, &section) ||
	    section.header.sh_flags & SHF_COMPRESSED)
		return part;
	part.bytes = elf_file_section_bytes(file, &section.header);
	part.size = part.bytes ? section.header.sh_size : 0;
	part.vaddr = section.header.sh_addr;
	return part;
}

struct elf_part elf_file_loaded_at(const struct elf_file *file, uint64_t vaddr)
{
	struct elf_part part = { .vaddr = vaddr };
	GElf_Phdr phdr;

	for (int i = 0; gelf_getphdr(file->elf, i, &phdr); i++) {
		uint64_t skip = vaddr - phdr.p_vaddr, size = phdr.p_filesz;

		if (phdr.p_type != PT_LOAD || skip >= size ||
		    !clip_to_file(file, phdr.p_offset, &size) || skip >= size)
			continue;
		part.bytes = file->bytes + phdr.p_offset + skip;
		part.size = size - skip;
		break;
	}
	return part;
}

void elf_file_print_id(char text[2 * ELF_BUILD_ID_MAX + 1], const uint8_t *id, size_t size)
{
	text[0] = 0;
	for (size_t i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
}

bool elf_section_next(Elf *elf, struct elf_section *section)
{
	if (!section->scn && elf_getshdrstrndx(elf, &section->names) != 0)
		section->names = SHN_UNDEF;
	while ((section->scn = elf_nextscn(elf, section->scn))) {
		errno = 0;
		if (!gelf_getshdr(section->scn, &section->header)) {
			alloc_check();
			continue;
		}
		section->name = elf_strptr(elf, section->names, section->header.sh_name);
		if (!section->name)
			section->name = "";
		return true;
	}
	return false;
}

bool elf_section_find(Elf *elf, const char *name, struct elf_section *section)
{
	section->scn = NULL;
	while (elf_section_next(elf, section))
		if (strcmp(section->name, name) == 0)
			return true;
	return false;
}

bool elf_symbol_next(Elf *elf, struct elf_symbol *symbol)
{
	for (;;) {
		while (symbol->data && gelf_getsym(symbol->data, symbol->next, &symbol->symbol)) {
			symbol->next++;
			symbol->name = elf_strptr(elf, symbol->table.header.sh_link,
						  symbol->symbol.st_name);
			if (symbol->name && symbol->name[0])
				return true;
		}
		if (!elf_section_next(elf, &symbol->table))
			return false;
		symbol->data = symbol->table.header.sh_type == SHT_SYMTAB
				       ? ALLOC_CHECKED(elf_getdata(symbol->table.scn, NULL))
				       : NULL;
		symbol->next = 0;
	}
}
