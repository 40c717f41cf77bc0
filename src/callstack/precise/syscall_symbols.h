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

/* The call of the function that asks for a system call. */
struct syscall_caller {
	const struct symbol *callee;   /* that began with the call; NULL: not known */
	const struct symbol *function; /* with the call; NULL: not known */
	uint64_t offset;               /* bytes from the function's start to the call */
};

/* All is borrowed until release. */
void syscall_symbols_init(struct syscall_symbols *symbols, struct name_table *names,
			  const struct symbol *unknown);

/*
 * Returns the symbol of the system call that a SYSCALL, SYSENTER or INT $0x80 instruction at `from`
 * asks for.  Its number may be an argument of the function, that is what the caller's code puts
 * there.
 */
const struct symbol *syscall_symbols_find(struct syscall_symbols *symbols,
					  const struct location *from, bool int80,
					  const struct syscall_caller *caller);

/* Idempotent, also on zeroed memory. */
void syscall_symbols_release(struct syscall_symbols *symbols);

#endif
