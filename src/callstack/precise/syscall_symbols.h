/* SPDX-License-Identifier: MIT */
/* Names of system calls' slices: "[syscall: brk]" where the code shows the number. */
#ifndef SRC_CALLSTACK_PRECISE_SYSCALL_SYMBOLS_H
#define SRC_CALLSTACK_PRECISE_SYSCALL_SYMBOLS_H

#include "base/tables/direct_cache.h"
#include "symbols/symbol.h"

struct special_symbol;

struct syscall_symbols {
	struct name_table *names;      /* borrowed */
	const struct symbol *unknown;  /* borrowed: "[syscall]", for unknown numbers */
	struct direct_cache sites;     /* by instruction and register */
	struct special_symbol *listed; /* owned; one per name */
	size_t work;                   /* bytes of code and names examined so far */
};

/* Returns the symbol of a name from a list of few, to which it is added if it is new. */
const struct symbol *special_symbol_find(struct special_symbol **list, struct name_table *names,
					 const char *text);

/* Idempotent. */
void special_symbols_release(struct special_symbol **list);

/*
 * glibc 2.41 needs four: __syscall_cancel_arch() has the instruction, read() has the number, and
 * __internal_syscall_cancel() and __syscall_cancel() pass it on.
 */
#define SYSCALL_CHAIN_MOST 5

/* The instruction of a system call, then the calls that led there, from the innermost outwards. */
struct syscall_chain {
	struct syscall_call {
		const struct symbol *function; /* that contains the instruction */
		uint64_t offset; /* of the instruction, bytes from the function's start */
	} calls[SYSCALL_CHAIN_MOST];
	unsigned count; /* of calls in whose frames only their function's code ran */
};

/* Borrows all arguments until release. */
void syscall_symbols_init(struct syscall_symbols *symbols, struct name_table *names,
			  const struct symbol *unknown);

/* Returns the symbol of a system call.  An argument's number is searched at the chain's next call.
 */
const struct symbol *syscall_symbols_find(struct syscall_symbols *symbols,
					  const struct syscall_chain *chain, bool int80);

/* Idempotent, also on zeroed memory. */
void syscall_symbols_release(struct syscall_symbols *symbols);

#endif
