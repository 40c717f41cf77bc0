# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libftf.a
libftf_a_SOURCES = \
	writer/ftf.h \
	writer/ftf_index.c writer/ftf_index.h \
	writer/ftf_low.c \
	writer/ftf_records.c \
	writer/ftf_slots.c writer/ftf_slots.h \
	writer/ftf_writer.c writer/ftf_writer.h
