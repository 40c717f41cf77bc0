/* SPDX-License-Identifier: MIT */
/* Finds and maps the files of an input. */
#include "decoder/perf_data/perf_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/file_use.h"
#include "base/io/temp_file.h"
#include "base/pages.h"

static void add_path(struct perf_input *input, struct arena *arena, const char *folder,
		     const char *name)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s%s%s", folder ? folder : "", folder ? "/" : "",
			      name);

	if (length < 0 || length >= PATH_MAX)
		return;
	*ARRAY_ADD(input->paths, input->count, input->room) =
		arena_text(arena, path, (size_t)length);
}

/* data.0, data.1, ..., data.10 */
static int is_more_data(const struct dirent *entry)
{
	return starts_with(entry->d_name, "data.") && entry->d_name[5] &&
	       strspn(entry->d_name + 5, "0123456789") == strlen(entry->d_name + 5);
}

bool perf_input_is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Set the error of a file that cannot be opened. sudo perf record leaves it to root, mode 600. */
static int refuse_path(const char *path, struct error *err)
{
	struct stat status;
	int cause = errno;

	if (cause == EACCES && stat(path, &status) == 0 && status.st_uid == 0 && geteuid() != 0)
		return error_set(
			err, ERROR_SYSTEM,
			"%s: cannot open: %s; make it yours if it was recorded with sudo: sudo "
			"chown -R $USER FILE",
			path, strerror(cause));
	return error_set_system(err, cause, "%s: cannot open", path);
}

int perf_input_list(struct perf_input *input, const char *path, struct arena *arena,
		    struct error *err)
{
	struct stat status;
	struct dirent **entries;
	int count;

	*input = (struct perf_input){ 0 };
	if (strcmp(path, "-") == 0 || stat(path, &status) < 0 || !S_ISDIR(status.st_mode)) {
		add_path(input, arena, NULL, path);
		return input->count ? 0 : error_set_system(err, ENAMETOOLONG, "%s", path);
	}
	if (access(path, R_OK | X_OK) < 0)
		return refuse_path(path, err);
	add_path(input, arena, path, "data");
	if (!input->count || !perf_input_is_file(input->paths[0]))
		return error_set(err, ERROR_UNSUPPORTED,
				 "%s: is a directory, and perf record did not make it (there is "
				 "no file 'data' in it); name the files in it",
				 path);
	input->folder = arena_text(arena, path, strlen(path));
	count = scandir(path, &entries, is_more_data, versionsort);
	if (count >= 0) {
		for (int i = 0; i < count; i++) {
			add_path(input, arena, path, entries[i]->d_name);
			free(entries[i]);
		}
		free(entries);
	}
	return 0;
}

static int map_stream(int fd, struct byte_view *bytes, struct error *err)
{
	struct temp_file file;
	int status = temp_file_open(&file, err);

	if (status == 0)
		status = temp_file_drain(&file, fd, err);
	if (status == 0)
		bytes->bytes = temp_file_map(&file, err);
	bytes->size = file.size;
	temp_file_close(&file);
	return bytes->bytes ? 0 : -1;
}

static int map_descriptor(int fd, struct byte_view *bytes, struct error *err)
{
	struct stat status;
	void *mapped;

	if (fstat(fd, &status) < 0)
		return error_set_system(err, errno, "cannot read");
	if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode))
		return map_stream(fd, bytes, err);
	if (!S_ISREG(status.st_mode))
		return error_set(err, ERROR_FORMAT, "is not a regular file");
	if (status.st_size == 0)
		return error_set(err, ERROR_FORMAT, "is empty; record again");
	mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (mapped == MAP_FAILED)
		return error_set_system(err, errno, "cannot map");
	/* perf writes no sparse files. Holes are hostile: reading them would allocate memory. */
	if (status.st_blocks * 512 < status.st_size / 2 &&
	    pages_map_holes(fd, mapped, (size_t)status.st_size) < 0) {
		error_set_system(err, errno, "cannot map");
		munmap(mapped, (size_t)status.st_size);
		return -1;
	}
	*bytes = (struct byte_view){ mapped, (size_t)status.st_size };
	return 0;
}

int perf_input_map(const char *path, struct byte_view *bytes, struct error *err)
{
	bool standard = strcmp(path, "-") == 0;
	int fd = file_use_open(path);
	int status;

	*bytes = (struct byte_view){ 0 };
	if (fd < 0)
		return refuse_path(path, err);
	status = map_descriptor(fd, bytes, err);
	close(fd);
	return status < 0 ? error_prefix(err, "%s", standard ? "standard input" : path) : 0;
}
