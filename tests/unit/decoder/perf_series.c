/* SPDX-License-Identifier: MIT */
/*
 * Which files are parts of one recording: each row differs from a part of perf record
 * --switch-output in one respect, and is refused for it or accepted.
 */
#include <string.h>
#include <unistd.h>

#include "decoder/perf_data/perf_file.h"
#include "tests/support/perf_data.h"
#include "tests/support/unit.h"

/* Absent fields are as in the first part. */
struct machine {
	const char *host, *kernel, *cpu, *words[4];
	uint32_t cpus;
	uint64_t clock_zero, first_id;
	uint64_t begin, end; /* ns */
	int32_t pid;
	bool killed; /* perf was killed: no features */
};

static const struct machine first = {
	.host = "red",
	.kernel = "6.1.0-28-amd64-with-a-long-suffix-of-its-builder-and-its-revision",
	.cpu = "GenuineIntel,6,94,3",
	.words = { "perf", "record", "-e", NULL },
	.cpus = 8,
	.clock_zero = 77,
	.first_id = 1000,
	.begin = 1000,
	.end = 2000,
	.pid = 5
};

static const struct refused {
	const char *why; /* in the message */
	struct machine next;
} refused[] = {
	{ "host name is 'blue', not 'red'", { .host = "blue", .begin = 2100, .end = 3000 } },
	{ "host name is 'red2', not 'red'", { .host = "red2", .begin = 2100, .end = 3000 } },
	{ "host name is 're', not 'red'", { .host = "re", .begin = 1, .end = 900 } },
	{ "kernel is '6.1.0-29", { .kernel = "6.1.0-29-amd64", .begin = 2100, .end = 3000 } },
	{ "kernel is '...f-its-builder-and-its-revision-today', not '...f-its-builder-and-its-revision'",
	  { .kernel = "6.1.0-28-amd64-with-a-long-suffix-of-its-builder-and-its-revision-today",
	    .begin = 2100,
	    .end = 3000 } },
	{ "kernel is '5.10", { .kernel = "5.10.0", .begin = 2100, .end = 3000 } },
	{ "kernel is '6.12", { .kernel = "6.12.1", .begin = 2100, .end = 3000 } },
	{ "CPU is", { .cpu = "GenuineIntel,6,94,4", .begin = 2100, .end = 3000 } },
	{ "CPU is", { .cpu = "GenuineIntel,6,85,7", .begin = 2100, .end = 3000 } },
	{ "has 4 CPUs, not 8", { .cpus = 4, .begin = 2100, .end = 3000 } },
	{ "has 9 CPUs, not 8", { .cpus = 9, .begin = 2100, .end = 3000 } },
	{ "command line is 'perf record', not 'perf record -e'",
	  { .words = { "perf", "record", NULL }, .begin = 2100, .end = 3000 } },
	{ "command line is 'perf record -a'",
	  { .words = { "perf", "record", "-a", NULL }, .begin = 2100, .end = 3000 } },
	{ "command line is 'perf trace -e'",
	  { .words = { "perf", "trace", "-e", NULL }, .begin = 2100, .end = 3000 } },
	{ "clock is of another boot", { .clock_zero = 78, .begin = 2100, .end = 3000 } },
	{ "clock is of another boot", { .clock_zero = 1, .begin = 2100, .end = 3000 } },
	{ "clock is of another boot", { .clock_zero = 1u << 31, .begin = 2100, .end = 3000 } },
	{ "another run of perf", { .first_id = 1004, .begin = 2100, .end = 3000 } },
	{ "another run of perf", { .first_id = 1, .begin = 2100, .end = 3000 } },
	{ "another run of perf", { .first_id = 1001, .begin = 1, .end = 900 } },
	{ "times overlap", { .begin = 1000, .end = 2000, .pid = 6 } },
	{ "times overlap", { .begin = 1400, .end = 9000 } },
	{ "times overlap", { .begin = 1200, .end = 1201 } },
	{ "same content", { .begin = 1000, .end = 2000 } },
	/* The parts in another order. */
	{ "was recorded earlier", { .begin = 100, .end = 999 } },
	{ "was recorded earlier", { .begin = 100, .end = 1000 } },
	{ "was recorded earlier", { .begin = 998, .end = 999, .pid = 6 } },
	/* Earlier, although perf read a slow CPU late. */
	{ "was recorded earlier", { .begin = 100, .end = 1010 } },
};

