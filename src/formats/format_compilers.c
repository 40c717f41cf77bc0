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
	const struct dso *from_dso, *dso; /* of `from`, NULL: another one; of `to`; borrowed */
	uint64_t from, to;                /* ELF virtual addresses */
	uint64_t count;
	enum branch_kind kind; /* call, jump or return */
	bool counted;          /* as code, by the decoder: jumps within files */
};

struct profile_output {
	struct format_output output; /* first */
	struct executed_code code;
	struct function_choice choice;
	const struct dso *program; /* borrowed; NULL: the file of --dso that ran first */
	struct diag *diag;         /* borrowed, as the next */
	struct name_table *names;
	const struct symbol *last;  /* contains the last address looked up; NULL: no address */
	bool several;               /* --dso matches several files */
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
	executed_code_init(&profile->code);
	profile->output.text = request->text;
	profile->output.code = &profile->code;
	profile->choice.selection = select;
	profile->program = select->dsos.count ? NULL : request->facts.program;
	profile->diag = request->diag;
	profile->names = request->names;
	return &profile->output;
}

/* ---- The program --------------------------------------------------------- */

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
	return last;
}

/* Check the choice once all code was looked at.  Returns 0, or -1 with err filled. */
static int check_program(struct profile_output *profile, bool any, struct error *err)
{
	const struct selection *select = profile->choice.selection;

	if (profile->several)
		return error_set(err, ERROR_UNSUPPORTED,
				 "--dso matches several files, and a profile is of one; name it");
	if (select->symbols.count || select->dsos.count)
		function_choice_warn(&profile->choice, any, profile->diag);
	else if (!any)
		diag_warn(profile->diag, "no-program-code",
			  "no code of the program ran; choose another file with --dso");
	return 0;
}

/* ---- Edges --------------------------------------------------------------- */

static bool is_edge(const struct profile_edge *a, const struct profile_edge *b)
{
	return a->from == b->from && a->to == b->to && a->kind == b->kind && a->dso == b->dso &&
	       a->from_dso == b->from_dso;
}

/* Count a branch that is not local to its function. */
static void count_branch(struct format_output *output, const struct branch_event *event,
			 const struct location *from, const struct location *to)
{
	struct profile_output *profile = (struct profile_output *)output;
	struct profile_edge edge = { .kind = event->kind, .count = 1 };
	uint64_t hash = hash_u64(event->from ^ event->to << 24 ^ event->kind);
	struct id_probe probe = id_index_probe(hash);
	uint32_t id;

	if (!to->symbol || !to->symbol->dso || event->kind < BRANCH_CALL ||
	    event->kind > BRANCH_COND)
		return;
	edge.dso = to->symbol->dso;
	edge.to = to->symbol->start + to->offset;
	if (from->symbol && from->symbol->dso == edge.dso) {
		edge.from_dso = edge.dso;
		edge.from = from->symbol->start + from->offset;
	}
	if (event->kind != BRANCH_CALL && event->kind != BRANCH_RETURN)
		edge.kind = BRANCH_JUMP;
	while ((id = id_index_next(&profile->edge_ids, &probe)) &&
	       !is_edge(&profile->edges[id - 1], &edge))
		;
	if (id) {
		profile->edges[id - 1].count++;
		return;
	}
	*ARRAY_ADD(profile->edges, profile->edge_count, profile->edge_room) = edge;
	id_index_add(&profile->edge_ids, hash, (uint32_t)profile->edge_count);
}

static int compare_edges(const void *left, const void *right)
{
	const struct profile_edge *a = left, *b = right;

	return COMPARE((uintptr_t)a->dso, (uintptr_t)b->dso)
		       ?: COMPARE(a->kind, b->kind) ?: COMPARE(a->to, b->to) ?:
		       COMPARE((uintptr_t)a->from_dso, (uintptr_t)b->from_dso) ?:
		       COMPARE(a->from, b->from) ?: COMPARE(b->counted, a->counted);
}

