/* SPDX-License-Identifier: MIT */
/*
 * --format=outliers: why the slow calls of the functions of --symbol take longer than the others,
 * or with --pair one call than another: the extra mean time of a call, by call path.
 *
 * The own times of all paths of a call add up to its duration, so the extra times of all paths
 * add up to that of the calls.  Where cycles were recorded, the time that a lower clock takes is
 * taken out of the paths: C cycles at F_slow instead of F_other Hz take C / F_slow - C / F_other.
 */

#include <math.h>

#include "src/formats/answers/call_paths.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/time_note.h"

/* Paths that are listed by themselves, and the least share of them, percent. */
#define ROWS_MAX  30
#define SHARE_MIN 0.5

/* Functions of a path that are printed: the first one and the last ones. */
#define PATH_MOST 8

/* The same in JSON: the last ones. */
#define PATH_JSON_MOST 256

/* Smallest difference of clocks that is one. */
#define CLOCK_STEP 0.05

enum side { SLOW, OTHER, SIDE_COUNT };

/* The calls of one root. */
struct outlier_group {
	uint32_t root;
	uint64_t calls[SIDE_COUNT];
	uint64_t shortest; /* of the slow calls, at least: ns, or instructions */
	struct path_row {
		uint32_t node;
		struct path_cost cost[SIDE_COUNT]; /* of all calls of a side together */
		double extra; /* of a slow call: ns, or instructions (by_insns) */
	} * rows;             /* owned */
	size_t count;
	double extra;           /* of a slow call: ns, or instructions */
	bool by_insns;          /* these, as times are not known */
	double clock_extra;     /* of them by a lower clock */
	double ghz[SIDE_COUNT]; /* 0: not known */
	bool has_cycles;
};

struct outliers_output {
	struct format_output output; /* first */
	struct call_paths paths;
};

static struct format_output *open_outliers(const struct format_request *request, struct error *err)
{
	struct outliers_output *outliers = alloc_zeroed(1, sizeof(*outliers));

	(void)err;
	call_paths_init(&outliers->paths, request->options, &outliers->output.machine);
	outliers->output.text = request->text;
	outliers->output.slices = &outliers->paths.tree.slices;
	outliers->output.sink = outliers->paths.sink;
	return &outliers->output;
}

/* ---- Slow or not --------------------------------------------------------- */

/* Returns the lowest class of slow calls of a root, whose costs are sorted[begin, end). */
static uint32_t find_slow(const struct call_paths *paths, uint32_t root, size_t begin, size_t end)
{
	struct class_count *classes = alloc_zeroed(end - begin, sizeof(*classes));
	uint32_t lowest;
	size_t count = 0;

	for (size_t i = begin; i < end; i++) {
		const struct path_cost *cost = &paths->costs[paths->sorted[i]];

		if (cost->node == root)
			classes[count++] = (struct class_count){ cost->class, cost->calls };
	}
	lowest = slow_classes_find(classes, count, &paths->slow);
	free(classes);
	return lowest;
}

/* ---- Comparison ---------------------------------------------------------- */

static double mean(uint64_t sum, uint64_t calls)
{
	return calls ? (double)sum / (double)calls : 0;
}

static bool is_code(const struct call_paths *paths, uint32_t node)
{
	return !paths->nodes[node].special;
}

/* Time of a path's cycles at the other calls' clock frequency, ns of a slow call. */
static double time_at_other_clock(const struct outlier_group *c, const struct path_row *row)
{
	return mean(row->cost[SLOW].own.cycles, c->calls[SLOW]) / c->ghz[OTHER];
}

/* Find the clocks, where the calls are long enough. */
static void measure_clocks(struct outlier_group *c)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct path_cost *cost = c->rows[i].cost;

		c->has_cycles |= cost[SLOW].own.cycles || cost[OTHER].own.cycles;
		for (int side = 0; side < SIDE_COUNT && c->rows[i].node == c->root; side++)
			c->ghz[side] = mean(cost[side].clock.cycles, cost[side].clock.ns);
	}
}

