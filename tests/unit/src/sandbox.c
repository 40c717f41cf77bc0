/* SPDX-License-Identifier: MIT */
/*
 * What a process may do in the sandbox: system calls, files to open, and requests to the process
 * that makes its outputs.  Each attempt is made in a process of its own (src/sandbox/sandbox.h).
 */
#include "src/sandbox/sandbox.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/io/file_makers.h"
#include "base/io/output_path.h"
#include "base/io/temp_file.h"
#include "tests/support/unit.h"

static char folder[PATH_MAX / 2];
static struct options options;

static void setup(void)
{
	strcpy(folder, "/tmp/ptrace2ftf-XXXXXX"); /* a link below /dev is the system's */
	ck_assert_ptr_nonnull(mkdtemp(folder));
	options = (struct options){ .sandbox = SANDBOX_ON };
}

static void teardown(void)
{
	char command[PATH_MAX];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	ck_assert_int_eq(system(command), 0);
}

/* Returns the path of a file in the folder, in one of a few static buffers. */
static const char *file_at(const char *name)
{
	static char paths[8][PATH_MAX];
	static int next;
	char *path = paths[next++ % 8];

	snprintf(path, PATH_MAX, "%s/%s", folder, name);
	return path;
}

/* Returns the result of RUN in its own process, below 256. */
static int result_of(int (*run)(void))
{
	pid_t child = fork();
	int status;

	/* Before _exit(), ASan makes a system call that a filter refuses. */
	if (child == 0)
		syscall(SYS_exit_group, run());
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status), "signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

/* ---- System calls ------------------------------------------------------------ */

enum { CONVERSION = 1, NETWORK = 2, TOOL = 4, SERVER = 8, DEVICE = 16 };
#define READERS (CONVERSION | NETWORK | TOOL | DEVICE)

/* No process can create it. */
#define MISSING "/proc/nonexistent/file"

/* The calls, and the processes that may make them; others get ENOSYS. */
static const struct {
	const char *name;
	unsigned allowed;
	long call, arguments[4];
} calls[] = {
	{ "getppid", READERS, SYS_getppid, { 0 } },
	{ "getpid", READERS | SERVER, SYS_getpid, { 0 } },
	{ "socket", NETWORK, SYS_socket, { AF_INET, SOCK_STREAM } },
	{ "kill", 0, SYS_kill, { 0, 0 } },
	{ "ptrace", 0, SYS_ptrace, { 0 } },
	{ "chmod", 0, SYS_chmod, { (long)MISSING, 0 } },
	{ "unlink", NETWORK, SYS_unlink, { (long)MISSING } },
	{ "rename", NETWORK, SYS_rename, { (long)MISSING, (long)MISSING } },
	{ "execve", TOOL, SYS_execve, { (long)MISSING, 0, 0 } },
	{ "fork", 0, SYS_clone, { SIGCHLD } },
	{ "open to read", READERS, SYS_open, { (long)MISSING, O_RDONLY } },
	{ "open a folder", READERS, SYS_open, { (long)MISSING, O_RDONLY | O_DIRECTORY } },
	{ "open to write", NETWORK | DEVICE, SYS_open, { (long)MISSING, O_WRONLY } },
	{ "open to create", NETWORK, SYS_open, { (long)MISSING, O_WRONLY | O_CREAT } },
	{ "open to cut", NETWORK, SYS_open, { (long)MISSING, O_WRONLY | O_TRUNC } },
	{ "open a nameless file", NETWORK, SYS_open, { (long)MISSING, O_RDWR | O_TMPFILE } },
	{ "openat to read", READERS, SYS_openat, { AT_FDCWD, (long)MISSING, O_RDONLY } },
	{ "openat to write", NETWORK | DEVICE, SYS_openat, { AT_FDCWD, (long)MISSING, O_RDWR } },
	{ "read a descriptor", READERS, SYS_read, { -1, 0, 0 } },
	{ "write a descriptor", READERS | SERVER, SYS_write, { -1, 0, 0 } },
	{ "accept", SERVER | NETWORK, SYS_accept4, { -1, 0, 0, 0 } },
	{ "send to any", SERVER | NETWORK, SYS_sendto, { 77, 0, 0, 0 } },
	{ "isatty", READERS, SYS_ioctl, { -1, TCGETS, 0 } },
	{ "the terminal's size", READERS, SYS_ioctl, { -1, TIOCGWINSZ, 0 } },
	{ "input for the terminal", 0, SYS_ioctl, { -1, TIOCSTI, 0 } },
	{ "the flags of a descriptor", READERS, SYS_fcntl, { -1, F_GETFL } },
	{ "new flags of a descriptor", NETWORK, SYS_fcntl, { -1, F_SETFL, 0 } },
	{ "the owner of signals", 0, SYS_fcntl, { -1, F_SETOWN, 0 } },
	{ "the thread's name", READERS, SYS_prctl, { PR_SET_NAME, (long)"x" } },
	{ "other prctl", 0, SYS_prctl, { PR_GET_DUMPABLE } },
	{ "own limits", READERS, SYS_prlimit64, { 0, 0, 0, 0 } },
	{ "limits of others", 0, SYS_prlimit64, { 1, 0, 0, 0 } },
	{ "map memory",
	  READERS | SERVER,
	  SYS_mmap,
	  { 0, 0, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS } },
	{ "map new code",
	  TOOL | NETWORK,
	  SYS_mmap,
	  { 0, 0, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS } },
	{ "protect memory", READERS | SERVER, SYS_mprotect, { 0, 0, PROT_READ } },
	{ "make memory executable", TOOL | NETWORK, SYS_mprotect, { 0, 0, PROT_EXEC } },
	{ "a signal to a thread of init", 0, SYS_tgkill, { 1, 1, 0 } },
	{ "a call that no kernel has", 0, 511, { 0 } },
};

