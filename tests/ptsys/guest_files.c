/* SPDX-License-Identifier: MIT */
#include "tests/ptsys/guest_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tests/ptsys/guest.h"

/* The offset of the code in kcore. */
#define KCORE_OFFSET   4096
#define KCORE_SEGMENTS 2

int guest_map(struct elf_file *file, const char *path, struct mapping *map)
{
	struct error err = { 0 };

	if (elf_file_open(file, path, &err) < 0 || !file->code_count) {
		fprintf(stderr, "ptsys: %s: %s\n", path, err.text);
		return -1;
	}
	*map = (struct mapping){
		.begin = file->code[0].vaddr,
		.end = file->code[0].vaddr + file->code[0].size,
		.offset = file->code[0].offset,
		.prot = PROT_READ | PROT_EXEC,
	};
	snprintf(map->path, sizeof(map->path), "%s", path);
	return 0;
}

typedef void symbol_fn(void *context, const char *name, const GElf_Sym *symbol);

static void each_symbol(const struct elf_file *file, symbol_fn *take, void *context)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;

	while ((section = elf_nextscn(file->elf, section))) {
		Elf_Data *data = elf_getdata(section, NULL);

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		for (int i = 0; data && gelf_getsym(data, i, &symbol); i++)
			take(context, elf_strptr(file->elf, header.sh_link, symbol.st_name),
			     &symbol);
	}
}

struct wanted {
	const char *name;
	uint64_t address;
};

static void compare_name(void *context, const char *name, const GElf_Sym *symbol)
{
	struct wanted *wanted = context;

	if (name && strcmp(name, wanted->name) == 0)
		wanted->address = symbol->st_value;
}

uint64_t guest_address(const struct elf_file *file, const char *name)
{
	struct wanted wanted = { name, UINT64_MAX };

	each_symbol(file, compare_name, &wanted);
	if (wanted.address == UINT64_MAX)
		fprintf(stderr, "ptsys: the guest has no %s\n", name);
	return wanted.address;
}

const char *guest_path(const char *folder, const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void print_symbol(void *context, const char *name, const GElf_Sym *symbol)
{
	unsigned kind = GELF_ST_TYPE(symbol->st_info);

	if (name && *name &&
	    (kind == STT_FUNC || strcmp(name, "_text") == 0 ||
	     strcmp(name, "_entry_trampoline") == 0 || strcmp(name, "_etext") == 0))
		fprintf(context, "%016" PRIx64 " %c %s\n", (uint64_t)symbol->st_value,
			GELF_ST_BIND(symbol->st_info) == STB_LOCAL ? 't' : 'T', name);
}

/* The ranges at which the kernel is mapped; two may be the same bytes. */
static void write_kcore(FILE *out, const struct elf_file *kernel,
			const struct mapping *const maps[])
{
	Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = KCORE_SEGMENTS,
	};
	uint64_t at = KCORE_OFFSET;

	fwrite(&header, sizeof(header), 1, out);
	for (unsigned i = 0; i < KCORE_SEGMENTS; i++) {
		Elf64_Phdr segment = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_W | PF_X,
			.p_offset = at,
			.p_vaddr = maps[i]->begin,
			.p_filesz = maps[i]->end - maps[i]->begin,
			.p_memsz = maps[i]->end - maps[i]->begin,
			.p_align = 4096,
		};

		at += segment.p_filesz;
		fwrite(&segment, sizeof(segment), 1, out);
	}
	fseek(out, KCORE_OFFSET, SEEK_SET);
	for (unsigned i = 0; i < KCORE_SEGMENTS; i++)
		fwrite(kernel->bytes + maps[i]->offset, maps[i]->end - maps[i]->begin, 1, out);
}

static FILE *create(const char *folder, const char *name)
{
	FILE *out = fopen(guest_path(folder, name), "we");

	if (!out)
		fprintf(stderr, "ptsys: %s: %m\n", guest_path(folder, name));
	return out;
}

int guest_write_kernel(const struct elf_file *kernel, const struct mapping *maps,
		       const char *folder)
{
	const struct mapping *const ranges[KCORE_SEGMENTS] = { &maps[MAP_KERNEL],
							       &maps[MAP_TRAMPOLINE] };
	FILE *kcore, *symbols, *modules;

	mkdir(folder, 0777);
	mkdir(guest_path(folder, "kcore_dir"), 0777);
	kcore = create(folder, "kcore_dir/kcore");
	symbols = create(folder, "kcore_dir/kallsyms");
	modules = create(folder, "kcore_dir/modules");
	if (!kcore || !symbols || !modules)
		return -1;
	write_kcore(kcore, kernel, ranges);
	each_symbol(kernel, print_symbol, symbols);
	/* As in Linux 4.18 and 4.19 (arch_get_kallsym() of arch/x86/mm/cpu_entry_area.c). */
	fprintf(symbols, "%016" PRIx64 " t __entry_SYSCALL_64_trampoline\n",
		maps[MAP_TRAMPOLINE].begin);
	if (fclose(kcore) | fclose(symbols) | fclose(modules)) {
		fprintf(stderr, "ptsys: %s: cannot be written\n", folder);
		return -1;
	}
	return 0;
}
