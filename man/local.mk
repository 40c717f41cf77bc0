# SPDX-License-Identifier: MIT
dist_man_MANS += man/ptrace2ftf.1 man/ptrace2ftf.7 man/ftfdump.1 man/libftf.3
