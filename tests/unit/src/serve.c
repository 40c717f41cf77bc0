/* SPDX-License-Identifier: MIT */
/* The page's address, the words of BROWSER's commands, and recognition of traces. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "src/serve/viewer_page.h"
#include "tests/support/unit.h"

/* RFC 6454, 6.2: as browsers send it. */
START_TEST(origins_are_as_browsers_send_them)
{
	static const char *const rows[][2] = {
		{ "https://ui.perfetto.dev", "https://ui.perfetto.dev" },
		{ "https://ui.perfetto.dev/", "https://ui.perfetto.dev" },
		{ "HTTPS://UI.Perfetto.dev:443/v1/?mode=embedded", "https://ui.perfetto.dev" },
		{ "http://127.0.0.1:80", "http://127.0.0.1" },
		{ "http://a:443/x", "http://a:443" },
		{ "https://a:8443?b", "https://a:8443" },
	};
	char origin[VIEWER_PAGE_ORIGIN_MOST];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert(viewer_page_origin(rows[i][0], origin));
		ck_assert_str_eq(origin, rows[i][1]);
	}
}
END_TEST

START_TEST(other_addresses_are_refused)
{
	static const char *const rows[] = { "",
					    "ui.perfetto.dev",
					    "file:///tmp/ui.html",
					    "https://",
					    "https:///x",
					    "https://:80",
					    "https://a:",
					    "https://a:b",
					    "https://a:80b",
					    "https://user@a",
					    "https://a b",
					    "https://a/#!/viewer",
					    "https://a/\r\nX: y",
					    "https://\xc3\xa4.example" };
	char origin[VIEWER_PAGE_ORIGIN_MOST], longest[400] = "https://";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_msg(!viewer_page_origin(rows[i], origin), "%s", rows[i]);
	memset(longest + 8, 'a', sizeof(longest) - 9);
	ck_assert(!viewer_page_origin(longest, origin));
}
END_TEST

static void expect_address(const char *page, const char *tids, const char *address)
{
	struct selection select = { 0 };
	char *made;

	ck_assert(!*tids || number_list_add(&select.tids, tids));
	made = viewer_page_address(page, "/0/a.ftf", 5, 7, &select.tids);
	ck_assert_str_eq(made, address);
	free(made);
	selection_release(&select);
}

#define TRACE "#!/?url=http%3A%2F%2F127.0.0.1%3A9001%2F0%2Fa.ftf&referrer=ptrace2ftf"
#define PART  "&visStart=5&visEnd=7"
#define EXPAND                                                                                     \
	"&startupCommands=%5B%7B%22id%22%3A%22dev.perfetto.ExpandTracksByRegex%22%2C%22args%22%3A" \
	"%5B%22%20%5B0-9%5D%2B%24%22%2C%22name%22%5D%7D"
#define PIN                                                                                         \
	"%2C%7B%22id%22%3A%22dev.perfetto.PinTracksByRegex%22%2C%22args%22%3A%5B%22%20%3E%20%5B%5E" \
	"%3E%5D%2A%20%287%7C9%7C10%29%24%22%2C%22path%22%5D%7D"

START_TEST(addresses_are_those_that_perfetto_documents)
{
	expect_address("https://a", "", "https://a/" TRACE PART EXPAND "%5D");
	expect_address("https://a/b/", "", "https://a/b/" TRACE PART EXPAND "%5D");
	expect_address("https://a/b.html", "7,9-10",
		       "https://a/b.html" TRACE PART EXPAND PIN "%5D");
	/* Threads beyond a screenful are not pinned. */
	expect_address("https://a", "1-1000000", "https://a/" TRACE PART EXPAND "%5D");
	expect_address("https://a", "1-2147483647,0-2147483647",
		       "https://a/" TRACE PART EXPAND "%5D");
}
END_TEST

