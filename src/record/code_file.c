/* SPDX-License-Identifier: MIT */
/* Save the code that processes generated, as an ELF core. */
#include "src/record/record.h"

#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/openat2.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io/output_path.h"
#include "base/message.h"
#include "symbols/files/core_file.h"
#include "symbols/files/dso_find.h"
#include "symbols/names/jit_dump.h"

/* More headers need another form of core (PN_XNUM). */
#define HEADERS_MOST (PN_XNUM - 1)

/* Segments end at multiples of this: a later mapping affects few of them. */
#define SEGMENT_MOST 0x10000

/* 1 GiB: all pages stay in memory to the end. */
#define PAGES_MOST (UINT64_C(1) << 18)

/* Bits of a page number in user memory. */
#define NUMBER_BITS 40

void code_file_retire(const char *recording, ino_t before)
{
	int length = (int)output_path_length(recording);
	char *path = alloc_text("%.*s%s", length, recording, CORE_FILE_SUFFIX);
	char *old = alloc_text("%.*s.old", length, recording);
	char *old_path = alloc_text("%s%s", old, CORE_FILE_SUFFIX);
	struct stat status;

	if (stat(old, &status) < 0 || status.st_ino != before || rename(path, old_path) < 0)
		unlink(path);
	free(path);
	free(old);
	free(old_path);
}

void code_file_begin(struct code_file_writer *writer, const char *recording)
{
	*writer = (struct code_file_writer){
		.path = alloc_text("%.*s%s", (int)output_path_length(recording), recording,
				   CORE_FILE_SUFFIX),
		.names_most = UINT64_C(1) << 30,
	};
}

/* Returns whether other code was there: bytes that were never written, and INT3, are not code. */
static bool is_overwritten(const uint8_t *old, const uint8_t *bytes)
{
	for (size_t i = 0; i < CODE_PAGE_SIZE; i++)
		if (old[i] != bytes[i] && old[i] != 0 && old[i] != 0xcc)
			return true;
	return false;
}

/* Add a page, replacing an older one. */
static void add_page(struct code_file_writer *writer, pid_t pid, uint64_t address, bool silent,
		     const uint8_t *bytes)
{
	uint64_t key = (uint64_t)pid << NUMBER_BITS | address / CODE_PAGE_SIZE;
	size_t at = pair_table_find(&writer->index, (uint32_t)(key >> 32), (uint32_t)key);

	if (at == writer->count)
		*ARRAY_ADD(writer->pages, writer->count, writer->room) =
			(struct code_page){ .pid = pid, .address = address };
	if (memcmp(writer->pages[at].bytes, bytes, CODE_PAGE_SIZE) == 0)
		return;
	writer->pages[at].changed |= silent && is_overwritten(writer->pages[at].bytes, bytes);
	writer->pages[at].saved = writer->ticks ? writer->ticks() : 0;
	memcpy(writer->pages[at].bytes, bytes, CODE_PAGE_SIZE);
}

/* A part of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst). */
struct page_flags {
	int fd;
	uint64_t first; /* number of the page */
	uint64_t pages[512];
};

/* Returns whether a page is anonymous memory, also in the mapping of a file. */
static bool is_anonymous(struct page_flags *flags, uint64_t address)
{
	const uint64_t present = UINT64_C(1) << 63, of_file = UINT64_C(1) << 61;
	uint64_t number = address / CODE_PAGE_SIZE;

	if (number - flags->first >= COUNT_OF(flags->pages)) {
		memset(flags->pages, 0, sizeof(flags->pages));
		flags->first = number;
		if (pread(flags->fd, flags->pages, sizeof(flags->pages), (off_t)(number * 8)) < 0)
			return false;
	}
	return (flags->pages[number - flags->first] & (present | of_file)) == present;
}

/* Returns whether a page has its file's bytes but for breakpoints. Needs CAP_SYS_ADMIN. */
static bool has_only_breakpoints(const char *file, uint64_t offset, const uint8_t *bytes)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	uint8_t original[CODE_PAGE_SIZE];
	bool same = fd >= 0 && pread(fd, original, CODE_PAGE_SIZE, (off_t)offset) == CODE_PAGE_SIZE;

	for (size_t i = 0; i < CODE_PAGE_SIZE && same; i++)
		same = bytes[i] == original[i] || bytes[i] == 0xcc;
	if (fd >= 0)
		close(fd);
	return same;
}

