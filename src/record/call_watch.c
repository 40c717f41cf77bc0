/* SPDX-License-Identifier: MIT */
/* Hardware breakpoints in the threads of a process. */
#include "src/record/record.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "symbols/files/elf_file.h"
#include "symbols/names/demangle.h"

/* ---- The function -------------------------------------------------------- */

static bool is_named(struct demangler *demangler, const char *linkage, const char *function)
{
	static const enum demangle_style styles[] = { DEMANGLE_SHORT, DEMANGLE_FULL };
	bool found = strcmp(linkage, function) == 0;

	for (size_t i = 0; i < 2 && !found; i++) {
		const char *name = demangler_demangle(demangler, linkage, styles[i]);

		found = name && strcmp(name, function) == 0;
	}
	return found;
}

int function_place_find(struct function_place *place, const char *file, const char *function,
			struct error *err)
{
	const struct code_range *range;
	struct demangler demangler = { 0 };
	struct elf_symbol symbol = { 0 };
	struct elf_file elf = { 0 };
	uint64_t vaddr = 0, others = 0;
	GElf_Ehdr header = { 0 };

	if (elf_file_open(&elf, file, err) < 0)
		return -1;
	gelf_getehdr(elf.elf, &header);
	while (elf_symbol_next(elf.elf, &symbol)) {
		const GElf_Sym *entry = &symbol.symbol;

		if (GELF_ST_TYPE(entry->st_info) != STT_FUNC || entry->st_shndx == SHN_UNDEF ||
		    entry->st_value == vaddr || !is_named(&demangler, symbol.name, function))
			continue;
		others += vaddr != 0;
		vaddr = entry->st_value;
	}
	demangler_release(&demangler);
	range = elf_file_code_at_vaddr(&elf, vaddr);
	place->from_entry = (int64_t)(vaddr - header.e_entry);
	place->offset = range ? vaddr - range->vaddr + range->offset : 0;
	elf_file_close(&elf);
	if (header.e_ident[EI_CLASS] != ELFCLASS64)
		return error_set(err, ERROR_UNSUPPORTED, "%s is not a 64-bit program", file);
	if (!vaddr || !range)
		return error_set(err, ERROR_UNSUPPORTED,
				 "the symbol table of %s has no function '%s'", file, function);
	if (others)
		return error_set(err, ERROR_UNSUPPORTED, "%s has several functions '%s'", file,
				 function);
	return 0;
}

/* ---- The breakpoint ------------------------------------------------------ */

/* Returns the entry address of a process's program; 0: unknown. */
static uint64_t find_entry(pid_t pid)
{
	Elf64_auxv_t value = { 0 };
	char path[64];
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	in = fopen(path, "re");
	while (in && fread(&value, sizeof(value), 1, in) == 1 && value.a_type != AT_ENTRY)
		;
	if (in)
		fclose(in);
	return value.a_type == AT_ENTRY ? value.a_un.a_val : 0;
}

static int open_in(void *context, pid_t tid)
{
	struct call_watch *watch = context;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = watch->address,
		.bp_len = sizeof(long),
		.sample_period = 1,
		.disabled = true,
		.inherit = true,
		.exclude_kernel = true,
		.exclude_hv = true,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	/* The thread has ended. */
	if (fd < 0 && errno == ESRCH)
		return 0;
	if (fd < 0)
		return -1;
	ARRAY_GROW(watch->threads, watch->room, watch->count + 1);
	watch->threads[watch->count++] = fd;
	return 0;
}

int threads_visit(pid_t pid, int (*visit)(void *context, pid_t tid), void *context,
		  struct error *err)
{
	struct dirent *thread;
	char path[64];
	DIR *folder;
	int status = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	folder = opendir(path);
	while (folder && status == 0 && (thread = readdir(folder)))
		if (*thread->d_name != '.')
			status = visit(context, atoi(thread->d_name));
	if (!folder || status < 0)
		error_set_system(err, errno, "process %d", pid);
	if (folder)
		closedir(folder);
	return folder ? status : -1;
}

int call_watch_open(struct call_watch *watch, pid_t pid, struct error *err)
{
	uint64_t entry = find_entry(pid);

	watch->address = entry + (uint64_t)watch->function.from_entry;
	return entry ? threads_visit(pid, open_in, watch, err)
		     : error_set_system(err, ESRCH, "process %d", pid);
}

void call_watch_start(const struct call_watch *watch, pid_t receiver)
{
	for (size_t i = 0; i < watch->count; i++) {
		fcntl(watch->threads[i], F_SETOWN, receiver);
		fcntl(watch->threads[i], F_SETSIG, SIGINT);
		fcntl(watch->threads[i], F_SETFL, O_ASYNC);
		ioctl(watch->threads[i], PERF_EVENT_IOC_ENABLE, 0);
	}
}

uint64_t call_watch_end(struct call_watch *watch)
{
	uint64_t calls = 0, of_thread;

	for (size_t i = 0; i < watch->count; i++) {
		/* Another process may hold the descriptor, so closing it is not enough. */
		ioctl(watch->threads[i], PERF_EVENT_IOC_DISABLE, 0);
		if (read(watch->threads[i], &of_thread, sizeof(of_thread)) == sizeof(of_thread))
			calls += of_thread;
		close(watch->threads[i]);
	}
	free(watch->threads);
	*watch = (struct call_watch){ 0 };
	return calls;
}
