/* SPDX-License-Identifier: MIT */
/* Follow the stack pointer and the words that code writes to the stack: see stack_effect.h. */
#include "decoder/code/stack_effect.h"

#include "decoder/code/insn.h"

/*
 * Limits, in bytes, of straight-line code between a load of RSP and a jump or return (this code
 * restores registers), or a call; between a store of RSP and a call; and between a word written to
 * the stack and the jump or return that uses it. All are small, because hostile files can make the
 * code before each branch be decoded.
 */
#define JUMP_BYTES     128
#define CALL_BYTES     16
#define KEPT_BYTES     64
#define PUT_BYTES      16
#define RETURN_BYTES   8
#define FUNCTION_BYTES 4096

/* Instructions followed at a call's target: 16 calls of an RSB refill, and the code in between. */
#define TARGET_INSNS 96
/* Code near a function's start uses a return address: setjmp() saves seven registers first. */
#define TARGET_BYTES 96
/* Maximum depth of calls within a function. */
#define INNER_CALLS 32

/* Register numbers: SDM volume 2, table 2-2. */
enum { RSP = 4, RBP = 5 };

/* No word: an offset that code never reaches. */
#define NO_WORD INT64_MIN

/* The stack after the code so far. A word is identified by `depth` when it is on top. */
struct sp_state {
	bool written;     /* loaded from anywhere */
	bool loaded;      /* in straight-line code, from outside this stack */
	bool saved;       /* copied to memory or a register except RBP, the frame's */
	bool sp_kept;     /* a copy is in memory outside the stack */
	bool sp_stored;   /* straight-line code stored this copy from RSP itself */
	bool kept;        /* the return address is in memory outside the stack */
	bool replaced;    /* the word at depth 0 is not the return address */
	unsigned holds;   /* bit set of registers with a copy of RSP */
	unsigned returns; /* registers with the return address */
	unsigned loads;   /* registers loaded from memory outside the stack */
	unsigned chains;  /* registers of these whose address was also loaded */
	bool found;       /* the address of RSP's value was loaded */
	int64_t depth;    /* bytes pushed */
	int64_t put;      /* last word written by straight-line code, or NO_WORD */
	uint64_t value;   /* address written to `put`; 0: unknown */
	int64_t under;    /* word written before `put`, below it, or NO_WORD */
	uint64_t under_value;
	uint64_t addresses[INSN_NO_REGISTER]; /* in registers; 0: unknown */
};

static struct insn insn_at(const struct function_code *code, uint64_t offset,
			   struct insn_fields *fields)
{
	return insn_decode_fields(code->bytes + offset, code->size - offset, INSN_MODE_64, fields);
}

/* ---- Instructions -------------------------------------------------------- */

/* RSP is loaded. */
static void load(struct sp_state *state, bool from_here)
{
	state->written = true;
	state->loaded = !from_here;
	state->put = NO_WORD;
}

/* A constant is added to RSP. */
static void take_down(struct sp_state *state, int64_t bytes)
{
	state->depth -= bytes;
	if (state->put > state->depth)
		state->put = NO_WORD;
}

static void forget_register(struct sp_state *state, unsigned reg)
{
	state->holds &= ~(1U << reg);
	state->returns &= ~(1U << reg);
	state->loads &= ~(1U << reg);
	state->chains &= ~(1U << reg);
	state->addresses[reg] = 0;
}

/* Code writes the word `displacement` bytes above RSP. */
static void put(struct sp_state *state, int64_t displacement, uint64_t value, bool is_return)
{
	int64_t word = state->depth - displacement;

	state->under = state->put < word ? state->put : NO_WORD;
	state->under_value = state->value;
	state->put = word;
	state->value = value;
	if (!state->put)
		state->replaced = !is_return;
}

static void put_register(struct sp_state *state, int64_t displacement, unsigned reg)
{
	put(state, displacement, state->addresses[reg], state->returns >> reg & 1);
}

static void push_register(struct sp_state *state, unsigned reg)
{
	state->depth += 8;
	put_register(state, 0, reg);
	state->saved |= reg == RSP;
}

static void push_value(struct sp_state *state, uint64_t value)
{
	state->depth += 8;
	put(state, 0, value, false);
}

