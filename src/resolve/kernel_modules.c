/* SPDX-License-Identifier: MIT */
/* Lay out and relocate the code of kernel modules as the kernel does. */
#include "src/resolve/code_files.h"

/* The kernel aligns a module's code to at most a page. */
#define ALIGNMENT_MAX 4096

/* A module while it is loaded. */
struct module_load {
	struct elf_file file;
	uint64_t begin, limit; /* ip range where it was mapped */
	uint64_t *addresses;   /* owned; by section index; 0: not code */
	size_t section_count;
	uint8_t *bytes; /* from the arena */
	uint64_t size;
};

/* ---- Functions of the kernel --------------------------------------------- */

static void add_export(struct kernel_modules *modules, const char *name, uint64_t address)
{
	*ARRAY_ADD(modules->exports, modules->export_count, modules->export_room) =
		(struct kernel_export){ name, address };
}

static int compare_exports(const void *left, const void *right)
{
	const struct kernel_export *a = left, *b = right;

	return strcmp(a->name, b->name);
}

void kernel_modules_add_kernel(struct kernel_modules *modules, const struct elf_file *vmlinux,
			       uint64_t distance)
{
	struct elf_symbol it = { 0 };

	while (elf_symbol_next(vmlinux->elf, &it)) {
		uint64_t address = it.symbol.st_value + distance;
		bool local = GELF_ST_BIND(it.symbol.st_info) == STB_LOCAL;

		if (GELF_ST_TYPE(it.symbol.st_info) > STT_FUNC ||
		    !elf_file_code_at_vaddr(vmlinux, it.symbol.st_value))
			continue;
		if (!local)
			add_export(modules, it.name, address);
		fprintf(modules->kallsyms, "%016" PRIx64 " %c %s\n", address, local ? 't' : 'T',
			it.name);
	}
}

/* ---- Layout of sections -------------------------------------------------- */

/* Code needed only at a module's start is in other memory, which is freed later. */
static bool is_core_code(const struct elf_section *section)
{
	const uint64_t wanted = SHF_ALLOC | SHF_EXECINSTR;

	return section->header.sh_type == SHT_PROGBITS &&
	       (section->header.sh_flags & wanted) == wanted &&
	       !starts_with(section->name, ".init");
}

static void lay_out_sections(struct module_load *load)
{
	struct elf_section section = { 0 };
	const GElf_Shdr *header = &section.header;
	uint64_t at = load->begin;

	elf_getshdrnum(load->file.elf, &load->section_count);
	load->addresses = alloc_zeroed(load->section_count + 1, sizeof(uint64_t));
	while (elf_section_next(load->file.elf, &section)) {
		uint64_t alignment = header->sh_addralign ? header->sh_addralign : 1;

		if (!is_core_code(&section) || !elf_file_section_bytes(&load->file, header))
			continue;
		if (alignment > ALIGNMENT_MAX || alignment & (alignment - 1))
			return;
		at = (at + alignment - 1) & ~(alignment - 1);
		if (at > load->limit || header->sh_size > load->limit - at)
			return;
		load->addresses[elf_ndxscn(section.scn)] = at;
		at += header->sh_size;
		load->size = at - load->begin;
	}
}

static void copy_sections(struct module_load *load, struct arena *arena)
{
	struct elf_section section = { 0 };

	load->bytes = arena_alloc(arena, load->size);
	while (elf_section_next(load->file.elf, &section)) {
		uint64_t address = load->addresses[elf_ndxscn(section.scn)];

		if (address)
			memcpy(load->bytes + (address - load->begin),
			       elf_file_section_bytes(&load->file, &section.header),
			       section.header.sh_size);
	}
}

/* Returns the address of a section of the module's code; 0: not code. */
static uint64_t section_address(const struct module_load *load, size_t index)
{
	return index < load->section_count ? load->addresses[index] : 0;
}

/* ---- Relocation ---------------------------------------------------------- */

