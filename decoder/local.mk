# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libdecoder.a
libdecoder_a_SOURCES = \
	decoder/address_space.c decoder/address_space.h \
	decoder/auxtrace.h \
	decoder/branch_event.h \
	decoder/timeline.h \
	decoder/tsc_clock.h
