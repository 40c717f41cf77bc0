/* SPDX-License-Identifier: MIT */
/* Analyse the code of each system call once, and cache its name. */
#include "src/callstack/precise/syscall_symbols.h"

#include "decoder/code/syscall_number.h"
#include "src/resolve/location.h"
#include "symbols/dso/dso_store.h"
#include "symbols/names/syscall_names.h"

#define SITE_BITS 9

/* The analysis of a register or stack slot (syscall_number.h) at an instruction. */
struct syscall_site {
	const struct symbol *function; /* NULL: the slot is free */
	uint64_t offset;
	unsigned slot;
	bool int80;  /* INT $0x80 uses i386's numbers, as SYSCALL does in 32-bit code */
	bool bits32; /* the code is 32-bit */
	struct syscall_number found;
	const struct symbol *shown; /* symbol of the number; NULL: unknown */
};

struct special_symbol {
	struct symbol symbol;
	struct special_symbol *next;
};

const struct symbol *special_symbol_find(struct special_symbol **list, struct name_table *names,
					 const char *text)
{
	const struct name *name = name_intern_text(names, text);
	struct special_symbol *made;

	for (made = *list; made; made = made->next)
		if (made->symbol.name == name)
			return &made->symbol;
	made = alloc_zeroed(1, sizeof(*made));
	made->symbol = (struct symbol){ .kind = SYMBOL_SPECIAL, .name = name, .linkage = name };
	made->next = *list;
	*list = made;
	return &made->symbol;
}

void special_symbols_release(struct special_symbol **list)
{
	while (*list) {
		struct special_symbol *made = *list;

		*list = made->next;
		free(made);
	}
}

void syscall_symbols_init(struct syscall_symbols *symbols, struct name_table *names,
			  const struct symbol *unknown)
{
	*symbols = (struct syscall_symbols){ .names = names, .unknown = unknown };
	direct_cache_init(&symbols->sites, SITE_BITS, sizeof(struct syscall_site));
}

static struct syscall_number find_number(struct syscall_symbols *symbols, struct syscall_site *site)
{
	const struct syscall_number unknown = { SYSCALL_UNKNOWN, SYSCALL_UNKNOWN };
	const struct symbol *function = site->function;
	struct syscall_code code = { .mode = INSN_MODE_64 };

	if (!function->dso || !symbol_is_function(function))
		return unknown;
	code.bytes = dso_borrow_code(function->dso, function->start, &code.size);
	if (!code.bytes) {
		code.mode = INSN_MODE_32;
		code.bytes = dso_borrow_code_32(function->dso, function->start, &code.size);
	}
	site->bits32 = code.bytes && code.mode == INSN_MODE_32;
	code.size = MIN(code.size, function->size);
	if (!code.bytes || code.size > SYSCALL_CODE_MOST ||
	    symbols->work + code.size > SYSCALL_CODE_TOTAL)
		return unknown;
	symbols->work += code.size;
	return syscall_number_find(&code, site->offset, site->slot);
}

/* Returns the analysis of a register or stack slot, borrowed until the next call. */
static const struct syscall_site *look_at(struct syscall_symbols *symbols,
					  const struct syscall_site *wanted)
{
	struct syscall_site *site = symbols->sites.slots;
	char call[SYSCALL_NAME_MAX], text[64];

	site += direct_cache_index(&symbols->sites,
				   (uintptr_t)wanted->function + wanted->offset + wanted->slot);
	if (site->function == wanted->function && site->offset == wanted->offset &&
	    site->slot == wanted->slot && site->int80 == wanted->int80)
		return site;
	*site = *wanted;
	site->found = find_number(symbols, site);
	if (syscall_name(site->found.number, site->int80 || site->bits32, call)) {
		snprintf(text, sizeof(text), "[syscall: %s]", call);
		site->shown = special_symbol_find(&symbols->listed, symbols->names, text);
	}
	return site;
}

const struct symbol *syscall_symbols_find(struct syscall_symbols *symbols,
					  const struct syscall_chain *chain, bool int80)
{
	struct syscall_site wanted = { .slot = SYSCALL_EAX, .int80 = int80 };
	const struct syscall_site *site;

	for (unsigned i = 0; i < chain->count; i++) {
		wanted.function = chain->calls[i].function;
		wanted.offset = chain->calls[i].offset;
		site = look_at(symbols, &wanted);
		if (site->shown)
			return site->shown;
		if (site->found.argument == SYSCALL_UNKNOWN)
			break;
		wanted.slot = (unsigned)site->found.argument;
	}
	return symbols->unknown;
}

void syscall_symbols_release(struct syscall_symbols *symbols)
{
	special_symbols_release(&symbols->listed);
	direct_cache_release(&symbols->sites);
	*symbols = (struct syscall_symbols){ 0 };
}
