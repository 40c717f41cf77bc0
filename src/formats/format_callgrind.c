/* SPDX-License-Identifier: MIT */
/*
 * --format=callgrind: the costs of functions and of calls between them, for KCachegrind and
 * callgrind_annotate ("Callgrind Format Specification" in valgrind's manual): instructions (Ir),
 * core cycles and time if known, and for each line with a call the number of calls and their
 * inclusive cost. With --args=full, the same for each instruction, by ELF virtual address.
 *
 * A function's own cost is divided among its lines by executions of instructions. If a call is open
 * more than once in a stack, only the outermost counts, so that no cost counts twice in one line.
 */

#include "base/tables/hash.h"
#include "src/costs/cost_stacks.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/digits.h"
#include "src/options/options.h"

struct callgrind_output {
	struct format_output output; /* first */
	struct cost_stacks stacks;
	const struct output *file; /* borrowed */
	struct pair_table sources; /* sources by (id of the file's name + 1, line); 0: unknown */
	struct pair_table
		positions; /* key: (source index, call site, 1 if per instruction); 0: unknown */
	struct pair_table places;  /* edges by (caller, site), with: */
	uint32_t *place_positions; /* owned; by place: 1 + its index in `positions`, or 0 */
	size_t place_room;
	struct pair_table names[3]; /* by kind, of (0, id of name): the id in the file minus 1 */
	/* The calls of a function from one line. */
	struct call_edge {
		struct edge_key {
			uint32_t caller, position, callee; /* `position` of the call */
		} key;
		uint32_t open; /* number of times in the current stack */
		uint64_t calls;
		struct call_costs costs; /* inclusive */
		struct call_edge *next;  /* next edge of the same caller, or NULL */
		UT_hash_handle hh;
	} * edges;                  /* owned: hash */
	struct call_edge **callers; /* owned; by function: its first edge, or NULL */
	/* A line or instruction of a function. */
	struct cost_row {
		uint32_t position;
		uint64_t count; /* executions of instructions */
	} * rows;               /* owned: of the current function */
	size_t row_room;
	const struct name *file_name; /* file of the next output lines; NULL: unknown */
	const struct dso *program;    /* borrowed; NULL: unknown */
	bool by_insn;
};

/* Kinds of names, each with its own ids. */
enum { NAME_OBJECT, NAME_FILE, NAME_FUNCTION };

static void open_callgrind(struct format_output *output, const struct format_request *request)
{
	struct callgrind_output *callgrind = (struct callgrind_output *)output;

	cost_stacks_init(&callgrind->stacks, request->names, UINT64_MAX, request->options->inlined);
	callgrind->file = request->output;
	callgrind->by_insn = request->options->args == OPTION_ARGS_FULL;
	callgrind->program = request->facts.program;
	output->slices = &callgrind->stacks.tree.slices;
	output->sink = callgrind->stacks.sink;
	output->code = &callgrind->stacks.code;
}

/* ---- Lines --------------------------------------------------------------- */

/* Returns the number of a site's position in a function, within the innermost inlined call. */
static uint32_t position_of(struct callgrind_output *callgrind, uint32_t function, uint32_t site)
{
	struct cost_source sources[COST_SOURCES];
	const struct name *file;
	uint32_t source;

	cost_sources(&callgrind->stacks, function, site, sources);
	file = sources[0].at.file;
	source = pair_table_find(&callgrind->sources, file ? file->id + 1 : 0,
				 file ? sources[0].at.line : 0);
	return pair_table_find(&callgrind->positions, source, callgrind->by_insn ? site : 0);
}

/* ---- Calls of stacks ----------------------------------------------------- */

/* Count the innermost call of a path. Returns its edge; NULL: no caller. */
static struct call_edge *enter_path(struct callgrind_output *callgrind, uint32_t path)
{
	const struct cost_stacks *stacks = &callgrind->stacks;
	const struct call_node *node = &stacks->tree.nodes[path];
	struct call_edge *edge;
	unsigned known = HASH_COUNT(callgrind->edges);
	struct edge_key key;
	struct pair frame;
	uint32_t place, *position;

