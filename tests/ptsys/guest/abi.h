/* SPDX-License-Identifier: MIT */
/* The interface of the guest's kernel and user program. */
#pragma once

enum { SYS_EXIT, SYS_YIELD, SYS_SLEEP, SYS_SUM, SYS_TRACE, SYS_NMI, SYS_DOUBLE_FAULT, SYS_CALLS };

#define USER_TEXT  0x400000ull
#define USER_HEAP  0x10000000ull /* mapped page by page at the first access */
#define USER_STACK 0x7ffff000ull /* grows down from here, likewise */