static enum sandbox_process process;
static int attempt; /* index in `calls` */

/* Returns 0 if the call is allowed, 1 if it is not, 2 if the process has no filter. */
static int attempt_call(void)
{
	const long *argument = calls[attempt].arguments;

	if (sandbox_enter_calls(process, &options))
		return 2;
	return syscall(calls[attempt].call, argument[0], argument[1], argument[2], argument[3]) <
		       0 &&
	       errno == ENOSYS;
}

START_TEST(a_process_makes_only_the_calls_that_it_needs)
{
	static const struct {
		enum sandbox_process process;
		unsigned bit;
		bool debuginfod;
		const char *output;
	} processes[] = {
		{ SANDBOX_CONVERSION, CONVERSION, false, NULL },
		{ SANDBOX_CONVERSION, NETWORK, true, NULL },
		{ SANDBOX_TOOL, TOOL, false, NULL },
		{ SANDBOX_SERVER, SERVER, false, NULL },
		{ SANDBOX_CONVERSION, DEVICE, false, "/dev/null" },
	};

	process = processes[_i].process;
	options.debuginfod = processes[_i].debuginfod;
	options.output = processes[_i].output;
	for (attempt = 0; attempt < (int)COUNT_OF(calls); attempt++) {
		int result = result_of(attempt_call);

		if (result == 2)
			return; /* not on this system */
		ck_assert_msg(result == !(calls[attempt].allowed & processes[_i].bit),
			      "process %d, %s: %s", _i, calls[attempt].name,
			      result ? "refused" : "allowed");
	}
}
END_TEST

/* abort() sends a signal to the own thread. */
static int abort_oneself(void)
{
	if (sandbox_enter_calls(SANDBOX_CONVERSION, &options))
		return 2;
	return syscall(SYS_tgkill, getpid(), gettid(), 0) < 0;
}

START_TEST(a_process_may_send_itself_signals)
{
	ck_assert_int_ne(result_of(abort_oneself), 1);
}
END_TEST

/* ---- Files -------------------------------------------------------------------- */

static const char *opened;