	if (cost_is_thread(stacks, path) || cost_is_thread(stacks, node->caller))
		return NULL;
	frame = cost_frame(stacks, path);
	key.caller = cost_frame(stacks, node->caller).first;
	place = pair_table_find(&callgrind->places, key.caller, frame.second);
	ARRAY_GROW_ZEROED(callgrind->place_positions, callgrind->place_room, (size_t)place + 1);
	position = &callgrind->place_positions[place];
	if (!*position)
		*position = position_of(callgrind, key.caller, frame.second) + 1;
	key.position = *position - 1;
	key.callee = frame.first;
	HASH_FIND_OR_ADD(callgrind->edges, key, &key, edge);
	if (HASH_COUNT(callgrind->edges) > known) {
		edge->next = callgrind->callers[key.caller];
		callgrind->callers[key.caller] = edge;
	}
	edge->calls += node->calls;
	if (edge->open++ == 0)
		call_tree_add(&edge->costs, &stacks->tree.totals[path].costs, true);
	return edge;
}

/* Visit all paths, callers first, with the edges of a path's callers open. */
static void count_calls(struct callgrind_output *callgrind)
{
	const struct call_tree *tree = &callgrind->stacks.tree;
	uint32_t *first = alloc_zeroed(tree->count, sizeof(*first));
	uint32_t *next = alloc_zeroed(tree->count, sizeof(*next));
	struct call_edge **edges = alloc_zeroed(tree->count, sizeof(*edges));
	uint32_t at;

	for (uint32_t i = (uint32_t)tree->count - 1; i > 0; i--) {
		next[i] = first[tree->nodes[i].caller];
		first[tree->nodes[i].caller] = i;
	}
	for (at = first[NODE_NONE]; at;) {
		edges[at] = enter_path(callgrind, at);
		if (first[at]) {
			at = first[at];
			continue;
		}
		for (; at; at = tree->nodes[at].caller) {
			if (edges[at])
				edges[at]->open--;
			if (next[at])
				break;
		}
		at = next[at];
	}
	free(first);
	free(next);
	free(edges);
}

/* ---- Text ---------------------------------------------------------------- */

/* Print "WORD=(ID) TEXT", with the text only at its first use. */
static void print_name(struct callgrind_output *callgrind, const char *word, int kind,
		       const struct name *name)
{
	FILE *out = callgrind->output.text;
	size_t count = callgrind->names[kind].count;
	uint32_t id = pair_table_find(&callgrind->names[kind], 0, name->id);

	escaped_printf(out, id == count ? "%s=(%" PRIu32 ") %s\n" : "%s=(%" PRIu32 ")\n", word,
		       id + 1, name->text);
}

static void print_text(struct callgrind_output *callgrind, const char *word, int kind,
		       const char *text)
{
	print_name(callgrind, word, kind, name_intern_text(callgrind->stacks.tree.names, text));
}

static void print_file(struct callgrind_output *callgrind, const char *word,
		       const struct name *file)
{
	if (file)
		print_name(callgrind, word, NAME_FILE, file);
	else
		print_text(callgrind, word, NAME_FILE, "???");
}

static void print_position(const struct callgrind_output *callgrind, uint64_t vaddr, uint32_t line)
{
	if (callgrind->by_insn)
		fprintf(callgrind->output.text, "0x%" PRIx64 " ", vaddr);
	fprintf(callgrind->output.text, "%" PRIu32, line);
}

/* Print the file of a position, if it differs from the previous line's. */
static void print_position_file(struct callgrind_output *callgrind, uint32_t position)
{
	const struct name *const *names = callgrind->stacks.tree.names->names;
	uint32_t source = pair_table_pair(&callgrind->positions, position).first;
	struct pair at = pair_table_pair(&callgrind->sources, source);
	const struct name *file = at.first ? names[at.first - 1] : NULL;

	if (file != callgrind->file_name && file)
		print_file(callgrind, "fi", file);
	callgrind->file_name = file ? file : callgrind->file_name;
}

