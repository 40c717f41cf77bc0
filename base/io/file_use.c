/* SPDX-License-Identifier: MIT */
/* Lists of the files that are read and of the paths that are written. */
#include "base/io/file_use.h"

#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io/output_path.h"
#include "base/tables/hash.h"

/* A recording that is a directory: DIR/data, DIR/kcore_dir/kcore. */
#define TREE_LEVELS 2
/* perf makes a file for each CPU; files above the limit are checked when they are opened. */
#define TREE_FILES 10000

/* A file, or a path of an output; uthash's key is all bytes. */
struct read_file {
	struct file_id {
		uint64_t dev, ino;
	} id;
	char *path; /* owned */
	UT_hash_handle hh;
};

struct written_key {
	char *text;       /* owned */
	const char *path; /* borrowed: its address identifies the output */
	const char *what; /* borrowed */
	bool direct;      /* the file itself is written, not replaced */
	UT_hash_handle hh;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct read_file *read_files; /* by id */
static struct written_key *written;  /* by text */
static struct error shortage;        /* the error of file_use_shortage() */

/* ---- Files that are read ------------------------------------------------- */

static struct read_file *find_read(const struct stat *status)
{
	const struct file_id id = { status->st_dev, status->st_ino };
	struct read_file *found;

	HASH_FIND(hh, read_files, &id, sizeof(id), found);
	return found;
}

static void add_read(const struct stat *status, const char *path)
{
	struct read_file *added;
	HOLD_LOCK(&lock);

	if (!S_ISREG(status->st_mode) || find_read(status))
		return;
	added = alloc_zeroed(1, sizeof(*added));
	added->id = (struct file_id){ status->st_dev, status->st_ino };
	added->path = alloc_text("%s", path);
	HASH_ADD(hh, read_files, id, sizeof(added->id), added);
}

bool file_use_is_shortage(int errnum)
{
	return errnum == EMFILE || errnum == ENFILE || errnum == ENOMEM;
}

/* Returns `fd`; preserves errno. */
static int note_shortage(int fd, const char *path)
{
	int errnum = errno;
	HOLD_LOCK(&lock);

	if (fd < 0 && file_use_is_shortage(errnum))
		error_set_system(&shortage, errnum, "%s: cannot open", path);
	errno = errnum;
	return fd;
}

static int note_descriptor(int fd, const char *path)
{
	struct stat status;

	if (fd >= 0 && fstat(fd, &status) == 0)
		add_read(&status, path);
	return note_shortage(fd, path);
}

int file_use_open(const char *path)
{
	if (strcmp(path, "-") == 0)
		return note_descriptor(dup(STDIN_FILENO), "standard input");
	return note_descriptor(open(path, O_RDONLY | O_CLOEXEC), path);
}

int file_use_open_at_once(const char *path)
{
	return note_descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), path);
}

FILE *file_use_open_stream(const char *path)
{
	int fd = file_use_open(path);
	FILE *stream = fd < 0 ? NULL : ALLOC_CHECKED(fdopen(fd, "r"));

	if (fd >= 0 && !stream)
		close(fd);
	return stream;
}

int file_use_shortage(struct error *err)
{
	HOLD_LOCK(&lock);

	return shortage.kind == ERROR_NONE ? 0 : error_set(err, ERROR_SYSTEM, "%s", shortage.text);
}

static void read_tree(const char *path)
{
	char *paths[] = { (char *)path, NULL };
	FTS *tree = ALLOC_CHECKED(fts_open(paths, FTS_COMFOLLOW | FTS_LOGICAL | FTS_NOCHDIR, NULL));
	FTSENT *entry;

	errno = 0;
	for (int i = 0; tree && i < TREE_FILES && (entry = fts_read(tree)); i++) {
		if (entry->fts_info == FTS_F)
			add_read(entry->fts_statp, entry->fts_path);
		else if (entry->fts_info == FTS_D && entry->fts_level >= TREE_LEVELS)
			fts_set(tree, entry, FTS_SKIP);
	}
	alloc_check();
	if (tree)
		fts_close(tree);
}

void file_use_read(const char *path)
{
	bool standard = strcmp(path, "-") == 0;
	struct stat status;

	if ((standard ? fstat(STDIN_FILENO, &status) : stat(path, &status)) < 0)
		return;
	if (S_ISDIR(status.st_mode))
		read_tree(path);
	else
		add_read(&status, standard ? "standard input" : path);
}