/* Returns the errno of opening a file to read, or to write; 255 without Landlock. */
static int open_in_sandbox(int flags)
{
	int fd;

	if (sandbox_enter_files(process, &options))
		return 255;
	fd = open(opened, flags);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int read_in_sandbox(void)
{
	return open_in_sandbox(O_RDONLY);
}

static int write_in_sandbox(void)
{
	return open_in_sandbox(O_WRONLY);
}

static int connect_in_sandbox(void)
{
	struct sockaddr address = { .sa_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (syscall(SYS_landlock_create_ruleset, NULL, 0, 1) < 4)
		return 255;
	if (sandbox_enter_files(process, &options))
		return 255;
	connect(fd, &address, sizeof(address));
	return errno;
}

static void make_file(const char *name)
{
	int fd = open(file_at(name), O_CREAT | O_WRONLY, 0600);

	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void expect_file(int (*run)(void), const char *name, int errnum)
{
	int result;

	opened = *name == '/' ? name : file_at(name);
	result = result_of(run);
	ck_assert_msg(result == errnum || result == 255, "%s: %s", name, strerror(result));
}

START_TEST(files_named_on_the_command_line_can_be_read)
{
	char inputs[2][PATH_MAX], *input_list[] = { inputs[0], inputs[1] }, overlay[PATH_MAX];
	__typeof__(*options.overlays) overlays[] = { { .text = overlay } };

	make_file("input");
	make_file("bundle.other");
	make_file("name,with,commas");
	make_file("other");
	strcpy(inputs[0], file_at("input"));
	strcpy(inputs[1], file_at("input2"));
	snprintf(overlay, sizeof(overlay), "%s,unit=ms", file_at("name,with,commas"));
	options.inputs = input_list;
	options.input_count = 2;
	options.overlays = overlays;
	options.overlay_count = 1;
	process = SANDBOX_CONVERSION;
	/* Without --symfs the recording may name any file. */
	expect_file(read_in_sandbox, "other", 0);
	expect_file(write_in_sandbox, "other", EACCES);
	options.symfs = "/nonexistent";
	expect_file(read_in_sandbox, "input", 0);
	expect_file(read_in_sandbox, "name,with,commas", 0);
	expect_file(read_in_sandbox, "other", EACCES);
	expect_file(read_in_sandbox, "/etc/passwd", EACCES);
	expect_file(read_in_sandbox, "/proc/self/maps", 0);
	expect_file(write_in_sandbox, "input", EACCES);
	expect_file(write_in_sandbox, "/dev/null", EACCES);
	expect_file(connect_in_sandbox, "", EACCES);
	options.symfs = folder;
	options.output = "/dev/null";
	expect_file(write_in_sandbox, "/dev/null", 0);
	expect_file(write_in_sandbox, "other", EACCES);
	options.output = file_at("other"); /* a file is written by the keeper */
	expect_file(write_in_sandbox, "other", EACCES);
	process = SANDBOX_SERVER;
	expect_file(read_in_sandbox, "input", EACCES);
	process = SANDBOX_TOOL;
	expect_file(read_in_sandbox, "other", 0);
	expect_file(write_in_sandbox, "other", EACCES);
}
END_TEST

START_TEST(only_devices_and_pipes_are_outputs_to_open)
{
	static const struct {
		const char *path;
		bool device;
	} outputs[] = { { NULL, false },   { "/dev/null", true },   { "/dev/stdout", true },
			{ "file", false }, { "missing", false },    { ".", false },
			{ "fifo", true },  { "to the file", false } };

	make_file("file");
	ck_assert_int_eq(mkfifo(file_at("fifo"), 0600), 0);
	ck_assert_int_eq(symlink("file", file_at("to the file")), 0);
	for (size_t i = 0; i < COUNT_OF(outputs); i++) {
		const char *path = outputs[i].path;

		if (path && *path != '/')
			path = file_at(path);
		options = (struct options){ .output = path };
		ck_assert_msg(sandbox_opens_devices(&options) == outputs[i].device, "%s", path);
		options = (struct options){ .json = path };
		ck_assert_msg(sandbox_opens_devices(&options) == outputs[i].device, "%s", path);
	}
}
END_TEST

/* ---- The keeper --------------------------------------------------------------- */

/* Requests in the order of a run; a name "@N" is the temporary one of the file N. */
enum { OUT, JSON, OTHER, PART0, PART1, PART2, NONE };
static const char *const finals[] = { "out.ftf",     "out.json",    "other.ftf",
				      "out.000.ftf", "out.001.ftf", "out.002.ftf" };

struct step {
	enum file_operation operation;
	int file, to; /* of `finals`; a step creates or removes a temporary file */
	int errnum;   /* 0: done */
	enum { FIRST, AGAIN, FINAL } by; /* its first or second temporary name, or its final one */
};

static const struct step *steps;
static size_t step_count;

static const char *temporary(int file, int again)
{
	static char names[2][PATH_MAX];
	static int next;
	char *name = names[next++ % 2];

	output_name_temporary(name, PATH_MAX, file_at(finals[file]), getpid(), again);
	return name;
}

/* Returns 1 + the number of the first step with another result, or 0. */
static int run_steps(void)
{
	if (keeper_start(&options))
		return 255;
	for (size_t i = 0; i < step_count; i++) {
		const struct step *step = &steps[i];
		const char *to = step->to == NONE ? NULL : file_at(finals[step->to]);
		const char *from = step->file == NONE  ? temp_file_folder()
				   : step->by == FINAL ? file_at(finals[step->file])
						       : temporary(step->file, step->by == AGAIN);
		int result = file_make(step->operation, from, to);

		if ((result < 0 ? errno : 0) != step->errnum)
			return (int)i + 1;
		if (result > 0 && write(result, "text", 4) != 4)
			return (int)i + 1;
		if (result > 0)
			close(result);
	}
	return file_make(FILE_LEAVE, NULL, NULL) < 0 ? 254 : 0;
}

static void run_keeper(const struct step *list, size_t count)
{
	steps = list;
	step_count = count;
	ck_assert_int_eq(result_of(run_steps), 0);
}

static void expect_exists(const char *name, bool exists)
{
	ck_assert_msg((access(file_at(name), F_OK) == 0) == exists, "%s", name);
}

/* Counts files in the folder. */
static int count_files(void)
{
	char command[PATH_MAX], text[20] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), "ls -A '%s' | wc -l", folder);
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), pipe));
	pclose(pipe);
	return atoi(text);
}

