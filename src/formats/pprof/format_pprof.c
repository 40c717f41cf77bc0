/* SPDX-License-Identifier: MIT */
/*
 * --format=pprof: the cost of each distinct call stack as a profile for `go tool pprof`,
 * Pyroscope, speedscope and others (profile.proto): calls, instructions, core cycles and time,
 * with the threads' name as a label.
 */

#include "base/io/output.h"
#include "src/formats/cost_stacks.h"
#include "src/formats/output_format.h"
#include "src/formats/pprof/profile.pb-c.h"
#include "src/formats/text/any_text.h"
#include "src/options/options.h"
#include "symbols/dso/dso_store.h"

/* ---- The profile --------------------------------------------------------- */

typedef Perftools__Profiles__Profile profile_message;
typedef Perftools__Profiles__Sample sample_message;

#define VALUES 4

struct pprof_output {
	struct format_output output; /* first */
	struct cost_stacks stacks;
	struct output *file; /* borrowed */
	uint64_t wall_base;  /* that of struct trace_facts */
	uint8_t *bytes;      /* owned: a message */
	size_t room;
	struct pair_table texts;   /* of (0, id of name): index in string_table */
	const struct name **names; /* owned; by that index */
	size_t name_room;
	struct pair_table locations; /* of (function, line): the location's id less 1 */
	struct pair_table files;     /* of a dso: the mapping's id less 1 */
	uint64_t *location_ids;      /* owned: of a stack; room for any */
	bool has_insns, has_cycles;
};