static const struct machine joined[] = {
	{ .begin = 2001, .end = 3000 },
	{ .begin = 2000, .end = 2000 },
	/* Earlier events of a slow CPU. */
	{ .begin = 1990, .end = 3000 },
	/* Another process is traced after the first one's end. */
	{ .begin = 5000, .end = 6000, .pid = 9 },
	/* perf was killed: no features. */
	{ .killed = true, .begin = 2100, .end = 3000 },
};

static struct perf_file file;
static struct diag diag;
static struct error err;

static void set_up(void)
{
	diag_init(&diag);
	err = (struct error){ 0 };
	file = (struct perf_file){ 0 };
}

static void tear_down(void)
{
	perf_file_close(&file);
	diag_release(&diag);
}

static void set_features(struct perf_data *data, const struct machine *machine)
{
	uint32_t cpus = machine->cpus ?: first.cpus;

	perf_data_set_text(data, 3, machine->host ?: first.host);
	perf_data_set_text(data, 4, machine->kernel ?: first.kernel);
	perf_data_set_text(data, 9, machine->cpu ?: first.cpu);
	perf_data_set_feature(data, 7, (uint32_t[]){ cpus, 2 }, 8);
	perf_data_set_command_line(data, machine->words[0] ? machine->words : first.words);
}

static void write_machine(const struct machine *machine, char path[PERF_DATA_PATH])
{
	const struct perf_data_pt_info info = { .pmu_type = 8,
						.time_mult = 1,
						.time_zero =
							machine->clock_zero ?: first.clock_zero,
						.cap_user_time_zero = 1 };
	int32_t pid = machine->pid ?: first.pid;
	struct perf_data data;

	perf_data_init(&data);
	perf_data_add_pt_event(&data, 8, 0x2401);
	data.events[0].first_id = machine->first_id ?: first.first_id;
	perf_data_add_pt_info(&data, &info, NULL);
	perf_data_stamp(&data, (struct perf_data_stamp){ machine->begin, pid, pid, 0, 0 });
	perf_data_add_comm(&data, 0, pid, pid, "program");
	perf_data_stamp(&data, (struct perf_data_stamp){ machine->end, pid, pid, 0, 0 });
	perf_data_add_exit(&data, pid, pid);
	if (!machine->killed)
		set_features(&data, machine);
	perf_data_write_temporary(&data, path);
	perf_data_release(&data);
}

/* Open the first part and all of `next`; returns the last message. */
static int append(const struct machine *next, size_t count)
{
	char path[PERF_DATA_PATH], paths[2][PERF_DATA_PATH];
	int status = 0;

	ck_assert_uint_le(count, 2);
	write_machine(&first, path);
	ck_assert_int_eq(perf_file_open(&file, path, &diag, &err), 0);
	for (size_t i = 0; i < count && status == 0; i++) {
		write_machine(&next[i], paths[i]);
		status = perf_file_append(&file, paths[i], &diag, &err);
		unlink(paths[i]);
	}
	unlink(path);
	if (status < 0) {
		ck_assert_ptr_nonnull(strstr(err.text, path));
		ck_assert_ptr_nonnull(strstr(err.text, "-o DIR/"));
		ck_assert_ptr_nonnull(strstr(err.text, "ptrace2ftf diff"));
	}
	return status;
}

START_TEST(a_file_of_another_recording_is_refused_with_the_difference)
{
	ck_assert_int_eq(append(&refused[_i].next, 1), -1);
	ck_assert_msg(strstr(err.text, refused[_i].why), "'%s' is not in '%s'", refused[_i].why,
		      err.text);
}
END_TEST

START_TEST(parts_of_a_recording_are_joined)
{
	ck_assert_msg(append(&joined[_i], 1) == 0, "%s", err.text);
	ck_assert_int_eq(file.unproven, joined[_i].killed || joined[_i].begin == joined[_i].end);
	ck_assert_uint_eq(file.part_count, 2);
}
END_TEST

/* The third part is not refused for the second one's reason. */
START_TEST(each_part_is_compared_with_all_before)
{
	const struct machine parts[] = { { .begin = 2100, .end = 3000 },
					 { .begin = 1100, .end = 1900 } };

	ck_assert_int_eq(append(parts, 2), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "times overlap"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_series");
	TCase *all = tcase_create("perf_series");

	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_loop_test(all, a_file_of_another_recording_is_refused_with_the_difference, 0,
			    sizeof(refused) / sizeof(refused[0]));
	tcase_add_loop_test(all, parts_of_a_recording_are_joined, 0,
			    sizeof(joined) / sizeof(joined[0]));
	tcase_add_test(all, each_part_is_compared_with_all_before);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
