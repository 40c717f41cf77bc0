/* SPDX-License-Identifier: MIT */
/* The names of Linux' system calls by their number. */
#ifndef SYMBOLS_NAMES_SYSCALL_NAMES_H
#define SYMBOLS_NAMES_SYSCALL_NAMES_H

#include "base/common.h"

/* Returns the name of a system call of x86-64, a constant; NULL: not known. */
const char *syscall_name(int32_t number);

/* The same of i386: of 32-bit programs, and of int $0x80. */
const char *syscall_name_i386(int32_t number);

#endif