static bool has_clocks(const struct outlier_group *c)
{
	return c->ghz[SLOW] > 0 && c->ghz[OTHER] > 0;
}

static void find_extra_insns(struct outlier_group *c)
{
	for (size_t i = 0; i < c->count; i++) {
		struct path_row *row = &c->rows[i];

		row->extra = mean(row->cost[SLOW].own.insns, c->calls[SLOW]) -
			     mean(row->cost[OTHER].own.insns, c->calls[OTHER]);
		c->extra += row->extra;
	}
}

static void find_extra(const struct call_paths *paths, struct outlier_group *c)
{
	bool clocks;

	c->by_insns = (*paths->machine)->by_insns;
	measure_clocks(c);
	if (c->by_insns) {
		find_extra_insns(c);
		return;
	}
	clocks = has_clocks(c) && fabs(c->ghz[SLOW] / c->ghz[OTHER] - 1) > CLOCK_STEP;
	for (size_t i = 0; i < c->count; i++) {
		struct path_row *row = &c->rows[i];
		double slow = mean(row->cost[SLOW].own.ns, c->calls[SLOW]), at_clock = slow;

		if (clocks && row->cost[SLOW].own.cycles && is_code(paths, row->node))
			at_clock = time_at_other_clock(c, row);
		row->extra = at_clock - mean(row->cost[OTHER].own.ns, c->calls[OTHER]);
		c->extra += slow - mean(row->cost[OTHER].own.ns, c->calls[OTHER]);
		c->clock_extra += slow - at_clock;
	}
}

static int compare_rows(const void *left, const void *right)
{
	const struct path_row *a = left, *b = right;

	return COMPARE(b->extra, a->extra) ?: COMPARE(a->node, b->node);
}

static void gather_cost(const struct call_paths *paths, struct outlier_group *c, uint32_t place,
			uint32_t lowest)
{
	const struct path_cost *from = &paths->costs[place];
	enum side side = from->class >= lowest ? SLOW : OTHER;

	if (!c->count || c->rows[c->count - 1].node != from->node)
		c->rows[c->count++].node = from->node;
	path_cost_add(&c->rows[c->count - 1].cost[side], from);
	if (from->node == c->root)
		c->calls[side] += from->calls;
}

/* Fill the costs of all paths of the root, by side: those of sorted[begin, end). */
static void gather(const struct call_paths *paths, struct outlier_group *c, size_t begin,
		   size_t end)
{
	uint32_t lowest = paths->pair.given ? CLASS_PAIR_A : find_slow(paths, c->root, begin, end);

	c->shortest = call_paths_class_begin(paths, lowest);
	c->rows = alloc_zeroed(end - begin, sizeof(*c->rows));
	for (size_t i = begin; i < end; i++)
		gather_cost(paths, c, paths->sorted[i], lowest);
}

/* ---- Text ---------------------------------------------------------------- */

static const char *time_text(char text[SHORT_TIME_SIZE], double ns)
{
	return short_time(text, (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5));
}

static const char *extra_text(char text[SHORT_TIME_SIZE], const struct outlier_group *c,
			      double extra)
{
	if (!c->by_insns)
		return time_text(text, extra);
	snprintf(text, SHORT_TIME_SIZE, "%.0f", round(extra) + 0.0); /* never -0 */
	return text;
}

static void print_path(const struct call_paths *paths, uint32_t node, FILE *out)
{
	uint32_t last[PATH_MOST];
	size_t count = 0, depth = 0;

	for (uint32_t at = node; at; at = paths->paths.nodes[at].caller, depth++) {
		if (count < PATH_MOST)
			last[count++] = at;
	}
	if (depth > count) {
		const struct name *root = paths->paths.nodes[paths->nodes[node].root].name;

		escaped_text_print(root->text, root->length, out);
		fprintf(out, " > ... (%zu)", depth - count - 1);
	}
	for (size_t i = count; i-- > 0;) {
		const struct name *name = paths->paths.nodes[last[i]].name;

		fputs(i + 1 < count || depth > count ? " > " : "", out);
		escaped_text_print(name->text, name->length, out);
	}
}