/* Code loads the word `displacement` bytes above RSP into a register. */
static void get_word(struct sp_state *state, int64_t displacement, unsigned reg)
{
	forget_register(state, reg);
	if (state->depth == displacement && !state->replaced)
		state->returns |= 1U << reg;
}

static void pop(struct sp_state *state, unsigned reg)
{
	if (reg == RSP) {
		load(state, false);
		return;
	}
	get_word(state, 0, reg);
	take_down(state, 8);
}

/* A register is loaded from memory or a register. */
static void load_register(struct sp_state *state, const struct insn_fields *from, unsigned to)
{
	bool here = from->base == RSP || from->base == RBP;
	bool loaded = from->memory ? !here : state->loads >> from->base & 1;
	bool chain = (from->memory ? state->loads : state->chains) >> from->base & 1;

	if (to == RSP) {
		state->found = chain;
		load(state, here || (!from->memory && state->holds >> from->base & 1));
	} else if (from->on_stack) {
		get_word(state, from->displacement, to);
	} else if (from->base == RSP && !from->memory) {
		forget_register(state, to);
		state->saved |= to != RBP;
		state->holds |= 1U << to;
	} else {
		bool has_return = !from->memory && state->returns >> from->base & 1;
		uint64_t address = from->memory ? 0 : state->addresses[from->base];

		forget_register(state, to);
		state->returns |= (unsigned)has_return << to;
		state->loads |= (unsigned)loaded << to;
		state->chains |= (unsigned)chain << to;
		state->addresses[to] = address;
	}
}

/* MOV r/m64, r64. */
static void store_register(struct sp_state *state, const struct insn_fields *operands)
{
	struct insn_fields from = { .base = operands->reg };
	bool has_sp = operands->reg == RSP || state->holds >> operands->reg & 1;

	if (!operands->memory) {
		load_register(state, &from, operands->base);
		return;
	}
	state->saved |= has_sp && operands->reg != RBP;
	if (operands->on_stack)
		put_register(state, operands->displacement, operands->reg);
	if (operands->base == RSP || operands->base == RBP)
		return;
	state->sp_kept |= has_sp;
	state->sp_stored |= operands->reg == RSP;
	state->kept |= state->returns >> operands->reg & 1;
}

/* LEA computes an address in the frame or in code; LEA to RSP moves the stack pointer. */
static void load_address(struct sp_state *state, const struct insn_fields *operands, uint64_t next)
{
	if (operands->reg == RSP && operands->on_stack) {
		take_down(state, operands->displacement);
	} else if (operands->reg == RSP) {
		load(state, true);
	} else {
		forget_register(state, operands->reg);
		if (operands->base == RSP)
			state->holds |= 1U << operands->reg;
		if (operands->base == INSN_NO_REGISTER)
			state->addresses[operands->reg] = next + (uint64_t)operands->displacement;
	}
}

static void exchange(struct sp_state *state, const struct insn_fields *operands)
{
	if (operands->reg == RSP || (!operands->memory && operands->base == RSP)) {
		load(state, false);
		state->saved = true;
		return;
	}
	if (operands->on_stack)
		put_register(state, operands->displacement, operands->reg);
	forget_register(state, operands->reg);
}

/* ADD or SUB of an immediate value: the register is no longer a plain pointer. */
static void add(struct sp_state *state, const struct insn_fields *operands, int64_t value)
{
	if (operands->memory && operands->on_stack)
		put(state, operands->displacement, 0, false);
	else if (!operands->memory && operands->base == RSP)
		take_down(state, value);
	else if (!operands->memory)
		state->loads &= ~(1U << operands->base);
}

/* Follow an instruction with ModRM and operands of 64 bits; the next one is at `next`. */
static void follow_operands(struct sp_state *state, const struct insn_fields *fields, uint64_t next)
{
	unsigned operation = fields->modrm >> 3 & 7;

	switch (fields->opcode) {
	case 0x8b:
		load_register(state, fields, fields->reg);
		break;
	case 0x89:
		store_register(state, fields);
		break;
	case 0x8d:
		load_address(state, fields, next);
		break;
	case 0x87:
		exchange(state, fields);
		break;
	case 0x81:
	case 0x83:
		if (operation == 0 || operation == 5)
			add(state, fields,
			    operation ? -(int64_t)fields->immediate : fields->immediate);
		break;
	case 0xc7:
		if (fields->on_stack)
			put(state, fields->displacement, (uint64_t)fields->immediate, false);
	}
}

