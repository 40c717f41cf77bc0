/* SPDX-License-Identifier: MIT */
/* The list that local.mk makes of asm/unistd_64.h. */
#include "symbols/names/syscall_names.h"

#include <stddef.h>

#define SYSCALLS 1024

static const char *const names[SYSCALLS] = {
#include "symbols/names/syscall_list.h"
};

const char *syscall_name(int32_t number)
{
	return number >= 0 && number < SYSCALLS ? names[number] : NULL;
}
