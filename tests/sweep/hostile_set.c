/* SPDX-License-Identifier: MIT */
/* Builds programs and recordings; layouts: System V ABI, "Object Files"; elf.h. */
#include "tests/sweep/hostile_set.h"

#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/support/sample.h"

size_t hostile_room = (size_t)512 << 10;

size_t bytes_add(struct bytes *bytes, const void *added, size_t size)
{
	size_t at = bytes->size;

	if (bytes->size + size > bytes->room) {
		bytes->room = 2 * (bytes->size + size);
		bytes->at = realloc(bytes->at, bytes->room);
		if (!bytes->at)
			abort();
	}
	if (size)
		memcpy(bytes->at + at, added, size);
	bytes->size += size;
	return at;
}

void bytes_number(struct bytes *bytes, uint64_t number, size_t size)
{
	bytes_add(bytes, &number, size);
}

size_t bytes_text(struct bytes *bytes, const char *text)
{
	return bytes_add(bytes, text, strlen(text) + 1);
}

void bytes_uleb128(struct bytes *bytes, uint64_t number)
{
	do {
		bytes_number(bytes, (number & 0x7f) | (number > 0x7f) << 7, 1);
		number >>= 7;
	} while (number);
}

static void bytes_release(struct bytes *bytes)
{
	free(bytes->at);
	*bytes = (struct bytes){ 0 };
}

void hostile_file_write(const char *folder, const char *name, const struct bytes *bytes)
{
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "wb");
	if (!out || fwrite(bytes->at, 1, bytes->size, out) != bytes->size || fclose(out) != 0) {
		perror(path);
		exit(1);
	}
}

/* ---- Programs ------------------------------------------------------------ */

void hostile_elf_symbol(struct hostile_elf *elf, size_t index, const char *name)
{
	Elf64_Sym symbol = { .st_name = (Elf64_Word)(1 + bytes_text(&elf->names, name)),
			     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			     .st_shndx = 1,
			     .st_value = SAMPLE_CODE + index * HOSTILE_FUNCTION,
			     .st_size = HOSTILE_FUNCTION };

	bytes_add(&elf->symbols, &symbol, sizeof(symbol));
}

void hostile_elf_name_functions(struct hostile_elf *elf)
{
	char name[32];

	for (size_t i = 0; i < elf->functions; i++) {
		snprintf(name, sizeof(name), "f%zu", i);
		hostile_elf_symbol(elf, i, name);
	}
}

void hostile_elf_section(struct hostile_elf *elf, const char *name, struct bytes *bytes, int packed)
{
	struct hostile_section *section = &elf->sections[elf->section_count++];
	Elf64_Chdr header = { ELFCOMPRESS_ZLIB, 0, bytes->size, 1 };
	uLongf size = compressBound(bytes->size);
	uint8_t *room;

	*section = (struct hostile_section){ .name = name, .bytes = *bytes };
	*bytes = (struct bytes){ 0 };
	if (!packed)
		return;
	room = malloc(size);
	if (!room || compress2(room, &size, section->bytes.at, section->bytes.size, 9) != Z_OK)
		abort();
	section->packed_from = section->bytes.size;
	section->bytes.size = 0;
	bytes_add(&section->bytes, &header, sizeof(header));
	bytes_add(&section->bytes, room, size);
	free(room);
}

enum { SECTION_CODE = 1, SECTION_SYMBOLS, SECTION_STRINGS, SECTION_NAMES, SECTION_FIRST };

struct writing {
	struct bytes file, names;
	Elf64_Shdr headers[SECTION_FIRST + HOSTILE_SECTIONS];
};

static void place(struct writing *w, unsigned index, const char *name, Elf64_Shdr header,
		  const struct bytes *bytes)
{
	header.sh_name = (Elf64_Word)bytes_text(&w->names, name);
	header.sh_size = bytes->size;
	while (w->file.size % 8)
		bytes_number(&w->file, 0, 1);
	header.sh_offset = bytes_add(&w->file, bytes->at, bytes->size);
	w->headers[index] = header;
}

static void place_all(struct writing *w, const struct hostile_elf *elf)
{
	struct bytes symbols = { 0 }, names = { 0 };

	bytes_add(&symbols, &(Elf64_Sym){ 0 }, sizeof(Elf64_Sym));
	bytes_add(&symbols, elf->symbols.at, elf->symbols.size);
	bytes_number(&names, 0, 1);
	bytes_add(&names, elf->names.at, elf->names.size);
	place(w, SECTION_SYMBOLS, ".symtab",
	      (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
			    .sh_link = SECTION_STRINGS,
			    .sh_entsize = sizeof(Elf64_Sym) },
	      &symbols);
	place(w, SECTION_STRINGS, ".strtab", (Elf64_Shdr){ .sh_type = SHT_STRTAB }, &names);
	for (unsigned i = 0; i < elf->section_count; i++)
		place(w, SECTION_FIRST + i, elf->sections[i].name,
		      (Elf64_Shdr){ .sh_type = elf->sections[i].type ?: SHT_PROGBITS,
				    .sh_flags = elf->sections[i].packed_from ? SHF_COMPRESSED : 0 },
		      &elf->sections[i].bytes);
	bytes_text(&w->names, ".shstrtab");
	place(w, SECTION_NAMES, ".shstrtab", (Elf64_Shdr){ .sh_type = SHT_STRTAB }, &w->names);
	bytes_release(&symbols);
	bytes_release(&names);
}