/* An address that the kernel writes into the code. */
struct reference {
	uint64_t offset; /* offset of the field in the module's bytes */
	uint64_t target; /* with the addend */
	size_t size;
	bool relative;
};

/*
 * Set the field's size and kind by the type of a relocation (System V ABI, AMD64 supplement,
 * "Relocation Types"). Returns false for types that do not occur in code.
 */
static bool decode_type(unsigned type, struct reference *reference)
{
	static const struct {
		unsigned type;
		uint8_t size;
		bool relative;
	} types[] = {
		{ R_X86_64_PC32, 4, true }, { R_X86_64_PLT32, 4, true }, { R_X86_64_PC64, 8, true },
		{ R_X86_64_64, 8, false },  { R_X86_64_32, 4, false },   { R_X86_64_32S, 4, false },
	};

	for (size_t i = 0; i < COUNT_OF(types); i++) {
		if (types[i].type != type)
			continue;
		reference->size = types[i].size;
		reference->relative = types[i].relative;
		return true;
	}
	return false;
}

static void relocate_field(const struct kernel_modules *modules, struct module_load *load,
			   const GElf_Rela *rela, uint64_t section, const GElf_Sym *symbol,
			   const char *name)
{
	static const uint8_t nop5[] = { 0x0f, 0x1f, 0x44, 0, 0 };
	uint64_t address = section + rela->r_offset, target = symbol->st_value;
	struct reference reference = { .offset = address - load->begin };
	uint64_t ip, value;

	if (!decode_type(GELF_R_TYPE(rela->r_info), &reference) || address < section ||
	    reference.offset > load->size)
		return;
	if (symbol->st_shndx == SHN_UNDEF && strcmp(name, "__fentry__") == 0 && reference.offset &&
	    load->bytes[reference.offset - 1] == 0xe8 /* CALL */) {
		if (load->size - reference.offset >= sizeof(nop5) - 1)
			memcpy(load->bytes + reference.offset - 1, nop5, sizeof(nop5));
		return;
	}
	if (symbol->st_shndx == SHN_UNDEF) {
		struct kernel_export wanted = { .name = name };
		const struct kernel_export *found =
			modules->export_count
				? bsearch(&wanted, modules->exports, modules->export_count,
					  sizeof(wanted), compare_exports)
				: NULL;

		target = found ? found->address : KERNEL_MODULE_HOLE;
	} else if (section_address(load, symbol->st_shndx)) {
		target += section_address(load, symbol->st_shndx);
	} else if (symbol->st_shndx != SHN_ABS) {
		return; /* data: no code depends on its address */
	}
	reference.target = target + (uint64_t)rela->r_addend;
	ip = load->begin + reference.offset;
	value = reference.target - (reference.relative ? ip : 0);
	if (reference.size <= load->size - reference.offset)
		memcpy(load->bytes + reference.offset, &value, reference.size);
}

static void relocate_section(const struct kernel_modules *modules, struct module_load *load,
			     const struct elf_section *relocations)
{
	Elf_Scn *table = elf_getscn(load->file.elf, relocations->header.sh_link);
	Elf_Data *data = ALLOC_CHECKED(elf_getdata(relocations->scn, NULL));
	Elf_Data *symbols = table ? ALLOC_CHECKED(elf_getdata(table, NULL)) : NULL;
	uint64_t section = section_address(load, relocations->header.sh_info);
	GElf_Shdr symbol_header;
	GElf_Rela rela;
	GElf_Sym symbol;

	if (!data || !symbols || !gelf_getshdr(table, &symbol_header))
		return;
	for (int i = 0; gelf_getrela(data, i, &rela); i++) {
		const char *name;

		if (!gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &symbol))
			continue;
		name = elf_strptr(load->file.elf, symbol_header.sh_link, symbol.st_name);
		relocate_field(modules, load, &rela, section, &symbol, name ? name : "");
	}
}

/* ---- Modules ------------------------------------------------------------- */

