/* SPDX-License-Identifier: MIT */
/*
 * --format=pprof: the cost of each distinct call stack as a profile for `go tool pprof`,
 * Pyroscope, speedscope and others (profile.proto): calls, instructions, core cycles and time,
 * with the threads' name as a label.
 *
 * The innermost location of a sample is an instruction of its function. Executions are counted for
 * all stacks of a function together, so the costs of each stack are divided in the same
 * proportions. A file can be mapped at any address in many processes, and pprof ignores the mapping
 * of an address. So addresses are the ELF file's, plus a multiple of FILE_SPACE per file.
 */

#include "src/costs/cost_stacks.h"
#include "src/formats/output_format.h"
#include "src/formats/pprof/profile.pb-c.h"
#include "src/formats/text/any_text.h"
#include "src/options/options.h"

/* ---- The profile --------------------------------------------------------- */

typedef Perftools__Profiles__Profile profile_message;
typedef Perftools__Profiles__Sample sample_message;

#define VALUES 4

struct pprof_output {
	struct format_output output; /* first */
	struct cost_stacks stacks;
	struct output *file; /* borrowed */
	const char *unit;    /* the type to show; NULL: time, which --clock leaves out */
	uint64_t wall_base;  /* wall_base of struct trace_facts */
	uint8_t *bytes;      /* owned: a message */
	size_t room;
	struct pair_table texts;     /* index in string_table, by a name's pointer */
	struct pair_table locations; /* the location's id minus 1, by (function, site) */
	struct pair_table
		function_files;  /* the function's id minus 1, by (function, file's text) */
	struct pair_table files; /* the mapping's id minus 1, by dso */
	uint64_t *location_ids;  /* owned: of a stack; room for all stacks */
	bool *joined;            /* owned: by instruction: it shares the previous sample */
	uint32_t *starts; /* owned: by id of a function minus 1: its lowest line; 0: unknown */
	size_t start_room;
	const struct dso *program; /* borrowed: the first mapping; NULL: unknown */
};

static int64_t name_index(struct pprof_output *pprof, const struct name *name)
{
	return pair_table_find_pointer(&pprof->texts, name);
}

static int64_t text_index(struct pprof_output *pprof, const char *text)
{
	return name_index(pprof, name_intern_text(pprof->stacks.tree.names, text));
}

static void write_message(struct pprof_output *pprof, const profile_message *message)
{
	size_t size = perftools__profiles__profile__get_packed_size(message);

	pprof->bytes = alloc_grow(pprof->bytes, &pprof->room, size, 1);
	perftools__profiles__profile__pack(message, pprof->bytes);
	output_write(pprof->file, pprof->bytes, size);
}

/* Write a message whose repeated `field` is one item. */
#define WRITE_ONE(pprof, field, item)                                                              \
	({                                                                                         \
		profile_message one = PERFTOOLS__PROFILES__PROFILE__INIT;                          \
                                                                                                   \
		one.n_##field = 1;                                                                 \
		one.field = &(item);                                                               \
		write_message(pprof, &one);                                                        \
	})

/* ---- Stacks -------------------------------------------------------------- */

/* Write the types of the values. By convention, a count is first; pprof shows the default one. */
static void write_header(struct pprof_output *pprof)
{
	const struct {
		const char *type, *unit;
		bool shown;
	} types[VALUES] = { { "calls", "count", true },
			    { "instructions", "count", pprof->stacks.sum.insns },
			    { "cycles", "count", pprof->stacks.sum.cycles },
			    { "time", "nanoseconds", !pprof->unit } };
	Perftools__Profiles__ValueType values[VALUES], *list[VALUES];
	profile_message message = PERFTOOLS__PROFILES__PROFILE__INIT;
	uint64_t first, last;
	int64_t comment;

	message.sample_type = list;
	for (int i = 0; i < VALUES; i++) {
		Perftools__Profiles__ValueType *value = &values[message.n_sample_type];

		if (!types[i].shown)
			continue;
		perftools__profiles__value_type__init(value);
		value->type = text_index(pprof, types[i].type);
		value->unit = text_index(pprof, types[i].unit);
		list[message.n_sample_type++] = value;
	}
	comment = text_index(pprof, COST_STACKS_NOTE);
	message.comment = &comment;
	message.n_comment = 1;
	message.default_sample_type = text_index(pprof, pprof->unit ?: "time");
	if (!pprof->unit && call_tree_times(&pprof->stacks.tree, &first, &last)) {
		message.duration_nanos = (int64_t)(last - first);
		if (pprof->wall_base != WALL_BASE_UNKNOWN)
			message.time_nanos = (int64_t)(pprof->wall_base + first);
	}
	write_message(pprof, &message);
}