void hostile_elf_write(struct hostile_elf *elf, const char *folder, const char *name)
{
	const size_t code_size = elf->functions * HOSTILE_FUNCTION;
	struct writing w = { 0 };
	struct bytes code = { 0 };
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					   ELFDATA2LSB, EV_CURRENT },
			      .e_type = ET_EXEC,
			      .e_machine = EM_X86_64,
			      .e_version = EV_CURRENT,
			      .e_phoff = sizeof(header),
			      .e_ehsize = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = 1,
			      .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shnum = (Elf64_Half)(SECTION_FIRST + elf->section_count),
			      .e_shstrndx = SECTION_NAMES };
	Elf64_Phdr segment = { .p_type = PT_LOAD,
			       .p_flags = PF_R | PF_X,
			       .p_offset = TINY_ELF_CODE_OFFSET,
			       .p_vaddr = SAMPLE_CODE,
			       .p_filesz = code_size,
			       .p_memsz = code_size };

	bytes_add(&w.file, &header, sizeof(header));
	bytes_add(&w.file, &segment, sizeof(segment));
	while (w.file.size < TINY_ELF_CODE_OFFSET)
		bytes_number(&w.file, 0, 8);
	for (size_t i = 0; i < code_size; i++)
		bytes_number(&code, 0xc3, 1); /* ret */
	bytes_number(&w.names, 0, 1);
	place(&w, SECTION_CODE, ".text",
	      (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
			    .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			    .sh_addr = SAMPLE_CODE },
	      &code);
	place_all(&w, elf);
	while (w.file.size % 8)
		bytes_number(&w.file, 0, 1);
	header.e_shoff = bytes_add(&w.file, w.headers, header.e_shnum * sizeof(Elf64_Shdr));
	memcpy(w.file.at, &header, sizeof(header));
	hostile_file_write(folder, name, &w.file);
	bytes_release(&w.file);
	bytes_release(&w.names);
	bytes_release(&code);
	bytes_release(&elf->symbols);
	bytes_release(&elf->names);
	for (size_t i = 0; i < elf->section_count; i++)
		bytes_release(&elf->sections[i].bytes);
}

/* ---- Recordings ---------------------------------------------------------- */

void hostile_visits_add(struct hostile_visits *visits, uint64_t address)
{
	if (visits->count == visits->room) {
		visits->room = 2 * visits->room + 64;
		visits->addresses =
			realloc(visits->addresses, visits->room * sizeof(*visits->addresses));
		if (!visits->addresses)
			abort();
	}
	visits->addresses[visits->count++] = address;
}

/* An IP packet of SDM volume 3, "Target IP": the payload's 32 bits replace those of the last IP. */
static void add_ip(struct bytes *trace, unsigned opcode, uint64_t address)
{
	bytes_number(trace, opcode | 2u << 5, 1);
	bytes_number(trace, address, 4);
}

/* Tracing begins and ends at each address: the code there does not matter. */
static void make_trace(const struct hostile_visits *visits, struct bytes *trace)
{
	static struct pt_packets packets;

	pt_packets_init(&packets);
	pt_packets_psb(&packets, SAMPLE_START, 0);
	bytes_add(trace, packets.bytes, pt_packets_size(&packets));
	for (size_t i = 0; i < visits->count; i++) {
		uint64_t tsc = SAMPLE_START + 10 * (i + 1);

		bytes_number(trace, 0x19 | tsc << 8, 8);   /* TSC */
		add_ip(trace, 0x11, visits->addresses[i]); /* TIP.PGE */
		add_ip(trace, 0x1d, visits->addresses[i]); /* FUP */
		bytes_number(trace, 0x01, 1);              /* TIP.PGD */
	}
	pt_packets_release(&packets);
}

static void begin_recording(struct perf_data *data, const struct hostile_visits *visits)
{
	struct perf_data_mmap map = {
		.pid = SAMPLE_PID,
		.tid = SAMPLE_PID,
		.address = visits->base ? visits->base : SAMPLE_CODE,
		.length = visits->size,
		.file_offset = visits->base ? visits->file_offset : TINY_ELF_CODE_OFFSET,
		.path = visits->mapped ? visits->mapped : SAMPLE_PATH,
		.prot = 5,
	};

	sample_begin(data);
	perf_data_add_mmap2(data, 0, &map);
	for (unsigned i = 1; i <= visits->programs; i++) {
		char path[32];

		snprintf(path, sizeof(path), "%s%u", SAMPLE_PATH, i);
		map.path = path;
		map.address = SAMPLE_CODE + i * HOSTILE_APART;
		perf_data_add_mmap2(data, 0, &map);
	}
	if (!visits->also_mapped)
		return;
	map.address = UINT64_C(0x7f0000000000);
	map.length = 0x1000;
	map.file_offset = 0;
	map.path = visits->also_mapped;
	perf_data_add_mmap2(data, 0, &map);
}

void hostile_visits_write(struct hostile_visits *visits, const char *folder)
{
	struct perf_data_aux aux = { .reference = SAMPLE_START, .tid = -1 };
	struct bytes trace = { 0 };
	struct perf_data data;
	char path[PATH_MAX];

	begin_recording(&data, visits);
	make_trace(visits, &trace);
	aux.bytes = trace.at;
	aux.size = trace.size;
	perf_data_add_auxtrace(&data, &aux);
	snprintf(path, sizeof(path), "%s/perf.data", folder);
	perf_data_write(&data, path);
	perf_data_release(&data);
	bytes_release(&trace);
	free(visits->addresses);
	*visits = (struct hostile_visits){ 0 };
}

void hostile_visit_functions(const char *folder, size_t functions)
{
	struct hostile_visits visits = { .size = functions * HOSTILE_FUNCTION };

	for (size_t i = 0; i < functions; i++)
		hostile_visits_add(&visits, SAMPLE_CODE + i * HOSTILE_FUNCTION);
	hostile_visits_write(&visits, folder);
}