/*
 * Add the pages of a line of /proc/PID/maps that are code, but in no file.  Pages of zeros have no
 * code, or their new code is not yet written.
 */
static void add_mapping(struct code_file_writer *writer, pid_t pid, int memory,
			struct page_flags *flags, const char *line)
{
	static const uint8_t zeros[CODE_PAGE_SIZE];
	char access[8] = "", path[64] = "", file[96];
	uint8_t bytes[CODE_PAGE_SIZE];
	uint64_t begin, end, offset = 0;
	bool of_file;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %63s", &begin, &end,
		   access, &offset, path) < 3 ||
	    access[2] != 'x' || end / CODE_PAGE_SIZE >> NUMBER_BITS ||
	    starts_with(path, "[uprobes"))
		return;
	of_file = dso_find_shape(path) == DSO_SHAPE_FILE;
	/* Huge pages are copies of a program's code (decoder/mappings/space_builder.c). */
	if ((!of_file && dso_find_shape(path) != DSO_SHAPE_NO_FILE) ||
	    (of_file && strstr(path, "huge")))
		return;
	of_file &= !ends_with(line, " (deleted)\n");
	snprintf(file, sizeof(file), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, begin, end);
	for (offset -= begin; begin < end && writer->count < PAGES_MOST; begin += CODE_PAGE_SIZE)
		if ((!of_file || is_anonymous(flags, begin)) &&
		    pread(memory, bytes, CODE_PAGE_SIZE, (off_t)begin) == CODE_PAGE_SIZE &&
		    memcmp(bytes, zeros, CODE_PAGE_SIZE) != 0 &&
		    !(of_file && has_only_breakpoints(file, begin + offset, bytes)))
			/* Only code that is W+X, or mapped twice, changes without a new mapping. */
			add_page(writer, pid, begin, access[1] == 'w' || access[3] == 's', bytes);
}

/*
 * Open a file of a process, in its mount namespace; links do not lead out of it.  Returns -1 also
 * if the file is of a user who is neither root nor the process's: anybody may write to /tmp.
 */
static int open_names(pid_t pid, const char *path, struct stat *status)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	struct stat process;
	char name[64];
	int root, fd;

	snprintf(name, sizeof(name), "/proc/%d/root", pid);
	root = open(name, O_PATH | O_CLOEXEC);
	if (root < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	close(root);
	*strrchr(name, '/') = 0;
	if (fd < 0 ||
	    (fstat(fd, status) == 0 && S_ISREG(status->st_mode) &&
	     (!status->st_uid || (stat(name, &process) == 0 && process.st_uid == status->st_uid))))
		return fd;
	close(fd);
	return -1;
}

/*
 * Keep a perf map or a jitdump of a process, instead of an older file at the path.  A jitdump that
 * a fork inherited stays that of the first process.
 */
static void add_names(struct code_file_writer *writer, pid_t pid, const char *path)
{
	struct code_names *names = NULL;
	struct stat status;
	int fd = open_names(pid, path, &status);

	writer->lacks_names |= fd < 0 && (errno == EMFILE || errno == ENFILE);
	for (size_t i = 0; fd >= 0 && i < writer->name_count; i++) {
		struct code_names *other = &writer->names[i];

		if (other->identity.device == status.st_dev &&
		    other->identity.inode == status.st_ino) {
			close(fd);
			return;
		}
		if (other->pid == pid && strcmp(other->path, path) == 0)
			names = other;
	}
	if (fd < 0)
		return;
	if (!names) {
		names = ARRAY_ADD(writer->names, writer->name_count, writer->name_room);
		names->path = alloc_text("%s", path);
	} else {
		close(names->fd);
	}
	names->pid = pid;
	names->fd = fd;
	names->identity = (struct file_identity){ status.st_dev, status.st_ino };
}