static uint64_t location_id(struct pprof_output *pprof, uint32_t function, uint32_t site)
{
	return (uint64_t)pair_table_find(&pprof->locations, function, site) + 1;
}

static void write_sample(struct pprof_output *pprof, sample_message *sample, uint64_t calls,
			 const struct call_costs *costs)
{
	int64_t values[VALUES];

	sample->value = values;
	sample->n_value = 0;
	values[sample->n_value++] = (int64_t)calls;
	if (pprof->stacks.sum.insns)
		values[sample->n_value++] = (int64_t)costs->insns;
	if (pprof->stacks.sum.cycles)
		values[sample->n_value++] = (int64_t)costs->cycles;
	if (!pprof->unit)
		values[sample->n_value++] = (int64_t)costs->ns;
	WRITE_ONE(pprof, sample, sample);
}

/*
 * Maximum samples of a function. In larger functions, neighbours on a line share the address of the
 * first.
 */
#define FUNCTION_SAMPLES 4096

static bool is_same_source(const struct cost_insn *a, const struct cost_insn *b)
{
	struct source_line at, other;

	if (!a->insn.length || a->insn.vaddr + a->insn.length != b->insn.vaddr ||
	    a->symbol != b->symbol ||
	    dso_inlined_at(a->symbol->dso, a->insn.vaddr) !=
		    dso_inlined_at(b->symbol->dso, b->insn.vaddr))
		return false;
	at = dso_line(a->symbol, a->insn.vaddr - a->symbol->start);
	other = dso_line(b->symbol, b->insn.vaddr - b->symbol->start);
	return at.file == other.file && at.line == other.line;
}

static void write_instructions(struct pprof_output *pprof, uint32_t node, sample_message *sample)
{
	struct cost_stacks *stacks = &pprof->stacks;
	const struct call_node *path = &stacks->tree.nodes[node];
	uint32_t function = cost_frame(stacks, node).first;
	struct cost_range range = { .all = cost_executions(stacks, function) };
	uint64_t calls = path->calls;

	/* Round differently in each stack, so that sums over stacks have small errors. */
	range.phase =
		(uint64_t)((__uint128_t)(node * UINT64_C(0x9e3779b97f4a7c15)) * range.all >> 64);
	for (size_t i = stacks->first[function], next; i < stacks->first[function + 1]; i = next) {
		const struct cost_insn *instruction = &stacks->instructions[i];
		struct call_costs costs;

		for (next = i + 1; next < stacks->first[function + 1] && pprof->joined[next];)
			next++;
		range.begin = instruction->before;
		range.end = stacks->instructions[next - 1].before +
			    stacks->instructions[next - 1].insn.count;
		costs = cost_shares(&path->own, &range);
		if (!calls && !costs.ns && !costs.insns && !costs.cycles)
			continue;
		pprof->location_ids[0] =
			location_id(pprof, function, cost_insn_site(stacks, instruction));
		write_sample(pprof, sample, calls, &costs);
		calls = 0;
	}
}

static void write_stack(struct pprof_output *pprof, uint32_t node)
{
	const struct cost_stacks *stacks = &pprof->stacks;
	const struct call_node *path = &stacks->tree.nodes[node];
	uint32_t at = node, site = 0;
	sample_message sample = PERFTOOLS__PROFILES__SAMPLE__INIT;
	Perftools__Profiles__Label label = PERFTOOLS__PROFILES__LABEL__INIT, *labels = &label;

	/* Innermost first; the first is set later. */
	sample.location_id = pprof->location_ids;
	for (; !cost_is_thread(stacks, at); at = stacks->tree.nodes[at].caller) {
		struct pair frame = cost_frame(stacks, at);

		pprof->location_ids[sample.n_location_id++] = location_id(pprof, frame.first, site);
		site = frame.second;
	}
	label.str = name_index(pprof, stacks->tree.nodes[at].name);
	label.key = text_index(pprof, "thread");
	sample.label = &labels;
	sample.n_label = 1;
	if (cost_is_thread(stacks, node))
		write_sample(pprof, &sample, path->calls, &path->own);
	else
		write_instructions(pprof, node, &sample);
}

