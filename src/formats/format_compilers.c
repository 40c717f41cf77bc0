/* SPDX-License-Identifier: MIT */
/*
 * Profiles of one program for compilers: --format=bolt, the pre-aggregated branches of `perf2bolt
 * -pa` (LLVM's bolt/include/bolt/Profile/DataAggregator.h), and --format=llvm-profile, the text
 * form of LLVM's sample profiles (llvm/include/llvm/ProfileData/SampleProfReader.h), with
 * executions as counts.
 *
 * The program is the first mapped file, or the only file of --dso.
 */

#include "base/tables/pair_table.h"
#include "src/costs/executed_code.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/options/options.h"
#include "src/resolve/location.h"
#include "src/select/function_choice.h"
#include "symbols/dso/dso_store.h"

struct profile_output {
	struct format_output output; /* first */
	struct executed_code code;
	struct function_choice choice;
	const struct dso *program; /* borrowed; NULL: the file of --dso that ran first */
	struct diag *diag;         /* borrowed, as the next */
	struct name_table *names;
	bool several, any;                 /* --dso matches several files; any chosen code ran */
	const struct code_stretch **edges; /* owned: of branches */
	size_t edge_count, edge_room;
	/* Fields for --format=llvm-profile: */
	struct profile_row *rows; /* owned */
	size_t row_count, row_room;
	struct pair_table swept; /* symbols with rows, by pointer */
};

static void open_profile(struct format_output *output, const struct format_request *request)
{
	struct profile_output *profile = (struct profile_output *)output;
	const struct selection *select = &request->options->select;

	output->code = &profile->code;
	profile->choice.selection = select;
	profile->program = select->dsos.count ? NULL : request->facts.program;
	profile->diag = request->diag;
	profile->names = request->names;
	executed_code_init(&profile->code);
	profile->code.branches = true;
}

static bool is_of_program(struct profile_output *profile, const struct dso *dso)
{
	if (!function_choice_keeps_file(&profile->choice, dso))
		return false;
	profile->several |= profile->choice.selection->dsos.count && profile->program &&
			    profile->program != dso;
	if (!profile->program)
		profile->program = dso;
	return profile->program == dso;
}

/* Returns the symbol at an address of a chosen function of the program; NULL: not chosen. */
static const struct symbol *chosen_at(struct profile_output *profile, const struct dso *dso,
				      uint64_t vaddr)
{
	const struct symbol *symbol =
		is_of_program(profile, dso) ? dso_borrow_symbol_at((struct dso *)dso, vaddr) : NULL;

	if (!symbol || !function_choice_has(&profile->choice, symbol))
		return NULL;
	profile->any = true;
	return symbol;
}

/* The same without the symbol, which is looked up only if necessary. */
static bool is_chosen(struct profile_output *profile, const struct dso *dso, uint64_t vaddr)
{
	if (profile->choice.selection->symbols.count)
		return chosen_at(profile, dso, vaddr);
	if (!is_of_program(profile, dso))
		return false;
	profile->any = true;
	return true;
}

/* Check the choice after all code. */
static void check_program(struct profile_output *profile)
{
	const struct selection *select = profile->choice.selection;

	if (profile->several)
		error_set(&profile->output.err, ERROR_UNSUPPORTED,
			  "--dso matches several files, and a profile is of one; name it");
	else if (select->symbols.count || select->dsos.count)
		function_choice_warn(&profile->choice, profile->any, profile->diag);
	else if (!profile->any)
		diag_warn(profile->diag, "no-program-code",
			  "no code of the program ran; choose another file with --dso");
}

/* An edge counted as code precedes the equal edge counted as a branch between functions. */
COMPARE_WITH(compare_edges, const struct code_stretch *const,
	     COMPARE((*a)->branch, (*b)->branch) ?: COMPARE((*a)->last, (*b)->last) ?:
	     COMPARE((*a)->begin, (*b)->begin) ?: COMPARE((*a)->kind, (*b)->kind))

