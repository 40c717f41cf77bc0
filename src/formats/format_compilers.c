/* SPDX-License-Identifier: MIT */
/*
 * Profiles of one program for compilers: --format=bolt, the pre-aggregated branches of
 * `perf2bolt -pa` (LLVM's bolt/include/bolt/Profile/DataAggregator.h), and --format=llvm-profile,
 * the text form of LLVM's sample profiles (llvm/include/llvm/ProfileData/SampleProfReader.h),
 * where counts are executions.
 *
 * The program is the file that was mapped first, or the one file of --dso.
 */

#include "base/tables/pair_table.h"
#include "decoder/code/insn.h"
#include "src/costs/executed_code.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/options/options.h"
#include "src/resolve/location.h"
#include "src/select/function_choice.h"
#include "symbols/dso/dso_store.h"

struct profile_edge {
	const struct dso *dso;    /* of `to`; borrowed */
	uint64_t from, to, count; /* ELF virtual addresses; from 0: in another file */
	enum branch_kind kind;    /* call, jump or return */
	bool counted;             /* as code, by the decoder: jumps within files */
};

struct profile_output {
	struct format_output output; /* first */
	struct executed_code code;
	struct function_choice choice;
	const struct dso *program; /* borrowed; NULL: the file of --dso that ran first */
	struct diag *diag;         /* borrowed, as the next */
	struct name_table *names;
	const struct symbol *last;  /* contains the last address looked up; NULL: no address */
	bool several, any;          /* --dso matches several files; chosen code ran */
	struct profile_edge *edges; /* owned: of calls and returns, then of jumps */
	size_t edge_count, edge_room;
	struct id_index edge_ids;      /* of their numbers + 1 */
	struct executed_insn straight; /* --format=bolt: the last instruction, */
	uint64_t begin, count;         /* and the begin and executions of straight code before it */
	/* Of --format=llvm-profile: */
	struct profile_row *rows; /* owned */
	size_t row_count, row_room;
	struct pair_table swept; /* of pointers of symbols whose code has rows */
};

static struct format_output *open_profile(const struct format_request *request, struct error *err)
{
	struct profile_output *profile = alloc_zeroed(1, sizeof(*profile));
	const struct selection *select = &request->options->select;

	(void)err;
	*profile = (struct profile_output){
		.output = { .text = request->text, .code = &profile->code },
		.choice.selection = select,
		.program = select->dsos.count ? NULL : request->facts.program,
		.diag = request->diag,
		.names = request->names,
	};
	executed_code_init(&profile->code);
	return &profile->output;
}

/* Returns the symbol at an address that is of the chosen functions of the program; NULL: not. */
static const struct symbol *chosen_at(struct profile_output *profile, const struct dso *dso,
				      uint64_t vaddr)
{
	const struct symbol *last = profile->last;

	if (profile->program && profile->program != dso) {
		profile->several |= profile->choice.selection->dsos.count &&
				    function_choice_keeps_file(&profile->choice, dso);
		return NULL;
	}
	if (!last || last->dso != dso || vaddr - last->start >= last->size)
		last = profile->last = dso_borrow_symbol_at((struct dso *)dso, vaddr);
	if (!function_choice_has(&profile->choice, last))
		return NULL;
	profile->program = dso;
	profile->any = true;
	return last;
}

/* Check the choice once all code was looked at.  Returns 0, or -1 with err filled. */
static int check_program(struct profile_output *profile, struct error *err)
{
	const struct selection *select = profile->choice.selection;

	if (profile->several)
		return error_set(err, ERROR_UNSUPPORTED,
				 "--dso matches several files, and a profile is of one; name it");
	if (select->symbols.count || select->dsos.count)
		function_choice_warn(&profile->choice, profile->any, profile->diag);
	else if (!profile->any)
		diag_warn(profile->diag, "no-program-code",
			  "no code of the program ran; choose another file with --dso");
	return 0;
}

static int compare_edges(const void *left, const void *right)
{
	const struct profile_edge *a = left, *b = right;

	return COMPARE((uintptr_t)a->dso, (uintptr_t)b->dso)
		       ?: COMPARE(a->kind, b->kind) ?: COMPARE(a->to, b->to) ?:
		       COMPARE(a->from, b->from);
}

