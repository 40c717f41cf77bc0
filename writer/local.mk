# SPDX-License-Identifier: MIT
noinst_LIBRARIES += libftf.a
libftf_a_SOURCES =
