/* SPDX-License-Identifier: MIT */
/* Save the code that processes generated, as an ELF core. */
#include "src/record/code_file.h"

#include <fcntl.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"
#include "symbols/files/core_file.h"
#include "symbols/files/dso_find.h"

#define PAGE 4096

/* More program headers need PN_XNUM. */
#define HEADERS_MOST (PN_XNUM - 1)

/* Note that identifies the recording. */
struct __attribute__((packed)) recording_note {
	Elf64_Nhdr header;
	char name[12];
	uint64_t size; /* bytes */
};

/* Note that identifies a process. */
struct __attribute__((packed)) process_note {
	Elf64_Nhdr header;
	char name[8];
	prpsinfo_t info;
};

void code_file_begin(struct code_file_writer *writer, const char *recording)
{
	size_t length = strlen(recording);

	while (length > 1 && recording[length - 1] == '/')
		length--;
	*writer = (struct code_file_writer){ .fd = -1, .end = PAGE };
	if (asprintf(&writer->path, "%.*s%s", (int)length, recording, CORE_FILE_SUFFIX) < 0)
		alloc_fail(length);
	unlink(writer->path);
}

/* Remove the incomplete file; its code becomes a gap in the trace. */
static void give_up(struct code_file_writer *writer)
{
	message_begin_warning(stderr);
	fprintf(stderr, "cannot write %s: %m; code made at run time will be missing\n",
		writer->path);
	if (writer->fd >= 0 && close(writer->fd) == 0)
		unlink(writer->path);
	writer->fd = -1;
	writer->count = HEADERS_MOST;
}

static bool put(struct code_file_writer *writer, const void *bytes, size_t size, uint64_t offset)
{
	if (pwrite(writer->fd, bytes, size, (off_t)offset) == (ssize_t)size)
		return true;
	give_up(writer);
	return false;
}

static void add_header(struct code_file_writer *writer, Elf64_Phdr header)
{
	header.p_offset = writer->end;
	*ARRAY_ADD(writer->headers, writer->count, writer->room) = header;
	writer->end += (header.p_filesz + PAGE - 1) / PAGE * PAGE;
}

static void add_note(struct code_file_writer *writer, pid_t pid)
{
	struct process_note note = { { sizeof("CORE"), sizeof(note.info), NT_PRPSINFO },
				     "CORE",
				     { .pr_pid = pid } };

	if (put(writer, &note, sizeof(note), writer->end))
		add_header(writer, (Elf64_Phdr){ .p_type = PT_NOTE, .p_filesz = sizeof(note) });
}

/* Prevents that the file is used for a later recording of the same name. */
static void add_recording(struct code_file_writer *writer)
{
	struct recording_note note = { { sizeof(CORE_FILE_NOTE), sizeof(note.size), 1 },
				       CORE_FILE_NOTE,
				       0 };
	struct stat status;
	char *recording = NULL;

	if (asprintf(&recording, "%.*s", (int)(strlen(writer->path) - strlen(CORE_FILE_SUFFIX)),
		     writer->path) < 0)
		alloc_fail(0);
	if (stat(recording, &status) == 0 && S_ISREG(status.st_mode))
		note.size = (uint64_t)status.st_size;
	free(recording);
	if (note.size && put(writer, &note, sizeof(note), writer->end))
		add_header(writer, (Elf64_Phdr){ .p_type = PT_NOTE, .p_filesz = sizeof(note) });
}

/* Skip zero pages: they were never written, and stay holes in the file. */
static void add_memory(struct code_file_writer *writer, int memory, uint64_t begin, uint64_t end)
{
	static const uint8_t zeros[PAGE];
	uint8_t page[PAGE];

	for (uint64_t at = begin; at < end; at += PAGE) {
		if (pread(memory, page, PAGE, (off_t)at) != PAGE || memcmp(page, zeros, PAGE) == 0)
			continue;
		if (!put(writer, page, PAGE, writer->end + (at - begin)))
			return;
	}
	add_header(writer, (Elf64_Phdr){ .p_type = PT_LOAD,
					 .p_flags = PF_R | PF_X,
					 .p_vaddr = begin,
					 .p_filesz = end - begin,
					 .p_memsz = end - begin,
					 .p_align = PAGE });
}

/* Returns whether a line of /proc/PID/maps is executable memory that is in no file. */
static bool is_made(const char *line, uint64_t *begin, uint64_t *end)
{
	char access[8] = "", path[64] = "";

	return sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %63s", begin, end, access,
		      path) >= 3 &&
	       access[2] == 'x' && *begin < *end && !(*begin >> 63) &&
	       dso_find_shape(path) == DSO_SHAPE_NO_FILE && strcmp(path, "[uprobes]") != 0;
}

void code_file_add(struct code_file_writer *writer, pid_t pid)
{
	size_t before = writer->count, room = 0;
	uint64_t begin, end;
	char path[64], *line = NULL;
	FILE *maps;
	int memory;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = memory < 0 ? NULL : fopen(path, "re");
	while (maps && getline(&line, &room, maps) > 0 && writer->count + 2 < HEADERS_MOST) {
		if (!is_made(line, &begin, &end))
			continue;
		if (writer->fd < 0)
			writer->fd =
				open(writer->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (writer->fd < 0)
			give_up(writer);
		if (writer->fd >= 0 && writer->count == before)
			add_note(writer, pid);
		if (writer->fd >= 0)
			add_memory(writer, memory, begin, end);
	}
	free(line);
	if (maps)
		fclose(maps);
	if (memory >= 0)
		close(memory);
}

static void put_headers(struct code_file_writer *writer)
{
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					   ELFDATA2LSB, EV_CURRENT },
			      .e_type = ET_CORE,
			      .e_machine = EM_X86_64,
			      .e_version = EV_CURRENT,
			      .e_phoff = writer->end,
			      .e_ehsize = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = (Elf64_Half)writer->count };

	if (put(writer, writer->headers, writer->count * sizeof(Elf64_Phdr), writer->end) &&
	    put(writer, &header, sizeof(header), 0))
		close(writer->fd);
}

void code_file_end(struct code_file_writer *writer)
{
	if (writer->fd >= 0)
		add_recording(writer);
	if (writer->fd >= 0)
		put_headers(writer);
	free(writer->headers);
	free(writer->path);
	*writer = (struct code_file_writer){ .fd = -1 };
}