/* Sort the edges, with the jumps that were counted as code: some have come as branches, too. */
static void finish_edges(struct profile_output *profile)
{
	const struct executed_code *code = &profile->code;
	size_t kept = 0;

	for (size_t i = 0; i < code->count; i++) {
		const struct code_stretch *at = &code->stretches[i];

		if (at->kind == JUMPED)
			*ARRAY_ADD(profile->edges, profile->edge_count, profile->edge_room) =
				(struct profile_edge){ at->dso,   at->dso,     at->begin, at->last,
						       at->count, BRANCH_JUMP, true };
	}
	if (profile->edge_count)
		qsort(profile->edges, profile->edge_count, sizeof(*profile->edges), compare_edges);
	for (size_t i = 0; i < profile->edge_count; i++) {
		const struct profile_edge *edge = &profile->edges[i];

		if (!kept || !is_edge(&profile->edges[kept - 1], edge))
			profile->edges[kept++] = *edge;
		else if (profile->edges[kept - 1].counted == edge->counted)
			profile->edges[kept - 1].count += edge->count;
	}
	profile->edge_count = kept;
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

/* Returns how often the code after an instruction was executed next without a branch. */
static uint64_t passages_of(const struct executed_insn *executed)
{
	size_t size;
	const uint8_t *code = dso_borrow_code(executed->dso, executed->vaddr, &size);
	struct insn insn = code ? insn_decode(code, size, INSN_MODE_64) : (struct insn){ 0 };

	if (insn.kind != BRANCH_NONE && insn.kind != BRANCH_COND)
		return 0;
	return executed->count - executed->taken;
}

/* Straight code is executed equally often: F is printed for its whole length. */
static void add_straight(void *context, const struct executed_insn *insn)
{
	struct profile_output *profile = context;
	const struct executed_insn *last = &profile->straight;
	bool chosen = chosen_at(profile, insn->dso, insn->vaddr);
	bool follows = last->dso == insn->dso && last->vaddr + last->length == insn->vaddr;
	uint64_t passages = last->length ? passages_of(last) : 0;

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
static void print_edge(struct profile_output *profile, const struct profile_edge *edge)
{
	FILE *out = profile->output.text;

	if (edge->from_dso == edge->dso)
		fprintf(out, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " 0\n", edge->from, edge->to,
			edge->count);
	else if (edge->kind != BRANCH_RETURN)
		fprintf(out, "B X:0 %" PRIx64 " %" PRIu64 " 0\n", edge->to, edge->count);
	if (edge->kind == BRANCH_RETURN)
		fprintf(out, "f %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", edge->to, edge->to,
			edge->count);
}

static int print_bolt(struct format_output *output, struct error *err)
{
	struct profile_output *profile = (struct profile_output *)output;
	bool any = false;

	finish_edges(profile);
	executed_code_list(&profile->code, add_straight, profile);
	end_straight(profile);
	for (size_t i = 0; i < profile->edge_count; i++) {
		if (!chosen_at(profile, profile->edges[i].dso, profile->edges[i].to))
			continue;
		print_edge(profile, &profile->edges[i]);
		any = true;
	}
	return check_program(profile, any, err);
}

/* ---- LLVM ---------------------------------------------------------------- */

/* A count of LLVM's profile. */
struct profile_row {
	/* The function, LF; of each inlined one the place of its call, LF, the function, LF. */
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
	uint32_t bits = code >> 1;

	if (code & 1)
		return 0;
	return bits & 0x20 ? (bits >> 1 & 0xfe0) | (bits & 0x1f) : bits & 0x1f;
}

/* Returns how many copies of the code a compiler made: the next part. */
static uint32_t copies_of(uint32_t discriminator)
{
	uint32_t wide = discriminator & 0x40 ? 14 : 7;

	return prefix_decode(discriminator >> (discriminator & 1 ? 1 : wide)) ?: 1;
}

static uint32_t place_of(const struct source_frame *frame)
{
	return (frame->line & 0xffff) << DISCRIMINATOR_BITS | prefix_decode(frame->discriminator);
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
	for (row.place = 0; left; row.place = place_of(&frames[left])) {
		const struct name *name = frames[--left].function;

		if (ftell(path))
			fprintf(path, "%" PRIu32 "\n", row.place);
		escaped_text_print(name->text, name->length, path);
		putc('\n', path);
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

	if (depth && !callee)
		count *= copies_of(frames[0].discriminator);
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
	bool inside =
		edge->from_dso == edge->dso && callee && edge->from - callee->start < callee->size;

	if (!callee || callee->start != edge->to || callee->function ||
	    callee->kind != SYMBOL_FUNCTION || edge->kind == BRANCH_RETURN ||
	    (edge->kind == BRANCH_JUMP && inside))
		return;
	add_profile_row(profile, &(struct source_frame){ .function = callee->linkage }, 1,
			(struct profile_row){ .called = true, .count = edge->count });
	if (edge->from_dso == edge->dso && chosen_at(profile, edge->dso, edge->from))
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

/* Returns the executions of the rows whose paths have the same first bytes as the first one. */
static uint64_t sum_rows(const struct profile_row *rows, size_t count, size_t length)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count && !strncmp(rows[i].path->text, rows->path->text, length); i++)
		sum += rows[i].callee || rows[i].called ? 0 : rows[i].count;
	return sum;
}

static void print_place(uint32_t place, int depth, FILE *out)
{
	uint32_t discriminator = place & ((1u << DISCRIMINATOR_BITS) - 1);

	fprintf(out, "%*s%" PRIu32, depth, "", place >> DISCRIMINATOR_BITS);
	if (discriminator)
		fprintf(out, ".%" PRIu32, discriminator);
	fputs(": ", out);
}

/*
 * Print the heads of the functions on the path of the first row that are not on the one before.
 * Returns how many are on the path.
 */
static int print_heads(const struct profile_row *rows, size_t count, const char *before,
		       uint64_t calls, FILE *out)
{
	const char *path = rows->path->text, *at = path;
	int depth = 0;

	for (; *at; depth++) {
		uint32_t place = depth ? (uint32_t)strtoul(at, NULL, 10) : 0;
		const char *name = depth ? at + strcspn(at, "\n") + 1 : at;

		at = name + strcspn(name, "\n") + 1;
		if (!strncmp(path, before, (size_t)(at - path)))
			continue;
		if (depth)
			print_place(place, depth, out);
		fwrite(name, 1, (size_t)(at - name) - 1, out);
		fprintf(out, ":%" PRIu64, sum_rows(rows, count, (size_t)(at - path)));
		if (!depth)
			fprintf(out, ":%" PRIu64, calls);
		putc('\n', out);
	}
	return depth;
}

/* Of the instructions of a place the most executions count, as an optimiser may have moved some. */
static void print_places(const struct profile_row *rows, size_t count, int depth, FILE *out)
{
	size_t same;

	for (size_t i = 0; i < count; i += same) {
		uint64_t most = 0, calls = 0;

		for (same = 0; i + same < count && rows[i + same].place == rows[i].place; same++)
			if (!rows[i + same].callee && rows[i + same].count > most)
				most = rows[i + same].count;
		print_place(rows[i].place, depth, out);
		fprintf(out, "%" PRIu64, most);
		for (const struct profile_row *row = &rows[i]; row < &rows[i + same]; row++) {
			if (!row->callee)
				continue;
			calls += row->count;
			if (row + 1 < &rows[i + same] && row[1].callee == row->callee)
				continue;
			putc(' ', out);
			escaped_text_print(row->callee->text, row->callee->length, out);
			fprintf(out, ":%" PRIu64, calls);
			calls = 0;
		}
		putc('\n', out);
	}
}

/* A function without lines is left out: with 0 executions the compiler would take it for cold. */
static void print_rows(const struct profile_output *profile)
{
	const struct profile_row *row = profile->rows, *end = row + profile->row_count;
	FILE *out = profile->output.text;
	const char *before = "";
	uint64_t calls = 0;
	size_t count;

	for (; row < end; row += count) {
		const struct name *path = row->path;

		for (count = 0; row + count < end && row[count].path == path &&
				row[count].called == row->called;)
			count++;
		if (!row->called) {
			print_places(row, count,
				     print_heads(row, (size_t)(end - row), before, calls, out),
				     out);
			before = path->text;
		}
		calls = 0;
		for (size_t i = 0; row->called && i < count && row + count < end; i++)
			if (!strncmp(row[count].path->text, path->text, path->length))
				calls += row[i].count;
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
	print_rows(profile);
	return check_program(profile, profile->swept.count, err);
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

const struct output_format format_bolt = {
	.name = "bolt",
	.chooses_calls = true,
	.open = open_profile,
	.branch = count_branch,
	.finish = print_bolt,
	.release = release_profile,
};

const struct output_format format_llvm_profile = {
	.name = "llvm-profile",
	.suffix = "prof",
	.chooses_calls = true,
	.open = open_profile,
	.branch = count_branch,
	.finish = print_llvm_profile,
	.release = release_profile,
};
