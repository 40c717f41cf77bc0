/* SPDX-License-Identifier: MIT */
/* Find the bytes and functions of mapped files for the decoder. */
#include "src/resolve/code_files.h"

#include <elf.h>

#include "decoder/code/insn.h"
#include "decoder/mappings/space_builder.h"

void code_files_init(struct code_files *files, const struct resolver *resolver, size_t file_count)
{
	*files = (struct code_files){ .resolver = resolver };
	files->missing = alloc_zeroed(file_count, sizeof(*files->missing));
	files->gaps = alloc_zeroed(file_count, sizeof(*files->gaps));
}

void code_files_release(struct code_files *files)
{
	free(files->missing);
	free(files->gaps);
	*files = (struct code_files){ 0 };
}

/*
 * The page in which the kernel executes instructions for uprobes (kernel/events/uprobes.c).
 * Functions with a uretprobe return to its start, which is INT3 or, since Linux 6.11, a system call
 * (arch/x86/kernel/uprobes.c, uretprobe_trampoline_entry); both leave user code, and the
 * instructions after the system call are here. An instruction that a probe replaced is executed in
 * the page, up to the trap after it, whose address the trace has: NOPs lead there for any length.
 */
#define UPROBES_SIZE   4096
#define UPROBES_RETURN 13
static const uint8_t uprobes_code[UPROBES_SIZE] = {
	[0] = 0xcc,                        /* int3 */
	[1 ... UPROBES_RETURN - 1] = 0x90, /* nop */
	[UPROBES_RETURN] = 0x41,
	0x5b,
	0x59,
	0xc3, /* pop %r11; pop %rcx; ret */
	[UPROBES_RETURN + 4 ... UPROBES_SIZE - 1] = 0x90,
};

/*
 * Since Linux 6.18, a probe on a 5-byte NOP is a call of this page (flow_probe.c): push %rcx; push
 * %r11; push %rax; mov $336, %rax; syscall; pop %rax; pop %r11; pop %rcx; ret.
 */
static const uint8_t probes_code[UPROBES_SIZE] =
	"\x51\x41\x53\x50\x48\xc7\xc0\x50\x01\0\0\x0f\x05\x58\x41\x5b\x59\xc3";

static struct byte_view find_code(void *context, const struct mapped_file *mapped)
{
	struct code_files *files = context;
	const struct dso *dso = files->resolver->dsos[mapped->index];

	if (strcmp(mapped->path, LOCATION_UPROBES) == 0)
		return (struct byte_view){ uprobes_code, sizeof(uprobes_code) };
	if (strcmp(mapped->path, MAPPED_PROBES) == 0)
		return (struct byte_view){ probes_code, sizeof(probes_code) };
	if (starts_with(mapped->path, PERF_MMAP_PRIVATE)) {
		/* The core's bytes at the file's offsets: only those of the mapping are valid. */
		const struct elf_file *core =
			&dso_store_borrow(files->resolver->store, DSO_SAVED_CODE, NULL, 0)->elf;
		uint64_t move = strtoull(mapped->path + strlen(PERF_MMAP_PRIVATE), NULL, 16);

		return (struct byte_view){ (const uint8_t *)((uintptr_t)core->bytes + move),
					   core->size - move };
	}
	/* Modules are relocated, not mapped from their files (src/resolve/kernel_modules.c). */
	if (dso->elf.bytes && dso->elf.header.e_type != ET_REL)
		return (struct byte_view){ dso->elf.bytes, dso->elf.size };
	__atomic_store_n(&files->missing[mapped->index], true, __ATOMIC_RELAXED);
	return (struct byte_view){ 0 };
}

/* Kernel code and modules, and memory that is in no file. */
static bool is_special(const struct mapped_file *file)
{
	return file->path[0] == '[' || kernel_modules_is_module(file->path);
}

/* Returns whether code with a symbol of this kind is one function for call stacks. */
static bool is_one_function(const struct dso *dso, const struct mapped_file *file,
			    enum symbol_kind kind)
{
	/* Handlers depend on the path through a function; JIT compilers may name its parts. */
	if (dso_borrow_traps(dso) || dso->state == DSO_NOT_A_FILE)
		return false;
	if (kind == SYMBOL_FILE) /* unless kallsyms or a JIT map names it */
		return dso->state == DSO_FOUND && !is_special(file);
	return kind == SYMBOL_FUNCTION || kind == SYMBOL_UNNAMED;
}