static void follow(struct sp_state *state, const struct insn_fields *fields, uint64_t next)
{
	uint8_t opcode = fields->opcode, reg = fields->opcode_reg;

	if (fields->map != INSN_MAP_0 || fields->prefixed)
		return;
	if (opcode >> 3 == 0x50 >> 3)
		push_register(state, reg);
	else if (opcode >> 3 == 0x58 >> 3)
		pop(state, reg);
	else if (opcode == 0x68 || opcode == 0x6a)
		push_value(state, opcode == 0x68 ? (uint64_t)fields->immediate : 0);
	else if (opcode == 0x9c) /* pushf */
		push_value(state, 0);
	else if (opcode == 0x9d) /* popf */
		take_down(state, 8);
	else if (opcode == 0xc9) /* leave */
		load(state, true);
	else if (opcode == 0x94 && (fields->rex & (INSN_REX_W | INSN_REX_B)) == INSN_REX_W)
		exchange(state, &(struct insn_fields){ .reg = RSP }); /* xchg %rax, %rsp */
	else if (opcode >> 3 == 0xb8 >> 3 && fields->immediate_size == 4) {
		forget_register(state, reg);
		state->addresses[reg] = (uint32_t)fields->immediate;
	} else if (opcode == 0xff && (fields->modrm & 0x38) == 0x30)
		push_value(state, 0);
	else if (fields->rex & INSN_REX_W)
		follow_operands(state, fields, next);
}

/* ---- Before a branch ------------------------------------------------ */

/* Quick check whether bytes can be the end of an instruction that loads RSP. */
static inline bool may_load(const uint8_t *bytes)
{
	switch (bytes[1]) {
	case 0x8b: /* to reg */
		return (bytes[0] & 0xfc) == 0x48 && (bytes[2] & 0x38) == 0x20;
	case 0x89: /* to a register */
		return (bytes[0] & 0xf9) == 0x48 && (bytes[2] & 0xc7) == 0xc4;
	case 0x87:
	case 0x94:
		return (bytes[0] & 0xf8) == 0x48;
	case 0x5c: /* except a ModRM byte with a SIB byte of RSP */
		return bytes[0] != 0x41 && bytes[2] != 0x24;
	default:
		return false;
	}
}

/* Most branches have no load of RSP near them. */
static bool may_load_before(const uint8_t *code, uint64_t offset, uint64_t straight)
{
	uint64_t at = offset > straight ? offset - straight : 0;

	if (offset && code[0] == 0x5c)
		return true;
	for (; at + 1 < offset; at++) {
		if (may_load(code + at))
			return true;
	}
	return false;
}

/* Most calls have no store of RSP before them. */
static bool may_keep_before(const uint8_t *code, uint64_t offset, uint64_t straight)
{
	uint64_t at = offset > straight ? offset - straight : 0;

	for (; at + 2 < offset; at++) {
		if (code[at + 1] == 0x89 && (code[at] & 0xfe) == 0x48 &&
		    (code[at + 2] & 0x38) == 0x20 && code[at + 2] < 0xc0)
			return true;
	}
	return false;
}

/* Quick check whether a store of a word near the stack's top can end after two bytes. */
static inline bool may_store(const uint8_t *bytes)
{
	return (bytes[0] & 0x87) == 0x04 && bytes[1] == 0x24 &&
	       (bytes[-1] == 0x89 || bytes[-1] == 0xc7 || bytes[-1] == 0x87 || bytes[-1] == 0x83);
}

/* Most branches have no write to the stack near them. */
static bool may_put_before(const uint8_t *code, uint64_t offset, uint64_t straight)
{
	uint64_t at = offset > straight ? offset - straight : 0;

	for (; at < offset; at++) {
		if (code[at] >> 3 == 0x50 >> 3 || code[at] == 0x68)
			return true;
		if (at + 1 < offset && ((code[at] == 0xff && (code[at + 1] & 0x38) == 0x30) ||
					(at && may_store(code + at))))
			return true;
	}
	return false;
}

/*
 * Follow code to an offset; loads of RSP count for `straight` bytes. Returns whether it is reached.
 */