START_TEST(paths_have_no_escapes)
{
	char *path = viewer_page_path("x/a b%2f\xc3\xa4?#'\"<.ftf"), *other = viewer_page_path("");

	ck_assert_uint_eq(strlen(path), 1 + 32 + 1 + strlen("a_b_2f_______.ftf"));
	ck_assert_str_eq(path + 33, "/a_b_2f_______.ftf");
	ck_assert_uint_eq(strspn(path + 1, "0123456789abcdef"), 32);
	ck_assert_int_ne(strncmp(path, other, 33), 0);
	ck_assert_str_eq(other + 33, "/");
	free(path);
	free(other);
}
END_TEST

/* `wanted`: the words, separated by "|". */
static void expect_words(const char *command, const char *wanted)
{
	char **words = browser_words(command, strlen(command), "http://a/%s"), got[200] = "";

	for (size_t i = 0; words[i]; i++) {
		strcat(got, i ? "|" : "");
		strcat(got, words[i]);
	}
	ck_assert_str_eq(got, wanted);
	free(words);
}

/* xdg-open(1), open_envvar(). */
START_TEST(browsers_get_the_address_as_a_word_or_in_place_of_percent_s)
{
	expect_words("firefox", "firefox|http://a/%s");
	expect_words(" firefox\t-P  x ", "firefox|-P|x|http://a/%s");
	expect_words("b %s", "b|http://a/%s");
	expect_words("b -u=%s, %s", "b|-u=http://a/%s,|http://a/%s");
	expect_words("b %", "b|%|http://a/%s");
	expect_words("a b c d e f g", "a|b|c|d|e|f|g|http://a/%s");
	expect_words("%s", "http://a/%s");
	expect_words("", "http://a/%s");
}
END_TEST

static const char *commands(const char *browser, const char *display, const char *wayland,
			    const char *ssh)
{
	const char *found;

	setenv("BROWSER", browser ? browser : "", true);
	setenv("DISPLAY", display ? display : "", true);
	setenv("WAYLAND_DISPLAY", wayland ? wayland : "", true);
	setenv("SSH_CONNECTION", ssh ? ssh : "", true);
	found = browser_commands();
	ck_assert_int_eq(browser_over_ssh(), ssh != NULL);
	return found ? found : "none";
}

START_TEST(the_browser_is_the_named_one_or_the_desktops)
{
	ck_assert_str_eq(commands("a:b", NULL, NULL, NULL), "a:b");
	ck_assert_str_eq(commands("a:b", ":0", NULL, "1 2 3 4"), "a:b");
	ck_assert_str_eq(commands(NULL, ":0", NULL, NULL), "xdg-open");
	ck_assert_str_eq(commands(" : ", NULL, "wayland-0", NULL), "xdg-open");
	ck_assert_str_eq(commands(NULL, NULL, NULL, NULL), "none");
	ck_assert_str_eq(commands(NULL, ":0", NULL, "1 2 3 4"), "none");
}
END_TEST

static bool is_trace(const char *bytes, size_t size)
{
	return trace_kind_is_trace((const uint8_t *)bytes, size);
}

#define IS_TRACE(bytes) is_trace(bytes, sizeof(bytes) - 1)

START_TEST(traces_are_known_by_their_first_bytes)
{
	ck_assert(IS_TRACE("\x10\x00\x04\x46\x78\x54\x16\x00more"));
	ck_assert(IS_TRACE("\x1f\x8b\x08"));
	ck_assert(IS_TRACE("\x28\xb5\x2f\xfd\x04"));
	ck_assert(IS_TRACE("PK\x03\x04"));
	ck_assert(IS_TRACE("\x0a\x20"));
	ck_assert(IS_TRACE(" {\n \"traceEvents\""));
	ck_assert(IS_TRACE("[ {\"name\""));
	ck_assert(!IS_TRACE("PERFILE2"));
	ck_assert(!IS_TRACE("2ELIFREP"));
	ck_assert(!IS_TRACE("\x10\x00\x04\x46\x78\x54\x16"));
	ck_assert(!IS_TRACE("sample 1234 [000]"));
	ck_assert(!IS_TRACE("[{"));
	ck_assert(!IS_TRACE("\x7f"
			    "ELF"));
	ck_assert(!IS_TRACE(""));
}
END_TEST

