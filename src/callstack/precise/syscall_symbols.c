/* SPDX-License-Identifier: MIT */
/* Looks at a system call's code once, and keeps its name. */
#include "src/callstack/precise/syscall_symbols.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/budget.h"
#include "decoder/code/syscall_number.h"
#include "symbols/dso/dso_store.h"
#include "symbols/names/syscall_names.h"

#define SITE_BITS 9

struct syscall_site {
	const struct symbol *function; /* NULL: the slot is free */
	uint64_t offset;
	const struct symbol *shown;
};

struct syscall_symbol {
	struct symbol symbol;
	struct syscall_symbol *next;
};

void syscall_symbols_init(struct syscall_symbols *symbols, struct name_table *names,
			  const struct symbol *unknown)
{
	*symbols = (struct syscall_symbols){ .names = names, .unknown = unknown };
	direct_cache_init(&symbols->sites, SITE_BITS, sizeof(struct syscall_site));
}

static int32_t find_number(struct syscall_symbols *symbols, const struct location *from)
{
	const struct symbol *function = from->symbol;
	const uint8_t *code;
	size_t size;

	if (!function->dso || !symbol_is_function(function))
		return SYSCALL_UNKNOWN;
	code = dso_borrow_code(function->dso, function->start, &size);
	if (size > function->size)
		size = function->size;
	if (!code || size > SYSCALL_CODE_MOST || symbols->work + size > SYSCALL_CODE_TOTAL)
		return SYSCALL_UNKNOWN;
	symbols->work += size;
	return syscall_number_find(code, size, from->offset);
}

/* Returns the symbol of a system call's name. */
static const struct symbol *symbol_of_call(struct syscall_symbols *symbols, const char *call)
{
	struct syscall_symbol *made;
	const struct name *name;
	char text[64];

	snprintf(text, sizeof(text), "[syscall: %s]", call);
	name = name_intern_text(symbols->names, text);
	for (made = symbols->listed; made; made = made->next)
		if (made->symbol.name == name)
			return &made->symbol;
	made = alloc_zeroed(1, sizeof(*made));
	made->symbol = (struct symbol){ .kind = SYMBOL_SPECIAL, .name = name, .linkage = name };
	made->next = symbols->listed;
	symbols->listed = made;
	return &made->symbol;
}

const struct symbol *syscall_symbols_find(struct syscall_symbols *symbols,
					  const struct location *from)
{
	struct syscall_site *site = symbols->sites.slots;
	const char *call;

	if (!from->symbol)
		return symbols->unknown;
	site += direct_cache_index((uintptr_t)from->symbol + from->offset, SITE_BITS);
	if (site->function == from->symbol && site->offset == from->offset)
		return site->shown;
	call = syscall_name(find_number(symbols, from));
	*site = (struct syscall_site){ from->symbol, from->offset,
				       call ? symbol_of_call(symbols, call) : symbols->unknown };
	return site->shown;
}

void syscall_symbols_release(struct syscall_symbols *symbols)
{
	while (symbols->listed) {
		struct syscall_symbol *made = symbols->listed;

		symbols->listed = made->next;
		free(made);
	}
	direct_cache_release(&symbols->sites);
	*symbols = (struct syscall_symbols){ 0 };
}
