# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libftf.a
libftf_a_SOURCES = \
	writer/ftf_slots.c writer/ftf_slots.h \
	writer/ftf_writer.c writer/ftf_writer.h