/* Print a mean, with decimals if it is small. */
static void print_mean(uint64_t sum, uint64_t calls, FILE *out)
{
	double value = mean(sum, calls);

	fprintf(out, " %9.*f", value == floor(value) || value >= 1000 ? 0 : 2, value);
}

static void print_share(const struct outlier_group *c, double extra, FILE *out)
{
	char text[SHORT_TIME_SIZE];

	/* The sum is never -0. */
	fprintf(out, "%6.1f%% %11s", round(1000 * extra / c->extra) / 10 + 0.0,
		extra_text(text, c, extra));
}

static void print_row(const struct call_paths *paths, const struct outlier_group *c,
		      const struct path_row *row, FILE *out)
{
	const struct path_cost *slow = &row->cost[SLOW], *other = &row->cost[OTHER];
	char slow_time[SHORT_TIME_SIZE], other_time[SHORT_TIME_SIZE];

	print_share(c, row->extra, out);
	fprintf(out, " %11s %11s", time_text(slow_time, mean(slow->own.ns, c->calls[SLOW])),
		time_text(other_time, mean(other->own.ns, c->calls[OTHER])));
	print_mean(slow->calls, c->calls[SLOW], out);
	print_mean(other->calls, c->calls[OTHER], out);
	print_mean(slow->own.insns, c->calls[SLOW], out);
	print_mean(other->own.insns, c->calls[OTHER], out);
	fputs("  ", out);
	print_path(paths, row->node, out);
	fputs(row->node == c->root ? " (own code)\n" : "\n", out);
}

static void print_clock(const struct outlier_group *c, FILE *out)
{
	if (fabs(c->clock_extra) * 100 < SHARE_MIN * c->extra)
		return;
	print_share(c, c->clock_extra, out);
	fprintf(out, "%66s%s clock: %.2f instead of %.2f GHz\n", "",
		c->clock_extra > 0 ? "lower" : "higher", c->ghz[SLOW], c->ghz[OTHER]);
}

/* Its line is the first or the last one. */
static bool clock_is_first(const struct outlier_group *c)
{
	return c->count && c->clock_extra > c->rows[0].extra;
}

/* Returns whether a row has a line of its own. */
static bool is_listed(const struct outlier_group *c, size_t row)
{
	return row < ROWS_MAX && fabs(c->rows[row].extra) * 100 >= SHARE_MIN * c->extra;
}

/* The shares of all lines add up to 100 %. */
static void print_rows(const struct call_paths *paths, const struct outlier_group *c, FILE *out)
{
	double rest = 0;
	size_t left = 0;

	fprintf(out, "\n%7s %11s %11s %11s %9s %9s %9s %9s  %s\n", "share",
		c->by_insns ? "extra insns" : "extra", "slow", "other", "calls", "other", "insns",
		"other", "path (own times and instructions)");
	if (clock_is_first(c))
		print_clock(c, out);
	for (size_t i = 0; i < c->count; i++) {
		if (is_listed(c, i)) {
			print_row(paths, c, &c->rows[i], out);
		} else {
			rest += c->rows[i].extra;
			left++;
		}
	}
	if (fabs(c->clock_extra) * 100 < SHARE_MIN * c->extra)
		rest += c->clock_extra;
	if (!clock_is_first(c))
		print_clock(c, out);
	if (!left)
		return;
	print_share(c, rest, out);
	fprintf(out, "%66srest: %zu paths\n", "", left);
}

/* Print a call's duration. */
static void print_length(const struct call_paths *paths, uint64_t length, FILE *out)
{
	char text[SHORT_TIME_SIZE];

	if (call_paths_by_insns(paths))
		fprintf(out, "%" PRIu64 " instructions", length);
	else
		fputs(time_text(text, (double)length), out);
}