/* Returns a text's index in string_table. */
static int64_t name_index(struct pprof_output *pprof, const struct name *name)
{
	size_t count = pprof->texts.count;
	uint32_t index = pair_table_find(&pprof->texts, 0, name->id);

	if (index == count) {
		pprof->names = alloc_grow(pprof->names, &pprof->name_room, count + 1,
					  sizeof(*pprof->names));
		pprof->names[index] = name;
	}
	return index;
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

/* ---- Stacks -------------------------------------------------------------- */

/* Write the types of the values.  pprof's convention is a count first; it shows the default's. */
static void write_header(struct pprof_output *pprof)
{
	const struct {
		const char *type, *unit;
		bool shown;
	} types[VALUES] = {
		{ "calls", "count", true },
		{ "instructions", "count", pprof->has_insns },
		{ "cycles", "count", pprof->has_cycles },
		{ "time", "nanoseconds", true },
	};
	Perftools__Profiles__ValueType values[VALUES], *list[VALUES];
	profile_message message = PERFTOOLS__PROFILES__PROFILE__INIT;
	uint64_t first, last;

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
	message.default_sample_type = text_index(pprof, "time");
	if (call_tree_times(&pprof->stacks.tree, &first, &last)) {
		message.duration_nanos = (int64_t)(last - first);
		if (pprof->wall_base != WALL_BASE_UNKNOWN)
			message.time_nanos = (int64_t)(pprof->wall_base + first);
	}
	write_message(pprof, &message);
}

/* Returns the id of a line of a function. */
static uint64_t location_id(struct pprof_output *pprof, uint32_t function, uint32_t line)
{
	return (uint64_t)pair_table_find(&pprof->locations, function, line) + 1;
}

/* List the locations of a stack, innermost first.  Returns its thread's name. */
static const struct name *list_locations(struct pprof_output *pprof, uint32_t node,
					 sample_message *sample)
{
	const struct cost_stacks *stacks = &pprof->stacks;
	uint32_t line = 0;

	sample->location_id = pprof->location_ids;
	for (; !cost_is_thread(stacks, node); node = stacks->tree.nodes[node].caller) {
		struct pair frame = cost_frame(stacks, node);

		if (!line)
			line = cost_function_line(stacks->functions.functions[frame.first].symbol)
				       .line;
		pprof->location_ids[sample->n_location_id++] =
			location_id(pprof, frame.first, line);
		line = frame.second;
	}
	return stacks->tree.nodes[node].name;
}

static void write_stack(struct pprof_output *pprof, uint32_t node)
{
	const struct call_node *path = &pprof->stacks.tree.nodes[node];
	const struct call_costs *own = &path->own;
	sample_message sample = PERFTOOLS__PROFILES__SAMPLE__INIT, *samples = &sample;
	Perftools__Profiles__Label label = PERFTOOLS__PROFILES__LABEL__INIT, *labels = &label;
	profile_message message = PERFTOOLS__PROFILES__PROFILE__INIT;
	int64_t values[VALUES];

	sample.value = values;
	values[sample.n_value++] = (int64_t)path->calls;
	if (pprof->has_insns)
		values[sample.n_value++] = (int64_t)own->insns;
	if (pprof->has_cycles)
		values[sample.n_value++] = (int64_t)own->cycles;
	values[sample.n_value++] = (int64_t)own->ns;
	label.str = name_index(pprof, list_locations(pprof, node, &sample));
	label.key = text_index(pprof, "thread");
	sample.label = &labels;
	sample.n_label = 1;
	message.sample = &samples;
	message.n_sample = 1;
	write_message(pprof, &message);
}

static void write_stacks(struct pprof_output *pprof)
{
	const struct call_tree *tree = &pprof->stacks.tree;

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

/* ---- What stacks refer to ------------------------------------------------ */

static uint64_t mapping_id(struct pprof_output *pprof, const struct dso *dso)
{
	size_t count = pprof->files.count;
	uint32_t file;
	Perftools__Profiles__Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT, *list = &mapping;
	profile_message message = PERFTOOLS__PROFILES__PROFILE__INIT;
	const uint8_t *build_id;
	char digits[2 * 64 + 1] = "";
	size_t size;

	if (!dso)
		return 0;
	file = pair_table_find_pointer(&pprof->files, dso);
	if (file < count)
		return (uint64_t)file + 1;
	build_id = dso_build_id(dso, &size);
	for (size_t i = 0; i < size && 2 * i + 2 < sizeof(digits); i++)
		snprintf(digits + 2 * i, 3, "%02x", build_id[i]);
	mapping.id = (uint64_t)file + 1;
	mapping.filename = text_index(pprof, dso_path(dso));
	mapping.build_id = text_index(pprof, digits);
	/* pprof need not look for names itself. */
	mapping.has_functions = mapping.has_filenames = mapping.has_line_numbers = true;
	message.mapping = &list;
	message.n_mapping = 1;
	write_message(pprof, &message);
	return mapping.id;
}

static void write_locations(struct pprof_output *pprof)
{
	const struct table_function *functions = pprof->stacks.functions.functions;

	for (size_t i = 0; i < pprof->locations.count; i++) {
		struct pair place = pair_table_pair(&pprof->locations, i); /* function, line */
		Perftools__Profiles__Line line = PERFTOOLS__PROFILES__LINE__INIT, *lines = &line;
		Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT;
		Perftools__Profiles__Location *list = &location;
		profile_message message = PERFTOOLS__PROFILES__PROFILE__INIT;

		line.function_id = (uint64_t)place.first + 1;
		line.line = place.second;
		location.id = i + 1;
		location.mapping_id = mapping_id(pprof, functions[place.first].symbol->dso);
		location.line = &lines;
		location.n_line = 1;
		message.location = &list;
		message.n_location = 1;
		write_message(pprof, &message);
	}
}

static void write_functions(struct pprof_output *pprof)
{
	for (size_t i = 0; i < pprof->stacks.functions.count; i++) {
		const struct symbol *symbol = pprof->stacks.functions.functions[i].symbol;
		struct source_line begin = cost_function_line(symbol);
		Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT;
		Perftools__Profiles__Function *list = &function;
		profile_message message = PERFTOOLS__PROFILES__PROFILE__INIT;

		function.id = i + 1;
		function.name = name_index(pprof, symbol->name);
		function.system_name =
			name_index(pprof, symbol->linkage ? symbol->linkage : symbol->name);
		function.filename = begin.file ? name_index(pprof, begin.file) : 0;
		function.start_line = begin.line;
		message.function = &list;
		message.n_function = 1;
		write_message(pprof, &message);
	}
}

static void write_texts(struct pprof_output *pprof)
{
	for (size_t i = 0; i < pprof->texts.count; i++) {
		profile_message message = PERFTOOLS__PROFILES__PROFILE__INIT;
		char *text = valid_text(pprof->names[i]->text, pprof->names[i]->length);

		message.string_table = &text;
		message.n_string_table = 1;
		write_message(pprof, &message);
		free(text);
	}
}

static struct format_output *open_pprof(const struct format_request *request, struct error *err)
{
	struct pprof_output *pprof = alloc_zeroed(1, sizeof(*pprof));

	(void)err;
	cost_stacks_init(&pprof->stacks, request->names, options_max_stack(request->options));
	pprof->file = request->output;
	pprof->wall_base = request->facts.wall_base;
	pprof->output.slices = &pprof->stacks.tree.slices;
	pprof->output.sink = pprof->stacks.sink;
	return &pprof->output;
}

/* Write all stacks with a cost, up to the output's limit. */
static int write_pprof(struct format_output *output, struct error *err)
{
	struct pprof_output *pprof = (struct pprof_output *)output;
	struct call_costs sum = call_tree_sum(&pprof->stacks.tree);

	(void)err;
	output->truncated = pprof->stacks.tree.cut_slices;
	pprof->has_insns = sum.insns;
	pprof->has_cycles = sum.cycles;
	pprof->location_ids = alloc_zeroed(pprof->stacks.tree.count, sizeof(*pprof->location_ids));
	text_index(pprof, "");
	write_header(pprof);
	write_stacks(pprof);
	write_locations(pprof);
	write_functions(pprof);
	write_texts(pprof);
	return 0;
}

static void release_pprof(struct format_output *output)
{
	struct pprof_output *pprof = (struct pprof_output *)output;

	cost_stacks_release(&pprof->stacks);
	pair_table_release(&pprof->texts);
	pair_table_release(&pprof->locations);
	pair_table_release(&pprof->files);
	free(pprof->bytes);
	free(pprof->names);
	free(pprof->location_ids);
}

const struct output_format format_pprof = {
	.name = "pprof",
	.suffix = "pb.gz",
	.default_output = DEFAULT_FILE,
	.gzip = true,
	.slices = SLICES_SORTED,
	.open = open_pprof,
	.finish = write_pprof,
	.release = release_pprof,
};