static struct profile_edge *find_edge(struct profile_output *profile,
				      const struct profile_edge *edge)
{
	uint32_t hash = hash_u64(edge->from ^ edge->to << 24 ^ edge->kind), id;
	struct id_probe probe = id_index_probe(hash);

	while ((id = id_index_next(&profile->edge_ids, &probe)) &&
	       compare_edges(&profile->edges[id - 1], edge))
		;
	if (!id) {
		*ARRAY_ADD(profile->edges, profile->edge_count, profile->edge_room) = *edge;
		id = (uint32_t)profile->edge_count;
		id_index_add(&profile->edge_ids, hash, id);
	}
	return &profile->edges[id - 1];
}

/* Count a branch that is not local to its function. */
static void count_branch(struct format_output *output, const struct branch_event *event,
			 const struct location *from, const struct location *to)
{
	struct profile_edge edge = { .kind = event->kind };

	if (!to->symbol || !to->symbol->dso || event->kind < BRANCH_CALL ||
	    event->kind > BRANCH_COND)
		return;
	edge.dso = to->symbol->dso;
	edge.to = to->symbol->start + to->offset;
	if (from->symbol && from->symbol->dso == edge.dso)
		edge.from = from->symbol->start + from->offset;
	if (event->kind == BRANCH_COND)
		edge.kind = BRANCH_JUMP;
	find_edge((struct profile_output *)output, &edge)->count++;
}

/* Sort the edges, with the jumps that were counted as code: some have come as branches, too. */
static void finish_edges(struct profile_output *profile)
{
	for (size_t i = 0; i < profile->code.count; i++) {
		const struct code_stretch *at = &profile->code.stretches[i];
		struct profile_edge jump = { at->dso, at->begin, at->last, 0, BRANCH_JUMP, true };
		struct profile_edge *edge = at->kind == JUMPED ? find_edge(profile, &jump) : &jump;

		edge->count = at->count + (edge->counted ? edge->count : 0);
		edge->counted = true;
	}
	if (profile->edge_count)
		qsort(profile->edges, profile->edge_count, sizeof(*profile->edges), compare_edges);
}

/* ---- BOLT ---------------------------------------------------------------- */

/* Print the straight code up to the last instruction, if it has several. */
static void end_straight(struct profile_output *profile)
{
	if (profile->count && profile->begin != profile->straight.vaddr)
		fprintf(profile->output.text, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
			profile->begin, profile->straight.vaddr, profile->count);
	profile->count = 0;
}

/* Straight code is executed equally often: F is printed for its whole length. */
static void add_straight(void *context, const struct executed_insn *insn)
{
	struct profile_output *profile = context;
	const struct executed_insn *last = &profile->straight;
	bool chosen = chosen_at(profile, insn->dso, insn->vaddr);
	bool follows = last->dso == insn->dso && last->vaddr + last->length == insn->vaddr;
	bool passes = last->kind == BRANCH_NONE || last->kind == BRANCH_COND;
	uint64_t passages = passes ? last->count - last->taken : 0;

	if (!chosen || !follows || passages != profile->count) {
		end_straight(profile);
		profile->begin = last->vaddr;
		profile->count = chosen && follows ? passages : 0;
	}
	profile->straight = *insn;
}

/*
 * B is a branch, of which none is known to be mispredicted; f code that was reached from another
 * function, as after a call that returned.
 */
static int print_bolt(struct format_output *output, struct error *err)
{
	struct profile_output *profile = (struct profile_output *)output;
	char from[20];

	finish_edges(profile);
	executed_code_list(&profile->code, add_straight, profile);
	end_straight(profile);
	for (size_t i = 0; i < profile->edge_count; i++) {
		const struct profile_edge *edge = &profile->edges[i];

		if (!chosen_at(profile, edge->dso, edge->to))
			continue;
		if (edge->from)
			snprintf(from, sizeof(from), "%" PRIx64, edge->from);
		if (edge->from || edge->kind != BRANCH_RETURN)
			fprintf(output->text, "B %s %" PRIx64 " %" PRIu64 " 0\n",
				edge->from ? from : "X:0", edge->to, edge->count);
		if (edge->kind == BRANCH_RETURN)
			fprintf(output->text, "f %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", edge->to,
				edge->to, edge->count);
	}
	return check_program(profile, err);
}

