/* SPDX-License-Identifier: MIT */
/* Analyse the code of each system call once, and cache its name. */
#include "src/callstack/precise/special_symbols.h"

#include "base/tables/hash.h"
#include "decoder/code/syscall_number.h"
#include "src/resolve/location.h"
#include "symbols/dso/dso_store.h"
#include "symbols/names/syscall_names.h"

/* The analysis of a register or stack slot (syscall_number.h) at an instruction. */
struct syscall_site {
	struct syscall_key {
		const struct symbol *function;
		uint64_t offset;
		uint32_t slot;
		uint32_t int80; /* INT $0x80 uses i386's numbers, as SYSCALL does in 32-bit code */
	} key;
	bool bits32; /* the code is 32-bit */
	struct syscall_number found;
	const struct symbol *shown; /* symbol of the number; NULL: unknown */
	UT_hash_handle hh;
};

struct special_symbol {
	struct symbol symbol;
	struct special_symbol *next;
};

struct symbol *special_symbol_find(struct special_symbol **list, struct name_table *names,
				   const char *text, enum symbol_special special)
{
	const struct symbol symbol = symbol_special(names, text, special);
	struct special_symbol *made;

	for (made = *list; made; made = made->next)
		if (made->symbol.name == symbol.name)
			return &made->symbol;
	made = alloc_zeroed(1, sizeof(*made));
	made->symbol = symbol;
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
}

static struct syscall_number find_number(struct syscall_symbols *symbols, struct syscall_site *site)
{
	const struct syscall_number unknown = { SYSCALL_UNKNOWN, SYSCALL_UNKNOWN };
	const struct symbol *function = site->key.function;
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
	return syscall_number_find(&code, site->key.offset, site->key.slot);
}

/*
 * Returns the analysis of a register or stack slot, borrowed until release; NULL if the limit is
 * reached. Each is made once, so the sum does not depend on how often and in which order calls run.
 */
static const struct syscall_site *look_at(struct syscall_symbols *symbols,
					  const struct syscall_key *key)
{
	size_t before = symbols->work;
	struct syscall_site *site;
	struct symbol *shown;
	char call[SYSCALL_NAME_MAX], text[64];

	HASH_FIND(hh, symbols->sites, key, sizeof(*key), site);
	if (site || before + sizeof(*site) > SYSCALL_CODE_TOTAL)
		return site;
	site = alloc_zeroed(1, sizeof(*site));
	site->key = *key;
	HASH_ADD(hh, symbols->sites, key, sizeof(*key), site);
	site->found = find_number(symbols, site);
	symbols->work = MAX(symbols->work, before + sizeof(*site));
	if (syscall_name(site->found.number, key->int80 || site->bits32, call)) {
		snprintf(text, sizeof(text), "[syscall: %s]", call);
		shown = special_symbol_find(&symbols->listed, symbols->names, text,
					    SPECIAL_SYSCALL);
		shown->linkage = name_intern_text(symbols->names, call);
		site->shown = shown;
	}
	return site;
}

const struct symbol *syscall_symbols_find(struct syscall_symbols *symbols,
					  const struct syscall_chain *chain, bool int80)
{
	struct syscall_key wanted = { .slot = SYSCALL_EAX, .int80 = int80 };
	const struct syscall_site *site;

	for (unsigned i = 0; i < chain->count; i++) {
		wanted.function = chain->calls[i].function;
		wanted.offset = chain->calls[i].offset;
		site = look_at(symbols, &wanted);
		if (!site)
			break;
		if (site->shown)
			return site->shown;
		if (site->found.argument == SYSCALL_UNKNOWN)
			break;
		wanted.slot = (uint32_t)site->found.argument;
	}
	return symbols->unknown;
}

void syscall_symbols_release(struct syscall_symbols *symbols)
{
	struct syscall_site *site;

	special_symbols_release(&symbols->listed);
	HASH_FREE_ALL(symbols->sites, site);
	*symbols = (struct syscall_symbols){ 0 };
}
