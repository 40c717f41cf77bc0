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
#include "symbols/names/jit_dump.h"

struct packer {
	struct format_output output;            /* first */
	const struct perf_recording *recording; /* borrowed, as the next */
	struct output *file;
	struct pair_table symbols; /* functions that ran, or were entered, by pointer */
	struct pair_table pages;   /* code outside of functions: index of the file, page in it */
	struct pair_table masks;   /* numbers of masked names, by their ids */
	bool mask, kernel;         /* kernel: its code ran */
	bool made;                 /* code ran that is in no file, or in a jitdump */
	uint64_t begin, end;       /* ns: the chosen time */
};

#define PAGE UINT64_C(4096)

static void note_code(struct packer *pack, const struct address_space *space,
		      const struct location *at)
{
	const struct mapping *mapping = address_space_borrow_mapping(space, at->ip);

	pack->kernel |= ip_is_kernel(at->ip);
	pack->made |= mapping && (starts_with(mapping->file->path, PERF_MMAP_PRIVATE) ||
				  dso_find_shape(mapping->file->path) == DSO_SHAPE_NO_FILE ||
				  jit_dump_is_path(mapping->file->path));
	if (at->symbol) {
		pair_table_find_pointer(&pack->symbols, at->symbol);
		pair_table_find_pointer(&pack->symbols, symbol_function(at->symbol));
	}
	if (mapping && !symbol_is_function(at->symbol))
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
		 1 + pair_table_find(&pack->masks,
				     name_intern_text(pack->recording->store->names, name)->id,
				     (uint32_t)kind));
	return masked;
}

/* ---- Records ------------------------------------------------------------- */

/*
 * Returns whether a record is of the chosen time. Switches outside of it show the threads at its
 * ends if no other switch is in between; other records describe threads up to the end.
 */