static void write_stacks(struct pprof_output *pprof)
{
	const struct call_tree *tree = &pprof->stacks.tree;
	const struct cost_stacks *stacks = &pprof->stacks;
	uint64_t *paths = alloc_zeroed(stacks->functions.count + 1, sizeof(*paths));

	/* Find where samples of each function, innermost in some paths, begin. */
	pprof->joined = alloc_zeroed(stacks->instruction_count + 1, sizeof(*pprof->joined));
	for (uint32_t i = NODE_NONE + 1; i < stacks->tree.count; i++)
		if (!cost_is_thread(stacks, i))
			paths[cost_frame(stacks, i).first]++;
	for (size_t i = 1; i < stacks->instruction_count; i++) {
		const struct cost_insn *insn = &stacks->instructions[i];
		const size_t *first = &stacks->first[insn->function];

		pprof->joined[i] =
			i > first[0] &&
			(first[1] - first[0]) * paths[insn->function] > FUNCTION_SAMPLES &&
			is_same_source(insn - 1, insn);
	}
	free(paths);
	for (uint32_t i = 1; i < tree->count; i++) {
		const struct call_costs *own = &tree->nodes[i].own;

		if (!tree->nodes[i].calls && !own->ns && !own->insns && !own->cycles)
			continue;
		if (output_full(pprof->file)) {
			pprof->file->cut = true;
			return;
		}
		write_stack(pprof, i);
	}
}

/* ---- Data referenced by stacks ------------------------------------------------ */

/* Segments are mapped by pages. */
#define PAGE_MASK UINT64_C(0xfff)

/* Distance between the addresses of two files; the first file's can be fixed. */
#define FILE_SPACE (UINT64_C(1) << 32)

static uint64_t mapping_id(struct pprof_output *pprof, const struct dso *dso)
{
	size_t count = pprof->files.count;
	uint32_t file;
	Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT, *list = &mapping;
	struct code_range range;
	const struct name *build_id;

	if (!dso)
		return 0;
	file = pair_table_find_pointer(&pprof->files, dso);
	if (file < count)
		return (uint64_t)file + 1;
	mapping.id = (uint64_t)file + 1;
	if (dso->elf.code_count) {
		range = dso->elf.code[0];
		range.vaddr += file * FILE_SPACE;
		mapping.memory_start = range.vaddr & ~PAGE_MASK;
		mapping.memory_limit = (range.vaddr + range.size + PAGE_MASK) & ~PAGE_MASK;
		mapping.file_offset = range.offset & ~PAGE_MASK;
	}
	mapping.filename = text_index(pprof, dso->path);
	build_id = dso_build_id_name(dso, pprof->stacks.tree.names);
	mapping.build_id = build_id ? name_index(pprof, build_id) : 0; /* 0: "" */
	/* pprof need not look up names. */
	mapping.has_functions = mapping.has_filenames = mapping.has_line_numbers = true;
	WRITE_ONE(pprof, mapping, list);
	return mapping.id;
}

/* Returns the id of a function in a source file; a function can have code from several. */
static uint64_t function_id(struct pprof_output *pprof, const struct cost_source *source)
{
	uint32_t function = function_table_find(&pprof->stacks.functions, source->symbol);
	int64_t file = source->at.file ? name_index(pprof, source->at.file) : 0;
	uint32_t id = pair_table_find(&pprof->function_files, function, (uint32_t)file);

	ARRAY_GROW_ZEROED(pprof->starts, pprof->start_room, (size_t)id + 1);
	if (source->at.line && source->at.line - 1 < pprof->starts[id] - 1)
		pprof->starts[id] = source->at.line;
	return (uint64_t)id + 1;
}

