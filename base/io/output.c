/* SPDX-License-Identifier: MIT */
/* Writes to a temporary file, and renames it when it is complete. */
#include "base/io/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/io/file_makers.h"

/*
 * Small enough to be still in the CPU's cache when write() copies it, and for the page cache to use
 * recently used pages: for 1 MiB it allocates large folios, which a virtual machine often must get
 * from its host first, at several times the cost of the copy.
 */
#define FLUSH_AT    ((size_t)64 * 1024)
#define BUFFER_SIZE (2 * FLUSH_AT)

/* Maximum bytes from the limit to the end of the line; a longer line is cut. */
#define LINE_REST_MAX ((size_t)1024 * 1024)

/* The temporary file that output_remove_unfinished() removes, or "". */
static char unfinished[PATH_MAX];
static bool tracked;

/* A complete file that waits to be renamed. */
struct waiting {
	struct waiting *next; /* owned: closed after it */
	char *path;           /* owned */
	char *temporary;      /* owned */
};

static bool held;
static struct waiting *waiting;      /* a signal handler may read it at any time */
static struct waiting *last_waiting; /* the list's last entry; undefined if the list is empty */

void output_track_unfinished(void)
{
	tracked = true;
}

static void remove_file(const char *path)
{
	file_make(FILE_REMOVE, path, NULL);
}

void output_remove_unfinished(void)
{
	if (file_make(FILE_LEAVE, NULL, NULL) == 0)
		return;
	if (unfinished[0])
		remove_file(unfinished);
	for (const struct waiting *file = waiting; file; file = file->next)
		remove_file(file->temporary);
}

static output_guard *guard_open, *guard_replace; /* may be NULL */

void output_ask(output_guard *open, output_guard *replace)
{
	guard_open = open;
	guard_replace = replace;
}

static int may_replace(const char *path, struct error *err)
{
	return guard_replace ? guard_replace(path, err) : 0;
}

void output_name_temporary(char *name, size_t room, const char *path, int pid, int i)
{
	char suffix[40];
	const char *base = base_name(path);
	size_t folder = (size_t)(base - path), left = strlen(base);
	size_t size = (size_t)snprintf(suffix, sizeof(suffix), ".%d.%d.tmp", pid, i);

	/* Cut the beginning of a long name: outputs and parts differ at the end. */
	while (left && (left + size > NAME_MAX || folder + left + size >= PATH_MAX ||
			(*base & 0xc0) == 0x80)) {
		base++;
		left--;
	}
	snprintf(name, room, "%.*s%s%s", (int)folder, path, base, suffix);
}

void output_remove_left(const char *path, int pid)
{
	size_t room = strlen(path) + 40;
	char *name = malloc(room);

	for (int i = 0; name && i < OUTPUT_NAME_TRIES; i++) {
		output_name_temporary(name, room, path, pid, i);
		if (may_replace(name, NULL) == 0)
			remove_file(name);
	}
	free(name);
}

/* Create a new file beside `path`. */
static int open_temporary(struct output *output, struct error *err)
{
	size_t room = strlen(output->path) + 40;

	output->temporary = malloc(room);
	if (!output->temporary)
		return error_set_system(err, ENOMEM, "%s: cannot create", output->path);
	for (int i = 0; i < OUTPUT_NAME_TRIES; i++) {
		output_name_temporary(output->temporary, room, output->path, (int)getpid(), i);
		output->fd = file_make(FILE_CREATE, output->temporary, output->path);
		if (output->fd >= 0 || errno != EEXIST)
			break;
	}
	if (output->fd < 0)
		return error_set_system(err, errno, "%s: cannot create", output->path);
	if (tracked && strlen(output->temporary) < sizeof(unfinished))
		strcpy(unfinished, output->temporary);
	return 0;
}