static bool follow_to(struct sp_state *state, const struct function_code *code, uint64_t offset,
		      uint64_t straight)
{
	uint64_t at = 0, loaded_at = 0;

	while (at < offset) {
		struct insn_fields fields;
		struct insn insn = insn_at(code, at, &fields);
		bool loaded = state->loaded;

		if (!insn.length)
			return false;
		follow(state, &fields, code->begin + at + insn.length);
		if (state->loaded && !loaded)
			loaded_at = at;
		/* The code after this is reached by other paths. */
		if (insn.kind == BRANCH_JUMP || insn.kind == BRANCH_RETURN) {
			state->loaded = false;
			state->put = NO_WORD;
		}
		at += insn.length;
	}
	state->loaded &= offset - loaded_at <= straight;
	return at == offset;
}

/* Returns whether straight-line code, from an offset to the next jump or return, loads RSP. */
static bool loads_sp_after(const struct function_code *code, uint64_t offset)
{
	uint64_t end = offset + JUMP_BYTES;
	struct sp_state state = { 0 };

	while (offset < end && offset < code->size && !state.written) {
		struct insn_fields fields;
		struct insn insn = insn_at(code, offset, &fields);

		if (!insn.length || insn.kind == BRANCH_JUMP || insn.kind == BRANCH_RETURN)
			break;
		follow(&state, &fields, 0);
		offset += insn.length;
	}
	return state.written;
}

static enum stack_effect effect_of(const struct function_code *code, const struct sp_state *state,
				   const struct insn *insn, uint64_t offset)
{
	bool put_on_top = state->put == state->depth;

	if (state->loaded && insn->kind == BRANCH_CALL) {
		if (loads_sp_after(code, offset + insn->length))
			return STACK_CALLS_APART;
		if (!insn->indirect)
			return STACK_ENDS_APART;
	}
	if (state->loaded && state->saved)
		return state->found && insn->kind == BRANCH_JUMP ? STACK_YIELDED : STACK_LEFT;
	if (state->loaded)
		return STACK_DROPPED;
	if (insn->kind == BRANCH_RETURN && put_on_top && state->under == state->depth - 8 &&
	    state->under_value - code->begin < code->size)
		return STACK_RETURN_CALLS;
	if (insn->kind == BRANCH_RETURN)
		return put_on_top && (state->depth || state->replaced) ? STACK_RETURN_JUMPS
								       : STACK_STAYS;
	if (insn->kind == BRANCH_JUMP)
		return put_on_top && state->value - code->begin < code->size ? STACK_JUMP_CALLS
									     : STACK_STAYS;
	return insn->kind == BRANCH_CALL && !state->written && state->sp_stored ? STACK_KEPT
										: STACK_STAYS;
}

/* Quick check whether the code before a branch can have an effect. */
static bool may_matter(const struct function_code *code, uint64_t offset, const struct insn *insn,
		       bool entry)
{
	if (insn->kind == BRANCH_CALL)
		return may_load_before(code->bytes, offset, CALL_BYTES) ||
		       may_keep_before(code->bytes, offset, KEPT_BYTES);
	if (insn->kind == BRANCH_JUMP)
		return (entry && may_put_before(code->bytes, offset, PUT_BYTES)) ||
		       ((entry || insn->indirect) &&
			may_load_before(code->bytes, offset, JUMP_BYTES));
	return may_put_before(code->bytes, offset, RETURN_BYTES) ||
	       may_load_before(code->bytes, offset, JUMP_BYTES);
}

struct stack_branch_effect stack_effect_of_branch(const struct function_code *code, uint64_t offset,
						  bool entry)
{
	struct stack_branch_effect result = { .effect = STACK_NOT_KNOWN };
	struct sp_state state = { .put = NO_WORD };
	struct insn insn;

	if (offset >= code->size || offset > FUNCTION_BYTES)
		return result;
	insn = insn_at(code, offset, NULL);
	result.kind = insn.kind;
	if (insn.kind != BRANCH_CALL && insn.kind != BRANCH_JUMP && insn.kind != BRANCH_RETURN)
		return result;
	result.effect = STACK_STAYS;
	if (!may_matter(code, offset, &insn, entry))
		return result;
	result.effect = STACK_NOT_KNOWN;
	if (!follow_to(&state, code, offset, insn.kind == BRANCH_CALL ? CALL_BYTES : JUMP_BYTES))
		return result;
	result.effect = effect_of(code, &state, &insn, offset);
	result.return_at = (result.effect == STACK_RETURN_CALLS ? state.under_value : state.value) -
			   code->begin;
	return result;
}