static bool is_chosen(const struct packer *pack, const struct perf_record *record)
{
	uint64_t time = record->id.time;
	uint32_t type = record->type;
	bool sample = type == PERF_RECORD_SAMPLE;
	const struct cpu_switch *switches;
	size_t count, before, after;

	if (type >= PERF_USER_HEADER_ATTR ||
	    (pack->mask && (sample || type >= PERF_RECORD_KSYMBOL)))
		return type == PERF_USER_AUXTRACE_INFO || type == PERF_USER_TIME_CONV;
	if (!time || type == PERF_RECORD_AUX || type == PERF_RECORD_LOST) /* of trace before it */
		return !time || time >= pack->begin;
	if (!sample && type != PERF_RECORD_SWITCH && type != PERF_RECORD_SWITCH_CPU_WIDE)
		return time <= pack->end;
	switches = history_switches(&pack->recording->timeline->history, record->id.cpu, &count);
	before = LOWER_BOUND(i, count, switches[i].time < time);
	after = LOWER_BOUND(i, count, switches[i].time <= time);
	if (time < pack->begin)
		return after == count || switches[after].time >= pack->begin;
	return time <= pack->end || !before || switches[before - 1].time <= pack->end;
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

/* Put a record. A path has room for 7 bytes at least, as it is padded to 8. */
static void put_record(struct packer *pack, const struct perf_record *record)
{
	uint8_t bytes[UINT16_MAX + 1], *payload = bytes + sizeof(struct perf_event_header);
	bool named = record->type == PERF_RECORD_COMM, mmap2 = record->type == PERF_RECORD_MMAP2;
	size_t at = named ? 8 : mmap2 ? 64 : record->type == PERF_RECORD_MMAP ? 32 : SIZE_MAX;
	char masked[MASK_SIZE];
	const char *name;
	uint16_t size;

	memcpy(&size, record->payload - sizeof(size), sizeof(size));
	memcpy(bytes, record->payload - sizeof(struct perf_event_header), size);
	if (pack->mask && at < record->size) {
		payload[record->size - 1] = 0;
		name = named ? "" : mask_name(pack, 'm', (char *)payload + at, masked);
		if (name != (char *)payload + at)
			strncpy((char *)payload + at, name, record->size - at);
		memset(payload + 32, 0, mmap2 ? 24 : 0); /* the build id */
	}
	put(pack, bytes, size);
}

/*
 * Put the pieces of a stream: struct perf_record_auxtrace, and data padded to words as perf's.
 * Snapshots that continue each other, without the bytes that both had, become one.
 */
static void put_pieces(struct packer *pack, size_t queue)
{
	const struct aux_stream *stream = &pack->recording->auxtrace.streams[queue];
	const struct aux_piece *pieces = stream->pieces;

	for (size_t first = 0, next; first < stream->piece_count; first = next) {
		uint64_t words[] = { 0, pieces[first].aux_offset, pieces[first].reference,
				     queue | (uint64_t)stream->tid << 32, (uint32_t)stream->cpu };
		uint64_t size = pieces[first].size;

		for (next = first + 1;
		     stream->copies && next < stream->piece_count && !pieces[next].apart; next++)
			size += pieces[next].size;
		words[0] = (size + 7) & ~UINT64_C(7);
		put_header(pack, PERF_USER_AUXTRACE, sizeof(words));
		put(pack, words, sizeof(words));
		for (size_t i = first; i < next; i++)
			put(pack, pieces[i].bytes, pieces[i].size);
		put(pack, &(uint64_t){ 0 }, -size & 7);
	}
}

static void put_event(struct packer *pack, const struct perf_attr *event)
{
	struct perf_event_attr attr = event->attr;

	if (attr.sample_type & PERF_SAMPLE_AUX)
		error_set(&pack->output.err, ERROR_UNSUPPORTED, "cannot pack samples of the trace");
	attr.size = sizeof(attr);
	put_header(pack, PERF_USER_HEADER_ATTR, sizeof(attr) + event->id_count * 8);
	put(pack, &attr, sizeof(attr));
	put(pack, event->ids, event->id_count * 8);
}

/*
 * Bits of the features that are kept: CLOCK_DATA, HYBRID_TOPOLOGY; NRCPUS, CPUDESC, CPUID; and,
 * unless masked, those with names, from BUILD_ID to EVENT_DESC.
 */
#define FEATURES(mask) (1u << 29 | 1u << 30 | ((mask) ? 0x380u : 0x1bbcu))

static void put_records(struct packer *pack)
{
	const struct perf_file *file = &pack->recording->file;
	const struct byte_view *sections = file->features.sections;
	const struct auxtrace *auxtrace = &pack->recording->auxtrace;
	struct byte_view formats = sections[PERF_FEATURE_TRACING_DATA];
	struct perf_record record;
	uint64_t position = 0;

	put(pack, "PERFILE2\20\0\0\0\0\0\0", 16);
	for (size_t i = 0; i < file->attr_count; i++)
		put_event(pack, &file->attrs[i]);
	for (uint64_t i = 0; i < 32; i++) {
		if (!(FEATURES(pack->mask) >> i & 1) || !sections[i].bytes ||
		    sections[i].size > UINT16_MAX - 16)
			continue;
		put_header(pack, PERF_USER_HEADER_FEATURE, 8 + sections[i].size);
		put(pack, &i, 8);
		put(pack, sections[i].bytes, sections[i].size);
	}
	if (formats.bytes && !pack->mask) {
		put_header(pack, PERF_USER_HEADER_TRACING_DATA, 4);
		put(pack, &(uint32_t){ (uint32_t)formats.size }, 4);
		put(pack, formats.bytes, formats.size);
		put(pack, &(uint64_t){ 0 }, -formats.size & 7);
	}
	while (perf_file_next(file, &position, &record, NULL))
		if (is_chosen(pack, &record))
			put_record(pack, &record);
	for (size_t i = 0; i < auxtrace->stream_count; i++)
		put_pieces(pack, i);
}

/* ---- Files --------------------------------------------------------------- */

struct elf_output {
	const struct elf_file *file; /* borrowed: the original */
	uint8_t *image;              /* owned: its bytes, with zeros for what is left out */
	size_t end;                  /* bytes of the image that are needed */
	FILE *out[2];                /* into: */
	char *texts[2];              /* owned: the contents of the symbol table, and of its names */
	size_t sizes[2];
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
	const char *text = symbol->linkage->text;
	const char *whole = symbol_function(symbol)->linkage->text;
	size_t length = stub ? strcspn(text, "@") : strlen(starts_with(text, whole) ? whole : text);
	char masked[MASK_SIZE], *base = alloc_text("%.*s", (int)length, text);
	bool stays = location_unwinds(symbol->name) || ends_with(base, "setjmp") ||
		     (stub && !text[length]);

	fprintf(out, "%s%s%c", stays ? base : mask_name(pack, 'f', base, masked), text + length, 0);
	free(base);
}

/* Keep a function's code, and put its symbol, in section `text`. */
static void put_symbol(struct packer *pack, struct elf_output *elf, const struct symbol *symbol,
		       size_t text)
{
	static const unsigned char bindings[] = { STB_LOCAL, STB_WEAK, STB_GLOBAL };
	const struct code_range *range = elf_file_code_at_vaddr(elf->file, symbol->start);
	uint64_t size = range ? MIN(symbol->size, range->vaddr + range->size - symbol->start) : 0;
	const Elf64_Sym entry = { .st_name = (Elf64_Word)ftell(elf->out[1]),
				  .st_info = ELF64_ST_INFO(bindings[symbol->binding], STT_FUNC),
				  .st_shndx = (Elf64_Section)text,
				  .st_value = symbol->start,
				  .st_size = size };

	if (!range || symbol->kind >= SYMBOL_FILE)
		return;
	keep(elf, range->offset + (symbol->start - range->vaddr), size);
	if (symbol->kind == SYMBOL_PART) /* .eh_frame has it */
		return;
	fwrite(&entry, sizeof(entry), 1, elf->out[0]);
	put_name(pack, symbol, elf->out[1]);
}

/*
 * Keep the headers, and sections that describe parts of functions, exceptions, source lines, or the
 * file. Two other sections become the symbol table and its names, after the image. Returns whether
 * there are as many.
 */
static bool make_sections(const struct packer *pack, struct elf_output *elf)
{
	const GElf_Ehdr *header = &elf->file->header;
	Elf64_Shdr *sections = (Elf64_Shdr *)(elf->image + header->e_shoff), *own[2] = { 0 };
	struct elf_section it = { 0 };

	/* Changed pages of a file replace pages that it has (src/resolve/jit_dumps.c). */
	elf->end = pack->made ? elf->file->size : elf->end;
	keep(elf, 0, sizeof(Elf64_Ehdr));
	keep(elf, header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr));
	keep(elf, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr));
	while (elf_section_next(elf->file->elf, &it)) {
		bool code = it.header.sh_flags & SHF_EXECINSTR;

		if (strcmp(it.name, ".shstrtab") == 0 || starts_with(it.name, ".eh_frame") ||
		    strcmp(it.name, ".gcc_except_table") == 0 ||
		    (!pack->mask && (starts_with(it.name, ".note") || strstr(it.name, "debug_") ||
				     strcmp(it.name, ".gnu_debugaltlink") == 0))) {
			keep(elf, it.header.sh_offset, it.header.sh_size);
			continue;
		}
		if (!code && !own[1])
			own[own[0] != NULL] = &sections[elf_ndxscn(it.scn)];
		sections[elf_ndxscn(it.scn)].sh_type = code ? SHT_NOBITS : SHT_NULL;
		sections[elf_ndxscn(it.scn)].sh_name = 0;
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

/* Put an ELF file of 64 bits with sections. Returns false for others. */
static bool put_elf(struct packer *pack, const struct dso *dso, FILE *out)
{
	const GElf_Ehdr *header = &dso->elf.header;
	struct elf_output elf = { .file = &dso->elf };
	struct elf_section code = { 0 };
	char masked[MASK_SIZE];
	bool made;

	while (elf_section_next(dso->elf.elf, &code) && !(code.header.sh_flags & SHF_EXECINSTR))
		;
	if (!code.scn || !elf_file_is_wide(&dso->elf) || header->e_shoff % 8 || !header->e_shnum ||
	    header->e_shoff > dso->elf.size ||
	    header->e_shnum > (dso->elf.size - header->e_shoff) / sizeof(Elf64_Shdr))
		return false;
	elf.image = alloc_zeroed(dso->elf.size, 1);
	for (int i = 0; i < 2; i++) {
		elf.out[i] = ALLOC_CHECKED(open_memstream(&elf.texts[i], &elf.sizes[i]));
		fwrite(&(Elf64_Sym){ 0 }, i ? 1 : sizeof(Elf64_Sym), 1, elf.out[i]);
	}
	for (size_t i = 0; i < pack->symbols.count; i++) {
		const struct symbol *symbol = pair_table_pointer(&pack->symbols, i);

		if (symbol->dso == dso)
			put_symbol(pack, &elf, symbol, elf_ndxscn(code.scn));
	}
	for (size_t i = 0; i < pack->pages.count; i++) {
		struct pair page = pair_table_pair(&pack->pages, i);

		if (pack->recording->resolver.dsos[page.first] == dso)
			keep(&elf, page.second * PAGE,
			     MIN(PAGE, dso->elf.size - page.second * PAGE));
	}
	alloc_close_text(elf.out[0], &elf.texts[0]);
	alloc_close_text(elf.out[1], &elf.texts[1]);
	made = make_sections(pack, &elf);
	if (made) {
		fprintf(out, "%s%c", mask_name(pack, 'm', dso->path, masked), 0);
		fwrite(&(uint64_t){ elf.end + elf.sizes[0] + elf.sizes[1] }, 8, 1, out);
		fwrite(elf.image, 1, elf.end, out);
		fwrite(elf.texts[0], 1, elf.sizes[0], out);
		fwrite(elf.texts[1], 1, elf.sizes[1], out);
	}
	free(elf.texts[0]);
	free(elf.texts[1]);
	free(elf.image);
	return made;
}

static void put_file(const char *path, const char *suffix, const void *bytes, uint64_t size,
		     FILE *out)
{
	fprintf(out, "%s%s%c", path, suffix, 0);
	fwrite(&size, sizeof(size), 1, out);
	fwrite(bytes, 1, size, out);
}

/* Put the names of a JIT compiler, as its perf map. */
static void put_map(const struct dso *dso, FILE *out)
{
	const struct named_range *range = dso->map.ranges;
	char *text;
	FILE *map = OPEN_TEXT(text);

	for (size_t i = 0; i < dso->map.count; i++, range++)
		fprintf(map, "%" PRIx64 " %" PRIx64 " %.*s\n", range->begin,
			range->end - range->begin, (int)range->length, range->name);
	alloc_close_text(map, &text);
	put_file(base_name(dso->path), "", text, strlen(text), out);
	free(text);
}

/* Put the files of a dso: whole, unless it is an ELF file of 64 bits with sections. */
static void put_dso(struct packer *pack, struct dso *dso, FILE *out)
{
	bool elf = dso->state == DSO_FOUND && dso->elf.elf;

	if (elf && put_elf(pack, dso, out)) {
		if (!pack->mask)
			dso_find_lines(dso);
	} else if (pack->mask) {
		error_set(&pack->output.err, ERROR_UNSUPPORTED,
			  "cannot mask %s, which is %s; leave out --mask", dso->path,
			  elf ? "a file of 32 bits or without sections" : "code made at run time");
	} else if (dso->elf.bytes) {
		put_file(dso->path, "", dso->elf.bytes, dso->elf.size, out);
	} else {
		put_map(dso, out);
	}
	if (elf && !pack->mask && dso->debug.bytes)
		put_file(dso->path, DSO_PACKED_DEBUG, dso->debug.bytes, dso->debug.size, out);
	if (elf && !pack->mask && dso->shared.bytes)
		put_file(dso->path, DSO_PACKED_SHARED, dso->shared.bytes, dso->shared.size, out);
}

/* Returns whether the trace needs a dso: the saved code and jitdumps are one for all processes. */
static bool is_needed(const struct packer *pack, const struct dso *dso)
{
	bool core = strcmp(dso->path, DSO_SAVED_CODE) == 0;

	if (core || jit_dump_is_path(dso->path))
		return pack->made && dso->elf.bytes &&
		       (core || dso->file != pack->recording->store->options.core);
	return dso->used && dso_find_shape(dso->path) != DSO_SHAPE_VSYSCALL &&
	       (dso->elf.bytes ? !dso->changed : dso->map.count != 0);
}

static void put_files(struct packer *pack)
{
	size_t size = 0;
	char *text;
	FILE *out = ALLOC_CHECKED(open_memstream(&text, &size));

	for (struct dso *dso = pack->recording->store->dsos; dso; dso = dso->hh.next)
		if (is_needed(pack, dso))
			put_dso(pack, dso, out);
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
	uint64_t begin, end;

	pack->recording = output->recording;
	if (pack->kernel && kernel_files_code(&pack->recording->kernel_files))
		error_set(&output->err, ERROR_UNSUPPORTED,
			  "cannot pack the kernel's code; record with intel_pt//u");
	if (pack->mask && pack->recording->timeline->tracepoint_switches) {
		error_set(&output->err, ERROR_UNSUPPORTED,
			  "cannot mask context switches that are samples of sched_switch; leave "
			  "out --mask, or record with --switch-events");
		return;
	}
	pack->begin = pack->recording->filter.begin;
	pack->end = pack->recording->filter.end;
	/* The streams are cut at PSBs around that time. */
	if (event_filter_by_time(&pack->recording->filter) &&
	    event_filter_extent(&pack->recording->auxtrace, &begin, &end)) {
		pack->begin = MIN(pack->begin, begin);
		pack->end = MAX(pack->end, end);
	}
	put_records(pack);
	put_files(pack);
}

static void open_pack(struct format_output *output, const struct format_request *request)
{
	struct packer *pack = (struct packer *)output;

	pack->file = request->output;
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