/* List the distinct branches to chosen code, sorted. */
static void list_edges(struct profile_output *profile)
{
	size_t kept = 0;

	executed_code_finish(&profile->code);
	for (size_t i = 0; i < profile->code.count; i++) {
		const struct code_stretch *edge = &profile->code.stretches[i];

		if ((edge->kind == STRETCH_JUMP || edge->kind == STRETCH_BRANCH) &&
		    is_chosen(profile, edge->dso, edge->last))
			*ARRAY_ADD(profile->edges, profile->edge_count, profile->edge_room) = edge;
	}
	SORT(profile->edges, profile->edge_count, compare_edges);
	for (size_t i = 0; i < profile->edge_count; i++) {
		const struct code_stretch *edge = profile->edges[i], *last;

		last = kept ? profile->edges[kept - 1] : NULL;
		if (!last || edge->branch != last->branch || edge->begin != last->begin ||
		    edge->last != last->last)
			profile->edges[kept++] = edge;
	}
	profile->edge_count = kept;
}

/* ---- BOLT ---------------------------------------------------------------- */

/* A change of the number of executions, modulo 2^64, at an address. */
struct passage {
	uint64_t vaddr, change;
};

COMPARE_BY(compare_passages, struct passage, vaddr)

/* A stretch passes from each instruction to the next. */
static size_t add_passages(struct passage *passages, const struct code_stretch *stretch)
{
	uint64_t passes = stretch_passes(stretch);

	passages[0] = (struct passage){ stretch->begin, stretch->count };
	passages[1] = (struct passage){ stretch->last, passes - stretch->count };
	if (!passes)
		return 2;
	passages[2].vaddr = stretch->last + executed_insn_at(stretch->dso, stretch->last).length;
	passages[2].change = -passes;
	return 3;
}

/* Print an F record for each maximal piece of straight-line code with equal executions. */
static void print_straight(struct profile_output *profile)
{
	const struct executed_code *code = &profile->code;
	struct passage *passages = alloc_zeroed(3 * code->count + 1, sizeof(*passages));
	uint64_t begin = 0, executions = 0;
	size_t count = 0;

	for (size_t i = 0; i < code->count; i++)
		if (stretch_is_code(&code->stretches[i]) &&
		    is_chosen(profile, code->stretches[i].dso, code->stretches[i].begin))
			count += add_passages(passages + count, &code->stretches[i]);
	SORT(passages, count, compare_passages);
	for (size_t i = 0; i < count;) {
		uint64_t vaddr = passages[i].vaddr, change = 0;

		for (; i < count && passages[i].vaddr == vaddr; i++)
			change += passages[i].change;
		if (change && executions)
			fprintf(profile->output.text, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
				begin, vaddr, executions);
		begin = change ? vaddr : begin;
		executions += change;
	}
	free(passages);
}

/*
 * B is a branch (mispredictions are unknown); f is code reached from another function, as after a
 * returned call.
 */
static void print_bolt(struct format_output *output)
{
	struct profile_output *profile = (struct profile_output *)output;

	list_edges(profile);
	print_straight(profile);
	for (size_t i = 0; i < profile->edge_count; i++) {
		const struct code_stretch *edge = profile->edges[i];

		if (edge->begin)
			fprintf(output->text, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " 0\n",
				edge->begin, edge->last, edge->count);
		else if (edge->branch != BRANCH_RETURN)
			fprintf(output->text, "B X:0 %" PRIx64 " %" PRIu64 " 0\n", edge->last,
				edge->count);
		if (edge->branch == BRANCH_RETURN)
			fprintf(output->text, "f %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", edge->last,
				edge->last, edge->count);
	}
	check_program(profile);
}

/* ---- LLVM ---------------------------------------------------------------- */

/* A count of LLVM's profile. */
struct profile_row {
	/* The function, LF; of each inlined one the position of its call, the function, LF. */
	const struct name *path;
	bool called;               /* counts calls of the function; else, by position in the */
	uint32_t position;         /* innermost function, */
	const struct name *callee; /* calls of this function; NULL: executions of an instruction */
	uint64_t count;
};

/* Bits of the discriminator in a position, below the line (16 bits in LLVM). */
#define DISCRIMINATOR_BITS 12

