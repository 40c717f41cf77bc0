/* SPDX-License-Identifier: MIT */
/*
 * Names a file's addresses as the program does, for comparison with other tools:
 *   name-addresses STYLE FILE [inlined] < addresses
 * STYLE is a number of enum demangle_style.  Prints "address TAB name TAB symbol's start TAB
 * file:line" for each hexadecimal ELF virtual address, with "??" and "??:0" for unknown parts. With
 * "inlined" prints "address", then " TAB name TAB file:line" of each inlined call, the innermost
 * first, with the call's line.  Warnings go to standard error.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/dso/dso_store.h"
#include "symbols/files/elf_file.h"

static void print(uint64_t vaddr, const struct symbol *symbol)
{
	struct source_line line = dso_symbol_line(symbol);
	const char *name = symbol->kind == SYMBOL_FILE ? "??" : symbol->name->text;

	printf("%" PRIx64 "\t%s\t%" PRIx64 "\t%s:%" PRIu32 "\n", vaddr, name, symbol->start,
	       line.file ? line.file->text : "??", line.line);
}

static void print_inlined(uint64_t vaddr, struct dso *dso, uint64_t file_offset)
{
	const struct inlined_call *call = NULL;
	struct inlined_code code;

	if (dso_find_inlined(dso, file_offset, &code))
		call = code.innermost;
	printf("%" PRIx64, vaddr);
	for (; call; call = call->parent) {
		struct source_line line = dso_symbol_line(call->symbol);

		printf("\t%s\t%s:%" PRIu32, call->symbol->name->text,
		       line.file ? line.file->text : "??", line.line);
	}
	putchar('\n');
}

static void name_all(struct dso *dso, const struct elf_file *elf, bool inlined)
{
	char text[64];

	while (fgets(text, sizeof(text), stdin)) {
		uint64_t vaddr = strtoull(text, NULL, 16), offset;
		const struct code_range *code = elf_file_code_at_vaddr(elf, vaddr);

		if (code && inlined)
			print_inlined(vaddr, dso, vaddr - code->vaddr + code->offset);
		else if (code)
			print(vaddr,
			      dso_borrow_symbol(dso, vaddr - code->vaddr + code->offset, &offset));
	}
}

int main(int argc, char **argv)
{
	struct dso_store_options options = { .find.symfs = getenv("SYMFS"),
					     .find.debug_dir = getenv("DEBUG_DIR"),
					     .find.debuginfod = getenv("DEBUGINFOD") != NULL };
	struct name_table names;
	struct dso_store *store;
	struct elf_file elf;
	struct diag diag;

	if (argc < 3 || elf_file_open(&elf, argv[2], NULL) != 0)
		return 1;
	options.demangle = (enum demangle_style)atoi(argv[1]);
	name_table_init(&names);
	diag_init(&diag);
	store = dso_store_open(&options, &names, &diag);
	name_all(dso_store_borrow(store, argv[2], elf.build_id, elf.build_id_size), &elf, argc > 3);
	diag_print(&diag, stderr);
	dso_store_close(store);
	elf_file_close(&elf);
	diag_release(&diag);
	name_table_release(&names);
	return 0;
}
