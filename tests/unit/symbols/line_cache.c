/* SPDX-License-Identifier: MIT */
/* The cache of lines returns what it was given, and ignores damaged and unrelated files. */
#include "symbols/dso/line_cache.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tests/support/unit.h"

/* Of the stored form: an 8 byte checksum of all after it, at 8; the last two words of the header.
 */
#define SUM    8
#define HEADER (16 + sizeof(struct line_cache_source) + 16)

static char home[] = "/tmp/line-cache-XXXXXX", folder[64], path[128];
static int marker; /* an ELF handle is only compared with NULL */
static struct elf_file program, debug, shared;

static int remove_one(const char *name, const struct stat *status, int kind, struct FTW *level)
{
	(void)status, (void)kind, (void)level;
	return remove(name);
}

static void begin(void)
{
	ck_assert_ptr_nonnull(mkdtemp(home));
	setenv("XDG_CACHE_HOME", home, 1);
	snprintf(folder, sizeof(folder), "%s/ptrace2ftf", home);
	program = (struct elf_file){ .identity = { 1, 2 },
				     .changed_ns = 3,
				     .size = 4,
				     .elf = (Elf *)&marker,
				     .build_id = { 0xab },
				     .build_id_size = 20 };
	debug = program;
	debug.identity.inode = 5;
	shared = (struct elf_file){ 0 };
}

