/* SPDX-License-Identifier: MIT */
/* Find hits, and read the values recorded with them. */
#include "decoder/timeline/hits.h"

#include <ctype.h>
#include <linux/hw_breakpoint.h>
#include <stdarg.h>

#include "decoder/timeline/tracepoint_formats.h"

struct probe_format {
	struct tracepoint_field ip, function; /* size 0: the event lacks the field */
	struct probe_field {
		struct tracepoint_field field;
		const char *name; /* in the arena */
		bool hex;         /* perf prints it in hexadecimal */
	} * fields;
	size_t field_count;
};

static const struct probe_format no_probe;

/* ---- Events -------------------------------------------------------------- */

/* Argument names are from perf probe's command line, but a file can contain any text. */
static const char *plain_name(struct arena *arena, const struct tracepoint_field *field)
{
	char *name = arena_text(arena, field->name, field->name_length);

	for (char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at))
			*at = '_';
	return name;
}

/*
 * "print fmt: "(%lx) n=0x%Lx list={%u,%u} c='%c'", REC->...": returns the text after "n=",
 * or the brace; "" at the end.
 */
static const char *find_print_form(const char *format, const struct tracepoint_field *field)
{
	const char *at = strstr(format, "print fmt:");

	while (at && (at = strchr(at + 1, ' '))) {
		const char *value = at + 1 + field->name_length;

		if (strncmp(at + 1, field->name, field->name_length) != 0 || *value != '=')
			continue;
		return value + (value[1] == '{' ? 2 : 1);
	}
	return "";
}

static bool is_named(const struct tracepoint_field *field, const char *start)
{
	return field->name_length >= strlen(start) &&
	       strncmp(field->name, start, strlen(start)) == 0;
}

static const struct perf_event_attr *attr_at(const struct hits *hits, size_t index)
{
	return &hits->file->attrs[index].attr;
}

static void read_probe_format(void *context, const char *system, const char *format)
{
	struct hits *hits = context;
	struct probe_field fields[HIT_ARGS_MAX];
	struct probe_format probe = { .fields = fields }, *kept;
	struct tracepoint_field field;
	char name[64];
	uint64_t id;

	(void)system;
	if (!strstr(format, " __probe_") || !tracepoint_format_event(format, name, &id) ||
	    !tracepoint_is_recorded(hits->file, id))
		return;
	for (const char *at = format; (at = tracepoint_format_next(at, &field));) {
		/* Read a field; `fields` has room for HIT_ARGS_MAX. */
		if (is_named(&field, "__probe_func")) {
			probe.function = field;
		} else if (is_named(&field, "__probe_")) {
			probe.ip = field;
		} else if (!is_named(&field, "common_") && probe.field_count < HIT_ARGS_MAX) {
			struct probe_field *added = &probe.fields[probe.field_count++];
			const char *form = find_print_form(format, &field);

			*added = (struct probe_field){ field, plain_name(&hits->arena, &field),
						       starts_with(form, "0x") ||
							       starts_with(form, "%p") };
			added->field.name = added->name;
			added->field.is_text |= starts_with(form, "'%c'");
		}
	}
	if (!probe.ip.size)
		return;
	probe.fields = arena_copy(&hits->arena, fields, probe.field_count * sizeof(*fields));
	kept = arena_copy(&hits->arena, &probe, sizeof(probe));
	for (size_t i = 0; i < hits->file->attr_count; i++)
		if (attr_at(hits, i)->type == PERF_TYPE_TRACEPOINT &&
		    attr_at(hits, i)->config == id)
			hits->probes[i] = kept;
}

void hits_init(struct hits *hits, const struct perf_file *file)
{
	*hits = (struct hits){ .file = file };
	hits->probes = alloc_zeroed(file->attr_count + 1, sizeof(const struct probe_format *));
	for (size_t i = 0; i < file->attr_count; i++)
		if (attr_at(hits, i)->type == PERF_TYPE_BREAKPOINT)
			hits->probes[i] = &no_probe;
	tracepoint_formats_read(file, read_probe_format, hits);
	for (size_t i = 0; i < file->attr_count; i++)
		if (hits->probes[i])
			return;
	free(hits->probes);
	hits->probes = NULL;
}

void hits_release(struct hits *hits)
{
	free(hits->probes);
	free(hits->positions);
	arena_release(&hits->arena);
	*hits = (struct hits){ 0 };
}

static const struct probe_format *probe_of(const struct hits *hits, const struct perf_attr *attr)
{
	return hits->probes[attr - hits->file->attrs];
}

