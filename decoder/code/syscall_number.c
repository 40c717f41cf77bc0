/* SPDX-License-Identifier: MIT */
/* Follows the code of a function once, in the order of addresses. */
#include "decoder/code/syscall_number.h"

enum { REGISTER_EAX = 0, REGISTER_ECX = 1, REGISTER_ESP = 4, REGISTER_R11 = 11 };

/* Words of the stack that are followed, and words of the caller that hold arguments. */
#define WORDS           40
#define STACK_ARGUMENTS 8

/* Limits: forward jumps that are pending at a time, loops, bytes of a loop, and passes over one. */
#define TARGETS_MOST 32
#define LOOPS_MOST   32
#define LOOP_BYTES   4096
#define ROUNDS_MOST  4

/*
 * The value of each register or stack word: the lower 32 bits of a constant, an argument of
 * the function, or unknown.  Words of the stack are followed in 64-bit code only.
 */
struct values {
	struct value {
		enum { VALUE_UNKNOWN = 0, VALUE_CONSTANT, VALUE_ARGUMENT } kind;
		int32_t number;
	} places[SYSCALL_STACK + WORDS];
};

static const struct value unknown;

static struct value *words_of(struct values *values)
{
	return values->places + SYSCALL_STACK;
}

static void forget_values(struct values *values)
{
	memset(values, 0, sizeof(*values));
}

static void forget_stack(struct values *values)
{
	memset(words_of(values), 0, WORDS * sizeof(unknown));
}

/*
 * At a function's begin, registers and words hold its arguments, the top word its return address.
 */
static void begin_function(struct values *values, enum insn_mode mode)
{
	forget_values(values);
	for (int32_t i = 0; i < SYSCALL_STACK; i++)
		if (i != REGISTER_ESP)
			values->places[i] = (struct value){ VALUE_ARGUMENT, i };
	for (int32_t i = SYSCALL_STACK; i < SYSCALL_STACK + STACK_ARGUMENTS; i++)
		if (mode == INSN_MODE_64)
			values->places[i + 1] = (struct value){ VALUE_ARGUMENT, i };
}

/* Two paths join: keep the values that both have.  Returns whether any became unknown. */
static bool merge_values(struct values *values, const struct values *other)
{
	bool changed = false;

	for (size_t i = 0; i < SYSCALL_STACK + WORDS; i++) {
		struct value *value = &values->places[i];

		if (value->kind == VALUE_UNKNOWN || (value->kind == other->places[i].kind &&
						     value->number == other->places[i].number))
			continue;
		*value = unknown;
		changed = true;
	}
	return changed;
}

/* ---- Fields of an instruction -------------------------------------------- */

/* Bits of a REX prefix (SDM volume 2, "REX Prefixes"). */
enum { REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8 };

struct fields {
	uint8_t rex;    /* 0 if absent */
	bool bits32;    /* 32-bit code, which has no REX */
	bool narrow;    /* 16-bit operands */
	bool elsewhere; /* memory of another segment, or by a shorter address */
	bool map_0f;    /* the opcode follows 0f */
	uint8_t opcode, modrm;
	const uint8_t *rest; /* the bytes after ModRM, if there is one */
	size_t rest_size;
};

/* Returns false if the instruction has no opcode. */
static bool read_fields(const uint8_t *bytes, size_t size, enum insn_mode mode,
			struct fields *fields)
{
	size_t at = 0;

	*fields = (struct fields){ .bits32 = mode == INSN_MODE_32 };
	for (; at < size && bytes[at] &&
	       strchr("\x66\x67\xf0\xf2\xf3\x26\x2e\x36\x3e\x64\x65", bytes[at]);
	     at++) {
		fields->narrow |= bytes[at] == 0x66;
		fields->elsewhere |= bytes[at] >= 0x64 && bytes[at] <= 0x67 && bytes[at] != 0x66;
	}
	if (at < size && bytes[at] >> 4 == 4 && !fields->bits32)
		fields->rex = bytes[at++];
	if (at < size && bytes[at] == 0x0f) {
		fields->map_0f = true;
		at++;
	}
	if (at == size)
		return false;
	fields->opcode = bytes[at++];
	if (at < size)
		fields->modrm = bytes[at++];
	fields->rest = bytes + at;
	fields->rest_size = size - at;
	return true;
}

