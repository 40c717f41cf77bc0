/* SPDX-License-Identifier: MIT */
/*
 * `ptrace2ftf pack`: a part of a recording, with the code and names that it needs, in one file.
 *
 * The file is a compressed stream of perf (perf record -o -): records and trace of the chosen time,
 * then a record PERF_USER_PACKED with the ELF files, cut to the functions that ran.
 */
#include "decoder/branch_event.h"
#include "src/formats/output_format.h"
#include "src/options/options.h"
#include "src/pipeline/recording.h"
#include "src/resolve/location.h"

struct packer {
	struct format_output output;            /* first */
	const struct perf_recording *recording; /* borrowed, as the next */
	struct output *file;
	struct name_table *names;
	struct pair_table symbols; /* functions that ran, or were entered, by pointer */
	struct pair_table pages;   /* code outside of functions: index of the file, page in it */
	struct pair_table masks;   /* numbers of masked names, by their ids */
	bool mask, kernel;         /* kernel: its code ran */
	uint64_t begin, end;       /* ns: the chosen time */
};

#define PAGE UINT64_C(4096)

static void note_code(struct packer *pack, const struct address_space *space,
		      const struct location *at)
{
	const struct symbol *symbol = at->symbol;
	const struct mapping *mapping = address_space_borrow_mapping(space, at->ip);

	pack->kernel |= ip_is_kernel(at->ip);
	if (symbol)
		pair_table_find_pointer(&pack->symbols, symbol);
	if (symbol && symbol->function)
		pair_table_find_pointer(&pack->symbols, symbol->function);
	if (mapping && !symbol_is_function(symbol))
		pair_table_find(
			&pack->pages, mapping->file->index,
			(uint32_t)((at->ip - mapping->begin + mapping->file_offset) / PAGE));
}

static void note_branch(struct format_output *output, const struct branch_event *event,
			const struct location *from, const struct location *to)
{
	note_code((struct packer *)output, event->space, from);
	note_code((struct packer *)output, event->space, to);
}

/* Bytes of a masked name: the letter of its kind and a number. */
#define MASK_SIZE 16

/* Returns a name: with --mask, its number, as text in `masked`. */
static const char *mask_name(struct packer *pack, char kind, const char *name,
			     char masked[MASK_SIZE])
{
	/* The kernel's names of memory stay. */
	bool stays = kind == 'm' && (name[0] != '/' || dso_find_shape(name) != DSO_SHAPE_FILE);

	if (!pack->mask || stays)
		return name;
	snprintf(masked, MASK_SIZE, "%s%c%u", kind == 'm' ? "/" : "", kind,
		 1 + pair_table_find(&pack->masks, name_intern_text(pack->names, name)->id,
				     (uint32_t)kind));
	return masked;
}

/* ---- Records ------------------------------------------------------------- */

/* Set the chosen time: that of the streams, which are cut at PSBs. */
static void find_time(struct packer *pack)
{
	const struct event_filter *filter = &pack->recording->filter;
	const struct auxtrace *auxtrace = &pack->recording->auxtrace;
	struct tsc_clock clock = pt_info_tsc_clock(&auxtrace->info);
	uint64_t first, last;

	pack->begin = filter->begin;
	pack->end = filter->end;
	for (size_t i = 0; event_filter_by_time(filter) && i < auxtrace->stream_count; i++) {
		if (!aux_seek_extent(&auxtrace->streams[i], &auxtrace->info, &first, &last))
			continue;
		pack->begin = MIN(pack->begin, tsc_clock_ns(&clock, first));
		pack->end = MAX(pack->end, tsc_clock_ns(&clock, last));
	}
}

/*
 * Returns whether a record is in the chosen time, or may show the thread on a CPU at the begin or
 * the end of that time: there is no context switch in between.
 */
static bool is_near(const struct packer *pack, const struct perf_record *record)
{
	uint64_t time = record->id.time;
	size_t count, before, after;
	const struct cpu_switch *switches =
		history_switches(&pack->recording->timeline->history, record->id.cpu, &count);

	before = LOWER_BOUND(i, count, switches[i].time < time);
	after = LOWER_BOUND(i, count, switches[i].time <= time);
	return time < pack->begin
		       ? after == count || switches[after].time >= pack->begin
		       : time <= pack->end || !before || switches[before - 1].time <= pack->end;
}

static bool is_chosen(const struct packer *pack, const struct perf_record *record)
{
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return is_near(pack, record);
	case PERF_RECORD_AUX: /* written when the buffer is read, after the trace */
	case PERF_RECORD_LOST:
		return record->id.time >= pack->begin;
	case PERF_USER_AUXTRACE_INFO:
	case PERF_USER_TIME_CONV:
		return true;
	default: /* mappings, names, forks: also of the time before; others have names */
		return record->type < (pack->mask ? (uint32_t)PERF_RECORD_KSYMBOL
						  : PERF_USER_HEADER_ATTR) &&
		       record->id.time <= pack->end;
	}
}

