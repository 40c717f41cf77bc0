/* SPDX-License-Identifier: MIT */
/* Classifies calls and jumps: see location.h. */
#include "src/resolve/location.h"

#include <string.h>

#include "decoder/code/stack_effect.h"
#include "symbols/dso/dso_store.h"

static bool ends_with(const struct name *name, const char *text)
{
	size_t length = strlen(text);

	return name->length >= length &&
	       memcmp(name->text + name->length - length, text, length) == 0;
}

/* setjmp, _setjmp, sigsetjmp, __sigsetjmp, and stubs of them. */
static bool is_setjmp(const struct name *name)
{
	return ends_with(name, "setjmp") || ends_with(name, "setjmp@plt");
}

/*
 * The functions of libgcc, libunwind, libstdc++, libc++abi and libc that always unwind (Itanium
 * C++ ABI: Exception Handling, 1.3 and 2.4; POSIX: longjmp), and stubs of them.
 */
static bool never_returns(const struct name *name)
{
	static const char *const unwinders[] = {
		"_Unwind_Resume", "__cxa_throw",  "__cxa_rethrow",    "longjmp",
		"_longjmp",       "siglongjmp",   "__longjmp_chk",    "____longjmp_chk",
		"__longjmp",      "pthread_exit", "__pthread_unwind",
	};
	size_t length = strcspn(name->text, "@");

	for (size_t i = 0; i < sizeof(unwinders) / sizeof(unwinders[0]); i++) {
		if (strlen(unwinders[i]) == length && memcmp(name->text, unwinders[i], length) == 0)
			return true;
	}
	return false;
}

bool location_unwinds(const struct name *name)
{
	return never_returns(name) || strcmp(name->text, "_Unwind_RaiseException") == 0 ||
	       strcmp(name->text, "_Unwind_ForcedUnwind") == 0;
}

/*
 * Those of Go's runtime (runtime/asm_amd64.s), where there is no code: in text.  A goroutine is
 * parked by mcall() or morestack(), which call the scheduler on another stack, and resumed by
 * gogo().
 */
static enum stack_switch stack_switch_by_name(const struct name *name)
{
	static const char *const parking[] = { "runtime.mcall", "runtime.morestack",
					       "runtime.morestack.abi0" };

	for (size_t i = 0; i < sizeof(parking) / sizeof(parking[0]); i++) {
		if (strcmp(name->text, parking[i]) == 0)
			return STACK_LEFT_BY_CALL;
	}
	return strcmp(name->text, "gogo") == 0 ? STACK_DROPPED_BY_JUMP : STACK_STAYS;
}

static enum stack_switch stack_switch_of(const struct location *from)
{
	const struct symbol *symbol = from->symbol;
	const uint8_t *code;
	size_t size;

	/*
	 * Stubs are many, and only jump.  The kernel has a stack per thread and some per CPU, and
	 * copies what it takes from one to another.
	 */
	if (!symbol_is_function(symbol) || symbol->kind == SYMBOL_PLT || from->ip >> 63)
		return STACK_STAYS;
	if (!symbol->dso)
		return stack_switch_by_name(symbol->name);
	code = dso_borrow_code(symbol->dso, symbol->start, &size);
	if (size > symbol->size)
		size = symbol->size;
	return code ? stack_switch_at(code, size, from->offset) : STACK_STAYS;
}

/* Bytes of a direct near call: SDM volume 2, "CALL". */
#define CALL_LENGTH 5

struct location_pair location_pair_of(const struct location *from, const struct location *to)
{
	static const enum call_effect switches[] = {
		[STACK_LEFT_BY_JUMP] = JUMP_SWITCHES_STACK,
		[STACK_DROPPED_BY_JUMP] = JUMP_DROPS_STACK,
		[STACK_LEFT_BY_CALL] = CALL_SWITCHES_STACK,
	};
	enum stack_switch stack_switch = stack_switch_of(from);
	enum call_effect effect = CALL_OTHER;

	if (stack_switch != STACK_STAYS)
		effect = switches[stack_switch];
	else if (to->ip == from->ip + CALL_LENGTH && !location_is_entry(to))
		effect = CALL_READS_IP;
	else if (to->symbol && is_setjmp(to->symbol->name))
		effect = CALL_SETJMP;
	else if (to->symbol && !to->offset)
		effect = never_returns(to->symbol->name) ? CALL_NEVER_RETURNS : CALL_ENTERS;
	return (struct location_pair){ *from, *to, effect };
}