/* ---- LLVM ---------------------------------------------------------------- */

/* A count of LLVM's profile. */
struct profile_row {
	/* The function, LF; of each inlined one the place of its call, the function, LF. */
	const struct name *path;
	bool called;               /* calls of the function are counted; else, by place in the */
	uint32_t place;            /* innermost function, */
	const struct name *callee; /* calls of this function; NULL: executions of an instruction */
	uint64_t count;
};

/* Bits of a place: below its line, of which LLVM has 16, the discriminator. */
#define DISCRIMINATOR_BITS 12

/* A part of a discriminator (llvm/include/llvm/IR/DebugInfoMetadata.h, "prefix encoding"). */
static uint32_t prefix_decode(uint32_t code)
{
	uint32_t high = code & 0x40 ? code >> 2 & 0xfe0 : 0;

	return code & 1 ? 0 : high | (code >> 1 & 0x1f);
}

static void print_llvm_place(uint32_t place, FILE *out)
{
	uint32_t discriminator = place & ((1u << DISCRIMINATOR_BITS) - 1);

	fprintf(out, discriminator ? "%" PRIu32 ".%" PRIu32 ": " : "%" PRIu32 ": ",
		place >> DISCRIMINATOR_BITS, discriminator);
}

/* Add a row for some frames (0: nothing is added), the innermost first. */
static void add_profile_row(struct profile_output *profile, const struct source_frame *frames,
			    size_t left, struct profile_row row)
{
	size_t size;
	char *text;
	FILE *path;

	if (!left)
		return;
	path = ALLOC_CHECKED(open_memstream(&text, &size));
	for (row.place = 0; left;) {
		const struct name *name = frames[--left].function;

		if (ftell(path))
			print_llvm_place(row.place, path);
		escaped_text_print(name->text, name->length, path);
		putc('\n', path);
		row.place = (frames[left].line & 0xffff) << DISCRIMINATOR_BITS |
			    prefix_decode(frames[left].discriminator);
	}
	alloc_close_text(path, &text);
	row.path = name_intern(profile->names, text, size);
	if (row.path->length == size)
		*ARRAY_ADD(profile->rows, profile->row_count, profile->row_room) = row;
	free(text);
}

static void add_code(struct profile_output *profile, const struct dso *dso, uint64_t vaddr,
		     const struct name *callee, uint64_t count)
{
	struct source_frame frames[SOURCE_FRAMES];
	size_t depth = dso_source_frames((struct dso *)dso, vaddr, frames);

	if (depth && !callee) {
		/* Its next part says how many copies of the code a compiler made. */
		uint32_t code = frames[0].discriminator, wide = code & 0x40 ? 14 : 7;

		count *= prefix_decode(code >> (code & 1 ? 1 : wide)) ?: 1;
	}
	add_profile_row(profile, frames, depth,
			(struct profile_row){ .callee = callee, .count = count });
}

/* Make rows of all code of a function: what did not run has a count of 0. */
static void sweep_function(struct profile_output *profile, const struct symbol *symbol)
{
	size_t known = profile->swept.count, size;
	struct insn insn;

	if (pair_table_find_pointer(&profile->swept, symbol) < known)
		return;
	for (uint64_t at = 0; at < symbol->size; at += insn.length ? insn.length : 1) {
		const uint8_t *code = dso_borrow_code(symbol->dso, symbol->start + at, &size);

		insn = code ? insn_decode(code, size, INSN_MODE_64) : (struct insn){ 0 };
		if (insn.length)
			add_code(profile, symbol->dso, symbol->start + at, NULL, 0);
	}
}

static void add_insn(void *context, const struct executed_insn *insn)
{
	struct profile_output *profile = context;
	const struct symbol *symbol = chosen_at(profile, insn->dso, insn->vaddr);

	if (!symbol)
		return;
	sweep_function(profile, symbol);
	add_code(profile, insn->dso, insn->vaddr, NULL, insn->count);
}

