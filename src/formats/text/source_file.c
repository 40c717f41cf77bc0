/* SPDX-License-Identifier: MIT */
/* Read source files that debug information names. */
#include "src/formats/text/source_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/io/file_use.h"

/* Returns whether a name is that of a source, by its suffix, or of a C++ header without one. */
static bool has_name_of_source(const char *path)
{
	static const char suffixes[] =
		" ada adb ads asm bas c c++ cbl cc cl clj cob cp cpp cppm cr cs cu cuh cxx d def di "
		"dpr el erl ex f f03 f08 f77 f90 f95 for fpp fs ftn go gperf groovy h h++ hh hpp hs "
		"hxx i ii impl inc inl ipp ispc ixx java jl js kt l lhs ll lpr lua m ml mli mll mly mm "
		"mxx nim odin p pas php pl pm pp py pyx r rb rkt rl rs s scala sv swift sx t tcc tpp ts "
		"txx u v vala vhd vhdl y yy zig ";
	const char *name = base_name(path), *dot = strrchr(name, '.');
	char word[16];

	if (!dot)
		return strstr(path, "/include/");
	if (snprintf(word, sizeof(word), " %s ", dot + 1) >= (int)sizeof(word))
		return false;
	for (char *at = word; *at; at++)
		*at = (char)(*at >= 'A' && *at <= 'Z' ? *at | 0x20 : *at);
	return strstr(suffixes, word);
}

/* Returns whether a path, without links, leads out of the folders of the kernel's files. */
static bool is_ordinary(int fd)
{
	static const char *const folders[] = { "/proc/", "/sys/", "/dev/" };
	char link[32], path[4096];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return false;
	path[length] = '\0';
	for (size_t i = 0; i < COUNT_OF(folders); i++)
		if (starts_with(path, folders[i]))
			return false;
	return path[0] == '/' && has_name_of_source(path);
}

/* Open a source and get its size. Returns -1 if it is none, or too large. */
static int open_source(const char *path, size_t most, size_t *size)
{
	int fd = has_name_of_source(path) ? file_use_open_at_once(path) : -1;
	struct stat status;

	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && is_ordinary(fd) &&
	    (uint64_t)status.st_size <= most) {
		*size = (size_t)status.st_size;
		return fd;
	}
	close(fd);
	return -1;
}

/* Read `size` bytes of text. Returns NULL if there are fewer, or other bytes than text. */
static char *read_text(int fd, size_t size)
{
	char *bytes = alloc_bytes(size + 1);
	size_t done = 0;
	ssize_t got = 1;

	for (; done < size && got > 0; done += (size_t)(got > 0 ? got : 0))
		got = read(fd, bytes + done, size - done);
	bytes[done] = '\0';
	if (done == size && strlen(bytes) == size)
		return bytes;
	free(bytes);
	return NULL;
}

void source_file_read(struct source_file *source, const char *path)
{
	size_t size = 0;
	int fd;

	if (source->path && strcmp(source->path, path) == 0)
		return;
	free(source->path);
	free(source->bytes);
	source->path = ALLOC_CHECKED(strdup(path));
	source->bytes = NULL;
	source->count = 0;
	fd = open_source(path, MIN(SOURCE_MOST, SOURCE_TOTAL_MOST - source->total), &size);
	if (fd < 0)
		return;
	source->total += size;
	source->bytes = read_text(fd, size);
	close(fd);
	for (const char *at = source->bytes; at && *at; at += strcspn(at, "\n"), at += *at == '\n')
		*ARRAY_ADD(source->lines, source->count, source->room) = at;
}

const char *source_file_line(const struct source_file *source, uint64_t number, size_t *length)
{
	const char *line = number && number <= source->count ? source->lines[number - 1] : NULL;

	*length = line ? strcspn(line, "\r\n") : 0;
	return line;
}

void source_file_release(struct source_file *source)
{
	free(source->path);
	free(source->bytes);
	free(source->lines);
	*source = (struct source_file){ 0 };
}
