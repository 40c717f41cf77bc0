/* SPDX-License-Identifier: MIT */
#include "src/resolve/kernel_modules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* The kernel aligns nothing of a module's code by more than a page. */
#define ALIGNMENT_MAX 4096

/* A module on its way. */
struct loading {
	struct elf_file file;
	uint64_t begin, limit; /* where it was mapped */
	uint64_t *addresses;   /* owned; of its sections; 0: not code */
	size_t section_count;
	uint8_t *bytes; /* of the arena */
	uint64_t size;
	const char *name; /* as kallsyms calls it, in brackets */
	size_t name_length;
};

/* ---- Functions of the kernel --------------------------------------------- */

static void add_export(struct kernel_modules *modules, const char *name, uint64_t address)
{
	modules->exports = alloc_grow(modules->exports, &modules->export_room,
				      modules->export_count + 1, sizeof(*modules->exports));
	modules->exports[modules->export_count++] = (struct kernel_export){ name, address };
}

static int compare_exports(const void *left, const void *right)
{
	const struct kernel_export *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static uint64_t find_export(const struct kernel_modules *modules, const char *name)
{
	struct kernel_export wanted = { .name = name };
	const struct kernel_export *found =
		modules->export_count ? bsearch(&wanted, modules->exports, modules->export_count,
						sizeof(wanted), compare_exports)
				      : NULL;

	return found ? found->address : KERNEL_MODULE_HOLE;
}

/* Calls `take` with all named symbols of a file's symbol tables. */
typedef void take_symbol_fn(void *context, const char *name, const GElf_Sym *symbol);

static void each_symbol(const struct elf_file *file, take_symbol_fn *take, void *context)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;

	while ((section = elf_nextscn(file->elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
			const char *name = elf_strptr(file->elf, header.sh_link, symbol.st_name);

			if (name && *name)
				take(context, name, &symbol);
		}
	}
}

struct kernel_taking {
	struct kernel_modules *modules;
	const struct elf_file *file;
	uint64_t distance;
	FILE *kallsyms;
};

static void take_kernel_symbol(void *context, const char *name, const GElf_Sym *symbol)
{
	struct kernel_taking *taking = context;
	uint64_t address = symbol->st_value + taking->distance;
	bool local = GELF_ST_BIND(symbol->st_info) == STB_LOCAL;

	if (GELF_ST_TYPE(symbol->st_info) > STT_FUNC ||
	    !elf_file_code_at_vaddr(taking->file, symbol->st_value))
		return;
	if (!local)
		add_export(taking->modules, name, address);
	if (taking->kallsyms)
		fprintf(taking->kallsyms, "%016" PRIx64 " %c %s\n", address, local ? 't' : 'T',
			name);
}

void kernel_modules_take_kernel(struct kernel_modules *modules, const struct elf_file *vmlinux,
				uint64_t distance, FILE *kallsyms)
{
	struct kernel_taking taking = { modules, vmlinux, distance, kallsyms };

	each_symbol(vmlinux, take_kernel_symbol, &taking);
}

/* ---- Where sections go --------------------------------------------------- */

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* What is needed only while a module starts lies elsewhere, and is gone later. */
static bool is_core_code(const struct loading *loading, const GElf_Shdr *header)
{
	const uint64_t wanted = SHF_ALLOC | SHF_EXECINSTR;

	return header->sh_type == SHT_PROGBITS && (header->sh_flags & wanted) == wanted &&
	       !starts(elf_file_section_name(&loading->file, header), ".init");
}

static void place_sections(struct loading *loading)
{
	Elf_Scn *section = NULL;
	uint64_t at = loading->begin;
	GElf_Shdr header;

	elf_getshdrnum(loading->file.elf, &loading->section_count);
	loading->addresses = alloc_zeroed(loading->section_count + 1, sizeof(uint64_t));
	while ((section = elf_nextscn(loading->file.elf, section))) {
		uint64_t alignment;

		if (!gelf_getshdr(section, &header) || !is_core_code(loading, &header) ||
		    !elf_file_section_bytes(&loading->file, &header))
			continue;
		alignment = header.sh_addralign ? header.sh_addralign : 1;
		if (alignment > ALIGNMENT_MAX || alignment & (alignment - 1))
			return;
		at = (at + alignment - 1) & ~(alignment - 1);
		if (at > loading->limit || header.sh_size > loading->limit - at)
			return;
		loading->addresses[elf_ndxscn(section)] = at;
		at += header.sh_size;
		loading->size = at - loading->begin;
	}
}

static void copy_sections(struct loading *loading, struct arena *arena)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	loading->bytes = arena_alloc(arena, loading->size);
	while ((section = elf_nextscn(loading->file.elf, section))) {
		uint64_t address = loading->addresses[elf_ndxscn(section)];

		if (address && gelf_getshdr(section, &header))
			memcpy(loading->bytes + (address - loading->begin),
			       elf_file_section_bytes(&loading->file, &header), header.sh_size);
	}
}

