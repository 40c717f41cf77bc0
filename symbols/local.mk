# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libsymbols.a
libsymbols_a_SOURCES = \
	symbols/dso_store.h \
	symbols/symbol.h