/* Pack bytes as gzip or Zstandard does. The first block of the latter has 128 KiB. */
static size_t pack(bool gzip, const uint8_t *bytes, size_t size, uint8_t *packed, size_t room)
{
	z_stream stream = { .next_in = (uint8_t *)bytes,
			    .avail_in = (unsigned)size,
			    .next_out = packed,
			    .avail_out = (unsigned)room };

	if (!gzip)
		return ZSTD_compress(packed, room, bytes, size, 1);
	deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
	deflate(&stream, Z_FINISH);
	size = stream.total_out;
	deflateEnd(&stream);
	return size;
}

/* A recording, which is converted; traces and damaged files, which are not. */
START_TEST(a_packed_recording_is_no_trace)
{
	static const struct {
		const char *begin;
		size_t size, left; /* bytes that are left of the packed ones; 0: all */
		bool recording;
	} files[] = {
		{ "PERFILE2", 8, 0, true },
		{ "PERFILE2", 8, 200000, true },
		{ "\x10\x00\x04\x46\x78\x54\x16\x00", 8, 0, false },
		{ "PERFILE3", 8, 0, false },
		{ "PERFILE2", 8, 4, false },
	};
	static uint8_t bytes[300000], packed[400000];
	char path[] = "/tmp/ptrace2ftf-XXXXXX";
	int file = mkstemp(path), opened;
	size_t size;
	bool page;

	srand(1);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)rand();
	memcpy(bytes, files[_i / 2].begin, files[_i / 2].size);
	size = pack(_i % 2, bytes, sizeof(bytes), packed, sizeof(packed));
	if (files[_i / 2].left)
		size = files[_i / 2].left;
	ck_assert_int_eq(write(file, packed, size), (ssize_t)size);
	close(file);
	opened = trace_kind_open(path, &page);
	unlink(path);
	ck_assert_int_eq(opened < 0, files[_i / 2].recording);
	if (opened >= 0)
		close(opened);
}
END_TEST

/* ---- Browsers ------------------------------------------------------------------- */

static char folder[64];

/* A program NAME in the folder, in sh's language; "$T" is the folder. */
static void make_program(const char *name, const char *text)
{
	char path[100];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	fprintf(out, "#!/bin/sh\nT=%s\n%s\n", folder, text);
	fclose(out);
	ck_assert_int_eq(chmod(path, 0700), 0);
}

/*
 * Starts browsers; "@" in `commands` is the folder.  Returns all that they write into the fifo
 * "$T/said", and the messages: both end with the last process.
 */
