/* SPDX-License-Identifier: MIT */
/* Knows traces by their first bytes. */
#include "src/serve/trace_kind.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
	const char *bytes;
	size_t size;
} magics[] = {
	{ "\x10\x00\x04\x46\x78\x54\x16\x00", 8 }, /* FTF */
	{ "\x1f\x8b", 2 },                         /* gzip */
	{ "\x28\xb5\x2f\xfd", 4 },                 /* zstd; from Perfetto 58 on */
	{ "PK\x03\x04", 4 },                       /* zip */
	{ "\x0a", 1 },                             /* Perfetto's own: field 1 of a message */
};

/* Returns whether the bytes without white space begin with `text`. */
static bool begins_with(const uint8_t *begin, size_t size, const char *text)
{
	for (size_t i = 0; i < size && *text; i++) {
		if (begin[i] && strchr(" \t\r\n", begin[i]))
			continue;
		if (begin[i] != (uint8_t)*text++)
			return false;
	}
	return !*text;
}

bool trace_kind_is_trace(const uint8_t *begin, size_t size)
{
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (size >= magics[i].size && memcmp(begin, magics[i].bytes, magics[i].size) == 0)
			return true;
	return begins_with(begin, size, "{\"") || begins_with(begin, size, "[{\"");
}

int trace_kind_open(const char *path, bool *page)
{
	/* src/html/page.html */
	static const char own_page[] = "<!DOCTYPE html>\n<!-- SPDX-License-Identifier: MIT -->";
	uint8_t begin[TRACE_KIND_BYTES];
	struct stat status;
	ssize_t size;
	int fd;

	/* Peeking into a pipe would consume its data. */
	if (stat(path, &status) < 0 || !S_ISREG(status.st_mode))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = fd >= 0 ? pread(fd, begin, sizeof(begin), 0) : -1;
	*page = size == sizeof(begin) && memcmp(begin, own_page, sizeof(own_page) - 1) == 0;
	if (*page || (size > 0 && trace_kind_is_trace(begin, (size_t)size)))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}
