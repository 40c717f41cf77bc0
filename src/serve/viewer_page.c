/* SPDX-License-Identifier: MIT */
/* Makes the address of the viewer's page with a trace of this host. */
#include "src/serve/viewer_page.h"

#include <fcntl.h>
#include <regex.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decoder/perf_data/perf_file.h"

#define RANDOM_BYTES 16
#define NAME_MOST    100
#define PINNED_MOST  8

/* RFC 3986, 2.3.  Not isalnum(): it depends on the locale. */
static bool is_unreserved(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c && strchr("-._~", c));
}

/* ---- The origin ---------------------------------------------------------- */

bool viewer_page_origin(const char *address, char origin[VIEWER_PAGE_ORIGIN_MOST])
{
	/* The characters of RFC 3986, but for "'", and without a fragment. */
	static const char form[] =
		"^http(s?)://[a-z0-9.-]+(:[0-9]+)?([/?][][!$%&()*+,./0-9:;=?@_a-z~-]*)?$";
	regmatch_t found[4];
	regex_t regex;
	size_t length;
	bool matches;

	if (regcomp(&regex, form, REG_EXTENDED | REG_ICASE) != 0)
		alloc_fail(sizeof(form));
	matches = regexec(&regex, address, COUNT_OF(found), found, 0) == 0;
	regfree(&regex);
	length = !matches             ? SIZE_MAX
		 : found[3].rm_so < 0 ? strlen(address)
				      : (size_t)found[3].rm_so;
	if (length >= VIEWER_PAGE_ORIGIN_MOST)
		return false;
	for (size_t i = 0; i < length; i++)
		origin[i] = (char)(address[i] |
				   (address[i] >= 'A' && address[i] <= 'Z' ? 'a' - 'A' : 0));
	origin[length] = '\0';
	if (ends_with(origin, found[1].rm_so < found[1].rm_eo ? ":443" : ":80"))
		*strrchr(origin, ':') = '\0';
	return true;
}

/* ---- The address --------------------------------------------------------- */

char *viewer_page_path(const char *file)
{
	const char *name = base_name(file);
	uint8_t random[RANDOM_BYTES];
	char *path = alloc_zeroed(1, 2 * RANDOM_BYTES + NAME_MOST + 3), *at = path;

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
		free(path);
		return NULL;
	}
	*at++ = '/';
	for (size_t i = 0; i < sizeof(random); i++)
		at += sprintf(at, "%02x", random[i]);
	*at++ = '/';
	for (size_t i = 0; name[i] && i < NAME_MOST; i++)
		*at++ = is_unreserved(name[i]) ? name[i] : '_';
	return path;
}

/* As JavaScript's encodeURIComponent(), also for the ASCII characters that it leaves. */
static void print_encoded(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (is_unreserved(*text))
			putc(*text, out);
		else
			fprintf(out, "%%%02X", (unsigned char)*text);
	}
}

char *viewer_page_address(const char *page, const char *path, uint64_t begin, uint64_t end,
			  const struct number_list *tids)
{
	char *address = NULL, *commands = NULL, trace[300];
	FILE *out = OPEN_TEXT(commands);
	const char *between = "";
	uint64_t count = 0;

	/*
	 * Perfetto names the tracks of processes and threads "NAME NUMBER". Only a thread's
	 * has others in its path: a process may have the number of its first thread.
	 */
	for (size_t i = 0; i < tids->count; i++)
		count += (uint64_t)((int64_t)tids->ranges[i].last - tids->ranges[i].first + 1);
	fputs("[{\"id\":\"dev.perfetto.ExpandTracksByRegex\",\"args\":[\" [0-9]+$\",\"name\"]}",
	      out);
	if (count && count <= PINNED_MOST) {
		fputs(",{\"id\":\"dev.perfetto.PinTracksByRegex\",\"args\":[\" > [^>]* (", out);
		for (size_t i = 0; i < tids->count; i++) {
			for (int64_t tid = tids->ranges[i].first; tid <= tids->ranges[i].last;
			     tid++) {
				fprintf(out, "%s%" PRId64, between, tid);
				between = "|";
			}
		}
		fputs(")$\",\"path\"]}", out);
	}
	putc(']', out);
	alloc_close_text(out, &commands);
	out = OPEN_TEXT(address);
	snprintf(trace, sizeof(trace), VIEWER_PAGE_OWN "%s", path);
	/* A host alone is an address with the path "/". */
	fprintf(out, "%s%s#!/?url=", page, strpbrk(strstr(page, "//") + 2, "/?") ? "" : "/");
	print_encoded(trace, out);
	fputs("&referrer=ptrace2ftf", out);
	if (begin < end)
		fprintf(out, "&visStart=%" PRIu64 "&visEnd=%" PRIu64, begin, end);
	fputs("&startupCommands=", out);
	print_encoded(commands, out);
	free(commands);
	alloc_close_text(out, &address);
	return address;
}

/* ---- Traces that need no conversion -------------------------------------- */

static const struct {
	const char *bytes;
	size_t size;
} magics[] = {
	{ "\x10\x00\x04\x46\x78\x54\x16\x00", 8 }, /* FTF */
	{ "\x1f\x8b", 2 },                         /* gzip */
	{ "\x28\xb5\x2f\xfd", 4 },                 /* zstd; since Perfetto 58 */
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
	for (size_t i = 0; i < COUNT_OF(magics); i++)
		if (size >= magics[i].size && memcmp(begin, magics[i].bytes, magics[i].size) == 0)
			return true;
	return begins_with(begin, size, "{\"") || begins_with(begin, size, "[{\"");
}

/* Returns whether a file is a recording that is packed, as a trace may be. */
static bool is_packed_recording(const char *path)
{
	struct byte_view bytes = { 0 };
	char begin[sizeof(uint64_t)] = "";

	if (perf_input_map(path, &bytes, NULL) < 0)
		return false;
	perf_input_peek(bytes, (uint8_t *)begin, sizeof(begin));
	munmap((void *)bytes.bytes, bytes.size);
	return memcmp(begin, "PERFILE2", sizeof(begin)) == 0;
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
	if (*page ||
	    (size > 0 && trace_kind_is_trace(begin, (size_t)size) && !is_packed_recording(path)))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}
