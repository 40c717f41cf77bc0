# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libbase.a
libbase_a_SOURCES = \
	src/base/alloc.c src/base/alloc.h \
	src/base/arena.c src/base/arena.h \
	src/base/beneath.c src/base/beneath.h \
	src/base/big_array.c src/base/big_array.h \
	src/base/cursor.h \
	src/base/diag.c src/base/diag.h \
	src/base/error.c src/base/error.h \
	src/base/fault.c src/base/fault.h \
	src/base/hash.h \
	src/base/interrupt.c src/base/interrupt.h \
	src/base/name.c src/base/name.h \
	src/base/output.c src/base/output.h \
	src/base/packer.c src/base/packer.h \
	src/base/pages.c src/base/pages.h \
	src/base/printable.c src/base/printable.h \
	src/base/spool.c src/base/spool.h
