/* SPDX-License-Identifier: MIT */
/*
 * The two ends of a branch with names: plain data, between the resolver
 * (src/resolve/resolve.h) and the call stacks.
 */
#ifndef SRC_RESOLVE_LOCATION_H
#define SRC_RESOLVE_LOCATION_H

#include "decoder/known_branches.h"
#include "symbols/symbol.h"

/*
 * The effect of a branch from one place to another: by its code (stack_effect.h), and by names
 * where there is none.
 */
enum call_effect {
	CALL_NOT_KNOWN = 0,
	CALL_ENTERS, /* a function, at its beginning, which returns once */
	CALL_PASSES, /* no function: the code drops its return address, or replaces it (retpolines)
		      */
	CALL_PASSES_ON, /* an indirect call: the code returns to the function that is called */
	CALL_SETJMP,    /* a function that may return twice */
	CALL_CATCHES,   /* a function, by code that has stored the stack pointer: a throw may come
			   back */
	/*
	 * _Unwind_Resume(), longjmp() and their like, and what replaces its return address.  What
	 * follows the call instruction, a landing pad perhaps, is no place that the call returns
	 * to.
	 */
	CALL_NEVER_RETURNS,
	CALL_APART,      /* a function that runs on another stack, and returns to this one */
	CALL_ENDS_APART, /* a function that runs on another stack, and leaves it for any */
	CALL_OTHER,
	RETURN_STAYS, /* on the stack: the code shows no switch */
	RETURN_JUMPS, /* the same, to an address that the code put there */
	/* From here on: see location_jumps_unusually(). */
	JUMP_CALLS,      /* or return: the code pushed a return address */
	JUMP_SETJMP,     /* to a function that may return twice */
	SWITCHES_STACK,  /* a call, jump or return, after a load of the stack pointer */
	YIELDS_STACK,    /* the same, a jump, to a stack that the code has looked up */
	DROPS_STACK,     /* the same; perhaps nothing can come back to the one that it leaves */
	THROWS_TO_ENTRY, /* the same, to a function that continues a frame of the stack */
};

_Static_assert(SYMBOL_FUNCTION < SYMBOL_UNNAMED && SYMBOL_PLT < SYMBOL_UNNAMED, "one comparison");

/* Returns whether a symbol (NULL: no) is a function's, be it without a name, or a PLT stub's. */
static inline bool symbol_is_function(const struct symbol *symbol)
{
	return symbol && symbol->kind <= SYMBOL_UNNAMED;
}

/* Returns whether a location is the first instruction of a function or PLT stub. */
static inline bool location_is_entry(const struct location *location)
{
	return symbol_is_function(location->symbol) && location->offset == 0;
}

/* Returns whether a location begins a function, and not a part of one (symbols/symbol.h). */
static inline bool location_is_function_entry(const struct location *location)
{
	return location_is_entry(location) && !location->symbol->function;
}

/* The path of the page that executes instructions for uprobes, and the begin of its symbols. */
#define LOCATION_UPROBES "[uprobes]"

/* Returns whether a location is in that page. */
bool location_is_of_uprobes(const struct location *location);

/*
 * Returns the length of the instruction at `ip` if it is a direct call of a function's entry, in
 * the same file as the function `caller`, which it is in; 0: it is not.
 */
uint8_t location_call_length(const struct symbol *caller, uint64_t ip,
			     const struct location *entry);

/* Returns whether a branch may be to another stack, by its code. */
static inline bool location_may_switch(const struct location_pair *places)
{
	return places->call >= SWITCHES_STACK;
}

/*
 * Returns whether a jump may be to another stack, is a call, or leads to a function that may return
 * twice.
 */
static inline bool location_jumps_unusually(const struct location_pair *places)
{
	return places->call >= JUMP_CALLS;
}

/*
 * Returns whether a function by its name unwinds the stack, so that execution mostly continues in
 * another function than its caller: those of CALL_NEVER_RETURNS, and what unwinds for them.
 */
bool location_unwinds(const struct name *name);

/* Returns both ends of a branch, with the effect of what it is: from CALL_ENTERS on. */
struct location_pair location_pair_of(const struct location *from, const struct location *to);

#endif