static void end(void)
{
	nftw(home, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	strcpy(home, "/tmp/line-cache-XXXXXX");
}

static struct line_cache opened(void)
{
	struct line_cache cache = { 0 };

	line_cache_open(&cache, &program, &debug, &shared, "lines");
	snprintf(path, sizeof(path), "%s/%s", folder, cache.name);
	return cache;
}

/* Fill and write a cache with an answer of each kind. */
static void save(void)
{
	struct line_cache cache = opened();
	struct line_row full = { "/src", "a.c", 7, 3, 0 }, bare = { .line = 9 }, none = { 0 };

	line_cache_add(&cache, LINE_OF_CODE, 0x1000, &full, 1);
	line_cache_add(&cache, LINE_OF_CALL, 0x1000, &none, 0);
	line_cache_add(&cache, LINE_OF_NAME, 0xffffffff81000000, &bare, 1);
	line_cache_add_range(&cache, INLINED_AT, 0x1000, 0x1010, 5);
	line_cache_add_range(&cache, INLINED_AT, 0x1010, 0x1018, 6);
	ck_assert_int_eq(line_cache_save(&cache), 0);
	line_cache_close(&cache);
}

/* Returns the number of answers, each of which must be right. */
static int answers(void)
{
	struct line_cache cache = opened();
	uint64_t value, begin, end;
	struct line_row row;
	int known = 0;

	if (line_cache_find(&cache, LINE_OF_CODE, 0x1000, &row, &value)) {
		known++;
		ck_assert_uint_eq(value, 1);
		ck_assert_str_eq(row.file, "/src/a.c");
		ck_assert_ptr_null(row.directory);
		ck_assert_uint_eq(row.line, 7);
		ck_assert_uint_eq(row.column, 3);
	}
	known += line_cache_find(&cache, LINE_OF_CALL, 0x1000, &row, &value) && !value;
	if (line_cache_find(&cache, LINE_OF_NAME, 0xffffffff81000000, &row, &value)) {
		known++;
		ck_assert_ptr_null(row.file);
		ck_assert_uint_eq(row.line, 9);
	}
	for (uint64_t at = 0xff0; at < 0x1020; at++)
		if (line_cache_find_range(&cache, INLINED_AT, at, &begin, &end, &value)) {
			known += at == 0x1000 || at == 0x1017;
			ck_assert_uint_eq(begin, at < 0x1010 ? 0x1000 : 0x1010);
			ck_assert_uint_eq(end, at < 0x1010 ? 0x1010 : 0x1018);
			ck_assert_uint_eq(value, at < 0x1010 ? 5 : 6);
			ck_assert(at >= begin && at < end);
		}
	ck_assert(!line_cache_find_range(&cache, INLINED_AT, UINT64_MAX, &begin, &end, &value));
	ck_assert(!line_cache_find_range(&cache, UNIT_AT, 0x1000, &begin, &end, &value));
	ck_assert(!line_cache_find(&cache, LINE_OF_CODE, 0x1001, &row, &value));
	line_cache_close(&cache);
	return known;
}

static size_t read_file(uint8_t bytes[4096])
{
	int fd = open(path, O_RDONLY);
	ssize_t size = read(fd, bytes, 4096);

	close(fd);
	ck_assert_int_gt(size, 0);
	return (size_t)size;
}

static void write_file(const uint8_t *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

START_TEST(answers_come_back)
{
	struct stat status;

	ck_assert_int_eq(answers(), 0);
	save();
	ck_assert_int_eq(answers(), 5);
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0600);
	ck_assert_int_eq(stat(folder, &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0700);
}
END_TEST

START_TEST(a_flipped_bit_or_a_missing_byte_makes_the_file_useless)
{
	uint8_t bytes[4096];
	size_t size;

	save();
	size = read_file(bytes);
	for (size_t i = 0; i < size * 8; i++) {
		bytes[i / 8] ^= (uint8_t)(1 << i % 8);
		write_file(bytes, size);
		ck_assert_int_eq(answers(), 0);
		bytes[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	for (size_t i = 0; i < size; i++) {
		write_file(bytes, i);
		ck_assert_int_eq(answers(), 0);
	}
	write_file(bytes, size);
	ck_assert_int_eq(answers(), 5);
}
END_TEST

/* Whoever can write the folder can also make a checksum. */
START_TEST(numbers_beyond_the_file_make_it_useless)
{
	uint8_t bytes[4096], saved[4096];
	size_t size;

	save();
	size = read_file(saved);
	for (size_t at = HEADER - 16; at <= size; at += 4) {
		uint64_t sum;

		memcpy(bytes, saved, size);
		if (at == HEADER - 12)
			bytes[at + 3] = 8; /* count * 32 overflows to the same size */
		else if (at + 4 <= size)
			memset(bytes + at, 0xfe, 4);
		else
			bytes[size - 1] = 'x'; /* the text's end */
		sum = XXH3_64bits(bytes + SUM + 8, size - SUM - 8);
		memcpy(bytes + SUM, &sum, sizeof(sum));
		write_file(bytes, size);
		struct line_cache cache = opened();
		struct line_row row = { 0 };
		uint64_t value, begin, end;

		for (int query = 0; query < LINE_QUERIES; query++) {
			if (line_cache_find(&cache, (enum line_query)query, 0x1000, &row, &value) &&
			    row.file)
				ck_assert_uint_lt(strlen(row.file), size);
			if (line_cache_find_range(&cache, (enum line_query)query, 0x1008, &begin,
						  &end, &value))
				ck_assert(begin <= 0x1008 && end > 0x1008);
		}
		/* Of the counts, the first answer's text, and the last text's end. */
		if (at < HEADER || at == HEADER + 12 || at + 4 > size)
			ck_assert_uint_eq(cache.count, 0);
		line_cache_close(&cache);
	}
}
END_TEST

START_TEST(another_file_has_other_answers)
{
	struct elf_file was = debug;

	save();
	debug.changed_ns++;
	ck_assert_int_eq(answers(), 0);
	debug = was;
	debug.size++;
	ck_assert_int_eq(answers(), 0);
	debug = was;
	debug.identity.inode++;
	ck_assert_int_eq(answers(), 0);
	debug = was;
	shared = program;
	ck_assert_int_eq(answers(), 0);
	shared = (struct elf_file){ 0 };
	program.build_id[19]++;
	ck_assert_int_eq(answers(), 0);
	program.build_id[19]--;
	ck_assert_int_eq(answers(), 5);
}
END_TEST

/* A file that is renamed to another's name, as a hash of both could be the same. */
START_TEST(the_name_of_the_file_proves_nothing)
{
	char other[sizeof(path)];

	save();
	strcpy(other, path);
	debug.size++;
	answers();
	ck_assert_int_eq(rename(other, path), 0);
	ck_assert_int_eq(answers(), 0);
}
END_TEST

START_TEST(files_without_identity_have_no_cache)
{
	program.build_id_size = 0;
	save();
	ck_assert_int_eq(answers(), 0);
	program.build_id_size = 20;
	program.changed_ns = 0;
	save();
	ck_assert_int_eq(answers(), 0);
	ck_assert_int_eq(access(folder, F_OK), -1);
}
END_TEST

START_TEST(a_file_that_changed_just_now_is_not_cached)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	debug.changed_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	save();
	ck_assert_int_eq(answers(), 0);
}
END_TEST

START_TEST(answers_of_two_processes_are_joined)
{
	struct line_cache one = opened(), other = opened();
	struct line_row row = { .file = "b.c", .line = 1 };
	uint64_t value;

	line_cache_add(&one, LINE_OF_CODE, 0x2000, &row, 1);
	line_cache_add(&other, LINE_OF_CODE, 0x3000, &row, 1);
	ck_assert_int_eq(line_cache_save(&one), 0);
	ck_assert_int_eq(line_cache_save(&other), 0);
	line_cache_close(&one);
	line_cache_close(&other);
	one = opened();
	ck_assert(line_cache_find(&one, LINE_OF_CODE, 0x2000, &row, &value));
	ck_assert_str_eq(row.file, "b.c");
	ck_assert(line_cache_find(&one, LINE_OF_CODE, 0x3000, &row, &value));
	ck_assert_str_eq(row.file, "b.c");
	line_cache_close(&one);
}
END_TEST

/* libdw shares the texts of files between directories. */
START_TEST(files_of_one_name_have_their_directories)
{
	struct line_cache cache = opened();
	struct line_row row = { .directory = "/one", .file = "a.c", .line = 1 };
	uint64_t value;

	line_cache_add(&cache, LINE_OF_CODE, 0x1000, &row, 1);
	row.directory = "/two";
	line_cache_add(&cache, LINE_OF_CODE, 0x2000, &row, 1);
	ck_assert(line_cache_find(&cache, LINE_OF_CODE, 0x1000, &row, &value));
	ck_assert_str_eq(row.file, "/one/a.c");
	ck_assert(line_cache_find(&cache, LINE_OF_CODE, 0x2000, &row, &value));
	ck_assert_str_eq(row.file, "/two/a.c");
	line_cache_close(&cache);
}
END_TEST

/* The memory of a run and the size of a file have limits; the latest answers stay. */
START_TEST(the_answers_have_a_limit)
{
	struct line_cache cache = opened();
	struct line_row row = { .file = "a.c" }, found;
	uint64_t value;

	for (uint64_t i = 0; i < 300000; i++)
		line_cache_add(&cache, LINE_OF_CODE, i, &row, 1);
	ck_assert(line_cache_find(&cache, LINE_OF_CODE, 50000, &found, &value));
	ck_assert(!line_cache_find(&cache, LINE_OF_CODE, 299999, &found, &value));
	ck_assert_int_eq(line_cache_save(&cache), 0);
	line_cache_close(&cache);
	cache = opened();
	for (uint64_t i = 1000000; i < 1150000; i++)
		line_cache_add(&cache, LINE_OF_CODE, i, &row, 1);
	ck_assert_int_eq(line_cache_save(&cache), 0);
	line_cache_close(&cache);
	cache = opened();
	ck_assert(line_cache_find(&cache, LINE_OF_CODE, 5000, &found, &value));
	ck_assert(line_cache_find(&cache, LINE_OF_CODE, 1149999, &found, &value));
	line_cache_close(&cache);
}
END_TEST

START_TEST(the_texts_have_a_limit)
{
	struct line_cache cache = opened();
	char text[NAME_LENGTH_MAX + 2];
	struct line_row row = { .file = text }, found;
	uint64_t value;

	memset(text, 'x', sizeof(text));
	text[NAME_LENGTH_MAX + 1] = 0;
	line_cache_add(&cache, LINE_OF_CODE, 0, &row, 1);
	ck_assert(!line_cache_find(&cache, LINE_OF_CODE, 0, &found, &value));
	for (uint64_t i = 0; i < 1000; i++) {
		char *other = alloc_text("%" PRIu64 "/%.30000s", i, text);

		row.file = other;
		line_cache_add(&cache, LINE_OF_CODE, i, &row, 1);
		cache.last_file = NULL;
		free(other);
	}
	ck_assert(line_cache_find(&cache, LINE_OF_CODE, 50, &found, &value));
	ck_assert_uint_eq(strlen(found.file), 30003);
	ck_assert(!line_cache_find(&cache, LINE_OF_CODE, 999, &found, &value));
	ck_assert_int_eq(line_cache_save(&cache), 0);
	line_cache_close(&cache);
}
END_TEST

/* Conversions that list no statements do not read them. */
START_TEST(other_contents_are_in_another_file)
{
	struct line_cache cache = { 0 };
	struct line_row row;
	uint64_t value;

	save();
	line_cache_open(&cache, &program, &debug, &shared, "statements");
	ck_assert(!line_cache_find(&cache, LINE_OF_CODE, 0x1000, &row, &value));
	line_cache_add(&cache, UNIT_STATEMENT, 1, &(struct line_row){ .line = 3 }, 0x1000);
	ck_assert_int_eq(line_cache_save(&cache), 0);
	line_cache_close(&cache);
	ck_assert_int_eq(answers(), 5);
}
END_TEST

START_TEST(what_others_may_write_is_not_read)
{
	char moved[sizeof(path)];

	save();
	chmod(path, 0666);
	ck_assert_int_eq(answers(), 0);
	chmod(path, 0600);
	chmod(folder, 0777);
	ck_assert_int_eq(answers(), 0);
	ck_assert_int_eq(cache_file_write("0123456789abcdef0123456789abcdef", "x", 1), -1);
	chmod(folder, 0700);
	ck_assert_int_eq(answers(), 5);
	snprintf(moved, sizeof(moved), "%s/moved", home);
	ck_assert_int_eq(rename(path, moved), 0);
	ck_assert_int_eq(symlink(moved, path), 0);
	ck_assert_int_eq(answers(), 0);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(answers(), 0);
}
END_TEST

START_TEST(nothing_is_made_in_the_folder_of_another_user)
{
	const uid_t nobody = 65534;

	if (chown(home, nobody, (gid_t)-1) != 0)
		return; /* only root has the folders of others */
	ck_assert_int_eq(cache_file_write("0123456789abcdef0123456789abcdef", "x", 1), -1);
	ck_assert_int_eq(access(folder, F_OK), -1);
}
END_TEST

START_TEST(the_oldest_files_go_first)
{
	const struct timespec times[] = { { 1000, 0 }, { 1000, 0 } };
	char old[sizeof(path)], younger[sizeof(path)];
	int fd;

	save();
	snprintf(old, sizeof(old), "%s/%032d", folder, 1);
	snprintf(younger, sizeof(younger), "%s/%032d", folder, 2);
	fd = open(old, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_eq(ftruncate(fd, 200 << 20), 0);
	futimens(fd, times);
	close(fd);
	fd = open(younger, O_WRONLY | O_CREAT, 0600);
	ck_assert_int_eq(ftruncate(fd, 200 << 20), 0);
	close(fd);
	save();
	ck_assert_int_eq(access(old, F_OK), -1);
	ck_assert_int_eq(access(younger, F_OK), 0);
	ck_assert_int_eq(answers(), 5);
}
END_TEST

START_TEST(names_of_other_files_are_refused)
{
	ck_assert_int_eq(cache_file_make(FILE_CACHE, "../0123456789abcdef0123456789abc"), -1);
	ck_assert_int_eq(cache_file_make(FILE_CACHE, "0123456789abcdef"), -1);
	ck_assert_int_eq(cache_file_make(FILE_CACHE_KEEP, NULL), -1);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		answers_come_back,
		a_flipped_bit_or_a_missing_byte_makes_the_file_useless,
		numbers_beyond_the_file_make_it_useless,
		another_file_has_other_answers,
		the_name_of_the_file_proves_nothing,
		files_without_identity_have_no_cache,
		a_file_that_changed_just_now_is_not_cached,
		answers_of_two_processes_are_joined,
		files_of_one_name_have_their_directories,
		the_answers_have_a_limit,
		the_texts_have_a_limit,
		other_contents_are_in_another_file,
		what_others_may_write_is_not_read,
		nothing_is_made_in_the_folder_of_another_user,
		the_oldest_files_go_first,
		names_of_other_files_are_refused,
	};
	Suite *suite = suite_create("line_cache");
	TCase *tcase = tcase_create("line_cache");

	tcase_add_checked_fixture(tcase, begin, end);
	for (size_t i = 0; i < COUNT_OF(tests); i++)
		tcase_add_test(tcase, tests[i]);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
