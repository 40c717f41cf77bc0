# SPDX-License-Identifier: MIT
# What tests share; each unit program links it.
check_LIBRARIES += libsupport.a
libsupport_a_SOURCES = tests/support/unit.h tests/support/unit.c
libsupport_a_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
UNIT_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
UNIT_LIBS = libsupport.a $(PTRACE2FTF_LIBS) $(CHECK_LIBS)