/* ---- Relocation ---------------------------------------------------------- */

struct reference {
	uint64_t place;  /* ip of the field */
	uint64_t target; /* with the addend */
	size_t size;
	bool relative;
};

static bool is_fentry(const struct loading *loading, uint64_t place, const char *name)
{
	return strcmp(name, "__fentry__") == 0 && place > loading->begin &&
	       loading->bytes[place - loading->begin - 1] == 0xe8;
}

static void write_reference(struct loading *loading, const struct reference *reference)
{
	uint64_t value = reference->target - (reference->relative ? reference->place : 0);
	uint64_t offset = reference->place - loading->begin;

	if (offset <= loading->size && reference->size <= loading->size - offset)
		memcpy(loading->bytes + offset, &value, reference->size);
}

/* System V ABI, AMD64 supplement, "Relocation Types".  Returns false for those of no code. */
static bool understand(unsigned type, struct reference *reference)
{
	switch (type) {
	case R_X86_64_PC32:
	case R_X86_64_PLT32:
		reference->size = 4;
		reference->relative = true;
		return true;
	case R_X86_64_PC64:
		reference->size = 8;
		reference->relative = true;
		return true;
	case R_X86_64_64:
		reference->size = 8;
		return true;
	case R_X86_64_32:
	case R_X86_64_32S:
		reference->size = 4;
		return true;
	default:
		return false;
	}
}

static void relocate_one(const struct kernel_modules *modules, struct loading *loading,
			 const GElf_Rela *rela, uint64_t section, const GElf_Sym *symbol,
			 const char *name)
{
	static const uint8_t nop5[] = { 0x0f, 0x1f, 0x44, 0, 0 };
	struct reference reference = { .place = section + rela->r_offset };
	uint64_t target = symbol->st_value;

	if (!understand(GELF_R_TYPE(rela->r_info), &reference) || reference.place < section ||
	    reference.place - loading->begin > loading->size)
		return;
	if (symbol->st_shndx == SHN_UNDEF && is_fentry(loading, reference.place, name)) {
		if (loading->size - (reference.place - loading->begin) >= sizeof(nop5) - 1)
			memcpy(loading->bytes + (reference.place - loading->begin) - 1, nop5,
			       sizeof(nop5));
		return;
	}
	if (symbol->st_shndx == SHN_UNDEF)
		target = find_export(modules, name);
	else if (symbol->st_shndx < loading->section_count && loading->addresses[symbol->st_shndx])
		target += loading->addresses[symbol->st_shndx];
	else if (symbol->st_shndx != SHN_ABS)
		return; /* data: no code depends on where it is */
	reference.target = target + (uint64_t)rela->r_addend;
	write_reference(loading, &reference);
}

static void relocate_section(const struct kernel_modules *modules, struct loading *loading,
			     Elf_Scn *relocations, const GElf_Shdr *header)
{
	Elf_Scn *table = elf_getscn(loading->file.elf, header->sh_link);
	Elf_Data *data = elf_getdata(relocations, NULL);
	Elf_Data *symbols = table ? elf_getdata(table, NULL) : NULL;
	uint64_t section = loading->addresses[header->sh_info];
	GElf_Shdr symbol_header;
	GElf_Rela rela;
	GElf_Sym symbol;

	if (!data || !symbols || !gelf_getshdr(table, &symbol_header))
		return;
	for (int i = 0; gelf_getrela(data, i, &rela); i++) {
		const char *name;

		if (!gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &symbol))
			continue;
		name = elf_strptr(loading->file.elf, symbol_header.sh_link, symbol.st_name);
		relocate_one(modules, loading, &rela, section, &symbol, name ? name : "");
	}
}

static void relocate(const struct kernel_modules *modules, struct loading *loading)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(loading->file.elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
		    header.sh_info < loading->section_count && loading->addresses[header.sh_info])
			relocate_section(modules, loading, section, &header);
	}
}

/* ---- Modules ------------------------------------------------------------- */

struct module_exporting {
	struct kernel_modules *modules;
	const struct loading *loading;
};

struct module_naming {
	const struct loading *loading;
	FILE *kallsyms;
};

static void name_symbol(void *context, const char *name, const GElf_Sym *symbol)
{
	const struct module_naming *naming = context;
	const struct loading *loading = naming->loading;
	uint64_t section = symbol->st_shndx < loading->section_count
				   ? loading->addresses[symbol->st_shndx]
				   : 0;

	if (section && GELF_ST_TYPE(symbol->st_info) == STT_FUNC)
		fprintf(naming->kallsyms, "%016" PRIx64 " t %s\t[%.*s]\n",
			section + symbol->st_value, name, (int)loading->name_length, loading->name);
}

