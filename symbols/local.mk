# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libsymbols.a
libsymbols_a_SOURCES = \
	symbols/debug_file.c symbols/debug_file.h \
	symbols/debuginfod.c symbols/debuginfod.h \
	symbols/demangle.c symbols/demangle.h \
	symbols/demangle_short.c symbols/demangle_short.h \
	symbols/dso_find.c symbols/dso_find.h \
	symbols/dso.h symbols/dso_lines.c symbols/dso_search.c symbols/dso_symbols.c \
	symbols/dso_store.c symbols/dso_store.h \
	symbols/dwarf_guard.c symbols/dwarf_guard.h \
	symbols/dwp_index.c symbols/dwp_index.h \
	symbols/elf_file.c symbols/elf_file.h \
	symbols/inline_table.c symbols/inline_table.h \
	symbols/jit_dump.c symbols/jit_dump.h \
	symbols/line_table.c symbols/line_table.h \
	symbols/name_ranges.c symbols/name_ranges.h \
	symbols/plt.c symbols/plt.h \
	symbols/split_unit.c symbols/split_unit.h \
	symbols/symbol.h \
	symbols/symbol_parts.c symbols/symbol_parts.h \
	symbols/symbol_table.c symbols/symbol_table.h \
	symbols/text_map.c symbols/text_map.h \
	symbols/trap_table.c symbols/trap_table.h \
	symbols/unpack.c symbols/unpack.h
