/* SPDX-License-Identifier: MIT */
/* Find kcore or vmlinux, and the modules, to describe the kernel's code. */
#include "src/resolve/code_files.h"

#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Limit of registrations compared for one address. */
#define SAME_BEGIN_MAX 64

/* ---- Patches and runtime segments: changes, BPF programs, modules --------- */

COMPARE_BY(compare_ranges, struct kernel_segment, begin)

static void add_runtime_segments(struct kernel_code *code, const struct kernel_modules *modules)
{
	size_t count = code->patch_count + modules->count;
	struct kernel_segment *ranges = arena_alloc(modules->arena, count * sizeof(*ranges));
	uint64_t size = 0;
	const uint8_t *found;
	uint8_t *bytes;
	size_t kept = 0;

	for (size_t i = 0; i < code->patch_count; i++) {
		const struct code_patch *patch = &code->patches[i];
		uint64_t end = patch->address + MAX(patch->old_size, patch->new_size);

		/* Empty if it is in the file's segments. */
		if (end < patch->address || kernel_code_find(code, patch->address, &found))
			end = patch->address;
		ranges[i] = (struct kernel_segment){ patch->address, end, 0 };
	}
	for (size_t i = 0; i < modules->count; i++)
		ranges[code->patch_count + i] =
			(struct kernel_segment){ modules->modules[i].begin, modules->modules[i].end,
						 0 };
	/* Sort the ranges and join adjacent ones. */
	SORT(ranges, count, compare_ranges);
	for (size_t i = 0; i < count; i++) {
		if (kept && ranges[i].begin <= ranges[kept - 1].end)
			ranges[kept - 1].end = MAX(ranges[kept - 1].end, ranges[i].end);
		else if (ranges[i].begin < ranges[i].end)
			ranges[kept++] = ranges[i];
	}
	count = kept;
	for (size_t i = 0; i < count; i++) {
		ranges[i].file_offset = size;
		size += ranges[i].end - ranges[i].begin;
	}
	bytes = arena_alloc(modules->arena, size);
	for (size_t i = 0; i < modules->count; i++) {
		const struct kernel_module *module = &modules->modules[i];
		const struct kernel_segment *range =
			&ranges[LOWER_BOUND(j, count, ranges[j].end <= module->begin)];

		memcpy(bytes + range->file_offset + (module->begin - range->begin), module->bytes,
		       module->end - module->begin);
	}
	code->runtime_segments = ranges;
	code->runtime_count = count;
	code->runtime_bytes = bytes;
	code->runtime_size = size;
}

/* ---- BPF programs -------------------------------------------------------- */

COMPARE_BY_TWO(compare_symbols, struct kernel_symbol, begin, time)

/* Returns the time when code of this address and size was registered; 0: earlier, or unknown. */
static uint64_t registration_time(const struct kernel_symbol *symbols, size_t count,
				  const struct bpf_function *function)
{
	size_t first = LOWER_BOUND(j, count, symbols[j].begin < function->address);

	for (size_t i = first;
	     i < count && i < first + SAME_BEGIN_MAX && symbols[i].begin == function->address; i++)
		if (symbols[i].end - symbols[i].begin == function->size)
			return symbols[i].time;
	return 0;
}

COMPARE_BY_TWO(compare_patches, struct code_patch, address, time)

static size_t read_programs(const struct perf_file *file, const struct kernel_symbol *symbols,
			    size_t symbol_count, struct code_patch *patches)
{
	struct bpf_function function = { 0 };
	size_t count = 0;

	while (bpf_programs_next(file, &function)) {
		if (!ip_is_kernel(function.address) || !function.size)
			continue;
		if (patches)
			patches[count] = (struct code_patch){
				.time = registration_time(symbols, symbol_count, &function),
				.address = function.address,
				.new_bytes = function.bytes,
				.new_size = function.size,
			};
		count++;
	}
	return count;
}

/* ---- All ----------------------------------------------------------------- */

COMPARE_BY_TWO(compare_times, struct code_patch, time, order)

