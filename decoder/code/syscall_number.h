/* SPDX-License-Identifier: MIT */
/*
 * Which system call a SYSCALL instruction asks for: the number that the code in front of it puts
 * into EAX ("mov $12,%eax; syscall").  Intel PT shows no registers.
 *
 * Known is only what cannot be otherwise: every instruction between the constant and the system
 * call must be one of which this file knows that it leaves EAX as it is, and no jump of
 * the function may lead between the two.
 */
#ifndef DECODER_CODE_SYSCALL_NUMBER_H
#define DECODER_CODE_SYSCALL_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#define SYSCALL_UNKNOWN (-1)

/*
 * `code` is of a function from its begin on, `size` bytes of 64-bit code, with the SYSCALL at the
 * offset `at`.  Returns the number; SYSCALL_UNKNOWN.
 */
int32_t syscall_number_find(const uint8_t *code, size_t size, size_t at);

#endif
