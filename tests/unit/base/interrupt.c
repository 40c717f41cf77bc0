/* SPDX-License-Identifier: MIT */
/* Signals, exit() and mapped files that shrink: no temporary file is left. */
#include "base/io/interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/output.h"
#include "tests/support/unit.h"

static char folder[64];
static char path[80];

static void setup(void)
{
	strcpy(folder, "/tmp/ptrace2ftf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	sprintf(path, "%s/out", folder);
}

/* The folder is empty. */
static void teardown(void)
{
	ck_assert_int_eq(rmdir(folder), 0);
}

static const int signals[] = { SIGHUP,  SIGINT,  SIGQUIT,   SIGALRM, SIGTERM,
			       SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGXCPU };
static struct output output;
static int number; /* of a signal */
static bool quiet, ignored;

/* Begins an output, with its messages in a file. */
static void begin(void)
{
	const struct rlimit none = { 0, 0 };
	struct error err = { 0 };
	char messages[100];
	int fd;

	setrlimit(RLIMIT_CORE, &none);
	sprintf(messages, "%s.messages", folder);
	fd = open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	dup2(fd, STDERR_FILENO);
	/* nohup(1), or a job in the background, ignores some. */
	for (size_t i = 0; i < COUNT_OF(signals); i++)
		signal(signals[i], SIG_DFL);
	if (ignored)
		signal(number, SIG_IGN);
	output_watch_signals();
	if (output_open(&output, path, &err) < 0)
		abort();
}

static void expect_messages(const char *expected)
{
	char messages[100], text[1000] = "";
	FILE *in;

	sprintf(messages, "%s.messages", folder);
	in = fopen(messages, "r");
	if (in) {
		text[fread(text, 1, sizeof(text) - 1, in)] = 0;
		fclose(in);
	}
	unlink(messages);
	ck_assert_str_eq(text, expected);
}

static void send_signal(void)
{
	begin();
	raise(number);
	output_abandon(&output);
}

/* The process ends by the signal; a signal that nohup(1) ignores stays ignored. */
START_TEST(a_signal_removes_the_temporary_file_and_ends_the_process)
{
	number = signals[_i / 2];
	ignored = _i % 2;
	ck_assert_int_eq(unit_signal_of(send_signal), ignored ? 0 : number);
	expect_messages("");
}
END_TEST

static void leave(void)
{
	begin();
	exit(3);
}

START_TEST(exit_removes_the_temporary_file)
{
	ignored = false;
	ck_assert_int_eq(unit_signal_of(leave), 0);
	expect_messages("");
}
END_TEST

static void interrupt_twice(void)
{
	struct sigaction action;

	begin();
	interrupt_allow(quiet);
	/* A blocked call ends: input may never arrive. */
	if (sigaction(SIGINT, NULL, &action) < 0 || action.sa_flags & SA_RESTART ||
	    interrupt_asked())
		abort();
	errno = ENOTTY;
	raise(SIGINT);
	/* The flag is set, and errno as the interrupted code left it. */
	if (!interrupt_asked() || errno != ENOTTY)
		abort();
	raise(SIGINT);
}

/* Then the second request ends the run at once. */
START_TEST(a_run_may_be_interrupted_twice)
{
	static const char message[] = "ptrace2ftf: interrupted: writing the output so far; "
				      "interrupt again to stop at once\n";

	ignored = false;
	quiet = _i;
	ck_assert_int_eq(unit_signal_of(interrupt_twice), SIGINT);
	expect_messages(quiet ? "" : message);
}
END_TEST

static void ask_and_terminate(void)
{
	begin();
	interrupt_allow(true);
	raise(SIGTERM);
}

START_TEST(other_signals_are_no_requests)
{
	ignored = false;
	ck_assert_int_eq(unit_signal_of(ask_and_terminate), SIGTERM);
	expect_messages("");
}
END_TEST

static void read_shrunk(void)
{
	char name[100];
	const volatile char *bytes;
	int fd;

	begin();
	fault_watch();
	sprintf(name, "%s.mapped", folder);
	fd = open(name, O_RDWR | O_CREAT, 0600);
	if (ftruncate(fd, 10000) < 0)
		abort();
	bytes = mmap(NULL, 10000, PROT_READ, MAP_SHARED, fd, 0);
	if (ftruncate(fd, 10) < 0)
		abort();
	(void)bytes[9000];
	abort();
}

/* The message names the file. */
START_TEST(a_mapped_file_that_shrinks_is_an_error)
{
	char expected[300];

	ignored = false;
	ck_assert_int_eq(unit_signal_of(read_shrunk), 0);
	sprintf(expected,
		"ptrace2ftf: %s.mapped: became shorter while it was read, or cannot be read\n",
		folder);
	expect_messages(expected);
	sprintf(expected, "%s.mapped", folder);
	unlink(expected);
}
END_TEST

static void fault_elsewhere(void)
{
	char *bytes;
	int fd = memfd_create("x", 0);

	begin();
	fault_watch();
	(void)fd;
	bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*bytes = 1;
	raise(SIGBUS);
	output_abandon(&output);
	raise(SIGBUS);
}

/* A bug in the program, not a file. */
START_TEST(other_faults_have_their_own_effect)
{
	ignored = false;
	ck_assert_int_eq(unit_signal_of(fault_elsewhere), SIGBUS);
	expect_messages("");
}
END_TEST

static void obey(void)
{
	struct error err = { .kind = number ? ERROR_NO_READER : ERROR_SYSTEM };

	begin();
	output_obey_closed_pipe(&err);
	output_abandon(&output);
}

/* As SIGPIPE does; another error does not end it. */
START_TEST(a_pipe_without_a_reader_ends_the_process)
{
	ignored = false;
	number = _i;
	ck_assert_int_eq(unit_signal_of(obey), _i ? SIGPIPE : 0);
	expect_messages("");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("interrupt");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_loop_test(all, a_signal_removes_the_temporary_file_and_ends_the_process, 0, 20);
	tcase_add_test(all, exit_removes_the_temporary_file);
	tcase_add_loop_test(all, a_run_may_be_interrupted_twice, 0, 2);
	tcase_add_test(all, other_signals_are_no_requests);
	tcase_add_test(all, a_mapped_file_that_shrinks_is_an_error);
	tcase_add_test(all, other_faults_have_their_own_effect);
	tcase_add_loop_test(all, a_pipe_without_a_reader_ends_the_process, 0, 2);
	suite_add_tcase(suite, all);
	return unit_run_apart(suite);
}