/* Print a position of a function, whose file was printed. */
static void print_position_of(const struct callgrind_output *callgrind,
			      const struct symbol *function, uint32_t position)
{
	struct pair at = pair_table_pair(&callgrind->positions, position);
	const struct symbol *symbol;
	uint64_t vaddr = cost_site_address(&callgrind->stacks, at.second, &symbol);

	print_position(callgrind, symbol ? vaddr : function->start,
		       pair_table_pair(&callgrind->sources, at.first).second);
}

/* Print a function's names. Returns the line of its start. */
static uint32_t print_function(struct callgrind_output *callgrind, const char *const words[3],
			       const struct symbol *symbol)
{
	struct source_line begin = cost_function_line(symbol);

	print_text(callgrind, words[NAME_OBJECT], NAME_OBJECT,
		   symbol->dso ? symbol->dso->path : "???");
	print_file(callgrind, words[NAME_FILE], begin.file);
	print_name(callgrind, words[NAME_FUNCTION], NAME_FUNCTION,
		   cost_label(&callgrind->stacks, symbol));
	return begin.line;
}

static void print_costs(const struct callgrind_output *callgrind, const struct call_costs *costs)
{
	FILE *out = callgrind->output.text;

	if (callgrind->stacks.sum.insns)
		fprintf(out, " %" PRIu64, costs->insns);
	if (callgrind->stacks.sum.cycles)
		fprintf(out, " %" PRIu64, costs->cycles);
	if (!digits_work_unit())
		fprintf(out, " %" PRIu64, costs->ns);
	putc('\n', out);
}

/* Compare two ids of names + 1, 0: unknown. The threads that looked them up gave them in any order.
 */
static int compare_files(const struct callgrind_output *callgrind, uint32_t a, uint32_t b)
{
	const struct name *const *names = callgrind->stacks.tree.names->names;

	return a == b || !a || !b ? COMPARE(a, b) : strcmp(names[a - 1]->text, names[b - 1]->text);
}

static int compare_cost_rows(const void *left, const void *right, void *context)
{
	const struct callgrind_output *callgrind = context;
	const struct cost_row *a = left, *b = right;
	struct pair at = pair_table_pair(&callgrind->positions, a->position),
		    other = pair_table_pair(&callgrind->positions, b->position);
	struct pair source = pair_table_pair(&callgrind->sources, at.first),
		    other_source = pair_table_pair(&callgrind->sources, other.first);
	const struct symbol *symbol;

	return compare_files(callgrind, source.first, other_source.first)
		       ?: COMPARE(source.second, other_source.second) ?:
		       COMPARE(cost_site_address(&callgrind->stacks, at.second, &symbol),
			       cost_site_address(&callgrind->stacks, other.second, &symbol)) ?:
		       COMPARE(a->position, b->position);
}

/* Find the positions of a function. Returns the number of rows, possibly several per position. */
static size_t find_rows(struct callgrind_output *callgrind, uint32_t function)
{
	struct cost_stacks *stacks = &callgrind->stacks;
	size_t first = stacks->first[function], count = stacks->first[function + 1] - first;

	ARRAY_GROW(callgrind->rows, callgrind->row_room, count);
	for (size_t i = 0; i < count; i++) {
		const struct cost_insn *instruction = &stacks->instructions[first + i];

		callgrind->rows[i] =
			(struct cost_row){ position_of(callgrind, function,
						       cost_insn_site(stacks, instruction)),
					   instruction->insn.count };
	}
	SORT_WITHIN(callgrind->rows, count, compare_cost_rows, callgrind);
	return count;
}