static void add_patches(struct kernel_code *code, struct arena *arena,
			const struct timeline *timeline, const struct perf_file *file)
{
	size_t programs = read_programs(file, NULL, 0, NULL), pokes = timeline->patch_count, count;
	struct kernel_symbol *symbols;
	struct code_patch *patches;
	uint64_t end = 0;

	code->patch_count = programs + pokes;
	if (!code->patch_count)
		return;
	patches = arena_alloc(arena, code->patch_count * sizeof(*patches));
	/* The symbols that the kernel registered, by address */
	symbols = arena_alloc(arena, timeline->symbol_count * sizeof(*symbols));
	count = 0;
	for (size_t i = 0; i < timeline->symbol_count; i++)
		if (!timeline->symbols[i].gone)
			symbols[count++] = timeline->symbols[i];
	SORT(symbols, count, compare_symbols);
	read_programs(file, symbols, count, patches);
	/* Code that replaces no other is valid from the start: times are only approximate. */
	SORT(patches, programs, compare_patches);
	for (size_t i = 0; i < programs; i++) {
		if (patches[i].address >= end)
			patches[i].time = 0;
		end = MAX(end, patches[i].address + patches[i].new_size);
	}
	if (pokes)
		memcpy(patches + programs, timeline->patches, pokes * sizeof(*patches));
	for (size_t i = 0; i < code->patch_count; i++)
		patches[i].order = i;
	SORT(patches, code->patch_count, compare_times);
	code->patches = patches;
}

#define KERNEL_PATH     "[kernel.kallsyms]" /* the name of a symbol at a known address follows */
#define SWITCH_NAME     "__switch_to"
#define TRAMPOLINE_PATH "__entry_SYSCALL_64_trampoline" /* ENTRY_TRAMPOLINE_NAME of perf */

/* ---- Segments ------------------------------------------------------------ */

/*
 * Returns the file's range with the code of an entry trampoline: perf stores its address in the
 * kernel's text as the file offset (machine__create_extra_kernel_map()). Empty if the mapping is
 * not a trampoline, or the file lacks the code.
 */
static struct kernel_segment trampoline_segment(const struct elf_file *elf,
						const struct mapping *mapping, uint64_t distance)
{
	uint64_t text = mapping->file_offset - distance, size = mapping->end - mapping->begin;
	const struct code_range *range = elf_file_code_at_vaddr(elf, text);

	if (!range || strcmp(mapping->file->path, TRAMPOLINE_PATH) != 0)
		return (struct kernel_segment){ 0 };
	size = MIN(size, range->size - (text - range->vaddr));
	return (struct kernel_segment){ mapping->begin, mapping->begin + size,
					range->offset + (text - range->vaddr) };
}

/*
 * Use the file's code, moved by `distance` bytes, and its recorded second mappings (`kernel` may be
 * NULL). Where ranges overlap, the first one is used.
 */
static void set_segments(struct kernel_files *files, const char *path, uint64_t distance,
			 const struct address_space *kernel)
{
	size_t count = files->elf.code_count, others = kernel ? kernel->count : 0, kept = 0;
	struct kernel_segment *segments =
		arena_alloc(&files->arena, (count + others) * sizeof(*segments));

	for (size_t i = 0; i < count; i++) {
		const struct code_range *range = &files->elf.code[i];
		uint64_t begin = range->vaddr + distance;

		segments[i] = (struct kernel_segment){ begin, begin + range->size, range->offset };
	}
	for (size_t i = 0; i < others; i++)
		segments[count++] = trampoline_segment(&files->elf, &kernel->mappings[i], distance);
	SORT(segments, count, compare_ranges);
	for (size_t i = 0; i < count; i++) {
		if (segments[i].begin < segments[i].end &&
		    (!kept || segments[i].begin >= segments[kept - 1].end))
			segments[kept++] = segments[i];
	}
	files->code.segments = segments;
	files->code.count = kept;
	files->code.file = (struct code_file){ arena_text(&files->arena, path, strlen(path)),
					       files->elf.bytes, files->elf.size };
}

/* ---- kcore --------------------------------------------------------------- */

/* Parse lines "address type name [module]", in any order. */
static uint64_t find_in_kallsyms(const char *path, const char *wanted)
{
	/* Opening a pipe in a foreign recording could block forever. */
	FILE *in = perf_input_is_file(path) ? file_use_open_stream(path) : NULL;
	uint64_t address, found = 0;
	char line[600], name[512];

	/* An unprivileged reader of /proc/kallsyms gets 0 for each address. */
	while (in && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "%" SCNx64 " %*c %511s", &address, name) != 2 ||
		    strcmp(name, wanted) != 0)
			continue;
		found = address;
		break;
	}
	if (in)
		fclose(in);
	return found;
}

