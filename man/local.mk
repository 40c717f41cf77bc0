# SPDX-License-Identifier: MIT
dist_man_MANS += man/ptrace2ftf.1 man/ptrace2ftf-annotate.1 man/ptrace2ftf-diff.1 man/ptrace2ftf-list.1 \
	man/ptrace2ftf-open.1 man/ptrace2ftf-record.1 man/ptrace2ftf-why.1 man/ptrace2ftf.7 man/ftfdump.1 man/libftf.3
