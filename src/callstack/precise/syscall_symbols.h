/* SPDX-License-Identifier: MIT */
/* What a system call's slice is named by: "[syscall: brk]", where the code shows its number. */
#ifndef SRC_CALLSTACK_PRECISE_SYSCALL_SYMBOLS_H
#define SRC_CALLSTACK_PRECISE_SYSCALL_SYMBOLS_H

#include "base/tables/direct_cache.h"
#include "base/tables/name.h"
#include "symbols/symbol.h"

struct syscall_symbol;

struct syscall_symbols {
	struct name_table *names;      /* borrowed */
	const struct symbol *unknown;  /* borrowed: of calls that are not known, "[syscall]" */
	struct direct_cache sites;     /* by place and register */
	struct syscall_symbol *listed; /* owned: one for each name */
	size_t work;                   /* bytes of code, and names, that were looked at */
};

/*
 * glibc 2.41 needs four: the instruction is in __syscall_cancel_arch(), the number in read(), and
 * __internal_syscall_cancel() and __syscall_cancel() pass it on.
 */
#define SYSCALL_CHAIN_MOST 5

/* A SYSCALL, SYSENTER or INT $0x80 instruction, or a call that led to it. */
struct syscall_call {
	const struct symbol *function; /* with the instruction */
	uint64_t offset;               /* of the instruction, bytes from the function's start */
};

/* The system call's instruction, the call of its function, the call of the caller, and so on. */
struct syscall_chain {
	struct syscall_call calls[SYSCALL_CHAIN_MOST];
	unsigned count; /* in whose frames only the code of their functions ran */
};

/* All is borrowed until release. */
void syscall_symbols_init(struct syscall_symbols *symbols, struct name_table *names,
			  const struct symbol *unknown);

/*
 * Returns the symbol of a system call.  If the number is an argument of a function, the code of
 * the next call in the chain shows it.
 */
const struct symbol *syscall_symbols_find(struct syscall_symbols *symbols,
					  const struct syscall_chain *chain, bool int80);

/* Idempotent, also on zeroed memory. */
void syscall_symbols_release(struct syscall_symbols *symbols);

#endif
