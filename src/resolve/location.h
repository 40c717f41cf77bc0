/* SPDX-License-Identifier: MIT */
/*
 * The two ends of a branch with names: plain data that the resolver (src/resolve/resolve.h) passes
 * to call stacks.
 */
#pragma once

#include "decoder/code/stack_effect.h"
#include "decoder/known_branches.h"
#include "symbols/symbol.h"

/* The effect of a branch: by its code (stack_effect.h), or by names if there is no code. */
enum call_effect {
	CALL_NOT_KNOWN = 0,
	CALL_ENTERS, /* a function, at its entry, which returns once */
	CALL_PASSES, /* not a function: the code drops or replaces its return address (retpolines)
		      */
	CALL_PASSES_ON, /* an indirect call: the code returns to the called function */
	CALL_SETJMP,    /* a function that may return twice */
	CALL_CATCHES, /* a function, by code that stored the stack pointer: a throw may return there
		       */
	/*
	 * _Unwind_Resume(), longjmp() and their like, and code that replaces its return address.
	 * The call does not return to the address after it, where there may be a landing pad.
	 */
	CALL_NEVER_RETURNS,
	CALL_APART,      /* a function that runs on another stack, and returns to this one */
	CALL_ENDS_APART, /* a function that runs on another stack, and leaves it for any stack */
	CALL_OTHER,
	RETURN_STAYS, /* on the same stack: the code shows no switch */
	RETURN_JUMPS, /* on the same stack, to an address that the code pushed */
	JUMP_STAYS,   /* into the body of a function; drops no frame that began at `offset` or above
		       */
	/* From here on: see location_jumps_unusually(). */
	JUMP_CALLS,      /* also a return: the code pushed a return address */
	JUMP_SETJMP,     /* to a function that may return twice */
	SWITCHES_STACK,  /* a call, jump or return after a load of the stack pointer */
	YIELDS_STACK,    /* the same, for a jump to a stack that the code looked up */
	DROPS_STACK,     /* the same; perhaps nothing returns to the old stack */
	THROWS_TO_ENTRY, /* the same, to a function that continues a frame of the stack */
	COPIES_STACK, /* out of a function of --switch-function: on this stack or a copy of it, or
			 on one that it left before */
};

_Static_assert(SYMBOL_FUNCTION < SYMBOL_UNNAMED && SYMBOL_PLT < SYMBOL_UNNAMED, "one comparison");

/* Returns whether a symbol (may be NULL) is a function, with or without a name, or a PLT stub. */
static inline bool symbol_is_function(const struct symbol *symbol)
{
	return symbol && symbol->kind <= SYMBOL_UNNAMED;
}

/* Returns whether a location is the first instruction of a function or PLT stub. */
static inline bool location_is_entry(const struct location *location)
{
	return symbol_is_function(location->symbol) && location->offset == 0;
}

/*
 * Returns whether a location is the entry of a function, not of a part of one (symbols/symbol.h).
 */
static inline bool location_is_function_entry(const struct location *location)
{
	return location_is_entry(location) && !location->symbol->function;
}

/*
 * The path of the page in which uprobes' instructions are executed; also a prefix of its symbols.
 */
#define LOCATION_UPROBES "[uprobes]"

/* Returns whether a location is in that page. */
bool location_is_of_uprobes(const struct location *location);

/*
 * Returns the length of the instruction at `ip` in the function `caller` if it is a direct call to
 * a function's entry in the same file; otherwise 0.
 */
uint8_t location_call_length(const struct symbol *caller, uint64_t ip,
			     const struct location *entry);

/*
 * Returns whether the instruction at a location in a function is a far jump (SDM volume 2, "JMP"),
 * which pushes no return address, and not a far call or INT n.
 */
bool location_jumps_far(const struct location *from);

/* Returns whether a location in a function's body follows a call, by the bytes before it. */
bool location_follows_call(const struct location *location);

/*
 * Returns whether a function (NULL: unknown) that calls setjmp() has taken its own return address
 * from the stack before the call at `offset`, by its code; without 64-bit code, by its name.
 */
bool location_is_bare(const struct symbol *function, uint64_t offset);

/*
 * Returns whether a jump may switch stacks, is a call, or leads to a function that may return
 * twice.
 */
static inline bool location_jumps_unusually(const struct location_pair *locations)
{
	return locations->call >= JUMP_CALLS;
}

/*
 * Returns whether, by its name, a function unwinds the stack, so that execution usually continues
 * in another function than its caller: the functions of CALL_NEVER_RETURNS, and the functions that
 * unwind for them.
 */
bool location_unwinds(const struct name *name);

/* A branch comes from a function of --switch-function: change its effect. */
void location_pair_switch(struct location_pair *locations);

/*
 * Returns both ends of a branch, with its effect: CALL_ENTERS or later.  `made`: the code around
 * `from`, if it is not of a function in a file; else empty, or NULL.
 */
struct location_pair location_pair_of(const struct location *from, const struct location *to,
				      const struct function_code *made);