/* A part of a discriminator (llvm/include/llvm/IR/DebugInfoMetadata.h, "prefix encoding"). */
static uint32_t prefix_decode(uint32_t code)
{
	uint32_t high = code & 0x40 ? code >> 2 & 0xfe0 : 0;

	return code & 1 ? 0 : high | (code >> 1 & 0x1f);
}

static void print_llvm_position(uint32_t position, FILE *out)
{
	uint32_t discriminator = position & ((1u << DISCRIMINATOR_BITS) - 1);

	fprintf(out, discriminator ? "%" PRIu32 ".%" PRIu32 ": " : "%" PRIu32 ": ",
		position >> DISCRIMINATOR_BITS, discriminator);
}

/* Add a row for some frames, innermost first; without frames, adds nothing. */
static void add_profile_row(struct profile_output *profile, const struct source_frame *frames,
			    size_t left, struct profile_row row)
{
	size_t size;
	char *text;
	FILE *path;

	if (!left)
		return;
	path = ALLOC_CHECKED(open_memstream(&text, &size));
	for (row.position = 0; left;) {
		const struct name *name = frames[--left].function;

		if (ftell(path))
			print_llvm_position(row.position, path);
		escaped_printf(path, "%s\n", name->text);
		row.position = (frames[left].line & 0xffff) << DISCRIMINATOR_BITS |
			       prefix_decode(frames[left].discriminator);
	}
	alloc_close_text(path, &text);
	row.path = name_intern(profile->names, text, size);
	if (row.path->length == size)
		*ARRAY_ADD(profile->rows, profile->row_count, profile->row_room) = row;
	free(text);
}

/* Returns whether the code has lines. */
static bool add_code(struct profile_output *profile, const struct dso *dso, uint64_t vaddr,
		     const struct name *callee, uint64_t count)
{
	struct source_frame frames[SOURCE_FRAMES];
	size_t depth = dso_source_frames((struct dso *)dso, vaddr, frames);

	if (depth && !callee) {
		/* The next part is the compiler's number of copies of the code. */
		uint32_t code = frames[0].discriminator, wide = code & 0x40 ? 14 : 7;

		count *= prefix_decode(code >> (code & 1 ? 1 : wide)) ?: 1;
	}
	add_profile_row(profile, frames, depth,
			(struct profile_row){ .callee = callee, .count = count });
	return depth;
}

/* Add rows for all code of a function; code that did not run has count 0. */
static void sweep_function(struct profile_output *profile, const struct symbol *symbol)
{
	size_t known = profile->swept.count, left;
	const uint8_t *code = dso_borrow_code(symbol->dso, symbol->start, &left), *begin = code;

	if (pair_table_find_pointer(&profile->swept, symbol) < known)
		return;
	left = MIN(left, symbol->size); /* a file's last function can lack an end */
	while (left) {
		struct insn insn = insn_decode(code, left, INSN_MODE_64);
		size_t length = insn.length ? insn.length : 1;

		if (insn.length)
			add_code(profile, symbol->dso, symbol->start + (uint64_t)(code - begin),
				 NULL, 0);
		code += length;
		left -= length;
	}
}

static void add_insn(void *context, const struct executed_insn *insn)
{
	struct profile_output *profile = context;
	const struct symbol *symbol = chosen_at(profile, insn->dso, insn->vaddr);

	if (symbol && add_code(profile, insn->dso, insn->vaddr, NULL, insn->count))
		sweep_function(profile, symbol);
}

COMPARE_WITH(compare_profile_rows, struct profile_row,
	     strcmp(a->path->text, b->path->text) ?: COMPARE(b->called, a->called) ?:
	     COMPARE(a->position, b->position) ?:
	     (a->callee && b->callee ? strcmp(a->callee->text, b->callee->text)
				     : COMPARE(!!a->callee, !!b->callee)))

