/* SPDX-License-Identifier: MIT */
/* Symbols of slices that are no functions: "[syscall: brk]", with the number in the code. */
#pragma once

#include "symbols/symbol.h"

struct special_symbol;

struct syscall_symbols {
	struct name_table *names;      /* borrowed */
	const struct symbol *unknown;  /* borrowed: "[syscall]", for unknown numbers */
	struct syscall_site *sites;    /* owned: by instruction and register (uthash) */
	struct special_symbol *listed; /* owned; one per name */
	size_t work;                   /* bytes of code examined, or of sites, so far */
};

/* Returns the symbol of a name in a short list of one kind; adds a new name. */
struct symbol *special_symbol_find(struct special_symbol **list, struct name_table *names,
				   const char *text, enum symbol_special special);

void special_symbols_release(struct special_symbol **list);

/*
 * glibc 2.41 needs four: read() has the number, __syscall_cancel() and __internal_syscall_cancel()
 * pass it on, and __syscall_cancel_arch() has the instruction.
 */
#define SYSCALL_CHAIN_MOST 5

/* A system call instruction, then the calls around it, from the innermost outwards. */
struct syscall_chain {
	struct syscall_call {
		const struct symbol *function; /* contains the instruction */
		uint64_t offset; /* the instruction's offset, bytes from the function's start */
	} calls[SYSCALL_CHAIN_MOST];
	unsigned count; /* calls whose frames ran only their function's code */
};

/* Borrows all arguments until release. */
void syscall_symbols_init(struct syscall_symbols *symbols, struct name_table *names,
			  const struct symbol *unknown);

/* Returns a system call's symbol. If its number is an argument, looks at the chain's next call. */
const struct symbol *syscall_symbols_find(struct syscall_symbols *symbols,
					  const struct syscall_chain *chain, bool int80);

/* Idempotent, also on zeroed memory. */
void syscall_symbols_release(struct syscall_symbols *symbols);