static void print_head(const struct outliers_output *outliers, const struct outlier_group *c,
		       const struct durations *all, FILE *out)
{
	const struct name *name = outliers->paths.paths.nodes[c->root].name;
	char text[SHORT_TIME_SIZE];

	escaped_text_print(name->text, name->length, out);
	if (outliers->paths.pair.given) {
		fputs(": the call at the first time, and that at the second (other)", out);
	} else {
		fprintf(out, ": %" PRIu64 " slow call%s, %s ", c->calls[SLOW],
			c->calls[SLOW] == 1 ? "" : "s",
			call_paths_have_bound(&outliers->paths) ? "longer than" : "of at least");
		print_length(&outliers->paths, c->shortest, out);
		fprintf(out, ", and %" PRIu64 " others; median ", c->calls[OTHER]);
		print_length(&outliers->paths, durations_percentile(all, 50), out);
	}
	fprintf(out, "\na slow call takes %s more%s\n", extra_text(text, c, c->extra),
		c->by_insns ? " instructions" : "");
	if (c->by_insns)
		return;
	if (!c->has_cycles)
		fputs("no cycles were recorded (cyc=1): what a lower clock takes is in the paths\n",
		      out);
	else if (!has_clocks(c))
		fputs("calls are too short (1us) to measure the clock: what a lower one takes is "
		      "in the paths\n",
		      out);
}

static uint32_t root_at(const struct call_paths *paths, size_t at)
{
	return paths->nodes[paths->costs[paths->sorted[at]].node].root;
}

/* Returns where the costs of the next root begin. */
static size_t next_root(const struct call_paths *paths, size_t at)
{
	uint32_t root = root_at(paths, at);

	while (at < paths->classes.count && root_at(paths, at) == root)
		at++;
	return at;
}

/* Compare the calls of the root of the costs sorted[begin, end).  Returns whether there are both
 * slow calls and others. */
static bool compare_calls(const struct outliers_output *outliers, size_t begin, size_t end,
			  struct outlier_group *c)
{
	*c = (struct outlier_group){ .root = root_at(&outliers->paths, begin) };
	gather(&outliers->paths, c, begin, end);
	if (!c->calls[SLOW] || !c->calls[OTHER])
		return false;
	find_extra(&outliers->paths, c);
	qsort(c->rows, c->count, sizeof(*c->rows), compare_rows);
	return true;
}

static void print_root(const struct outliers_output *outliers, size_t begin, size_t end, FILE *out)
{
	const struct call_paths *paths = &outliers->paths;
	uint32_t root = root_at(paths, begin);
	const struct name *name = paths->paths.nodes[root].name;
	struct outlier_group c;

	if (compare_calls(outliers, begin, end, &c)) {
		print_head(outliers, &c, &paths->durations[root], out);
		if (c.extra > 0)
			print_rows(paths, &c, out);
	} else {
		escaped_text_print(name->text, name->length, out);
		fprintf(out, ": %" PRIu64 " calls, none to compare %s\n",
			c.calls[SLOW] + c.calls[OTHER], c.calls[SLOW] ? "with" : "as slow");
	}
	free(c.rows);
	putc('\n', out);
}

static int print_outliers(struct format_output *output, struct error *err)
{
	struct outliers_output *outliers = (struct outliers_output *)output;
	struct call_paths *paths = &outliers->paths;

	(void)err;
	call_paths_sort(paths);
	for (size_t i = 0, end; i < paths->classes.count; i = end) {
		end = next_root(paths, i);
		print_root(outliers, i, end, output->text);
	}
	if (!selection_beside_functions(paths->choice.selection))
		function_choice_warn(&paths->choice, call_paths_count(paths),
				     output->machine->diag);
	if (call_paths_count(paths))
		time_note_print(output->machine, output->text);
	if (paths->cut)
		fprintf(output->text,
			"%" PRIu64 " calls are left out: their begin or return was not traced\n",
			paths->cut);
	if (paths->nested)
		fprintf(output->text,
			"%" PRIu64 " calls are left out: they are part of calls of %d other chosen "
			"functions; choose fewer functions\n",
			paths->nested, CALL_PATHS_OPEN_MOST);
	return 0;
}

