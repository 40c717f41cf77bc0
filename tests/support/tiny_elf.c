/* SPDX-License-Identifier: MIT */
#include "tests/support/tiny_elf.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum section {
	SECTION_NULL,
	SECTION_TEXT,
	SECTION_SYMTAB,
	SECTION_STRTAB,
	SECTION_NAMES,
	SECTION_GO,
	SECTIONS
};

static const char section_names[] = "\0.text\0.symtab\0.strtab\0.shstrtab\0.gopclntab";

/* Offsets in the file. */
struct layout {
	size_t symbols, strings, names, headers, end, strings_size;
};

static size_t align8(size_t offset)
{
	return (offset + 7) & ~(size_t)7;
}

static struct layout lay_out(const struct tiny_elf *elf)
{
	struct layout layout = { .strings_size = 1 };

	for (size_t i = 0; i < elf->symbol_count; i++)
		layout.strings_size += strlen(elf->symbols[i].name) + 1;
	layout.symbols = align8(TINY_ELF_CODE_OFFSET + elf->code_size);
	layout.strings = layout.symbols + (elf->symbol_count + 1) * sizeof(Elf64_Sym);
	layout.names = layout.strings + layout.strings_size;
	layout.headers = align8(layout.names + sizeof(section_names));
	layout.end = layout.headers + SECTIONS * sizeof(Elf64_Shdr);
	return layout;
}

static void put_header(uint8_t *bytes, const struct tiny_elf *elf, const struct layout *layout)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)bytes;
	Elf64_Phdr *segment = (Elf64_Phdr *)(bytes + sizeof(*header));

	memcpy(header->e_ident, ELFMAG, SELFMAG);
	header->e_ident[EI_CLASS] = ELFCLASS64;
	header->e_ident[EI_DATA] = ELFDATA2LSB;
	header->e_ident[EI_VERSION] = EV_CURRENT;
	header->e_type = ET_EXEC;
	header->e_machine = EM_X86_64;
	header->e_version = EV_CURRENT;
	header->e_entry = elf->address;
	header->e_ehsize = sizeof(*header);
	header->e_phoff = sizeof(*header);
	header->e_phentsize = sizeof(*segment);
	header->e_phnum = 1;
	header->e_shoff = layout->headers;
	header->e_shentsize = sizeof(Elf64_Shdr);
	header->e_shnum = SECTIONS;
	header->e_shstrndx = SECTION_NAMES;
	segment->p_type = PT_LOAD;
	segment->p_flags = PF_R | PF_X;
	segment->p_offset = TINY_ELF_CODE_OFFSET;
	segment->p_vaddr = elf->address;
	segment->p_filesz = elf->code_size;
	segment->p_memsz = elf->code_size;
}

static void put_sections(uint8_t *bytes, const struct tiny_elf *elf, const struct layout *layout)
{
	Elf64_Shdr *headers = (Elf64_Shdr *)(bytes + layout->headers);

	headers[SECTION_TEXT] = (Elf64_Shdr){ .sh_name = 1,
					      .sh_type = SHT_PROGBITS,
					      .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
					      .sh_addr = elf->address,
					      .sh_offset = TINY_ELF_CODE_OFFSET,
					      .sh_size = elf->code_size };
	headers[SECTION_SYMTAB] =
		(Elf64_Shdr){ .sh_name = 7,
			      .sh_type = SHT_SYMTAB,
			      .sh_offset = layout->symbols,
			      .sh_size = (elf->symbol_count + 1) * sizeof(Elf64_Sym),
			      .sh_link = SECTION_STRTAB,
			      .sh_entsize = sizeof(Elf64_Sym) };
	headers[SECTION_STRTAB] = (Elf64_Shdr){ .sh_name = 15,
						.sh_type = SHT_STRTAB,
						.sh_offset = layout->strings,
						.sh_size = layout->strings_size };
	headers[SECTION_NAMES] = (Elf64_Shdr){ .sh_name = 23,
					       .sh_type = SHT_STRTAB,
					       .sh_offset = layout->names,
					       .sh_size = sizeof(section_names) };
	headers[SECTION_GO] = (Elf64_Shdr){ .sh_name = elf->go_table_size ? 33 : 0,
					    .sh_type = SHT_PROGBITS,
					    .sh_offset = TINY_ELF_CODE_OFFSET + elf->go_table,
					    .sh_size = elf->go_table_size };
}

static void put_symbols(uint8_t *bytes, const struct tiny_elf *elf, const struct layout *layout)
{
	Elf64_Sym *symbols = (Elf64_Sym *)(bytes + layout->symbols);
	char *strings = (char *)bytes + layout->strings;
	size_t used = 1;

	for (size_t i = 0; i < elf->symbol_count; i++) {
		const struct tiny_symbol *symbol = &elf->symbols[i];

		symbols[i + 1] = (Elf64_Sym){ .st_name = (Elf64_Word)used,
					      .st_info = symbol->info,
					      .st_shndx = SECTION_TEXT,
					      .st_value = symbol->address,
					      .st_size = symbol->size };
		strcpy(strings + used, symbol->name);
		used += strlen(symbol->name) + 1;
	}
}

uint8_t *tiny_elf_bytes(const struct tiny_elf *elf, size_t *size)
{
	struct layout layout = lay_out(elf);
	uint8_t *bytes = calloc(1, layout.end);

	if (!bytes)
		abort();
	put_header(bytes, elf, &layout);
	memcpy(bytes + TINY_ELF_CODE_OFFSET, elf->code, elf->code_size);
	put_symbols(bytes, elf, &layout);
	memcpy(bytes + layout.names, section_names, sizeof(section_names));
	put_sections(bytes, elf, &layout);
	*size = layout.end;
	return bytes;
}

void tiny_elf_write(const struct tiny_elf *elf, const char *path)
{
	size_t size;
	uint8_t *bytes = tiny_elf_bytes(elf, &size);
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	free(bytes);
}
