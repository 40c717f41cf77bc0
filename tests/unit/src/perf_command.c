/* SPDX-License-Identifier: MIT */
/*
 * The words of perf record for the options of `ptrace2ftf record` (man perf-record), on machines of
 * which each file in /proc and /sys is in a table, and runs of a command that is no perf.
 */
#include <elf.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/options/options.h"
#include "src/record/record.h"
#include "tests/support/tiny_elf.h"
#include "tests/support/unit.h"

static char here[] = "./prog", argument[] = "an argument", name[] = "prog";
static char *program[] = { here, argument, NULL }, *in_path[] = { name, NULL };
static char folder[40], variable[200];

/* ---- The machine ------------------------------------------------------------- */

#define PMU "/sys/bus/event_source/devices/intel_pt"

static struct {
	const char *paranoid, *lockable, *cycles, *filters, *cpuinfo; /* contents; NULL: no file */
	bool no_pt, root, no_uprobes;
} machine;

int __wrap_access(const char *path, int mode);
int __real_access(const char *path, int mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__real_fopen(const char *path, const char *mode);
uid_t __wrap_geteuid(void);
long __wrap_syscall(long call, ...);

int __wrap_access(const char *path, int mode)
{
	if (strcmp(path, PMU) == 0)
		return machine.no_pt ? -1 : 0;
	errno = EACCES;
	if (strcmp(path, UPROBE_EVENTS) == 0)
		return machine.no_uprobes || mode != W_OK ? -1 : 0;
	return __real_access(path, mode);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	const char *const files[][2] = {
		{ "/proc/sys/kernel/perf_event_paranoid", machine.paranoid },
		{ "/proc/sys/kernel/perf_event_mlock_kb", machine.lockable },
		{ PMU "/caps/psb_cyc", machine.cycles },
		{ PMU "/caps/ip_filtering", machine.filters },
		{ "/proc/cpuinfo", machine.cpuinfo },
	};

	for (size_t i = 0; i < COUNT_OF(files); i++)
		if (strcmp(path, files[i][0]) == 0)
			return files[i][1] ? fmemopen((char *)files[i][1], strlen(files[i][1]), "r")
					   : NULL;
	return __real_fopen(path, mode);
}

uid_t __wrap_geteuid(void)
{
	return machine.root ? 0 : 1000;
}

/* capget(): no capabilities. */
long __wrap_syscall(long call, ...)
{
	ck_assert_int_eq(call, SYS_capget);
	return 0;
}

static void setup(void)
{
	char path[60];

	machine = (__typeof__(machine)){ .lockable = "100000", .paranoid = "2" };

	/* Under nohup(1), these may be ignored. */
	signal(SIGHUP, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	strcpy(folder, "/tmp/ptrace2ftf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	sprintf(path, "%s/prog", folder);
	fclose(fopen(path, "w"));
	ck_assert_int_eq(chmod(path, 0700), 0);
	sprintf(path, "%s/data", folder);
	fclose(fopen(path, "w"));
	ck_assert_int_eq(chmod(path, 0600), 0);
	sprintf(variable, "/nonexistent::%s", folder);
	setenv("PATH", variable, 1);
}

static void teardown(void)
{
	char path[60];

	sprintf(path, "%s/prog", folder);
	unlink(path);
	sprintf(path, "%s/data", folder);
	unlink(path);
	rmdir(folder);
}

static void expect(const struct options *options, const char *size, const char *level,
		   const char *rest)
{
	char **words = perf_command_make(options), expected[400], *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	perf_command_print(words, out);
	fclose(out);
	sprintf(expected, "perf record -o a.data %s-e intel_pt/%s/%s%s\n", size,
		machine.cycles ? "cyc=1" : "", level, rest);
	ck_assert_str_eq(text, expected);
	free(text);
	perf_command_free(words);
}

START_TEST(a_command_has_the_words_of_the_options)
{
	struct options options = { .input = "a.data", .program = program };
	char rest[200];

	expect(&options, "-m,64M ", "u", " -- ./prog 'an argument'");
	machine.cycles = "1";
	expect(&options, "-m,64M ", "u", " -- ./prog 'an argument'");
	machine.cycles = NULL;
	options.mode = TRACE_MODE_KERNEL;
	expect(&options, "-m,64M ", "k", " -- ./prog 'an argument'");
	options.mode = TRACE_MODE_BOTH;
	expect(&options, "-m,64M ", "", " -- ./prog 'an argument'");
	options.mode = TRACE_MODE_USER;
	options.all_cpus = true;
	expect(&options, "-m,64M ", "u", " -a -- ./prog 'an argument'");
	options.all_cpus = false;
	options.snapshot = 3 << 20;
	expect(&options, "-m,3M ", "u", " --snapshot=e -- ./prog 'an argument'");
	options.snapshot = (3 << 20) + 1;
	expect(&options, "-m,3073K ", "u", " --snapshot=e -- ./prog 'an argument'");
	options.snapshot = 0;
	options.start_at = "serve";
	expect(&options, "-m,64M ", "u",
	       " --filter 'start serve @ ./prog' -- ./prog 'an argument'");
	/* perf looks for no file in PATH. */
	options.program = in_path;
	sprintf(rest, " --filter 'start serve @ %s/prog' -- prog", folder);
	expect(&options, "-m,64M ", "u", rest);
	options.program = NULL;
	options.attach = "123";
	expect(&options, "-m,64M ", "u", " --filter 'start serve @ /proc/123/exe' -p 123");
}
END_TEST

/* Calls are watched while perf records: it needs a program, or one that waits. */
START_TEST(a_command_that_waits_for_a_call_has_a_program)
{
	struct options options = { .input = "a.data", .attach = "5", .snapshot_at = "f" };

	expect(&options, "-m,64M ", "u", " --snapshot=e -p 5 -- sleep infinity");
	options.program = program;
	options.attach = NULL;
	expect(&options, "-m,64M ", "u", " --snapshot=e -- ./prog 'an argument'");
}
END_TEST

/* POSIX, "Quoting". */
START_TEST(a_printed_command_can_be_pasted_into_a_shell)
{
	static char texts[][20] = {
		"a-b=c/d,e.f:g@h%", "", "it's", "$HOME", "a;b", "\"", "tab\t", "~"
	};
	char *words[COUNT_OF(texts) + 1] = { NULL };
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	for (size_t i = 0; i < COUNT_OF(texts); i++)
		words[i] = texts[i];
	perf_command_print(words, out);
	fclose(out);
	ck_assert_str_eq(text, "a-b=c/d,e.f:g@h% '' 'it'\\''s' '$HOME' 'a;b' '\"' 'tab\t' '~'\n");
	free(text);
}
END_TEST

START_TEST(a_program_is_an_executable_file_in_path)
{
	char file[PATH_MAX], expected[60];

	sprintf(expected, "%s/prog", folder);
	ck_assert(path_search("prog", file));
	ck_assert_str_eq(file, expected);
	ck_assert(!path_search("missing", file));
	if (access("/proc/1/mem", R_OK) < 0)
		ck_assert(!path_search("data", file));
	sprintf(variable, "%s:/nonexistent", folder);
	setenv("PATH", variable, 1);
	ck_assert(path_search("prog", file));
	ck_assert_str_eq(file, expected);
	setenv("PATH", "", 1);
	ck_assert(!path_search("prog", file));
}
END_TEST

/* ---- What the user may ------------------------------------------------------- */

/*
 * Documentation/admin-guide/perf-security.rst: a user locks perf_event_mlock_kb for all, and
 * RLIMIT_MEMLOCK, which is 1 MiB here; root, and all with perf_event_paranoid -1, any amount.
 */
static const struct {
	const char *paranoid, *lockable;
	bool root;
	uint64_t wanted, granted; /* MiB; 0: the default */
} buffers[] = {
	{ "2", "64512", false, 0, 64 },    { "2", "64511", false, 0, 0 },
	{ "2", "516", false, 0, 0 },       { "2", "516", false, 1, 1 },
	{ "2", "516", false, 2, 0 },       { "2", NULL, false, 1, 1 },
	{ "2", "no number", false, 1, 1 }, { "0", "516", false, 0, 0 },
	{ "-1", "516", false, 0, 64 },     { "2", "516", true, 0, 64 },
	{ "2", "516", true, 500, 500 },
};

START_TEST(a_buffer_is_as_large_as_perf_may_lock)
{
	struct options options = { .snapshot = buffers[_i].wanted << 20 };
	struct rlimit limit;

	getrlimit(RLIMIT_MEMLOCK, &limit);
	limit.rlim_cur = 1 << 20;
	ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	machine.paranoid = buffers[_i].paranoid;
	machine.lockable = buffers[_i].lockable;
	machine.root = buffers[_i].root;
	ck_assert_uint_eq(recorder_buffer(&options), buffers[_i].granted << 20);
}
END_TEST

#define INTEL "vendor_id\t: GenuineIntel\nflags\t\t: fpu vme\n\nprocessor\t: 1\n"
#define GUEST "vendor_id\t: GenuineIntel\nflags\t\t: fpu hypervisor vme\n\n"
#define OTHER "vendor_id\t: AuthenticAMD\nflags\t\t: fpu vme\nIntel\n\nvendor_id\t: GenuineIntel\n"

/* What each machine lacks; the words of a message, or "" if nothing. */
static const struct {
	const char *paranoid, *filters, *cpuinfo;
	bool no_pt, root, kernel, all_cpus, start_at, quiet, no_perf, possible;
	const char *message;
} obstacles[] = {
	{ "2", "1", INTEL, 0, 0, 0, 0, 0, 0, 0, true, "" },
	{ "2", "1", INTEL, 0, 0, 0, 0, 1, 0, 0, true, "" },
	{ "2", "0", INTEL, 0, 0, 0, 0, 1, 0, 0, false, "this processor has no address filters" },
	{ "2", "1", INTEL, 0, 0, 0, 0, 0, 0, 1, false, "perf is not in PATH" },
	{ "3", "1", INTEL, 0, 0, 0, 0, 0, 0, 0, false,
	  "cannot record: kernel.perf_event_paranoid is 3; run `sysctl "
	  "kernel.perf_event_paranoid=2`" },
	{ "2", "1", INTEL, 0, 0, 1, 0, 0, 0, 0, false,
	  "cannot record the kernel: kernel.perf_event_paranoid is 2; run `sysctl "
	  "kernel.perf_event_paranoid=1`" },
	{ "1", "1", INTEL, 0, 0, 1, 0, 0, 0, 0, true, "" },
	{ "1", "1", INTEL, 0, 0, 0, 1, 0, 0, 0, false,
	  "cannot record all CPUs: kernel.perf_event_paranoid is 1; run `sysctl "
	  "kernel.perf_event_paranoid=0`" },
	{ "0", "1", INTEL, 0, 0, 0, 1, 0, 0, 0, true, "" },
	{ "3", "1", INTEL, 0, 1, 1, 1, 0, 0, 0, true, "" },
	{ "2", "1", INTEL, 1, 0, 0, 0, 0, 0, 0, false, "the kernel has no intel_pt" },
	{ "2", "1", GUEST, 1, 0, 0, 0, 0, 0, 0, false, "this virtual machine has no Intel PT" },
	{ "2", "1", OTHER, 1, 0, 0, 0, 0, 0, 0, false, "the processor is not Intel's" },
	{ "2", "1", NULL, 1, 0, 0, 0, 0, 0, 0, false, "the processor is not Intel's" },
	{ NULL, "1", INTEL, 0, 0, 1, 0, 0, 0, 0, false, "kernel.perf_event_paranoid is 2" },
};

/* Returns what CHECK prints to standard error; owned by the caller. */
static char *printed_by(bool (*check)(const struct options *options), const struct options *options,
			bool *result)
{
	FILE *saved = stderr;
	char *text;
	size_t length;

	stderr = open_memstream(&text, &length);
	*result = check(options);
	fclose(stderr);
	stderr = saved;
	return text;
}

START_TEST(an_obstacle_is_named_before_the_recording)
{
	struct options options = {
		.mode = obstacles[_i].kernel ? TRACE_MODE_BOTH : TRACE_MODE_USER,
		.all_cpus = obstacles[_i].all_cpus,
		.start_at = obstacles[_i].start_at ? "f" : NULL,
	};
	char path[60], *text;
	bool possible;

	machine.paranoid = obstacles[_i].paranoid;
	machine.filters = obstacles[_i].filters;
	machine.cpuinfo = obstacles[_i].cpuinfo;
	machine.no_pt = obstacles[_i].no_pt;
	machine.root = obstacles[_i].root;
	sprintf(path, "%s/perf", folder);
	if (!obstacles[_i].no_perf)
		ck_assert_int_eq(symlink("prog", path), 0);
	text = printed_by(recorder_check, &options, &possible);
	unlink(path);
	ck_assert_int_eq(possible, obstacles[_i].possible);
	ck_assert_msg(*obstacles[_i].message ? strstr(text, obstacles[_i].message) != NULL : !*text,
		      "%s", text);
	free(text);
}
END_TEST

/* It may lose trace, but need not. */
START_TEST(a_small_buffer_is_a_warning)
{
	struct options options = { .quiet = _i };
	char path[60], *text;
	struct rlimit limit;
	bool possible;

	getrlimit(RLIMIT_MEMLOCK, &limit);
	limit.rlim_cur = 1 << 20;
	ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	machine.lockable = "516";
	sprintf(path, "%s/perf", folder);
	ck_assert_int_eq(symlink("prog", path), 0);
	text = printed_by(recorder_check, &options, &possible);
	unlink(path);
	ck_assert(possible);
	ck_assert_msg(_i ? !*text
			 : strstr(text, "perf may lock only 1540 KiB") &&
				      strstr(text, "perf_event_mlock_kb=65536`"),
		      "%s", text);
	free(text);
}
END_TEST

/* Rows of `record --check`, or of a recording of slow calls. */
static const struct {
	const char *paranoid, *lockable, *cpuinfo;
	bool no_pt, root, no_uprobes, no_perf, slow;
	const char *need, *state, *found, *remedy;
} rows[] = {
	{ "2", "516", INTEL, 0, 0, 0, 1, 0, "perf", "missing", "perf is not in PATH",
	  "install it" },
	{ "2", "516", INTEL, 0, 0, 0, 0, 0, "perf", "ok", "/perf", NULL },
	{ "2", "516", INTEL, 0, 0, 0, 0, 0, "Intel PT", "ok", "yes, cycles, address filters",
	  NULL },
	{ "2", "516", GUEST, 1, 0, 0, 0, 0, "Intel PT", "missing", "this virtual machine has no",
	  "record on the host" },
	{ "2", "516", OTHER, 1, 0, 0, 0, 0, "Intel PT", "missing", "is not Intel's", "`ptsim`" },
	{ "3", "516", INTEL, 0, 0, 0, 0, 0, "rights", "missing", "none", "_paranoid=2`" },
	{ "4", "516", INTEL, 0, 0, 0, 0, 0, "rights", "missing", "none", "_paranoid=2`" },
	{ "2", "516", INTEL, 0, 0, 0, 0, 0, "rights", "limited", "user code of your processes",
	  "_paranoid=1`" },
	{ "1", "516", INTEL, 0, 0, 0, 0, 0, "rights", "limited", "your processes, with the kernel",
	  "_paranoid=0`" },
	{ "0", "516", INTEL, 0, 0, 0, 0, 0, "rights", "ok", "all processes and CPUs", NULL },
	{ "3", "516", INTEL, 0, 1, 0, 0, 0, "rights", "ok", "all processes and CPUs", NULL },
	{ "2", "516", INTEL, 0, 0, 0, 0, 0, "buffers", "limited", "only 1540 KiB", "_kb=65536`" },
	{ "2", "65536", INTEL, 0, 0, 0, 0, 0, "buffers", "ok", "perf may lock 66560 KiB", NULL },
	{ "2", "64512", INTEL, 0, 0, 0, 0, 0, "buffers", "ok", "perf may lock 65536 KiB", NULL },
	{ "2", "516", INTEL, 0, 1, 0, 0, 0, "buffers", "ok", "any size", NULL },
	{ "2", "516", INTEL, 0, 0, 0, 0, 0, "uprobes", "ok", UPROBE_EVENTS, NULL },
	{ "2", "516", INTEL, 0, 0, 1, 0, 0, "uprobes", "limited",
	  "uprobe_events: Permission denied", "mount -t tracefs" },
	{ "2", "516", INTEL, 0, 0, 1, 0, 1, "uprobes", "missing",
	  "uprobe_events: Permission denied", "record as root" },
	{ "2", "516", INTEL, 0, 0, 0, 0, 1, "uprobes", "ok", UPROBE_EVENTS, NULL },
};

START_TEST(a_need_has_its_state_and_remedy)
{
	const struct options slow = { .snapshots = 1 };
	const char *need, *state, *found, *remedy;
	struct rlimit limit;
	json_t *all, *row;
	char path[60];
	size_t i;

	getrlimit(RLIMIT_MEMLOCK, &limit);
	limit.rlim_cur = 1 << 20;
	ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	machine = (__typeof__(machine)){
		rows[_i].paranoid, rows[_i].lockable, "1",           "1",
		rows[_i].cpuinfo,  rows[_i].no_pt,    rows[_i].root, rows[_i].no_uprobes
	};
	sprintf(path, "%s/perf", folder);
	if (!rows[_i].no_perf)
		ck_assert_int_eq(symlink("prog", path), 0);
	all = recorder_needs(rows[_i].slow ? &slow : NULL);
	unlink(path);
	json_array_foreach(all, i, row)
	{
		remedy = NULL;
		ck_assert_int_eq(json_unpack(row, "{s:s, s:s, s:s, s?s}", "need", &need, "state",
					     &state, "found", &found, "remedy", &remedy),
				 0);
		if (strcmp(need, rows[_i].need) == 0)
			break;
	}
	ck_assert_uint_lt(i, json_array_size(all));
	ck_assert_str_eq(state, rows[_i].state);
	ck_assert_msg(strstr(found, rows[_i].found) != NULL, "%s", found);
	ck_assert_msg(rows[_i].remedy ? remedy && strstr(remedy, rows[_i].remedy) : !remedy, "%s",
		      remedy);
	json_decref(all);
}
END_TEST

/* ---- The watched function ------------------------------------------------------ */

#define FUNCTION ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define OBJECT   ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT)
#define CODE     UINT64_C(0x401000) /* the entry */

static const struct tiny_symbol watched[] = {
	{ "main", CODE, 4, FUNCTION },
	{ "serve", CODE + 0x20, 4, FUNCTION },
	{ "serve_alias", CODE + 0x20, 4, FUNCTION },
	{ "_ZN2ns4takeEi", CODE + 0x30, 4, FUNCTION },
	{ "twice", CODE + 0x40, 4, FUNCTION },
	{ "twice", CODE + 0x50, 4, FUNCTION },
	{ "again", CODE + 0x60, 4, FUNCTION },
	{ "again", CODE + 0x60, 4, FUNCTION },
	{ "table", CODE + 0x70, 4, OBJECT },
};

/* The distance from the entry; or the error. */
static const struct {
	const char *function;
	int64_t from_entry;
	const char *error;
} finds[] = {
	{ "main", 0, NULL },
	{ "serve", 0x20, NULL },
	{ "serve_alias", 0x20, NULL },
	{ "again", 0x60, NULL },
	/* A name of C++ as the symbol table, or as a user writes it. */
	{ "_ZN2ns4takeEi", 0x30, NULL },
	{ "ns::take(int)", 0x30, NULL },
	{ "ns::take", 0x30, NULL },
	{ "take", 0, "has no function 'take'" },
	{ "table", 0, "has no function 'table'" },
	{ "serv", 0, "has no function 'serv'" },
	{ "twice", 0, "has several functions 'twice'" },
};

START_TEST(a_watched_function_is_one_of_the_symbol_table)
{
	static const uint8_t code[0x80] = { 0xc3 };
	const struct tiny_elf elf = { CODE, code, sizeof(code), watched, COUNT_OF(watched), 0, 0 };
	struct function_place place = { 0 };
	struct error err = { 0 };
	char path[60];
	int found;

	sprintf(path, "%s/watched", folder);
	tiny_elf_write(&elf, path);
	found = function_place_find(&place, path, finds[_i].function, &err);
	unlink(path);
	ck_assert_int_eq(found, finds[_i].error ? -1 : 0);
	if (finds[_i].error)
		ck_assert_msg(strstr(err.text, finds[_i].error) != NULL, "%s", err.text);
	else
		ck_assert_int_eq(place.from_entry, finds[_i].from_entry);
}
END_TEST

/* ---- Runs ---------------------------------------------------------------------- */

/* What the command does instead of perf, with and without a program; the result. */
static const struct {
	const char *script;
	bool attach, no_code, recorded;
	int status;
} runs[] = {
	{ "echo data > $3; exit 0", false, true, true, 0 },
	{ "echo data > $3; exit 0", false, false, true, 0 },
	{ "echo data > $3; exit 3", false, true, true, 3 },
	{ "echo data > $3; exit 3", false, false, true, 3 },
	{ "exit 0", false, true, false, EXIT_FAILED },
	{ "exit 5", false, true, false, 5 },
	{ "exit 5", false, false, false, 5 },
	/* Ctrl-C ends a recording of a process; a program may have failed by it. */
	{ "echo data > $3; kill -INT $$", true, true, true, 0 },
	{ "echo data > $3; kill -TERM $$", true, true, true, 0 },
	{ "echo data > $3; kill -HUP $$", true, true, true, 129 },
	{ "echo data > $3; kill -INT $$", false, true, true, 130 },
	{ "echo data > $3; kill -TERM $$", false, true, true, 143 },
};

static int status;

static bool run_once(const struct options *options)
{
	return record_run(options, &status);
}

START_TEST(the_status_is_that_of_the_command)
{
	char path[60], input[60], attach[20], *text;
	struct options options = { .input = input,
				   .quiet = true,
				   .no_code = runs[_i].no_code,
				   .program = runs[_i].attach ? NULL : program,
				   .attach = runs[_i].attach ? attach : NULL };
	bool recorded;
	FILE *out;

	sprintf(attach, "%d", (int)getpid());
	sprintf(input, "%s/rec", folder);
	sprintf(path, "%s/perf", folder);
	out = fopen(path, "w");
	fprintf(out, "#!/bin/sh\n%s\n", runs[_i].script);
	fclose(out);
	chmod(path, 0700);
	text = printed_by(run_once, &options, &recorded);
	unlink(path);
	unlink(input);
	sprintf(path, "rm -rf %s/rec*", folder);
	setenv("PATH", "/bin:/usr/bin", 1);
	ck_assert_int_eq(system(path), 0);
	ck_assert_int_eq(recorded, runs[_i].recorded);
	ck_assert_int_eq(status, runs[_i].status);
	ck_assert_int_eq(strstr(text, "perf did not write") != NULL, !recorded);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_command");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, a_command_has_the_words_of_the_options);
	tcase_add_test(all, a_command_that_waits_for_a_call_has_a_program);
	tcase_add_test(all, a_printed_command_can_be_pasted_into_a_shell);
	tcase_add_test(all, a_program_is_an_executable_file_in_path);
	tcase_add_loop_test(all, a_buffer_is_as_large_as_perf_may_lock, 0, COUNT_OF(buffers));
	tcase_add_loop_test(all, an_obstacle_is_named_before_the_recording, 0, COUNT_OF(obstacles));
	tcase_add_loop_test(all, a_need_has_its_state_and_remedy, 0, COUNT_OF(rows));
	tcase_add_loop_test(all, a_small_buffer_is_a_warning, 0, 2);
	tcase_add_loop_test(all, a_watched_function_is_one_of_the_symbol_table, 0, COUNT_OF(finds));
	tcase_add_loop_test(all, the_status_is_that_of_the_command, 0, COUNT_OF(runs));
	suite_add_tcase(suite, all);
	return unit_run_apart(suite);
}
