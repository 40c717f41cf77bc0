# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libbase.a
libbase_a_SOURCES = \
	base/alloc.c base/alloc.h base/common.h \
	base/arena.c base/arena.h \
	base/budget.h \
	base/cursor.h \
	base/diag.c base/diag.h \
	base/error.c base/error.h \
	base/file_kind.c base/file_kind.h \
	base/message.c base/message.h \
	base/pages.c base/pages.h \
	base/printable.c base/printable.h \
	base/spelling.c base/spelling.h \
	base/utf8.h \
	base/workers.c base/workers.h \
	base/io/big_array.c base/io/big_array.h \
	base/io/cache_files.c base/io/cache_files.h \
	base/io/compressor.c \
	base/io/file_use.c base/io/file_use.h \
	base/io/interrupt.c base/io/interrupt.h \
	base/io/file_makers.c base/io/file_makers.h \
	base/io/output.c base/io/output.h \
	base/io/output_path.c base/io/output_path.h \
	base/io/path_in_root.c \
	base/io/temp_file.c base/io/temp_file.h \
	base/io/write_behind.c \
	base/tables/direct_cache.c base/tables/direct_cache.h \
	base/tables/hash.h \
	base/tables/heap.h \
	base/tables/id_index.c base/tables/id_index.h \
	base/tables/name.c base/tables/name.h \
	base/tables/pair_table.c base/tables/pair_table.h
