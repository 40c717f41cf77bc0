/* SPDX-License-Identifier: MIT */
/*
 * A file being written: large writes, sticky errors, all or nothing.
 *
 * Bytes go to a temporary file beside the destination, which output_close() renames to the
 * destination when it succeeds.  An existing file that is not regular (a device, a fifo), a link in
 * /dev or /proc, and "-" for standard output, are written directly.  If the path ends in .gz or
 * .zst, the bytes are compressed.  After an error, writing does nothing; output_close() returns the
 * error.  The temporary file is removed when the output is abandoned, and also when a lack of
 * memory or a signal ends the program, if the program watches them (interrupt.h).
 *
 * A run may fail after an output is complete: output_hold() makes complete outputs keep
 * their temporary names until output_rename() renames them at the end of the run.
 */
#pragma once

#include "base/printable.h"

/* ---- Compression, in the caller's thread ----------------------------------- */

enum compression {
	COMPRESSION_NONE, /* needs no compressor */
	COMPRESSION_GZIP, /* RFC 1952, by zlib */
	COMPRESSION_ZSTD, /* RFC 8878, by libzstd */
};

/* Returns the compression for the suffix of a file's name, .gz or .zst. */
enum compression compression_of_path(const char *path);

/* Write at most 64 KiB of compressed bytes.  Returns 0, or an errno: then it is not called again.
 */
typedef int compressor_write_fn(void *context, const uint8_t *bytes, size_t size);

struct compressor;

/*
 * Start a compressor (COMPRESSION_GZIP or _ZSTD).  `context` is borrowed until the compressor is
 * closed.  Returns the compressor; NULL if there is no memory.
 */
struct compressor *compressor_open(enum compression compression, compressor_write_fn *write,
				   void *context);

/* Add bytes to the stream.  Returns 0, or the errno of a failed write. */
int compressor_put(struct compressor *compressor, const uint8_t *bytes, size_t size);

/* Compress the rest, end the stream, release.  Returns 0, or the errno of a failed write. */
int compressor_close(struct compressor *compressor);

/* Stop and release; bytes that are not yet written are lost.  NULL is allowed. */
void compressor_abandon(struct compressor *compressor);

/* ---- Outputs --------------------------------------------------------------- */

/* A writer of an output's bytes, in order, perhaps in another thread (write_behind_open()). */
struct output_carrier {
	/*
	 * Write bytes, or a copy of them later, by output_write_now().  Returns 0, or the errno of
	 * a failure, perhaps for earlier bytes.
	 */
	int (*put)(void *context, const uint8_t *bytes, size_t size);
	/* Wait until all is written.  Returns the same. */
	int (*finish)(void *context);
	void *context; /* borrowed */
};

struct output {
	int fd;
	struct compressor *compressor;  /* owned; NULL: not compressed */
	struct output_carrier *carrier; /* borrowed; NULL: the caller's thread writes */
	const char *path;               /* borrowed: as the user named it */
	char *temporary;                /* owned; NULL: written directly */
	uint8_t *buffer;                /* owned */
	size_t used;                    /* bytes in the buffer */
	uint64_t written;               /* bytes handed on, before compression */
	uint64_t file_bytes;            /* handed to the system; also by a worker */
	uint64_t elsewhere;             /* bytes that wait in other files: they count, too */
	uint64_t limit;                 /* limit set by output_limit(); 0: unlimited */
	size_t line_rest;               /* bytes of a line after the limit */
	bool lines;                     /* the limit cuts text */
	bool cut;                       /* something was left out at the limit */
	bool terminal;                  /* controls in text become '?': printable.h */
	struct printable printable;
	struct error err; /* the first failure */
};

/*
 * Returns whether `path` is a symbolic link in /dev or /proc.  It leads to an open file, or belongs
 * to the system: output goes through it; other links are replaced.
 */
bool output_is_system_link(const char *path);

/*
 * Open `path` (borrowed until close) for writing.
 * Returns 0; -1 with err filled, and then nothing was created.
 */
int output_open(struct output *output, const char *path, struct error *err);

/*
 * Compress an output to which nothing was written, unless its name has chosen a compression.
 * Returns 0; -1 with err filled, and then it is abandoned.
 */