static void export_symbol(void *context, const char *name, const GElf_Sym *symbol)
{
	const struct module_exporting *exporting = context;
	const struct loading *loading = exporting->loading;
	uint64_t section = symbol->st_shndx < loading->section_count
				   ? loading->addresses[symbol->st_shndx]
				   : 0;

	if (section && GELF_ST_BIND(symbol->st_info) != STB_LOCAL)
		add_export(exporting->modules, name, section + symbol->st_value);
}

/* Once all modules are placed, since they call each other. */
static void finish_module(struct kernel_modules *modules, struct loading *loading, FILE *kallsyms)
{
	struct module_naming naming = { loading, kallsyms };

	copy_sections(loading, modules->arena);
	relocate(modules, loading);
	if (kallsyms)
		each_symbol(&loading->file, name_symbol, &naming);
	modules->modules = alloc_grow(modules->modules, &modules->room, modules->count + 1,
				      sizeof(*modules->modules));
	modules->modules[modules->count++] =
		(struct kernel_module){ loading->begin, loading->begin + loading->size,
					loading->bytes };
}

static bool is_relocatable(const struct elf_file *file)
{
	GElf_Ehdr header;

	return gelf_getehdr(file->elf, &header) && header.e_type == ET_REL &&
	       header.e_machine == EM_X86_64;
}

/* Returns whether the module's file is open and its code has a place. */
static bool place_module(struct kernel_modules *modules, const struct mapping *mapping,
			 const char *path, struct loading *loading)
{
	struct module_exporting exporting = { modules, loading };
	const char *base = strrchr(mapping->file->path, '/');
	struct error err = { 0 };

	*loading = (struct loading){ .begin = mapping->begin, .limit = mapping->end };
	loading->name = base ? base + 1 : mapping->file->path;
	loading->name_length = strcspn(loading->name, ".");
	if (elf_file_open(&loading->file, path, &err) < 0)
		return false;
	if (is_relocatable(&loading->file))
		place_sections(loading);
	if (loading->size)
		each_symbol(&loading->file, export_symbol, &exporting);
	return loading->size;
}

static void close_module(struct loading *loading)
{
	free(loading->addresses);
	elf_file_close(&loading->file);
	*loading = (struct loading){ 0 };
}

/* Returns the modules that were placed, `*count` of them; owned by the caller. */
static struct loading *place_all(struct kernel_modules *modules, const struct address_space *kernel,
				 const struct resolver *resolver, size_t *count, struct diag *diag)
{
	struct loading *all = alloc_zeroed(kernel->count + 1, sizeof(*all));
	uint32_t files = 0;
	bool *seen;

	for (size_t i = 0; i < kernel->count; i++) {
		if (files <= kernel->mappings[i].file->index)
			files = kernel->mappings[i].file->index + 1;
	}
	seen = alloc_zeroed(files + 1, sizeof(*seen));
	*count = 0;
	for (size_t i = 0; i < kernel->count; i++) {
		const struct mapped_file *file = kernel->mappings[i].file;
		const char *path = dso_file(resolver_borrow_dso(resolver, file));

		/* A module is loaded once: a file that tells more would only take memory. */
		if (!path || !kernel_modules_is_module(file->path) || seen[file->index])
			continue;
		seen[file->index] = true;
		if (place_module(modules, &kernel->mappings[i], path, &all[*count])) {
			++*count;
			continue;
		}
		close_module(&all[*count]);
		diag_warn(diag, "module-unusable",
			  "%s: its code cannot be placed where the recording has it", path);
	}
	free(seen);
	return all;
}

bool kernel_modules_is_module(const char *path)
{
	static const char *const ends[] = { ".ko", ".ko.xz", ".ko.zst", ".ko.gz" };
	size_t length = strlen(path);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t end = strlen(ends[i]);

		if (length > end && strcmp(path + length - end, ends[i]) == 0)
			return true;
	}
	return false;
}

void kernel_modules_load(struct kernel_modules *modules, const struct address_space *kernel,
			 const struct resolver *resolver, FILE *kallsyms, struct diag *diag)
{
	struct loading *all;
	size_t count;

	if (!kernel)
		return;
	all = place_all(modules, kernel, resolver, &count, diag);
	if (modules->export_count)
		qsort(modules->exports, modules->export_count, sizeof(*modules->exports),
		      compare_exports);
	for (size_t i = 0; i < count; i++)
		finish_module(modules, &all[i], kallsyms);
	/* The names of what they export are the files'. */
	modules->export_count = 0;
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