static bool is_directory(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Returns `kallsyms`, set to the path of the file next to a kcore or in its directory. */
static const char *kallsyms_beside(const char *path, char kallsyms[PATH_MAX])
{
	int folder = (int)strlen(path);

	if (!is_directory(path))
		folder = strrchr(path, '/') ? (int)(strrchr(path, '/') - path) : 0;
	snprintf(kallsyms, PATH_MAX, "%.*s%skallsyms", folder, path, folder ? "/" : "");
	return kallsyms;
}

/* Returns whether there is a kcore at the path, or in that directory. */
static bool try_kcore(struct kernel_files *files, const char *path, bool wanted, struct diag *diag)
{
	char kcore[PATH_MAX], kallsyms[PATH_MAX];
	struct error err = { 0 };

	snprintf(kcore, sizeof(kcore), "%s%s", path, is_directory(path) ? "/kcore" : "");
	if (elf_file_open(&files->elf, kcore, &err) < 0) {
		if (wanted || err.kind != ERROR_SYSTEM)
			diag_warn(diag, "kernel-unreadable", "%s: %s", kcore, err.text);
		return false;
	}
	set_segments(files, kcore, 0, NULL);
	files->switch_ip = find_in_kallsyms(kallsyms_beside(path, kallsyms), SWITCH_NAME);
	return true;
}

/* Returns `path`, set to the directory of perf record --kcore; NULL: it does not exist. */
static const char *recorded_kcore(const struct perf_file *file, char path[PATH_MAX])
{
	return file->folder && snprintf(path, PATH_MAX, "%s/kcore_dir", file->folder) < PATH_MAX &&
			       is_directory(path)
		       ? path
		       : NULL;
}

const char *kernel_files_kallsyms(const struct kernel_files_options *options,
				  const struct perf_file *file, char path[PATH_MAX])
{
	char own[PATH_MAX];
	const char *kcore = options->kcore ? options->kcore : recorded_kcore(file, own);

	return kcore && access(kallsyms_beside(kcore, path), R_OK) == 0 ? path : NULL;
}

/* Returns the kernel's mappings; NULL: unknown. */
static const struct address_space *kernel_space(const struct timeline *timeline)
{
	const struct thread_table *table = &timeline->threads;

	return table->count ? table->threads[0]->process->epochs[0].space->kernel : NULL;
}

/* Returns the recorded mapping of the kernel itself, or NULL. */
static const struct mapping *kernel_mapping(const struct address_space *kernel)
{
	for (size_t i = 0; kernel && i < kernel->count; i++) {
		if (starts_with(kernel->mappings[i].file->path, KERNEL_PATH))
			return &kernel->mappings[i];
	}
	return NULL;
}

/* Returns the recorded kernel's reference symbol, whose address perf stores as file offset. */
static const char *reference_of(const struct mapping *kernel)
{
	return kernel->file->path + sizeof(KERNEL_PATH) - 1;
}

/* ---- The running kernel -------------------------------------------------- */

/* Returns whether the running kernel has the recorded build id, or either is unknown. */
static bool is_running_build(const struct mapped_file *recorded)
{
	FILE *in = fopen("/sys/kernel/notes", "re");
	uint8_t notes[4096];
	size_t size = in ? fread(notes, 1, sizeof(notes), in) : 0;

	if (in)
		fclose(in);
	return !size || memmem(notes, size, recorded->build_id, recorded->build_id_size);
}

/* A kernel of one release can be of another build, and has other addresses after a reboot. */
static enum running_kernel what_runs(const char *release, const struct mapping *kernel)
{
	struct utsname running;

	if (!release || uname(&running) != 0 || strcmp(running.release, release) != 0 ||
	    (kernel && !is_running_build(kernel->file)))
		return RUNNING_OTHER;
	return !kernel || !*reference_of(kernel) ||
			       find_in_kallsyms("/proc/kallsyms", reference_of(kernel)) ==
				       kernel->file_offset
		       ? RUNNING_BOOT
		       : RUNNING_BUILD;
}

enum running_kernel kernel_files_identify(const struct perf_file *file,
					  const struct timeline *timeline, struct dso_store *store)
{
	const struct mapping *kernel = kernel_mapping(kernel_space(timeline));
	enum running_kernel running = what_runs(file->features.os_release, kernel);

	dso_store_set_kernel(store, kernel ? kernel->file->build_id : NULL,
			     kernel ? kernel->file->build_id_size : 0, running);
	return running;
}

/* ---- vmlinux ------------------------------------------------------------- */

/* Returns whether the file has the symbol; stores its address. */
static bool find_symbol(const struct elf_file *file, const char *name, uint64_t *address)
{
	struct elf_symbol it = { 0 };

	while (elf_symbol_next(file->elf, &it)) {
		if (strcmp(it.name, name) != 0)
			continue;
		*address = it.symbol.st_value;
		return true;
	}
	return false;
}

static bool has_build_id(const struct elf_file *elf, const struct mapped_file *recorded)
{
	return !recorded->build_id_size ||
	       (elf->build_id_size == recorded->build_id_size &&
		memcmp(elf->build_id, recorded->build_id, elf->build_id_size) == 0);
}

static bool try_vmlinux(struct kernel_files *files, const char *path,
			const struct address_space *kernel, bool wanted, struct diag *diag)
{
	const struct mapping *mapping = kernel_mapping(kernel);
	const char *reference = reference_of(mapping);
	struct error err = { 0 };
	uint64_t address, distance = 0;

	if (elf_file_open(&files->elf, path, &err) < 0) {
		if (wanted)
			diag_warn(diag, "kernel-unreadable", "%s: %s", path, err.text);
		return false;
	}
	if (!has_build_id(&files->elf, mapping->file)) {
		diag_warn(diag, "build-id-mismatch",
			  "%s is of another kernel than the recorded one", path);
		elf_file_close(&files->elf);
		return false;
	}
	if (*reference && find_symbol(&files->elf, reference, &address))
		distance = mapping->file_offset - address;
	if (find_symbol(&files->elf, SWITCH_NAME, &address))
		files->switch_ip = address + distance;
	set_segments(files, path, distance, kernel);
	/* The trampolines have the kernel's own names in kallsyms. */
	for (size_t i = 0; i < kernel->count; i++)
		if (strcmp(kernel->mappings[i].file->path, TRAMPOLINE_PATH) == 0)
			fprintf(files->modules.kallsyms, "%016" PRIx64 " t %s\n",
				kernel->mappings[i].begin, TRAMPOLINE_PATH);
	kernel_modules_add_kernel(&files->modules, &files->elf, distance);
	return true;
}

static void look_for_vmlinux(struct kernel_files *files, const struct kernel_files_options *options,
			     const char *release, const struct address_space *kernel,
			     struct diag *diag)
{
	static const char *const forms[][2] = {
		{ "/usr/lib/debug/boot/vmlinux-", "" },
		{ "/boot/vmlinux-", "" },
		{ "/usr/lib/debug/lib/modules/", "/vmlinux" },
		{ "/lib/modules/", "/build/vmlinux" },
	};
	const char *symfs = options->symfs;
	char path[BENEATH_PATH];

	for (size_t i = 0; i < COUNT_OF(forms); i++)
		if (dso_find_path(symfs, path, "%s%s%s%s", symfs ? symfs : "", forms[i][0], release,
				  forms[i][1]) &&
		    try_vmlinux(files, path, kernel, false, diag))
			return;
}

/* ---- All ----------------------------------------------------------------- */

static void find_file(struct kernel_files *files, const struct kernel_files_options *options,
		      const struct perf_file *file, const struct timeline *timeline,
		      struct diag *diag)
{
	const struct address_space *kernel = kernel_space(timeline);
	const struct mapping *mapping = kernel_mapping(kernel);
	const char *release = file->features.os_release;
	char path[PATH_MAX];

	if (options->kcore) {
		try_kcore(files, options->kcore, true, diag);
		return;
	}
	if (recorded_kcore(file, path) && try_kcore(files, path, false, diag))
		return;
	if (options->vmlinux && mapping)
		try_vmlinux(files, options->vmlinux, kernel, true, diag);
	else if (!options->vmlinux && mapping && release && mapping->file->build_id_size &&
		 !strchr(release, '/'))
		look_for_vmlinux(files, options, release, kernel, diag);
}

void kernel_files_init(struct kernel_files *files, const struct kernel_files_options *options,
		       const struct perf_file *file, const struct timeline *timeline,
		       struct diag *diag)
{
	*files = (struct kernel_files){ 0 };
	files->modules.arena = &files->arena;
	files->modules.kallsyms = OPEN_TEXT(files->kallsyms);
	find_file(files, options, file, timeline, diag);
	/* kcore also has the modules. */
	if (options->resolver && (!files->code.count || files->modules.export_count))
		kernel_modules_load(&files->modules, kernel_space(timeline), options->resolver,
				    diag);
	alloc_close_text(files->modules.kallsyms, &files->kallsyms);
	add_patches(&files->code, &files->arena, timeline, file);
	if (files->code.patch_count || files->modules.count)
		add_runtime_segments(&files->code, &files->modules);
}

const struct kernel_code *kernel_files_code(const struct kernel_files *files)
{
	return files->code.count || files->code.runtime_count ? &files->code : NULL;
}

void kernel_files_release(struct kernel_files *files)
{
	elf_file_close(&files->elf);
	kernel_modules_release(&files->modules);
	arena_release(&files->arena);
	free(files->kallsyms);
	*files = (struct kernel_files){ 0 };
}