/* Calls, and jumps to the begin of another function. */
static void add_call(struct profile_output *profile, const struct profile_edge *edge)
{
	const struct symbol *callee = chosen_at(profile, edge->dso, edge->to);

	if (!callee || callee->start != edge->to || callee->function ||
	    callee->kind != SYMBOL_FUNCTION || edge->kind == BRANCH_RETURN ||
	    (edge->kind == BRANCH_JUMP && edge->from - callee->start < callee->size))
		return;
	add_profile_row(profile, &(struct source_frame){ .function = callee->linkage }, 1,
			(struct profile_row){ .called = true, .count = edge->count });
	if (edge->from && chosen_at(profile, edge->dso, edge->from))
		add_code(profile, edge->dso, edge->from, callee->linkage, edge->count);
}

static int compare_profile_rows(const void *left, const void *right)
{
	const struct profile_row *a = left, *b = right;

	return strcmp(a->path->text, b->path->text) ?: COMPARE(b->called, a->called) ?:
	       COMPARE(a->place, b->place) ?:
	       (a->callee && b->callee ? strcmp(a->callee->text, b->callee->text)
				       : COMPARE(!!a->callee, !!b->callee));
}

/* Of the instructions of a place the most executions count, as an optimiser may have moved some. */
static void print_places(const struct profile_row *rows, size_t count, int depth, FILE *out)
{
	const struct profile_row *row = rows, *end = rows + count;

	while (row < end) {
		uint32_t place = row->place;
		uint64_t most = 0, calls;

		for (; row < end && row->place == place && !row->callee; row++)
			most = row->count > most ? row->count : most;
		fprintf(out, "%*s", depth, "");
		print_llvm_place(place, out);
		fprintf(out, "%" PRIu64, most);
		while (row < end && row->place == place) {
			const struct name *callee = row->callee;

			for (calls = 0; row < end && row->place == place && row->callee == callee;)
				calls += row++->count;
			putc(' ', out);
			escaped_text_print(callee->text, callee->length, out);
			fprintf(out, ":%" PRIu64, calls);
		}
		putc('\n', out);
	}
}

/*
 * Print the functions of rows whose paths are equal up to a length: those inlined in one, or all.
 * A function without lines is left out: with 0 executions the compiler would take it for cold.
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
		if (same == calls)
			continue;
		fprintf(out, "%*s%.*s:%" PRIu64, depth, "", (int)(path + end - 1 - name), name,
			sum);
		if (!depth)
			fprintf(out, ":%" PRIu64, called);
		putc('\n', out);
		print_places(rows + calls, own - calls, depth + 1, out);
		print_llvm_functions(rows + own, same - own, end, depth + 1, out);
	}
}

static int print_llvm_profile(struct format_output *output, struct error *err)
{
	struct profile_output *profile = (struct profile_output *)output;

	finish_edges(profile);
	executed_code_list(&profile->code, add_insn, profile);
	if (profile->swept.count && !profile->row_count)
		diag_warn(profile->diag, "no-lines",
			  "the code that ran has no source lines; build it with -g, or install its "
			  "debug files");
	for (size_t i = 0; i < profile->edge_count; i++)
		add_call(profile, &profile->edges[i]);
	if (profile->row_count)
		qsort(profile->rows, profile->row_count, sizeof(*profile->rows),
		      compare_profile_rows);
	print_llvm_functions(profile->rows, profile->row_count, 0, 0, output->text);
	return check_program(profile, err);
}

static void release_profile(struct format_output *output)
{
	struct profile_output *profile = (struct profile_output *)output;

	executed_code_release(&profile->code);
	function_choice_release(&profile->choice);
	pair_table_release(&profile->swept);
	free(profile->edges);
	id_index_release(&profile->edge_ids);
	free(profile->rows);
}

#define PROFILE(print)                                                                             \
	.chooses_calls = true, .open = open_profile, .branch = count_branch, .finish = print,      \
	.release = release_profile

const struct output_format format_bolt = { .name = "bolt", PROFILE(print_bolt) };

const struct output_format format_llvm_profile = { .name = "llvm-profile",
						   .suffix = "prof",
						   PROFILE(print_llvm_profile) };