bool hits_are_of(const struct hits *hits, const struct perf_attr *attr)
{
	return hits->probes && probe_of(hits, attr);
}

const char *hits_event_name(const struct hits *hits, const struct perf_attr *attr, char room[32])
{
	if (attr->name && attr->name[0])
		return attr->name;
	snprintf(room, 32, "event %zu", (size_t)(attr - hits->file->attrs));
	return room;
}

/* ---- Samples ------------------------------------------------------------- */

void hits_note(struct hits *hits, const struct perf_record *record, uint64_t position)
{
	struct perf_sample sample;

	if (!hits->probes || perf_sample_read(hits->file, record, &sample) < 0 || !sample.time ||
	    !hits_are_of(hits, sample.attr))
		return;
	*ARRAY_ADD(hits->positions, hits->count, hits->room) =
		(struct record_position){ sample.time, position };
}

bool hits_read(const struct hits *hits, size_t index, struct hit *hit)
{
	const struct probe_format *probe;
	struct perf_record record;
	uint64_t position = hits->positions[index].position;

	*hit = (struct hit){ 0 };
	if (perf_file_next(hits->file, &position, &record, NULL) != 1 ||
	    perf_sample_read(hits->file, &record, &hit->sample) < 0)
		return false;
	probe = probe_of(hits, hit->sample.attr);
	hit->ip = hit->sample.ip;
	tracepoint_number(hit->sample.raw, probe->ip.offset, probe->ip.size, false, &hit->ip);
	hit->function = hit->ip;
	tracepoint_number(hit->sample.raw, probe->function.offset, probe->function.size, false,
			  &hit->function);
	return true;
}

/* ---- Values -------------------------------------------------------------- */

static struct hit_arg *add_arg(struct hit_args *args, const char *name, enum hit_type type)
{
	struct hit_arg *arg = &args->list[args->count];

	if (args->count == HIT_ARGS_MAX)
		return NULL;
	args->count++;
	*arg = (struct hit_arg){ .name = name, .type = type, .text = "" };
	return arg;
}

static void add_number(struct hit_args *args, const char *name, enum hit_type type, uint64_t number)
{
	struct hit_arg *arg = add_arg(args, name, type);

	if (arg)
		arg->number = number;
}