static bool find_function(void *context, const struct mapped_file *mapped, uint64_t offset,
			  uint64_t *begin, uint64_t *end)
{
	struct code_files *files = context;
	struct dso *dso = files->resolver->dsos[mapped->index];
	enum symbol_kind kind = dso_find_range(dso, offset, begin, end);

	/* The symbols are loaded now, and other threads no longer change their tables. */
	return *begin < *end && is_one_function(dso, mapped, kind);
}

static bool find_piece(void *context, const struct mapped_file *mapped, uint64_t offset,
		       uint64_t *begin, uint64_t *end)
{
	struct code_files *files = context;
	struct inlined_code code;

	if (!dso_find_inlined(files->resolver->dsos[mapped->index], offset, &code))
		return false;
	*begin = code.begin;
	*end = code.end;
	return true;
}

static bool is_entry(void *context, const struct mapped_file *mapped, uint64_t offset)
{
	struct code_files *files = context;

	return dso_is_entry(files->resolver->dsos[mapped->index], offset);
}

struct code_source code_files_source(struct code_files *files)
{
	return (struct code_source){ find_code, find_function, is_entry, files,
				     NULL,      find_piece,    NULL };
}

/* Number of bytes shown of an invalid instruction. */
#define BYTES_SHOWN 8

/* Warn if a file has no valid instruction at `offset`: it is damaged, or another file ran. */
static void check_instruction(struct code_files *files, const struct mapped_file *mapped,
			      uint64_t offset, struct diag *diag)
{
	struct byte_view file = find_code(files, mapped);
	enum insn_mode mode = INSN_MODE_64;
	char text[3 * BYTES_SHOWN + 1];

	/* A recording may name any file: show bytes of programs only. */
	if (!files->resolver->dsos[mapped->index]->elf.elf ||
	    starts_with(mapped->path, PERF_MMAP_PRIVATE) || file.size < EI_NIDENT ||
	    offset >= file.size || file.size - offset < INSN_LENGTH_MAX)
		return;
	if (memcmp(file.bytes, ELFMAG, SELFMAG) == 0 && file.bytes[EI_CLASS] == ELFCLASS32)
		mode = INSN_MODE_32;
	if (insn_decode(file.bytes + offset, file.size - offset, mode).length)
		return;
	for (size_t i = 0; i < BYTES_SHOWN; i++)
		snprintf(text + 3 * i, 4, " %02x", file.bytes[offset + i]);
	diag_warn(diag, "no-instruction",
		  "%s: invalid instruction%s at offset 0x%" PRIx64 ": is this the file that ran?",
		  mapped->path, text, offset);
}

/* Warn if a gap's instruction has no bytes, or not all, because its mapping or file ends there. */
static bool check_end(struct code_files *files, const struct branch_event *gap, struct diag *diag)
{
	const struct code_source source = code_files_source(files);
	const struct mapping *mapping =
		address_space_borrow_mapping(gap->space, gap->from)
			?: address_space_borrow_mapping(gap->space, gap->from - 1);
	struct code_view view;

	if (!mapping || is_special(mapping->file) ||
	    !files->resolver->dsos[mapping->file->index]->elf.bytes)
		return false;
	view = code_image_view(&source, gap->space, gap->from);
	if (!view.bytes)
		view = code_image_view(&source, gap->space, gap->from - 1);
	if (!view.bytes || view.end - gap->from >= INSN_LENGTH_MAX)
		return false;
	diag_warn(diag, "code-ends",
		  "%s: the code at 0x%" PRIx64 " continues after the end of its %s, at 0x%" PRIx64,
		  view.mapping->file->path, gap->from,
		  view.end < view.mapping->end ? "file" : "mapping", view.end);
	return true;
}

void code_files_note_gap(struct code_files *files, const struct branch_event *gap,
			 struct diag *diag)
{
	const struct mapping *mapping = address_space_borrow_mapping(gap->space, gap->from);

	if (gap->gap == GAP_MISMATCH && mapping && !is_special(mapping->file))
		check_instruction(files, mapping->file,
				  gap->from - mapping->begin + mapping->file_offset, diag);
	if (gap->gap != GAP_NO_CODE)
		return;
	files->any_gap = true;
	if (!check_end(files, gap, diag) && mapping)
		files->gaps[mapping->file->index]++;
}

/*
 * Returns whether to report a missing file: the trace stopped because its code is missing, or may
 * have continued in it.
 */
