/* SPDX-License-Identifier: MIT */
/* Hashes of inputs and options, and their stamps on outputs. */
#include "src/batch/batch.h"

#include <fcntl.h>
#include <fts.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The header's inline functions are enough: no library has to be loaded at each start. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/io/file_makers.h"
#include "config.h"
#include "reader/trace_reader.h"
#include "src/formats/output_format.h"

#define BLOCK ((size_t)1024 * 1024)
#define START ((size_t)4096)

/* ---- Hashing ------------------------------------------------------------- */

static int hash_file(XXH3_state_t *hash, const char *path, struct error *err)
{
	int fd = file_use_open(path);
	uint8_t *block;
	uint64_t size = 0;
	ssize_t got;

	if (fd < 0)
		return error_set_system(err, errno, "%s: cannot open", path);
	block = alloc_bytes(BLOCK);
	while ((got = read(fd, block, BLOCK)) > 0) {
		XXH3_128bits_update(hash, block, (size_t)got);
		size += (uint64_t)got;
	}
	free(block);
	if (got < 0)
		error_set_system(err, errno, "%s: cannot read", path);
	/* Hash the size, too: a byte may have moved to the next file. */
	XXH3_128bits_update(hash, &size, sizeof(size));
	close(fd);
	return got < 0 ? -1 : 0;
}

static int compare_entries(const FTSENT **left, const FTSENT **right)
{
	return strcmp((*left)->fts_name, (*right)->fts_name);
}

/* Hash the names and the content of all files below a directory, in the order of names. */
static int hash_directory(XXH3_state_t *hash, const char *path, struct error *err)
{
	char *paths[] = { (char *)path, NULL };
	FTS *tree = fts_open(paths, FTS_COMFOLLOW | FTS_PHYSICAL | FTS_NOCHDIR, compare_entries);
	int status = 0;
	FTSENT *entry;

	if (!tree)
		return error_set_system(err, errno, "%s: cannot open", path);
	while (status == 0 && (entry = fts_read(tree))) {
		if (entry->fts_info != FTS_F)
			continue;
		XXH3_128bits_update(hash, entry->fts_name, entry->fts_namelen + 1);
		status = hash_file(hash, entry->fts_path, err);
	}
	fts_close(tree);
	return status;
}

static int hash_input(XXH3_state_t *hash, const char *path, struct error *err)
{
	struct stat status;

	if (strcmp(path, "-") == 0)
		return 0;
	if (stat(path, &status) < 0)
		return error_set_system(err, errno, "%s: cannot open", path);
	/* Traces are beside JSON. */
	if ((!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)) || input_paths_is_bundle(path))
		return 0;
	if ((S_ISDIR(status.st_mode) ? hash_directory : hash_file)(hash, path, err) < 0)
		return -1;
	return 1;
}

static void print_hash(char text[33], XXH128_hash_t hash)
{
	snprintf(text, 33, "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
}

int stamp_make(struct stamp *stamp, const struct options *options, struct error *err)
{
	XXH3_state_t *hash = ALLOC_CHECKED(XXH3_createState());
	char inputs[33], words[33];
	int status = 1;

	XXH3_128bits_reset(hash);
	for (int i = 0; i < options->input_count && status == 1; i++)
		status = hash_input(hash, options->inputs[i], err);
	print_hash(inputs, XXH3_128bits_digest(hash));
	XXH3_128bits_reset(hash);
	for (int i = 0; i < options->word_count; i++)
		XXH3_128bits_update(hash, options->words[i], strlen(options->words[i]) + 1);
	print_hash(words, XXH3_128bits_digest(hash));
	snprintf(stamp->text, sizeof(stamp->text), "stamp 1 %.60s %s %s", PACKAGE_VERSION, inputs,
		 words);
	XXH3_freeState(hash);
	return status;
}

/* ---- Comparing ----------------------------------------------------------- */

/* The stamp is the first record after the trace's magic number and provider. */
static bool is_in_trace(const struct stamp *stamp, const char *path)
{
	struct error err = { 0 };
	struct trace_input input;
	struct byte_view start;
	bool found;

	if (trace_input_open(&input, path, &err) < 0)
		return false;
	found = trace_input_peek(&input, START, &start, &err) == 0 &&
		memmem(start.bytes, start.size, stamp->text, strlen(stamp->text));
	trace_input_close(&input);
	return found;
}

bool stamp_is_on(const struct stamp *stamp, const struct output_format *format, const char *path)
{
	char found[sizeof(stamp->text)];
	struct stat status;
	ssize_t size;

	if (stat(path, &status) < 0 || !S_ISREG(status.st_mode))
		return false;
	if (format->is_trace)
		return is_in_trace(stamp, path);
	size = getxattr(path, FILE_MARK_NAME, found, sizeof(found));
	return size == (ssize_t)strlen(stamp->text) &&
	       memcmp(found, stamp->text, (size_t)size) == 0;
}

int stamp_set_attribute(const struct stamp *stamp, const char *path)
{
	return file_make(FILE_MARK, path, stamp->text);
}