/* A position's count is its instructions' maximum, because optimizers move instructions. */
static void print_positions(const struct profile_row *rows, size_t count, int depth, FILE *out)
{
	const struct profile_row *row = rows, *end = rows + count;

	while (row < end) {
		uint32_t position = row->position;
		uint64_t most = 0, calls;

		for (; row < end && row->position == position && !row->callee; row++)
			most = row->count > most ? row->count : most;
		fprintf(out, "%*s", depth, "");
		print_llvm_position(position, out);
		fprintf(out, "%" PRIu64, most);
		while (row < end && row->position == position) {
			const struct name *callee = row->callee;

			for (calls = 0;
			     row < end && row->position == position && row->callee == callee;)
				calls += row++->count;
			escaped_printf(out, " %s:%" PRIu64, callee->text, calls);
		}
		putc('\n', out);
	}
}

/*
 * Print the functions of rows whose paths are equal up to a length: functions inlined in one, or
 * all. Omits functions without lines or executions, which the compiler would treat as cold.
 */
static void print_llvm_functions(const struct profile_row *rows, size_t count, size_t length,
				 int depth, FILE *out)
{
	size_t same;

	for (; count; rows += same, count -= same) {
		const char *path = rows->path->text, *name = path + length;
		size_t end = (size_t)(strchr(name, '\n') + 1 - path), calls = 0, own = 0;
		uint64_t called = 0, sum = 0;

		for (same = 0; same < count && !strncmp(rows[same].path->text, path, end); same++) {
			own += rows[same].path->length == end;
			calls += rows[same].called;
			if (!rows[same].callee)
				*(rows[same].called ? &called : &sum) += rows[same].count;
		}
		if (same == calls || !(depth + called + sum))
			continue;
		fprintf(out, "%*s%.*s:%" PRIu64, depth, "", (int)(path + end - 1 - name), name,
			sum);
		if (!depth)
			fprintf(out, ":%" PRIu64, called);
		putc('\n', out);
		print_positions(rows + calls, own - calls, depth + 1, out);
		print_llvm_functions(rows + own, same - own, end, depth + 1, out);
	}
}

static void print_llvm_profile(struct format_output *output)
{
	struct profile_output *profile = (struct profile_output *)output;

	list_edges(profile);
	executed_code_list(&profile->code, add_insn, profile);
	if (profile->any && !profile->row_count)
		diag_warn(profile->diag, "no-lines",
			  "the code that ran has no source lines; build it with -g, or install its "
			  "debug files");
	for (size_t i = 0; i < profile->edge_count; i++) {
		const struct code_stretch *edge = profile->edges[i];
		const struct symbol *callee = chosen_at(profile, edge->dso, edge->last);

		/* Add calls, and jumps to another function's entry. */
		if (!callee || callee->start != edge->last || callee->function ||
		    callee->kind != SYMBOL_FUNCTION || edge->branch == BRANCH_RETURN ||
		    (edge->branch == BRANCH_JUMP && edge->begin - callee->start < callee->size))
			continue;
		add_profile_row(profile, &(struct source_frame){ .function = callee->linkage }, 1,
				(struct profile_row){ .called = true, .count = edge->count });
		if (edge->begin && chosen_at(profile, edge->dso, edge->begin))
			add_code(profile, edge->dso, edge->begin, callee->linkage, edge->count);
	}
	SORT(profile->rows, profile->row_count, compare_profile_rows);
	print_llvm_functions(profile->rows, profile->row_count, 0, 0, output->text);
	check_program(profile);
}

static void release_profile(struct format_output *output)
{
	struct profile_output *profile = (struct profile_output *)output;

	executed_code_release(&profile->code);
	function_choice_release(&profile->choice);
	pair_table_release(&profile->swept);
	free(profile->edges);
	free(profile->rows);
}

#define PROFILE(print)                                                                             \
	.chooses_calls = true, .size = sizeof(struct profile_output), .open = open_profile,        \
	.finish = print, .release = release_profile
#define BOLT         .name = "bolt", PROFILE(print_bolt)
#define LLVM_PROFILE .name = "llvm-profile", .suffix = "prof", PROFILE(print_llvm_profile)
#define WITHIN       .slices = SLICES_SORTED, .all_branches = true

static const struct output_format bolt_within = { BOLT, WITHIN };
static const struct output_format llvm_within = { LLVM_PROFILE, WITHIN };
const struct output_format format_bolt = { BOLT, .within = &bolt_within };
const struct output_format format_llvm_profile = { LLVM_PROFILE, .within = &llvm_within };