/* Append a piece of an array's text to `args->text`. */
static void append_piece(struct hit_args *args, struct hit_arg *arg, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void append_piece(struct hit_args *args, struct hit_arg *arg, const char *format, ...)
{
	size_t room = sizeof(args->text) - args->text_used;
	va_list list;
	int length;

	va_start(list, format);
	length = vsnprintf(args->text + args->text_used, room, format, list);
	va_end(list);
	if (length < 0 || (size_t)length >= room)
		return; /* truncated, as the missing bracket shows */
	args->text_used += (size_t)length;
	arg->length += (size_t)length;
}

static enum hit_type number_type(const struct probe_field *field)
{
	if (field->hex)
		return HIT_HEX;
	return field->field.is_signed ? HIT_SIGNED : HIT_UNSIGNED;
}

static void append_number(struct hit_args *args, struct hit_arg *arg, enum hit_type type,
			  uint64_t number)
{
	if (type == HIT_HEX)
		append_piece(args, arg, "0x%" PRIx64, number);
	else if (type == HIT_SIGNED)
		append_piece(args, arg, "%" PRId64, (int64_t)number);
	else
		append_piece(args, arg, "%" PRIu64, number);
}

/* "{1,2}", as perf prints it. */
static void add_array(struct hit_args *args, const struct hit *hit, const struct probe_field *field)
{
	uint32_t size = field->field.size / field->field.count;
	struct hit_arg *arg = add_arg(args, field->name, HIT_ARRAY);
	uint64_t number;

	if (!arg)
		return;
	arg->text = args->text + args->text_used;
	for (uint32_t i = 0; i < field->field.count; i++) {
		if (!tracepoint_number(hit->sample.raw, field->field.offset + (size_t)i * size,
				       size, field->field.is_signed, &number))
			return;
		append_piece(args, arg, i ? "," : "{");
		append_number(args, arg, number_type(field), number);
	}
	append_piece(args, arg, "}");
}

/*
 * Find a text in the sample: in the field itself, or at the location in the field's u32 of this
 * index. Returns NULL if the sample lacks it.
 */
static const char *find_text(const struct hit *hit, const struct tracepoint_field *field,
			     size_t index, size_t *length)
{
	size_t offset = field->offset + sizeof(uint32_t) * index, size = field->size;
	const uint8_t *bytes;
	uint64_t packed;

	if (field->storage != TRACEPOINT_HERE) {
		if (!tracepoint_number(hit->sample.raw, offset, sizeof(uint32_t), false, &packed))
			return NULL;
		offset = field->storage == TRACEPOINT_REL_LOC ? offset + sizeof(uint32_t) : 0;
		offset += packed & 0xffff;
		size = packed >> 16;
	}
	bytes = tracepoint_bytes(hit->sample.raw, offset, size);
	*length = bytes ? strnlen((const char *)bytes, size) : 0;
	return (const char *)bytes;
}

static void add_text(struct hit_args *args, const struct hit *hit, const struct probe_field *field)
{
	size_t count = field->field.storage == TRACEPOINT_HERE ? 1 : field->field.size / 4, length;
	struct hit_arg *arg = add_arg(args, field->name, count > 1 ? HIT_ARRAY : HIT_TEXT);
	const char *text;

	if (arg && count <= 1) {
		text = find_text(hit, &field->field, 0, &length);
		arg->text = text ? text : "";
		arg->length = text ? length : 0;
		return;
	}
	if (!arg)
		return;
	arg->text = args->text + args->text_used;
	for (size_t i = 0; i < count && (text = find_text(hit, &field->field, i, &length)); i++)
		append_piece(args, arg, "%s\"%.*s\"", i ? "," : "{", (int)length, text);
	append_piece(args, arg, "}");
}

/* `words` has a register for each bit of `mask`; NULL: not in the sample. */
static bool find_register(const uint8_t *words, uint64_t mask, unsigned number, uint64_t *value)
{
	uint64_t bit = UINT64_C(1) << number;

	if (!words || !(mask & bit))
		return false;
	memcpy(value, words + sizeof(*value) * (size_t)__builtin_popcountll(mask & (bit - 1)),
	       sizeof(*value));
	return true;
}

bool hit_register(const struct hit *hit, unsigned number, uint64_t *value)
{
	const struct perf_sample *sample = &hit->sample;
	const struct perf_event_attr *attr = &sample->attr->attr;

	return find_register(sample->user_registers, attr->sample_regs_user, number, value) ||
	       find_register(sample->registers, attr->sample_regs_intr, number, value);
}

/* Segment and vector registers are not arguments. */
static void add_registers(struct hit_args *args, const struct hit *hit)
{
	static const struct {
		uint8_t number;
		const char *name;
	} registers[] = {
		{ HIT_RDI, "rdi" }, { HIT_RSI, "rsi" }, { 3, "rdx" },  { 2, "rcx" },  { 16, "r8" },
		{ 17, "r9" },       { 0, "rax" },       { 1, "rbx" },  { 7, "rsp" },  { 6, "rbp" },
		{ 8, "rip" },       { 9, "rflags" },    { 18, "r10" }, { 19, "r11" }, { 20, "r12" },
		{ 21, "r13" },      { 22, "r14" },      { 23, "r15" },
	};
	uint64_t value;

	for (size_t i = 0; i < COUNT_OF(registers); i++)
		if (hit_register(hit, registers[i].number, &value))
			add_number(args, registers[i].name, HIT_HEX, value);
}

void hits_list_args(const struct hits *hits, const struct hit *hit, struct hit_args *args)
{
	const struct probe_format *probe = probe_of(hits, hit->sample.attr);
	const struct perf_event_attr *attr = &hit->sample.attr->attr;

	args->count = args->text_used = 0;
	if (attr->type == PERF_TYPE_BREAKPOINT && attr->bp_type & HW_BREAKPOINT_RW)
		add_number(args, "data_address", HIT_HEX, attr->bp_addr);
	for (size_t i = 0; i < probe->field_count; i++) {
		const struct tracepoint_field *at = &probe->fields[i].field;
		uint64_t number;

		if (at->storage != TRACEPOINT_HERE || at->is_text)
			add_text(args, hit, &probe->fields[i]);
		else if (at->count)
			add_array(args, hit, &probe->fields[i]);
		else if (tracepoint_number(hit->sample.raw, at->offset, at->size, at->is_signed,
					   &number))
			add_number(args, probe->fields[i].name, number_type(&probe->fields[i]),
				   number);
		else
			add_arg(args, probe->fields[i].name,
				HIT_TEXT); /* truncated, or not of a number's size */
	}
	add_registers(args, hit);
}