/* perf-PID.map has the pid of the process's own namespace, the last NSpid. */
static void add_map(struct code_file_writer *writer, pid_t pid)
{
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && getline(&line, &room, file) > 0) {
		if (!starts_with(line, "NSpid:"))
			continue;
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", atoi(strrchr(line, '\t') + 1));
		add_names(writer, pid, path);
		break;
	}
	free(line);
	if (file)
		fclose(file);
}

void code_file_add(struct code_file_writer *writer, pid_t pid)
{
	char path[64], *line = NULL, *mapped;
	size_t room = 0;
	FILE *maps;
	struct page_flags flags = { .first = UINT64_MAX - COUNT_OF(flags.pages) };
	int memory;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	flags.fd = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = memory < 0 ? NULL : fopen(path, "re");
	while (maps && getline(&line, &room, maps) > 0) {
		add_mapping(writer, pid, memory, &flags, line);
		line[strcspn(line, "\n")] = 0;
		mapped = strchr(line, '/');
		if (mapped && jit_dump_is_path(mapped))
			add_names(writer, pid, mapped);
	}
	add_map(writer, pid);
	free(line);
	if (maps)
		fclose(maps);
	if (memory >= 0)
		close(memory);
	if (flags.fd >= 0)
		close(flags.fd);
}

void code_file_add_children(struct code_file_writer *writer, pid_t pid)
{
	char pattern[64];
	glob_t threads;
	pid_t child;

	snprintf(pattern, sizeof(pattern), "/proc/%d/task/*/children", pid);
	if (glob(pattern, GLOB_NOSORT, NULL, &threads) != 0)
		return;
	for (size_t i = 0; i < threads.gl_pathc; i++) {
		FILE *file = fopen(threads.gl_pathv[i], "re");

		while (file && fscanf(file, "%d", &child) == 1) {
			code_file_add(writer, child);
			code_file_add_children(writer, child);
		}
		if (file)
			fclose(file);
	}
	globfree(&threads);
}

/* ---- The file ------------------------------------------------------------ */

struct core_output {
	FILE *file;
	Elf64_Phdr *headers; /* owned */
	size_t count, room;
	uint64_t end; /* bytes of the file up to now */
};

static void put(struct core_output *core, const void *bytes, size_t size)
{
	fwrite(bytes, 1, size, core->file);
	core->end += size;
}

/* `name` has up to 11 bytes, `info` a multiple of 4. */
static void put_note(struct core_output *core, Elf64_Word type, const char *name, const void *info,
		     size_t size)
{
	const Elf64_Nhdr header = { (Elf64_Word)strlen(name) + 1, (Elf64_Word)size, type };
	size_t name_size = (header.n_namesz + 3) & ~(size_t)3;
	char padded[12] = "";

	memcpy(padded, name, header.n_namesz);
	*ARRAY_ADD(core->headers, core->count, core->room) =
		(Elf64_Phdr){ .p_type = PT_NOTE,
			      .p_offset = core->end,
			      .p_filesz = sizeof(header) + name_size + size };
	put(core, &header, sizeof(header));
	put(core, padded, name_size);
	put(core, info, size);
}

/* So that the file is not taken for that of a later recording with the same name. */
static void put_recording(struct core_output *core, char *path)
{
	char *suffix = path + strlen(path) - strlen(CORE_FILE_SUFFIX);
	struct stat status;

	*suffix = 0;
	if (stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size)
		put_note(core, 1, CORE_FILE_NOTE, &(uint64_t){ (uint64_t)status.st_size },
			 sizeof(uint64_t));
	*suffix = CORE_FILE_SUFFIX[0];
}

static void put_process(struct core_output *core, pid_t pid)
{
	put_note(core, NT_PRPSINFO, "CORE", &(prpsinfo_t){ .pr_pid = pid }, sizeof(prpsinfo_t));
}