/* What the keeper made goes to its own output only; the rest is refused. */
START_TEST(the_keeper_makes_only_the_outputs)
{
	static const struct step list[] = {
		{ FILE_CREATE, OTHER, OTHER, EACCES, FIRST },
		{ FILE_CREATE, OUT, OUT, EACCES, FINAL }, /* no temporary name */
		{ FILE_MOVE, OUT, OUT, EACCES, FIRST },   /* not made yet */
		{ FILE_CREATE, OUT, OUT, 0, FIRST },
		{ FILE_MOVE, OUT, OTHER, EACCES, FIRST },
		{ FILE_MOVE, OUT, JSON, EACCES, FIRST },
		{ FILE_MOVE, OUT, OUT, 0, FIRST },
		{ FILE_MOVE, OUT, OUT, EACCES, FIRST }, /* has its name already */
		{ FILE_CREATE, JSON, JSON, 0, FIRST },
		{ FILE_REMOVE, OTHER, NONE, EACCES, FINAL },
		{ FILE_REMOVE, JSON, NONE, 0, FIRST },
		{ FILE_REMOVE, JSON, NONE, EACCES, FIRST }, /* is gone */
		{ FILE_CREATE, PART0, PART0, EACCES, FIRST },
		{ FILE_CREATE_NAMELESS, NONE, NONE, 0, FIRST },
		{ FILE_CREATE_NAMELESS, OTHER, NONE, EACCES, FINAL },
		{ FILE_CACHE, OTHER, NONE, EACCES, FINAL },
		{ (enum file_operation)99, OTHER, NONE, EINVAL, FINAL },
	};

	make_file("other.ftf");
	options.output = file_at("out.ftf");
	options.json = file_at("out.json");
	options.no_cache = true;
	run_keeper(list, COUNT_OF(list));
	expect_exists("out.ftf", true);
	expect_exists("out.json", false);
	expect_exists("other.ftf", true);
	ck_assert_int_eq(count_files(), 2);
}
END_TEST

/* Parts come in order, and a name may be tried again. */
START_TEST(the_keeper_makes_parts_in_order)
{
	static const struct step list[] = {
		{ FILE_CREATE, PART1, PART1, EACCES, FIRST },
		{ FILE_CREATE, PART0, PART0, 0, FIRST },
		{ FILE_CREATE, PART0, PART0, 0, AGAIN },
		{ FILE_CREATE, PART2, PART2, EACCES, FIRST },
		{ FILE_CREATE, PART1, PART1, 0, FIRST },
		{ FILE_CREATE, OUT, OUT, 0, FIRST },
		{ FILE_MOVE, PART1, PART1, 0, FIRST },
		{ FILE_CREATE, PART2, PART2, 0, FIRST },
		{ FILE_MOVE, PART2, PART1, EACCES, FIRST },
		{ FILE_MOVE, PART2, PART2, 0, FIRST },
		{ FILE_REMOVE, PART1, NONE, 0, FINAL },
	};

	options.output = file_at("out.ftf");
	options.select.split.unit = 1;
	run_keeper(list, COUNT_OF(list));
	expect_exists("out.001.ftf", false);
	expect_exists("out.002.ftf", true);
}
END_TEST

