/* SPDX-License-Identifier: MIT */
/*
 * Names: each distinct text exists once and has a small dense number.
 *
 * The dense ids let a writer keep its string table in a plain array.  A name lives as long as its
 * table; names compare by pointer.  Threads may make names at the same time.
 */
#pragma once

#include "base/arena.h"
#include "base/tables/id_index.h"

/*
 * Bytes of a name; the rest is cut off, between two characters of UTF-8.  The limit is FTF's, so
 * that all formats show the same names, and a name of a megabyte is not repeated in each line.
 */
#define NAME_LENGTH_MAX 32000

struct name {
	uint32_t id;     /* 0, 1, 2, ... in the order of first use */
	uint16_t length; /* bytes of text, without the NUL at its end */
	bool plain;      /* UTF-8 without control characters, '\\' and '"': needs no escapes */
	char text[];     /* any bytes; a NUL follows */
};

struct name_table {
	struct arena arena;        /* owns the names */
	struct id_index index;     /* by hash of the text; its ids are one more than a name's */
	const struct name **names; /* owned array, by id */
	size_t count, room;
	pthread_mutex_t lock;
};

void name_table_init(struct name_table *table);

void name_table_release(struct name_table *table);

/*
 * Returns the name with these bytes, up to NAME_LENGTH_MAX, made at first use; borrowed from
 * the table, valid until name_table_release().  Never NULL.
 */
const struct name *name_intern(struct name_table *table, const char *text, size_t length);

/* The same for NUL-terminated text. */
const struct name *name_intern_text(struct name_table *table, const char *text);
