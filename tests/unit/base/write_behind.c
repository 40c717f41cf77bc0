/* SPDX-License-Identifier: MIT */
/* Output by worker threads has the same bytes as without them, or an error. */
#include "base/io/output.h"
#include "base/workers.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/unit.h"

/* Several times the buffered amount, but no multiple of it. */
#define SIZE ((size_t)3000001)

static char path[] = "write_behind.test.XXXXXX";
static struct output output;
static struct workers *workers;
static struct write_behind *behind;
static struct error err;

static void setup(void)
{
	close(mkstemp(path));
	ck_assert_int_eq(output_open(&output, path, &err), 0);
}

static void teardown(void)
{
	workers_close(workers);
	unlink(path);
}

/* Without idle workers, if there are any, the caller writes. */
static void begin(int count)
{
	workers = workers_open((unsigned)count);
	ck_assert_ptr_nonnull(workers);
	while (count > 1 && !workers_idle(workers))
		usleep(100);
	behind = write_behind_open(&output, workers);
}

static void fill(uint8_t bytes[SIZE])
{
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)(i ^ i >> 8 ^ i >> 16);
}

/* Pieces of all sizes, some larger than a buffer. */
static void write_pieces(void)
{
	static uint8_t bytes[SIZE];

	fill(bytes);
	for (size_t at = 0, size = 1; at < SIZE; at += size, size = size * 3 % 400009) {
		size = size < SIZE - at ? size : SIZE - at;
		output_write(&output, bytes + at, size);
	}
	memset(bytes, 0, sizeof(bytes)); /* they are borrowed for the call only */
}

static void ck_assert_is_whole(const uint8_t *bytes)
{
	static uint8_t expected[SIZE];

	fill(expected);
	ck_assert(memcmp(bytes, expected, SIZE) == 0);
}

START_TEST(all_bytes_arrive_in_order)
{
	struct stat file;
	int fd;

	begin(_i);
	write_pieces();
	write_behind_close(behind);
	ck_assert_int_eq(output_close(&output, &err), 0);
	ck_assert_int_eq(stat(path, &file), 0);
	ck_assert_int_eq(file.st_size, SIZE);
	fd = open(path, O_RDONLY);
	ck_assert_is_whole(mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, fd, 0));
	close(fd);
}
END_TEST

/* RLIMIT_FSIZE acts like a full disk. */
START_TEST(a_failure_of_any_write_is_the_outputs)
{
	const struct rlimit limit = { 2000000, 2000000 };

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	begin(_i);
	write_pieces();
	write_behind_close(behind);
	ck_assert_int_eq(output_close(&output, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "cannot write"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("write_behind");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_loop_test(all, all_bytes_arrive_in_order, 1, 4);
	tcase_add_loop_test(all, a_failure_of_any_write_is_the_outputs, 1, 4);
	suite_add_tcase(suite, all);
	return unit_run_apart(suite);
}
