/* SPDX-License-Identifier: MIT */
/*
 * Code in the order in which it ran, of all threads by time: the instructions between two branches
 * of a thread ran one after the other. Rows have the time of the branch before; a branch its own.
 *
 * --format=lines: source lines, indented by the depth of the call; equal ones that follow each
 * other in a thread are one row. The function is the innermost inlined one.
 *
 * 	23275/23275    21.000001234:      parse (/src/parse.c:12)
 *
 * --format=insns: instructions, as `perf script --itrace=i0ns -F
 * pid,tid,time,ip,sym,symoff,disasm --ns` prints them (perf_sample__fprintf_insn in
 * tools/perf/builtin-script.c of perf 6.12). Both read the log of src/costs/executed_code.h.
 */

#include "config.h"
#include "decoder/code/code_image.h"
#include "decoder/timeline/timeline.h"
#include "src/callstack/callstack.h"
#include "src/costs/executed_code.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/digits.h"
#include "src/options/options.h"
#include "src/resolve/resolve.h"

#ifdef HAVE_CAPSTONE
#include <capstone.h>
#include <dlfcn.h>
#endif

#define DEPTH_INDENTED 64 /* levels */
#define INSN_BITS      16 /* instructions in the cache, as a power of two */

struct order_output {
	struct format_output output; /* first */
	struct executed_code code;
	struct output *file;      /* borrowed, as the names */
	struct name_table *names; /* also owns the rows */
	bool all;                 /* no calls are chosen: show all code */
	/* Print the row of an instruction; NULL: source lines. */
	void (*put)(const struct order_output *order, const uint8_t *bytes, uint8_t length,
		    const struct location *location, FILE *out);
	size_t disassembler;        /* capstone's handle */
	struct kernel_text text;    /* the kernel's code at the current time */
	struct direct_cache recent; /* owned; of struct order_insn */
	struct order_thread {
		const struct name *row; /* the last one; NULL: no row, or a gap */
		size_t depth;
	} * threads; /* owned; by number */
	size_t thread_room;
};

struct order_insn {
	const struct address_space *space;
	uint64_t ip;
	const struct name *row;
	uint8_t length; /* bytes; 0: not known */
	uint8_t kind;   /* enum branch_kind */
};

static bool is_32_bit(const struct location *location)
{
	const struct symbol *symbol = location->symbol;

	return symbol && symbol->dso &&
	       dso_borrow_code_32(symbol->dso, symbol->start + location->offset, &(size_t){ 0 });
}

/* Returns an instruction, valid until the next call. */
static const struct order_insn *find_insn(struct order_output *order,
					  const struct address_space *space, uint64_t ip)
{
	struct order_insn *insn =
		(struct order_insn *)order->recent.slots +
		direct_cache_index(&order->recent, ip + (uint64_t)(uintptr_t)space);
	struct location location;
	uint8_t bytes[INSN_LENGTH_MAX];
	struct insn decoded;
	char *text;
	FILE *out;

	/* The kernel's code and names change. */
	if (insn->row && insn->space == space && insn->ip == ip && !ip_is_kernel(ip))
		return insn;
	location = resolver_find(order->code.resolver, space, ip);
	decoded = insn_decode(bytes,
			      code_image_read(order->code.source, space, &order->text, ip, bytes),
			      is_32_bit(&location) ? INSN_MODE_32 : INSN_MODE_64);
	out = OPEN_TEXT(text);
	if (order->put) {
		order->put(order, bytes, decoded.length, &location, out);
	} else {
		const struct symbol *symbol = location.symbol;
		const struct inlined_call *inlined = NULL;
		struct source_line at = { 0 };

		if (symbol && symbol->dso && symbol->kind != SYMBOL_FILE) {
			at = dso_line(symbol, location.offset);
			inlined = dso_inlined_at(symbol->dso, symbol->start + location.offset);
		}
		if (inlined)
			symbol = inlined->symbol;
		escaped_printf(out, "%s", symbol ? symbol->name->text : "[unknown]");
		if (at.file && at.line)
			escaped_printf(out, " (%s:%u)", at.file->text, at.line);
	}
	alloc_close_text(out, &text);
	*insn = (struct order_insn){ space, ip, name_intern_text(order->names, text),
				     decoded.length, decoded.kind };
	free(text);
	return insn;
}

/* Print a row, but a line once. */
static void show(struct order_output *order, const struct logged_code *logged, uint64_t time,
		 const struct name *row)
{
	struct order_thread *thread = &order->threads[logged->thread];
	struct line line = { .out = order->output.text };
	size_t depth = logged->depth ? logged->depth - 1 : 0;
	char *at;

	if (!order->put && thread->row == row && thread->depth == depth)
		return;
	*thread = (struct order_thread){ row, depth };
	at = stpcpy(format_moment(line.text, logged->pid, logged->tid, time), ":  ");
	at = digits_left(at, at, order->put ? 0 : 2 * (ptrdiff_t)MIN(depth, DEPTH_INDENTED));
	if (!order->put && depth > DEPTH_INDENTED)
		at = stpcpy(digits_decimal(stpcpy(at, "[depth "), depth), "] ");
	line_end(&line, at);
	fwrite_unlocked(row->text, 1, row->length, line.out);
	putc_unlocked('\n', line.out);
}