void close_from(int first)
{
	if (syscall(SYS_close_range, (unsigned)first, ~0U, 0) != 0) {
		DIR *folder = ALLOC_CHECKED(opendir("/proc/self/fd"));
		const struct dirent *entry;

		/* Before Linux 5.9. */
		while (folder && (entry = readdir(folder))) {
			int fd = atoi(entry->d_name); /* 0: "." and ".." */

			if (fd >= first && fd != dirfd(folder))
				close(fd);
		}
		if (folder)
			closedir(folder);
	}
}

/* ---- Files that are written --------------------------------------------- */

/* Append the components of a path, without empty ones and ".". */
static void add_components(char *text, const char *path)
{
	while (*path) {
		size_t length = strcspn(path, "/");

		if (length && !(length == 1 && path[0] == '.')) {
			strcat(text, "/");
			strncat(text, path, length);
		}
		path += length + strspn(path + length, "/");
	}
}

/*
 * Returns the identity of an output's path, owned: device and inode of its directory, or
 * of the lowest ancestor that exists, and the rest of the path.
 */
static char *name_new_file(const char *path)
{
	char *folder = alloc_text("%s", path);
	char *text = alloc_zeroed(1, strlen(path) + 64);
	char *slash = strrchr(folder, '/');
	struct stat status = { 0 };
	size_t rest = 0;

	for (;;) {
		rest = slash ? (size_t)(slash - folder) + 1 : 0;
		if (slash)
			*slash = '\0';
		if (stat(!slash ? "." : *folder ? folder : "/", &status) == 0 || !slash)
			break;
		slash = strrchr(folder, '/');
	}
	sprintf(text, "new %" PRIu64 ":%" PRIu64 " ", (uint64_t)status.st_dev,
		(uint64_t)status.st_ino);
	add_components(text, path + rest);
	free(folder);
	return text;
}

/* Takes over `key.text`.  Outputs that replace different hard links of a file do not conflict. */
static int add_written(struct written_key key, struct error *err)
{
	struct written_key *other, *added;
	int status = 0;

	HASH_FIND_STR(written, key.text, other);
	if (!other) {
		added = alloc_zeroed(1, sizeof(*added));
		*added = key;
		HASH_ADD_KEYPTR(hh, written, added->text, strlen(added->text), added);
		return 0;
	}
	if (other->path != key.path &&
	    (key.direct || other->direct || starts_with(key.text, "new ")))
		status = error_set(err, ERROR_SYSTEM, "%s and %s would both be written to %s",
				   other->what, key.what,
				   strcmp(key.path, "-") == 0 ? other->path : key.path);
	free(key.text);
	return status;
}

/* Returns whether `path` leads to a regular file. */
static bool find_file(const char *path, struct stat *status)
{
	int found = strcmp(path, "-") == 0 ? fstat(STDOUT_FILENO, status) : stat(path, status);

	return found == 0 && S_ISREG(status->st_mode);
}

int file_use_check(const char *path, struct error *err)
{
	const struct read_file *input;
	struct stat status;
	HOLD_LOCK(&lock);

	input = find_file(path, &status) ? find_read(&status) : NULL;
	return input ? error_set(err, ERROR_SYSTEM, "cannot write to %s: it is the input %s", path,
				 input->path)
		     : 0;
}

int file_use_write(const char *path, const char *what, enum file_use_way way, struct error *err)
{
	bool standard = strcmp(path, "-") == 0;
	struct written_key key = { .path = path,
				   .what = what,
				   .direct = standard || way == FILE_APPENDED };
	struct stat file;
	bool exists = find_file(path, &file);

	if (file_use_check(path, err) < 0)
		return -1;
	/* Devices and pipes, and a directory, which cannot be replaced. */
	if (!exists && (standard || stat(path, &file) == 0))
		return 0;
	HOLD_LOCK(&lock);
	key.text = standard ? NULL : name_new_file(path);
	if (key.text && add_written(key, err) < 0)
		return -1;
	if (!exists)
		return 0;
	key.text = alloc_text("file %" PRIu64 ":%" PRIu64, (uint64_t)file.st_dev,
			      (uint64_t)file.st_ino);
	return add_written(key, err);
}

int file_use_open_output(const char *path, struct error *err)
{
	return file_use_write(path, "another output", FILE_REPLACED, err);
}
