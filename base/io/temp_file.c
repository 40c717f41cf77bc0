/* SPDX-License-Identifier: MIT */
/* Files without a name. */
#include "base/io/temp_file.h"

#include <assert.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/io/file_makers.h"

#define CHUNK ((size_t)256 * 1024)

const char *temp_file_folder(void)
{
	const char *folder = getenv("TMPDIR");

	if (folder && *folder)
		return folder;
	return access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
}

/* ---- The budget ---------------------------------------------------------- */

static struct {
	uint64_t most, used;
	bool chosen;      /* most is not the default */
	bool spent, full; /* for input; for all */
} budget;

void temp_files_limit(uint64_t most)
{
	budget.chosen = most != 0;
	__atomic_store_n(&budget.most, most, __ATOMIC_RELAXED);
}

uint64_t temp_files_most(void)
{
	uint64_t most = __atomic_load_n(&budget.most, __ATOMIC_RELAXED), quarter;
	struct statvfs space;

	if (most)
		return most;
	most = TEMP_FILES_DEFAULT;
	if (statvfs(temp_file_folder(), &space) == 0) {
		quarter = (uint64_t)space.f_bavail * space.f_frsize / 4;
		most = quarter ? MIN(most, quarter) : most;
	}
	__atomic_store_n(&budget.most, most, __ATOMIC_RELAXED);
	return most;
}

bool temp_files_full(void)
{
	return __atomic_load_n(&budget.full, __ATOMIC_RELAXED);
}

uint64_t temp_files_room(void)
{
	uint64_t used = __atomic_load_n(&budget.used, __ATOMIC_RELAXED), most = temp_files_most();

	return used < most && !temp_files_full() ? most - used : 0;
}

void temp_files_take(uint64_t bytes)
{
	uint64_t used = __atomic_add_fetch(&budget.used, bytes, __ATOMIC_RELAXED);

	if (used <= temp_files_most())
		return;
	__atomic_store_n(&budget.full, true, __ATOMIC_RELAXED);
	__atomic_store_n(&budget.spent, true, __ATOMIC_RELAXED);
}

void temp_files_give(uint64_t bytes)
{
	__atomic_sub_fetch(&budget.used, bytes, __ATOMIC_RELAXED);
}

void temp_files_keep_rest(unsigned parts)
{
	uint64_t used = __atomic_load_n(&budget.used, __ATOMIC_RELAXED);

	if (used && used > temp_files_most() / parts)
		__atomic_store_n(&budget.spent, true, __ATOMIC_RELAXED);
}

bool temp_files_spent(void)
{
	return __atomic_load_n(&budget.spent, __ATOMIC_RELAXED);
}

/* ---- Files --------------------------------------------------------------- */

int temp_file_open(struct temp_file *file, struct error *err)
{
	const char *folder = temp_file_folder();

	*file = (struct temp_file){ .fd = file_make(FILE_CREATE_NAMELESS, folder, NULL) };
	if (file->fd < 0)
		return error_set_system(err, errno, "%s: cannot make a temporary file", folder);
	file->open = 1;
	return 0;
}

int temp_file_write(struct temp_file *file, const void *bytes, size_t size, struct error *err)
{
	const uint8_t *at = bytes;

	assert(file->open);
	if (budget.chosen && size > temp_files_room())
		return error_set(err, ERROR_LIMIT,
				 "cannot keep a copy in %s: its temporary files may have %" PRIu64
				 " bytes; give --max-temp=SIZE, or unpack it beforehand",
				 temp_file_folder(), temp_files_most());
	if (budget.chosen)
		temp_files_take(size);
	while (size) {
		ssize_t written = write(file->fd, at, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return error_set_system(err, errno, "%s: cannot write a temporary file",
						temp_file_folder());
		at += written;
		size -= (size_t)written;
		file->size += (uint64_t)written;
	}
	return 0;
}

int temp_file_drain(struct temp_file *file, int fd, struct error *err)
{
	static uint8_t chunk[CHUNK];
	ssize_t count;

	for (;;) {
		count = read(fd, chunk, sizeof(chunk));
		if (count == 0)
			return 0;
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return error_set_system(err, errno, "cannot read");
		if (temp_file_write(file, chunk, (size_t)count, err) < 0)
			return -1;
	}
}

const uint8_t *temp_file_map(const struct temp_file *file, struct error *err)
{
	void *bytes;

	assert(file->open);
	if (!file->size) {
		error_set(err, ERROR_FORMAT, "is empty");
		return NULL;
	}
	bytes = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, file->fd, 0);
	if (bytes != MAP_FAILED)
		return bytes;
	error_set_system(err, errno, "cannot map a temporary file");
	return NULL;
}

int temp_file_become_output(struct temp_file *file, struct error *err)
{
	int status = 0;

	assert(file->open);
	if (dup2(file->fd, STDOUT_FILENO) < 0)
		status = error_set_system(err, errno, "cannot redirect standard output");
	temp_file_close(file);
	return status;
}

void temp_file_close(struct temp_file *file)
{
	if (file->open)
		close(file->fd);
	*file = (struct temp_file){ .fd = -1 };
}
