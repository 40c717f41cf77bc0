# SPDX-License-Identifier: MIT
noinst_LIBRARIES += liboverlays.a
liboverlays_a_SOURCES = \
	overlays/memtrace.c overlays/memtrace.h \
	overlays/memtrace_format.h \
	overlays/memtrace_locations.c \
	overlays/memtrace_writer.c \
	overlays/runtime_events.c overlays/runtime_events.h \
	overlays/runtime_events_custom.c