/* Returns whether an instruction adds a register or memory to RSP (follow() ignores it) or R12. */
static bool adds_register(const struct insn_fields *fields)
{
	return fields->map == INSN_MAP_0 && !fields->prefixed && fields->rex & INSN_REX_W &&
	       ((fields->opcode == 0x01 && !fields->memory && (fields->base & 7) == RSP) ||
		(fields->opcode == 0x03 && (fields->reg & 7) == RSP));
}

static bool is_jump(const struct function_code *code, uint64_t offset)
{
	struct insn insn = insn_at(code, offset, NULL);

	return insn.kind == BRANCH_JUMP || insn.kind == BRANCH_COND;
}

uint64_t stack_effect_keeps_frame_from(const struct function_code *code, uint64_t offset)
{
	const struct sp_state fresh = { .put = NO_WORD };
	struct sp_state state = fresh;
	uint64_t next, drop = 0, from = 0;
	bool reached = false;

	if (offset >= code->size || code->size > FUNCTION_BYTES || !is_jump(code, offset))
		return NEVER_KEPT;
	for (uint64_t at = 0; at < code->size && from <= offset; at = next) {
		struct insn_fields fields;
		struct insn insn = insn_at(code, at, &fields);
		uint64_t to = at + insn.length + (uint64_t)(int64_t)insn.distance;

		next = at + (insn.length ? insn.length : 1);
		/* Data: LuaJIT stores an address before the code of its callbacks. */
		if (!insn.length) {
			from = drop = next;
			continue;
		}
		reached |= at == offset;
		follow(&state, &fields, 0);
		if (state.written || state.depth < 0 || adds_register(&fields)) {
			drop = next;
			state = fresh;
		}
		/* A path that drops something continues in this code. */
		if ((insn.kind == BRANCH_COND || insn.kind == BRANCH_JUMP) &&
		    (insn.indirect || at == offset || to < code->size))
			from = drop = to < from ? next : drop;
		if (insn.kind == BRANCH_JUMP || insn.kind == BRANCH_RETURN) {
			state = fresh;
			drop = from;
		}
	}
	return reached && from <= offset ? from : NEVER_KEPT;
}

/* ---- At a call's target -------------------------------------------------- */

/* Code at the target of a call, and its calls that have not returned. */
struct target_path {
	struct sp_state state;
	uint64_t at;
	struct inner_call {
		uint64_t resume; /* its return address */
		int64_t depth;
	} calls[INNER_CALLS];
	size_t count;
	bool returned; /* from an inner call */
};

/* Follow a direct branch if its target is in the same function. Returns whether it is. */
static bool go(struct target_path *path, const struct function_code *code, const struct insn *insn)
{
	uint64_t to = path->at + insn->length + (uint64_t)(int64_t)insn->distance;

	if (insn->indirect || to >= code->size)
		return false;
	path->at = to;
	return true;
}

static bool enter_inner_call(struct target_path *path, const struct function_code *code,
			     const struct insn *insn)
{
	uint64_t next = path->at + insn->length;

	if (path->count == INNER_CALLS || !go(path, code, insn))
		return false;
	path->state.depth += 8;
	path->calls[path->count++] = (struct inner_call){ next, path->state.depth };
	return true;
}

/* Follow a return from an inner call. Returns whether it is one. */
static bool leave_inner_call(struct target_path *path)
{
	while (path->count && path->calls[path->count - 1].depth > path->state.depth)
		path->count--;
	if (!path->count || path->calls[path->count - 1].depth != path->state.depth)
		return false;
	path->at = path->calls[--path->count].resume;
	path->state.depth -= 8;
	path->returned = true;
	return true;
}

/* Returns the fate of the return address at a branch that is not followed. */
static enum target_effect fate_at(const struct target_path *path)
{
	const struct sp_state *state = &path->state;

	if (state->written)
		return TARGET_RETURNS; /* swapcontext() also saves it, but leaves the stack */
	if (state->depth < 0)
		return TARGET_DROPS;
	if (!state->depth && state->replaced)
		return TARGET_REPLACES_FIRST;
	return state->kept && state->sp_kept ? TARGET_SAVES : TARGET_RETURNS;
}