/* Put a page; `before` is the page before in the order of the file, or NULL. */
static void put_page(struct core_output *core, const struct code_page *page,
		     const struct code_page *before)
{
	bool same_process = before && before->pid == page->pid;

	if (!same_process)
		put_process(core, page->pid);
	if (!same_process || before->address + CODE_PAGE_SIZE != page->address ||
	    before->changed != page->changed || before->saved != page->saved ||
	    page->address % SEGMENT_MOST == 0)
		*ARRAY_ADD(core->headers, core->count, core->room) = (Elf64_Phdr){
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X | (page->changed ? CORE_FILE_CHANGED : 0),
			.p_offset = core->end,
			.p_vaddr = page->address,
			.p_paddr = page->saved,
			.p_align = 1,
		};
	core->headers[core->count - 1].p_filesz += CODE_PAGE_SIZE;
	core->headers[core->count - 1].p_memsz += CODE_PAGE_SIZE;
	put(core, page->bytes, CODE_PAGE_SIZE);
}

/* Returns false if a file has more than `most` bytes, or cannot be read. */
static bool put_names(struct core_output *core, const struct code_names *names, uint64_t most)
{
	char padded[PATH_MAX + sizeof(Elf64_Word)] = "", bytes[0x10000];
	uint64_t begin;
	ssize_t got = 1;

	snprintf(padded, PATH_MAX, "%s", names->path);
	put_process(core, names->pid);
	put_note(core, CORE_FILE_PATH, CORE_FILE_NOTE, padded, (strlen(padded) + 4) & ~(size_t)3);
	begin = core->end;
	for (uint64_t at = 0; got > 0 && at < most; at += (uint64_t)got) {
		got = pread(names->fd, bytes, MIN(sizeof(bytes), most - at), (off_t)at);
		put(core, bytes, (size_t)MAX(got, 0));
	}
	*ARRAY_ADD(core->headers, core->count, core->room) = (Elf64_Phdr){
		.p_type = CORE_FILE_COPY, .p_offset = begin, .p_filesz = core->end - begin
	};
	return got == 0;
}

static void put_headers(struct core_output *core)
{
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					   ELFDATA2LSB, EV_CURRENT },
			      .e_type = ET_CORE,
			      .e_machine = EM_X86_64,
			      .e_version = EV_CURRENT,
			      .e_phoff = core->end,
			      .e_ehsize = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = (Elf64_Half)core->count };

	put(core, core->headers, core->count * sizeof(*core->headers));
	if (fseek(core->file, 0, SEEK_SET) == 0)
		put(core, &header, sizeof(header));
	free(core->headers);
}

COMPARE_BY_TWO(compare_pages, struct code_page, pid, address)

/* Returns the number of pages that fit. */
static size_t write_pages(struct code_file_writer *writer, FILE *file)
{
	struct core_output core = { .file = file };
	size_t i;

	SORT(writer->pages, writer->count, compare_pages);
	put(&core, &(Elf64_Ehdr){ 0 }, sizeof(Elf64_Ehdr));
	put_recording(&core, writer->path);
	for (i = 0; i < writer->name_count && core.count + 4 <= HEADERS_MOST; i++)
		writer->lacks_names |= !put_names(&core, &writer->names[i], writer->names_most);
	writer->lacks_names |= i < writer->name_count;
	for (i = 0; i < writer->count && core.count + 2 <= HEADERS_MOST; i++)
		put_page(&core, &writer->pages[i], i ? &writer->pages[i - 1] : NULL);
	put_headers(&core);
	return i;
}

void code_file_end(struct code_file_writer *writer)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
	bool any = writer->count || writer->name_count;
	int fd = any ? open(writer->path, flags, 0600) : -1;
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	size_t written = file ? write_pages(writer, file) : 0;

	if (any && (!file || ferror(file) | fclose(file))) {
		message_print_warning("cannot write %s: %s; generated code will be missing\n",
				      writer->path, strerror(errno));
		if (fd >= 0)
			unlink(writer->path);
	} else if (written < writer->count || writer->count == PAGES_MOST || writer->lacks_names) {
		message_print_warning(
			"%s has only %zu pages of the generated code, or parts of its names\n",
			writer->path, written);
	}
	for (size_t i = 0; i < writer->name_count; i++) {
		close(writer->names[i].fd);
		free(writer->names[i].path);
	}
	free(writer->names);
	pair_table_release(&writer->index);
	free(writer->pages);
	free(writer->path);
	*writer = (struct code_file_writer){ 0 };
}