int output_compress(struct output *output, enum compression compression, struct error *err);

/* The default limit: this, or a quarter of the free space of the file system if that is less. */
#define OUTPUT_LIMIT_DEFAULT (UINT64_C(64) << 30)

/*
 * Limit the bytes of the file: `most`, 0: the default.  With `lines`, text of output_stream() ends
 * with the line that reaches the limit; other writers must check output_full().
 */
void output_limit(struct output *output, uint64_t most, bool lines);

/*
 * Returns the bytes of the file up to now, including buffered ones elsewhere; of a compressed file,
 * the written bytes.
 */
uint64_t output_size(const struct output *output);

/* Returns the number of bytes up to the limit; 0: it was reached.  UINT64_MAX: no limit. */
uint64_t output_room(const struct output *output);

static inline bool output_full(const struct output *output)
{
	return !output_room(output);
}

/* From now on keep the name of the temporary file for output_remove_unfinished(). */
void output_track_unfinished(void);

/* Remove all temporary files, also of complete outputs.  Safe in a signal handler. */
void output_remove_unfinished(void);

/* A function that can refuse a path.  Returns 0; -1 with err filled. */
typedef int output_guard(const char *path, struct error *err);

/*
 * From now on call `open` before a file is opened, and `replace` before one is replaced or removed.
 * For main(): libraries set no guards.
 */
void output_ask(output_guard *open, output_guard *replace);

/* Write any number of bytes. */
void output_write(struct output *output, const void *bytes, size_t size);

/*
 * Returns a stream of text that writes to the output, to be closed before it;
 * NULL if it cannot be made.  On a terminal, controls in the text show as '?'.
 */
FILE *output_stream(struct output *output);

/*
 * Open `path` for text, as output_open(), with the limit `most` of output_limit().
 * Returns the stream, as output_stream(); NULL with err filled, and then nothing was created.
 */
FILE *output_open_text(struct output *output, const char *path, uint64_t most, struct error *err);

/*
 * Set the carrier of all bytes from now on, borrowed; may be NULL.  The
 * previous carrier's bytes are written first.
 */
void output_carry(struct output *output, struct output_carrier *carrier);

struct workers;
struct write_behind;

/*
 * Have worker threads write the output's bytes; both arguments are borrowed until the close.  An
 * idle worker writes one buffer while the caller fills another; if all are busy, the caller writes.
 * A failed write is the output's failure.  Returns the carrier, owned by the caller.
 */
struct write_behind *write_behind_open(struct output *output, struct workers *workers);

/* Write the rest; the caller writes from now on.  NULL is allowed. */
void write_behind_close(struct write_behind *behind);

/*
 * For a carrier: compress and write bytes immediately, in one thread at a time.  Returns 0, or the
 * errno of a failure.
 */
int output_write_now(struct output *output, const uint8_t *bytes, size_t size);

/* Returns whether a write failed. */
static inline bool output_failed(const struct output *output)
{
	return output->err.kind != ERROR_NONE;
}

/* Returns whether the bytes go unchanged into a temporary file. */
bool output_is_readable(const struct output *output);

/*
 * Write the rest and give the file its final name.
 * Returns 0; -1 with err filled: the first failure, and no file is left.
 */
int output_close(struct output *output, struct error *err);

/*
 * From now on output_close() leaves files under their temporary names.  One run of
 * a program at a time, by one thread.
 */
void output_hold(void);

/*
 * Give the waiting files their final names, in the order in which they were closed.
 * Returns 0; -1 with err filled, and the others are removed.
 */
int output_rename(struct error *err);

/* Remove the files that wait. */
void output_drop(void);

/* Attempts to find a free name for a temporary file. */
#define OUTPUT_NAME_TRIES 100

/*
 * Make the name of a temporary file beside `path`: for process `pid` and attempt `i`.  It fits into
 * NAME_MAX if its path fits.
 */
void output_name_temporary(char *name, size_t room, const char *path, int pid, int i);

/* Remove the temporary file that process `pid`, which was killed, may have left beside `path`. */
void output_remove_left(const char *path, int pid);

/* Give up: leave no file.  Idempotent, also after output_close() and on zeroed memory. */
void output_abandon(struct output *output);