static unsigned reg_of(const struct fields *fields)
{
	return (fields->modrm >> 3 & 7) | (fields->rex & REX_R ? 8 : 0);
}

static unsigned rm_of(const struct fields *fields)
{
	return (fields->modrm & 7) | (fields->rex & REX_B ? 8 : 0);
}

/* Returns the register in the low bits of the opcode. */
static unsigned opcode_reg_of(const struct fields *fields)
{
	return (fields->opcode & 7) | (fields->rex & REX_B ? 8 : 0);
}

static bool rm_is_register(const struct fields *fields)
{
	return fields->modrm >> 6 == 3;
}

/*
 * The operand that an instruction writes, but for flags, pushed words and the memory of vectors
 * (SDM volume 2, appendix A, "Opcode Map"): '.' nothing; 'g' the register in ModRM.reg; 'm' the
 * register or memory in ModRM.rm; 'o' the register in the opcode; '*' perhaps anything.  Other
 * letters depend on more of the instruction.
 */
static const char written[16][17] = {
	"mmgg****mmgg****", "mmgg****mmgg****", "mmgg****mmgg****", "mmgg****......**",
	"iiiiiiiiiiiiiiii", "........oooooooo", "***a****.g.g****", "****************",
	"cc*c..**mmgg*g**", "n***************", "********..******", "oooooooooooooooo",
	"mm****mm********", "mmmm************", "****************", "****.*tt******ff",
};
static const char written_0f[16][17] = {
	"****************", "..............s.", "********..****..", "****************",
	"gggggggggggggggg", "*...............", "................", "***************.",
	"****************", "mmmmmmmmmmmmmmmm", "***************g", "******gg******gg",
	"****************", "******.*********", "***************.", "****************",
};

/* Returns one of '.', 'g', 'm', 'o' and '*'. */
static char written_by(const struct fields *fields)
{
	const char(*map)[17] = fields->map_0f ? written_0f : written;
	char operand = map[fields->opcode >> 4][fields->opcode & 15];
	unsigned operation = fields->modrm >> 3 & 7;

	switch (operand) {
	case 'i': /* inc, dec; else a REX prefix */
		return fields->bits32 ? 'o' : '*';
	case 'a': /* arpl; movsxd */
		return fields->bits32 ? '*' : 'g';
	case 'n': /* nop, or xchg with R8 */
		return fields->rex & REX_B ? '*' : '.';
	case 's': /* endbr64 and endbr32, or perhaps rdssp */
		return fields->modrm == 0xfa || fields->modrm == 0xfb ? '.' : 'm';
	case 'c': /* cmp, or add and such */
		return operation == 7 ? '.' : 'm';
	case 't': /* test; not, neg; mul */
		return operation < 2 ? '.' : operation < 4 ? 'm' : '*';
	case 'f': /* inc, dec; push */
		return operation < 2 ? 'm' : operation == 6 ? '.' : '*';
	default:
		return operand;
	}
}

/* ---- The stack ----------------------------------------------------------- */

static void push_value(struct values *values, struct value value)
{
	struct value *words = words_of(values);

	memmove(words + 1, words, (WORDS - 1) * sizeof(*words));
	words[0] = value;
}

static struct value pop_value(struct values *values)
{
	struct value *words = words_of(values), value = words[0];

	memmove(words, words + 1, (WORDS - 1) * sizeof(*words));
	words[WORDS - 1] = unknown;
	return value;
}