static void put(struct packer *pack, const void *bytes, size_t size)
{
	output_write(pack->file, bytes, size);
}

static void put_header(struct packer *pack, uint32_t type, size_t payload)
{
	struct perf_event_header header = { type, 0, (uint16_t)(sizeof(header) + payload) };

	put(pack, &header, sizeof(header));
}

/* Put a record; a name in it has room for 7 bytes at least, as it is padded to 8. */
static void put_record(struct packer *pack, const struct perf_record *record)
{
	size_t at = record->type == PERF_RECORD_MMAP2 ? 64 : 32;
	const char *name = (const char *)record->payload + at;
	uint8_t bytes[UINT16_MAX + 1], *payload = bytes + sizeof(struct perf_event_header);
	char masked[MASK_SIZE];
	uint16_t size;

	memcpy(&size, record->payload - sizeof(size), sizeof(size));
	memcpy(bytes, record->payload - sizeof(struct perf_event_header), size);
	if (pack->mask && record->type == PERF_RECORD_COMM && record->size > 8)
		memset(payload + 8, 0, record->size - 8);
	if (pack->mask && (record->type == PERF_RECORD_MMAP || at == 64) && record->size > at &&
	    memchr(name, 0, record->size - at)) {
		strncpy((char *)payload + at, mask_name(pack, 'm', name, masked),
			record->size - at);
		if (at == 64) /* the build id */
			memset(payload + 32, 0, 24);
	}
	put(pack, bytes, size);
}

/* Put a piece of a stream: struct perf_record_auxtrace, and data padded to words as perf's. */
static void put_piece(struct packer *pack, size_t queue, const struct aux_piece *piece)
{
	const struct aux_stream *stream = &pack->recording->auxtrace.streams[queue];
	const uint64_t words[] = { (piece->size + 7) & ~UINT64_C(7), piece->aux_offset,
				   piece->reference, queue | (uint64_t)stream->tid << 32,
				   (uint32_t)stream->cpu };

	if (stream->copies && stream->piece_count > 1)
		error_set(&pack->output.err, ERROR_UNSUPPORTED,
			  "cannot pack several snapshots; choose one with --time");
	put_header(pack, PERF_USER_AUXTRACE, sizeof(words));
	put(pack, words, sizeof(words));
	put(pack, piece->bytes, piece->size);
	put(pack, &(uint64_t){ 0 }, -piece->size & 7);
}

#define ATTR_SIZE ((sizeof(struct perf_event_attr) + 15) & ~(size_t)7)

static void put_event(struct packer *pack, const struct perf_attr *attr)
{
	uint8_t bytes[ATTR_SIZE] = { 0 };

	if (attr->attr.type == PERF_TYPE_TRACEPOINT)
		error_set(&pack->output.err, ERROR_UNSUPPORTED, "cannot pack tracepoints");
	memcpy(bytes, &attr->attr, sizeof(attr->attr));
	memcpy(bytes + 4, &(uint32_t){ ATTR_SIZE }, 4);
	memcpy(bytes + 116, &attr->aux_action, 4);
	put_header(pack, PERF_USER_HEADER_ATTR, ATTR_SIZE + attr->id_count * 8);
	put(pack, bytes, ATTR_SIZE);
	put(pack, attr->ids, attr->id_count * 8);
}

/* Features of perf without names: NRCPUS, CPUDESC, CPUID, CLOCK_DATA, HYBRID_TOPOLOGY; and with. */
#define PLAIN_FEATURES (1u << 7 | 1u << 8 | 1u << 9 | 1u << 29 | 1u << 30)
#define NAME_FEATURES  (1u << 2 | 1u << 3 | 1u << 4 | 1u << 5 | 1u << 11 | 1u << 12)

static void put_records(struct packer *pack)
{
	const struct perf_file *file = &pack->recording->file;
	const struct byte_view *sections = file->features.sections;
	const struct auxtrace *auxtrace = &pack->recording->auxtrace;
	struct perf_record record;
	uint64_t position = 0;

	put(pack, "PERFILE2\20\0\0\0\0\0\0", 16);
	for (size_t i = 0; i < file->attr_count; i++)
		put_event(pack, &file->attrs[i]);
	for (uint64_t i = 0; i < 32; i++) {
		if (!((PLAIN_FEATURES | (pack->mask ? 0 : NAME_FEATURES)) >> i & 1) ||
		    !sections[i].bytes || sections[i].size > UINT16_MAX - 16)
			continue;
		put_header(pack, PERF_USER_HEADER_FEATURE, 8 + sections[i].size);
		put(pack, &i, 8);
		put(pack, sections[i].bytes, sections[i].size);
	}
	while (perf_file_next(file, &position, &record, NULL))
		if (is_chosen(pack, &record))
			put_record(pack, &record);
	for (size_t i = 0; i < auxtrace->stream_count; i++)
		for (size_t k = 0; k < auxtrace->streams[i].piece_count; k++)
			put_piece(pack, i, &auxtrace->streams[i].pieces[k]);
}