bool output_is_system_link(const char *path)
{
	struct stat status;

	return (starts_with(path, "/dev/") || starts_with(path, "/proc/")) &&
	       lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

static int open_fd(struct output *output, struct error *err)
{
	struct stat status = { .st_mode = S_IFREG };

	if (strcmp(output->path, "-") == 0)
		output->fd = dup(STDOUT_FILENO);
	/* The name of the temporary file may be short enough. */
	else if (stat(output->path, &status) < 0 && errno == ENAMETOOLONG)
		return error_set_system(err, errno, "%s: cannot create", output->path);
	else if (S_ISDIR(status.st_mode))
		return error_set(err, ERROR_SYSTEM, "%s: is a directory", output->path);
	else if (S_ISREG(status.st_mode) && !output_is_system_link(output->path))
		return open_temporary(output, err);
	else
		output->fd = open(output->path, O_WRONLY | O_CLOEXEC);
	if (output->fd < 0)
		return error_set_system(err, errno, "%s: cannot open for writing", output->path);
	return 0;
}

/* Returns 0, or the errno of write(). */
static int write_fd(void *context, const uint8_t *bytes, size_t size)
{
	struct output *output = context;

	while (size) {
		ssize_t done = write(output->fd, bytes, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return errno;
		__atomic_fetch_add(&output->file_bytes, (uint64_t)done, __ATOMIC_RELAXED);
		bytes += done;
		size -= (size_t)done;
	}
	return 0;
}

int output_write_now(struct output *output, const uint8_t *bytes, size_t size)
{
	return output->compressor ? compressor_put(output->compressor, bytes, size)
				  : write_fd(output, bytes, size);
}

/* ---- The limit ----------------------------------------------------------- */

static uint64_t default_limit(const struct output *output)
{
	struct statvfs space;
	uint64_t quarter;

	/* For pipes and devices, fstatvfs() returns nothing useful. */
	if (!output->temporary || fstatvfs(output->fd, &space) < 0)
		return OUTPUT_LIMIT_DEFAULT;
	quarter = (uint64_t)space.f_bavail * space.f_frsize / 4;
	return quarter && quarter < OUTPUT_LIMIT_DEFAULT ? quarter : OUTPUT_LIMIT_DEFAULT;
}

void output_limit(struct output *output, uint64_t most, bool lines)
{
	output->lines = lines;
	output->limit = most ? most : default_limit(output);
}

uint64_t output_size(const struct output *output)
{
	uint64_t bytes = output->elsewhere;

	if (output->compressor)
		return bytes + __atomic_load_n(&output->file_bytes, __ATOMIC_RELAXED);
	return bytes + output->written + output->used;
}

uint64_t output_room(const struct output *output)
{
	uint64_t bytes = output_size(output);

	if (!output->limit)
		return UINT64_MAX;
	return bytes < output->limit ? output->limit - bytes : 0;
}

/*
 * Returns the number of bytes of the text that still belong to the output: up to the end of
 * the line that reaches the limit.
 */
static size_t count_allowed(struct output *output, const char *text, size_t size)
{
	const char *end;
	uint64_t room;

	if (!output->lines)
		return size;
	if (output->cut)
		return 0;
	room = output_room(output);
	if (size <= room)
		return size;
	end = memchr(text + room, '\n', size - room);
	if (end || output->line_rest + size - room > LINE_REST_MAX)
		output->cut = true;
	output->line_rest += size - room;
	return end ? (size_t)(end + 1 - text) : size;
}

int output_compress(struct output *output, enum compression compression, struct error *err)
{
	if (output->compressor || compression == COMPRESSION_NONE)
		return 0;
	output->compressor = compressor_open(compression, write_fd, output);
	if (output->compressor)
		return 0;
	error_set_system(err, ENOMEM, "%s: cannot create", output->path);
	output_abandon(output);
	return -1;
}

int output_open(struct output *output, const char *path, struct error *err)
{
	*output = (struct output){ .fd = -1, .path = path };
	if (guard_open && guard_open(path, err) < 0)
		return -1;
	if (open_fd(output, err) < 0) {
		free(output->temporary);
		output->temporary = NULL;
		return -1;
	}
	output->terminal = isatty(output->fd);
	output->buffer = malloc(BUFFER_SIZE);
	if (output->buffer)
		return output_compress(output, compression_of_path(output->path), err);
	error_set_system(err, ENOMEM, "%s: cannot create", output->path);
	output_abandon(output);
	return -1;
}

static void record_failure(struct output *output, int errnum)
{
	if (!errnum)
		return;
	error_set_system(&output->err, errnum, "%s: cannot write",
			 strcmp(output->path, "-") == 0 ? "standard output" : output->path);
	if (errnum == EPIPE && !output->temporary && output->err.system == EPIPE)
		output->err.kind = ERROR_NO_READER;
}

static void write_all(struct output *output, const uint8_t *bytes, size_t size)
{
	if (!size || output_failed(output))
		return;
	record_failure(output, output->carrier
				       ? output->carrier->put(output->carrier->context, bytes, size)
				       : output_write_now(output, bytes, size));
	output->written += size;
}

void output_carry(struct output *output, struct output_carrier *carrier)
{
	if (output->carrier)
		record_failure(output, output->carrier->finish(output->carrier->context));
	output->carrier = carrier;
}

static void flush_bytes(struct output *output)
{
	write_all(output, output->buffer, output->used);
	output->used = 0;
}

void output_write(struct output *output, const void *bytes, size_t size)
{
	if (size >= FLUSH_AT) {
		flush_bytes(output);
		write_all(output, bytes, size);
		return;
	}
	if (output->used >= FLUSH_AT)
		flush_bytes(output);
	if (size)
		memcpy(output->buffer + output->used, bytes, size);
	output->used += size;
}

static void write_printable(struct output *output, const char *bytes, size_t size)
{
	char part[1024];

	while (size) {
		size_t length = size < sizeof(part) - 4 ? size : sizeof(part) - 4;

		output_write(output, part, printable_pass(&output->printable, bytes, length, part));
		bytes += length;
		size -= length;
	}
}

static ssize_t write_cookie(void *cookie, const char *bytes, size_t size)
{
	struct output *output = cookie;
	size_t allowed = count_allowed(output, bytes, size);

	if (output->terminal)
		write_printable(output, bytes, allowed);
	else
		output_write(output, bytes, allowed);
	return output_failed(output) ? 0 : (ssize_t)size;
}

FILE *output_stream(struct output *output)
{
	FILE *stream = fopencookie(output, "w", (cookie_io_functions_t){ .write = write_cookie });

	if (stream)
		setvbuf(stream, NULL, _IOFBF, FLUSH_AT);
	return stream;
}

FILE *output_open_text(struct output *output, const char *path, uint64_t most, struct error *err)
{
	FILE *text;

	if (output_open(output, path, err) < 0)
		return NULL;
	output_limit(output, most, true);
	text = output_stream(output);
	if (!text) {
		error_set_system(err, errno, "%s: cannot open a stream", path);
		output_abandon(output);
	}
	return text;
}

bool output_is_readable(const struct output *output)
{
	return output->temporary && !output->compressor;
}

/* ---- Renaming ------------------------------------------------------------ */

void output_hold(void)
{
	held = true;
}

/* Move the output's temporary file to the list.  Returns 0, or an errno. */
static int wait_for_rename(struct output *output)
{
	struct waiting *file = malloc(sizeof(*file));
	char *path = strdup(output->path);

	if (!file || !path) {
		free(file);
		free(path);
		return ENOMEM;
	}
	*file = (struct waiting){ .path = path, .temporary = output->temporary };
	if (waiting)
		last_waiting->next = file;
	else
		waiting = file;
	last_waiting = file;
	return 0;
}

/* Take the first file off the list. */
static void forget_first(void)
{
	struct waiting *first = waiting;

	waiting = first->next;
	free(first->path);
	free(first->temporary);
	free(first);
}

static int rename_temporary(const char *temporary, const char *path, struct error *err)
{
	if (may_replace(path, err) < 0)
		return -1;
	if (file_make(FILE_MOVE, temporary, path) == 0)
		return 0;
	return error_set_system(err, errno, "%s: cannot rename the temporary file to it", path);
}

int output_rename(struct error *err)
{
	for (; waiting; forget_first()) {
		if (rename_temporary(waiting->temporary, waiting->path, err) == 0)
			continue;
		output_drop();
		return -1;
	}
	return 0;
}

void output_drop(void)
{
	for (; waiting; forget_first())
		remove_file(waiting->temporary);
}

static void rename_output(struct output *output)
{
	if (held) {
		int errnum = wait_for_rename(output);

		if (errnum)
			error_set_system(&output->err, errnum,
					 "%s: cannot rename the temporary file to it",
					 output->path);
	} else if (rename_temporary(output->temporary, output->path, &output->err) == 0) {
		free(output->temporary);
	}
	if (output_failed(output))
		return;
	output->temporary = NULL;
	unfinished[0] = 0;
}

int output_close(struct output *output, struct error *err)
{
	flush_bytes(output);
	if (output->compressor && output_failed(output))
		compressor_abandon(output->compressor);
	else if (output->compressor)
		record_failure(output, compressor_close(output->compressor));
	output->compressor = NULL;
	if (close(output->fd) < 0 && errno != EINTR)
		record_failure(output, errno);
	output->fd = -1;
	if (!output_failed(output) && output->temporary)
		rename_output(output);
	if (output_failed(output) && err && err->kind == ERROR_NONE)
		*err = output->err;
	output_abandon(output);
	return output_failed(output) ? -1 : 0;
}

void output_abandon(struct output *output)
{
	if (!output->buffer && !output->temporary)
		return;
	compressor_abandon(output->compressor);
	output->compressor = NULL;
	if (output->fd >= 0)
		close(output->fd);
	output->fd = -1;
	if (output->temporary) {
		remove_file(output->temporary);
		unfinished[0] = 0;
	}
	free(output->temporary);
	output->temporary = NULL;
	free(output->buffer);
	output->buffer = NULL;
}