static void print_caller(struct callgrind_output *callgrind, uint32_t index)
{
	static const char *const own[3] = { "ob", "fl", "fn" }, *const called[3] = { "cob", "cfi",
										     "cfn" };
	const struct table_function *functions = callgrind->stacks.functions.functions;
	FILE *out = callgrind->output.text;
	struct cost_range range;
	size_t count;
	const struct cost_row *rows;

	putc('\n', out);
	print_function(callgrind, own, functions[index].symbol);
	callgrind->file_name = cost_function_line(functions[index].symbol).file;
	range = (struct cost_range){ .all = cost_executions(&callgrind->stacks, index) };
	count = find_rows(callgrind, index);
	rows = callgrind->rows;
	for (size_t i = 0; i < count; i++) {
		struct call_costs costs;

		range.end += rows[i].count;
		if (i + 1 < count && rows[i + 1].position == rows[i].position)
			continue;
		costs = cost_shares(&callgrind->stacks.own[index], &range);
		range.begin = range.end;
		print_position_file(callgrind, rows[i].position);
		print_position_of(callgrind, callgrind->stacks.functions.functions[index].symbol,
				  rows[i].position);
		print_costs(callgrind, &costs);
	}
	for (const struct call_edge *edge = callgrind->callers[index]; edge; edge = edge->next) {
		const struct symbol *callee = functions[edge->key.callee].symbol;
		uint32_t line;

		print_position_file(callgrind, edge->key.position);
		line = print_function(callgrind, called, callee);
		fprintf(out, "calls=%" PRIu64 " ", edge->calls);
		print_position(callgrind, callee->start, line);
		putc('\n', out);
		print_position_of(callgrind, functions[index].symbol, edge->key.position);
		print_costs(callgrind, &edge->costs);
	}
}

static void print_callgrind(struct format_output *output)
{
	struct callgrind_output *callgrind = (struct callgrind_output *)output;
	size_t functions;
	const struct call_costs *sum;
	FILE *out;

	cost_stacks_finish(&callgrind->stacks);
	functions = callgrind->stacks.functions.count;
	callgrind->callers = alloc_zeroed(functions + 1, sizeof(*callgrind->callers));
	call_tree_add_up(&callgrind->stacks.tree);
	count_calls(callgrind);
	sum = &callgrind->stacks.sum;
	out = callgrind->output.text;
	fputs("# callgrind format\n# " COST_STACKS_NOTE "\nversion: 1\ncreator: ptrace2ftf\n", out);
	if (callgrind->program)
		escaped_printf(out, "cmd: %s\n", callgrind->program->path);
	fprintf(out,
		"positions:%s line\n"
		"event: Ir : Instructions\nevent: Cycles : Core Cycles\n"
		"event: ns : Time in ns\nevents:%s%s%s\nsummary:",
		callgrind->by_insn ? " instr" : "", sum->insns ? " Ir" : "",
		sum->cycles ? " Cycles" : "", digits_work_unit() ? "" : " ns");
	print_costs(callgrind, sum);
	for (uint32_t i = 0; i < functions && !callgrind->file->cut; i++)
		print_caller(callgrind, i);
	fputs("\ntotals:", output->text);
	print_costs(callgrind, &callgrind->stacks.sum);
}

static void release_callgrind(struct format_output *output)
{
	struct callgrind_output *callgrind = (struct callgrind_output *)output;
	struct call_edge *edge;

	cost_stacks_release(&callgrind->stacks);
	pair_table_release(&callgrind->sources);
	pair_table_release(&callgrind->positions);
	pair_table_release(&callgrind->places);
	free(callgrind->place_positions);
	for (int i = 0; i < 3; i++)
		pair_table_release(&callgrind->names[i]);
	HASH_FREE_ALL(callgrind->edges, edge);
	free(callgrind->callers);
	free(callgrind->rows);
}

#define CALLGRIND                                                                                  \
	.name = "callgrind", .lines = true, .slices = SLICES_SORTED,                               \
	.size = sizeof(struct callgrind_output), .open = open_callgrind,                           \
	.finish = print_callgrind, .release = release_callgrind

static const struct output_format within = { CALLGRIND, .all_branches = true };
const struct output_format format_callgrind = { CALLGRIND, .within = &within };
