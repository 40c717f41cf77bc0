# SPDX-License-Identifier: MIT
# A reader of traces that shares nothing with the writer.
noinst_LIBRARIES += libftfread.a
libftfread_a_SOURCES = \
	reader/trace_input.c \
	reader/trace_print.c reader/trace_print.h \
	reader/trace_reader.c reader/trace_reader.h \
	reader/trace_slices.c

bin_PROGRAMS += ftfdump
ftfdump_SOURCES = reader/main.c
FTFDUMP_LIBS = libftfread.a libbase.a $(ZSTD_LIBS) $(ZLIB_LIBS)
ftfdump_LDADD = $(FTFDUMP_LIBS)