/* A run may end in any way, so files without their final names do not remain. */
START_TEST(the_keeper_removes_what_is_not_finished)
{
	static const struct step list[] = {
		{ FILE_CREATE, OUT, OUT, 0, FIRST },
		{ FILE_CREATE, JSON, JSON, 0, FIRST },
		{ FILE_MOVE, JSON, JSON, 0, FIRST },
	};

	options.output = file_at("out.ftf");
	options.json = file_at("out.json");
	run_keeper(list, COUNT_OF(list));
	expect_exists("out.json", true);
	ck_assert_int_eq(count_files(), 1);
}
END_TEST

/* ---- Both --------------------------------------------------------------------- */

static const char *preloaded;

/* Prints what was entered into the folder's file "printed". Returns the error's status. */
static int enter_and_print(void)
{
	FILE *out = fopen(file_at("printed"), "w");
	struct sandbox sandbox;
	struct error err = { 0 };
	int status;

	if (preloaded)
		setenv("LD_PRELOAD", preloaded, 1);
	status = sandbox_enter(&sandbox, process, &options, &err);
	sandbox_print(&sandbox, out);
	sandbox_warn(&sandbox, out);
	fputs(err.text, out);
	fclose(out);
	return status < 0;
}

static void expect_printed(int status, const char *expected)
{
	char text[500] = "";
	FILE *in;

	ck_assert_int_eq(result_of(enter_and_print), status);
	in = fopen(file_at("printed"), "r");
	ck_assert_int_ge(fread(text, 1, sizeof(text) - 1, in), 0);
	fclose(in);
	ck_assert_str_eq(text, expected);
}

/* valgrind writes files of its own. */
START_TEST(the_sandbox_says_why_it_is_off)
{
	process = SANDBOX_SERVER;
	options.sandbox = SANDBOX_OFF;
	expect_printed(0, "sandbox: none (--sandbox=off)\n");
	options.sandbox = SANDBOX_AUTO;
	preloaded = "/usr/libexec/valgrind/vgpreload_core-amd64-linux.so";
	expect_printed(0, UNIT_SANITIZED ? "sandbox: none (this build has sanitizers)\n"
					 : "sandbox: none (valgrind runs the program)\n");
	preloaded = NULL;
}
END_TEST

START_TEST(a_sandbox_has_two_halves)
{
	static const struct {
		struct sandbox sandbox;
		const char *expected;
	} halves[] = {
		{ { true, true, NULL, false }, "sandbox: files and system calls\n" },
		{ { true, false, "x", false }, "sandbox: files (x)\n" },
		{ { false, true, "x", false }, "sandbox: system calls (x)\n" },
		{ { false, false, "x", true },
		  "sandbox: none (x)\nptrace2ftf: warning: no sandbox: x; use --sandbox=off for "
		  "recordings that you trust\n" },
	};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	sandbox_print(&halves[_i].sandbox, out);
	sandbox_warn(&halves[_i].sandbox, out);
	fclose(out);
	ck_assert_str_eq(text, halves[_i].expected);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sandbox");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_loop_test(all, a_process_makes_only_the_calls_that_it_needs, 0, 5);
	tcase_add_test(all, a_process_may_send_itself_signals);
	tcase_add_test(all, files_named_on_the_command_line_can_be_read);
	tcase_add_test(all, only_devices_and_pipes_are_outputs_to_open);
	tcase_add_test(all, the_keeper_makes_only_the_outputs);
	tcase_add_test(all, the_keeper_makes_parts_in_order);
	tcase_add_test(all, the_keeper_removes_what_is_not_finished);
	tcase_add_test(all, the_sandbox_says_why_it_is_off);
	tcase_add_loop_test(all, a_sandbox_has_two_halves, 0, 4);
	suite_add_tcase(suite, all);
	return unit_run_apart(suite);
}
