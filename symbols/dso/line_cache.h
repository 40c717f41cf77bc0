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
#include "base/tables/name.h"
#include "symbols/dwarf/inline_table.h"

/*
 * Questions, each with the key and the value of its answer. An address is virtual; the value of a
 * line is whether there is one.
 */
enum line_query {
	LINE_OF_CODE,     /* address: line_table_find() */
	LINE_OF_CALL,     /* address: line of the outermost inlined call there */
	LINE_OF_NAME,     /* address: line of the name of the function there */
	INLINED_AT,       /* range: the innermost inlined call; 0: none; NO_FUNCTION */
	INLINED_CALL,     /* call: its line; the enclosing call, or 0 */
	INLINED_NAME,     /* call: the function's name, stored as that of a file */
	INLINED_DECLARED, /* call: the function's line */
	UNIT_AT,          /* range: the unit; 0: none */
	UNIT_STATEMENT,   /* UNIT_KEY: the number of statements; UNIT_KEY + N: line and address of
			     the Nth one */
	LINE_QUERIES,
};

/* Value of INLINED_AT: no function is known there. */
#define NO_FUNCTION UINT64_MAX

/* Key of a unit, with room for the numbers of more statements than a file has. */
#define UNIT_KEY(unit) ((unit) << 24)

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
		char contents[16]; /* answers of other contents are in another file */
	} source;
	char name[CACHE_FILE_NAME + 1]; /* name of the file; "": off */
	bool frozen;                    /* the file is left as it is */
	uint8_t *bytes;                 /* owned: the file, which is sound; NULL: none */
	size_t count;                   /* answers in it */
	struct stored_answer {
		uint64_t key;
		uint32_t query; /* enum line_query */
		uint32_t text;  /* offset of the file's name, or NO_TEXT */
		uint64_t value;
		uint32_t line, column;
	} * added; /* owned: answers that the file lacks; their `text` is a name's id */
	size_t added_count, added_room;
	struct id_index index;   /* numbers of added answers + 1, by key and query */
	struct name_table texts; /* names of files and functions of added answers */
	size_t text_size;        /* bytes of `texts` in a file */
	/* The file of the last added answer: most have the same one. */
	const char *last_directory, *last_file; /* names in debug information, borrowed */
	uint32_t last;                          /* id in `texts` */
};

/*
 * Read the cache of a program: its file, its debug file and the file with shared parts; closed if
 * there are none.  Without a build id, it stays off.  Answers with different `contents` (up to 15
 * characters) have different files.
 */
void line_cache_open(struct line_cache *cache, const struct elf_file *program,
		     const struct elf_file *debug, const struct elf_file *shared,
		     const char *contents);

/*
 * Returns true and fills *row, borrowed until line_cache_close(), without a directory and a
 * discriminator, and *value; false: the answer is unknown.
 */
bool line_cache_find(const struct line_cache *cache, enum line_query query, uint64_t key,
		     struct line_row *row, uint64_t *value);

/* Add an answer, which is copied. */
void line_cache_add(struct line_cache *cache, enum line_query query, uint64_t key,
		    const struct line_row *row, uint64_t value);

/*
 * Find the range with an address among those of the file, not the added ones. Returns true and
 * fills [*begin, *end) and *value.
 */
bool line_cache_find_range(const struct line_cache *cache, enum line_query query, uint64_t vaddr,
			   uint64_t *begin, uint64_t *end, uint64_t *value);

/* Add the range [begin, end), which must not overlap others. */
void line_cache_add_range(struct line_cache *cache, enum line_query query, uint64_t begin,
			  uint64_t end, uint64_t value);

/*
 * Write the added answers. Other processes may have changed the file: keep its answers, too, if
 * there is room.  Returns 0; -1 with errno.
 */
int line_cache_save(struct line_cache *cache);

void line_cache_close(struct line_cache *cache);
