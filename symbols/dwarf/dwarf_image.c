/* SPDX-License-Identifier: MIT */
/* Unpacks sections of debug information, and makes an ELF file of them. */
#include "symbols/dwarf/dwarf_image.h"

#include "base/pages.h"
#include "symbols/files/unpack.h"

/* In files of split units the names end in ".dwo". */
static const char *const section_names[DEBUG_SECTIONS] = {
	[DEBUG_INFO] = ".debug_info",         [DEBUG_ABBREV] = ".debug_abbrev",
	[DEBUG_STR] = ".debug_str",           [DEBUG_STR_OFFSETS] = ".debug_str_offsets",
	[DEBUG_RNGLISTS] = ".debug_rnglists", [DEBUG_CU_INDEX] = ".debug_cu_index",
	[DEBUG_ADDR] = ".debug_addr",         [DEBUG_RANGES] = ".debug_ranges",
	[DEBUG_LINE] = ".debug_line",         [DEBUG_LINE_STR] = ".debug_line_str",
	[DEBUG_TYPES] = ".debug_types",       [DEBUG_ALTLINK] = ".gnu_debugaltlink",
};

/* ---- Sections ------------------------------------------------------------ */

/* "ZLIB" and the size as 8 bytes, most significant first: the form before SHF_COMPRESSED. */
#define OLD_HEADER_SIZE 12

static bool is_old_form(const struct elf_section *section)
{
	return starts_with(section->name, ".zdebug");
}

