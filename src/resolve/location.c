/* SPDX-License-Identifier: MIT */
/* Classifies the target of a call: see location.h. */
#include "src/resolve/location.h"

#include <string.h>

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

/* Bytes of a direct near call: SDM volume 2, "CALL". */
#define CALL_LENGTH 5

struct location_pair location_pair_of(const struct location *from, const struct location *to)
{
	enum call_effect effect = CALL_OTHER;

	if (to->ip == from->ip + CALL_LENGTH && !location_is_entry(to))
		effect = CALL_READS_IP;
	else if (to->symbol && is_setjmp(to->symbol->name))
		effect = CALL_SETJMP;
	else if (to->symbol && !to->offset)
		effect = never_returns(to->symbol->name) ? CALL_NEVER_RETURNS : CALL_ENTERS;
	return (struct location_pair){ *from, *to, effect };
}