static bool show_code(void *context, const struct logged_code *logged)
{
	struct order_output *order = context;
	const struct code_count *piece = logged->piece;
	const struct order_insn *insn;
	uint64_t ip = piece->begin, last = piece->last;
	bool reached = !ip || (piece->stopped && ip == last);
	enum gap_reason reason;
	char row[80];

	ARRAY_GROW_ZEROED(order->threads, order->thread_room, (size_t)logged->thread + 1);
	if (!logged->depth && !order->all)
		return true;
	resolver_advance(order->code.resolver, logged->end);
	kernel_text_advance(&order->text, logged->end);
	for (; ip && ip < last + !piece->stopped; ip += insn->length) {
		insn = find_insn(order, piece->space, ip);
		if (!insn->length ||
		    (insn->kind != BRANCH_NONE && insn->kind != BRANCH_COND && ip != last))
			break;
		/* The branch has a time of its own, which a line does not need. */
		show(order, logged, ip == last && order->put ? logged->end : logged->time,
		     insn->row);
		reached = ip == last || (piece->stopped && ip + insn->length == last);
	}
	if (!reached || piece->kind == BRANCH_GAP) {
		reason = piece->kind == BRANCH_GAP ? (enum gap_reason)piece->to : GAP_MISMATCH;
		snprintf(row, sizeof(row), "[gap: %s]", gap_reason_facts(reason)->text);
		show(order, logged, logged->end, name_intern_text(order->names, row));
	}
	return !output_full(order->file);
}

static void open_order(struct format_output *output, const struct format_request *request)
{
	struct order_output *order = (struct order_output *)output;

	executed_code_init(&order->code);
	order->code.replayed = true;
	output->code = &order->code;
	order->file = request->output;
	order->names = request->names;
	order->all = !selection_of_slices(&request->options->select);
	direct_cache_init(&order->recent, INSN_BITS, sizeof(struct order_insn));
}

static void finish_order(struct format_output *output)
{
	struct order_output *order = (struct order_output *)output;

	if (!order->code.source)
		return; /* overlays without a recording */
	kernel_names_rewind(&order->code.resolver->kernel);
	kernel_text_init(&order->text, order->code.source->kernel);
	executed_code_replay(&order->code, show_code, order);
}

static void release_order(struct format_output *output)
{
	struct order_output *order = (struct order_output *)output;

	free(order->threads);
	direct_cache_release(&order->recent);
	kernel_text_release(&order->text);
	executed_code_release(&order->code);
}

#define ORDER(NAME, ...)                                                                           \
	{                                                                                          \
		.name = NAME, .lines = true, .slices = SLICES_SORTED, .all_branches = true,        \
		.size = sizeof(struct order_output), .open = open_order, .release = release_order, \
		__VA_ARGS__                                                                        \
	}

const struct output_format format_lines = ORDER("lines", .finish = finish_order);

/* ---- Instructions -------------------------------------------------------- */

#ifdef HAVE_CAPSTONE
#define FUNCTIONS(X)                                                                               \
	X(open)                                                                                    \
	X(option)                                                                                  \
	X(disasm)                                                                                  \
	X(free)                                                                                    \
	X(close)
#define FIELD(name)   __typeof__(cs_##name) *name;
#define QUOTE(number) #number
#define SONAME(major) "libcapstone.so." QUOTE(major)

/* The library's functions; it is loaded only for this format, as sqlite is. */
static struct {
	FUNCTIONS(FIELD)
} library;

static int load_capstone(struct error *err)
{
	void *handle = dlopen(SONAME(CS_API_MAJOR), RTLD_NOW | RTLD_LOCAL);
	bool whole = handle;

#define FIND(name) whole = whole && (*(void **)&library.name = dlsym(handle, "cs_" #name));
	FUNCTIONS(FIND)
	return whole ? 0
		     : error_set(err, ERROR_LIBRARY,
				 "cannot write --format=insns: %s; install Debian's libcapstone%d",
				 dlerror(), CS_API_MAJOR);
}

/* Print perf's columns, and the instruction's text; its bytes if the library knows none. */
static void put_insn(const struct order_output *order, const uint8_t *bytes, uint8_t length,
		     const struct location *location, FILE *out)
{
	struct line line = { .out = out };
	char *at = stpcpy(digits_hex_right(line.text, location->ip), " ");
	cs_insn *found = NULL;
	size_t count;

	line_end(&line, stpcpy(format_location(&line, at, location), "\t\t"));
	library.option(order->disassembler, CS_OPT_MODE,
		       is_32_bit(location) ? CS_MODE_32 : CS_MODE_64);
	count = library.disasm(order->disassembler, bytes, length, location->ip, 1, &found);
	if (count && found->size == length)
		fprintf(out, "%s %s", found->mnemonic, found->op_str);
	for (size_t i = 0; i < length && !(count && found->size == length); i++)
		fprintf(out, "%s0x%02x", i ? ", " : ".byte ", bytes[i]);
	if (count)
		library.free(found, count);
}

static void finish_insns(struct format_output *output)
{
	struct order_output *order = (struct order_output *)output;

	if (library.open(CS_ARCH_X86, CS_MODE_64, &order->disassembler) != CS_ERR_OK) {
		error_set(&output->err, ERROR_LIBRARY, "cannot open capstone");
		return;
	}
	library.option(order->disassembler, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	order->put = put_insn;
	finish_order(output);
	library.close(&order->disassembler);
}

const struct output_format format_insns =
	ORDER("insns", .load = load_capstone, .finish = finish_insns);
#endif
