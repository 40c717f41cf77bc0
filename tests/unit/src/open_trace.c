/* SPDX-License-Identifier: MIT */
/* The steps of `ptrace2ftf open`, without a network, a browser and a conversion. */
#include "src/batch/batch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io/temp_file.h"
#include "src/formats/output_format.h"
#include "src/sandbox/sandbox.h"
#include "src/serve/viewer_page.h"
#include "tests/support/unit.h"

#define FTF  "\x10\x00\x04\x46\x78\x54\x16\x00"
#define PAGE "<!DOCTYPE html>\n<!-- SPDX-License-Identifier: MIT --> and more of the page"

static char folder[64];
static struct options options;
static char *inputs[3];

/* The results of the replaced steps, and their arguments. */
static struct {
	/* Results */
	bool no_port, no_server, no_run, no_browser;
	const char *unreachable; /* page_reach()'s */
	int status;              /* the conversion's */
	uint64_t begin, end;     /* of the view */
	bool no_output;
	/* Arguments */
	int conversions, servers, reached;
	char job[200];    /* "INPUT ... > OUTPUT FORMAT" */
	char server[300]; /* "PATH ORIGIN CONTENT", the path without its random part */
	char browser[1000];
	bool sandboxed;
} steps;

int __wrap_trace_server_listen(struct error *err);
struct trace_server *__wrap_trace_server_open(int listener, int fd, const char *path,
					      const char *origin, struct error *err);
int __wrap_trace_server_run(struct trace_server *server, struct error *err);
void __wrap_trace_server_close(struct trace_server *server);
const char *__wrap_page_reach(const char *origin);
bool __wrap_browser_start(const char *commands, const char *address, bool quiet);
int __wrap_sandbox_enter(struct sandbox *sandbox, enum sandbox_process process,
			 const struct options *of, struct error *err);
int __wrap_batch_one_run(const struct batch_run *run, const struct batch_job *job, json_t **report,
			 struct error *err);

int __wrap_trace_server_listen(struct error *err)
{
	return steps.no_port ? error_set(err, ERROR_SYSTEM, "no port") : 77;
}

struct trace_server *__wrap_trace_server_open(int listener, int fd, const char *path,
					      const char *origin, struct error *err)
{
	char text[20] = "";

	steps.servers++;
	ck_assert_int_eq(listener, 77);
	ck_assert_int_ge(pread(fd, text, 8, 0), 0);
	ck_assert_uint_gt(strlen(path), 33);
	snprintf(steps.server, sizeof(steps.server), "%s %s %s", path + 33, origin ? origin : "-",
		 text[0] == 0x10 ? "ftf" : text);
	if (steps.no_server)
		error_set(err, ERROR_SYSTEM, "no server");
	return steps.no_server ? NULL : (struct trace_server *)&steps;
}

int __wrap_trace_server_run(struct trace_server *server, struct error *err)
{
	ck_assert_ptr_eq(server, &steps);
	ck_assert(steps.sandboxed);
	return steps.no_run ? error_set(err, ERROR_SYSTEM, "no run") : 0;
}

void __wrap_trace_server_close(struct trace_server *server)
{
	(void)server;
}

const char *__wrap_page_reach(const char *origin)
{
	ck_assert_str_ne(origin, "");
	steps.reached++;
	return steps.unreachable;
}

bool __wrap_browser_start(const char *commands, const char *address, bool quiet)
{
	snprintf(steps.browser, sizeof(steps.browser), "%s %s", commands, address);
	ck_assert_int_eq(quiet, options.quiet);
	return !steps.no_browser;
}

int __wrap_sandbox_enter(struct sandbox *sandbox, enum sandbox_process process,
			 const struct options *of, struct error *err)
{
	(void)err;
	ck_assert_int_eq(process, SANDBOX_SERVER);
	ck_assert_ptr_eq(of->inputs, options.inputs);
	*sandbox = (struct sandbox){ 0 };
	steps.sandboxed = true;
	return 0;
}

