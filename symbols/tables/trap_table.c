/* SPDX-License-Identifier: MIT */
/* Reads the notes of OCaml's compiler about exception handlers. */
#include "symbols/tables/trap_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/tables/compare.h"
#include "base/tables/lower_bound.h"

#define NOTE_TYPE 1

static void read_note(struct trap_table *table, const uint8_t *words, size_t size, uint64_t base)
{
	static const uint8_t lists[] = { TRAP_ENTERED, TRAP_INSTALLED, TRAP_REMOVED };
	size_t list = 0;
	uint64_t word, moved = 0;

	for (size_t at = 0; at + sizeof(word) <= size && list < 3; at += sizeof(word)) {
		memcpy(&word, words + at, sizeof(word));
		if (at == 0)
			moved = base - word;
		else if (word)
			*ARRAY_ADD(table->traps, table->count, table->room) =
				(struct trap){ word + moved, lists[list] };
		else
			list++;
	}
}

static int compare_traps(const void *left, const void *right)
{
	const struct trap *a = left, *b = right;

	return COMPARE(a->vaddr, b->vaddr);
}

void trap_table_open(struct trap_table *table, const struct elf_file *file)
{
	struct elf_section notes = { 0 }, base = { 0 };
	size_t at = 0, name, desc;
	Elf_Data *data;
	GElf_Nhdr note;

	*table = (struct trap_table){ 0 };
	if (!elf_section_find(file->elf, ".note.ocaml_eh", &notes) ||
	    !elf_section_find(file->elf, ".stapsdt.base", &base))
		return;
	data = elf_getdata(notes.scn, NULL);
	while (data && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		const uint8_t *bytes = data->d_buf;

		if (note.n_type == NOTE_TYPE && note.n_namesz == sizeof("OCaml") &&
		    memcmp(bytes + name, "OCaml", sizeof("OCaml")) == 0)
			read_note(table, bytes + desc, note.n_descsz, base.header.sh_addr);
	}
	if (table->count)
		qsort(table->traps, table->count, sizeof(*table->traps), compare_traps);
}

void trap_table_release(struct trap_table *table)
{
	free(table->traps);
	*table = (struct trap_table){ 0 };
}

size_t trap_table_find(const struct trap_table *table, uint64_t vaddr)
{
	return LOWER_BOUND(i, table->count, table->traps[i].vaddr < vaddr);
}