/* ---- Files --------------------------------------------------------------- */

struct elf_output {
	const struct elf_file *file; /* borrowed: the original */
	uint8_t *image;              /* owned: its bytes, with zeros for what is left out */
	size_t end;                  /* bytes of the image that are needed */
	FILE *symbols, *names;       /* into: */
	char *texts[2];              /* owned: the contents of the symbol table, and of its names */
	uint64_t sizes[2];
};

static void keep(struct elf_output *elf, uint64_t offset, uint64_t size)
{
	if (offset > elf->file->size || size > elf->file->size - offset)
		return;
	memcpy(elf->image + offset, elf->file->bytes + offset, size);
	elf->end = MAX(elf->end, offset + size);
}

/* Put a symbol's name. Call stacks know some functions by their names, which stay. */
static void put_name(struct packer *pack, const struct symbol *symbol, FILE *out)
{
	bool stub = symbol->kind == SYMBOL_PLT;
	const char *text = stub ? symbol->name->text : symbol->linkage->text;
	const char *whole = symbol->function ? symbol->function->linkage->text : text;
	size_t length = strlen(starts_with(text, whole) ? whole : text);
	char masked[MASK_SIZE], *base;

	if (stub && ends_with(text, "@plt"))
		length -= strlen("@plt");
	base = alloc_text("%.*s", (int)length, text);
	if (location_unwinds(symbol->name) || ends_with(base, "setjmp") || (stub && !text[length]))
		fputs(base, out);
	else
		fputs(mask_name(pack, 'f', base, masked), out);
	fprintf(out, "%s%c", text + length, 0);
	free(base);
}

/* Keep a function's code, and put its symbol, in section `text`. */
static void put_symbol(struct packer *pack, struct elf_output *elf, const struct symbol *symbol,
		       size_t text)
{
	static const unsigned char bindings[] = { STB_LOCAL, STB_WEAK, STB_GLOBAL };
	const struct code_range *range = elf_file_code_at_vaddr(elf->file, symbol->start);
	uint64_t size = range ? MIN(symbol->size, range->vaddr + range->size - symbol->start) : 0;
	const Elf64_Sym entry = { .st_name = (Elf64_Word)ftell(elf->names),
				  .st_info = ELF64_ST_INFO(bindings[symbol->binding], STT_FUNC),
				  .st_shndx = (Elf64_Section)text,
				  .st_value = symbol->start,
				  .st_size = size };

	if (!range || symbol->kind >= SYMBOL_FILE)
		return;
	keep(elf, range->offset + (symbol->start - range->vaddr), size);
	if (symbol->kind == SYMBOL_PART) /* .eh_frame has it */
		return;
	fwrite(&entry, sizeof(entry), 1, elf->symbols);
	put_name(pack, symbol, elf->names);
}

/*
 * Keep the headers, and sections that describe parts of functions, exceptions, or the file. Two
 * other sections become the symbol table and its names, after the image. Returns whether there are
 * as many.
 */
static bool make_sections(const struct packer *pack, struct elf_output *elf)
{
	const GElf_Ehdr *header = &elf->file->header;
	Elf64_Shdr *sections = (Elf64_Shdr *)(elf->image + header->e_shoff), *own[2] = { 0 };
	struct elf_section it = { 0 };

	keep(elf, 0, sizeof(Elf64_Ehdr));
	keep(elf, header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr));
	keep(elf, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr));
	while (elf_section_next(elf->file->elf, &it)) {
		bool code = it.header.sh_flags & SHF_EXECINSTR;

		if (strcmp(it.name, ".shstrtab") == 0 || starts_with(it.name, ".eh_frame") ||
		    strcmp(it.name, ".gcc_except_table") == 0 ||
		    (!pack->mask && starts_with(it.name, ".note"))) {
			keep(elf, it.header.sh_offset, it.header.sh_size);
			continue;
		}
		if (!code && !own[1])
			own[own[0] != NULL] = &sections[elf_ndxscn(it.scn)];
		sections[elf_ndxscn(it.scn)].sh_type = code ? SHT_NOBITS : SHT_NULL;
	}
	elf->end = (elf->end + 7) & ~(size_t)7;
	for (int i = 0; own[1] && i < 2; i++) {
		own[i]->sh_type = i ? SHT_STRTAB : SHT_SYMTAB;
		own[i]->sh_offset = elf->end + (i ? elf->sizes[0] : 0);
		own[i]->sh_size = elf->sizes[i];
		own[i]->sh_entsize = i ? 0 : sizeof(Elf64_Sym);
		own[i]->sh_link = (Elf64_Word)(own[1] - sections);
	}
	return own[1];
}

