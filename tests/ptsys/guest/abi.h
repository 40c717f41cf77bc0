/* SPDX-License-Identifier: MIT */
/* What the guest's kernel and its user program agree about. */
#ifndef TESTS_PTSYS_GUEST_ABI_H
#define TESTS_PTSYS_GUEST_ABI_H

enum { SYS_EXIT, SYS_YIELD, SYS_SLEEP, SYS_SUM, SYS_TRACE, SYS_NMI, SYS_DOUBLE_FAULT, SYS_CALLS };

#define USER_TEXT  0x400000ull
#define USER_HEAP  0x10000000ull /* comes page by page, when it is touched */
#define USER_STACK 0x7ffff000ull /* grows down from here, the same */

#endif
