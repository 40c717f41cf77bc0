/* SPDX-License-Identifier: MIT */
/*
 * perf and this reader see the same in a recording: one of the tests' builder, and all that are
 * available.  Skipped without perf.
 */
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decoder/perf_data/perf_file.h"
#include "decoder/timeline/timeline.h"
#include "tests/support/perf_data.h"
#include "tests/support/unit.h"

#define SIDE_BAND "--ns --no-itrace --show-task-events --show-mmap-events --show-switch-events"
#define CPUS      256

static glob_t recordings;

static struct perf_file file;
static struct timeline *timeline;
static struct diag diag;

/* How many of one CPU's switches are compared. */
static size_t switch_index[CPUS];
static int32_t last_tid[CPUS];

/* The part before "PERF_RECORD_" in a line of perf script. */
struct line_head {
	int32_t tid, cpu;
	uint64_t time; /* ns */
};

static void open_recording(const char *path)
{
	struct error err = { 0 };

	diag_init(&diag);
	ck_assert_msg(perf_file_open(&file, path, &diag, &err) == 0, "%s", err.text);
	timeline = timeline_open(&file, NULL, 0, &diag);
	memset(switch_index, 0, sizeof(switch_index));
	for (size_t i = 0; i < CPUS; i++)
		last_tid[i] = -1;
}

static void close_recording(void)
{
	timeline_close(timeline);
	perf_file_close(&file);
	diag_release(&diag);
}

/* "  comm with blanks  tid [cpu] seconds.nanoseconds: PERF_RECORD_..." */
static struct line_head read_head(char *line, const char *record)
{
	struct line_head head = { -1, -1, 0 };
	unsigned long long seconds, nanoseconds;
	char *bracket;

	line[record - line - 1] = 0;
	bracket = strrchr(line, '[');
	if (!bracket)
		return head;
	head.cpu = atoi(bracket + 1);
	ck_assert_int_eq(sscanf(strchr(bracket, ']') + 1, " %llu.%llu", &seconds, &nanoseconds), 2);
	head.time = seconds * 1000000000 + nanoseconds;
	while (bracket[-1] == ' ')
		bracket--;
	*bracket = 0;
	head.tid = atoi(strrchr(line, ' ') + 1);
	return head;
}

static bool has_mapping(const struct process *process, uint64_t ip, uint64_t offset,
			const char *path)
{
	for (size_t i = 0; i < process->epoch_count; i++) {
		const struct mapping *mapping =
			address_space_borrow_mapping(process->epochs[i].space, ip);

		if (mapping && mapping->file_offset + (ip - mapping->begin) == offset &&
		    strcmp(mapping->file->path, path) == 0)
			return true;
	}
	return false;
}

/* "MMAP2 pid/tid: [0xaddress(0xlength) @ 0xoffset device inode generation]: r-xp path" */
static void compare_mmap(const char *record)
{
	const char *permissions = strstr(record, "]: ");
	unsigned long long address, length, offset;
	const struct thread *thread;
	const char *path;
	int pid, tid;

	ck_assert_int_eq(sscanf(strchr(record, ' '), " %d/%d: [%llx(%llx) @ %llx", &pid, &tid,
				&address, &length, &offset),
			 5);
	path = strchr(permissions + 3, ' ') + 1;
	if (!memchr(permissions + 3, 'x', (size_t)(path - permissions - 3)))
		return;
	thread =
		pid == -1 ? timeline->threads.threads[0] : timeline_borrow_thread(timeline, pid, 0);
	ck_assert_ptr_nonnull(thread);
	ck_assert_msg(has_mapping(thread->process, address, offset, path), "%s", record);
}

/* "COMM: name:pid/tid" or "COMM exec: name:pid/tid" */
static void compare_comm(const char *record)
{
	const char *name = strchr(record, ':') + 2, *end = strrchr(record, ':');
	const struct thread *thread;
	bool found = false;
	int pid, tid;

	ck_assert_int_eq(sscanf(end, ":%d/%d", &pid, &tid), 2);
	thread = timeline_borrow_thread(timeline, tid, UINT64_MAX);
	ck_assert_ptr_nonnull(thread);
	ck_assert_int_eq(thread->pid, pid);
	for (size_t i = 0; i < thread->name_count; i++)
		found |= strlen(thread->names[i].text) == (size_t)(end - name) &&
			 memcmp(thread->names[i].text, name, (size_t)(end - name)) == 0;
	ck_assert_msg(found, "%s", record);
}

/* "FORK(pid:tid):(parent pid:tid)", EXIT alike */
static void compare_task(const char *record, const struct line_head *head)
{
	const struct thread *thread;
	int pid, tid;

	ck_assert_int_eq(sscanf(strchr(record, '('), "(%d:%d)", &pid, &tid), 2);
	thread = timeline_borrow_thread(timeline, tid, head->time);
	ck_assert_ptr_nonnull(thread);
	ck_assert_int_eq(thread->pid, pid);
	ck_assert_uint_eq(record[0] == 'F' ? thread->begin : thread->end, head->time);
}