int __wrap_batch_one_run(const struct batch_run *run, const struct batch_job *job, json_t **report,
			 struct error *err)
{
	size_t used = 0;

	steps.conversions++;
	ck_assert_int_eq(job->closed, 77);
	for (int i = 0; i < job->input_count; i++)
		used += (size_t)snprintf(steps.job + used, sizeof(steps.job) - used, "%s ",
					 base_name(job->inputs[i]));
	snprintf(steps.job + used, sizeof(steps.job) - used, "> %s %s", base_name(job->output),
		 output_format_suffix(run->options->format));
	if (job->printed)
		ck_assert_int_eq(temp_file_write(job->printed, FTF, 8, err), 0);
	*report = json_pack("{sIsI}", "view_begin", (json_int_t)steps.begin, "view_end",
			    (json_int_t)steps.end);
	if (job->output && strcmp(job->output, "-") != 0 && !steps.no_output) {
		FILE *out = fopen(job->output, "w");

		fputs("named", out);
		fclose(out);
	}
	return steps.status;
}

static const char *at(const char *name)
{
	static char paths[4][100];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static void make_file(const char *name, const char *bytes, size_t size)
{
	FILE *out = fopen(at(name), "w");

	ck_assert_uint_eq(fwrite(bytes, 1, size, out), size);
	fclose(out);
}

static void setup(void)
{
	strcpy(folder, "/tmp/ptrace2ftf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	make_file("a.ftf", FTF, 8);
	make_file("a.html", PAGE, sizeof(PAGE) - 1);
	make_file("perf.data", "PERFILE2", 8);
	memset(&steps, 0, sizeof(steps));
	options = (struct options){ .format = &format_ftf, .inputs = inputs, .quiet = true };
	setenv("BROWSER", "browser", 1);
	unsetenv("SSH_CONNECTION");
	unsetenv("DISPLAY");
	unsetenv("WAYLAND_DISPLAY");
}

static void teardown(void)
{
	char command[100];

	sprintf(command, "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

static void choose_input(const char *name)
{
	inputs[0] = (char *)name;
	options.input = name;
	options.input_count = 1;
	options.input_kind = INPUT_PERF_DATA;
}

static char printed[3000], said[3000]; /* to stdout and stderr */

static void read_back(int fd, char text[3000])
{
	ssize_t size = pread(fd, text, 2999, 0);

	text[size > 0 ? size : 0] = 0;
	close(fd);
}

/* Runs open_trace(), and keeps its messages.  Returns its status. */
static int run(void)
{
	int kept[2] = { dup(1), dup(2) }, files[2], status;

	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		files[i] = memfd_create("text", 0);
		dup2(files[i], 1 + i);
	}
	status = open_trace(&options, NULL);
	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		dup2(kept[i], 1 + i);
		close(kept[i]);
	}
	read_back(files[0], printed);
	read_back(files[1], said);
	return status;
}

/* ---- The trace that is shown -------------------------------------------------------------------
 */

/* The page gets the trace at an address of this host, and its first view. */
START_TEST(a_recording_is_converted_and_shown)
{
	static const struct {
		int status;
		bool shown;
	} rows[] = { { EXIT_WHOLE, true },
		     { EXIT_WITH_GAPS, true },
		     { EXIT_FAILED, false },
		     { EXIT_USAGE, false },
		     { EXIT_INTERRUPTED, false } };

	choose_input(at("perf.data"));
	steps.status = rows[_i].status;
	steps.begin = 5;
	steps.end = 9;
	ck_assert_int_eq(run(), rows[_i].status);
	ck_assert_int_eq(steps.conversions, 1);
	ck_assert_str_eq(steps.job, "perf.data > - ftf");
	ck_assert_int_eq(steps.servers, rows[_i].shown);
	if (!rows[_i].shown) {
		ck_assert_str_eq(printed, "");
		return;
	}
	ck_assert_str_eq(steps.server, "/perf.ftf https://ui.perfetto.dev ftf");
	ck_assert(starts_with(printed,
			      "https://ui.perfetto.dev/#!/?url=http%3A%2F%2F127.0.0.1%3A9001%2F"));
	ck_assert_ptr_nonnull(strstr(printed, "%2Fperf.ftf&"));
	ck_assert_ptr_nonnull(strstr(printed, "&visStart=5&visEnd=9&"));
	ck_assert(starts_with(steps.browser, "browser "));
	ck_assert_int_eq(strncmp(steps.browser + 8, printed, strlen(printed) - 1), 0);
	ck_assert_str_eq(said, "");
}
END_TEST

/* Files that are shown as they are, and names of what is converted. */
START_TEST(inputs_are_shown_by_their_names)
{
	static const struct {
		const char *input, *output; /* input NULL: overlays only */
		const struct output_format *format;
		const char *job, *server; /* job "": no conversion */
	} rows[] = {
		{ "a.ftf", NULL, &format_ftf, "", "/a.ftf https://ui.perfetto.dev ftf" },
		{ "a.html", NULL, &format_ftf, "", "/a.html - <!DOCTYP" },
		{ "perf.data", NULL, &format_html, "perf.data > - html", "/perf.html - ftf" },
		{ "perf.data", "o.ftf", &format_ftf, "perf.data > o.ftf ftf",
		  "/o.ftf https://ui.perfetto.dev named" },
		{ "-", NULL, &format_ftf, "- > - ftf", "/trace.ftf https://ui.perfetto.dev ftf" },
		{ NULL, NULL, &format_ftf, "the overlays > - ftf",
		  "/trace.ftf https://ui.perfetto.dev ftf" },
	};
	const char *input = rows[_i].input;

	choose_input(input && *input != '-' ? at(input) : input);
	options.format = rows[_i].format;
	options.output = rows[_i].output ? at(rows[_i].output) : NULL;
	ck_assert_int_eq(run(), EXIT_WHOLE);
	ck_assert_str_eq(steps.job, rows[_i].job);
	ck_assert_str_eq(steps.server, rows[_i].server);
	if (strstr(rows[_i].server, " - "))
		ck_assert(starts_with(printed, "http://127.0.0.1:9001/"));
	if (!*rows[_i].job)
		ck_assert_ptr_null(strstr(printed, "visStart"));
}
END_TEST

/* All inputs are one series. */
START_TEST(a_series_is_one_trace)
{
	choose_input(at("perf.data"));
	inputs[1] = (char *)"perf.data.2";
	options.input_count = 2;
	ck_assert_int_eq(run(), EXIT_WHOLE);
	ck_assert_str_eq(steps.job, "perf.data perf.data.2 > - ftf");
}
END_TEST

/* Text of perf script, and a directory, may begin as anything. */
START_TEST(only_files_of_recordings_may_be_traces)
{
	choose_input(_i ? folder : at("a.ftf"));
	options.input_kind = _i ? INPUT_PERF_DATA : INPUT_PERF_SCRIPT;
	ck_assert_int_eq(run(), EXIT_WHOLE);
	ck_assert_int_eq(steps.conversions, 1);
}
END_TEST

/* Options have no effect on a trace: they are a mistake. */
START_TEST(a_trace_has_no_options)
{
	static const struct {
		const char *word, *output, *beside, *second, *named; /* named: in the message */
	} rows[] = {
		{ "--stacks=none", NULL, NULL, NULL, "--stacks=none" },
		{ NULL, "o.ftf", NULL, NULL, "--output" },
		{ NULL, "o.ftf", "o.ftf", NULL, NULL }, /* by default */
		{ NULL, NULL, NULL, "b.ftf", "b.ftf" },
		{ "--time=1,2", NULL, NULL, "b.ftf", "--time=1,2" },
		{ "--time=1,2", "o.ftf", NULL, NULL, "--output" },
	};
	char *words[] = { (char *)rows[_i].word }, expected[300];

	choose_input(at("a.ftf"));
	options.words = words;
	options.word_count = rows[_i].word != NULL;
	options.output = rows[_i].output;
	options.beside = rows[_i].beside ? (char *)options.output : NULL;
	inputs[1] = (char *)rows[_i].second;
	options.input_count = rows[_i].second ? 2 : 1;
	ck_assert_int_eq(run(), rows[_i].named ? EXIT_USAGE : EXIT_WHOLE);
	ck_assert_int_eq(steps.servers, !rows[_i].named);
	ck_assert_int_eq(steps.conversions, 0);
	snprintf(expected, sizeof(expected),
		 "ptrace2ftf: %s is a trace already, and shown as it is; leave out %s\n",
		 options.input, rows[_i].named);
	ck_assert_str_eq(said, rows[_i].named ? expected : "");
}
END_TEST

/* ---- Without a network ------------------------------------------------------------------ */

/* If the page cannot be reached, the own page is shown, unless something else was chosen. */
START_TEST(without_a_network_the_own_page_is_shown)
{
	static struct overlay_option overlay;
	static const struct {
		const char *what, *server;
		int reached; /* the page was tried */
	} rows[] = {
		{ "", "/perf.html - ftf", 1 },
		{ "ui", "/perf.ftf http://my.page ftf", 1 },
		{ "output", "/o.ftf https://ui.perfetto.dev named", 1 },
		{ "chrome", "/perf.json https://ui.perfetto.dev ftf", 1 },
		{ "counters", "/perf.ftf https://ui.perfetto.dev ftf", 1 },
		{ "flows", "/perf.ftf https://ui.perfetto.dev ftf", 1 },
		{ "overlay", "/perf.ftf https://ui.perfetto.dev ftf", 1 },
		{ "trace", "/a.ftf https://ui.perfetto.dev ftf", 1 },
		/* Another host's browser may reach it; the own page needs no network. */
		{ "ssh", "/perf.ftf https://ui.perfetto.dev ftf", 0 },
		{ "no browser", "/perf.ftf https://ui.perfetto.dev ftf", 0 },
		{ "html", "/perf.html - ftf", 0 },
	};
	const char *what = rows[_i].what;
	bool html = strstr(rows[_i].server, ".html") != NULL;

	choose_input(at(strcmp(what, "trace") == 0 ? "a.ftf" : "perf.data"));
	steps.unreachable = "no connection";
	options.quiet = false;
	options.ui = strcmp(what, "ui") == 0 ? "http://My.Page:80/x" : NULL;
	options.output = strcmp(what, "output") == 0 ? at("o.ftf") : NULL;
	options.format = strcmp(what, "chrome") == 0 ? &format_chrome
			 : strcmp(what, "html") == 0 ? &format_html
						     : &format_ftf;
	options.counters = strcmp(what, "counters") == 0;
	if (strcmp(what, "flows") == 0)
		options.stacks = STACKS_FLOWS;
	options.overlays = &overlay;
	options.overlay_count = strcmp(what, "overlay") == 0;
	if (strcmp(what, "ssh") == 0)
		setenv("SSH_CONNECTION", "1 2 3 4", 1);
	if (strcmp(what, "no browser") == 0)
		unsetenv("BROWSER");
	ck_assert_int_eq(run(), EXIT_WHOLE);
	ck_assert_int_eq(steps.reached, rows[_i].reached);
	ck_assert_str_eq(steps.server, rows[_i].server);
	ck_assert_int_eq(strstr(said, "cannot reach http") != NULL, rows[_i].reached);
	ck_assert_int_eq(strstr(said, "showing the page of --format=html instead") != NULL,
			 html && rows[_i].reached);
	ck_assert_int_eq(strstr(said, "may have cached it") != NULL, !html && rows[_i].reached);
}
END_TEST

/* A page that can be reached is shown without a word. */
START_TEST(a_page_that_is_reached_is_no_news)
{
	choose_input(at("perf.data"));
	options.quiet = !_i;
	steps.unreachable = _i ? NULL : "no connection";
	ck_assert_int_eq(run(), EXIT_WHOLE);
	ck_assert_ptr_null(strstr(said, "cannot reach"));
}
END_TEST

/* ---- Messages --------------------------------------------------------------------------- */

/* The served file, its reader, and the steps without a browser. */
START_TEST(hints_say_how_the_trace_gets_to_the_page)
{
	static const struct {
		const char *input;
		bool ssh, browser, browser_fails;
		bool asks, tunnel, address, failed; /* messages */
	} rows[] = {
		{ "a.ftf", false, true, false, true, false, false, false },
		{ "a.ftf", false, true, true, true, false, false, true },
		{ "a.ftf", false, false, false, true, false, true, false },
		{ "a.ftf", true, false, false, true, true, true, false },
		{ "a.ftf", true, true, false, true, false, false, false },
		{ "a.html", false, true, false, false, false, false, false },
		{ "a.html", true, false, false, false, true, true, false },
	};
	bool html = strcmp(rows[_i].input, "a.html") == 0;

	choose_input(at(rows[_i].input));
	if (rows[_i].ssh)
		setenv("SSH_CONNECTION", "1 2 3 4", 1);
	if (!rows[_i].browser)
		unsetenv("BROWSER");
	steps.no_browser = rows[_i].browser_fails;
	options.quiet = false;
	ck_assert_int_eq(run(), EXIT_WHOLE);
	ck_assert_ptr_nonnull(strstr(said, html ? "serving a.html (0.0 MiB) to the browser, once"
						: "serving a.ftf (0.0 MiB) to the page, once"));
	ck_assert_int_eq(strstr(said, "may access the local network") != NULL, rows[_i].asks);
	ck_assert_int_eq(strstr(said, "ssh -N -L 9001:127.0.0.1:9001 ") != NULL, rows[_i].tunnel);
	ck_assert_int_eq(strstr(said, "open this address in a browser:") != NULL, rows[_i].address);
	ck_assert_int_eq(strstr(said, "no browser could be started") != NULL, rows[_i].failed);
	ck_assert_ptr_nonnull(strstr(said, html ? "the browser has fetched the page\n"
						: "the page has fetched the trace\n"));
	ck_assert_int_eq(*steps.browser != 0, rows[_i].browser);
}
END_TEST

/* Each step may fail; the later ones are left out then. */
START_TEST(a_step_that_fails_is_the_end)
{
	static const struct {
		const char *step, *message;
		int conversions, servers;
		bool address;
	} rows[] = { { "port", "no port", 0, 0, false },
		     { "output", "cannot open", 1, 0, false },
		     { "server", "no server", 1, 1, false },
		     { "run", "no run", 1, 1, true } };
	const char *step = rows[_i].step;

	choose_input(at("perf.data"));
	steps.no_port = strcmp(step, "port") == 0;
	steps.no_server = strcmp(step, "server") == 0;
	steps.no_run = strcmp(step, "run") == 0;
	steps.no_output = strcmp(step, "output") == 0;
	options.output = steps.no_output ? at("missing.ftf") : NULL;
	ck_assert_int_eq(run(), EXIT_FAILED);
	ck_assert_ptr_nonnull(strstr(said, rows[_i].message));
	ck_assert_int_eq(steps.conversions, rows[_i].conversions);
	ck_assert_int_eq(steps.servers, rows[_i].servers);
	ck_assert_int_eq(*printed != 0, rows[_i].address);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("open_trace");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_loop_test(all, a_recording_is_converted_and_shown, 0, 5);
	tcase_add_loop_test(all, inputs_are_shown_by_their_names, 0, 6);
	tcase_add_test(all, a_series_is_one_trace);
	tcase_add_loop_test(all, only_files_of_recordings_may_be_traces, 0, 2);
	tcase_add_loop_test(all, a_trace_has_no_options, 0, 6);
	tcase_add_loop_test(all, without_a_network_the_own_page_is_shown, 0, 11);
	tcase_add_loop_test(all, a_page_that_is_reached_is_no_news, 0, 2);
	tcase_add_loop_test(all, hints_say_how_the_trace_gets_to_the_page, 0, 7);
	tcase_add_loop_test(all, a_step_that_fails_is_the_end, 0, 4);
	suite_add_tcase(suite, all);
	return unit_run_apart(suite);
}