static enum target_effect fate_at_return(const struct target_path *path)
{
	const struct sp_state *state = &path->state;

	if (state->depth > 0 && state->put == state->depth)
		return TARGET_CALLS;
	if (state->depth == 0 && state->replaced && !path->returned)
		return TARGET_REPLACES;
	return fate_at(path);
}

/* Follow one instruction. Returns whether to continue; false: sets `*fate`. */
static bool follow_target(struct target_path *path, const struct function_code *code,
			  enum target_effect *fate)
{
	struct insn_fields fields;
	struct insn insn = insn_at(code, path->at, &fields);
	uint64_t next = path->at + insn.length;

	*fate = fate_at(path);
	if (!insn.length || path->state.written)
		return false;
	switch ((enum branch_kind)insn.kind) {
	case BRANCH_NONE:
	case BRANCH_SYSCALL:
		follow(&path->state, &fields, code->begin + next);
		path->at = next;
		return true;
	case BRANCH_COND:
		path->at = next;
		return path->state.depth >= 0;
	case BRANCH_CALL:
		return path->state.depth >= 0 && enter_inner_call(path, code, &insn);
	case BRANCH_JUMP:
		/* To the return address, in a register. */
		if (fields.opcode == 0xff && !fields.memory &&
		    path->state.returns >> fields.base & 1)
			*fate = TARGET_RETURNS;
		return path->state.depth >= 0 && go(path, code, &insn);
	case BRANCH_RETURN:
		*fate = fate_at_return(path);
		return path->state.put != path->state.depth && path->state.depth > 0 &&
		       leave_inner_call(path);
	default:
		return false;
	}
}

/* Quick check whether a function's start can have (%rsp), its return address, as an operand. */
static bool may_use_return_address(const struct function_code *code)
{
	size_t size = MIN(code->size, TARGET_BYTES);

	for (size_t i = 0; i + 1 < size; i++) {
		if ((code->bytes[i] & 0xc7) == 0x04 && code->bytes[i + 1] == 0x24)
			return true;
	}
	return false;
}

enum target_effect stack_effect_of_target(const struct function_code *code, uint64_t offset)
{
	struct target_path path = { .state.put = NO_WORD, .at = offset };
	enum target_effect fate = TARGET_RETURNS;

	if (!offset && !may_use_return_address(code))
		return fate;
	for (int i = 0; i < TARGET_INSNS && path.at < code->size; i++) {
		if (!follow_target(&path, code, &fate))
			return fate;
	}
	return TARGET_RETURNS;
}

bool stack_effect_pops_return(const struct function_code *code, uint64_t offset)
{
	struct sp_state state = { .put = NO_WORD };
	struct insn_fields fields;
	struct insn insn;

	if (offset >= code->size || offset > TARGET_BYTES)
		return false;
	for (uint64_t at = 0; at < offset; at += insn.length) {
		insn = insn_at(code, at, &fields);
		if (!insn.length || insn.kind == BRANCH_JUMP || insn.kind == BRANCH_RETURN)
			return false;
		follow(&state, &fields, 0);
		if (fields.map == INSN_MAP_0 && !fields.prefixed && fields.opcode == 0x8f)
			take_down(&state, 8); /* pop to memory */
	}
	return state.depth < 0 && !state.written;
}

bool stack_effect_continues_frame(const struct function_code *code)
{
	struct target_path path = { .state.put = NO_WORD };

	for (int i = 0; i < TARGET_INSNS && path.at < code->size; i++) {
		struct insn_fields fields;
		struct insn insn = insn_at(code, path.at, &fields);

		if (!insn.length || insn.kind == BRANCH_RETURN)
			return false;
		if (insn.kind == BRANCH_JUMP && !go(&path, code, &insn))
			return false;
		if (insn.kind == BRANCH_JUMP)
			continue;
		path.at += insn.length;
		if (insn.kind == BRANCH_NONE)
			follow(&path.state, &fields, code->begin + path.at);
		if (path.state.written)
			return !path.state.loaded && !(path.state.holds >> RBP & 1);
		if (path.state.depth < 0)
			return true;
	}
	return false;
}
