/* SPDX-License-Identifier: MIT */
/* The page's address, the words of BROWSER's commands, and recognition of traces. */
#include <stdlib.h>
#include <string.h>
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
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