/* Relocate a module after all are laid out, because they call each other. */
static void add_module(struct kernel_modules *modules, struct module_load *load)
{
	struct elf_section section = { 0 };

	copy_sections(load, modules->arena);
	while (elf_section_next(load->file.elf, &section))
		if (section.header.sh_type == SHT_RELA &&
		    section_address(load, section.header.sh_info))
			relocate_section(modules, load, &section);
	*ARRAY_ADD(modules->modules, modules->count, modules->room) =
		(struct kernel_module){ load->begin, load->begin + load->size, load->bytes };
}

static void close_module(struct module_load *load)
{
	free(load->addresses);
	elf_file_close(&load->file);
	*load = (struct module_load){ 0 };
}

/* Returns whether the module's file is open and its code laid out. */
static bool open_module(struct kernel_modules *modules, const struct mapping *mapping,
			const char *path, struct module_load *load)
{
	*load = (struct module_load){ .begin = mapping->begin, .limit = mapping->end };
	if (elf_file_open(&load->file, path, NULL) < 0)
		return false;
	if (load->file.header.e_type == ET_REL && load->file.header.e_machine == EM_X86_64)
		lay_out_sections(load);
	if (load->size) {
		const char *name = base_name(mapping->file->path);
		struct elf_symbol it = { 0 };

		/* Print the functions with the module's name in brackets, as kallsyms does. */
		while (elf_symbol_next(load->file.elf, &it)) {
			uint64_t section = section_address(load, it.symbol.st_shndx);
			uint64_t address = section + it.symbol.st_value;

			if (section && GELF_ST_BIND(it.symbol.st_info) != STB_LOCAL)
				add_export(modules, it.name, address);
			if (section && GELF_ST_TYPE(it.symbol.st_info) == STT_FUNC)
				fprintf(modules->kallsyms, "%016" PRIx64 " t %s\t[%.*s]\n", address,
					it.name, (int)strcspn(name, "."), name);
		}
	} else {
		close_module(load);
	}
	return load->size;
}

bool kernel_modules_is_module(const char *path)
{
	static const char *const ends[] = { ".ko", ".ko.xz", ".ko.zst", ".ko.gz" };

	for (size_t i = 0; i < COUNT_OF(ends); i++)
		if (ends_with(path, ends[i]))
			return true;
	return false;
}

void kernel_modules_load(struct kernel_modules *modules, const struct address_space *kernel,
			 const struct resolver *resolver, struct diag *diag)
{
	struct module_load *all;
	size_t count = 0;
	uint32_t files = 0;
	bool *seen;

	if (!kernel)
		return;
	all = alloc_zeroed(kernel->count + 1, sizeof(*all));
	for (size_t i = 0; i < kernel->count; i++)
		files = MAX(files, kernel->mappings[i].file->index + 1);
	seen = alloc_zeroed(files + 1, sizeof(*seen));
	for (size_t i = 0; i < kernel->count; i++) {
		const struct mapped_file *file = kernel->mappings[i].file;
		const char *path = resolver->dsos[file->index]->file;

		/* A module is loaded once; repeated mappings would only waste memory. */
		if (!path || !kernel_modules_is_module(file->path) || seen[file->index])
			continue;
		seen[file->index] = true;
		if (open_module(modules, &kernel->mappings[i], path, &all[count]))
			count++;
		else
			diag_warn(diag, "module-unusable",
				  "%s: its code does not fit at the recorded address", path);
	}
	free(seen);
	SORT(modules->exports, modules->export_count, compare_exports);
	for (size_t i = 0; i < count; i++)
		add_module(modules, &all[i]);
	modules->export_count = 0; /* the names belong to the files, which are closed now */
	for (size_t i = 0; i < count; i++)
		close_module(&all[i]);
	free(all);
}

void kernel_modules_release(struct kernel_modules *modules)
{
	free(modules->modules);
	free(modules->exports);
	*modules = (struct kernel_modules){ 0 };
}