uint64_t debug_section_unpacked_size(const struct elf_file *file, const struct elf_section *section)
{
	const uint8_t *bytes = elf_file_section_bytes(file, &section->header);
	uint64_t size = 0;
	GElf_Chdr chdr;

	if (section->header.sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(section->scn, &chdr) ? chdr.ch_size : UINT64_MAX;
	if (!is_old_form(section))
		return 0;
	for (unsigned i = 4; bytes && section->header.sh_size >= OLD_HEADER_SIZE && i < 12; i++)
		size = size << 8 | bytes[i];
	return size;
}

static bool has_name(const struct elf_section *section, const char *wanted, const char *end)
{
	const char *name = section->name + (is_old_form(section) ? 2 : 1);
	size_t length = strlen(wanted + 1);

	return section->name[0] && strncmp(name, wanted + 1, length) == 0 &&
	       strcmp(name + length, end) == 0;
}

static void unpack_section(struct worker_job *job, struct worker_scratch *scratch)
{
	struct section_job *section = (struct section_job *)job;

	(void)scratch;
	if (!unpack_whole(section->type, section->packed, section->bytes, section->size))
		section->size = 0;
	if (section->mapped)
		pages_give_back(section->packed.bytes, section->packed.size);
}

/* Returns false if the section is damaged. */
static bool init_job(struct section_job *job, const struct elf_file *file,
		     const struct elf_section *section, struct byte_view packed, size_t size)
{
	size_t header = OLD_HEADER_SIZE;
	GElf_Chdr chdr = { .ch_type = ELFCOMPRESS_ZLIB };

	if (section->header.sh_flags & SHF_COMPRESSED) {
		header = gelf_fsize(file->elf, ELF_T_CHDR, 1, EV_CURRENT);
		gelf_getchdr(section->scn, &chdr);
	}
	if (packed.size < header)
		return false;
	*job = (struct section_job){
		.job.run = unpack_section,
		.packed = { packed.bytes + header, packed.size - header },
		.type = chdr.ch_type,
		.bytes = alloc_bytes(size),
		.size = size,
		.mapped = file->mapped,
	};
	return true;
}

void debug_sections_begin(struct debug_sections *sections, const struct elf_file *file, bool split,
			  struct workers *workers)
{
	struct elf_section section = { 0 };

	sections->begun = true;
	sections->workers = workers;
	while (elf_section_next(file->elf, &section)) {
		struct byte_view view = { elf_file_section_bytes(file, &section.header),
					  section.header.sh_size };
		uint64_t size = debug_section_unpacked_size(file, &section);
		int i = 0, count = split ? DEBUG_OF_SPLIT : DEBUG_SECTIONS;

		while (i < count && !has_name(&section, section_names[i],
					      split && i != DEBUG_CU_INDEX ? ".dwo" : ""))
			i++;
		/* As libdw does, choose the first section of a name. */
		if (i == count || sections->views[i].bytes || !view.bytes)
			continue;
		if (!size)
			sections->views[i] = view;
		else if (!sections->jobs[i].bytes &&
			 init_job(&sections->jobs[i], file, &section, view, size) && workers)
			workers_submit(workers, &sections->jobs[i].job);
	}
}

void debug_sections_read(struct debug_sections *sections, const struct elf_file *file, bool split)
{
	if (!sections->begun)
		debug_sections_begin(sections, file, split, NULL);
	for (int i = 0; i < DEBUG_SECTIONS; i++) {
		struct section_job *job = &sections->jobs[i];

		if (!job->bytes)
			continue;
		if (!sections->workers)
			unpack_section(&job->job, NULL);
		else if (!workers_help(sections->workers, &job->job))
			workers_cancel(sections->workers, &job->job);
		if (job->size)
			sections->views[i] = (struct byte_view){ job->bytes, job->size };
	}
}

void debug_sections_release(struct debug_sections *sections)
{
	for (int i = 0; i < DEBUG_SECTIONS; i++)
		free(sections->jobs[i].bytes);
	*sections = (struct debug_sections){ 0 };
}

/* ---- The image ----------------------------------------------------------- */

/*
 * Headers of a file whose sections are empty: libelf returns the descriptions of
 * their contents, which we change (elf_getdata(3)).  libelf only reads the headers.
 * libdw takes a section's contents by elf_getdata(), and by elf_rawdata() since 0.190.
 */
#define SECTIONS  (1 + DEBUG_SECTIONS + 1) /* null, ours, names of sections */
#define NAME_ROOM 20

static struct {
	Elf64_Ehdr header;
	Elf64_Shdr sections[SECTIONS];
	char names[SECTIONS][NAME_ROOM];
} headers;

Elf_Data *dwarf_image_data(Elf *elf, enum debug_section section)
{
	return ALLOC_CHECKED(elf_getdata(elf_getscn(elf, 1 + (size_t)section), NULL));
}

static bool set_contents(Elf *elf, enum debug_section section, struct byte_view view)
{
	Elf_Data *data = dwarf_image_data(elf, section);
	Elf_Data *raw = ALLOC_CHECKED(elf_rawdata(elf_getscn(elf, 1 + (size_t)section), NULL));

	if (!data || !raw)
		return false;
	data->d_buf = raw->d_buf = (void *)(uintptr_t)view.bytes; /* libelf reads only */
	data->d_size = raw->d_size = view.size;
	return true;
}

bool dwarf_image_open(struct dwarf_image *image, const struct byte_view sections[DEBUG_SECTIONS])
{
	if (!sections[DEBUG_INFO].size || !sections[DEBUG_ABBREV].size)
		return false;
	if (!headers.header.e_ident[EI_MAG0]) {
		for (unsigned i = 1; i < SECTIONS; i++) {
			headers.sections[i] = (Elf64_Shdr){ .sh_name = i * NAME_ROOM,
							    .sh_type = SHT_PROGBITS,
							    .sh_offset = sizeof(headers.header),
							    .sh_addralign = 1 };
			if (i <= DEBUG_SECTIONS)
				strcpy(headers.names[i], section_names[i - 1]);
		}
		headers.sections[SECTIONS - 1].sh_type = SHT_STRTAB;
		headers.sections[SECTIONS - 1].sh_offset =
			(uint64_t)((char *)headers.names - (char *)&headers);
		headers.sections[SECTIONS - 1].sh_size = sizeof(headers.names);
		headers.header = (Elf64_Ehdr){ .e_type = ET_DYN,
					       .e_machine = EM_X86_64,
					       .e_version = EV_CURRENT,
					       .e_shoff = sizeof(headers.header),
					       .e_ehsize = sizeof(headers.header),
					       .e_shentsize = sizeof(Elf64_Shdr),
					       .e_shnum = SECTIONS,
					       .e_shstrndx = SECTIONS - 1 };
		memcpy(headers.header.e_ident, ELFMAG, SELFMAG);
		headers.header.e_ident[EI_CLASS] = ELFCLASS64;
		headers.header.e_ident[EI_DATA] = ELFDATA2LSB;
		headers.header.e_ident[EI_VERSION] = EV_CURRENT;
	}
	elf_version(EV_CURRENT);
	image->elf = ALLOC_CHECKED(elf_memory((char *)&headers, sizeof(headers)));
	for (int i = 0; image->elf && i < DEBUG_SECTIONS; i++)
		if (sections[i].size && i != DEBUG_CU_INDEX &&
		    !set_contents(image->elf, (enum debug_section)i, sections[i]))
			return false;
	if (image->elf)
		image->dwarf = ALLOC_CHECKED(dwarf_begin_elf(image->elf, DWARF_C_READ, NULL));
	return image->dwarf;
}

void dwarf_image_close(struct dwarf_image *image)
{
	if (image->dwarf)
		dwarf_end(image->dwarf);
	if (image->elf)
		elf_end(image->elf);
	*image = (struct dwarf_image){ 0 };
}
