# SPDX-License-Identifier: MIT
# libftf, installed.  It holds its own copy of what it needs of base, under
# names of its own (writer/private_names.h).
lib_LTLIBRARIES += libftf.la
include_HEADERS += writer/ftf.h
pkgconfig_DATA += writer/libftf.pc
libftf_la_SOURCES = \
	writer/ftf.h \
	writer/ftf_low.c \
	writer/ftf_memory.c \
	writer/ftf_records.c \
	writer/ftf_tsc.c \
	writer/ftf_writer.c writer/ftf_writer.h \
	writer/private_names.h \
	base/alloc.h \
	base/error.c base/error.h \
	base/tables/fibonacci_hash.h \
	base/tables/id_index.c base/tables/id_index.h \
	base/io/file_makers.c base/io/file_makers.h \
	base/io/output.c base/io/output.h \
	base/io/compressor.c base/io/compressor.h \
	base/printable.c base/printable.h \
	base/utf8.h
libftf_la_CPPFLAGS = $(AM_CPPFLAGS) -include $(top_srcdir)/writer/private_names.h
libftf_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
# CURRENT:REVISION:AGE of the interface in ftf.h.
libftf_la_LDFLAGS = $(SANITIZE_CFLAGS) $(HARDEN_LDFLAGS) -version-info 1:0:0
libftf_la_LIBADD = $(ZSTD_LIBS) $(ZLIB_LIBS)