/* "SWITCH_CPU_WIDE OUT  next pid/tid: 1/2" or "... IN   prev pid/tid: 1/2" */
static void compare_switch(const char *record, const struct line_head *head)
{
	const struct cpu_switch *switches;
	int32_t tid = head->tid;
	size_t count, *index;

	if (strstr(record, " OUT "))
		tid = atoi(strrchr(record, '/') + 1);
	if (tid == -1 || tid == last_tid[head->cpu])
		return;
	last_tid[head->cpu] = tid;
	switches = history_switches(&timeline->history, head->cpu, &count);
	index = &switch_index[head->cpu];
	ck_assert_msg(*index < count, "%s", record);
	/* A preceding ITRACE_START, which perf script does not show, may imply it. */
	if (*index)
		ck_assert_uint_eq(switches[*index].time, head->time);
	else
		ck_assert_uint_le(switches[*index].time, head->time);
	ck_assert_int_eq(switches[*index].thread->tid, tid);
	++*index;
}

/* Returns whether the line is a record. */
static bool compare_line(char *line)
{
	static const char mark[] = "PERF_RECORD_";
	char *record = strstr(line, mark);
	struct line_head head;

	if (!record)
		return false;
	line[strcspn(line, "\n")] = 0;
	head = read_head(line, record);
	record += sizeof(mark) - 1;
	if (strncmp(record, "MMAP", 4) == 0)
		compare_mmap(record);
	else if (strncmp(record, "COMM", 4) == 0)
		compare_comm(record);
	else if (strncmp(record, "FORK", 4) == 0 || strncmp(record, "EXIT", 4) == 0)
		compare_task(record, &head);
	else if (strncmp(record, "SWITCH_CPU_WIDE", 15) == 0)
		compare_switch(record, &head);
	return true;
}

static FILE *run_perf(const char *verb, const char *path, const char *options)
{
	char command[PATH_MAX + 200];
	FILE *out;

	snprintf(command, sizeof(command), "perf %s -i '%s' %s 2>/dev/null", verb, path, options);
	out = popen(command, "r");
	ck_assert_ptr_nonnull(out);
	return out;
}

/* Returns how many records perf showed. */
static size_t compare_with_perf(const char *path)
{
	FILE *out = run_perf("script", path, SIDE_BAND);
	size_t records = 0, count;
	char line[PATH_MAX + 500];

	open_recording(path);
	while (fgets(line, sizeof(line), out))
		records += compare_line(line);
	pclose(out);
	for (int32_t cpu = 0; cpu < CPUS; cpu++) {
		history_switches(&timeline->history, cpu, &count);
		ck_assert_uint_eq(count, switch_index[cpu]);
	}
	close_recording();
	return records;
}

START_TEST(perf_and_the_timeline_have_the_same_history)
{
	char path[PATH_MAX];

	ck_assert_ptr_nonnull(realpath(recordings.gl_pathv[_i], path));
	ck_assert_uint_gt(compare_with_perf(path), 0);
}
END_TEST

static void build_history(struct perf_data *data)
{
	struct perf_data_mmap map = {
		.pid = 5,
		.tid = 5,
		.address = 0x1000,
		.length = 0x1000,
		.file_offset = 0x3000,
		.path = "/bin/prog",
		.prot = PROT_READ | PROT_EXEC,
	};

	perf_data_stamp(data, (struct perf_data_stamp){ 1000000100, 5, 5, 0, 0 });
	perf_data_add_comm(data, PERF_RECORD_MISC_COMM_EXEC, 5, 5, "a prog");
	perf_data_add_mmap2(data, PERF_RECORD_MISC_USER, &map);
	map.address = 0x8000;
	perf_data_add_mmap(data, PERF_RECORD_MISC_USER, &map);
	perf_data_stamp(data, (struct perf_data_stamp){ 1000000200, 5, 5, 0, 0 });
	perf_data_add_fork(data, 6, 6, 5);
	perf_data_stamp(data, (struct perf_data_stamp){ 1000000300, 5, 5, 0, 0 });
	perf_data_add_switch(data, true, 6, 6);
	perf_data_stamp(data, (struct perf_data_stamp){ 1000000400, 6, 6, 0, 0 });
	perf_data_add_exit(data, 6, 6);
}

START_TEST(perf_reads_what_the_builder_writes)
{
	struct perf_data_pt_info info = { .pmu_type = 8, .time_mult = 1, .cap_user_time_zero = 1 };
	struct perf_data_aux aux = { .tid = -1, .bytes = "12345678", .size = 8 };
	char path[PERF_DATA_PATH];
	struct perf_data data;

	perf_data_init(&data);
	perf_data_add_pt_event(&data, 8, 0x300e601);
	data.events[0].attr.context_switch = 1; /* otherwise perf does not show them */
	perf_data_add_pt_info(&data, &info, "filter 0x1/0x2@/bin/prog");
	build_history(&data);
	perf_data_add_auxtrace(&data, &aux);
	perf_data_write_temporary(&data, path);
	ck_assert_uint_eq(compare_with_perf(path), 6);
	unlink(path);
	perf_data_release(&data);
}
END_TEST

