# SPDX-License-Identifier: MIT
# libftf, installed.  It holds its own copy of what it needs of base, under names of its own, so that a
# program that links the static library may use these names itself.
lib_LTLIBRARIES += libftf.la
include_HEADERS += writer/ftf.h
pkgconfig_DATA += writer/libftf.pc
libftf_la_SOURCES = \
	writer/ftf.h \
	writer/ftf_low.c \
	writer/ftf_records.c \
	writer/ftf_tsc.c \
	writer/ftf_writer.c writer/ftf_writer.h \
	base/alloc.h \
	base/error.c base/error.h \
	base/tables/id_index.c base/tables/id_index.h \
	base/io/file_makers.c base/io/file_makers.h \
	base/io/output.c base/io/output.h \
	base/io/compressor.c \
	base/printable.c base/printable.h \
	base/utf8.h
LIBFTF_PRIVATE_NAMES = \
	compression_of_path compressor_abandon compressor_close compressor_open compressor_put \
	error_prefix error_set error_set_at error_set_system error_suffix error_text_fit \
	escaped_text_print file_make \
	file_make_own hash_bytes id_index_move id_index_put id_index_release id_index_wants output_abandon \
	output_ask output_carry output_close output_compress output_drop output_hold \
	output_is_readable output_is_system_link output_limit output_name_temporary \
	output_open output_open_text output_rename output_remove_left output_remove_unfinished \
	output_reserve output_room output_size output_stream output_track_unfinished output_write \
	output_write_now printable_pass printable_print real_print text_printf
libftf_la_CPPFLAGS = $(AM_CPPFLAGS) $(foreach name,$(LIBFTF_PRIVATE_NAMES),-D$(name)=ftf_private_$(name))
libftf_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
# CURRENT:REVISION:AGE of the interface in ftf.h.
libftf_la_LDFLAGS = $(SANITIZE_CFLAGS) $(HARDEN_LDFLAGS) -version-info 1:0:0 -Wl,--version-script=$(srcdir)/writer/libftf.map
EXTRA_libftf_la_DEPENDENCIES = writer/libftf.map
EXTRA_DIST += writer/libftf.map
libftf_la_LIBADD = $(ZSTD_LIBS) $(ZLIB_LIBS)
