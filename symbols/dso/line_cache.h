/* SPDX-License-Identifier: MIT */
/*
 * Answers of one program's debug information, kept for later runs (base/io/cache_files.h).
 *
 * An answer is used for the very files that gave it: of the program, its debug file, and the file
 * with their shared parts, device, inode, size, time of the last change (which only the kernel
 * sets) and build ids are compared, and the version of this program and of libdw.  A file with a
 * wrong checksum or size is not used.  Programs without a build id have no cache.
 */
#pragma once

#include "base/io/cache_files.h"
#include "symbols/dwarf/inline_table.h"

/* Questions about an address of code, whose answer is a line or that there is none. */
enum line_query {
	LINE_OF_CODE, /* line_table_find() */
	LINE_OF_CALL, /* line of the outermost inlined call there */
	LINE_OF_NAME, /* line of the name of the function there */
	LINE_QUERIES,
};

/* Zeroed memory is a cache that is off: it has no answers and takes none. */
struct line_cache {
	/* The files that the answers are of; compared by bytes. */
	struct line_cache_source {
		struct {
			struct file_identity identity;
			uint64_t size, changed_ns;
		} files[3]; /* the program, its debug file, the shared file; or zeros */
		uint8_t build_id[ELF_BUILD_ID_MAX];
		char versions[64];
	} source;
	char name[CACHE_FILE_NAME + 1]; /* name of the file; "": off */
	bool frozen;                    /* the file is left as it is */
	uint8_t *bytes;                 /* owned: the file, which is sound; NULL: none */
	size_t count;                   /* answers in it */
	/* The name of a file of added answers. */
	struct stored_text {
		char *text; /* owned */
		uint32_t offset;
		UT_hash_handle hh;
	} * texts;        /* owned: hash */
	size_t text_size; /* bytes of all texts, each with a NUL */
	/* An answer that the file lacks. */
	struct line_answer {
		struct stored_answer {
			uint64_t vaddr;
			uint32_t query; /* enum line_query */
			uint32_t found;
			uint32_t file; /* offset of its text, or NO_FILE */
			uint32_t line, column;
			uint32_t zero;
		} stored;
		const char *file;  /* may be NULL */
		UT_hash_handle hh; /* by the address and the query */
	} * added;                 /* owned: hash */
	/* The file of the last added answer: most have the same one. */
	const char *last_directory, *last_file; /* names in debug information, borrowed */
	const struct stored_text *last;
};

/*
 * Read the cache of a program: its file, its debug file and the file with shared parts; closed if
 * there are none.  Without a build id, it stays off.
 */
void line_cache_open(struct line_cache *cache, const struct elf_file *program,
		     const struct elf_file *debug, const struct elf_file *shared);

/*
 * Returns 1 and fills *row, borrowed until line_cache_close(), without a directory and a
 * discriminator; 0: there is no line; -1: the answer is unknown.
 */
int line_cache_find(const struct line_cache *cache, enum line_query query, uint64_t vaddr,
		    struct line_row *row);

/* Add an answer, which is copied; `row` is NULL if there is no line. */
void line_cache_add(struct line_cache *cache, enum line_query query, uint64_t vaddr,
		    const struct line_row *row);

/*
 * Write the added answers. Other processes may have changed the file: keep its answers, too.
 * Returns 0; -1 with errno.
 */
int line_cache_save(struct line_cache *cache);

void line_cache_close(struct line_cache *cache);