/*
 * A fresh recording by this machine's perf, in each mode, of a program that starts others. Without
 * /sys perf does not know the CPUs, and records nothing of them.
 */
START_TEST(perf_and_the_timeline_agree_on_what_perf_records_now)
{
	static const char *const commands[] = {
		"perf record -q -e cpu-clock --sample-cpu -o %s -- sh -c 'true; ls /' %s",
		"perf record -q -e cpu-clock --sample-cpu -z -o %s -- sh -c 'true; ls /' %s",
		"perf record -q -e cpu-clock --sample-cpu -o - -- sh -c 'true; ls / >&2' >%s %s",
		"perf record -q -e cpu-clock --sample-cpu --threads -o %s -- sh -c 'true; ls /' %s",
	};
	char folder[] = "/tmp/perf-agrees-XXXXXX", path[64], command[400];

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/perf.data", folder);
	snprintf(command, sizeof(command), commands[_i], path,
		 _i == 2 ? "2>/dev/null" : ">/dev/null 2>&1");
	if (access("/sys/devices/system/cpu/online", R_OK) == 0 && system(command) == 0)
		ck_assert_uint_gt(compare_with_perf(path), 10);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

static void build_features(struct perf_data *data)
{
	static const char *const words[] = { "perf", "record", "-e", "intel_pt//u", NULL };

	perf_data_set_text(data, PERF_FEATURE_HOSTNAME, "builders-host");
	perf_data_set_text(data, PERF_FEATURE_CPUID, "GenuineIntel,6,94,3");
	perf_data_set_feature(data, PERF_FEATURE_NRCPUS, (uint32_t[]){ 16, 12 }, 8);
	perf_data_set_command_line(data, words);
	perf_data_set_feature(data, PERF_FEATURE_SAMPLE_TIME,
			      (uint64_t[]){ 1000000000, 2000000000 }, 16);
	perf_data_add_build_id(data, PERF_RECORD_MISC_USER, "/bin/prog",
			       (const uint8_t *)"0123456789", 10);
}

/* Returns whether perf's header report has this line. */
static bool perf_reports(const char *path, const char *expected)
{
	FILE *out = run_perf("report", path, "--header-only");
	bool found = false;
	char line[2000];

	while (fgets(line, sizeof(line), out))
		found |= strstr(line, expected) != NULL;
	pclose(out);
	return found;
}

START_TEST(perf_reads_the_builders_features)
{
	static const char *const expected[] = {
		"# hostname : builders-host\n",
		"# cpuid : GenuineIntel,6,94,3\n",
		"# nrcpus online : 12\n",
		"# nrcpus avail : 16\n",
		"# cmdline : perf record -e intel_pt//u \n",
		"# time of first sample : 1.000000\n",
		"# event : name = intel_pt//u, , id = { 1000, 1001, 1002, 1003 }, type = 8",
	};
	char path[PERF_DATA_PATH];
	struct perf_data data;

	perf_data_init(&data);
	perf_data_add_pt_event(&data, 8, 0x300e601);
	perf_data_add_comm(&data, 0, 5, 5, "x");
	build_features(&data);
	perf_data_write_temporary(&data, path);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		ck_assert_msg(perf_reports(path, expected[i]), "perf does not say: %s",
			      expected[i]);
	unlink(path);
	perf_data_release(&data);
}
END_TEST

static void find_recordings(void)
{
	const char *top = getenv("top_srcdir");
	char pattern[PATH_MAX];

	snprintf(pattern, sizeof(pattern), "%s/../shared/recordings/*/perf.data", top ? top : ".");
	glob(pattern, 0, NULL, &recordings);
	snprintf(pattern, sizeof(pattern), "%s/../shared/recordings/*/*/perf.data",
		 top ? top : ".");
	glob(pattern, GLOB_APPEND, NULL, &recordings);
}

int main(void)
{
	Suite *suite = suite_create("perf_agrees");
	TCase *all = tcase_create("perf_agrees");

	if (system("perf --version >/dev/null 2>&1") != 0) {
		puts("1..0 # SKIP perf is not installed");
		return EXIT_SUCCESS;
	}
	find_recordings();
	tcase_add_test(all, perf_reads_what_the_builder_writes);
	tcase_add_test(all, perf_reads_the_builders_features);
	tcase_add_loop_test(all, perf_and_the_timeline_agree_on_what_perf_records_now, 0, 4);
	tcase_add_loop_test(all, perf_and_the_timeline_have_the_same_history, 0,
			    (int)recordings.gl_pathc);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
