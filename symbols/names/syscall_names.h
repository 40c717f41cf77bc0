/* SPDX-License-Identifier: MIT */
/* The names of Linux' system calls by their number. */
#pragma once

#include "base/common.h"

#define SYSCALL_NAME_MAX 32

/*
 * Get the name of a system call of x86-64, or of `i386`: of 32-bit programs, and of int $0x80.
 * Returns false if the number is not known.
 */
bool syscall_name(int32_t number, bool i386, char name[SYSCALL_NAME_MAX]);