static void write_location(struct pprof_output *pprof, size_t number)
{
	struct pair key = pair_table_pair(&pprof->locations, number); /* function, site */
	struct cost_source sources[COST_SOURCES];
	size_t count = cost_sources(&pprof->stacks, key.first, key.second, sources);
	Perftools__Profiles__Line lines[COST_SOURCES], *line_list[COST_SOURCES];
	Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT;
	Perftools__Profiles__Location *list = &location;
	const struct symbol *symbol;

	for (size_t i = 0; i < count; i++) {
		perftools__profiles__line__init(&lines[i]);
		lines[i].function_id = function_id(pprof, &sources[i]);
		lines[i].line = sources[i].at.line;
		line_list[i] = &lines[i];
	}
	location.id = number + 1;
	location.address = cost_site_address(&pprof->stacks, key.second, &symbol);
	location.mapping_id = mapping_id(
		pprof,
		symbol ? symbol->dso : pprof->stacks.functions.functions[key.first].symbol->dso);
	if (symbol)
		location.address += (location.mapping_id - 1) * FILE_SPACE;
	location.line = line_list;
	location.n_line = count;
	WRITE_ONE(pprof, location, list);
}

static void open_pprof(struct format_output *output, const struct format_request *request)
{
	struct pprof_output *pprof = (struct pprof_output *)output;

	cost_stacks_init(&pprof->stacks, request->names, options_max_stack(request->options),
			 request->options->inlined);
	pprof->file = request->output;
	pprof->unit = request->options->clock == CLOCK_INSNS    ? "instructions"
		      : request->options->clock == CLOCK_CYCLES ? "cycles"
								: NULL;
	pprof->wall_base = request->facts.wall_base;
	output->slices = &pprof->stacks.tree.slices;
	output->sink = pprof->stacks.sink;
	output->code = &pprof->stacks.code;
	pprof->program = request->facts.program;
}

/* Write all stacks with a cost, up to the output's limit. */
static void write_pprof(struct format_output *output)
{
	struct pprof_output *pprof = (struct pprof_output *)output;
	const struct table_function *functions;

	output->truncated = pprof->stacks.tree.cut_slices;
	cost_stacks_finish(&pprof->stacks);
	pprof->location_ids = alloc_zeroed(pprof->stacks.tree.count, sizeof(*pprof->location_ids));
	text_index(pprof, "");
	write_header(pprof);
	write_stacks(pprof);
	/* pprof treats the first mapping as the program. */
	functions = pprof->stacks.functions.functions;
	for (size_t i = 0; i < pprof->stacks.functions.count; i++)
		if (functions[i].symbol->dso == pprof->program)
			mapping_id(pprof, pprof->program);
	for (size_t i = 0; i < pprof->locations.count; i++)
		write_location(pprof, i);
	for (size_t i = 0; i < pprof->function_files.count; i++) {
		struct pair pair = pair_table_pair(&pprof->function_files, i);
		const struct symbol *symbol = pprof->stacks.functions.functions[pair.first].symbol;
		Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT;
		Perftools__Profiles__Function *list = &function;

		function.id = i + 1;
		function.name = name_index(pprof, cost_label(&pprof->stacks, symbol));
		function.system_name =
			name_index(pprof, symbol->linkage ? symbol->linkage : symbol->name);
		function.filename = pair.second;
		function.start_line = pprof->starts[i];
		WRITE_ONE(pprof, function, list);
	}
	for (size_t i = 0; i < pprof->texts.count; i++) {
		const struct name *name = pair_table_pointer(&pprof->texts, i);
		char *text = valid_text(name->text, name->length, false);

		WRITE_ONE(pprof, string_table, text);
		free(text);
	}
}

static void release_pprof(struct format_output *output)
{
	struct pprof_output *pprof = (struct pprof_output *)output;

	cost_stacks_release(&pprof->stacks);
	pair_table_release(&pprof->texts);
	pair_table_release(&pprof->locations);
	pair_table_release(&pprof->function_files);
	pair_table_release(&pprof->files);
	free(pprof->bytes);
	free(pprof->location_ids);
	free(pprof->joined);
	free(pprof->starts);
}

#define PPROF                                                                                      \
	.name = "pprof", .suffix = "pb.gz", .default_output = DEFAULT_FILE, .gzip = true,          \
	.slices = SLICES_SORTED, .size = sizeof(struct pprof_output), .open = open_pprof,          \
	.finish = write_pprof, .release = release_pprof

static const struct output_format within = { PPROF, .all_branches = true };
const struct output_format format_pprof = { PPROF, .within = &within };