/* ---- JSON (doc/summary.schema.json) -------------------------------------- */

static json_t *name_json(const struct call_paths *paths, uint32_t node)
{
	const struct name *name = paths->paths.nodes[node].name;

	return json_any_text(name->text, name->length);
}

static json_t *cost_json(const struct path_cost *cost, uint64_t calls)
{
	return json_pack("{s:f, s:f, s:f, s:f}", "time_ns", mean(cost->own.ns, calls), "calls",
			 mean(cost->calls, calls), "insns", mean(cost->own.insns, calls), "cycles",
			 mean(cost->own.cycles, calls));
}

static const char *extra_key(const struct outlier_group *c)
{
	return c->by_insns ? "extra_insns" : "extra_ns";
}

static json_t *path_json(const struct call_paths *paths, const struct outlier_group *c,
			 const struct path_row *row)
{
	json_t *names = json_array();

	for (uint32_t at = row->node; at && json_array_size(names) < PATH_JSON_MOST;
	     at = paths->paths.nodes[at].caller)
		json_array_insert_new(names, 0, name_json(paths, at));
	return json_pack("{s:o, s:f, s:f, s:o, s:o}", "path", names, extra_key(c), row->extra,
			 "share", row->extra / c->extra, "slow",
			 cost_json(&row->cost[SLOW], c->calls[SLOW]), "other",
			 cost_json(&row->cost[OTHER], c->calls[OTHER]));
}

static json_t *root_json(const struct outliers_output *outliers, size_t begin, size_t end)
{
	const struct call_paths *paths = &outliers->paths;
	struct outlier_group c;
	bool compared = compare_calls(outliers, begin, end, &c);
	json_t *list = json_array();

	for (size_t i = 0; compared && c.extra > 0 && i < c.count; i++) {
		if (is_listed(&c, i))
			json_array_append_new(list, path_json(paths, &c, &c.rows[i]));
	}
	free(c.rows);
	return json_pack("{s:o, s:I, s:I, s:f, s:f, s:f, s:f, s:o}", "name",
			 name_json(paths, c.root), "slow_calls", (json_int_t)c.calls[SLOW],
			 "other_calls", (json_int_t)c.calls[OTHER], extra_key(&c), c.extra,
			 "clock_extra_ns", c.clock_extra, "slow_ghz", c.ghz[SLOW], "other_ghz",
			 c.ghz[OTHER], "paths", list);
}

static json_t *answer_outliers(const struct format_output *output)
{
	const struct outliers_output *outliers = (const struct outliers_output *)output;
	const struct call_paths *paths = &outliers->paths;
	json_t *list = json_array(), *answer;

	for (size_t i = 0, end; i < paths->classes.count; i = end) {
		end = next_root(paths, i);
		json_array_append_new(list, root_json(outliers, i, end));
	}
	answer = json_pack("{s:s, s:o, s:I, s:I}", "format", "outliers", "functions", list,
			   "left_out", (json_int_t)paths->cut, "nested", (json_int_t)paths->nested);
	time_note_add(answer, output->machine);
	return answer;
}

static void release_outliers(struct format_output *output)
{
	call_paths_release(&((struct outliers_output *)output)->paths);
}

const struct output_format format_outliers = {
	.name = "outliers",
	.suffix = "outliers",
	.lines = true,
	.slices = SLICES_SORTED,
	.chooses_roots = true,
	.open = open_outliers,
	.finish = print_outliers,
	.answer = answer_outliers,
	.release = release_outliers,
};
