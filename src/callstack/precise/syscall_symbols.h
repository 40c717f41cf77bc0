/* SPDX-License-Identifier: MIT */
/* What a system call's slice is named by: "[syscall: brk]", where the code shows its number. */
#ifndef SRC_CALLSTACK_PRECISE_SYSCALL_SYMBOLS_H
#define SRC_CALLSTACK_PRECISE_SYSCALL_SYMBOLS_H

#include "base/tables/direct_cache.h"
#include "base/tables/name.h"
#include "src/resolve/location.h"

struct syscall_symbol;

struct syscall_symbols {
	struct name_table *names;      /* borrowed */
	const struct symbol *unknown;  /* borrowed: of calls that are not known, "[syscall]" */
	struct direct_cache sites;     /* by place and register */
	struct syscall_symbol *listed; /* owned: one for each name */
	size_t work;                   /* bytes of code, and names, that were looked at */
};

/*
 * glibc 2.41 has three between the function that the program calls and the system call: read(),
 * __syscall_cancel(), __internal_syscall_cancel(), __syscall_cancel_arch().
 */
#define SYSCALL_CALLERS_MOST 4

/* A call, and the function with it. */
struct syscall_caller {
	const struct symbol *function;
	uint64_t offset; /* bytes from the function's start to the call */
};

/* The call of the function that asks for a system call, that of its caller, and so on. */
struct syscall_callers {
	struct syscall_caller calls[SYSCALL_CALLERS_MOST];
	unsigned count; /* that are known */
};

/* All is borrowed until release. */
void syscall_symbols_init(struct syscall_symbols *symbols, struct name_table *names,
			  const struct symbol *unknown);

/*
 * Returns the symbol of the system call that a SYSCALL, SYSENTER or INT $0x80 instruction at `from`
 * asks for.  Its number may be an argument of the function, that is what a caller's code puts
 * there.
 */
const struct symbol *syscall_symbols_find(struct syscall_symbols *symbols,
					  const struct location *from, bool int80,
					  const struct syscall_callers *callers);

/* Idempotent, also on zeroed memory. */
void syscall_symbols_release(struct syscall_symbols *symbols);

#endif
