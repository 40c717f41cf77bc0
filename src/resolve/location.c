/* SPDX-License-Identifier: MIT */
/* Classify calls and jumps: see location.h. */
#include "src/resolve/location.h"

#include "decoder/code/insn.h"
#include "symbols/dso/dso_store.h"

/* setjmp, _setjmp, sigsetjmp, __sigsetjmp, and their stubs. */
static bool is_setjmp(const struct name *name)
{
	return ends_with(name->text, "setjmp") || ends_with(name->text, "setjmp@plt");
}

/*
 * Functions of libgcc, libunwind, libstdc++, libc++abi and libc that always unwind (Itanium C++
 * ABI: Exception Handling, 1.3 and 2.4; POSIX: longjmp), and their stubs.
 */
static bool never_returns(const struct name *name)
{
	static const char *const unwinders[] = {
		"_Unwind_Resume", "__cxa_throw",  "__cxa_rethrow",    "longjmp",
		"_longjmp",       "siglongjmp",   "__longjmp_chk",    "____longjmp_chk",
		"__longjmp",      "pthread_exit", "__pthread_unwind",
	};
	size_t length = strcspn(name->text, "@");

	for (size_t i = 0; i < COUNT_OF(unwinders); i++) {
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
 * Functions of Go's runtime (runtime/asm_amd64.s), for text input, which has no code. A goroutine
 * is parked by mcall() or morestack(), which call the scheduler on another stack, and resumed by
 * gogo().
 */
static enum call_effect stack_switch_by_name(const struct name *name)
{
	static const char *const parking[] = { "runtime.mcall", "runtime.morestack",
					       "runtime.morestack.abi0" };

	for (size_t i = 0; i < COUNT_OF(parking); i++) {
		if (strcmp(name->text, parking[i]) == 0)
			return SWITCHES_STACK;
	}
	return strcmp(name->text, "gogo") == 0 ? DROPS_STACK : CALL_NOT_KNOWN;
}

/* Returns the code of a function or stub; empty if it is not available. */
static struct function_code code_of(const struct symbol *symbol)
{
	struct function_code code = { .begin = symbol ? symbol->start : 0 };

	if (!symbol_is_function(symbol) || !symbol->dso)
		return code;
	code.bytes = dso_borrow_code(symbol->dso, symbol->start, &code.size);
	code.size = MIN(code.size, symbol->size);
	return code;
}

bool location_is_of_uprobes(const struct location *location)
{
	const struct symbol *symbol = location->symbol;

	if (!symbol || symbol_is_function(symbol))
		return false;
	return symbol->dso
		       ? strcmp(symbol->dso->path, LOCATION_UPROBES) == 0
		       : starts_with(symbol->name->text, LOCATION_UPROBES); /* compares a text */
}

uint8_t location_call_length(const struct symbol *caller, uint64_t ip, const struct location *entry)
{
	const struct function_code code = code_of(caller);
	uint64_t load = entry->ip - entry->offset - (entry->symbol ? entry->symbol->start : 0);
	uint64_t offset = ip - load - code.begin;
	struct insn insn;

	if (!location_is_entry(entry) || entry->symbol->dso != caller->dso || offset >= code.size)
		return 0;
	insn = insn_decode(code.bytes + offset, code.size - offset, INSN_MODE_64);
	return insn.kind == BRANCH_CALL && !insn.indirect &&
			       ip + insn.length + (uint64_t)(int64_t)insn.distance == entry->ip
		       ? insn.length
		       : 0;
}

bool location_jumps_far(const struct location *from)
{
	const struct function_code code = code_of(from->symbol);
	struct insn_fields fields;
	struct insn insn = { 0 };

	/* Opcode EA is one of 32-bit code only; opcode FF /5 is the same in both modes. */
	for (enum insn_mode mode = INSN_MODE_64; mode <= INSN_MODE_32 && !insn.length; mode++)
		if (from->offset < code.size)
			insn = insn_decode_fields(code.bytes + from->offset,
						  code.size - from->offset, mode, &fields);
	return insn.kind == BRANCH_SOFTINT && fields.map == INSN_MAP_0 &&
	       (fields.opcode == 0xea || (fields.opcode == 0xff && (fields.modrm >> 3 & 7) == 5));
}

/* Least and most bytes of a near call, with REX, SIB and displacement: SDM volume 2, "CALL". */
#define CALL_LEAST 2
#define CALL_MOST  8

bool location_follows_call(const struct location *location)
{
	const struct function_code code = code_of(location->symbol);
	uint64_t most = location->offset <= code.size ? MIN(location->offset, CALL_MOST) : 0;

	for (uint64_t n = CALL_LEAST; n <= most; n++) {
		struct insn insn = insn_decode(code.bytes + location->offset - n, n, INSN_MODE_64);

		if (insn.kind == BRANCH_CALL && insn.length == n)
			return true;
	}
	return false;
}

bool location_is_bare(const struct symbol *function, uint64_t offset)
{
	const struct function_code code = code_of(function);

	/* A function like setjmp() returns, so it cannot call setjmp() on its own stack. */
	return code.size ? stack_effect_pops_return(&code, offset)
			 : function && is_setjmp(function->name);
}

/* Returns whether a location is the entry of a function that continues a frame. */
static bool continues_frame(const struct location *to)
{
	const struct function_code code = code_of(to->symbol);

	return location_is_function_entry(to) && stack_effect_continues_frame(&code);
}

/* Returns the effect of a branch by the code before it, or CALL_NOT_KNOWN. */
static enum call_effect effect_of_origin(const struct stack_branch_effect *branch,
					 const struct location *from, const struct location *to)
{
	/* By whether the branch leads to the entry of a function; others are CALL_NOT_KNOWN. */
	static const enum call_effect effects[][2] = {
		[STACK_KEPT] = { CALL_NOT_KNOWN, CALL_CATCHES },
		[STACK_CALLS_APART] = { CALL_APART, CALL_APART },
		[STACK_ENDS_APART] = { CALL_ENDS_APART, CALL_ENDS_APART },
		[STACK_LEFT] = { SWITCHES_STACK, SWITCHES_STACK },
		[STACK_DROPPED] = { DROPS_STACK, DROPS_STACK },
		[STACK_YIELDED] = { YIELDS_STACK, YIELDS_STACK },
		[STACK_RETURN_JUMPS] = { RETURN_JUMPS, RETURN_JUMPS },
		[STACK_RETURN_CALLS] = { RETURN_JUMPS, JUMP_CALLS },
		[STACK_JUMP_CALLS] = { CALL_NOT_KNOWN, JUMP_CALLS },
	};

	/* The page's address has replaced the return address, so the function returns there. */
	if (branch->effect == STACK_STAYS && branch->kind == BRANCH_RETURN)
		return location_is_of_uprobes(to) ? RETURN_JUMPS : RETURN_STAYS;
	/* The kernel has a stack per thread and several per CPU, and copies data between them. */
	if (branch->effect < STACK_RETURN_JUMPS && ip_is_kernel(from->ip))
		return CALL_NOT_KNOWN;
	if (branch->effect == STACK_DROPPED && continues_frame(to))
		return THROWS_TO_ENTRY;
	return effects[branch->effect][location_is_function_entry(to)];
}

/* Returns the effect of a call or jump by the code at its target, or CALL_NOT_KNOWN. */
static enum call_effect effect_of_target(bool jump, const struct location *to)
{
	const struct function_code code = code_of(to->symbol);
	bool named = location_is_function_entry(to) && to->symbol->kind != SYMBOL_UNNAMED;

	switch (code.size ? stack_effect_of_target(&code, to->offset) : TARGET_RETURNS) {
	case TARGET_SAVES:
		return jump ? JUMP_SETJMP : CALL_SETJMP;
	case TARGET_DROPS:
	case TARGET_REPLACES_FIRST:
		return jump || named ? CALL_NOT_KNOWN : CALL_PASSES;
	case TARGET_REPLACES:
		return jump ? CALL_NOT_KNOWN : named ? CALL_NEVER_RETURNS : CALL_PASSES;
	case TARGET_CALLS:
		return jump || named ? CALL_NOT_KNOWN : CALL_PASSES_ON;
	default:
		return CALL_NOT_KNOWN;
	}
}

/* Returns the effect of a branch by its code, or CALL_NOT_KNOWN. */
static enum call_effect effect_by_code(const struct location *from, const struct location *to,
				       uint64_t *return_at)
{
	const struct function_code code = code_of(from->symbol);
	struct stack_branch_effect branch =
		stack_effect_of_branch(&code, from->offset, location_is_entry(to));
	enum call_effect effect = effect_of_origin(&branch, from, to);

	*return_at = branch.return_at;
	if (effect != CALL_NOT_KNOWN || branch.kind == BRANCH_RETURN)
		return effect;
	if (branch.kind == BRANCH_CALL)
		return effect_of_target(false, to);
	return branch.kind == BRANCH_JUMP && location_is_function_entry(to)
		       ? effect_of_target(true, to)
		       : CALL_NOT_KNOWN;
}

/* Bytes of a direct near call: SDM volume 2, "CALL". */
#define CALL_LENGTH 5

/* Returns the effect of a call by names. */
static enum call_effect effect_by_name(const struct location *from, const struct location *to)
{
	enum call_effect effect = symbol_is_function(from->symbol) && !from->symbol->dso
					  ? stack_switch_by_name(from->symbol->name)
					  : CALL_NOT_KNOWN;

	if (effect != CALL_NOT_KNOWN)
		return effect;
	if (to->ip == from->ip + CALL_LENGTH && !location_is_entry(to))
		return CALL_PASSES;
	if (to->symbol && is_setjmp(to->symbol->name))
		return CALL_SETJMP;
	if (to->symbol && !to->offset)
		return never_returns(to->symbol->name) ? CALL_NEVER_RETURNS : CALL_ENTERS;
	return CALL_OTHER;
}

/* Returns the offset from which a jump into another function's body keeps its frame. */
static uint64_t jump_stays_from(const struct location *from, const struct location *to,
				const struct function_code *made)
{
	struct function_code code = code_of(from->symbol);

	if (!symbol_is_function(to->symbol) || location_is_entry(to) ||
	    from->symbol == to->symbol || ip_is_kernel(from->ip))
		return NEVER_KEPT;
	return stack_effect_keeps_frame_from(!code.size && made ? made : &code, from->offset);
}

/* Set `plain` and `to_stub` of a pair whose names and effect are set. */
static void set_plain(struct location_pair *locations)
{
	const struct symbol *from = locations->from.symbol, *to = locations->to.symbol;
	unsigned kinds = 1u << BRANCH_RETURN;

	if (!symbol_is_function(from) || !to || location_jumps_unusually(locations))
		return;
	if (locations->call == CALL_ENTERS)
		kinds |= 1u << BRANCH_CALL;
	if (location_is_function_entry(&locations->to) &&
	    symbol_function(from) != symbol_function(to))
		kinds |= 1u << BRANCH_JUMP | 1u << BRANCH_COND;
	locations->plain = (uint8_t)kinds;
	locations->to_stub = to->kind == SYMBOL_PLT;
}

void location_pair_switch(struct location_pair *locations)
{
	if (locations->from.symbol == locations->to.symbol || !locations->to.symbol)
		return;
	locations->call = location_is_function_entry(&locations->to) ? CALL_ENTERS : COPIES_STACK;
	locations->plain = 0;
	set_plain(locations);
}

struct location_pair location_pair_of(const struct location *from, const struct location *to,
				      const struct function_code *made)
{
	struct location_pair locations = { .from = *from, .to = *to };
	uint64_t at = 0, kept;
	enum call_effect effect = effect_by_code(from, to, &at);

	locations.call = effect != CALL_NOT_KNOWN ? effect : effect_by_name(from, to);
	if (locations.call == CALL_OTHER &&
	    (kept = jump_stays_from(from, to, made)) != NEVER_KEPT) {
		locations.call = JUMP_STAYS;
		at = kept;
	}
	locations.offset = at & INT32_MAX;
	set_plain(&locations);
	return locations;
}