/* Returns whether the file is put: it is an ELF file of 64 bits with sections. */
static bool put_elf(struct packer *pack, struct elf_output *elf, const struct dso *dso, FILE *out)
{
	const GElf_Ehdr *header = &elf->file->header;
	struct elf_section code = { 0 };
	char masked[MASK_SIZE];

	while (elf_section_next(elf->file->elf, &code) && !(code.header.sh_flags & SHF_EXECINSTR))
		;
	if (!code.scn || !elf_file_is_wide(elf->file) || header->e_shoff % 8 ||
	    header->e_shnum > (elf->file->size - header->e_shoff) / sizeof(Elf64_Shdr))
		return false;
	fwrite(&(Elf64_Sym){ 0 }, sizeof(Elf64_Sym), 1, elf->symbols);
	fputc(0, elf->names);
	for (size_t i = 0; i < pack->symbols.count; i++) {
		const struct symbol *symbol = pair_table_pointer(&pack->symbols, i);

		if (symbol->dso == dso)
			put_symbol(pack, elf, symbol, elf_ndxscn(code.scn));
	}
	for (size_t i = 0; i < pack->pages.count; i++) {
		struct pair page = pair_table_pair(&pack->pages, i);

		if (pack->recording->resolver.dsos[page.first] == dso)
			keep(elf, page.second * PAGE,
			     MIN(PAGE, elf->file->size - page.second * PAGE));
	}
	elf->sizes[0] = (uint64_t)ftell(elf->symbols);
	elf->sizes[1] = (uint64_t)ftell(elf->names);
	if (fflush(elf->symbols) | fflush(elf->names) || !make_sections(pack, elf))
		return false;
	fprintf(out, "%s%c", mask_name(pack, 'm', dso->path, masked), 0);
	fwrite(&(uint64_t){ elf->end + elf->sizes[0] + elf->sizes[1] }, 8, 1, out);
	fwrite(elf->image, 1, elf->end, out);
	for (int i = 0; i < 2; i++)
		fwrite(elf->texts[i], 1, elf->sizes[i], out);
	return true;
}

static void put_files(struct packer *pack)
{
	size_t size = 0;
	char *text;
	FILE *out = ALLOC_CHECKED(open_memstream(&text, &size));

	for (struct dso *dso = pack->recording->store->dsos; dso; dso = dso->hh.next) {
		struct elf_output elf = { .file = &dso->elf };

		if (!dso->used || (!dso->elf.bytes && !dso->map.count))
			continue;
		elf.image = alloc_zeroed(dso->elf.size + 1, 1);
		elf.symbols = OPEN_TEXT(elf.texts[0]);
		elf.names = OPEN_TEXT(elf.texts[1]);
		if (dso->state != DSO_FOUND || !put_elf(pack, &elf, dso, out))
			error_set(
				&pack->output.err, ERROR_UNSUPPORTED,
				"cannot pack the code of %s: it is in no 64-bit ELF file with sections",
				dso->path);
		alloc_close_text(elf.symbols, &elf.texts[0]);
		alloc_close_text(elf.names, &elf.texts[1]);
		free(elf.texts[0]);
		free(elf.texts[1]);
		free(elf.image);
	}
	alloc_close_text(out, &text);
	put_header(pack, PERF_USER_PACKED, 8);
	put(pack, &(uint64_t){ size }, 8);
	put(pack, text, size);
	free(text);
}

/* ---- The format ---------------------------------------------------------- */

static void finish_pack(struct format_output *output)
{
	struct packer *pack = (struct packer *)output;

	pack->recording = output->recording;
	if (pack->kernel && kernel_files_code(&pack->recording->kernel_files))
		error_set(&output->err, ERROR_UNSUPPORTED,
			  "cannot pack the kernel's code; record with intel_pt//u");
	find_time(pack);
	put_records(pack);
	put_files(pack);
}

static void open_pack(struct format_output *output, const struct format_request *request)
{
	struct packer *pack = (struct packer *)output;

	pack->file = request->output;
	pack->names = request->names;
	pack->mask = request->options->mask;
}

static void release_pack(struct format_output *output)
{
	pair_table_release(&((struct packer *)output)->symbols);
	pair_table_release(&((struct packer *)output)->pages);
	pair_table_release(&((struct packer *)output)->masks);
}

const struct output_format format_pack = {
	.name = "pack",
	.suffix = "packed",
	.default_output = DEFAULT_FILE,
	.gzip = true,
	.size = sizeof(struct packer),
	.open = open_pack,
	.branch = note_branch,
	.finish = finish_pack,
	.release = release_pack,
};