static const char *start_browsers(const char *commands, bool quiet, char messages[300])
{
	static char said[1000];
	char path[100], list[500] = "";
	int kept = dup(STDERR_FILENO), ends[2], fifo;
	ssize_t size, used = 0;

	for (; *commands; commands++)
		strncat(list, *commands == '@' ? folder : commands,
			*commands == '@' ? strlen(folder) : 1);
	snprintf(path, sizeof(path), "%s/said", folder);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	fifo = open(path, O_RDONLY | O_NONBLOCK);
	ck_assert_int_eq(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	ck_assert(browser_start(list, "http://a/x", quiet));
	dup2(kept, STDERR_FILENO);
	close(kept);
	while ((size = read(ends[0], messages + used, (size_t)(299 - used))) > 0)
		used += size;
	messages[used] = 0;
	close(ends[0]);
	size = read(fifo, said, sizeof(said) - 1);
	said[size > 0 ? size : 0] = 0;
	close(fifo);
	return said;
}

/* The first that succeeds; what is no command is passed over. */
START_TEST(the_first_browser_that_starts_is_enough)
{
	static const struct {
		const char *commands, *said;
		bool failed;
	} rows[] = {
		{ "@/good", "good http://a/x\n", false },
		{ "@/bad:@/good:@/other", "bad http://a/x\ngood http://a/x\n", false },
		{ "@/missing:@/other -x", "other -x http://a/x\n", false },
		{ "@/good %s -x", "good http://a/x -x\n", false },
		{ ": :@/good:", "good http://a/x\n", false },
		{ "%s:@/good", "good http://a/x\n", false },
		{ "@/killed:@/good", "killed\ngood http://a/x\n", false },
		{ "@/bad", "bad http://a/x\n", true },
		{ ":", "", true },
	};
	char messages[300], command[100];

	strcpy(folder, "/tmp/ptrace2ftf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	make_program("good", "echo good \"$@\" >$T/said");
	make_program("other", "echo other \"$@\" >$T/said");
	make_program("bad", "echo bad \"$@\" >$T/said; exit 1");
	make_program("killed", "echo killed >$T/said; kill -9 $$");
	ck_assert_str_eq(start_browsers(rows[_i / 2].commands, _i % 2, messages),
			 rows[_i / 2].said);
	ck_assert_str_eq(
		messages,
		rows[_i / 2].failed && _i % 2 == 0
			? "ptrace2ftf: no browser could be started; open the address in one\n"
			: "");
	sprintf(command, "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

/* It prints nothing here, has none of this process's files, and Ctrl-C does not reach it. */
START_TEST(a_browser_is_detached)
{
	char messages[300], expected[100], command[100];
	const char *said;
	int other = open("/dev/null", O_RDONLY);

	dup2(other, 50);
	close(other);
	strcpy(folder, "/tmp/ptrace2ftf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	make_program("look", "for i in 0 1 2 50; do l=$(readlink /proc/$$/fd/$i); "
			     "x=\"$x $l\"; done; "
			     "echo noise; echo noise >&2; "
			     "read a b c d e session rest </proc/$$/stat; "
			     "echo \"$x, $session\" >$T/said");
	said = start_browsers("@/look", false, messages);
	close(50);
	ck_assert_str_eq(messages, "");
	ck_assert_msg(starts_with(said, " /dev/null /dev/null /dev/null , "), "%s", said);
	snprintf(expected, sizeof(expected), ", %d\n", (int)getsid(0));
	ck_assert_ptr_null(strstr(said, expected));
	sprintf(command, "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

/* ---- Files ------------------------------------------------------------------------ */

/* Names of 100 characters at most; the rest is left out. */
START_TEST(long_names_are_cut_in_the_path)
{
	char name[200], *path;

	memset(name, 'z', sizeof(name));
	name[99 + _i] = 0;
	path = viewer_page_path(name);
	ck_assert_uint_eq(strlen(path), 34 + (size_t)(_i < 2 ? 99 + _i : 100));
	free(path);
	path = viewer_page_path("a/:@[`{/");
	ck_assert_str_eq(path + 33, "/");
	free(path);
	path = viewer_page_path("a/:@[`{");
	ck_assert_str_eq(path + 33, "/_____");
	free(path);
	path = viewer_page_path("09azAZ-._~");
	ck_assert_str_eq(path + 33, "/09azAZ-._~");
	free(path);
}
END_TEST

/* An empty range of time is no view. */
START_TEST(a_view_needs_a_length)
{
	static const struct {
		uint64_t begin, end;
		bool shown;
	} rows[] = { { 0, 0, false }, { 5, 5, false }, { 6, 5, false }, { 0, 1, true } };
	struct number_list tids = { 0 };

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char *address =
			viewer_page_address("http://a?x", "/p", rows[i].begin, rows[i].end, &tids);

		ck_assert_int_eq(strstr(address, "&visStart=") != NULL, rows[i].shown);
		ck_assert(starts_with(address, "http://a?x#!/?url="));
		free(address);
	}
}
END_TEST

/* Eight threads are pinned, nine are not. */
START_TEST(a_few_threads_are_pinned)
{
	struct selection select = { 0 };
	char *address;

	ck_assert(number_list_add(&select.tids, _i ? "1-8,20" : "1-7,20"));
	address = viewer_page_address("http://a", "/p", 0, 0, &select.tids);
	ck_assert_int_eq(strstr(address, "PinTracksByRegex") != NULL, !_i);
	ck_assert_int_eq(strstr(address, "1%7C2%7C3%7C4%7C5%7C6%7C7%7C20%29") != NULL, !_i);
	free(address);
	selection_release(&select);
}
END_TEST

/* Only a regular file is opened; a page of --format=html is known by its first lines. */
START_TEST(traces_and_pages_are_opened)
{
	static const char page[] =
		"<!DOCTYPE html>\n<!-- SPDX-License-Identifier: MIT -->\n<html lang=\"en\">";
	static const struct {
		const char *bytes;
		size_t size;
		bool opened, page;
	} rows[] = {
		{ "\x10\x00\x04\x46\x78\x54\x16\x00", 8, true, false },
		{ "[{\"name\"", 8, true, false },
		{ page, sizeof(page) - 1, true, true },
		{ page, TRACE_KIND_BYTES, true, true },
		{ page, TRACE_KIND_BYTES - 1, false, false },
		{ "<!DOCTYPE html>\n<!-- another page, with some more of its own words in it -->",
		  77, false, false },
		{ "PERFILE2", 8, false, false },
		{ "", 0, false, false },
	};
	char path[] = "/tmp/ptrace2ftf-XXXXXX", text[10] = "";
	int file = mkstemp(path), fd;
	bool is_page = false;

	ck_assert_int_eq(write(file, rows[_i].bytes, rows[_i].size), (ssize_t)rows[_i].size);
	close(file);
	fd = trace_kind_open(path, &is_page);
	ck_assert_int_eq(fd >= 0, rows[_i].opened);
	ck_assert_int_eq(is_page, rows[_i].page);
	if (fd >= 0) {
		ck_assert_int_eq(read(fd, text, 8), 8);
		ck_assert_int_eq(memcmp(text, rows[_i].bytes, 8), 0);
		close(fd);
	}
	unlink(path);
	ck_assert_int_eq(trace_kind_open(path, &is_page), -1);
	/* A fifo would lose its bytes. */
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(trace_kind_open(path, &is_page), -1);
	unlink(path);
	ck_assert_int_eq(trace_kind_open("/tmp", &is_page), -1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("serve");
	TCase *all = tcase_create("serve");

	tcase_add_loop_test(all, a_packed_recording_is_no_trace, 0, 10);
	tcase_add_test(all, origins_are_as_browsers_send_them);
	tcase_add_test(all, other_addresses_are_refused);
	tcase_add_test(all, addresses_are_those_that_perfetto_documents);
	tcase_add_test(all, paths_have_no_escapes);
	tcase_add_test(all, browsers_get_the_address_as_a_word_or_in_place_of_percent_s);
	tcase_add_test(all, the_browser_is_the_named_one_or_the_desktops);
	tcase_add_test(all, traces_are_known_by_their_first_bytes);
	tcase_add_loop_test(all, the_first_browser_that_starts_is_enough, 0, 18);
	tcase_add_test(all, a_browser_is_detached);
	tcase_add_loop_test(all, long_names_are_cut_in_the_path, 0, 4);
	tcase_add_test(all, a_view_needs_a_length);
	tcase_add_loop_test(all, a_few_threads_are_pinned, 0, 2);
	tcase_add_loop_test(all, traces_and_pages_are_opened, 0, 8);
	suite_add_tcase(suite, all);
	return unit_run_apart(suite);
}
