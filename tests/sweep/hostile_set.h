/* SPDX-License-Identifier: MIT */
/*
 * Writes a set of related files: a program (SAMPLE_PATH), and a recording of a thread that visits
 * chosen addresses of it in turn.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A growing buffer; owned. */
struct bytes {
	uint8_t *at;
	size_t size, room;
};

/* Add bytes; returns the offset of the first one. */
size_t bytes_add(struct bytes *bytes, const void *added, size_t size);

/* Add a number of `size` bytes, least significant first. */
void bytes_number(struct bytes *bytes, uint64_t number, size_t size);

/* Add a text with its NUL; returns its offset. */
size_t bytes_text(struct bytes *bytes, const char *text);

/* Add an unsigned LEB128 (DWARF 5, 7.6). */
void bytes_uleb128(struct bytes *bytes, uint64_t number);

/* Size of the hostile part of a set; the recording and the rest of the program have as much. */
extern size_t hostile_room;

/* A kind of set. */
struct hostile_kind {
	const char *name;
	/* Write the set; `packed`: its hostile sections are compressed. */
	void (*make)(const char *folder, int packed);
};

#define HOSTILE_SECTIONS 12

/* A program of functions that only return, 16 bytes each from SAMPLE_CODE on. */
struct hostile_elf {
	size_t functions;
	struct bytes symbols, names; /* of .symtab and .strtab, without their empty entries */
	size_t section_count;
	struct hostile_section {
		const char *name;
		struct bytes bytes;
		unsigned type;        /* 0: SHT_PROGBITS */
		size_t packed_from;   /* not 0: the unpacked size in the section's header */
	} sections[HOSTILE_SECTIONS]; /* additional ones */
};

#define HOSTILE_FUNCTION UINT64_C(16) /* bytes */
#define HOSTILE_APART    (UINT64_C(1) << 20)

/* Add a symbol of function `index`; several may have the same one. */
void hostile_elf_symbol(struct hostile_elf *elf, size_t index, const char *name);

/* Name the functions f0, f1, ... */
void hostile_elf_name_functions(struct hostile_elf *elf);

/* Add a section; it takes over the bytes, and packs them by zlib if `packed`. */
void hostile_elf_section(struct hostile_elf *elf, const char *name, struct bytes *bytes,
			 int packed);

/* Write the program below a folder, and release it. */
void hostile_elf_write(struct hostile_elf *elf, const char *folder, const char *name);

/* The addresses that a recording's thread visits. */
struct hostile_visits {
	uint64_t base; /* of the recording's mapping; 0: SAMPLE_CODE */
	uint64_t file_offset;
	uint64_t size;       /* mapped bytes */
	uint64_t *addresses; /* owned */
	size_t count, room;
	const char *mapped;      /* the mapped file; NULL: SAMPLE_PATH */
	const char *also_mapped; /* path of another file; NULL: none */
	unsigned programs;       /* additional ones, /sample1 and so on, HOSTILE_APART apart */
};

void hostile_visits_add(struct hostile_visits *visits, uint64_t address);

/* Write FOLDER/perf.data, and release the addresses. */
void hostile_visits_write(struct hostile_visits *visits, const char *folder);

/* Write FOLDER/perf.data, of a thread that visits each function of a program once. */
void hostile_visit_functions(const char *folder, size_t functions);

/* Write a file below a folder. */
void hostile_file_write(const char *folder, const char *name, const struct bytes *bytes);
