# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libsymbols.a
libsymbols_a_SOURCES = \
	symbols/symbol.h \
	symbols/dso/dso_lines.c \
	symbols/dso/dso_search.c \
	symbols/dso/dso_types.h \
	symbols/dso/dso_starts.c \
	symbols/dso/dso_store.c symbols/dso/dso_store.h \
	symbols/dso/dso_symbols.c \
	symbols/dso/line_cache.c symbols/dso/line_cache.h \
	symbols/dwarf/dwarf_guard.c symbols/dwarf/dwarf_guard.h \
	symbols/dwarf/dwarf_image.c symbols/dwarf/dwarf_image.h \
	symbols/dwarf/inline_table.c symbols/dwarf/inline_table.h \
	symbols/dwarf/line_table.c \
	symbols/dwarf/split_unit.c symbols/dwarf/split_unit.h \
	symbols/files/core_file.c symbols/files/core_file.h \
	symbols/files/debug_file.c symbols/files/debug_file.h \
	symbols/files/dso_find.c symbols/files/dso_find.h \
	symbols/files/elf_file.c symbols/files/elf_file.h \
	symbols/files/unpack.c symbols/files/unpack.h \
	symbols/files/zip_file.c \
	symbols/names/demangle.c symbols/names/demangle.h \
	symbols/names/demangle_plain.c \
	symbols/names/demangle_short.c \
	symbols/names/jit_dump.c symbols/names/jit_dump.h \
	symbols/names/pe_names.c \
	symbols/names/syscall_names.c symbols/names/syscall_names.h \
	symbols/names/text_map.c symbols/names/text_map.h \
	symbols/tables/code_starts.c symbols/tables/code_starts.h \
	symbols/tables/go_table.c \
	symbols/tables/plt_stubs.c \
	symbols/tables/symbol_parts.c \
	symbols/tables/symbol_table.c symbols/tables/symbol_table.h \
	symbols/tables/trap_table.c symbols/tables/trap_table.h \
	symbols/tables/unwind_table.c

# A copy of libiberty that allocates by symbols/names/demangle.c.
libdemanglers.a:
	$(AM_V_GEN)$(OBJCOPY) --redefine-sym malloc=demangle_malloc \
		--redefine-sym realloc=demangle_realloc --redefine-sym free=demangle_free \
		--redefine-sym xmalloc=demangle_xmalloc --redefine-sym xrealloc=demangle_xrealloc \
		"`$(CC) $(LDFLAGS) -print-file-name=libiberty.a`" $@
CLEANFILES += libdemanglers.a