/* Add `bytes` to the stack pointer. */
static void move_stack(struct values *values, int64_t bytes)
{
	if (bytes % 8 || bytes < -8 * WORDS || bytes > 8 * WORDS) {
		forget_stack(values);
		return;
	}
	for (; bytes > 0; bytes -= 8)
		pop_value(values);
	for (; bytes < 0; bytes += 8)
		push_value(values, unknown);
}

static int32_t read_int32(const uint8_t *bytes)
{
	return (int32_t)((uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
			 (uint32_t)bytes[3] << 24);
}

/*
 * Returns whether the operand ModRM.rm is memory at a constant distance from the stack pointer;
 * sets that.
 */
static bool is_on_stack(const struct fields *fields, int32_t *distance)
{
	static const uint8_t sizes[] = { 1, 2, 5, UINT8_MAX }; /* of the SIB byte and the rest */
	uint8_t mod = fields->modrm >> 6;

	if (fields->elsewhere || (fields->modrm & 7) != 4 || fields->rex & (REX_B | REX_X) ||
	    fields->rest_size < sizes[mod] || fields->rest[0] != 0x24)
		return false; /* the SIB byte 24: ESP without index */
	*distance = mod == 0   ? 0
		    : mod == 1 ? (int8_t)fields->rest[1]
			       : read_int32(fields->rest + 1);
	return true;
}

/* Returns the word in memory that is ModRM.rm of an instruction of 64-bit operands, or NULL. */
static struct value *word_of(struct values *values, const struct fields *fields)
{
	int32_t distance;

	if (!is_on_stack(fields, &distance) || distance < 0 || distance % 8 ||
	    distance / 8 >= WORDS)
		return NULL;
	return words_of(values) + distance / 8;
}

/* Forget the words that a write of `bytes` bytes to the operand ModRM.rm may change. */
static void write_memory(struct values *values, const struct fields *fields, int32_t bytes)
{
	int32_t distance;

	if ((fields->modrm & 0xc7) == 5)
		return; /* relative to RIP: data of the program */
	if (!is_on_stack(fields, &distance)) {
		forget_stack(values); /* the address may be of the stack */
		return;
	}
	for (int32_t i = 0; i < WORDS; i++)
		if (8 * i + 7 >= distance && 8 * i - bytes < distance)
			words_of(values)[i] = unknown;
}

/* ---- Instructions -------------------------------------------------------- */

static struct value constant(int32_t number)
{
	return (struct value){ VALUE_CONSTANT, number };
}

/* Returns the value of the operand ModRM.rm. */
static struct value value_of_rm(struct values *values, const struct fields *fields)
{
	const struct value *at =
		rm_is_register(fields) ? &values->places[rm_of(fields)] : word_of(values, fields);

	return at ? *at : unknown;
}

/* Returns the value that an instruction writes. */
static struct value result_of(struct values *values, const struct fields *fields)
{
	if (fields->map_0f || fields->narrow)
		return unknown;
	/* Its first byte was taken for a ModRM. */
	if (fields->opcode >> 3 == 0xb8 >> 3 && !(fields->rex & REX_W) && fields->rest_size == 3)
		return constant(read_int32(fields->rest - 1));
	switch (fields->opcode) {
	case 0xc7: /* mov, not xbegin */
		if (!(fields->modrm & 0x38) && fields->rest_size >= 4)
			return constant(read_int32(fields->rest + fields->rest_size - 4));
		return unknown;
	case 0x29: /* sub and xor of a register and itself */
	case 0x2b:
	case 0x31:
	case 0x33:
		return rm_is_register(fields) && reg_of(fields) == rm_of(fields) ? constant(0)
										 : unknown;
	case 0x89:
		return values->places[reg_of(fields)];
	case 0x8b:
		return value_of_rm(values, fields);
	default:
		return unknown;
	}
}

/* Follow an instruction that may be a push. */
static void follow_push(struct values *values, const struct fields *fields)
{
	if (fields->map_0f)
		return;
	if (fields->opcode >> 3 == 0x50 >> 3)
		push_value(values, values->places[opcode_reg_of(fields)]);
	else if (fields->opcode == 0x68 && fields->rest_size == 3)
		push_value(values, constant(read_int32(fields->rest - 1)));
	else if (fields->opcode == 0x6a)
		push_value(values, constant((int8_t)fields->modrm));
	else if (fields->opcode == 0xff)
		push_value(values, value_of_rm(values, fields));
	else if (fields->opcode == 0x68)
		forget_stack(values);
	if (fields->narrow)
		forget_stack(values);
}

/* The stack pointer is written, other than by push and pop: perhaps by add or sub of a constant. */
static void write_stack_pointer(struct values *values, const struct fields *fields)
{
	unsigned operation = fields->modrm >> 3 & 7;
	int64_t bytes = 1; /* not known */

	if (!fields->map_0f && fields->rex & REX_W && (operation == 0 || operation == 5)) {
		if (fields->opcode == 0x83 && fields->rest_size == 1)
			bytes = (int8_t)fields->rest[0];
		else if (fields->opcode == 0x81 && fields->rest_size == 4)
			bytes = read_int32(fields->rest);
	}
	move_stack(values, operation == 0 ? bytes : -bytes);
}

/* A register is written.  As an operand of 8 bits 4 to 7 mean AH to BH, without REX. */
static void write_register(struct values *values, const struct fields *fields, unsigned number,
			   struct value value)
{
	if (number != REGISTER_ESP)
		values->places[number] = value;
	else
		write_stack_pointer(values, fields);
	if (!fields->rex && number >= 4)
		values->places[number - 4] = unknown;
}

static void follow_pop_or_constant(struct values *values, const struct fields *fields)
{
	unsigned number = opcode_reg_of(fields);
	struct value value = result_of(values, fields);

	if (!fields->map_0f && !fields->bits32 && fields->opcode >> 3 == 0x58 >> 3) {
		value = pop_value(values);
		if (fields->narrow || number == REGISTER_ESP) {
			value = unknown;
			forget_stack(values);
		}
	}
	write_register(values, fields, number, value);
}

static void write_rm(struct values *values, const struct fields *fields)
{
	struct value value = result_of(values, fields);
	struct value *word = fields->rex & REX_W ? word_of(values, fields) : NULL;

	if (rm_is_register(fields)) {
		write_register(values, fields, rm_of(fields), value);
		return;
	}
	write_memory(values, fields, 8);
	if (word)
		*word = value;
}

/* Bytes of the longest vector. */
#define VECTOR_MOST 64

/* Returns whether an instruction of vectors or hints may write its memory operand. */
static bool stores_vector(const struct fields *fields)
{
	return fields->map_0f && !rm_is_register(fields) &&
	       memchr("\x11\x13\x17\x1b\x29\x7f\xd6", fields->opcode, 7);
}

/*
 * SYSCALL leaves all registers but RAX, RCX and R11 as they are (System V ABI, AMD64, "Linux
 * Conventions"); the kernel may write memory.
 */
static void follow_syscall(struct values *values)
{
	values->places[REGISTER_EAX] = values->places[REGISTER_ECX] = values->places[REGISTER_R11] =
		unknown;
	forget_stack(values);
}

/* Follow an instruction to the next one; a conditional jump is not taken. */
static void follow_insn(struct values *values, const uint8_t *bytes, const struct insn *insn,
			enum insn_mode mode)
{
	struct fields fields;

	if (insn->kind == BRANCH_COND)
		return;
	if (insn->kind == BRANCH_SYSCALL && mode == INSN_MODE_64) {
		follow_syscall(values);
		return;
	}
	if (insn->kind != BRANCH_NONE || !read_fields(bytes, insn->length, mode, &fields)) {
		forget_values(values);
		return;
	}
	switch (written_by(&fields)) {
	case 'g':
		write_register(values, &fields, reg_of(&fields), result_of(values, &fields));
		break;
	case 'm':
		write_rm(values, &fields);
		break;
	case 'o':
		follow_pop_or_constant(values, &fields);
		break;
	case '.':
		if (stores_vector(&fields))
			write_memory(values, &fields, VECTOR_MOST);
		else if (mode == INSN_MODE_64)
			follow_push(values, &fields);
		break;
	default:
		forget_values(values);
	}
}

/* ---- Jumps --------------------------------------------------------------- */

/* The flow from a function's begin to its end. */
struct flow {
	const struct syscall_code *code;
	struct {
		bool ahead;    /* a jump from before it leads here */
		bool lost;     /* nothing is known here: too many jumps */
		uint32_t last; /* the last jump that leads back here: 1 + its offset, or 0 */
	} * labels;            /* owned; of each offset */
	/* The values at a jump's target. */
	struct target {
		size_t to; /* offset */
		struct values values;
	} targets[TARGETS_MOST];
	size_t count, loops;
	struct values now;
	bool reached; /* the instruction before leads here */
};

static struct insn insn_at(const struct flow *flow, size_t offset)
{
	return insn_decode(flow->code->bytes + offset, flow->code->size - offset, flow->code->mode);
}

/* Sets the offset that a direct jump leads to.  Returns false if it is not in the function. */
static bool find_target(const struct flow *flow, size_t offset, const struct insn *insn, size_t *to)
{
	int64_t target = (int64_t)(offset + insn->length) + insn->distance;

	*to = (size_t)target;
	return (insn->kind == BRANCH_JUMP || insn->kind == BRANCH_COND) && target >= 0 &&
	       (uint64_t)target < flow->code->size;
}

/* Record the targets of jumps.  Returns false if one is unknown, or the code ends before `at`. */
static bool find_labels(struct flow *flow, size_t at)
{
	struct insn insn;

	for (size_t offset = 0, to; offset < flow->code->size; offset += insn.length) {
		insn = insn_at(flow, offset);
		if (!insn.length)
			return offset > at; /* data after the code */
		if (insn.indirect && (insn.kind == BRANCH_JUMP || insn.kind == BRANCH_COND))
			return false;
		if (!find_target(flow, offset, &insn, &to))
			continue;
		if (to <= offset)
			flow->labels[to].last = (uint32_t)offset + 1;
		else
			flow->labels[to].ahead = true;
	}
	return true;
}

static void jump_ahead(struct flow *flow, size_t to)
{
	if (flow->count == TARGETS_MOST) {
		flow->labels[to].lost = true;
		return;
	}
	flow->targets[flow->count].to = to;
	flow->targets[flow->count++].values = flow->now;
}

/* A jump leads to the current instruction. */
static void join(struct flow *flow, const struct values *values)
{
	if (flow->reached)
		merge_values(&flow->now, values);
	else
		flow->now = *values;
	flow->reached = true;
}

/* Forget all values: control may come from anywhere. */
static void lose(struct flow *flow)
{
	forget_values(&flow->now);
	flow->reached = true;
}

/* Returns whether an instruction is padding, as assemblers emit it after jumps. */
static bool is_padding(const struct flow *flow, size_t offset, size_t length)
{
	const uint8_t *bytes = flow->code->bytes + offset, *end = bytes + length;

	while (bytes < end && (*bytes == 0x66 || *bytes == 0x2e))
		bytes++;
	return bytes < end &&
	       (*bytes == 0x90 || (end - bytes > 1 && bytes[0] == 0x0f && bytes[1] == 0x1f));
}

/* Returns whether code that no jump leads to is a landing pad, or another function's target. */
static bool is_entry(const struct flow *flow, size_t offset, size_t length)
{
	return !flow->labels[offset].ahead && !flow->labels[offset].last &&
	       !is_padding(flow, offset, length);
}

/* Forget values that the loop's instructions may change.  Returns whether one was known. */
static bool forget_changes(struct flow *flow, size_t begin, size_t end)
{
	bool changed = false, reached = true;
	struct insn insn;

	for (size_t offset = begin; offset < end; offset += insn.length) {
		struct values after = flow->now;

		insn = insn_at(flow, offset);
		if (!insn.length || (!reached && is_entry(flow, offset, insn.length)))
			forget_values(&after);
		else if (insn.kind != BRANCH_JUMP && insn.kind != BRANCH_RETURN)
			follow_insn(&after, flow->code->bytes + offset, &insn, flow->code->mode);
		reached = insn.kind != BRANCH_JUMP && insn.kind != BRANCH_RETURN;
		changed |= merge_values(&flow->now, &after);
		if (!insn.length)
			break;
	}
	return changed;
}

/*
 * Begin a loop: later jumps lead back here.  Keep the values that no instruction of the loop
 * changes, and that all jumps into the loop agree on.
 */
static void enter_loop(struct flow *flow, size_t begin)
{
	size_t end = flow->labels[begin].last;

	for (size_t i = begin; i < end && end - begin <= LOOP_BYTES; i++)
		if (flow->labels[i].last > end)
			end = flow->labels[i].last;
	if (++flow->loops > LOOPS_MOST || end - begin > LOOP_BYTES) {
		lose(flow);
		return;
	}
	for (size_t i = 0; i < flow->count; i++)
		if (flow->targets[i].to > begin && flow->targets[i].to < end)
			join(flow, &flow->targets[i].values);
	if (!flow->reached)
		lose(flow);
	for (unsigned rounds = 0; forget_changes(flow, begin, end); rounds++)
		if (rounds == ROUNDS_MOST)
			lose(flow);
}

/* Advance to the instruction at `offset`; the one before it is at `last`. */
static void arrive(struct flow *flow, size_t last, size_t offset)
{
	bool known = !flow->labels[offset].lost;

	for (size_t i = flow->count; i-- > 0;) {
		struct target *target = &flow->targets[i];

		if (target->to > offset)
			continue;
		known &= target->to == offset; /* else it leads into the instruction before */
		join(flow, &target->values);
		*target = flow->targets[--flow->count];
	}
	for (size_t i = offset; known && i-- > last + 1;)
		known = !flow->labels[i].last && !flow->labels[i].lost;
	if (!known)
		lose(flow);
	else if (flow->labels[offset].last)
		enter_loop(flow, offset);
}

/* Follow the code to `at`.  Returns whether it is reached. */
static bool follow_code(struct flow *flow, size_t at)
{
	struct insn insn;
	size_t to;

	begin_function(&flow->now, flow->code->mode);
	flow->reached = true;
	for (size_t offset = 0, last = 0; offset <= at; offset += insn.length) {
		arrive(flow, last, offset);
		last = offset;
		insn = insn_at(flow, offset);
		if (!insn.length)
			break;
		if (!flow->reached && is_entry(flow, offset, insn.length))
			lose(flow);
		if (offset == at)
			return flow->reached;
		if (!flow->reached)
			continue;
		if (find_target(flow, offset, &insn, &to) && to > offset)
			jump_ahead(flow, to);
		follow_insn(&flow->now, flow->code->bytes + offset, &insn, flow->code->mode);
		flow->reached = insn.kind != BRANCH_JUMP && insn.kind != BRANCH_RETURN;
	}
	return false;
}

struct syscall_number syscall_number_find(const struct syscall_code *code, size_t at,
					  unsigned place)
{
	struct syscall_number found = { SYSCALL_UNKNOWN, SYSCALL_UNKNOWN };
	struct flow flow = { .code = code };
	struct value value = { 0 };

	if (at >= code->size || place >= SYSCALL_STACK + WORDS)
		return found;
	flow.labels = alloc_zeroed(code->size, sizeof(*flow.labels));
	if (find_labels(&flow, at) && follow_code(&flow, at))
		value = flow.now.places[place];
	free(flow.labels);
	if (value.number >= 0 && value.kind == VALUE_CONSTANT)
		found.number = value.number;
	else if (value.kind == VALUE_ARGUMENT)
		found.argument = value.number;
	return found;
}
