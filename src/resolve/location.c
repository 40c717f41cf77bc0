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
bool symbol_is_setjmp(const struct symbol *symbol)
{
	return symbol &&
	       (ends_with(symbol->name, "setjmp") || ends_with(symbol->name, "setjmp@plt"));
}

/* Bytes of a direct near call: SDM volume 2, "CALL". */
#define CALL_LENGTH 5

struct location_pair location_pair_of(const struct location *from, const struct location *to)
{
	enum call_effect effect = CALL_OTHER;

	if (to->ip == from->ip + CALL_LENGTH && !location_is_entry(to))
		effect = CALL_READS_IP;
	else if (to->symbol && !to->offset && !symbol_is_setjmp(to->symbol))
		effect = CALL_ENTERS;
	return (struct location_pair){ *from, *to, effect };
}