static bool is_wanted(const struct code_files *files, const struct mapped_file *file)
{
	return files->gaps[file->index] ||
	       (files->any_gap && files->missing[file->index] && !is_special(file) &&
		files->resolver->dsos[file->index]->state != DSO_NOT_A_FILE);
}

void code_files_warn(const struct code_files *files, const struct timeline *timeline,
		     struct diag *diag)
{
	const struct mapped_file *const *all = timeline->files.files;
	char id[2 * ELF_BUILD_ID_MAX + 1];
	unsigned listed = 0;
	uint64_t made = 0;
	char *text;
	FILE *out = OPEN_TEXT(text);

	for (size_t i = 0; i < timeline->files.count; i++) {
		if (!is_wanted(files, all[i]))
			continue;
		/* Code that was generated at run time is in no file. */
		if (space_builder_is_memory(all[i]->path) || strcmp(all[i]->path, "[heap]") == 0 ||
		    strcmp(all[i]->path, "[stack]") == 0) {
			made += files->gaps[all[i]->index];
			continue;
		}
		if (listed++)
			fputs(", ", out);
		elf_file_print_id(id, all[i]->build_id, all[i]->build_id_size);
		fprintf(out, "%s%s%s%s", all[i]->path, id[0] ? " (build id " : "", id,
			id[0] ? ")" : "");
	}
	alloc_close_text(out, &text);
	if (listed)
		diag_warn(diag, "missing-files",
			  listed == 1 ? "%u binary not found; its calls are missing: %s"
				      : "%u binaries not found; their calls are missing: %s",
			  listed, text);
	if (made)
		diag_warn(
			diag, "made-code",
			"bytes of code generated at run time are missing; its compiler may write a "
			"jitdump or a perf map while it is recorded: node --perf-prof "
			"--interpreted-frames-native-stack --no-sparkplug, java "
			"-agentpath:libperf-jvmti.so, LuaJIT with LUAJIT_USE_PERFTOOLS, python3 -X "
			"perf (ptrace2ftf record keeps the map)");
	free(text);
}

/* ---- The file that ran --------------------------------------------------- */

#define PAGE         4096
#define ID_BYTES_MIN 8 /* bytes of a hash; lld's default */

/*
 * Returns whether the mapped offsets are those of the file's code. More is mapped by ld.so
 * before 2.31 if the file begins with code, and where all data is executable (personality(2)).
 */
static bool offsets_agree(const struct mapped_file *file, const struct elf_file *elf)
{
	uint64_t begin = UINT64_MAX, end = 0, mapped_end = (file->end + PAGE - 1) / PAGE;

	for (size_t i = 0; i < elf->code_count; i++) {
		begin = MIN(begin, elf->code[i].offset / PAGE);
		end = MAX(end, (elf->code[i].offset + elf->code[i].size + PAGE - 1) / PAGE);
	}
	return !end || elf->header.e_type == ET_REL || !file->end ||
	       (mapped_end >= end && file->begin / PAGE <= begin &&
		(mapped_end == end || file->begin / PAGE < begin || !begin));
}

static const char *find_doubt(const struct mapped_file *file, const struct dso *dso,
			      const struct perf_file *recording, bool symfs)
{
	bool has_clock = recording->features.has_clock_data;
	uint64_t recorded = has_clock ? recording->features.clock_wall_ns : recording->written_ns;
	bool newer = recorded && dso->elf.written_ns > recorded;

	if (!offsets_agree(file, &dso->elf))
		return "its code is at other offsets than those that were mapped";
	if ((file->build_id_size >= ID_BYTES_MIN && !dso->forced) || !file->inode)
		return NULL;
	if (file->several)
		return "several files had its path during the recording";
	if (file->inode == dso->elf.identity.inode)
		return newer ? "it was written after the recording" : NULL;
	/* perf lists the build ids of all files that have one. */
	if ((symfs && (recording->build_id_count || !file->major)) ||
	    (!newer && (has_clock || !file->major)))
		return NULL;
	return "it has another inode than the recorded file";
}

void code_files_check(const struct mapped_file *file, const struct dso *dso,
		      const struct perf_file *recording, bool symfs, struct diag *diag)
{
	const char *doubt = dso->state == DSO_FOUND && dso->file
				    ? find_doubt(file, dso, recording, symfs)
				    : NULL;

	if (doubt)
		diag_warn(diag, "file-changed",
			  "%s may not be the file that ran: %s%s; its calls may be wrong",
			  dso->file, doubt,
			  file->build_id_size ? "" : ", and no build id shows which one ran");
}
